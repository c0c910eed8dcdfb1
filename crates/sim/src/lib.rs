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
mod stamps;
mod statistics;
mod talker;
mod timeline;
mod tournament;
mod virtual_links;

use tautwire_model::Network;

pub use clock::SimTime;
pub use options::{Driver, Options, Progress};
pub use recorder::{NoRecorder, Recorder, Transmission};
pub use result::{
    ClassObservation, DropReason, HopObservation, ListenerObservation, Observation, PortObservation,
    StampedObservation, StreamObservation, WorstFrame,
};

/// Runs a network in which no listener stamps frames, as fast as it can.
///
/// This crate holds one copy of the event loop, this one, so that all of it is inlined into one
/// another; [`run_with`] makes copies where it is called.
///
/// # Panics
/// If [`stamps_frames`] is true of the network: [`run_with`] makes time stamps.
#[must_use]
pub fn run(network: &Network, options: &mut Options<'_>) -> Observation {
    assert!(!stamps_frames(network), "time stamps are made by `run_with`");
    engine::Engine::new(network, options, &mut NoRecorder).run()
}

/// Whether any listener of a network stamps frames.
#[must_use]
pub fn stamps_frames(network: &Network) -> bool {
    stamps::are_wanted(network)
}

/// Runs a network and tells `recorder` what happens.
#[must_use]
pub fn run_with<R: Recorder>(network: &Network, options: &mut Options<'_>, recorder: &mut R) -> Observation {
    if !stamps_frames(network) {
        return engine::Engine::new(network, options, recorder).run();
    }
    let seed = options.seed.unwrap_or(network.run.seed);
    let mut stamping = stamps::Stamping::new(network, seed, recorder);
    let mut observation = engine::Engine::new(network, options, &mut stamping).run();
    stamping.finish(&mut observation);
    observation
}
