//! The three models of configuration (802.1Q-2022 46.1.3) on one network: admitted streams, their times, and the
//! number of control frames.

use std::collections::BTreeMap;

use tautwire_model::Network;
use tautwire_model::network::Traffic;
use tautwire_sim::{
    ControlNote, DropReason, Limit, Observation, Options, Recorder, ReservationObservation, RungEvent,
    SimTime, Transmission,
};
use tautwire_units::Duration;

const SCENARIO: &str = include_str!("../../../../scenarios/central-configuration.yaml");
const PAGE: &str = include_str!("../../../../docs/mechanisms/central-configuration.md");

/// The models, with the test of the CNC.
const MODELS: [(&str, &str); 4] = [
    ("fully distributed", ""),
    ("centralised network, distributed user", "bandwidth"),
    ("fully centralised", "bandwidth"),
    ("fully centralised", "bounds"),
];

/// The scenario under another model.
fn described(model: &str, test: &str) -> String {
    let mut text = SCENARIO.replace("test: bounds", &format!("test: {test}"));
    let central = |line: &str| {
        ["model:", "cnc:", "cuc:", "management:"].iter().any(|key| line.trim_start().starts_with(key))
    };
    let users = |line: &str| line.trim_start().starts_with("cuc:");
    match model {
        "fully distributed" => {
            text =
                text.lines().filter(|line| !central(line)).fold(String::new(), |all, line| all + line + "\n");
        }
        "centralised network, distributed user" => {
            text =
                text.lines().filter(|line| !users(line)).fold(String::new(), |all, line| all + line + "\n");
            text = text.replace("model: fully-centralized", "model: centralized-network-distributed-user");
        }
        _ => {}
    }
    text
}

/// The same reservations with fewer frames.
fn sparse(text: &str) -> String {
    text.replace("interval: 125 us", "interval: 5 ms").replace("interval: 250 us", "interval: 5 ms")
}

fn network(text: &str) -> Network {
    let loaded = tautwire_workbench::load_text("central.yaml", text);
    loaded.network.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics))
}

fn run(network: &Network) -> Observation {
    tautwire_workbench::simulate(network, &mut Options::default())
}

fn of<'o>(network: &Network, seen: &'o Observation, name: &str) -> &'o ReservationObservation {
    let found = seen.reservations.iter().find(|seen| network.streams[seen.stream.index()].name == name);
    found.expect("a reserved stream")
}

fn started(seen: &ReservationObservation) -> Option<Duration> {
    seen.first(|rung| rung.event == RungEvent::Started)
}

/// Frames and octets of control on all links together.
#[derive(Default)]
struct Control {
    streams: Vec<bool>,
    frames: u64,
    octets: u64,
}

impl Recorder for Control {
    fn created(&mut self, _time: SimTime, _stream: u32, _number: u32, _octets: u32) {}

    fn transmitted(&mut self, transmission: &Transmission) {
        if self.streams[transmission.stream as usize] {
            self.frames += 1;
            self.octets += u64::from(transmission.octets);
        }
    }

    fn delivered(&mut self, _time: SimTime, _stream: u32, _listener: u32, _number: u32, _delay: Duration) {}

    fn dropped(&mut self, _time: SimTime, _stream: u32, _number: u32, _hop: u32, _reason: DropReason) {}
}

/// Milliseconds with one decimal, to the nearest.
fn milliseconds(span: Option<Duration>) -> String {
    span.map_or_else(
        || "-".to_owned(),
        |span| {
            let tenths = (span.as_ps() + 50_000_000) / 100_000_000;
            format!("{}.{}", tenths / 10, tenths % 10)
        },
    )
}

#[test]
fn the_page_shows_what_the_models_give() {
    let mut rows = Vec::new();
    for (model, test) in MODELS {
        let network = network(&described(model, test));
        let is_control = |stream: &tautwire_model::network::Stream| stream.traffic == Traffic::Protocol;
        let mut control =
            Control { streams: network.streams.iter().map(is_control).collect(), ..Control::default() };
        let seen = tautwire_workbench::simulate_with(&network, &mut Options::default(), &mut control);
        let admission = |name: &str| milliseconds(of(&network, &seen, name).admission());
        let proven = tautwire_workbench::bounds(&network);
        let proven = tautwire_analysis::admission_bounds(&network, &proven);
        let camera = of(&network, &seen, "camera").stream;
        let most = proven.iter().find(|bound| bound.stream == camera).and_then(|bound| bound.delay.ok());
        rows.push(format!(
            "| {model} | {} | {} | {} | {} | {} | {} | {} | {} |",
            if test.is_empty() { "bandwidth" } else { test },
            admission("camera"),
            milliseconds(most),
            admission("audio"),
            admission("control"),
            admission("record"),
            control.frames,
            control.octets
        ));
    }
    let table = rows.join("\n");
    assert!(PAGE.contains(&table), "the page does not show:\n{table}");
}

