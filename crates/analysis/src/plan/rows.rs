//! The stages of every device model, by the selection of the frames that pass them.

use tautwire_model::network::{Mechanism, Network, NodeIndex, NodeKind, StagePosition};

use crate::delay::Row;

/// Per device model.
#[derive(Debug)]
pub(super) struct DeviceRows(Vec<RowsOfDevice>);

#[derive(Debug)]
struct RowsOfDevice {
    /// Per mechanism: up to the arrival time, and up to the queues.
    before: [(Row, Row); 3],
    transmission: Row,
}

const MECHANISMS: [Mechanism; 3] = [Mechanism::StrictPriority, Mechanism::CreditBased, Mechanism::Ats];

impl DeviceRows {
    pub(super) fn of(network: &Network) -> Self {
        let reception = [StagePosition::Reception];
        let both = [StagePosition::Reception, StagePosition::Processing];
        let rows = network.devices.iter().map(|device| RowsOfDevice {
            before: MECHANISMS.map(|mechanism| {
                (Row::of(&device.stages, mechanism, &reception), Row::of(&device.stages, mechanism, &both))
            }),
            transmission: Row::of_transmission(&device.stages),
        });
        Self(rows.collect())
    }

    /// What frames of a selection pass up to the arrival time, and up to the queues.
    pub(super) fn before(&self, device: usize, mechanism: Mechanism) -> &(Row, Row) {
        let place = MECHANISMS.iter().position(|known| *known == mechanism);
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
