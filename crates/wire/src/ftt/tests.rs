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
};
const SYNCHRONOUS: FttStream = FttStream { offset_ns: Some(70_000), ..STREAM };

fn all() -> Vec<FttMessage> {
    vec![
        FttMessage::Trigger { master: 9, cycle: 70_000, polled: vec![Polled { stream: 3, frames: 2 }] },
        FttMessage::Add { stream: STREAM, node: 2, number: 1 },
        FttMessage::Add { stream: SYNCHRONOUS, node: 2, number: 70 },
        FttMessage::Config { stream: SYNCHRONOUS, consumer: 2, installed: false, number: 3 },
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
        FttMessage::Config { stream: STREAM, consumer: 1, installed: true, number: 70_000 },
        FttMessage::Reply { stream: 7, consumer: 2, switch: 11, installed: false, number: 3 },
        FttMessage::Ack { stream: 7, granted: false, subject: 4, number: 9 },
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
        FttMessage::Carries { switch: 11, stream: SYNCHRONOUS, consumer: 2, account: 3 },
        FttMessage::Surveyed { switch: 11, account: 3, number: 70_000, digest: 1 << 40 },
        FttMessage::Pause { stream: 7, number: 2 },
        FttMessage::Paused { stream: 7, node: 1, number: 2 },
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
    let expected = [4, 1, 0, 7, 0, 88, 0, 1, 0xe8, 0x48, 0, 0x1e, 0x84, 0x80, 3, 0, 1, 0, 0, 2, 1, 2];
    assert_eq!(octets, expected);
    octets.clear();
    FttMessage::Add { stream: SYNCHRONOUS, node: 2, number: 1 }.emit(&mut octets);
    let expected =
        [4, 1, 0, 7, 0, 88, 0, 1, 0xe8, 0x48, 0, 0x1e, 0x84, 0x80, 3, 0, 1, 1, 0, 1, 0x11, 0x70, 0, 2, 0, 1];
    assert_eq!(octets, expected);
}

proptest! {
    #[test]
    fn any_octets_are_read_without_a_panic(octets in proptest::collection::vec(any::<u8>(), 0..64)) {
        if let Ok((message, rest)) = FttMessage::parse(&octets) {
            let mut again = Vec::new();
            message.emit(&mut again);
            prop_assert_eq!(&octets[..octets.len() - rest.len()], &again[..]);
        }
    }
}
