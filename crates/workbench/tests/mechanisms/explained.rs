//! Every stream of every scenario is explained: its bound hop by hop, and its worst frame's way.

use std::path::Path;

use tautwire_generate::KINDS;
use tautwire_workbench::{
    Duration, Network, Options, StreamIndex, bounds, explain, load, load_text, simulate, stories,
};

/// Of longer runs only so much is looked at.
const SPAN: Duration = Duration::from_ms(200);

#[test]
fn every_stream_of_every_scenario_is_explained() {
    let folder = Path::new("../../scenarios");
    let (mut count, mut explained) = (0, 0);
    for entry in std::fs::read_dir(folder).expect("the scenarios") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        let loaded = load(&path).expect("a file");
        let network = loaded.network.expect("no errors");
        let name = path.display().to_string();
        bounds_are_explained(&network, &name);
        explained += frames_are_explained(&network, &name);
        count += 1;
    }
    assert!(count >= 40 && explained >= 200, "{count} scenarios, {explained} streams");
}

/// Of drawn networks of every kind, too, those that a service carries among them.
#[test]
fn every_stream_of_every_kind_is_explained() {
    for (name, draw) in KINDS {
        let mut count = 0;
        for seed in 0..tautwire_generate::cases(6) {
            if let Some(network) = load_text(name, &draw(seed)).network {
                bounds_are_explained(&network, &format!("{name} {seed}"));
                count += 1;
            }
        }
        assert!(count > 0, "{name}: all are refused");
    }
}

/// A bound's times add up to it, hop by hop, and an unbounded row has a reason with names.
fn bounds_are_explained(network: &Network, name: &str) {
    let bounds = bounds(network);
    for number in 0..network.streams.len() {
        let explanation = explain(network, &bounds, StreamIndex::at(number));
        let (stream, described) = (&explanation.stream, &network.streams[number]);
        assert_eq!(explanation.hops.len(), described.hops.len(), "{name}: {stream}");
        for hop in &explanation.hops {
            let total: Duration = hop.times.iter().map(|(_, time)| *time).sum();
            match &hop.bounds.delay {
                Ok(delay) => assert_eq!(total, *delay, "{name}: {stream}\n{hop}"),
                Err(_) => assert!(hop.reason.as_ref().is_some_and(|why| !why.is_empty()), "{name}: {hop}"),
            }
        }
        assert!(!explanation.to_string().is_empty());
    }
}

/// The parts of a worst frame's hops add up to its delay. How many streams had one.
fn frames_are_explained(network: &Network, name: &str) -> usize {
    let duration = Some(network.run.duration.min(SPAN));
    let observation = simulate(network, &mut Options { duration, ..Options::default() });
    let stories: Vec<_> = stories(network, &observation).into_iter().flatten().collect();
    for story in &stories {
        let total: Duration = story.hops.iter().map(|hop| hop.parts.total()).sum();
        assert_eq!(total, story.delay, "{name}\n{story}");
        let waited: Duration = story.hops.iter().map(|hop| hop.parts.queueing).sum();
        assert!(waited <= story.delay, "{name}\n{story}");
    }
    stories.len()
}
