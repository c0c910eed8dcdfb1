//! Random networks of all kinds of traffic, which events change in the run: no frame is later or earlier than its bound, and no frame
//! is of a length that its virtual link does not have.
//!
//! `TAUTWIRE_CASES` sets how many are drawn, `TAUTWIRE_SEED` draws one.

use std::path::PathBuf;

use tautwire_generate::{random_trace, random_traffic, seeds};
use tautwire_sim::DropReason;
use tautwire_workbench::network::{TimelineAction, Traffic};
use tautwire_workbench::{Network, Options, bounds, load_text, simulate, verify};

/// Traces that the networks replay.
fn traces() -> Vec<String> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let trace = |number: u64| {
        let path = folder.join(format!("traffic-{number}.csv"));
        std::fs::write(&path, random_trace(number)).expect("a file");
        path.to_str().expect("a path of a build").to_owned()
    };
    (0..12).map(trace).collect()
}

/// The network of a seed; none if it overloads a port, or states a curve that its traffic does not keep.
fn network(seed: u64, traces: &[String]) -> Option<Network> {
    let loaded = load_text("drawn", &random_traffic(seed, traces));
    let known =
        |code: &str| ["port::overload", "stream::arrival-curve", "virtual-link::load"].contains(&code);
    assert!(
        loaded.network.is_some() || loaded.diagnostics.iter().any(|one| known(one.code)),
        "seed {seed}: {:#?}",
        loaded.diagnostics
    );
    loaded.network
}

/// Whether a stream ever has traffic of its own sizes.
fn ever(network: &Network, is: fn(&Traffic) -> bool) -> bool {
    let changed = network.events.iter().any(|event| match &event.action {
        TimelineAction::ChangeTraffic(_, traffic, _) => is(traffic),
        _ => false,
    });
    changed || network.streams.iter().any(|stream| is(&stream.traffic))
}

#[test]
fn no_frame_is_later_or_earlier_than_its_bound() {
    let (seeds, traces) = (seeds(300), traces());
    let (mut drawn, mut listeners, mut bounded, mut files, mut replays) = (0, 0, 0, 0, 0);
    for seed in &seeds {
        let Some(network) = network(*seed, &traces) else { continue };
        let (all, seen) = (bounds(&network), simulate(&network, &mut Options::default()));
        let mut found: Vec<String> =
            verify(&network, &all, &seen).contradictions.iter().map(ToString::to_string).collect();
        for (stream, observed) in network.streams.iter().zip(&seen.streams) {
            let policed = |(reason, _): &(DropReason, u64)| *reason == DropReason::PolicedLength;
            if stream.virtual_link.is_some() && observed.dropped.iter().any(policed) {
                found.push(format!("{} is policed: {:?}", stream.name, observed.dropped));
            }
        }
        assert!(
            found.is_empty(),
            "TAUTWIRE_SEED={seed} cargo test -p tautwire-workbench --test searches traffic_holds\n{found:#?}\n{}",
            random_traffic(*seed, &traces)
        );
        drawn += 1;
        files += usize::from(ever(&network, |traffic| matches!(traffic, Traffic::File { .. })));
        replays += usize::from(ever(&network, |traffic| matches!(traffic, Traffic::Replay { .. })));
        let of_listeners = all.streams.iter().flat_map(|stream| &stream.listeners);
        listeners += of_listeners.clone().count();
        bounded += of_listeners.filter(|listener| listener.delay.is_ok()).count();
    }
    assert!(
        seeds.len() < 100
            || (drawn * 2 > seeds.len() && bounded * 2 > listeners && files.min(replays) * 5 > drawn),
        "{drawn} of {} are drawn, {bounded} of {listeners} are bounded, {files} with files, {replays} with traces",
        seeds.len()
    );
}
