//! Frames of protocols that were lost in a run, as a table: protocol, place, reason and number.
//!
//! Not here: losses of applications' frames, which count at each listener (`listener_frames.rs`).

use tautwire_model::network::{Network, StreamIndex, Traffic};
use tautwire_observe::{Cell, Column, Table};
use tautwire_sim::{ControlLoss, LossPlace, LossReason, Observation};

use crate::cause::Causes;
use crate::name;

/// The table; none if no frame was lost.
pub(crate) fn table(network: &Network, observation: &Observation) -> Option<Table> {
    let causes = Causes::of_run(network, Some(observation));
    let rows: Vec<_> = observation.control_losses.iter().map(|loss| row(network, loss, causes)).collect();
    const fn column(name: &'static str, title: &'static str) -> Column {
        Column { name, title }
    }
    (!rows.is_empty()).then(|| Table {
        name: "control_losses",
        title: "Lost frames of protocols",
        about: "Frames of a protocol that were lost at a port, on its line or at a node.",
        columns: vec![
            column("protocol", "protocol"),
            column("stream", "stream"),
            column("place", "lost at"),
            column("reason", "reason"),
            column("cause", "cause"),
            column("frames", "frames"),
        ],
        rows,
    })
}

fn row(network: &Network, loss: &ControlLoss, causes: Causes) -> Vec<Cell> {
    let text = |text: &str| Cell::Text(text.to_owned());
    let place = match loss.place {
        LossPlace::Port(port) => name::port(network, port),
        LossPlace::Node(node) => name::node(network, node).to_owned(),
    };
    let (reason, cause) = match loss.reason {
        LossReason::Dropped(reason) => (reason.name(), causes.cause(reason).name()),
        LossReason::Refused(_) => ("refused", None),
    };
    let of_stream = loss.stream.map(|stream| (protocol(network, stream), stream));
    let protocol = match (of_stream, loss.reason) {
        (Some((protocol, _)), _) | (None, LossReason::Refused(protocol)) => text(protocol),
        (None, LossReason::Dropped(_)) => Cell::None,
    };
    let stream = of_stream.map(|(_, stream)| text(&network.streams[stream.index()].name));
    vec![
        protocol,
        stream.unwrap_or(Cell::None),
        Cell::Text(place),
        text(reason),
        cause.map_or(Cell::None, text),
        Cell::Number(loss.frames),
    ]
}

/// The protocol whose frames a stream carries: streams of protocols are named by it.
fn protocol(network: &Network, stream: StreamIndex) -> &str {
    let stream = &network.streams[stream.index()];
    match stream.traffic {
        Traffic::Synchronisation { .. } => "tdma",
        _ => stream.name.split_once(':').map_or(stream.name.as_str(), |(protocol, _)| protocol),
    }
}

#[cfg(test)]
mod tests {
    use tautwire_model::network::NodeIndex;

    use super::*;
    use crate::fixture;

    #[test]
    fn frames_that_a_node_refused_are_a_row() {
        let (network, _, mut observation) = fixture::line();
        assert_eq!(table(&network, &observation), None);
        let place = LossPlace::Node(NodeIndex::at(0));
        let reason = LossReason::Refused("control");
        observation.control_losses = vec![ControlLoss { stream: None, place, reason, frames: 3 }];
        let found = table(&network, &observation).expect("a loss");
        let name = Cell::Text(network.nodes[0].name.clone());
        let text = |text: &str| Cell::Text(text.to_owned());
        let row = vec![text("control"), Cell::None, name, text("refused"), Cell::None, Cell::Number(3)];
        assert_eq!(found.rows, [row]);
    }
}
