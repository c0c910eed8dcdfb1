//! How a run is started: plain, or with the parts outside of the plain data plane.

use tautwire_model::Network;

use crate::engine::Engine;
use crate::mechanisms;
use crate::options::{Driver, Options};
use crate::ports::ByPorts;
use crate::recorder::{NoRecorder, Recorder, Wrap};
use crate::result::Observation;
use crate::{plugged, ports, stamps};

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
    let order = if options.driver == Driver::ByPorts { ports::order(network) } else { None };
    if let Some(order) = &order
        && options.processors > 1
    {
        return ports::run_in_parts(network, order, options, |by_ports| by_ports);
    }
    let mut nothing = NoRecorder;
    let engine = Engine::<_, false>::new(network, options, &mut nothing);
    match order {
        Some(order) => engine.run_by_ports(ByPorts::new(network, order)),
        None => engine.run(),
    }
}

/// Whether no listener of a network stamps frames, and no machine (TDMA, responses, protocol stacks) makes or
/// holds any.
#[must_use]
pub fn is_plain(network: &Network) -> bool {
    !(stamps::WRAP.is_wanted)(network) && !plugged::is_wanted(network)
}

/// Runs a network and passes its events to `recorder`.
#[must_use]
pub fn run_with(network: &Network, options: &mut Options<'_>, recorder: &mut dyn Recorder) -> Observation {
    let seed = options.seed.unwrap_or(network.run.seed);
    let wraps: Vec<Wrap> = mechanisms::wraps().chain([stamps::WRAP]).collect();
    run_wrapped(&wraps, (network, seed), options, recorder)
}

/// Runs a network with recorders around `recorder`, the first of them next to it.
fn run_wrapped(
    wraps: &[Wrap],
    (network, seed): (&Network, u64),
    options: &mut Options<'_>,
    recorder: &mut dyn Recorder,
) -> Observation {
    let Some((wrap, rest)) = wraps.split_first() else {
        return Engine::<_, true>::new(network, options, recorder).run();
    };
    if !(wrap.is_wanted)(network) {
        return run_wrapped(rest, (network, seed), options, recorder);
    }
    let mut own = (wrap.around)(network, seed, recorder);
    let mut observation = run_wrapped(rest, (network, seed), options, &mut *own);
    own.finish(&mut observation);
    observation
}
