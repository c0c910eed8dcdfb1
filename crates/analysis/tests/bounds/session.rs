//! A session's bounds are those of the complete analysis, to the bit, whatever came, changed and went before.

use tautwire_analysis::{Accuracy, Bounds, Limit, Session, Unbounded, bounds_by, losses};
use tautwire_generate::{Backbone, Dice, KINDS, Topology, random_network, random_virtual_links};
use tautwire_model::Network;
use tautwire_model::network::{NodeKind, StreamIndex, Traffic, TransmissionSelection};
use tautwire_units::Duration;

/// The bounds of the running streams alone, with streams in reasons numbered as in the full network.
fn anew(network: &Network, running: &[StreamIndex]) -> Bounds {
    let mut bounds = bounds_by(&network.with_only(running), Accuracy::Curves);
    bounds.number_anew(running);
    bounds
}

/// The first of the running streams of which a frame may be lost, its listener and the limit, by the complete analysis.
fn first_lost(network: &Network, running: &[StreamIndex]) -> Option<(StreamIndex, usize, String)> {
    let only = network.with_only(running);
    let losses = losses(&only, &bounds_by(&only, Accuracy::Curves));
    running.iter().enumerate().find_map(|(place, stream)| {
        let listeners = 0..only.streams[place].listeners.len();
        let at =
            |listener| losses.at(StreamIndex::at(place), listener).iter().find(|limit| !limit.is_meant());
        listeners.into_iter().find_map(|listener| Some((*stream, listener, at(listener)?.text(&only))))
    })
}

/// The same by the session.
fn first_lost_of(network: &Network, session: &mut Session<'_>) -> Option<(StreamIndex, usize, String)> {
    let (stream, listener, limit) = session.may_be_lost(|_| true)?;
    let text_of = |limit: &Limit| limit.text(network);
    Some((stream, listener, text_of(&limit)))
}

/// The first stream of which two differ, and how.
fn difference(one: &Bounds, other: &Bounds) -> String {
    let mut streams = one.streams.iter().zip(&other.streams).enumerate();
    match streams.find(|(_, (one, other))| one != other) {
        Some((place, (one, other))) => format!("the stream at {place}: {one:?} and {other:?}"),
        None => {
            let mut ports = one.ports.iter().flatten().zip(other.ports.iter().flatten()).enumerate();
            let port = ports.find(|(_, (one, other))| one != other);
            format!("class {port:?}, limits {:?} and {:?}", one.overflows, other.overflows)
        }
    }
}

/// Streams come and go at random; after every `every` steps all bounds are compared with the complete analysis.
/// Returns how many ports the steps evaluated.
fn come_and_go(name: &str, network: &Network, dice: &mut Dice, steps: usize, every: usize) -> usize {
    let mut session = Session::new(network);
    let mut evaluated = 0;
    let count = network.streams.len() as u64;
    // Protocols run whatever comes and goes.
    let is_control = |stream: &StreamIndex| network.streams[stream.index()].traffic.is_control();
    let control: Vec<StreamIndex> =
        (0..network.streams.len()).map(StreamIndex::at).filter(is_control).collect();
    session.start_all(&control);
    for step in 0..steps {
        // Fill up, empty, and anything between.
        let likely = [90, 50, 15][step * 3 / steps];
        let stream = StreamIndex::at(usize::try_from(dice.between(0, count - 1)).expect("an index"));
        let before = session.bounds();
        let running = |session: &Session<'_>| -> Vec<StreamIndex> {
            (0..network.streams.len()).map(StreamIndex::at).filter(|one| session.is_running(*one)).collect()
        };
        let ran = running(&session);
        if control.contains(&stream) {
            continue;
        }
        if session.is_running(stream) {
            if dice.chance(likely) {
                continue;
            }
            session.stop(stream);
        } else {
            if !dice.chance(likely) {
                continue;
            }
            session.start(stream);
        }
        evaluated += session.evaluated_ports();
        if step % every == 0 {
            let running = running(&session);
            let (kept, anew_bounds) = (session.bounds(), anew(network, &running));
            let difference = difference(&kept, &anew_bounds);
            assert!(kept == anew_bounds, "{name}, step {step}, {stream:?} of {running:?}: {difference}");
            let (text_of, lost) = (first_lost_of(network, &mut session), first_lost(network, &running));
            assert_eq!(text_of, lost, "{name}, step {step}, {stream:?} of {running:?}");
            for (place, stream) in running.iter().enumerate() {
                let was = ran.iter().position(|one| one == stream).map(|place| &before.streams[place]);
                let text_of = session.disturbed().any(|one| one == *stream);
                assert!(
                    text_of || was == Some(&anew_bounds.streams[place]),
                    "{name}, step {step}: {stream:?} changed"
                );
            }
        }
    }
    evaluated
}

