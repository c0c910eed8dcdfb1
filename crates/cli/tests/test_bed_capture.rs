//! Messages of a test bed in a capture: `tshark` finds them after UDP, and their numbers and CRC-32 are right, except
//! for those that a station's memory has changed.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use common::{folder, root, tautwire};

/// CRC-32 of IEEE Std 802.3, bit by bit.
fn crc_32(octets: impl Iterator<Item = u8>) -> u32 {
    !octets.fold(u32::MAX, |sum, octet| {
        (0..8).fold(
            sum ^ u32::from(octet),
            |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 },
        )
    })
}

/// Interface, octets behind the UDP header, and the mark of a malformed frame of every packet.
fn decoded(capture: &Path) -> Vec<Vec<String>> {
    let fields = ["frame.interface_name", "udp.payload", "_ws.malformed"];
    let mut command = Command::new("tshark");
    command.arg("-r").arg(capture).args([
        "-o",
        "udp.check_checksum:TRUE",
        "-T",
        "fields",
        "-E",
        "separator=,",
    ]);
    for field in fields {
        command.args(["-e", field]);
    }
    let ended = command.output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    let text = String::from_utf8(ended.stdout).unwrap();
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn a_capture_holds_the_octets_of_every_message() {
    let folder = folder("test-bed-capture");
    let scenario = root().join("scenarios/test-bed.yaml");
    let arguments =
        ["simulate", scenario.to_str().unwrap(), "--duration", "200ms", "--trace", "pcapng", "--out", "run"];
    let ended = tautwire(&folder, &arguments);
    assert!(ended.code <= 1, "{}", ended.stderr);
    let frames = decoded(&folder.join("run/frames.pcapng"));
    assert!(frames.iter().all(|frame| frame[2].is_empty()), "no frame is malformed");
    let octet = |text: &str, place: usize| u8::from_str_radix(&text[2 * place..2 * place + 2], 16).unwrap();
    // Of the controller's line: sequence numbers of complete messages, by identifier and length.
    let mut sent: BTreeMap<(u32, usize), Vec<u32>> = BTreeMap::new();
    let mut wrong = 0;
    for frame in frames.iter().filter(|frame| frame[0].starts_with("controller.") && !frame[1].is_empty()) {
        let octets: Vec<u8> = (0..frame[1].len() / 2).map(|place| octet(&frame[1], place)).collect();
        let number = |from: usize| u32::from_be_bytes(octets[from..from + 4].try_into().unwrap());
        if crc_32(octets[..8].iter().chain(&octets[12..]).copied()) == number(8) {
            sent.entry((number(0), octets.len())).or_default().push(number(4));
        } else {
            wrong += 1;
        }
    }
    assert_eq!(wrong, 0, "the controller's memory is sound");
    let lengths: Vec<usize> = sent.keys().map(|(_, length)| *length).collect();
    assert_eq!(lengths, [256, 64, 64], "of the three transmit tasks, in their order");
    for numbers in sent.values() {
        assert!(numbers.len() >= 48, "{numbers:?}");
        assert_eq!(numbers[..], (0..u32::try_from(numbers.len()).unwrap()).collect::<Vec<_>>()[..]);
    }
}

/// Messages of 4000 octets, each a datagram of three frames.
const DATAGRAMS: &str = "
network-control: none
nodes: {a: {type: end-station}, b: {type: end-station}}
links: [{between: [a, b], rate: 100 Mbit/s}]
streams:
  - {name: x, talker: a, listeners: b, datagram: 4000 B, traffic: {type: periodic, interval: 1 ms}}
test:
  tasks:
    - {type: transmit, station: a, route: x, payload-type: random}
    - {type: receive, station: b, route: x}
run: {duration: 20500 us}
";

#[test]
fn the_pieces_of_a_datagram_are_those_of_its_message() {
    let folder = folder("test-bed-datagrams");
    std::fs::write(folder.join("bed.yaml"), DATAGRAMS).unwrap();
    let ended = tautwire(&folder, &["simulate", "bed.yaml", "--trace", "pcapng", "--out", "run"]);
    assert!(ended.code <= 1, "{}", ended.stderr);
    let frames = decoded(&folder.join("run/frames.pcapng"));
    let reassembled: Vec<Vec<u8>> = frames
        .iter()
        .filter(|frame| !frame[1].is_empty())
        .map(|frame| {
            let octet = |place| u8::from_str_radix(&frame[1][2 * place..2 * place + 2], 16).unwrap();
            (0..frame[1].len() / 2).map(octet).collect()
        })
        .collect();
    assert_eq!((frames.len(), reassembled.len()), (63, 21), "three frames each");
    for (number, octets) in (0_u32..).zip(&reassembled) {
        assert_eq!(octets.len(), 4_000);
        assert_eq!(octets[4..8], number.to_be_bytes());
        let sum = crc_32(octets[..8].iter().chain(&octets[12..]).copied());
        assert_eq!(octets[8..12], sum.to_be_bytes());
    }
}
