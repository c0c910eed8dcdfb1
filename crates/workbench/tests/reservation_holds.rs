//! Reserved streams against their bounds: bounds reckon with all of them and with their MRPDUs.

use std::path::Path;

use tautwire_workbench as tautwire;

#[test]
fn no_reserved_stream_and_no_mrpdu_is_later_than_its_bound() {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/stream-reservation.yaml"));
    let scenario = tautwire::Scenario::new(path, tautwire::load(path).expect("a file")).expect("no errors");
    let bounds = tautwire::bounds(&scenario.network);
    let seen = tautwire::simulate(&scenario.network, &mut tautwire::Options::default());
    let verification = tautwire::verify(&scenario.network, &bounds, &seen);
    assert!(verification.contradictions.is_empty(), "{:?}", verification.contradictions);
    let streams = scenario.network.streams.iter().zip(&bounds.streams);
    let (mut mrpdus, mut others) = (0, 0);
    for (stream, bounds) in streams {
        assert!(bounds.listeners.iter().all(|listener| listener.delay.is_ok()), "{}", stream.name);
        if stream.name.starts_with("msrp:") { mrpdus += 1 } else { others += 1 }
    }
    assert_eq!((mrpdus, others), (14, 4), "a stream of MRPDUs for each end of seven cables");
    // The bounds are of use: every deadline is proven.
    assert_eq!(verification.verdict, tautwire::Verdict::Proven);
}
