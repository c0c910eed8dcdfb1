//! The parts of a delay, by hand.

use tautwire_sim::{NoRecorder, Options, run_with};
use tautwire_units::Duration;

/// A talker's own ATS scheduler holds a frame before its port: that is shaping, and no part of what its host takes.
#[test]
fn what_a_talkers_scheduler_holds_is_shaping() {
    let text = "name: shaped\nnetwork-control: none\nvlans:\n  1:\n    tagged: all\nhosts: {pc: {transmit: 10 us}}
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

/// Events that widen what a stream sends do not change the frames of its other traffic.
#[test]
fn traffic_next_to_a_file_keeps_its_sizes() {
    let text = |events: &str| {
        format!(
            "name: sizes\nnetwork-control: none\nvlans:\n  1:\n    tagged: all\ndefaults: {{rate: 100 Mbit/s}}\nnodes: {{a: {{type: end-station}}, b: {{type: \
             end-station}}, s: {{type: bridge}}}}\nlinks: [{{between: [a, s]}}, {{between: [s, b]}}]\nstreams:\n  - {{name: x, \
             talker: a, listeners: b, payload: 1000 B, traffic: {{type: periodic, interval: 1 ms}}}}\nrun: {{duration: \
             20 ms}}\n{events}"
        )
    };
    let seen = |events: &str| {
        let loaded = tautwire_model::load_text("sizes", &text(events));
        assert!(!loaded.has_errors(), "{:#?}", loaded.diagnostics);
        let network = loaded.network.expect("no errors");
        let seen = run_with(&network, &mut Options::default(), &mut NoRecorder);
        let delay = &seen.streams[0].listeners[0].delay;
        (delay.count(), delay.min(), delay.max())
    };
    let (count, least, most) = seen("");
    assert_eq!(least, most, "frames of one size");
    let file =
        "events: [{at: 15500 us, change-traffic: {stream: x, traffic: {type: file, octets: 2100 B}}}]\n";
    let (with_file, shortest, longest) = seen(file);
    assert_eq!((with_file, longest), (count - 4 + 3, most), "sixteen of its own, and three of the file");
    assert!(shortest < least);
}

/// A curve that takes years to fill does not end a run.
#[test]
fn a_bucket_may_take_years_to_fill() {
    let text = "name: slow\nnetwork-control: none\nvlans:\n  1:\n    tagged: all\ndefaults: {rate: 100 Mbit/s}\nnodes: {a: {type: end-station}, b: {type: \
                end-station}, s: {type: bridge}}\nlinks: [{between: [a, s]}, {between: [s, b]}]\nstreams:\n  - {name: x, talker: \
                a, listeners: b, payload: 1500 B, arrival-curve: {rate: 1 bit/s, burst: 100 MB}, traffic: {type: greedy}}\nrun: \
                {duration: 10 ms}\n";
    let loaded = tautwire_model::load_text("slow", text);
    let network = loaded.network.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics));
    let seen = run_with(
        &network,
        &mut Options { duration: Some(Duration::from_us(100)), ..Options::default() },
        &mut NoRecorder,
    );
    assert!(seen.streams[0].created > 0);
}
