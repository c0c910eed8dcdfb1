//! Messages of FTT: what is written is read, octet by octet.

use super::*;
use crate::WireError;
use alloc::vec;
use proptest::prelude::*;

const STREAM: FttStream = FttStream {
    id: 7,
    size: 88,
    period_ns: 125_000,
    deadline_ns: 2_000_000,
    priority: 3,
    producer: 1,
    offset_ns: None,
    terms: FttTerms::NONE,
};
const SYNCHRONOUS: FttStream = FttStream { offset_ns: Some(70_000), ..STREAM };

fn all() -> Vec<FttMessage> {
    vec![
        FttMessage::Trigger { master: 9, cycle: 70_000, polled: vec![Polled { stream: 3, frames: 2 }] },
        FttMessage::Add { stream: STREAM, node: 2, number: 1 },
        FttMessage::Add { stream: SYNCHRONOUS, node: 2, number: 70 },
        FttMessage::Config { stream: SYNCHRONOUS, consumer: 2, between: None, number: 3 },
        FttMessage::Replicate {
            stream: SYNCHRONOUS,
            consumer: 2,
            installed: true,
            number: 70_000,
            life: 2,
            asked: 3,
            by: 9,
        },
        FttMessage::Remove { stream: 7, node: 1, number: 2 },
        FttMessage::Config { stream: STREAM, consumer: 1, between: Some([1, 12]), number: 70_000 },
        FttMessage::Reply { stream: 7, consumer: 2, switch: 11, installed: false, number: 3 },
        FttMessage::Ack { stream: 7, granted: false, subject: 4, number: 9, cut: None },
        FttMessage::Ack { stream: 7, granted: false, subject: 7, number: 9, cut: Some([11, 12]) },
        FttMessage::Replicate {
            stream: STREAM,
            consumer: 2,
            installed: true,
            number: 1,
            life: 0,
            asked: 1,
            by: 2,
        },
        FttMessage::Replicated { stream: 7, consumer: 2, installed: true, number: 1 },
        FttMessage::Alive { master: 20, life: 3, number: 70_000 },
        FttMessage::Recall { master: 20, life: 3, attempt: 1 },
        FttMessage::Record { stream: SYNCHRONOUS, node: 2, number: 5, account: 6, refused: None },
        FttMessage::Record { stream: STREAM, node: 2, number: 5, account: 6, refused: Some(4) },
        FttMessage::Complete { master: 21, life: 0, to: 3, number: 70_000, account: 2, digest: 1 << 40 },
        FttMessage::Invite { stream: 7 },
        FttMessage::Survey { master: 20, account: 3 },
        FttMessage::Carries { switch: 11, stream: SYNCHRONOUS, consumer: 2, account: 3, broken: true },
        FttMessage::Surveyed { switch: 11, account: 3, number: 70_000, digest: 1 << 40 },
        FttMessage::Pause { stream: 7, number: Some(2), cut: None },
        FttMessage::Pause { stream: 7, number: None, cut: Some([12, 2]) },
        FttMessage::Paused { stream: 7, node: 1, number: Some(2) },
        FttMessage::Paused { stream: 7, node: 1, number: None },
        FttMessage::Link { switch: 11, neighbour: 12, up: false, number: 70_000 },
        FttMessage::Linked { neighbour: 12, number: 70_000 },
        FttMessage::Broken { switch: 11, neighbour: 12, stream: SYNCHRONOUS, consumer: 2, number: 70_000 },
        FttMessage::Unable { stream: 7, consumer: 2, switch: 11, neighbour: 12, link: 3, number: 70_000 },
    ]
}

#[test]
fn what_is_written_is_read() {
    for message in all() {
        let mut octets = Vec::new();
        message.emit(&mut octets);
        assert_eq!(octets.len(), message.octets());
        octets.extend([0xee; 3]);
        assert_eq!(FttMessage::parse(&octets), Ok((message.clone(), &[0xee; 3][..])));
        let cut = message.octets() - 1;
        assert_eq!(FttMessage::parse(&octets[..cut]), Err(WireError::Truncated), "{message:?}");
    }
}

#[test]
fn the_octets_of_a_request() {
    let mut octets = Vec::new();
    FttMessage::Add { stream: STREAM, node: 2, number: 258 }.emit(&mut octets);
    let expected = [6, 1, 0, 7, 0, 88, 0, 1, 0xe8, 0x48, 0, 0x1e, 0x84, 0x80, 3, 0, 1, 0, 0, 0, 2, 1, 2];
    assert_eq!(octets, expected);
    octets.clear();
    FttMessage::Add { stream: SYNCHRONOUS, node: 2, number: 1 }.emit(&mut octets);
    let expected = [
        6, 1, 0, 7, 0, 88, 0, 1, 0xe8, 0x48, 0, 0x1e, 0x84, 0x80, 0x83, 0, 1, 0, 0, 1, 0x11, 0x70, 0, 2, 0, 1,
    ];
    assert_eq!(octets, expected);
}

