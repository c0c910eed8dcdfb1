//! Captures made by hand, of all kinds, and captures with octets changed.

use proptest::prelude::*;
use tautwire_units::{Bytes, Duration};

use super::{Trace, Unfit, parsed};
use crate::text::faults::Faults;

/// Numbers in one byte order.
#[derive(Clone, Copy)]
struct Order {
    is_big: bool,
}

impl Order {
    fn u16(self, number: u16) -> [u8; 2] {
        if self.is_big { number.to_be_bytes() } else { number.to_le_bytes() }
    }

    fn u32(self, number: u32) -> [u8; 4] {
        if self.is_big { number.to_be_bytes() } else { number.to_le_bytes() }
    }

    /// A pcap of packets: seconds, fraction, original length, octets.
    fn pcap(self, magic: u32, network: u32, packets: &[(u32, u32, u32, Vec<u8>)]) -> Vec<u8> {
        let mut file: Vec<u8> = self.u32(magic).to_vec();
        file.extend([self.u16(2), self.u16(4)].concat());
        file.extend([0, 0, 65_535, network].map(|word| self.u32(word)).concat());
        for (seconds, fraction, original, octets) in packets {
            let captured = u32::try_from(octets.len()).expect("short");
            file.extend([*seconds, *fraction, captured, *original].map(|word| self.u32(word)).concat());
            file.extend(octets);
        }
        file
    }

    fn block(self, kind: u32, body: &[u8]) -> Vec<u8> {
        let padding = body.len().next_multiple_of(4) - body.len();
        let length = self.u32(u32::try_from(body.len() + padding + 12).expect("short"));
        [&self.u32(kind)[..], &length, body, &vec![0; padding], &length].concat()
    }

    fn section(self) -> Vec<u8> {
        let numbers = [&self.u32(0x1a2b_3c4d)[..], &self.u16(1), &self.u16(0), &[0xff; 8]].concat();
        self.block(0x0a0d_0d0a, &numbers)
    }

    fn option(self, code: u16, value: &[u8]) -> Vec<u8> {
        let length = u16::try_from(value.len()).expect("short");
        let padding = vec![0; value.len().next_multiple_of(4) - value.len()];
        [&self.u16(code)[..], &self.u16(length), value, &padding].concat()
    }

    fn interface(self, link: u16, options: &[Vec<u8>]) -> Vec<u8> {
        let head = [&self.u16(link)[..], &[0, 0], &self.u32(0)].concat();
        self.block(1, &[head, options.concat(), self.option(0, &[])].concat())
    }

    fn enhanced(self, interface: u32, units: u64, octets: &[u8], options: &[Vec<u8>]) -> Vec<u8> {
        let captured = u32::try_from(octets.len()).expect("short");
        let words = [interface, (units >> 32) as u32, units as u32, captured, captured];
        let padding = vec![0; octets.len().next_multiple_of(4) - octets.len()];
        let head = words.map(|word| self.u32(word)).concat();
        self.block(6, &[head, octets.to_vec(), padding, options.concat()].concat())
    }
}

const LITTLE: Order = Order { is_big: false };
const BIG: Order = Order { is_big: true };
const MICRO: u32 = 0xa1b2_c3d4;

fn read(octets: &[u8]) -> Trace {
    parsed(octets.to_vec(), "case", &mut Faults::default()).unwrap_or_else(|why| panic!("{why:?}"))
}

fn refused(octets: &[u8]) -> String {
    match parsed(octets.to_vec(), "case", &mut Faults::default()) {
        Err(Unfit::Because { reason, .. }) => reason,
        other => panic!("{other:?}"),
    }
}

/// Times in nanoseconds, and MAC client data.
fn frames(trace: &Trace) -> Vec<(u64, u64)> {
    let of = |frame: &super::Frame| (frame.at.as_ps() / 1_000, frame.payload.get());
    trace.frames.iter().map(of).collect()
}

/// An Ethernet frame of so many octets, with the type.
fn ethernet(octets: usize, kind: [u8; 2]) -> Vec<u8> {
    let mut frame = vec![0; octets];
    frame[..6].copy_from_slice(&[2, 0, 0, 0, 0, 2]);
    frame[6..12].copy_from_slice(&[2, 0, 0, 0, 0, 1]);
    frame[12..14].copy_from_slice(&kind);
    frame
}

