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
mod clock;
mod egress;
mod engine;
mod frame;
mod node;
mod options;
mod plan;
mod random;
mod recorder;
mod relay;
mod result;
mod source;
mod stages;
mod statistics;
mod talker;
mod timeline;
mod tournament;

use tautwire_model::Network;

pub use clock::SimTime;
pub use options::{Driver, Options, Progress};
pub use recorder::{NoRecorder, Recorder, Transmission};
pub use result::{
    ClassObservation, DropReason, HopObservation, ListenerObservation, Observation, PortObservation,
    StreamObservation, WorstFrame,
};

/// Runs a network.
#[must_use]
pub fn run(network: &Network, options: &mut Options<'_>) -> Observation {
    run_with(network, options, &mut NoRecorder)
}

/// Runs a network and tells `recorder` what happens.
#[must_use]
pub fn run_with<R: Recorder>(network: &Network, options: &mut Options<'_>, recorder: &mut R) -> Observation {
    engine::Engine::new(network, options, recorder).run()
}
