//! Captures of other implementations, replayed into our machines: these register what the captures show. Known faults
//! of the bridge that was captured (it adds no latency, and passes the listener of a refused stream on as ready) are not ours.

use std::path::Path;

use pcap_file::pcapng::{Block, PcapNgReader};
use tautwire_core::srp::mrp::{MrpTiming, Participant};
use tautwire_core::srp::station::Offer;
use tautwire_core::srp::{SrClass, SrpBridge, SrpStation};
use tautwire_units::{Duration, Instant};
use tautwire_wire::srp::{
    AttributeEvent, AttributeValue, FailureCode, ListenerDeclaration, MrpPdu, MsrpValue,
};
use tautwire_wire::{EthernetHeader, MacAddress};

use crate::network::{at, config, stream};

const FIRST: MacAddress = MacAddress([2, 0, 0, 0, 0, 1]);
const SECOND: MacAddress = MacAddress([2, 0, 0, 0, 0, 2]);

/// An MRPDU of a capture: time since its first frame, interface, sender.
struct Heard {
    at: Instant,
    interface: u32,
    source: MacAddress,
    pdu: MrpPdu<MsrpValue>,
}

/// The MSRP frames of a capture in the order of time.
fn heard(name: &str) -> Vec<Heard> {
    let path = Path::new("../wire/tests/captures").join(name);
    let octets = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut reader = PcapNgReader::new(&octets[..]).expect("a section");
    let mut frames = Vec::new();
    while let Some(block) = reader.next_block() {
        if let Block::EnhancedPacket(packet) = block.expect("a block") {
            frames.push((packet.timestamp.as_nanos(), packet.interface_id, packet.data.to_vec()));
        }
    }
    frames.sort();
    let start = frames[0].0;
    let msrp = |(ns, interface, octets): (u128, u32, Vec<u8>)| {
        let (header, body) = EthernetHeader::parse(&octets).expect("a header");
        let ns = u64::try_from(ns - start).expect("a short capture");
        (header.ether_type == MsrpValue::ETHER_TYPE).then(|| Heard {
            at: Instant::ZERO + Duration::from_ns(ns),
            interface,
            source: header.source,
            pdu: MrpPdu::parse(body).expect("an MRPDU").0,
        })
    };
    frames.into_iter().filter_map(msrp).collect()
}

/// Times of a machine whose own leave-alls are not answered: there are none within the capture.
fn timing() -> MrpTiming {
    MrpTiming { leave_all: Duration::from_s(1_000), ..MrpTiming::default() }
}

#[test]
fn two_end_stations_register_each_other() {
    let heard = heard("msrp-two-end-stations.pcapng");
    let registered = |source, seconds: u64| {
        let mut participant = Participant::<MsrpValue>::new(timing(), 1, Instant::ZERO);
        for heard in heard.iter().filter(|heard| heard.source == source && heard.at <= at(seconds * 1_000)) {
            participant.advance(heard.at);
            participant.receive(heard.at, &heard.pdu);
        }
        participant.advance(at(seconds * 1_000));
        let mut talkers = Vec::new();
        let mut listeners = Vec::new();
        for (value, heard_values) in participant.registered() {
            match value {
                MsrpValue::TalkerAdvertise(talker) => talkers.push((talker.stream, talker.frame_size_max)),
                MsrpValue::Listener(stream) => listeners.push((stream, heard_values)),
                MsrpValue::Domain(domain) => assert_eq!(domain, SrClass::a().domain),
                MsrpValue::TalkerFailed(..) => panic!("no talker fails here"),
            }
        }
        (talkers, listeners)
    };
    let (talks, listens) = (vec![(stream(1), 128)], vec![(stream(1), Some(ListenerDeclaration::Ready))]);
    // Offered at 2.1 s, requested at 5.2 s, left by all at 10.7 s and declared again, left at 14.3 s and at 18.2 s.
    for (seconds, offered, asked) in [
        (1, false, false),
        (3, true, false),
        (6, true, true),
        (13, true, true),
        (17, true, false),
        (20, false, false),
    ] {
        let offer = if offered { talks.clone() } else { vec![] };
        let ask = if asked { listens.clone() } else { vec![] };
        assert_eq!(registered(FIRST, seconds), (offer, vec![]), "the first station at {seconds} s");
        assert_eq!(registered(SECOND, seconds), (vec![], ask), "the second station at {seconds} s");
    }
}