#[test]
fn every_model_admits_what_fits_and_sends_nothing_before() {
    for (model, test) in MODELS {
        let network = network(&described(model, test));
        let seen = run(&network);
        for name in ["camera", "audio"] {
            let reserved = of(&network, &seen, name);
            let begun = started(reserved).unwrap_or_else(|| panic!("{model}, {test}: {name}"));
            assert_eq!(reserved.lapses(), 0);
            // Every bridge on the way has reserved before the talker starts.
            let bridges: BTreeMap<_, _> = reserved
                .ladder
                .iter()
                .filter(|rung| matches!(rung.event, RungEvent::Reserved(_)) && rung.at <= begun)
                .map(|rung| (rung.node, rung.at))
                .collect();
            assert_eq!(bridges.len(), 3, "{model}, {test}: {name}");
            let frames = &seen.streams[reserved.stream.index()];
            assert!(frames.created > 10_000 && frames.dropped.is_empty());
        }
    }
}

#[test]
fn no_frame_is_later_than_its_bound_whoever_configures() {
    for (model, test) in MODELS {
        let text = described(model, test).replace("defaults:", "defaults:\n  clock: {tolerance: 100 ppm}");
        let network = network(&text);
        let bounds = tautwire_workbench::bounds(&network);
        let seen = run(&network);
        let verified = tautwire_workbench::judge(&network, Some(&bounds), Some(&seen));
        assert!(verified.contradictions.is_empty(), "{model}, {test}: {:?}", verified.contradictions);
    }
}

/// A stream without a reservation that has no bound, or would be late anyway, causes no refusal; one whose deadline holds does.
#[test]
fn a_test_by_bounds_protects_what_holds_without_it() {
    let text = described("fully centralised", "bounds");
    let text = format!("network-control: {{}}\n{text}");
    let streams = "streams:\n";
    assert!(text.contains(streams));
    let with_traffic = |traffic: &str| {
        let one = "{name: beside, talker: N6, listeners: N5, priority: 0, payload: 100 B, ";
        text.replace(streams, &format!("{streams}  - {one}traffic: {traffic}}}\n"))
    };
    let begun = |text: &str| {
        let network = network(text);
        let seen = run(&network);
        seen.reservations.iter().filter(|one| started(one).is_some()).count()
    };
    let all = begun(&text);
    assert!(all > 0);
    assert_eq!(begun(&with_traffic("{type: poisson, mean-interval: 10 ms}")), all);
    assert_eq!(begun(&with_traffic("{type: periodic, interval: 10 ms}, deadline: 100 us")), all);
    // Together with `audio` its bound is below, with `camera` it is above.
    assert_eq!(begun(&with_traffic("{type: periodic, interval: 10 ms}, deadline: 1100 us")), 1);
}

#[test]
fn what_does_not_fit_is_served_when_something_is_withdrawn() {
    for (model, test) in MODELS {
        // By the figures of MSRP three streams of class A are above 75 %; by their rates they fit, unless one is larger.
        let mut text = described(model, test);
        if test == "bounds" {
            text = text.replace("payload: 700 B", "payload: 1400 B");
            text = text.replace("about:", "allow: [port::overload]\nabout:");
        }
        let network = network(&text);
        let seen = run(&network);
        let record = of(&network, &seen, "record");
        let control = of(&network, &seen, "control");
        let begun = started(record).unwrap_or_else(|| panic!("{model}, {test}: never served"));
        assert!(begun > Duration::from_s(5), "{model}, {test}: {begun}");
        let released =
            control.first(|rung| matches!(rung.event, RungEvent::Released(_))).expect("given back");
        assert!(begun > released);
        let withdrawn = control.first(|rung| rung.event == RungEvent::Withdrawn).expect("at 5 s");
        let asked = seen.refusals.iter().filter(|refusal| refusal.stream == record.stream);
        let limits: Vec<Limit> = asked.map(|refusal| refusal.limit).collect();
        assert_eq!(limits.is_empty(), model == "fully distributed", "{model}, {test}: {limits:?}");
        for limit in limits {
            match limit {
                Limit::Late(late) => {
                    assert_eq!(test, "bounds", "{limit:?}");
                    assert!(late.delay_max.is_none_or(|most| most > late.deadline.unwrap()), "{limit:?}");
                }
                Limit::Bandwidth { wanted, left, .. } => {
                    assert_eq!(test, "bandwidth", "{limit:?}");
                    assert!(left < wanted, "{limit:?}");
                }
            }
        }
        if model == "fully centralised" {
            assert!(begun < withdrawn + Duration::from_ms(200), "no timer stands between: {begun}");
            let refused = record.first(|rung| {
                matches!(rung.event, RungEvent::ControlReceived(_, ControlNote::Refused(code)) if code > 0)
            });
            assert!(refused.is_some());
        } else {
            assert!(begun > withdrawn + Duration::from_s(1), "a LeaveTime passes: {begun}");
        }
    }
}