#[test]
fn the_octets_of_a_config_msg() {
    let mut octets = Vec::new();
    let terms = FttTerms {
        parent: Some(2),
        kind: FttServerKind::Sporadic,
        server: Some((70_000, 258)),
        policing: FttPolicing::Reshape,
        frame_max: Some(68),
        exact: true,
        pool: Some(3),
        burst: 4,
        further: FttFurther::Servers,
        server_priority: Some(6),
    };
    let stream = FttStream { terms, ..STREAM };
    FttMessage::Config { stream, consumer: 2, between: Some([1, 12]), number: 3 }.emit(&mut octets);
    let stream = [0, 7, 0, 88, 0, 1, 0xe8, 0x48, 0, 0x1e, 0x84, 0x80, 0b0101_0011, 0, 1];
    let terms = [0b1011_1111, 4, 2, 0, 1, 0x11, 0x70, 1, 2, 6, 0, 68, 0, 3];
    assert_eq!(octets, [&[6, 3][..], &stream, &terms, &[0, 2, 1, 0, 0, 0, 3, 0, 1, 0, 12]].concat());
}

fn terms() -> impl Strategy<Value = FttTerms> {
    let kind = prop::sample::select(vec![
        FttServerKind::Deferrable,
        FttServerKind::Polling,
        FttServerKind::Sporadic,
    ]);
    let policing = prop::sample::select(vec![FttPolicing::Open, FttPolicing::Discard, FttPolicing::Reshape]);
    let further =
        prop::sample::select(vec![FttFurther::Synchronous, FttFurther::Servers, FttFurther::Background]);
    let stated = (any::<Option<u8>>(), any::<Option<(u32, u16)>>(), any::<Option<u16>>());
    (
        stated,
        kind,
        policing,
        any::<Option<u16>>(),
        any::<bool>(),
        further,
        any::<[Option<u8>; 1]>(),
        any::<u8>(),
    )
        .prop_map(
            |(
                (parent, server, frame_max),
                kind,
                policing,
                pool,
                exact,
                further,
                [server_priority],
                burst,
            )| FttTerms {
                parent,
                kind,
                server,
                policing,
                frame_max,
                exact,
                pool,
                burst,
                further,
                server_priority,
            },
        )
}

/// Streams whatever they state; one that is synchronous has no burst, states no length, and has a pool or servers.
fn streams() -> impl Strategy<Value = FttStream> {
    let numbers = (any::<[u16; 3]>(), any::<[u32; 2]>(), 0_u8..8, any::<Option<u32>>());
    (numbers, terms()).prop_map(
        |(([id, size, producer], [period_ns, deadline_ns], priority, offset_ns), terms)| {
            let terms = match offset_ns {
                Some(_) if terms.further == FttFurther::Synchronous => {
                    FttTerms { burst: 0, frame_max: None, server_priority: None, ..terms }
                }
                Some(_) => FttTerms { burst: 0, frame_max: None, pool: None, ..terms },
                None => terms,
            };
            FttStream { id, size, period_ns, deadline_ns, priority, producer, offset_ns, terms }
        },
    )
}

proptest! {
    /// Every message of admission is read as it was written, and fits the least payload of a frame.
    #[test]
    fn any_message_is_read_as_it_is_written(
        stream in streams(),
        between in any::<Option<[u16; 2]>>(),
        node in any::<u16>(),
        number in any::<u32>(),
        installed in any::<bool>(),
        refused in any::<Option<u16>>(),
        [link, above] in any::<[u32; 2]>(),
    ) {
        let short = number as u16;
        for message in [
            FttMessage::Add { stream, node, number: short },
            FttMessage::Config { stream, consumer: node, between, number },
            FttMessage::Replicate { stream, consumer: node, installed, number, life: number, asked: short, by: node },
            FttMessage::Record { stream, node, number: short, account: short, refused },
            FttMessage::Carries { switch: short, stream, consumer: node, account: short, broken: installed },
            FttMessage::Broken { switch: short, neighbour: above as u16, stream, consumer: node, number },
            FttMessage::Ack { stream: node, granted: installed, subject: short, number: short, cut: between },
            FttMessage::Pause { stream: node, number: refused, cut: between },
            FttMessage::Paused { stream: node, node: short, number: refused },
            FttMessage::Link { switch: short, neighbour: node, up: installed, number },
            FttMessage::Linked { neighbour: node, number },
            FttMessage::Unable { stream: node, consumer: short, switch: node, neighbour: above as u16, link, number },
        ] {
            let mut octets = Vec::new();
            message.emit(&mut octets);
            prop_assert_eq!(FttMessage::parse(&octets), Ok((message.clone(), &[][..])));
            prop_assert!(octets.len() <= 46, "{} octets: {:?}", octets.len(), message);
        }
    }

    #[test]
    fn any_octets_are_read_without_a_panic(octets in proptest::collection::vec(any::<u8>(), 0..64)) {
        if let Ok((message, rest)) = FttMessage::parse(&octets) {
            let mut again = Vec::new();
            message.emit(&mut again);
            prop_assert_eq!(&octets[..octets.len() - rest.len()], &again[..]);
        }
    }
}
