//! ATS parameters that reservations set in a run and take away, under all three models of configuration; and credit-based classes under
//! the central ones.

use tautwire_model::network::PortIndex;
use tautwire_sim::{Observation, ReservationObservation, RungEvent};
use tautwire_units::{BitRate, Bits, Duration};
use tautwire_workbench::{Network, Options, Verdict, bounds, simulate, verify};

use crate::common::described;

const ATS: &str = include_str!("../../../../scenarios/reserved-ats.yaml");
const SLOPES: &str = include_str!("../../../../scenarios/reserved-slopes.yaml");

/// A scenario under the models: bridges among themselves, edge bridges that forward to a CNC, a CUC that sends requests to it.
fn models(text: &str, links: &str) -> [(&'static str, String); 3] {
    let with = |model: &str| {
        text.replace("nodes:\n", "nodes:\n  center: {type: end-station}\n")
            .replace("links:\n", &format!("links:\n  - {{between: [center, {links}]}}\n"))
            .replace("stream-reservation:\n", &format!("stream-reservation:\n{model}"))
    };
    let cnc = "  cnc: {node: center, computation: 1 ms}\n";
    [
        ("fully distributed", text.to_owned()),
        ("distributed user", with(&format!("  model: centralized-network-distributed-user\n{cnc}"))),
        ("fully centralised", with(&format!("  model: fully-centralized\n{cnc}  cuc: {{node: center}}\n"))),
    ]
}

fn of<'o>(network: &Network, seen: &'o Observation, name: &str) -> &'o ReservationObservation {
    let found = seen.reservations.iter().find(|seen| network.streams[seen.stream.index()].name == name);
    found.expect("a reserved stream")
}

type Parameters = Option<(BitRate, Bits)>;

/// What was set for a stream: when, behind which node's port, and which parameters.
fn regulated(seen: &ReservationObservation) -> Vec<(Duration, PortIndex, Parameters)> {
    let set = seen.ladder.iter().filter_map(|rung| match rung.event {
        RungEvent::Regulated(port, parameters) => Some((rung.at, port, parameters)),
        _ => None,
    });
    set.collect()
}

fn holds(model: &str, network: &Network, seen: &Observation) {
    let verification = verify(network, &bounds(network), seen);
    assert!(verification.contradictions.is_empty(), "{model}: {:?}", verification.contradictions);
    for (stream, judged) in network.streams.iter().zip(&verification.streams) {
        for one in judged.listeners.iter().filter(|_| stream.deadline.is_some()) {
            assert_eq!(one.verdict, Verdict::Proven, "{model}: {}", stream.name);
        }
    }
}

#[test]
fn a_scheduler_has_parameters_while_its_stream_is_reserved_whoever_grants() {
    for (model, text) in models(ATS, "east") {
        let network = described(&text);
        let seen = simulate(&network, &mut Options::default());
        let position = of(&network, &seen, "position");
        let set = regulated(position);
        // Two bridges: set at both, and taken away at both.
        assert_eq!(
            set.iter().map(|(.., to)| to.is_some()).collect::<Vec<_>>(),
            [true, true, false, false],
            "{model}: {set:?}"
        );
        // Two frames of 100 octets in 250 us count as two in each 125 us: 2 x 8 x 143 x 8000 bit/s, and as many bits at once.
        assert!(
            set[..2].iter().all(|(.., to)| *to == Some((BitRate::from_bps(18_304_000), Bits::new(2_272)))),
            "{set:?}"
        );
        for (at, port, to) in &set {
            // With the lock, and not before it.
            let locks = position.ladder.iter().filter(|rung| match rung.event {
                RungEvent::Reserved(at) => at == *port && to.is_some(),
                RungEvent::Released(at) => at == *port && to.is_none(),
                _ => false,
            });
            assert_eq!(locks.map(|rung| rung.at).collect::<Vec<_>>(), [*at], "{model}");
        }
        let started = position.first(|rung| rung.event == RungEvent::Started).expect("granted");
        assert!(set[..2].iter().all(|(at, ..)| *at <= started), "{model}: before the first frame");
        // The scheduler of the first bridge serves both branches of the other stream: set once.
        let current = regulated(of(&network, &seen, "current"));
        let west = |port: &PortIndex| network.nodes[network.ports[port.index()].node.index()].name == "west";
        assert_eq!(
            current.iter().filter(|(_, port, to)| west(port) && to.is_some()).count(),
            1,
            "{model}: {current:?}"
        );
        for stream in &seen.streams {
            assert!(stream.dropped.is_empty(), "{model}: {:?}", stream.dropped);
        }
        holds(model, &network, &seen);
    }
}

#[test]
fn credit_based_classes_follow_a_central_entity_too() {
    for (model, text) in models(SLOPES, "right") {
        let network = described(&text);
        let seen = simulate(&network, &mut Options::default());
        let shaped = |name: &str| {
            let rungs = of(&network, &seen, name).ladder.iter();
            rungs.filter(|rung| matches!(rung.event, RungEvent::Shaped(..))).count()
        };
        assert!(shaped("video") >= 3 && shaped("preview") >= 4, "{model}");
        for (stream, observed) in network.streams.iter().zip(&seen.streams) {
            assert!(observed.dropped.is_empty(), "{model}: {} {:?}", stream.name, observed.dropped);
        }
        assert!(seen.streams[0].listeners.iter().all(|listener| listener.delay.count() > 1_000), "{model}");
        holds(model, &network, &seen);
    }
}