#[test]
fn pcap_of_either_order_and_resolution() {
    for order in [LITTLE, BIG] {
        for (magic, unit) in [(MICRO, 1_000), (0xa1b2_3c4d, 1)] {
            let packet = |at, octets| (at, 7, octets as u32, ethernet(octets, [8, 0]));
            let file = order.pcap(
                magic,
                1,
                &[packet(1_700_000_000, 100), (1_700_000_000, 1_007, 214, ethernet(60, [8, 0]))],
            );
            assert_eq!(frames(&read(&file)), [(0, 86), (1_000 * unit, 200)]);
        }
    }
}

#[test]
fn pcapng_stamps_by_resolution_and_offset() {
    for order in [LITTLE, BIG] {
        let offset = |seconds: i64| {
            order.option(14, &if order.is_big { seconds.to_be_bytes() } else { seconds.to_le_bytes() })
        };
        let resolution = |code: u8| order.option(9, &[code]);
        let octets = ethernet(60, [8, 0]);
        // In turn: microseconds by default; nanoseconds; 2^-10 s; milliseconds with an offset; 10^-15 s.
        let file = [
            order.section(),
            order.interface(1, &[]),
            order.interface(1, &[resolution(9)]),
            order.interface(1, &[resolution(0x8a)]),
            order.interface(1, &[resolution(3), offset(-5)]),
            order.interface(1, &[resolution(15)]),
            order.enhanced(0, 1_000_000, &octets, &[]),
            order.enhanced(1, 1_000_000_007, &octets, &[]),
            order.enhanced(2, 1_536, &octets, &[]),
            order.enhanced(3, 6_250, &octets, &[]),
            order.enhanced(4, 1_000_000_000_000_000 + 2_000_000, &octets, &[]),
        ];
        let times: Vec<u64> = read(&file.concat()).frames.iter().map(|frame| frame.at.as_ps()).collect();
        assert_eq!(times, [0, 7_000, 500_000_000_000, 250_000_000_000, 2_000]);
    }
}

#[test]
fn sections_have_interfaces_of_their_own_and_other_blocks_are_passed_over() {
    let octets = ethernet(100, [8, 0]);
    let file = [
        LITTLE.section(),
        LITTLE.interface(227, &[]),
        LITTLE.interface(1, &[]),
        LITTLE.enhanced(1, 10, &octets, &[]),
        LITTLE.block(4, &[0; 8]),
        BIG.section(),
        BIG.interface(101, &[BIG.option(9, &[9])]),
        BIG.enhanced(0, 11_000, &[0x45; 100], &[]),
    ];
    assert_eq!(frames(&read(&file.concat())), [(0, 86), (1_000, 100)]);
}

#[test]
fn simple_and_obsolete_packet_blocks() {
    let octets = ethernet(60, [8, 0]);
    let simple = LITTLE.block(3, &[&LITTLE.u32(200)[..], &octets].concat());
    let with_snap = LITTLE.block(
        1,
        &[LITTLE.u16(1), [0, 0]].concat().iter().copied().chain(LITTLE.u32(60)).collect::<Vec<_>>(),
    );
    let obsolete = |units: u32| {
        let head = [
            &LITTLE.u16(0)[..],
            &LITTLE.u16(9),
            &LITTLE.u32(0),
            &LITTLE.u32(units),
            &LITTLE.u32(60),
            &LITTLE.u32(60),
        ];
        LITTLE.block(2, &[&head.concat()[..], &octets].concat())
    };
    let file = [LITTLE.section(), with_snap, simple.clone(), obsolete(50), simple, obsolete(80)].concat();
    let trace = read(&file);
    assert_eq!(frames(&trace), [(0, 186), (0, 46), (0, 186), (30_000, 46)]);
    assert_eq!(trace.unstamped, 2);
}

