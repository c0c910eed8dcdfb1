//! Valid frames with octets changed, cut off and put behind: no parser panics or takes more than is there, and what is
//! still read is written and read again as the same.
//!
//! Random octets alone seldom come behind a parser's first checks; these come near. `TAUTWIRE_CASES` does not change them:
//! they are `proptest`'s. Not here: octets with no frame in them (at the foot of each parser's file).

use proptest::collection::vec;
use proptest::prelude::*;
use tautwire_wire::{
    Announcement, EtherType, MacAddress, PayloadType, PcfType, ProtocolControlFrame, RtcfgFrame, RtmacHeader,
    TdmaFrame, TestMessage,
};

/// What is done to a frame: octets that are changed (a place, to be taken modulo the length, and what is flipped there),
/// how many are cut off at the end, and what is put behind.
type Change = (Vec<(usize, u8)>, usize, Vec<u8>);

fn any_change() -> impl Strategy<Value = Change> {
    (vec((any::<usize>(), any::<u8>()), 0..6), 0_usize..8, vec(any::<u8>(), 0..8))
}

fn changed(mut octets: Vec<u8>, (flips, cut, behind): &Change) -> Vec<u8> {
    for (place, flip) in flips {
        let length = octets.len().max(1);
        if let Some(octet) = octets.get_mut(place % length) {
            *octet ^= flip;
        }
    }
    octets.truncate(octets.len().saturating_sub(*cut));
    octets.extend_from_slice(behind);
    octets
}

/// Whether a part lies within the octets, as the rest that a parser returns must.
fn is_within(part: &[u8], unchanged: &[u8]) -> bool {
    let (part, unchanged) = (part.as_ptr_range(), unchanged.as_ptr_range());
    part.start >= unchanged.start && part.end <= unchanged.end
}

fn tdma_frames(numbers: [u64; 4], cycle: u32) -> [TdmaFrame; 3] {
    let [a, b, c, d] = numbers;
    [
        TdmaFrame::Synchronisation { cycle, transmitted_ns: a, scheduled_ns: b },
        TdmaFrame::CalibrationRequest { transmitted_ns: a, reply_cycle: cycle, reply_offset_ns: c },
        TdmaFrame::CalibrationReply { requested_ns: a, received_ns: b, transmitted_ns: d },
    ]
}

fn rtcfg_frames(seed: u64, data: &[u8]) -> Vec<RtcfgFrame<'_>> {
    let [a, b, c, d, e, f, g, h] = seed.to_be_bytes();
    let address = (a & 1 == 0).then(|| [a, b, c, d].into());
    let station = Announcement { address, stage_2: b & 1 == 0, ready: c & 1 == 0, burst_rate: d };
    let length = u32::try_from(data.len()).expect("short data");
    vec![
        RtcfgFrame::Stage1 { addresses: address.zip(Some([e, f, g, h].into())), burst_rate: b, data },
        RtcfgFrame::AnnounceNew(station),
        RtcfgFrame::AnnounceReply(station),
        RtcfgFrame::Stage2 {
            ready: a & 2 == 0,
            stations: u32::from(b),
            heartbeat_ms: u16::from(c),
            length: length + u32::from(d),
            data,
        },
        RtcfgFrame::Stage2Fragment { offset: u32::from(e) << 9, data },
        RtcfgFrame::Acknowledge { length: u32::from(f) << 8 },
        RtcfgFrame::Ready,
        RtcfgFrame::Heartbeat,
        RtcfgFrame::DeadStation { address, physical: MacAddress([b, c, d, e, f, g]) },
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn rtmac(contents: Option<u16>, behind: Vec<u8>, change in any_change()) {
        let header = contents.map_or(RtmacHeader::Tdma, |of| RtmacHeader::Tunnelled(EtherType(of)));
        let mut octets = Vec::new();
        header.emit(&mut octets);
        octets.extend_from_slice(&behind);
        let octets = changed(octets, &change);
        if let Ok((header, rest)) = RtmacHeader::parse(&octets) {
            prop_assert!(is_within(rest, &octets));
            let mut again = Vec::new();
            header.emit(&mut again);
            prop_assert_eq!(RtmacHeader::parse(&again), Ok((header, &[][..])));
        }
    }

    #[test]
    fn tdma(numbers: [u64; 4], cycle: u32, change in any_change()) {
        for frame in tdma_frames(numbers, cycle) {
            let mut octets = Vec::new();
            frame.emit(&mut octets);
            let octets = changed(octets, &change);
            if let Ok((frame, rest)) = TdmaFrame::parse(&octets) {
                prop_assert!(is_within(rest, &octets));
                let mut again = Vec::new();
                frame.emit(&mut again);
                prop_assert_eq!(&again[..], &octets[..octets.len() - rest.len()]);
            }
        }
    }

    #[test]
    fn rtcfg(seed: u64, data in vec(any::<u8>(), 0..40), change in any_change()) {
        for frame in rtcfg_frames(seed, &data) {
            let mut octets = Vec::new();
            frame.emit(&mut octets);
            prop_assert_eq!(RtcfgFrame::parse(&octets), Ok(frame), "unchanged");
            let octets = changed(octets, &change);
            if let Ok(frame) = RtcfgFrame::parse(&octets) {
                if let RtcfgFrame::Stage1 { data, .. }
                | RtcfgFrame::Stage2 { data, .. }
                | RtcfgFrame::Stage2Fragment { data, .. } = frame
                {
                    prop_assert!(data.is_empty() || is_within(data, &octets));
                }
                let mut again = Vec::new();
                frame.emit(&mut again);
                prop_assert_eq!(RtcfgFrame::parse(&again), Ok(frame));
            }
        }
    }

    #[test]
    fn protocol_control_frames(numbers: [u32; 2], fields: [u8; 2], clock: u64, change in any_change()) {
        for kind in [PcfType::ColdStart, PcfType::ColdStartAcknowledge, PcfType::Integration] {
            let frame = ProtocolControlFrame {
                integration_cycle: numbers[0],
                membership_new: numbers[1],
                sync_priority: fields[0],
                sync_domain: fields[1],
                kind,
                transparent_clock: clock,
            };
            let mut octets = Vec::new();
            frame.emit(&mut octets);
            let octets = changed(octets, &change);
            if let Ok((frame, rest)) = ProtocolControlFrame::parse(&octets) {
                prop_assert!(is_within(rest, &octets));
                let mut again = Vec::new();
                frame.emit(&mut again);
                prop_assert_eq!(ProtocolControlFrame::parse(&again), Ok((frame, &[][..])));
            }
        }
    }

    #[test]
    fn test_messages(id: u32, sequence: u32, length in 0_usize..64, random: bool, change in any_change()) {
        let kind = if random { PayloadType::Random } else { PayloadType::Sequential };
        let mut octets = Vec::new();
        TestMessage { id, sequence }.emit(kind, length, &mut octets);
        let unchanged = octets.clone();
        let octets = changed(octets, &change);
        if let Ok((message, contents)) = TestMessage::parse(&octets) {
            prop_assert!(is_within(contents, &octets));
            // 32 bits of check do not accept a message after a few flips and a cut.
            prop_assert_eq!((message, &octets), (TestMessage { id, sequence }, &unchanged));
        }
    }
}
