//! Frame-exact discrete-event simulation: picosecond time, total event order, same seed, same bytes.
//!
//! ```text
//!  source ─► host ─► egress port ═ link ═► stages ─► egress port ═ link ═► listener
//!            ring                  ring              (core's machines)
//! ```
//! The machines are `core`'s; this crate carries frames and time between them. Events come in the
//! total order (time, phase, entity): timeline, arrivals, sources, selections; see
//! `docs/adr/0002-event-order.md`. Not here: the description (`model`), what is proven (`analysis`).

mod agenda;
mod applications;
mod as6802;
mod central;
mod clock;
mod control;

mod egress;
mod engine;
mod fates;
mod frame;
mod gptp;
mod harts;
mod host_stacks;
mod mechanisms;
mod network_time;
mod node;
mod options;
mod order;
mod plan;
mod plugged;
mod protocols;
mod random;
mod recorder;
mod refusal;
mod relay;
mod result;
mod source;
mod srp;
mod stages;
mod stamps;
mod statistics;
mod talker;
mod tdma;
mod test_bed;
mod time_triggered;
mod timeline;
mod told;
mod tournament;
mod virtual_links;

use tautwire_model::Network;

use engine::Engine;

pub use central::{AdmissionControl, ControlNote};
pub use clock::SimTime;
pub use control::{
    Attached, Attachment, Beside, CYCLES, CycleFrame, Cycles, Fault, Filtering, Frame, HandedDown,
    HandingDown, Holding, Machines, Mechanism, NetworkTime, Notes, Passing, Plane, Policing, Seen, Servers,
    Shaping, Shut, Stamping, Talkers,
};
pub use gptp::{ClockObservation, CorrectedObservation};
pub use harts::{
    AdmissionEvent, AdmissionRung, HartsObservation, ListeningObservation, MasterObservation, MasterState,
    RequestObservation, SwitchLink,
};
pub use network_time::{NetworkTimeObservation, NodeTime};
pub use options::{Driver, HartsTest, Options, Progress, StreamPart};
pub use recorder::{Contents, MissedSlot, NoRecorder, Recorder, Transmission};
pub use refusal::{Late, Limit, Refusal};
pub use result::{
    ApplicationObservation, ClassObservation, DatagramObservation, DropReason, HopObservation,
    ListenerObservation, Observation, PortObservation, SlotObservation, StampedObservation,
    StreamObservation, VirtualLinkObservation, WorstFrame,
};
pub use srp::{BridgeDelays, Declaration, ReservationObservation, Rung, RungEvent, VlanObservation};
pub use tdma::{CycleObservation, CyclesObservation, SlotFate, StartUpObservation};

pub use tautwire_wire::{TestMessage, WireError};
pub use test_bed::{
    CaptureObservation, ClockOffsets, LinkObservation, LogEntry, MessageObservation, Reasons,
    TestObservation, track,
};
pub use told::Told;

/// Runs a network in which no listener stamps frames and no machine makes any, as fast as it can.
///
/// This crate holds two copies of the event loop: this one, without recorder and machines, so that all of it is
/// inlined into one another, and that of [`run_with`].
///
/// # Panics
/// If [`is_plain`] is not true of the network: [`run_with`] makes time stamps and drives machines.
#[must_use]
pub fn run(network: &Network, options: &mut Options<'_>) -> Observation {
    assert!(is_plain(network), "time stamps are made and machines are driven by `run_with`");
    Engine::<_, false>::new(network, options, &mut NoRecorder).run()
}

/// Whether no listener of a network stamps frames, and no machine (TDMA, responses, protocol stacks) makes or
/// holds any.
#[must_use]
pub fn is_plain(network: &Network) -> bool {
    !stamps::are_wanted(network) && !plugged::is_wanted(network) && network.test_bed.is_none()
}

/// Runs a network and tells `recorder` what happens.
#[must_use]
pub fn run_with(network: &Network, options: &mut Options<'_>, recorder: &mut dyn Recorder) -> Observation {
    let Some(test) = &network.test_bed else { return run_stamped(network, options, recorder) };
    let seed = options.seed.unwrap_or(network.run.seed);
    let mut bed = test_bed::TestBed::new(network, test, seed, recorder);
    let mut observation = run_stamped(network, options, &mut bed);
    bed.finish(&mut observation);
    observation
}

/// Runs a network with time stamps, if any are wanted.
fn run_stamped(network: &Network, options: &mut Options<'_>, recorder: &mut dyn Recorder) -> Observation {
    if !stamps::are_wanted(network) {
        return Engine::<_, true>::new(network, options, recorder).run();
    }
    let seed = options.seed.unwrap_or(network.run.seed);
    let mut stamping = stamps::Stamping::new(network, seed, recorder);
    let mut observation = Engine::<dyn Recorder, true>::new(network, options, &mut stamping).run();
    stamping.finish(&mut observation);
    observation
}