#[test]
fn frames_are_those_that_were_on_the_wire() {
    let cooked = |kind: [u8; 2], octets: usize| {
        let mut packet = vec![0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0];
        packet.extend(kind);
        packet.resize(16 + octets, 0);
        packet
    };
    let cooked_2 = |kind: [u8; 2], octets: usize| {
        let mut packet = kind.to_vec();
        packet.extend([0, 0, 0, 0, 0, 2, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0]);
        packet.resize(20 + octets, 0);
        packet
    };
    let tagged = |octets| ethernet(octets, [0x81, 0]);
    for (network, octets, payload) in [
        (1, ethernet(114, [8, 0]), 100),
        // Not padded at its sender: the wire has 60 octets, without the FCS.
        (1, ethernet(42, [8, 6]), 46),
        (1, tagged(46), 42),
        (1, tagged(118), 100),
        (1, ethernet(118, [0x88, 0xa8]), 100),
        // With an FCS: in units of 2 octets, or of one.
        (1 | 0x2400_0000, ethernet(118, [8, 0]), 100),
        (1 | 0x4400_0000, ethernet(118, [8, 0]), 100),
        (1 | 0x0400_0000, ethernet(114, [8, 0]), 100),
        (113, cooked([8, 0], 100), 100),
        (113, cooked([8, 6], 28), 46),
        (113, cooked([0x81, 0], 104), 100),
        (276, cooked_2([8, 0], 100), 100),
        (276, cooked_2([0x81, 0], 104), 100),
        (101, vec![0x45; 100], 100),
        (101, vec![0x45; 20], 46),
        (12, vec![0x45; 100], 100),
        (14, vec![0x45; 100], 100),
        (228, vec![0x45; 100], 100),
        (229, vec![0x60; 100], 100),
    ] {
        let original = u32::try_from(octets.len()).expect("short");
        let file = LITTLE.pcap(MICRO, network, &[(1, 0, original, octets)]);
        assert_eq!(frames(&read(&file)), [(0, payload)], "{network:x}");
    }
    // Snapped within the tag, before it, and to nothing.
    for (kept, payload) in [(16, 1_500), (14, 1_500), (12, 1_504), (0, 1_504)] {
        let mut octets = tagged(1_518);
        octets.truncate(kept);
        assert_eq!(frames(&read(&LITTLE.pcap(MICRO, 1, &[(1, 0, 1_518, octets)]))), [(0, payload)], "{kept}");
    }
}

#[test]
fn an_fcs_is_not_counted_as_data() {
    let octets = ethernet(118, [8, 0]);
    let flags = |value: u32| vec![LITTLE.option(2, &LITTLE.u32(value))];
    for (stated, flags, payload) in
        [(0, vec![], 104), (4, vec![], 100), (32, vec![], 100), (0, flags(4 << 5), 100), (4, flags(1), 100)]
    {
        let file = [
            LITTLE.section(),
            LITTLE.interface(1, &[LITTLE.option(13, &[stated])]),
            LITTLE.enhanced(0, 0, &octets, &flags),
        ];
        assert_eq!(frames(&read(&file.concat())), [(0, payload)], "{stated}");
    }
    assert!(refused(&LITTLE.pcap(MICRO, 1 | 0x1400_0000, &[])).contains("FCS"));
}

#[test]
fn other_links_are_refused_by_name_and_number() {
    let reason = refused(&LITTLE.pcap(MICRO, 127, &[(1, 0, 60, vec![0; 60])]));
    assert!(reason.contains("127 (IEEE802_11_RADIOTAP)"), "{reason}");
    let reason =
        refused(&LITTLE.pcap(MICRO, 113, &[(1, 0, 60, [vec![0, 0, 3, 0x38], vec![0; 56]].concat())]));
    assert!(reason.contains("824 (netlink)"), "{reason}");
}

