//! Names of a network's parts, as tables and results give them.

use tautwire_analysis::{Method, Unbounded};
use tautwire_model::network::{Network, NodeIndex, PortIndex, TransmissionSelection};

/// `camera`.
pub(crate) fn node(network: &Network, node: NodeIndex) -> &str {
    &network.nodes[node.index()].name
}

/// A port with its node, `bridge-1.p3`.
#[must_use]
pub fn port(network: &Network, port: PortIndex) -> String {
    let port = &network.ports[port.index()];
    format!("{}.{}", node(network, port.node), port.name)
}

/// `credit-based`.
pub(crate) const fn selection(selection: TransmissionSelection) -> &'static str {
    match selection {
        TransmissionSelection::StrictPriority => "strict-priority",
        TransmissionSelection::CreditBased { .. } => "credit-based",
        TransmissionSelection::Ats => "ats",
    }
}

/// `strict-priority-line-shaping`.
pub(crate) fn method(method: Method) -> String {
    kebab(&format!("{method:?}"))
}

/// `shaper-too-slow`.
pub(crate) fn unbounded_reason(unbounded: &Unbounded) -> String {
    kebab(format!("{unbounded:?}").split([' ', '(']).next().unwrap_or_default())
}

/// Why there is no bound, as a sentence's part.
#[must_use]
pub fn unbounded_text(network: &Network, unbounded: &Unbounded) -> String {
    match unbounded {
        Unbounded::NoArrivalCurve { stream, port: at } => {
            let stream = &network.streams[stream.index()].name;
            format!("stream {stream} promises no arrival curve at port {}", port(network, *at))
        }
        Unbounded::Overload { port: at, class } => {
            format!("class {class} of port {} is overloaded", port(network, *at))
        }
        Unbounded::ClockTooCoarse { port: at, class } => {
            let clock = &network.nodes[network.ports[at.index()].node.index()].clock;
            format!(
                "each frame waits for a step of {} of the clock, and class {class} of port {} is overloaded so",
                clock.granularity,
                port(network, *at)
            )
        }
        Unbounded::TooLong { port: at } => {
            format!(
                "behind port {} it may take longer than 1000 s, to which bounds reach",
                port(network, *at)
            )
        }
        Unbounded::NoFixedPoint { port: at } => {
            format!("the cyclic dependency through port {} does not come to rest", port(network, *at))
        }
        Unbounded::ShaperTooSlow { port: at } => {
            format!("the ATS shaper before port {} may pass less than comes", port(network, *at))
        }
        Unbounded::SharedShaper { port: at, streams } => {
            let names: Vec<_> =
                streams.iter().map(|stream| network.streams[stream.index()].name.as_str()).collect();
            format!(
                "the ATS scheduler before port {} that {} share may pass less than they bring together",
                port(network, *at),
                names.join(", ")
            )
        }
        Unbounded::RegulatorTooSlow { port: at } => {
            format!(
                "more messages may come to its virtual link than one a BAG lets out at port {}, or they keep no period",
                port(network, *at)
            )
        }
        Unbounded::NotFifoUpstream { port: at } => {
            format!("before port {} the order of the ATS group is not kept", port(network, *at))
        }
        Unbounded::StageTooSlow { port: at } => {
            format!("a stage of the device at port {} is slower than what comes to it", port(network, *at))
        }
        Unbounded::SlotsMeet { port: at } => {
            format!("frames of different TDMA slots may meet at port {}", port(network, *at))
        }
        Unbounded::SynchronisationLost { port: at } => {
            format!("synchronisation frames of port {} may be lost", port(network, *at))
        }
        Unbounded::TwoRasters { port: at } => {
            format!("the standby may open cycles beside the master's of port {}", port(network, *at))
        }
        Unbounded::Host { port: at } => {
            format!(
                "a host of the stream that leaves port {} may hold frames without end",
                port(network, *at)
            )
        }
        Unbounded::Unscheduled { port: at } => {
            format!("it has no dispatch point at port {}", port(network, *at))
        }
        Unbounded::NotContained { port: at } => {
            format!(
                "a fault of the synchronisation that port {} follows is not contained",
                port(network, *at)
            )
        }
        Unbounded::ControlFramesLate { port: at } => {
            format!(
                "control frames of the synchronisation that port {} follows may take longer than `max-transmission-delay`",
                port(network, *at)
            )
        }
        Unbounded::NoServer { port: at } => {
            format!("the background server of port {} carries it", port(network, *at))
        }
        Unbounded::ServerTooSmall { port: at } => {
            format!("its server, or one above it, is too small at port {}", port(network, *at))
        }
        Unbounded::Unpolled { port: at } => {
            format!("its switch may not poll it in every period (port {})", port(network, *at))
        }
        Unbounded::NotGranted { port: at } => {
            format!("it is not granted, and port {} does not send it", port(network, *at))
        }
        Unbounded::MayBeDiscarded { port: at } => {
            format!(
                "frames may be discarded at port {}, by a shaper or an acceptance window",
                port(network, *at)
            )
        }
    }
}

/// The port that an unbounded delay is due to.
pub(crate) const fn unbounded_port(unbounded: &Unbounded) -> PortIndex {
    match unbounded {
        Unbounded::NoArrivalCurve { port, .. }
        | Unbounded::Overload { port, .. }
        | Unbounded::ClockTooCoarse { port, .. }
        | Unbounded::TooLong { port }
        | Unbounded::NoFixedPoint { port }
        | Unbounded::ShaperTooSlow { port }
        | Unbounded::SharedShaper { port, .. }
        | Unbounded::RegulatorTooSlow { port }
        | Unbounded::NotFifoUpstream { port }
        | Unbounded::StageTooSlow { port }
        | Unbounded::SlotsMeet { port }
        | Unbounded::NoServer { port }
        | Unbounded::NotContained { port }
        | Unbounded::ControlFramesLate { port }
        | Unbounded::ServerTooSmall { port }
        | Unbounded::SynchronisationLost { port }
        | Unbounded::TwoRasters { port }
        | Unbounded::Host { port }
        | Unbounded::Unscheduled { port }
        | Unbounded::Unpolled { port }
        | Unbounded::NotGranted { port }
        | Unbounded::MayBeDiscarded { port } => *port,
    }
}

/// `StrictPriority` to `strict-priority`.
pub(crate) fn kebab(camel: &str) -> String {
    let mut kebab = String::with_capacity(camel.len() + 4);
    for letter in camel.chars() {
        if letter.is_ascii_uppercase() && !kebab.is_empty() {
            kebab.push('-');
        }
        kebab.push(letter.to_ascii_lowercase());
    }
    kebab
}
