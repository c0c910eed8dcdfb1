//! MRPDUs compared with captures of other implementations, and with what tshark reads in ours.

use crate::common;

use proptest::prelude::*;
use std::collections::BTreeMap;
use tautwire_wire::srp::{
    AttributeEvent, AttributeValue, DomainValue, Entry, FailureCode, FailureInformation, ListenerDeclaration,
    Message, MmrpValue, MrpPdu, MsrpValue, MvrpValue, PDU_OCTETS_MAX, Rank, StreamId, TalkerValue, pack,
};
use tautwire_wire::{EtherType, EthernetHeader, MacAddress};

fn talker(unique: u16) -> TalkerValue {
    TalkerValue {
        stream: StreamId { source: MacAddress([2, 0, 0, 0, 0, 1]), unique },
        destination: MacAddress([0x91, 0xe0, 0xf0, 0, 0x0e, 0x80]),
        vlan: 2,
        frame_size_max: 128,
        interval_frames_max: 1,
        priority: 3,
        rank: Rank::NonEmergency,
        accumulated_latency_ns: 3_900,
    }
}

fn frame<V: AttributeValue>(pdu: &MrpPdu<V>) -> Vec<u8> {
    let source = MacAddress([2, 0, 0, 0, 0, 1]);
    let header = EthernetHeader { destination: V::GROUP, source, tag: None, ether_type: V::ETHER_TYPE };
    let mut octets = Vec::new();
    header.emit(&mut octets);
    pdu.emit(&mut octets);
    octets
}

fn entry<V>(value: V, event: AttributeEvent) -> Entry<V> {
    Entry { value, event, declaration: None, optional: false }
}

fn listener(unique: u16, event: AttributeEvent, declaration: ListenerDeclaration) -> Entry<MsrpValue> {
    let value = MsrpValue::Listener(talker(unique).stream);
    Entry { value, event, declaration: Some(declaration), optional: false }
}

/// Reads an MRPDU, writes it again, and gives how many values it declares.
fn through<V: AttributeValue>(octets: &[u8]) -> usize {
    let (pdu, rest) = MrpPdu::<V>::parse(octets).expect("an MRPDU");
    assert!(rest.is_empty(), "octets are left: {rest:02x?}");
    assert_eq!(pdu.version, 0);
    let known = |message: &Message<V>| matches!(message, Message::Known { .. });
    assert!(pdu.messages.iter().all(known), "every type is known");
    let mut again = Vec::new();
    pdu.emit(&mut again);
    assert_eq!(again, octets);
    pdu.declarations().count()
}

#[test]
fn captures_are_read_to_the_last_octet_and_written_again() {
    for (name, expected) in
        [("msrp-two-end-stations.pcapng", [24, 49, 2]), ("msrp-through-bridge.pcapng", [88, 126, 2])]
    {
        let (mut frames, mut values) = (BTreeMap::new(), 0);
        for frame in common::captured(name) {
            let (header, body) = EthernetHeader::parse(&frame.octets).expect("a header");
            values += match header.ether_type {
                MsrpValue::ETHER_TYPE => through::<MsrpValue>(body),
                MvrpValue::ETHER_TYPE => through::<MvrpValue>(body),
                MmrpValue::ETHER_TYPE => through::<MmrpValue>(body),
                _ => continue,
            };
            *frames.entry(header.ether_type).or_insert(0) += 1;
        }
        let count = |of: EtherType| frames.get(&of).copied().unwrap_or(0);
        let counts =
            [count(MsrpValue::ETHER_TYPE), count(MvrpValue::ETHER_TYPE), count(MmrpValue::ETHER_TYPE)];
        assert_eq!(counts, expected, "{name}");
        assert!(values > 30, "{name}: {values}");
    }
}