/// `stroke` is refused for its deadline, not for bandwidth, and served when `vision` has left.
#[test]
fn who_asks_with_msrp_is_refused_by_bounds_and_tested_again() {
    let text = include_str!("../../../../scenarios/central-requests.yaml");
    let begun = |text: &str| {
        let network = network(text);
        let seen = run(&network);
        started(of(&network, &seen, "stroke")).expect("served in the end")
    };
    let by_bounds = begun(text);
    let [refusal] = &run(&network(text)).refusals[..] else { panic!("it asks once") };
    let Limit::Late(late) = refusal.limit else { panic!("its deadline stands in the way") };
    // Of all that is described, `plan` and `vision` run then. A CNC tests by curves.
    let proven = tautwire_analysis::bounds_by(&network(text), tautwire_analysis::Accuracy::Curves);
    assert_eq!(late.stream, refusal.stream);
    assert_eq!(late.deadline, Some(Duration::from_us(450)));
    assert!(
        late.delay_max.unwrap() <= *proven.streams[late.stream.index()].listeners[0].delay.as_ref().unwrap()
    );
    assert!(late.delay_max.unwrap() > Duration::from_us(450) && late.port.is_some());
    assert!(by_bounds > Duration::from_s(5) && by_bounds < Duration::from_ms(5_500), "{by_bounds}");
    let by_bandwidth = begun(&text.replace("test: bounds", "test: bandwidth"));
    assert!(by_bandwidth < Duration::from_ms(2_500), "{by_bandwidth}");
}

#[test]
fn lost_frames_of_control_are_made_up_for() {
    let cables = ["N1:p1", "N2:p1", "N3:p1", "C:p1", "Sw1:p4", "Sw2:p4"];
    for (model, test) in &MODELS[1..] {
        let events: String = cables
            .iter()
            .map(|cable| {
                format!(
                    "  - {{at: 1 ns, change-bit-error-rate: {{link: \"{cable}\", bit-error-rate: 2e-5}}}}\n"
                )
            })
            .collect();
        let text = sparse(&described(model, test)).replace("run: {", &format!("events:\n{events}run: {{"));
        let network = network(&text);
        let seen = run(&network);
        let lost: u64 = network
            .streams
            .iter()
            .zip(&seen.streams)
            .filter(|(stream, _)| stream.name.starts_with("control:"))
            .flat_map(|(_, seen)| &seen.dropped)
            .map(|(_, count)| count)
            .sum();
        assert!(lost > 5, "{lost} frames");
        for name in ["camera", "audio", "control"] {
            let begun = started(of(&network, &seen, name));
            assert!(begun.is_some_and(|begun| begun < Duration::from_s(5)), "{model}: {name} {begun:?}");
        }
    }
}

#[test]
fn a_device_that_is_lost_takes_its_streams_along_and_they_come_back() {
    for (model, test) in &MODELS[1..] {
        for name in ["Sw3", "N3", "C"] {
            let events = format!(
                "events:\n  - {{at: 4 s, stop-node: {name}}}\n  - {{at: 5 s, start-node: {name}}}\nrun: {{"
            );
            let text = sparse(&described(model, test)).replace("run: {", &events).replace("8 s", "12 s");
            let network = network(&text);
            let seen = run(&network);
            let audio = of(&network, &seen, "audio");
            let last = audio.ladder.iter().rev().find_map(|rung| match rung.event {
                RungEvent::Started => Some((rung.at, true)),
                RungEvent::Stopped => Some((rung.at, false)),
                _ => None,
            });
            let (at, sends) = last.expect("it began");
            assert!(sends, "{model}: {name} lost, {at}");
            if name == "C" {
                // Configured state stays while there is no configuring entity.
                let stopped = audio.first(|rung| rung.event == RungEvent::Stopped);
                assert!(stopped.is_none_or(|at| at > Duration::from_s(5)), "{model}: {stopped:?}");
            } else {
                assert!(at > Duration::from_s(5), "{model}: {name} lost, {at}");
            }
        }
    }
}

#[test]
fn every_event_loop_gives_the_same() {
    let network = network(&sparse(SCENARIO));
    let with = |driver| {
        let mut options = Options { driver, ..Options::default() };
        tautwire_workbench::simulate(&network, &mut options)
    };
    let plain = with(tautwire_sim::Driver::Plain);
    assert_eq!(plain.reservations, with(tautwire_sim::Driver::Eliding).reservations);
    assert_eq!(plain.reservations, with(tautwire_sim::Driver::Spurious).reservations);
}