/// Both captured implementations repeat a new declaration 100 ms later, where the rule of opportunities would allow it at once.
#[test]
fn the_captured_implementations_repeat_100_ms_apart() {
    for name in ["msrp-two-end-stations.pcapng", "msrp-through-bridge.pcapng"] {
        let mut heard_values: Vec<(MacAddress, u32, MsrpValue, Instant)> = Vec::new();
        let mut apart = Vec::new();
        for heard in heard(name) {
            for declared in heard.pdu.declarations().filter(|one| one.event == AttributeEvent::New) {
                let key = (heard.source, heard.interface, declared.value);
                let before = heard_values.iter().rev().find(|(a, b, c, _)| (*a, *b, *c) == key);
                apart.extend(before.map(|(.., at)| heard.at.saturating_since(*at)));
                heard_values.push((key.0, key.1, key.2, heard.at));
            }
        }
        assert!(apart.len() >= 2, "{name}: {apart:?}");
        let near = |span: &Duration| (Duration::from_ms(99)..Duration::from_ms(102)).contains(span);
        assert!(apart.iter().all(near), "{name}: {apart:?}");
    }
}

#[test]
fn our_bridge_between_the_captured_stations_admits_one_stream_and_refuses_the_other() {
    let heard = heard("msrp-through-bridge.pcapng");
    let mut bridge = SrpBridge::new(
        tautwire_core::srp::BridgeConfig { timing: timing(), ..config(0x8000_0200_0000_00b1, 2) },
        1,
        Instant::ZERO,
    );
    let declared = |bridge: &SrpBridge, port| bridge.port(port).declared().collect::<Vec<_>>();
    let mut checks = 0;
    for (seconds, admitted) in [(3, false), (6, true), (10, true), (16, true)] {
        let until = at(seconds * 1_000);
        let now = at(checks * 1_000);
        let from_stations = |heard: &&Heard| {
            let port = if heard.source == FIRST { 0 } else { 1 };
            [FIRST, SECOND].contains(&heard.source)
                && heard.interface == port
                && heard.at > now
                && heard.at <= until
        };
        for heard in heard.iter().filter(from_stations) {
            bridge.advance(heard.at);
            bridge.receive(heard.at, usize::from(heard.source == SECOND), &heard.pdu);
        }
        bridge.advance(until);
        checks = seconds;
        let failures: Vec<_> = declared(&bridge, 1)
            .into_iter()
            .filter_map(|(value, _)| match value {
                MsrpValue::TalkerFailed(talker, failure) => Some((talker.stream, failure.code)),
                _ => None,
            })
            .collect();
        let refused = [(stream(2), FailureCode::CLASS_BANDWIDTH)];
        assert_eq!(failures, if admitted { &refused[..] } else { &[] }, "at {seconds} s");
        let held = bridge.bandwidth(1).held(0);
        assert_eq!(held, if admitted { 34_752_000 } else { 0 }, "at {seconds} s");
    }
    let listeners: Vec<_> = declared(&bridge, 0)
        .into_iter()
        .filter(|(value, _)| matches!(value, MsrpValue::Listener(_)))
        .collect();
    let expected = [
        (MsrpValue::Listener(stream(1)), Some(ListenerDeclaration::Ready)),
        (MsrpValue::Listener(stream(2)), Some(ListenerDeclaration::AskingFailed)),
    ];
    assert_eq!(listeners, expected);
}

#[test]
fn our_listener_behind_the_captured_bridge_hears_of_the_refusal() {
    let heard = heard("msrp-through-bridge.pcapng");
    let offers = |seconds: u64| {
        let mut station = SrpStation::new(timing(), 1, &[SrClass::a()], Instant::ZERO);
        let bridge = |heard: &&Heard| {
            heard.interface == 1
                && ![FIRST, SECOND].contains(&heard.source)
                && heard.at <= at(seconds * 1_000)
        };
        for heard in heard.iter().filter(bridge) {
            station.advance(heard.at);
            station.receive(heard.at, &heard.pdu);
        }
        station.advance(at(seconds * 1_000));
        [1, 2].map(|number| station.offer(stream(number)))
    };
    // The captured bridge adds no latency: it stays at the talker's 3.9 us.
    let advertised = Offer::Advertised(3_900);
    assert_eq!(offers(2), [Offer::None, Offer::None]);
    assert_eq!(offers(5), [advertised, advertised]);
    let refused = [advertised, Offer::Failed(FailureCode::CLASS_BANDWIDTH)];
    assert_eq!(offers(10), refused);
    assert_eq!(offers(26), refused, "two leave-alls later");
}