#[test]
fn a_capture_that_is_cut_anywhere_gives_its_complete_frames() {
    let packet = |at, octets| (at, 0, octets as u32, ethernet(octets, [8, 0]));
    let pcap = LITTLE.pcap(MICRO, 1, &[packet(1, 60), packet(2, 61), packet(3, 62)]);
    let octets = ethernet(61, [8, 0]);
    let pcapng = [
        BIG.section(),
        BIG.interface(1, &[]),
        BIG.enhanced(0, 1, &octets, &[]),
        BIG.enhanced(0, 2, &octets, &[]),
        BIG.enhanced(0, 3, &octets, &[]),
    ];
    let ends = |parts: &[usize]| -> Vec<usize> {
        parts
            .iter()
            .scan(0, |sum, length| {
                Some({
                    *sum += length;
                    *sum
                })
            })
            .collect()
    };
    let blocks: Vec<usize> = pcapng.iter().map(Vec::len).collect();
    for (file, ends, before) in [(pcap, ends(&[24, 76, 77, 78]), 1), (pcapng.concat(), ends(&blocks), 2)] {
        for length in 4..=file.len() {
            let complete = ends.iter().filter(|end| **end <= length).count();
            let trace = read(&file[..length]);
            assert_eq!(trace.frames.len(), complete.saturating_sub(before), "{length}");
            assert_eq!(trace.cut.is_none(), ends.contains(&length), "{length}");
        }
    }
}

#[test]
fn damage_is_reported() {
    let octets = ethernet(60, [8, 0]);
    let mut pcapng =
        [LITTLE.section(), LITTLE.interface(1, &[]), LITTLE.enhanced(0, 1, &octets, &[])].concat();
    let end = pcapng.len();
    pcapng[end - 4] ^= 4;
    assert!(refused(&pcapng).contains("does not end with its length"));
    let strange = [LITTLE.section(), LITTLE.enhanced(0, 1, &octets, &[])].concat();
    assert!(refused(&strange).contains("not described"));
    let mut pcap = LITTLE.pcap(MICRO, 1, &[(1, 0, 60, octets)]);
    pcap[24 + 11] = 0x7f;
    assert!(refused(&pcap).contains("octet 24: record 1"));
    assert!(refused(b"\x1f\x8b\x08\x00").contains("decompress"));
    assert!(refused(b"\x00\x01\x02\x03").contains("neither"));
}

/// Each was taken in silence: frames of another length, or at another time, than those that were captured.
#[test]
fn records_that_are_no_frames_are_skipped_and_reported() {
    let good = || (1, 0, 60, ethernet(60, [8, 0]));
    let raw = |version: u8| (1, 0, 51, vec![version << 4; 51]);
    for (network, record, why) in [
        (1, (1, 0, 0, vec![]), "is of 0 octets, and an Ethernet header has 14"),
        (1, (1, 0, 13, ethernet(14, [8, 0])[..13].to_vec()), "is of 13 octets"),
        (1 | 0x2400_0000, (1, 0, 17, ethernet(17, [8, 0])), "is of 13 octets without its FCS"),
        (
            1,
            (1, 0, 60, ethernet(200, [8, 0])),
            "has 200 captured octets, more than its original length of 60",
        ),
        (113, (1, 0, 10, vec![0; 10]), "a Linux cooked header has 16"),
        (276, (1, 0, 19, vec![0; 19]), "a Linux cooked header of version 2 has 20"),
        (101, raw(5), "is raw IP of version 5, which is to be 4 or 6"),
        (228, raw(6), "which is to be 4"),
        (229, raw(4), "which is to be 6"),
        (101, (1, 0, 19, vec![0x45; 19]), "an IP header has 20"),
    ] {
        let kept = match network {
            113 | 276 => (2, 0, 60, vec![0; 60]),
            228 => raw(4),
            229 => raw(6),
            101 => raw(4),
            _ => good(),
        };
        let trace = read(&LITTLE.pcap(MICRO, network, &[kept.clone(), record.clone(), kept]));
        assert_eq!(trace.frames.len(), 2, "{why}");
        assert_eq!(trace.frames[1].number, 3, "{why}");
        let [skipped] = &trace.skipped[..] else { panic!("{:?}", trace.skipped) };
        assert_eq!(skipped.number, 2);
        assert!(skipped.why.contains(why), "{skipped:?}");
    }
    // In a pcapng, and all of them.
    let file = [LITTLE.section(), LITTLE.interface(1, &[]), LITTLE.enhanced(0, 1, &[], &[])].concat();
    let trace = read(&file);
    assert_eq!((trace.frames.len(), trace.skipped[0].at), (0, 28 + 24));
}