#[test]
fn known_octets_are_written_and_read() {
    let pdus = pack(&[entry(MsrpValue::TalkerAdvertise(talker(1)), AttributeEvent::New)], &[]);
    let mut octets = Vec::new();
    pdus[0].emit(&mut octets);
    let expected = [
        &[0, 0x01, 0x19, 0, 0x1e, 0, 1][..],
        &[
            2, 0, 0, 0, 0, 1, 0, 1, 0x91, 0xe0, 0xf0, 0, 0x0e, 0x80, 0, 2, 0, 0x80, 0, 1, 0x70, 0, 0, 0x0f,
            0x3c,
        ],
        &[0, 0, 0, 0, 0],
    ];
    assert_eq!(octets, expected.concat());

    let domain = MsrpValue::Domain(DomainValue { class: 6, priority: 3, vlan: 2 });
    let pdus = pack(&[entry(domain, AttributeEvent::JoinMt)], &[4]);
    let mut octets = Vec::new();
    pdus[0].emit(&mut octets);
    assert_eq!(octets, [0, 4, 4, 0, 9, 0x20, 1, 6, 3, 0, 2, 0x6c, 0, 0, 0, 0]);

    let two = [(5, 2), (6, 3)].map(|(class, priority)| {
        entry(MsrpValue::Domain(DomainValue { class, priority, vlan: 2 }), AttributeEvent::JoinIn)
    });
    let pdus = pack(&two, &[]);
    let Message::Known { vectors, .. } = &pdus[0].messages[0] else { panic!("a known type") };
    assert_eq!(vectors.len(), 1, "class B and class A share a vector");

    let ready = [listener(1, AttributeEvent::New, ListenerDeclaration::Ready)];
    let mut octets = Vec::new();
    pack(&ready, &[])[0].emit(&mut octets);
    assert_eq!(octets, [0, 3, 8, 0, 0x0e, 0, 1, 2, 0, 0, 0, 0, 1, 0, 1, 0, 0x80, 0, 0, 0, 0]);
}

#[test]
fn ends_lengths_and_reserved_values() {
    let parse = |octets: &[u8]| {
        MrpPdu::<MvrpValue>::parse(octets).map(|(pdu, rest)| (pdu.messages.len(), rest.len()))
    };
    assert_eq!(parse(&[0, 1, 2, 0, 1, 0, 2, 36, 0, 0, 0, 0]), Ok((1, 0)));
    assert_eq!(parse(&[0, 1, 2, 0, 1, 0, 2, 36, 0, 0, 0, 0, 0, 0, 0]), Ok((1, 3)), "padding is left");
    assert_eq!(parse(&[0, 1, 2, 0, 1, 0, 2, 36]), Ok((1, 0)), "the end stands for end marks");
    assert!(parse(&[0, 1, 2, 0, 1, 0, 2]).is_err(), "no event");
    assert!(parse(&[0, 1, 3, 0, 1, 0, 2, 36, 0, 0, 0, 0]).is_err(), "a VLAN has two octets");
    assert!(parse(&[0, 1, 2, 0x40, 1, 0, 2, 36, 0, 0, 0, 0]).is_err(), "a reserved leave-all event");
    assert!(parse(&[]).is_err());
    let later = [1, 9, 3, 0, 4, 7, 7, 7, 1, 2, 0, 0, 1, 2, 0, 1, 0, 2, 36, 0, 0, 0, 0];
    assert_eq!(parse(&later), Ok((2, 0)), "an attribute of a later version is passed over");
}

#[test]
fn optional_values_are_sent_where_they_join_others() {
    let vlan = |number, optional| Entry { optional, ..entry(MvrpValue(number), AttributeEvent::JoinIn) };
    let entries =
        [vlan(1, true), vlan(2, false), vlan(3, true), vlan(4, false), vlan(5, true), vlan(9, true)];
    let pdus = pack(&entries, &[]);
    let values: Vec<_> = pdus[0].declarations().map(|declared| declared.value.0).collect();
    assert_eq!(values, [2, 3, 4]);
    assert!(pack(&[vlan(1, true)], &[]).is_empty());
    assert_eq!(pack::<MvrpValue>(&[], &[1]).len(), 1, "a leave-all alone");
}

/// One MRPDU of each kind, written by us.
fn ours() -> Vec<Vec<u8>> {
    let failure = FailureInformation { bridge: 0x8000_0200_0000_00b1, code: FailureCode::CLASS_BANDWIDTH };
    let mut next = talker(6);
    next.destination = MacAddress([0x91, 0xe0, 0xf0, 0, 0x0e, 0x81]);
    let msrp = [
        entry(MsrpValue::TalkerAdvertise(talker(5)), AttributeEvent::JoinMt),
        entry(MsrpValue::TalkerAdvertise(next), AttributeEvent::Lv),
        entry(MsrpValue::TalkerFailed(talker(9), failure), AttributeEvent::New),
        listener(5, AttributeEvent::JoinIn, ListenerDeclaration::Ready),
        listener(6, AttributeEvent::In, ListenerDeclaration::AskingFailed),
        listener(7, AttributeEvent::Mt, ListenerDeclaration::ReadyFailed),
        listener(8, AttributeEvent::Lv, ListenerDeclaration::Ready),
        listener(9, AttributeEvent::New, ListenerDeclaration::AskingFailed),
        entry(MsrpValue::Domain(DomainValue { class: 6, priority: 3, vlan: 2 }), AttributeEvent::JoinIn),
    ];
    let mvrp = [2, 3, 4, 5, 100].map(|vlan| entry(MvrpValue(vlan), AttributeEvent::JoinMt));
    let one = |pdus: Vec<MrpPdu<MsrpValue>>| pdus.iter().map(frame).collect::<Vec<_>>();
    let mut frames = one(pack(&msrp, &[]));
    frames.extend(one(pack(&msrp, &[1, 2, 3, 4])));
    frames.extend(one(pack(&[], &[1, 2, 3, 4])));
    frames.extend(pack(&mvrp, &[1]).iter().map(frame));
    let address = entry(MmrpValue::Address(MacAddress([0x91, 0xe0, 0xf0, 0, 1, 2])), AttributeEvent::New);
    frames.extend(pack(&[address], &[2]).iter().map(frame));
    assert_eq!(frames.len(), 5);
    frames
}

