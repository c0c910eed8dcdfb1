//! Captures read, captures written, and tshark's view of them.

#![allow(dead_code, reason = "every test takes what it needs")]

use std::path::{Path, PathBuf};
use std::process::Command;

use pcap_file::pcapng::{Block, PcapNgReader};

/// A frame of a capture.
pub(crate) struct Captured {
    /// Number of its interface.
    pub(crate) interface: u32,
    /// Time stamp in nanoseconds.
    pub(crate) ns: u128,
    /// Octets from the destination address on, without FCS.
    pub(crate) octets: Vec<u8>,
}

/// The frames of a capture in `tests/captures`.
pub(crate) fn captured(name: &str) -> Vec<Captured> {
    let path = Path::new("tests/captures").join(name);
    let octets = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut reader = PcapNgReader::new(&octets[..]).expect("a section");
    let mut frames = Vec::new();
    while let Some(block) = reader.next_block() {
        if let Block::EnhancedPacket(packet) = block.expect("a block") {
            let ns = packet.timestamp.as_nanos();
            frames.push(Captured { interface: packet.interface_id, ns, octets: packet.data.to_vec() });
        }
    }
    frames
}

/// A pcapng file of these frames, one a millisecond.
pub(crate) fn pcapng(frames: &[Vec<u8>]) -> Vec<u8> {
    fn block(kind: u32, body: &[u8], to: &mut Vec<u8>) {
        let length = u32::try_from(body.len() + 12).expect("a short block").to_le_bytes();
        to.extend_from_slice(&kind.to_le_bytes());
        to.extend_from_slice(&length);
        to.extend_from_slice(body);
        to.extend_from_slice(&length);
    }
    let mut to = Vec::new();
    let mut section = 0x1a2b_3c4d_u32.to_le_bytes().to_vec();
    section.extend_from_slice(&[1, 0, 0, 0]);
    section.extend_from_slice(&u64::MAX.to_le_bytes());
    block(0x0a0d_0d0a, &section, &mut to);
    block(1, &[1, 0, 0, 0, 0, 0, 0, 0], &mut to);
    for (number, frame) in frames.iter().enumerate() {
        let us = u32::try_from(number * 1_000).expect("few frames");
        let length = u32::try_from(frame.len()).expect("a short frame");
        let mut body = Vec::new();
        for word in [0, 0, us, length, length] {
            body.extend_from_slice(&word.to_le_bytes());
        }
        body.extend_from_slice(frame);
        body.resize(body.len().next_multiple_of(4), 0);
        block(6, &body, &mut to);
    }
    to
}

/// What tshark prints of a capture with these arguments, one line a frame.
pub(crate) fn tshark(name: &str, capture: &[u8], arguments: &[&str]) -> Vec<String> {
    let path = scratch(name);
    std::fs::write(&path, capture).expect("the scratch folder is writable");
    let output = Command::new("tshark").arg("-r").arg(&path).arg("-n").args(arguments).output();
    let output = output.expect("tshark runs: `tools/setup tshark` installs it");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text").lines().map(str::to_owned).collect()
}

/// The given fields of every frame, separated by `|`; several values of a field by commas.
pub(crate) fn fields(name: &str, capture: &[u8], fields: &[&str]) -> Vec<String> {
    let mut arguments = vec!["-T", "fields", "-E", "separator=|"];
    for field in fields {
        arguments.extend(["-e", field]);
    }
    tshark(name, capture, &arguments)
}

/// The numbers of the frames that tshark finds malformed, or about which it has another remark.
pub(crate) fn complaints(name: &str, capture: &[u8]) -> Vec<String> {
    tshark(name, capture, &["-Y", "_ws.malformed || _ws.expert", "-T", "fields", "-e", "frame.number"])
}

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}.pcapng", std::process::id()))
}
