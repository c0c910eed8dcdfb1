//! The parts of a delay, by hand.

use tautwire_sim::{NoRecorder, Options, run_with};
use tautwire_units::Duration;

/// A talker's own ATS scheduler holds a frame before its port: that is shaping, and no part of what its host takes.
#[test]
fn what_a_talkers_scheduler_holds_is_shaping() {
    let text = "name: shaped\nnetwork-control: none\nhosts: {pc: {transmit: 10 us}}
defaults: {rate: 100 Mbit/s, host: pc}\nnodes:\n  a: {type: end-station}\n  b: {type: end-station}
  s: {type: bridge, device: ats}\ndevices: {ats: {stages: []}}\nlinks:\n  - {between: [a, s]}\n  - {between: [s, b]}
streams:\n  - {name: shaped, talker: a, listeners: b, priority: 6, payload: 300 B,
     traffic: {type: periodic, interval: 5 ms, burst: 2},
     shaper: {committed-information-rate: 5 Mbit/s, committed-burst-size: 342 B, shape-at-talker: true}}
run: {duration: 100 ms}
";
    let loaded = tautwire_model::load_text("shaped", text);
    assert!(!loaded.has_errors(), "{:#?}", loaded.diagnostics);
    let network = loaded.network.expect("no errors");
    let seen = run_with(&network, &mut Options::default(), &mut NoRecorder);
    let stream = &seen.streams[0];
    let count = stream.listeners[0].delay.count();
    assert!(count >= 38, "{count}");
    let own = stream.hops[0].sums;
    assert_eq!(own.processing, Duration::from_us(10 * count), "its host, and nothing else");
    assert_eq!(own.queueing, Duration::ZERO, "the line is free when a frame is eligible");
    // The second of each burst waits for 342 octets of its bucket: 342 * 8 bit at 5 Mbit/s, 547.2 us.
    let exact = Duration::from_ns(547_200 * count / 2);
    let apart = if own.shaping > exact { own.shaping - exact } else { exact - own.shaping };
    assert!(apart <= Duration::from_ns(100 * count), "{} and {exact}", own.shaping);
    let parts = stream.hops.iter().map(|hop| hop.sums.total()).sum::<Duration>();
    assert_eq!(u128::from(parts.as_ps()), stream.listeners[0].delay.sum_ps(), "all parts are the delay");
}