#[test]
fn impossible_stamps_are_reported() {
    let stamped = |fraction| [(1, fraction, 60, ethernet(60, [8, 0]))];
    let message = refused(&LITTLE.pcap(MICRO, 1, &stamped(1_500_000)));
    assert!(
        message.contains("octet 24: record 1 has 1500000 microseconds") && message.contains("a1b23c4d"),
        "{message}"
    );
    let nano = |fraction| LITTLE.pcap(0xa1b2_3c4d, 1, &stamped(fraction));
    assert!(refused(&nano(1_000_000_000)).contains("1000000000 nanoseconds"));
    assert_eq!(read(&nano(999_999_999)).frames.len(), 1);
    let octets = ethernet(60, [8, 0]);
    let interface = |options: &[Vec<u8>]| {
        [LITTLE.section(), LITTLE.interface(1, options), LITTLE.enhanced(0, 1, &octets, &[])].concat()
    };
    for code in [127, 20, 0x80 | 65, 0xff] {
        let message = refused(&interface(&[LITTLE.option(9, &[code])]));
        assert!(message.contains("octet 28") && message.contains("the finest"), "{message}");
    }
    for code in [19, 0x80 | 64] {
        assert_eq!(read(&interface(&[LITTLE.option(9, &[code])])).frames.len(), 1);
    }
    for (option, why) in [
        (LITTLE.option(9, &[]), "if_tsresol has 0 octets, and must have 1"),
        (LITTLE.option(14, &[0; 4]), "if_tsoffset has 4 octets, and must have 8"),
        (LITTLE.option(13, &[]), "if_fcslen has 0 octets"),
        (
            [LITTLE.u16(9), LITTLE.u16(60_000)].concat(),
            "an option (9) has 60000 octets, and its block has 4 left",
        ),
    ] {
        let message = refused(&interface(&[option]));
        assert!(message.contains("damaged at octet 28") && message.contains(why), "{message}");
    }
    let flags = [
        LITTLE.section(),
        LITTLE.interface(1, &[]),
        LITTLE.enhanced(0, 1, &octets, &[LITTLE.option(2, &[0; 3])]),
    ];
    assert!(refused(&flags.concat()).contains("damaged at octet 52: an option epb_flags has 3 octets"));
}

#[test]
fn stamps_far_apart_or_out_of_order() {
    let packet = |at| (at, 0, 60, ethernet(60, [8, 0]));
    let trace = read(&LITTLE.pcap(MICRO, 1, &[packet(5), packet(3)]));
    assert_eq!(trace.frames[0].at, Duration::from_s(2));
    assert_eq!(trace.frames[1].payload, Bytes::new(46));
    assert!(refused(&LITTLE.pcap(MICRO, 1, &[packet(0), packet(u32::MAX)])).contains("213 days"));
}

proptest! {
    #[test]
    fn captures_with_changed_octets_never_panic(
        which in 0_usize..3,
        changes in prop::collection::vec((0_usize..600, any::<u8>()), 0..12),
        cut in 0_usize..600,
    ) {
        let octets = ethernet(60, [0x81, 0]);
        let stamps = |order: Order| vec![order.option(9, &[9]), order.option(14, &[1; 8]), order.option(13, &[4])];
        let flags = |order: Order| vec![order.option(2, &order.u32(4 << 5))];
        let pcapng = |order: Order| {
            [
                order.section(),
                order.interface(1, &stamps(order)),
                order.interface(113, &[]),
                order.enhanced(0, 1 << 40, &octets, &flags(order)),
                order.enhanced(1, 7, &octets, &[]),
                order.block(3, &[&order.u32(64)[..], &octets].concat()),
            ]
            .concat()
        };
        let mut file = match which {
            0 => BIG.pcap(MICRO, 276, &[(1, 2, 64, octets.clone()), (2, 3, 64, octets.clone())]),
            1 => pcapng(LITTLE),
            _ => pcapng(BIG),
        };
        for (place, value) in changes {
            if let Some(octet) = file.get_mut(place) {
                *octet = value;
            }
        }
        file.truncate(file.len() - cut.min(file.len()) / 8);
        let length = file.len();
        if let Ok(trace) = parsed(file, "case", &mut Faults::default()) {
            prop_assert!(trace.frames.len() <= length / 4 + 1);
        }
    }
}
