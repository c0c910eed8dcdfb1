//! Every observation against its bound: delays end to end and per hop, backlogs, credits.
//!
//! A contradiction is a fault of ours, in a bound or in a machine, and never the user's.

use core::fmt;

use tautwire_analysis::Bounds;
use tautwire_model::Network;
use tautwire_sim::Observation;
use tautwire_units::{Bits, Duration};

/// An observation that its bound excludes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contradiction {
    /// A frame was later than its bound.
    Delay {
        /// Stream.
        stream: String,
        /// Listener.
        listener: String,
        /// What was observed.
        observed: Duration,
        /// What was proven.
        bound: Duration,
    },
    /// A frame was earlier than the least delay.
    Early {
        /// Stream.
        stream: String,
        /// Listener.
        listener: String,
        /// What was observed.
        observed: Duration,
        /// What was proven.
        bound: Duration,
    },
    /// A frame stayed longer at one hop than its bound.
    Hop {
        /// Stream.
        stream: String,
        /// Egress port of the hop.
        port: String,
        /// What was observed.
        observed: Duration,
        /// What was proven.
        bound: Duration,
    },
    /// More waited in a class than its bound.
    Backlog {
        /// Egress port.
        port: String,
        /// Traffic class.
        class: usize,
        /// What was observed.
        observed: Bits,
        /// What was proven.
        bound: Bits,
    },
    /// The credit of a shaper was outside its bounds.
    Credit {
        /// Egress port.
        port: String,
        /// Traffic class.
        class: usize,
        /// What was observed, in bits.
        observed: i64,
        /// What was proven, in bits.
        bound: i64,
    },
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Delay { stream, listener, observed, bound } => {
                write!(f, "stream {stream} reached {listener} after {observed}, above its bound of {bound}")
            }
            Self::Early { stream, listener, observed, bound } => {
                write!(f, "stream {stream} reached {listener} after {observed}, below its least of {bound}")
            }
            Self::Hop { stream, port, observed, bound } => {
                write!(f, "stream {stream} took {observed} at {port}, above its bound of {bound}")
            }
            Self::Backlog { port, class, observed, bound } => {
                write!(f, "class {class} of {port} held {observed}, above its bound of {bound}")
            }
            Self::Credit { port, class, observed, bound } => {
                write!(
                    f,
                    "credit of class {class} of {port} was {observed} bit, beyond its bound of {bound} bit"
                )
            }
        }
    }
}

/// All contradictions between what was proven and what was observed; frames of the warm-up count.
#[must_use]
pub fn contradictions(network: &Network, bounds: &Bounds, observation: &Observation) -> Vec<Contradiction> {
    let mut found = Vec::new();
    streams(network, bounds, observation, &mut found);
    ports(network, bounds, observation, &mut found);
    found
}

fn streams(network: &Network, bounds: &Bounds, observation: &Observation, found: &mut Vec<Contradiction>) {
    for (index, stream) in network.streams.iter().enumerate() {
        let (proven, observed) = (&bounds.streams[index], &observation.streams[index]);
        for (listener, (proven, observed)) in proven.listeners.iter().zip(&observed.listeners).enumerate() {
            let name =
                || (stream.name.clone(), network.nodes[stream.listeners[listener].index()].name.clone());
            if let (Ok(bound), Some(worst)) = (&proven.delay, observed.worst)
                && worst.delay > *bound
            {
                let (stream, listener) = name();
                found.push(Contradiction::Delay { stream, listener, observed: worst.delay, bound: *bound });
            }
            if let Some(least) = observed.delay.min()
                && least < proven.delay_min
            {
                let (stream, listener) = name();
                let bound = proven.delay_min;
                found.push(Contradiction::Early { stream, listener, observed: least, bound });
            }
        }
        for (hop, (proven, observed)) in proven.hops.iter().zip(&observed.hops).enumerate() {
            if let Ok(bound) = proven.delay
                && observed.max > bound
            {
                found.push(Contradiction::Hop {
                    stream: stream.name.clone(),
                    port: port_name(network, stream.hops[hop].port.index()),
                    observed: observed.max,
                    bound,
                });
            }
        }
    }
}

fn ports(network: &Network, bounds: &Bounds, observation: &Observation, found: &mut Vec<Contradiction>) {
    for (index, (proven, observed)) in bounds.ports.iter().zip(&observation.ports).enumerate() {
        for (class, (proven, observed)) in proven.iter().zip(&observed.classes).enumerate() {
            let port = || port_name(network, index);
            let waited = observed.backlog_octets_max.bits();
            if let Some(bound) = proven.backlog
                && waited > bound
            {
                found.push(Contradiction::Backlog { port: port(), class, observed: waited, bound });
            }
            let credits = [
                (proven.hi_credit_bits, observed.hi_credit_bits, observed.hi_credit_bits),
                (proven.lo_credit_bits.map(|bits| -bits), -observed.lo_credit_bits, observed.lo_credit_bits),
            ];
            for (bound, size, observed) in credits {
                if let Some(bound) = bound
                    && size > bound
                {
                    found.push(Contradiction::Credit { port: port(), class, observed, bound });
                }
            }
        }
    }
}

fn port_name(network: &Network, port: usize) -> String {
    let port = &network.ports[port];
    format!("{}:{}", network.nodes[port.node.index()].name, port.name)
}