/// Streams come and go at random with slack: kept values are never below those that the complete analysis proves, and
/// are equal to them once they are tightened. Returns how many ports the steps evaluated.
fn with_slack(name: &str, network: &Network, dice: &mut Dice, steps: usize) -> usize {
    let mut session = Session::new(network);
    let mut evaluated = 0;
    let count = network.streams.len() as u64;
    for step in 0..steps {
        let likely = [90, 50, 15][step * 3 / steps];
        let stream = StreamIndex::at(usize::try_from(dice.between(0, count - 1)).expect("an index"));
        session.allow_slack(Some(u32::try_from(dice.between(1, 6)).expect("small")));
        match (session.is_running(stream), dice.chance(likely)) {
            (true, false) => session.stop(stream),
            (false, true) => session.start(stream),
            _ => continue,
        }
        evaluated += session.evaluated_ports();
        let running: Vec<StreamIndex> =
            (0..network.streams.len()).map(StreamIndex::at).filter(|one| session.is_running(*one)).collect();
        let anew_bounds = anew(network, &running);
        let one = usize::try_from(dice.between(0, count - 1)).expect("an index");
        if let Some(stream) = running.get(one)
            && dice.chance(50)
        {
            session.tighten_for(&[*stream]);
            assert_eq!(
                session.stream(*stream),
                anew_bounds.streams[one],
                "{name}, step {step}, {stream:?} tightened"
            );
        }
        for (exact, stream) in anew_bounds.streams.iter().zip(&running) {
            let kept = session.stream(*stream);
            let above =
                |kept: &Result<Duration, Unbounded>, exact: &Result<Duration, Unbounded>| match (kept, exact)
                {
                    (Ok(kept), Ok(exact)) => kept >= exact,
                    (kept, _) => kept.is_err(),
                };
            for (kept, exact) in kept.listeners.iter().zip(&exact.listeners) {
                assert!(
                    above(&kept.delay, &exact.delay),
                    "{name}, step {step}, {stream:?}: {kept:?} below {exact:?}"
                );
            }
            for (kept, exact) in kept.hops.iter().zip(&exact.hops) {
                assert!(
                    above(&kept.delay, &exact.delay),
                    "{name}, step {step}, {stream:?}: {kept:?} below {exact:?}"
                );
            }
        }
        if dice.chance(20) {
            session.tighten();
            assert!(session.is_tight());
            assert_eq!(session.bounds(), anew_bounds, "{name}, step {step}, tightened");
        }
    }
    evaluated
}

fn load(text: &str) -> Network {
    tautwire_model::load_text("drawn", text).network.expect("a network that was drawn is whole")
}

fn cases() -> u64 {
    tautwire_generate::cases(200)
}

#[test]
fn of_random_networks() {
    let (mut shaped, mut credit) = (0, 0);
    for seed in 0..cases() {
        let network = load(&random_network(seed));
        come_and_go(&format!("random {seed}"), &network, &mut Dice::new(seed), 40, 1);
        with_slack(&format!("random {seed} with slack"), &network, &mut Dice::new(seed + 1), 40);
        let has = |wanted: fn(&TransmissionSelection) -> bool| {
            network.ports.iter().any(|port| port.classes.iter().any(|class| wanted(&class.selection)))
        };
        shaped += u64::from(has(|selection| *selection == TransmissionSelection::Ats));
        credit += u64::from(has(|selection| matches!(selection, TransmissionSelection::CreditBased { .. })));
    }
    assert!(shaped * 20 > cases() && credit * 20 > cases(), "{shaped} with ATS, {credit} with credit");
}

#[test]
fn of_virtual_links() {
    let (mut answered, mut stepwise) = (0, 0);
    for seed in 0..cases() {
        let network = load(&random_virtual_links(seed));
        come_and_go(&format!("avionics {seed}"), &network, &mut Dice::new(seed), 40, 1);
        with_slack(&format!("avionics {seed} with slack"), &network, &mut Dice::new(seed + 1), 40);
        answered += u64::from(answers(&network));
        stepwise += u64::from(Session::new(&network).why_not_stepwise().is_none());
    }
    assert!(
        answered * 10 > cases() && stepwise * 4 > cases(),
        "{answered} with responses, {stepwise} by steps"
    );
}

