//! Synchronous streams of HaRTES that are requested during a run: the windows of all switches are tested, and every
//! switch on the path adds the stream to its schedule, and removes it again.
//!
//! Random networks are searched in `harts_admission_holds.rs`.

use tautwire_sim::{AdmissionEvent, HartsObservation, Recorder, RequestObservation, SimTime, Transmission};
use tautwire_workbench::{Duration, Network, Observation, Options, bounds, simulate, simulate_with};

use crate::common::{broken_admissions, described as network};

fn scenario() -> String {
    let path = "../../scenarios/harts-synchronous-admission.yaml";
    std::fs::read_to_string(path).expect("a scenario")
}

fn run(text: &str) -> (Network, Observation) {
    let network = network(text);
    let observation = simulate(&network, &mut Options::default());
    let broken = broken_admissions(&network, &bounds(&network), &observation);
    assert!(broken.is_empty(), "{broken:#?}");
    (network, observation)
}

fn harts(observation: &Observation) -> &HartsObservation {
    observation.harts.as_ref().expect("masters")
}

fn of(network: &Network, name: &str) -> usize {
    network.streams.iter().position(|stream| stream.name == name).expect("a stream")
}

fn talker<'o>(network: &Network, observation: &'o Observation, name: &str) -> &'o RequestObservation {
    let mut requests = harts(observation).requests.iter();
    requests
        .find(|request| request.is_talker && request.stream.index() == of(network, name))
        .expect("a request")
}

fn count(network: &Network, observation: &Observation, name: &str, event: AdmissionEvent) -> usize {
    let stream = of(network, name);
    let own = |rung: &&tautwire_sim::AdmissionRung| rung.stream.index() == stream && rung.event == event;
    harts(observation).ladder.iter().filter(own).count()
}

#[test]
fn what_fits_the_windows_of_all_switches_is_granted() {
    let (network, observation) = run(&scenario());
    for (name, granted) in [
        ("position", true),
        ("setpoint", true),
        ("broadcast", true),
        ("video", true),
        ("video-2", false),
        ("late", false),
    ] {
        let request = talker(&network, &observation, name);
        assert_eq!(request.granted, granted, "{name}");
        assert!(request.latency().is_some_and(|taken| taken < Duration::from_ms(30)), "{name}: {request:?}");
        let everywhere = count(&network, &observation, name, AdmissionEvent::Configured);
        assert!(if granted { everywhere >= 3 } else { everywhere == 0 }, "{name}: {everywhere} switches");
    }
    let refused = talker(&network, &observation, "late").subject.expect("why");
    assert_eq!(refused.index(), of(&network, "late"), "it would be late itself");
    // What is granted is sent in every period from then on, and nothing else is.
    let sent = |name: &str| observation.streams[of(&network, name)].created;
    for (name, until, period) in
        [("position", 500, 2_000), ("setpoint", 500, 2_000), ("broadcast", 500, 4_000), ("video", 300, 500)]
    {
        let since = talker(&network, &observation, name).answered_at.expect("an answer");
        let periods = (Duration::from_ms(until) - since).as_ps() / Duration::from_us(period).as_ps();
        assert!(sent(name).abs_diff(periods) <= 2, "{name}: {} of {periods}", sent(name));
    }
    assert_eq!((sent("video-2"), sent("late")), (0, 0));
    // Those that were granted before lost nothing.
    let local = &observation.streams[of(&network, "local")];
    assert!(local.created >= 999 && local.listeners[0].late == 0);
    assert_eq!(count(&network, &observation, "video", AdmissionEvent::Removed), 3, "out of three schedules");
}

#[test]
fn where_the_first_is_not_asked_for_the_second_has_its_room() {
    let text = scenario().replace("      - {stream: video, at: 30 ms, release-at: 300 ms}\n", "");
    let text = text.replace("    - {stream: video, every: 1}\n", "");
    let text = text.replace(
        "  - {name: video, talker: sensor, listeners: controller, priority: 7, payload: 300 B, traffic: {type: polled}, deadline: 5 ms}\n",
        "",
    );
    let (network, observation) = run(&text);
    assert!(talker(&network, &observation, "video-2").granted);
}

#[test]
fn by_the_proven_bounds_it_is_the_same() {
    let text = scenario().replace("    patience:", "    decide-by: bounds\n    patience:");
    let (network, observation) = run(&text);
    let granted = harts(&observation).requests.iter().filter(|request| request.is_talker && request.granted);
    let names: Vec<&str> =
        granted.map(|request| network.streams[request.stream.index()].name.as_str()).collect();
    assert_eq!(names, ["position", "setpoint", "broadcast", "video"]);
}

