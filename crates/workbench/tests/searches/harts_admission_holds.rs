//! Streams come and go under central admission of HaRTES in random networks: none that was admitted is late, a refused
//! request leaves nothing behind, and whatever is lost, and whenever the ACMaster dies, nothing acknowledged is lost;
//! a grant over a link that fails ends, and a node that repeats its request gets it again.
//!
//! `TAUTWIRE_CASES` sets the number of networks, `TAUTWIRE_SEED` draws one. The ACMaster decides by the proven bounds;
//! results are counted, so that the search is seen to have found streams of every kind.

use crate::common::{broken_admissions, described};
use tautwire_generate::{random_harts_admission, seeds};
use tautwire_sim::AdmissionEvent;
use tautwire_workbench::{Options, StreamIndex, bounds, bounds_in_run, simulate, verify};

#[test]
fn what_is_admitted_holds_while_streams_come_and_go() {
    let seeds = seeds(60);
    let (mut granted, mut refused, mut gone, mut took_over, mut lost, mut cut_off) = (0, 0, 0, 0, 0, 0);
    let mut left_out = 0;
    for &seed in &seeds {
        let text = random_harts_admission(seed);
        let network = described(&text);
        let observation = simulate(&network, &mut Options { seed: Some(seed), ..Options::default() });
        let proven = bounds(&network);
        let broken = broken_admissions(&network, &proven, &observation);
        assert!(broken.is_empty(), "TAUTWIRE_SEED={seed}: {broken:#?}\n{text}");
        let seen = observation.harts.as_ref().expect("masters");
        // A stream that is predicted to be refused in every run is refused in this one, and the run is bounded.
        for (place, stream) in network.streams.iter().enumerate() {
            for (listener, node) in stream.listeners.iter().enumerate() {
                let never = matches!(
                    proven.streams[place].listeners[listener].delay,
                    Err(tautwire_analysis::Unbounded::NotGranted { .. })
                );
                let outcome = seen.outcome(StreamIndex::at(place), *node).unwrap_or_default();
                let came = observation.streams[place].listeners[listener].delivered > 0;
                assert!(
                    !never || !(outcome.granted || came),
                    "TAUTWIRE_SEED={seed}: {}\n{text}",
                    stream.name
                );
                left_out += u32::from(never);
            }
        }
        let held = verify(&network, &bounds_in_run(&network, &observation), &observation);
        assert!(held.contradictions.is_empty(), "TAUTWIRE_SEED={seed}: {:?}\n{text}", held.contradictions);
        let talkers = || seen.requests.iter().filter(|request| request.is_talker);
        granted += talkers().filter(|request| request.granted).count();
        refused += talkers().filter(|request| request.answered_at.is_some() && !request.granted).count();
        let of = |event: AdmissionEvent| seen.ladder.iter().filter(|rung| rung.event == event).count();
        gone += of(AdmissionEvent::Removed);
        took_over += of(AdmissionEvent::TookOver);
        cut_off += of(AdmissionEvent::CutOff);
        let control = network.streams.iter().zip(&observation.streams);
        let control = control.filter(|(stream, _)| stream.name.starts_with("control:"));
        lost += control.flat_map(|(_, seen)| &seen.dropped).map(|(_, count)| count).sum::<u64>();
    }
    if seeds.len() >= 60 {
        let found = (granted, refused, gone, took_over, lost, cut_off);
        let enough = granted > 60 && refused > 20 && gone > 20 && took_over > 3 && lost > 5 && cut_off > 20;
        assert!(enough && left_out > 0, "there is something to hold: {found:?}, {left_out} left out");
    }
}