fn answers(network: &Network) -> bool {
    network.streams.iter().any(|stream| matches!(stream.traffic, Traffic::Response { .. }))
}

/// A response to a stream that does not run never comes, and delays no stream.
#[test]
fn a_response_to_what_does_not_run_never_comes() {
    let text = "
defaults: {rate: 100 Mbit/s}
nodes: {a: {type: end-station}, b: {type: end-station}, s: {type: bridge}}
links: [{between: [a, s]}, {between: [s, b]}]
streams:
  - {name: ask, talker: a, listeners: b, payload: 250 B, traffic: {type: periodic, interval: 4 ms}, virtual-link: {id: 1, bag: 4 ms}}
  - {name: tell, talker: b, listeners: a, payload: 250 B, traffic: {type: response, to: ask}, virtual-link: {id: 2, bag: 4 ms, buffer: overwriting}}
";
    let network = load(text);
    let mut session = Session::new(&network);
    let (ask, answer) = (StreamIndex::at(0), StreamIndex::at(1));
    session.start(answer);
    assert!(session.delay_max(answer).is_some(), "of no frame");
    assert_eq!(session.bounds(), anew(&network, &[answer]));
    session.start(ask);
    assert_eq!(session.bounds(), anew(&network, &[ask, answer]));
    session.stop(ask);
    assert_eq!(session.bounds(), anew(&network, &[answer]));
}

/// Of every kind there is: those that are analysed completely, too.
#[test]
fn of_every_kind() {
    for (name, draw) in KINDS {
        for seed in 0..cases().div_ceil(20) {
            // What a kind draws may be refused.
            if let Some(network) = tautwire_model::load_text(name, &draw(seed)).network {
                come_and_go(&format!("{name} {seed}"), &network, &mut Dice::new(seed), 12, 2);
            }
        }
    }
}

#[test]
fn of_backbones() {
    for seed in 1..=6 {
        let topology = [Topology::Tree { branching: 3 }, Topology::Mesh { width: 4 }, Topology::Line];
        let topology = topology[usize::try_from(seed).expect("small") % 3];
        let backbone = Backbone {
            topology,
            bridges: 16,
            stations: 2,
            streams: 60,
            distance: 5,
            load: 40,
            duration_ms: 2,
            seed,
        };
        let network = load(&backbone.describe());
        let bridges = network.nodes.iter().filter(|node| matches!(node.kind, NodeKind::Bridge { .. }));
        assert_eq!(bridges.count(), 16);
        let exact = come_and_go(&format!("backbone {seed}"), &network, &mut Dice::new(seed), 300, 3);
        let kept = with_slack(&format!("backbone {seed} with slack"), &network, &mut Dice::new(seed), 300);
        assert!(kept < exact, "backbone {seed}: slack stops what spreads, {kept} ports and {exact}");
        // Many at once, few at once, and some go again.
        let mut session = Session::new(&network);
        let streams: Vec<StreamIndex> = (0..60).map(StreamIndex::at).collect();
        session.start_all(&streams[50..]);
        session.start_all(&streams[..40]);
        session.stop(streams[7]);
        let running: Vec<StreamIndex> =
            streams.iter().copied().filter(|stream| session.is_running(*stream)).collect();
        assert_eq!(running.len(), 49);
        assert_eq!(session.bounds(), anew(&network, &running), "backbone {seed}");
    }
}

/// Two islands: what happens on one is not looked at on the other.
#[test]
fn a_step_looks_at_what_it_can_disturb() {
    let text = "
defaults: {rate: 100 Mbit/s}
nodes: {a: {type: end-station}, b: {type: end-station}, s: {type: bridge}, c: {type: end-station}, d: {type: end-station}, t: {type: bridge}}
links: [{between: [a, s]}, {between: [s, b]}, {between: [c, t]}, {between: [t, d]}]
streams:
  - {name: x, talker: a, listeners: b, priority: 5, payload: 250 B, traffic: {type: periodic, interval: 125 us}}
  - {name: y, talker: c, listeners: d, priority: 5, payload: 250 B, traffic: {type: periodic, interval: 125 us}}
  - {name: z, talker: a, listeners: b, priority: 2, payload: 250 B, traffic: {type: periodic, interval: 125 us}}
";
    let network = load(text);
    let mut session = Session::new(&network);
    for stream in 0..3 {
        session.start(StreamIndex::at(stream));
        assert_eq!(session.evaluated_ports(), 2, "its two ports");
    }
    session.stop(StreamIndex::at(0));
    assert_eq!(session.disturbed().collect::<Vec<_>>(), [StreamIndex::at(2)]);
}
