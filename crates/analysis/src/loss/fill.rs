//! Limits of a session's ports and hosts that may be too small, kept from one step to the next.
//!
//! Examined again are ports that were evaluated, and hosts of which a stream came or went. Ports with a limit that was
//! too small are kept by their numbers, and are few. The examination is that of a complete analysis. Not here:
//! networks that every step analyses completely.

use std::collections::BTreeSet;

use super::Overflow;
use crate::analysis::Analysis;

/// Ports and hosts to look at: those that have changed, and those at which something was too small when they were looked at.
#[derive(Debug, Default)]
pub(crate) struct Fill {
    ports: BTreeSet<u32>,
    hosts: BTreeSet<u32>,
}

impl Fill {
    /// A port was evaluated.
    pub(crate) fn note_port(&mut self, port: u32) {
        self.ports.insert(port);
    }

    /// A stream of a node came or went.
    pub(crate) fn note_talker(&mut self, node: u32) {
        self.hosts.insert(node);
    }

    /// All limits that may be too small now.
    pub(crate) fn look(&mut self, analysis: &Analysis<'_>) -> Vec<Overflow> {
        let (mut found, mut discarded) = (Vec::new(), Vec::new());
        self.ports.retain(|port| {
            let before = (found.len(), discarded.len());
            analysis.queue_overflows(*port, &mut found);
            analysis.discards(*port, &mut discarded);
            (found.len(), discarded.len()) != before
        });
        self.hosts.retain(|node| {
            let before = found.len();
            analysis.host_overflow(*node, &mut found);
            found.len() > before
        });
        // In the order of a complete analysis.
        found.append(&mut discarded);
        found
    }
}