#[test]
fn the_standby_knows_synchronous_streams() {
    // The ACMaster in a switch of its own: what goes through a switch that stops ends with it.
    let text = scenario()
        .replace("master: sw2\n    standby: sw1", "master: sw4\n    standby: sw2")
        .replace("harts:\n", "  - {between: [sw2, sw4], length: 5 m}\nharts:\n")
        .replace("links:\n", "  sw4: {type: bridge}\nlinks:\n");
    let (network, observation) = run(&with_event(&text, "{at: 60 ms, stop-node: sw4}"));
    let seen = harts(&observation);
    assert!(seen.ladder.iter().any(|rung| rung.event == AdmissionEvent::TookOver));
    // Requested after the death: from the successor, which knows `video`.
    assert!(!talker(&network, &observation, "video-2").granted);
    let active = seen.acmasters.iter().find(|master| master.active).expect("the heir");
    for name in ["position", "setpoint", "broadcast"] {
        let is_granted = active.standing.iter().any(|stream| stream.index() == of(&network, name));
        assert!(is_granted, "{name}: {:?}", active.standing);
    }
}

#[test]
fn what_goes_through_a_switch_that_stops_leaves_the_schedules_of_the_others() {
    let stopped = "{at: 60 ms, stop-node: sw1}";
    let (network, observation) = run(&with_event(&scenario(), stopped));
    let seen = harts(&observation);
    let active = seen.acmasters.iter().find(|master| master.active).expect("it is not in that switch");
    let standing = |name: &str| active.standing.iter().any(|stream| stream.index() == of(&network, name));
    // `video-2`, requested after it, has its listener at that switch.
    for name in ["position", "setpoint", "broadcast", "video", "video-2"] {
        assert!(!standing(name), "{name}");
    }
    let notified = count(&network, &observation, "position", AdmissionEvent::CutOff);
    assert_eq!(notified, 1, "its talker; its listener is at the switch that stops");
    let sent = observation.streams[of(&network, "position")].created;
    assert!((20..35).contains(&sent), "every 2 ms from 10 ms to 60 ms: {sent}");

    let back = format!("{stopped}, {{at: 200 ms, start-node: sw1}}");
    let (network, observation) = run(&with_event(&scenario(), &back));
    let seen = harts(&observation);
    let active = seen.acmasters.iter().find(|master| master.active).expect("one decides");
    for name in ["position", "setpoint", "broadcast"] {
        assert!(active.standing.iter().any(|stream| stream.index() == of(&network, name)), "{name}");
        assert!(talker(&network, &observation, name).granted, "{name}");
    }
}

/// Transmissions of `broadcast` by the switch in the middle to the panel.
struct ToPanel {
    stream: u32,
    port: u32,
    starts: Vec<SimTime>,
}

impl Recorder for ToPanel {
    fn transmitted(&mut self, transmission: &Transmission) {
        if (transmission.stream, transmission.port) == (self.stream, self.port) {
            self.starts.push(transmission.start);
        }
    }
}

/// A message that waits in the pool when its last consumer behind a port leaves does not go there in the next cycle, whose schedule
/// has no time for it: wherever in a cycle the consumer leaves.
#[test]
fn no_cycle_has_what_nobody_behind_a_port_wants() {
    const CYCLE: u64 = 500_000_000;
    let text =
        scenario().replace("tolerance: 50 ppm", "tolerance: 0 ppm").replace("offset: 170 us", "offset: 0 us");
    let text = text.replace("run: {duration: 500 ms}", "run: {duration: 80 ms}");
    for step in 0..16 {
        let parts = format!(
            "[{{node: panel, release-at: {} us}}, {{node: drive}}, {{node: sensor}}]",
            43_200 + step * 50
        );
        let requested = "{stream: broadcast, at: 10 ms";
        let network = network(&text.replace(requested, &format!("{requested}, listeners: {parts}")));
        let stream = of(&network, "broadcast");
        let named = |name: &str| network.nodes.iter().position(|node| node.name == name).expect("a node");
        let (sw2, panel) = (named("sw2"), named("panel"));
        let hop = network.streams[stream].hops.iter().find(|hop| {
            let links = network.ports[hop.port.index()].links.expect("a cable");
            network.ports[network.links[links.egress.index()].to.index()].node.index() == panel
        });
        let port = hop.expect("it leads to the panel").port.0;
        let stream = u32::try_from(stream).expect("few streams");
        let mut to_panel = ToPanel { stream, port, starts: Vec::new() };
        let observation = simulate_with(&network, &mut Options::default(), &mut to_panel);
        let notified = harts(&observation).ladder.iter().find(|rung| {
            rung.event == AdmissionEvent::Configured
                && rung.stream.0 == stream
                && rung.node.index() == sw2
                && rung.at > Duration::from_ms(40)
        });
        let notified = notified.expect("the switch is told that it left").at.as_ps();
        assert!(!to_panel.starts.is_empty());
        for start in to_panel.starts {
            let opened = start.as_ps() / CYCLE * CYCLE;
            assert!(
                opened <= notified,
                "step {step}: told at {notified} ps, sent in the cycle that opened at {opened} ps"
            );
        }
    }
}

/// The scenario with events.
fn with_event(text: &str, events: &str) -> String {
    text.replace("streams:\n  - {name: local", &format!("events: [{events}]\nstreams:\n  - {{name: local"))
}
