//! Runs by ports with small windows and with faults on purpose, to show that the tests would find them (feature
//! `planted-faults`).
//!
//! Without the feature nothing of them is compiled.

use tautwire_model::Network;

use super::{ByPorts, Input, order};
use crate::clock::SimTime;
use crate::engine::Engine;
use crate::options::Options;
use crate::recorder::{NoRecorder, Recorder};
use crate::result::Observation;

/// A deliberate fault of a run by ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderFault {
    /// Frames that reach a port at one instant come in the opposite order of their rings.
    RingsReversed,
    /// Frames are taken in the order in which the ports before have sent them.
    NotSorted,
    /// What a port waits for is forgotten at the end of a window.
    WakeForgotten,
    /// Ports come before those whose frames they take.
    PortsReversed,
    /// A part takes the part before it for further than that is.
    HorizonAhead,
    /// A part keeps what is not for the next one.
    NotHandedOn,
}

/// Runs a plain network by ports, in windows for which so many frames are aimed at. Gives what was observed and for how many frames
/// at once there was memory; nothing if the ports of the network have no order.
///
/// # Panics
/// By an assertion that a fault breaks.
#[must_use]
pub fn run_by_ports(
    network: &Network,
    window_frames: u64,
    fault: Option<OrderFault>,
) -> Option<(Observation, usize)> {
    let mut order = order(network)?;
    if fault == Some(OrderFault::PortsReversed) {
        order.reverse();
    }
    let (mut options, mut nothing) = (Options::default(), NoRecorder);
    let mut engine = Engine::<_, false>::new(network, &mut options, &mut nothing);
    let mut by_ports = ByPorts::new(network, order);
    (by_ports.window_frames, by_ports.fault) = (window_frames, fault);
    engine.by_ports = Some(Box::new(by_ports));
    engine.run_windows();
    let places = engine.slab.places();
    Some((engine.observation(), places))
}

/// Runs a plain network by ports on so many processors, as [`run_by_ports`] does on one.
///
/// # Panics
/// By an assertion that a fault breaks.
#[must_use]
pub fn run_with_processors(
    network: &Network,
    window_frames: u64,
    processors: usize,
    fault: Option<OrderFault>,
) -> Option<Observation> {
    let order = order(network)?;
    let mut options = Options { processors, ..Options::default() };
    let with = |by_ports| ByPorts { window_frames, fault, ..by_ports };
    Some(super::run_in_parts(network, &order, &mut options, with))
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    /// Does what a planted fault does to the inputs of a port's window.
    pub(super) fn spoil(&mut self, inputs: &mut [Input], wake: &mut SimTime) {
        match self.by_ports().fault {
            Some(OrderFault::RingsReversed) => {
                inputs.sort_by_key(|input| (input.due, std::cmp::Reverse(input.ring)));
            }
            Some(OrderFault::NotSorted) => inputs.sort_by_key(|input| (input.ring, input.due)),
            Some(OrderFault::WakeForgotten) => *wake = SimTime::MAX,
            Some(_) | None => {}
        }
    }
}
