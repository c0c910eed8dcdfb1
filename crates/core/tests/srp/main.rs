//! Streams are offered, requested, reserved, refused and withdrawn over bridges.

mod captures;
mod exploration;
mod mrp_participants;
mod network;
mod storm;
mod walks;

use network::{Flying, Network, Next, config, stream, talker};
use tautwire_core::srp::station::Offer;
use tautwire_core::srp::{AddressTable, SrClass};
use tautwire_units::{Duration, Instant};
use tautwire_wire::srp::{DomainValue, FailureCode, ListenerDeclaration, MsrpValue, Rank};

const CLASSES: [SrClass; 2] = [SrClass::a(), SrClass::b()];

/// Times of the tests begin when the domains are known: ports may send at once again.
fn at(ms: u64) -> Instant {
    network::at(1_000 + ms)
}

/// Talker 2, bridge 0, bridge 1, listener 3 behind bridge 1, listener 4 at bridge 0, second talker 5 at bridge 0.
fn line() -> Network {
    with(config(0xb0, 4), config(0xb1, 2))
}

fn with(first: tautwire_core::srp::BridgeConfig, second: tautwire_core::srp::BridgeConfig) -> Network {
    let mut network = Network::new();
    network.bridge(first);
    network.bridge(second);
    for _ in 0..4 {
        network.station(&CLASSES);
    }
    network.connect((2, 0), (0, 0));
    network.connect((0, 1), (1, 0));
    network.connect((1, 1), (3, 0));
    network.connect((0, 2), (4, 0));
    network.connect((0, 3), (5, 0));
    network.run(at(0));
    network
}

fn offer(network: &mut Network, node: usize, number: u16) -> Offer {
    network.at_station(node).offer(stream(number))
}

fn failed(code: FailureCode) -> Offer {
    Offer::Failed(code)
}

#[test]
fn a_stream_is_reserved_stays_and_is_given_back() {
    let mut network = line();
    network.at_station(2).advertise(at(0), talker(1, 500));
    network.run(at(10));
    // Two hops of 5 us and the estimate of 232.947 us, each rounded up.
    assert_eq!(offer(&mut network, 3, 1), Offer::Advertised(2 * 237_947));
    assert_eq!(offer(&mut network, 4, 1), Offer::Advertised(237_947));
    assert_eq!(network.at_bridge(0).bandwidth(1).held(0), 0, "nobody listens");
    let now = network.now;
    network.at_station(3).attach(now, stream(1), 2_000_000);
    network.run(at(20));
    assert_eq!(network.at_station(2).listeners(stream(1)), Some(ListenerDeclaration::Ready));
    let held = |network: &Network| {
        [(0, 1), (1, 1), (0, 2)].map(|(node, port)| network.at_bridge(node).bandwidth(port).held(0))
    };
    assert_eq!(held(&network), [34_752_000, 34_752_000, 0]);
    // Six leave-all times: the reservation is never released.
    network.run_with(at(80_000), |network, _| {
        assert_eq!(held(network), [34_752_000, 34_752_000, 0], "at {}", network.now);
        true
    });
    network.at_station(3).detach(at(80_000), stream(1));
    network.run(at(83_500));
    assert_eq!(held(&network), [0, 0, 0]);
    assert_eq!(network.at_station(2).listeners(stream(1)), None);
    network.at_station(2).withdraw(at(83_500), stream(1));
    network.run(at(87_000));
    assert_eq!(offer(&mut network, 3, 1), Offer::None);
}

#[test]
fn bandwidth_is_tested_and_tested_again_with_locking() {
    let mut network = line();
    for (number, size) in [(1, 500), (2, 900)] {
        network.at_station(2).advertise(at(0), talker(number, size));
    }
    network.run(at(10));
    // Each alone has room: both are offered. The first that is requested takes it.
    assert!(matches!(offer(&mut network, 3, 2), Offer::Advertised(_)));
    network.at_station(3).attach(at(10), stream(1), 2_000_000);
    network.run(at(1_000));
    assert_eq!(offer(&mut network, 3, 2), failed(FailureCode::CLASS_BANDWIDTH));
    assert!(matches!(offer(&mut network, 4, 2), Offer::Advertised(_)), "the other port has room");
    // Its listener here can be served, the other not: the talker receives that some can.
    for node in [3, 4] {
        network.at_station(node).attach(at(1_000), stream(2), 2_000_000);
    }
    network.run(at(2_000));
    assert_eq!(network.at_station(2).listeners(stream(2)), Some(ListenerDeclaration::ReadyFailed));
    assert_eq!(network.at_station(2).listeners(stream(1)), Some(ListenerDeclaration::Ready));
    network.at_station(4).detach(at(2_000), stream(2));
    network.run(at(4_000));
    assert_eq!(network.at_station(2).listeners(stream(2)), Some(ListenerDeclaration::AskingFailed));
    // With the first stream withdrawn the second has room, and is reserved without a new request.
    network.at_station(2).withdraw(at(4_000), stream(1));
    network.run(at(8_000));
    assert_eq!(network.at_station(2).listeners(stream(2)), Some(ListenerDeclaration::Ready));
    assert_eq!(network.at_bridge(1).bandwidth(1).held(0), 60_352_000);
}

