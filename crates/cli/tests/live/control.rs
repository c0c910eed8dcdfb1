//! Control protocols of `tautwire bridge` with neighbours that are none of ours: reservations, and neighbours by LLDP.

use std::fs;

use serde_json::Value;
use tautwire_linux::{Clock, FramePort as _, PacketSocket};

use crate::common::folder;
use crate::processes::{namespace, received, started, station, status_of, terminate};

/// A bridge between a talker and a listener of a reserved stream.
const RESERVED: &str = "\
name: reserved
defaults: {rate: 100 Mbit/s, traffic-class-table: stream-reservation}
vlans: {1: {tagged: all}}
nodes:
  a: {type: end-station}
  s: {type: bridge, ports: {p1: {interface: left}, p2: {interface: right}}}
  x: {type: end-station}
links: [{between: [a, \"s:p1\"]}, {between: [\"s:p2\", x]}]
stream-reservation: {shaping: reserved}
lldp: {message-tx-interval: 1 s}
streams:
  - name: one
    talker: a
    listeners: x
    priority: 3
    payload: 100 B
    traffic: {type: periodic, interval: 250 us}
    reservation: {advertise-at: 0 s}
run: {duration: 10 ms}
";

/// A frame to the nearest bridge, without tag.
fn to_bridge(source: u8, ether_type: u16, octets: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x01, 0x80, 0xc2, 0, 0, 0x0e, 2, 0xaa, 0, 0, 0, source];
    frame.extend(ether_type.to_be_bytes());
    frame.extend(octets);
    frame.resize(frame.len().max(60), 0);
    frame
}

/// An MRPDU of MSRP with one attribute that joins.
fn msrp(kind: u8, first: &[u8], packed: &[u8]) -> Vec<u8> {
    let vector = [&[0, 1], first, packed, &[0, 0]].concat();
    let length = u16::try_from(vector.len()).unwrap().to_be_bytes();
    [&[0, kind, first.len() as u8], &length[..], &vector, &[0, 0]].concat()
}

const JOIN: u8 = 3 * 36;
const MSRP: u16 = 0x22ea;

/// Receives until a frame is an MRPDU of MSRP that has these octets.
fn until_msrp(socket: &PacketSocket, clock: Clock, has: &[u8]) -> Vec<u8> {
    loop {
        let frame = received(socket, clock);
        if frame[12..14] == MSRP.to_be_bytes() && frame.windows(has.len()).any(|part| part == has) {
            return frame;
        }
    }
}

/// The rows of a table of a mechanism in a status.
fn rows<'s>(status: &'s Value, table: &str) -> &'s [Value] {
    let all = status["mechanisms"].as_array().map_or(&[][..], Vec::as_slice);
    let own = all.iter().find(|own| own["name"] == table);
    own.and_then(|own| own["rows"].as_array()).map_or(&[][..], Vec::as_slice)
}

#[test]
fn a_bridge_reserves_for_neighbours_and_knows_them() {
    let folder = folder("control");
    let Some(bridge) = namespace() else { return };
    let [left, right] = [station(&bridge, "left", 1), station(&bridge, "right", 2)];
    fs::write(folder.join("net.yaml"), RESERVED).unwrap();
    let network = tautwire_workbench::load_text("net.yaml", RESERVED).network.unwrap();
    let talker = &network.srp.as_ref().unwrap().streams[0].talker;
    let arguments = ["bridge", "net.yaml", "--node", "s", "--ordinary-priority", "--status", "status"];
    let (mut child, _, _) = started(&bridge, &folder, &arguments, "forwards");
    let status = folder.join("status");
    let clock = Clock::starting_in(0);
    let id = [&talker.stream.source.0[..], &talker.stream.unique.to_be_bytes()].concat();
    let send = |socket: &PacketSocket, frame: &[u8]| assert!(socket.send(frame).unwrap());
    // Class A at priority 3 in the default VLAN, at both ports.
    let domain = msrp(4, &[6, 3, 0, 2], &[JOIN]);
    send(&left, &to_bridge(1, MSRP, &domain));
    send(&right, &to_bridge(2, MSRP, &domain));
    let destination = network.streams[0].destination.0;
    let mut of_stream =
        [&destination[..], &network.streams[0].source.0, &[0x81, 0, 0x60, 1, 0x88, 0xb5]].concat();
    of_stream.resize(118, 7);
    send(&left, &of_stream);
    let dropped = |shown: &Value| shown["ports"][1]["dropped"][0].clone();
    let shown = status_of(&status, |shown| dropped(shown)["frames"] == 1);
    assert_eq!(dropped(&shown)["reason"], "not-reserved", "{shown}");
    // The talker's advertise goes on to the listener, whose ready goes back.
    let of_talker =
        [&id[..], &destination, &[0, 1], &[0, 104, 0, 1], &[3 << 5 | 1 << 4], &[0, 0, 0x0f, 0x3c]].concat();
    send(&left, &to_bridge(1, MSRP, &msrp(1, &of_talker, &[JOIN])));
    until_msrp(&right, clock, &id);
    send(&right, &to_bridge(2, MSRP, &msrp(3, &id, &[JOIN, 2 << 6])));
    let back = until_msrp(&left, clock, &id);
    assert_eq!(back[15], 3, "a listener's declaration: {back:x?}");
    let shown = status_of(&status, |shown| !rows(shown, "reservations").is_empty());
    let reserved = &rows(&shown, "reservations")[0];
    assert_eq!((&reserved[1], &reserved[2]), (&"p2".into(), &"one".into()), "{reserved}");
    send(&left, &of_stream);
    let passed = loop {
        let frame = received(&right, clock);
        if frame[..6] == destination {
            break frame;
        }
    };
    assert_eq!(passed, of_stream);
    // A neighbour is known, and knows the bridge.
    let own = [&[2, 7, 4, 2, 0xaa, 0, 0, 0, 1][..], &[4, 3, 5, b'e', b'0'], &[6, 2, 0, 3], &[0, 0]].concat();
    send(&left, &to_bridge(1, 0x88cc, &own));
    let shown = status_of(&status, |shown| !rows(shown, "lldp_neighbours").is_empty());
    let neighbour = &rows(&shown, "lldp_neighbours")[0];
    assert_eq!((&neighbour[1], &neighbour[4]), (&"p1".into(), &"e0".into()), "{neighbour}");
    assert!((0..200).any(|_| received(&right, clock)[12..14] == [0x88, 0xcc]), "it says who it is");
    // Its time is three seconds.
    status_of(&status, |shown| rows(shown, "lldp_neighbours").is_empty());
    terminate(&child);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
