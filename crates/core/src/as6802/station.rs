//! A node of a synchronised network at the level of frames: octets in and out, makers by their addresses, the cables of its ports.
//!
//! Invariant: a frame that cannot be parsed, or whose maker is not known, changes nothing. Not here: the effects of
//! frames (`node.rs`), the residence time in a node that forwards a frame, except for writing it into the frame
//! ([`pass`]).

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use tautwire_units::{Duration, Instant};
use tautwire_wire::{EtherType, MacAddress};

use super::{Maker, ProtocolControlFrame, SyncNode, to_transparent_clock, transparent_time};
use crate::control::{Event, Machine, Output};

/// A node and the state of the cluster masters whose frames it receives.
#[derive(Clone, Debug)]
pub struct Station {
    node: SyncNode,
    makers: BTreeMap<MacAddress, Maker>,
    /// Per port: what the line before it adds to a transparent clock.
    lines: Vec<Duration>,
}

impl Station {
    /// A node that receives frames of `makers` on these links.
    #[must_use]
    pub const fn new(node: SyncNode, makers: BTreeMap<MacAddress, Maker>, lines: Vec<Duration>) -> Self {
        Self { node, makers, lines }
    }

    /// The node itself.
    #[must_use]
    pub const fn node(&self) -> &SyncNode {
        &self.node
    }
}

impl Machine for Station {
    fn handle(&mut self, now: Instant, event: Event<'_>) {
        match event {
            Event::Received { port, source, ether_type: EtherType::PCF, octets, .. } => {
                let Ok((frame, _)) = ProtocolControlFrame::parse(octets) else { return };
                let Some(maker) = self.makers.get(&source) else { return };
                self.node.receive(now, *maker, later(frame, self.lines[port]));
            }
            Event::Due => self.node.advance(now),
            Event::Received { .. } | Event::Sent { .. } | Event::Link { .. } => {}
        }
    }

    fn poll(&mut self) -> Option<Output> {
        self.node.poll().map(output)
    }

    fn deadline(&self) -> Option<Instant> {
        self.node.deadline()
    }
}

/// A protocol control frame, to be sent by all ports of its way.
#[must_use]
pub fn output(frame: ProtocolControlFrame) -> Output {
    let mut octets = Vec::with_capacity(ProtocolControlFrame::LENGTH);
    frame.emit(&mut octets);
    Output { port: 0, ether_type: EtherType::PCF, octets, addresses: None }
}

/// What leaves a node that had a frame for so long, and before it the line that it came by; none if it cannot be read.
#[must_use]
pub fn pass(octets: &[u8], line: Duration, had: Duration) -> Option<Vec<u8>> {
    let (frame, _) = ProtocolControlFrame::parse(octets).ok()?;
    Some(output(later(frame, line.saturating_add(had))).octets)
}

/// The frame with `by` added to its transparent clock.
fn later(frame: ProtocolControlFrame, by: Duration) -> ProtocolControlFrame {
    let took = transparent_time(frame.transparent_clock).saturating_add(by);
    ProtocolControlFrame { transparent_clock: to_transparent_clock(took), ..frame }
}