#[test]
fn an_emergency_stream_takes_the_place_of_another() {
    let mut network = line();
    network.at_station(2).advertise(at(0), talker(1, 500));
    network.at_station(3).attach(at(0), stream(1), 2_000_000);
    network.run(at(1_000));
    let mut urgent = talker(2, 900);
    urgent.rank = Rank::Emergency;
    network.at_station(2).advertise(at(1_000), urgent);
    network.run(at(2_000));
    assert!(matches!(offer(&mut network, 3, 2), Offer::Advertised(_)), "what others hold does not count");
    network.at_station(3).attach(at(2_000), stream(2), 2_000_000);
    network.run(at(3_000));
    assert_eq!(network.at_station(2).listeners(stream(2)), Some(ListenerDeclaration::Ready));
    assert_eq!(network.at_station(2).listeners(stream(1)), Some(ListenerDeclaration::AskingFailed));
    assert_eq!(offer(&mut network, 3, 1), failed(FailureCode::PREEMPTED));
}

#[test]
fn age_decides_among_equals() {
    let mut network = line();
    for (number, size) in [(2, 500), (1, 900)] {
        network.at_station(2).advertise(at(0), talker(number, size));
    }
    network.run(at(5));
    network.at_station(3).attach(at(5), stream(2), 2_000_000);
    network.run(at(1_000));
    network.at_station(3).attach(at(1_000), stream(1), 2_000_000);
    network.run(at(40_000));
    assert!(network.at_bridge(0).reserved_since(1, stream(2)).is_some_and(|since| since < at(1_000)));
    assert_eq!(network.at_bridge(0).reserved_since(1, stream(1)), None, "a lower number does not help");
}

/// A bridge sends a listener that its stream fails. Another one leaves before the answer arrives: the earlier ready
/// reserves, and the answer releases that.
#[test]
fn a_refusal_crosses_a_reservation() {
    let mut network = line();
    network.at_station(2).advertise(at(0), talker(1, 900));
    network.run(at(1_000));
    network.at_station(5).advertise(at(1_000), talker(2, 500));
    network.run(at(2_000));
    for number in [1, 2] {
        network.at_station(4).attach(at(2_000), stream(number), 2_000_000);
    }
    let is_refusal =
        |value: &MsrpValue| matches!(value, MsrpValue::TalkerFailed(talker, _) if talker.stream == stream(2));
    let refused = |flying: &Flying| {
        flying.to == (4, 0) && flying.pdu.declarations().any(|declared| is_refusal(&declared.value))
    };
    while !network.flying.iter().any(refused) {
        if let Next::Arrival(place) = network.next(at(3_000)) {
            let flying = network.flying.remove(place);
            network.deliver(&flying);
        }
        network.collect();
    }
    let crossing = network.now;
    let listener_state = |network: &mut Network| network.at_station(5).listeners(stream(2));
    assert_eq!(
        (network.at_bridge(0).reserved_since(2, stream(2)), listener_state(&mut network)),
        (None, None)
    );
    network.disconnect((2, 0));
    assert_eq!(network.at_bridge(0).reserved_since(2, stream(2)), Some(crossing));
    let mut given_back = false;
    network.run_with(crossing + Duration::from_ms(1_000), |network, _| {
        given_back |= network.at_bridge(0).reserved_since(2, stream(2)).is_none();
        true
    });
    assert!(given_back, "the listener answered the refusal");
    assert_eq!(listener_state(&mut network), Some(ListenerDeclaration::Ready));
    assert!(network.at_bridge(0).reserved_since(2, stream(2)).is_some());
}