#[test]
fn tshark_reads_what_we_write() {
    let capture = common::pcapng(&ours());
    assert_eq!(common::complaints("mrp-complaints", &capture), [""; 0]);
    let expected = [
        ("frame.protocols", 0, "eth:ethertype:mrp-msrp"),
        ("frame.protocols", 3, "eth:ethertype:mrp-mvrp"),
        ("frame.protocols", 4, "eth:ethertype:mrp-mmrp"),
        ("mrp-msrp.attribute_type", 0, "1,2,3,4"),
        ("mrp-msrp.attribute_list_length", 0, "30,39,16,9"),
        ("mrp-msrp.number_of_values", 0, "2,1,5,1"),
        ("mrp-msrp.number_of_values", 2, "0,0,0,0"),
        ("mrp-msrp.three_packed_event", 0, "3,5,0,1,2,4,5,0,1"),
        ("mrp-msrp.four_packed_event", 0, "2,1,3,2,1"),
        ("mrp-msrp.leave_all_event", 0, "0,0,0,0"),
        ("mrp-msrp.leave_all_event", 1, "1,1,1,1"),
        ("mrp-msrp.leave_all_event", 2, "1,1,1,1"),
        ("mrp-msrp.stream_id", 0, "0x0200000000010005,0x0200000000010009,0x0200000000010005"),
        ("mrp-msrp.stream_da", 0, "91:e0:f0:00:0e:80,91:e0:f0:00:0e:80"),
        ("mrp-msrp.vlan_id", 0, "2,2"),
        ("mrp-msrp.tspec_max_frame_size", 0, "128,128"),
        ("mrp-msrp.tspec_max_interval_frames", 0, "1,1"),
        ("mrp-msrp.priority", 0, "3,3"),
        ("mrp-msrp.rank", 0, "1,1"),
        ("mrp-msrp.accumulated_latency", 0, "3900,3900"),
        ("mrp-msrp.failure_bridge_id", 0, "0x80000200000000b1"),
        ("mrp-msrp.failure_code", 0, "3"),
        ("mrp-msrp.sr_class_id", 0, "6"),
        ("mrp-msrp.sr_class_priority", 0, "3"),
        ("mrp-msrp.sr_class_vid", 0, "2"),
        ("mrp-mvrp.vid", 3, "2,100"),
        ("mrp-mvrp.leave_all_event", 3, "1,0"),
        ("mrp-mvrp.number_of_values", 3, "4,1"),
        ("mrp-mmrp.attribute_type", 4, "2"),
        ("mrp-mmrp.attribute_length", 4, "6"),
        ("mrp-mmrp.number_of_values", 4, "1"),
        ("mrp-mmrp.leave_all_event", 4, "1"),
    ];
    let mut names: Vec<_> = expected.iter().map(|(field, ..)| *field).collect();
    names.dedup();
    let read = common::fields("mrp-fields", &capture, &names);
    let found = |field: &str, frame: usize| {
        let column = names.iter().position(|name| *name == field).expect("asked for");
        read[frame].split('|').nth(column).unwrap_or("nothing")
    };
    let differing: Vec<_> = expected
        .iter()
        .map(|(field, frame, expected)| (*field, *frame, *expected, found(field, *frame)))
        .filter(|(_, _, expected, found)| number(expected) != number(found))
        .collect();
    assert_eq!(differing, []);
}

/// A field without the leading zeros that tshark gives hexadecimal numbers.
fn number(field: &str) -> Vec<String> {
    let part = |part: &str| match part.strip_prefix("0x") {
        Some(digits) => {
            u64::from_str_radix(digits, 16).map_or_else(|_| part.to_owned(), |number| number.to_string())
        }
        None => part.to_owned(),
    };
    field.split(',').map(part).collect()
}

#[test]
fn tshark_complains_of_what_is_cut() {
    let mut frames = ours();
    frames[0].truncate(30);
    let capture = common::pcapng(&frames);
    assert_eq!(common::complaints("mrp-cut", &capture), ["1"], "the complaint of the test above can come");
}

