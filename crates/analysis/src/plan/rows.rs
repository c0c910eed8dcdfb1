//! The stages of every device model, by the selection of the frames that pass them.

use tautwire_model::network::{Network, NodeIndex, NodeKind, SelectionAlgorithm, StagePosition};

use crate::delay::Row;

/// Per device model.
#[derive(Debug)]
pub(super) struct DeviceRows(Vec<RowsOfDevice>);

#[derive(Debug)]
struct RowsOfDevice {
    /// Per algorithm: up to the arrival time, and up to the queues.
    before: [(Row, Row); 3],
    transmission: Row,
}

const ALGORITHMS: [SelectionAlgorithm; 3] =
    [SelectionAlgorithm::StrictPriority, SelectionAlgorithm::CreditBased, SelectionAlgorithm::Ats];

impl DeviceRows {
    pub(super) fn of(network: &Network) -> Self {
        let reception = [StagePosition::Reception];
        let both = [StagePosition::Reception, StagePosition::Processing];
        let rows = network.devices.iter().map(|device| RowsOfDevice {
            before: ALGORITHMS.map(|algorithm| {
                (Row::of(&device.stages, algorithm, &reception), Row::of(&device.stages, algorithm, &both))
            }),
            transmission: Row::of_transmission(&device.stages),
        });
        Self(rows.collect())
    }

    /// What frames of a selection pass up to the arrival time, and up to the queues.
    pub(super) fn before(&self, device: usize, algorithm: SelectionAlgorithm) -> &(Row, Row) {
        let place = ALGORITHMS.iter().position(|known| *known == algorithm);
        &self.0[device].before[place.expect("all are listed")]
    }

    /// What frames pass between selection and wire at a node; none at an end station.
    pub(super) fn transmission(&self, network: &Network, node: NodeIndex) -> Option<&Row> {
        match &network.nodes[node.index()].kind {
            NodeKind::Bridge { device, .. } => Some(&self.0[device.index()].transmission),
            NodeKind::EndStation { .. } => None,
        }
    }
}