#[test]
fn limits_of_a_bridge() {
    let mut first = config(0xb0, 4);
    first.streams_max = 2;
    let mut network = with(first, config(0xb1, 2));
    for number in 1..=3 {
        network.at_station(2).advertise(at(u64::from(number) * 1_000), talker(number, 100));
        network.run(at(u64::from(number) * 1_000 + 500));
    }
    assert_eq!(offer(&mut network, 3, 3), failed(FailureCode::MSRP_RESOURCES));
    assert!(matches!(offer(&mut network, 3, 2), Offer::Advertised(_)));

    let mut first = config(0xb0, 4);
    first.reservations_max = 1;
    first.fan_in_max = 1;
    let mut network = with(first, config(0xb1, 2));
    network.at_station(2).advertise(at(0), talker(1, 100));
    network.at_station(2).advertise(at(0), talker(2, 100));
    network.at_station(3).attach(at(0), stream(1), 2_000_000);
    network.run(at(1_000));
    assert_eq!(offer(&mut network, 3, 2), failed(FailureCode::BRIDGE_RESOURCES));
    network.at_station(5).advertise(at(1_000), talker(9, 100));
    network.run(at(2_000));
    assert_eq!(offer(&mut network, 3, 9), failed(FailureCode::FAN_IN));
}

#[test]
fn figures_that_no_port_can_carry() {
    let mut network = line();
    let mut wrong = talker(1, 100);
    wrong.priority = 5;
    network.at_station(2).advertise(at(0), wrong);
    let mut same = talker(3, 100);
    same.destination = talker(2, 100).destination;
    network.at_station(2).advertise(at(0), talker(2, 100));
    network.run(at(10));
    network.at_station(2).advertise(at(10), same);
    network.at_station(2).advertise(at(10), talker(4, 1_501));
    network.run(at(2_000));
    assert_eq!(offer(&mut network, 3, 1), failed(FailureCode::NOT_A_CLASS_PRIORITY));
    assert_eq!(offer(&mut network, 3, 3), failed(FailureCode::DESTINATION_IN_USE));
    assert_eq!(offer(&mut network, 3, 4), failed(FailureCode::FRAME_TOO_LONG));
}

#[test]
fn a_domain_ends_where_the_neighbour_has_another_priority() {
    let mut network = Network::new();
    network.bridge(config(0xb0, 2));
    let talks = network.station(&CLASSES);
    let domain = DomainValue { priority: 4, ..SrClass::a().domain };
    let listens = network.station(&[SrClass { domain, ..SrClass::a() }]);
    network.connect((talks, 0), (0, 0));
    network.connect((0, 1), (listens, 0));
    network.run(at(0));
    network.at_station(talks).advertise(at(0), talker(1, 100));
    network.at_station(listens).attach(at(0), stream(1), 2_000_000);
    network.run(at(2_000));
    assert_eq!(offer(&mut network, listens, 1), failed(FailureCode::PRIORITY_MISMATCH));
    assert_eq!(network.at_station(talks).listeners(stream(1)), Some(ListenerDeclaration::AskingFailed));
    assert!(network.at_bridge(0).is_boundary(1, &SrClass::a()));
    assert!(!network.at_bridge(0).is_boundary(0, &SrClass::a()));
}

#[test]
fn a_listener_refuses_what_comes_too_late() {
    let mut network = line();
    network.at_station(2).advertise(at(0), talker(1, 500));
    network.at_station(3).attach(at(0), stream(1), 2 * 237_947 - 1);
    network.run(at(2_000));
    assert_eq!(offer(&mut network, 3, 1), Offer::Late(2 * 237_947));
    assert_eq!(network.at_station(2).listeners(stream(1)), Some(ListenerDeclaration::AskingFailed));
    assert_eq!(network.at_bridge(1).bandwidth(1).held(0), 0);
}

#[test]
fn new_figures_are_asked_for_again() {
    let mut network = line();
    network.at_station(2).advertise(at(0), talker(1, 500));
    network.at_station(3).attach(at(0), stream(1), 2_000_000);
    network.run(at(1_000));
    // Withdrawn and declared with other figures in one MRPDU.
    network.at_station(2).advertise(at(1_000), talker(1, 300));
    network.run(at(3_000));
    assert_eq!(network.at_station(2).listeners(stream(1)), Some(ListenerDeclaration::Ready));
    assert_eq!(network.at_bridge(1).bandwidth(1).held(0), 8 * 343 * 8_000);
}

#[test]
fn a_lost_link_gives_back_what_was_reserved_behind_it() {
    let mut network = line();
    network.at_station(2).advertise(at(0), talker(1, 500));
    for node in [3, 4] {
        network.at_station(node).attach(at(0), stream(1), 2_000_000);
    }
    network.run(at(1_000));
    network.disconnect((0, 1));
    network.run(at(2_000));
    assert_eq!(network.at_bridge(0).bandwidth(1).held(0), 0);
    assert_eq!(network.at_bridge(1).bandwidth(1).held(0), 0);
    assert_eq!(
        network.at_station(2).listeners(stream(1)),
        Some(ListenerDeclaration::Ready),
        "listener 4 is left"
    );
    network.connect((0, 1), (1, 0));
    network.run(at(32_000));
    assert_eq!(network.at_bridge(1).bandwidth(1).held(0), 34_752_000);
}

