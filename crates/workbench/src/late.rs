//! The cause of a refusal in a run, by the numbers of the network: a test of admission gives names.

use tautwire_admission::RefusalReason;
use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, PortIndex, StreamIndex};
use tautwire_report::port_name;
use tautwire_sim::Late;
use tautwire_units::Duration;

/// The stream of a refusal that is late, may be lost or has no bound; `new`, at the listener that requested it, where
/// the reason names none.
pub(crate) fn late(network: &Network, reason: &RefusalReason, new: StreamIndex, asked_by: NodeIndex) -> Late {
    let itself = Late {
        stream: new,
        listener: asked_by,
        delay_max: None,
        deadline: network.streams[new.index()].deadline,
        port: None,
        may_be_lost: false,
    };
    let (name, node, known) = match reason {
        RefusalReason::Deadline { stream, listener, port, deadline_ps, bound_ps } => {
            (stream, listener, Some((port, deadline_ps, bound_ps)))
        }
        RefusalReason::MayBeLost { stream, listener, .. }
        | RefusalReason::Unbounded { stream, listener, .. } => (stream, listener, None),
        // It promises no arrival curve: it has no bound.
        _ => return itself,
    };
    let stream = network.streams.iter().position(|one| one.name == *name).map(StreamIndex::at);
    let listener = network.nodes.iter().position(|one| one.name == *node).map(NodeIndex::at);
    let Some((stream, listener)) = stream.zip(listener) else { return itself };
    let port = |name: &String| {
        let mut ports = (0..network.ports.len()).map(PortIndex::at);
        ports.find(|port| port_name(network, *port) == *name)
    };
    Late {
        stream,
        listener,
        delay_max: known.map(|(_, _, bound)| Duration::from_ps(*bound)),
        deadline: match known {
            Some((_, deadline, _)) => Some(Duration::from_ps(*deadline)),
            None => network.streams[stream.index()].deadline,
        },
        port: match reason {
            RefusalReason::MayBeLost { place, .. } => port(place),
            _ => known.and_then(|(name, ..)| port(name)),
        },
        may_be_lost: matches!(reason, RefusalReason::MayBeLost { .. }),
    }
}