fn any_value() -> impl Strategy<Value = MsrpValue> {
    let any_talker = (0_u16..40, any::<[u8; 2]>(), any::<[u16; 3]>(), 0_u8..8, any::<(bool, u32)>());
    let talker =
        any_talker.prop_map(|(unique, address, fields, priority, (emergency, latency))| TalkerValue {
            stream: StreamId { unique, ..talker(0).stream },
            destination: MacAddress([0x91, 0xe0, 0xf0, 0, address[0], address[1]]),
            vlan: fields[0],
            frame_size_max: fields[1],
            interval_frames_max: fields[2],
            priority,
            rank: if emergency { Rank::Emergency } else { Rank::NonEmergency },
            accumulated_latency_ns: latency,
        });
    prop_oneof![
        talker.clone().prop_map(MsrpValue::TalkerAdvertise),
        (talker, any::<(u64, u8)>()).prop_map(|(talker, (bridge, code))| {
            MsrpValue::TalkerFailed(talker, FailureInformation { bridge, code: FailureCode(code) })
        }),
        (0_u16..400).prop_map(|unique| MsrpValue::Listener(StreamId { unique, ..talker_id() })),
        any::<(u8, u8, u16)>().prop_map(|(class, priority, vlan)| MsrpValue::Domain(DomainValue {
            class,
            priority,
            vlan
        })),
    ]
}

fn talker_id() -> StreamId {
    talker(0).stream
}

fn any_entries() -> impl Strategy<Value = Vec<Entry<MsrpValue>>> {
    let values = prop::collection::btree_map(any_value(), (0_usize..6, 1_usize..4, any::<bool>()), 0..300);
    values.prop_map(|values| {
        let entry = |(value, (event, declaration, optional)): (MsrpValue, (usize, usize, bool))| Entry {
            value,
            event: AttributeEvent::ALL[event],
            declaration: matches!(value, MsrpValue::Listener(_))
                .then(|| ListenerDeclaration::ALL[declaration]),
            optional,
        };
        values.into_iter().map(entry).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn packed_values_come_out_again(entries in any_entries(), left in prop::sample::subsequence(vec![1_u8, 2, 3, 4], 0..=4)) {
        let mut values = BTreeMap::new();
        let mut leaves = [false; 5];
        for pdu in pack(&entries, &left) {
            let mut octets = Vec::new();
            pdu.emit(&mut octets);
            prop_assert!(octets.len() <= PDU_OCTETS_MAX);
            let (read, rest) = MrpPdu::parse(&octets).expect("what is written is read");
            prop_assert_eq!(&read, &pdu);
            prop_assert!(rest.is_empty());
            for declared in read.declarations() {
                let before = values.insert(declared.value, (declared.event, declared.declaration));
                prop_assert!(before.is_none(), "said twice");
            }
            for attribute_type in 1..5 {
                leaves[usize::from(attribute_type)] |= read.leaves_all(attribute_type);
            }
        }
        for entry in &entries {
            let found = values.remove(&entry.value);
            prop_assert!(found.is_some() || entry.optional, "{:?} is not said", entry);
            prop_assert!(found.is_none_or(|found| found == (entry.event, entry.declaration)));
        }
        prop_assert!(values.is_empty(), "{:?} came from nowhere", values);
        for attribute_type in 1..5 {
            prop_assert_eq!(leaves[usize::from(attribute_type)], left.contains(&attribute_type));
        }
    }

    #[test]
    fn any_octets_give_an_mrpdu_or_an_error(octets: Vec<u8>) {
        any_octets::<MsrpValue>(&octets)?;
        any_octets::<MvrpValue>(&octets)?;
        any_octets::<MmrpValue>(&octets)?;
    }

    #[test]
    fn an_mrpdu_with_a_wrong_octet_gives_an_mrpdu_or_an_error(which in 0_usize..5, place: usize, octet: u8, end: usize) {
        let frames = ours();
        let mut octets = frames[which][14..].to_vec();
        let length = octets.len();
        octets[place % length] = octet;
        octets.truncate(end % (2 * length));
        match which {
            3 => any_octets::<MvrpValue>(&octets)?,
            4 => any_octets::<MmrpValue>(&octets)?,
            _ => any_octets::<MsrpValue>(&octets)?,
        }
    }
}

/// What is read once is read alike from what is written of it.
fn any_octets<V: AttributeValue>(octets: &[u8]) -> Result<(), TestCaseError> {
    if let Ok((pdu, _)) = MrpPdu::<V>::parse(octets) {
        let mut again = Vec::new();
        pdu.emit(&mut again);
        let (read, rest) = MrpPdu::<V>::parse(&again).expect("what is written is read");
        prop_assert_eq!(read, pdu);
        prop_assert!(rest.is_empty());
    }
    Ok(())
}