#[test]
fn a_domain_ends_where_the_neighbour_does_not_know_the_class() {
    let mut network = Network::new();
    network.bridge(config(0xb0, 2));
    let talks = network.station(&CLASSES);
    let listens = network.station(&[SrClass::b()]);
    network.connect((talks, 0), (0, 0));
    network.connect((0, 1), (listens, 0));
    network.run(at(0));
    network.at_station(talks).advertise(at(0), talker(1, 100));
    network.run(at(1_000));
    assert_eq!(offer(&mut network, listens, 1), failed(FailureCode::PORT_NOT_CAPABLE));
}

#[test]
fn two_talkers_of_one_identifier_do_not_meet() {
    let mut network = line();
    network.at_station(2).advertise(at(0), talker(1, 500));
    network.run(at(500));
    // Station 3 behind the second bridge offers the same identifier; it receives that it is in use, and so does the first talker.
    let other = tautwire_wire::srp::TalkerValue { destination: talker(9, 1).destination, ..talker(1, 300) };
    network.at_station(3).advertise(at(500), other);
    network.run(at(1_500));
    assert_eq!(offer(&mut network, 3, 1), failed(FailureCode::STREAM_IN_USE));
    assert!(matches!(offer(&mut network, 4, 1), Offer::Advertised(_)), "the first talker's stream");
    network.at_station(3).withdraw(at(1_500), stream(1));
    network.run(at(6_000));
    assert!(matches!(offer(&mut network, 3, 1), Offer::Advertised(_)), "nobody else has it any more");
}

#[test]
fn a_latency_that_changes_without_a_withdrawal_is_declared() {
    let (mut network, listener) = (line(), 3);
    network.at_station(2).advertise(at(0), talker(1, 500));
    network.run(at(500));
    // The talker declares both: the older declaration is not left, as if its leave were lost.
    let later =
        |latency| tautwire_wire::srp::TalkerValue { accumulated_latency_ns: latency, ..talker(1, 500) };
    for (latency, size, code) in
        [(10_000, 500, FailureCode::LATENCY_CHANGED), (20_000, 400, FailureCode::VALUE_CHANGED)]
    {
        let mut network = network.clone();
        let value = tautwire_wire::srp::TalkerValue { frame_size_max: size, ..later(latency) };
        let listener_state = tautwire_wire::srp::Entry {
            value: tautwire_wire::srp::MsrpValue::TalkerAdvertise(value),
            event: tautwire_wire::srp::AttributeEvent::JoinIn,
            declaration: None,
            optional: false,
        };
        let pdu = tautwire_wire::srp::pack(&[listener_state], &[]).remove(0);
        let flying = network::Flying { at: network.now, to: (0, 0), pdu };
        network.deliver(&flying);
        network.run(at(1_000));
        assert_eq!(offer(&mut network, listener, 1), failed(code));
    }
}

#[test]
fn destinations_that_a_bridge_cannot_store() {
    let mut first = config(0xb0, 4);
    first.addresses.addresses_max = 2;
    let mut network = with(first, config(0xb1, 2));
    for number in 1..=3 {
        network.at_station(2).advertise(at(u64::from(number) * 1_000), talker(number, 100));
        network.run(at(u64::from(number) * 1_000 + 500));
    }
    assert_eq!(offer(&mut network, 3, 3), failed(FailureCode::DESTINATION_NOT_STORED));

    let mut first = config(0xb0, 4);
    first.addresses = AddressTable { buckets: 4, depth: 1, ..AddressTable::default() };
    let bucket = |number: u16| first.addresses.bucket((talker(number, 100).destination, 2));
    let same = (2..).find(|number| bucket(*number) == bucket(1)).expect("four buckets");
    let other = (2..).find(|number| bucket(*number) != bucket(1)).expect("four buckets");
    let mut network = with(first, config(0xb1, 2));
    for (place, number) in [(1, 1), (2, same), (3, other)] {
        network.at_station(2).advertise(at(place * 1_000), talker(number, 100));
        network.run(at(place * 1_000 + 500));
    }
    assert_eq!(offer(&mut network, 3, same), failed(FailureCode::OTHER_DESTINATION));
    assert!(matches!(offer(&mut network, 3, other), Offer::Advertised(_)));
    // With the first gone the second finds its place.
    network.at_station(2).withdraw(at(4_000), stream(1));
    network.run(at(8_000));
    assert!(matches!(offer(&mut network, 3, same), Offer::Advertised(_)));
}
