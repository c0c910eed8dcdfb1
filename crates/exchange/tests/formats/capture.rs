//! Captures as traffic: stations and conversations are found, and their frames come back from a run.

use tautwire_exchange::Converted;
use tautwire_model::network::Traffic;
use tautwire_workbench::{Network, Options, simulate};

use crate::inet::saved;

fn read(octets: Vec<u8>) -> Result<Converted, String> {
    let import = tautwire_exchange::import("capture").unwrap();
    import.read_octets(&[("bus".to_owned(), octets)]).map_err(|faults| faults.join("\n"))
}

/// A pcap with nanoseconds: frames with their times in nanoseconds.
fn pcap(frames: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_3c4d_u32, 0x0004_0002, 0, 0, 262_144, 1] {
        file.extend(word.to_le_bytes());
    }
    for (at, frame) in frames {
        let length = frame.len() as u32;
        for word in [(at / 1_000_000_000) as u32, (at % 1_000_000_000) as u32, length, length] {
            file.extend(word.to_le_bytes());
        }
        file.extend(frame);
    }
    file
}

const A: [u8; 6] = [2, 0, 0, 0, 0, 0x0a];
const B: [u8; 6] = [2, 0, 0, 0, 0, 0x0b];
const C: [u8; 6] = [2, 0, 0, 0, 0, 0x0c];
const GROUP: [u8; 6] = [0x91, 0xe0, 0xf0, 0, 0, 1];

/// A frame with a tag (priority and VLAN), and its data behind the type.
fn frame(to: [u8; 6], from: [u8; 6], tag: Option<(u16, u16)>, kind: u16, data: &[u8]) -> Vec<u8> {
    let mut frame = [to, from].concat();
    if let Some((priority, vlan)) = tag {
        frame.extend(0x8100_u16.to_be_bytes());
        frame.extend((priority << 13 | vlan).to_be_bytes());
    }
    frame.extend(kind.to_be_bytes());
    frame.extend(data);
    frame
}

/// A datagram of so many octets in all.
fn datagram(ports: (u16, u16), octets: usize) -> Vec<u8> {
    let mut data = vec![0x45, 0, 0, octets as u8, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    data.extend([ports.0, ports.1, octets as u16 - 20, 0].iter().flat_map(|word| word.to_be_bytes()));
    data.resize(octets, 0);
    data
}

fn network(name: &str, found: &Converted) -> Network {
    let loaded = saved(name, found);
    loaded.network.unwrap_or_else(|| panic!("{:#?}\n{}", loaded.diagnostics, found.text))
}

#[test]
fn stations_and_conversations_are_found_and_replayed() {
    let mut frames = Vec::new();
    for number in 0..40_u64 {
        let at = 1_000_000_000 + number * 500_000;
        frames.push((at, frame(B, A, Some((5, 7)), 0x0800, &datagram((5000, 5001), 100))));
        frames.push((
            at + 50_000,
            frame(B, A, Some((5, 7)), 0x0800, &datagram((5000, 5002), 200 + number as usize)),
        ));
        frames.push((at + 100_000 + number, frame(A, B, Some((5, 7)), 0x88b5, &[1; 60])));
        frames.push((at + 200_000, frame(GROUP, C, None, 0x22f0, &[1; 300])));
    }
    let found = read(pcap(&frames)).unwrap();
    let network = network("capture", &found);
    assert_eq!(network.streams.len(), 4, "{}", found.text);
    assert!(found.text.contains("s-02-00-00-00-00-0a\": {type: end-station, ports: {p1: {address: \"02:00:00:00:00:0a\"}}}   # 10.0.0.1"), "{}", found.text);
    let run = simulate(&network, &mut Options::default());
    for (stream, seen) in network.streams.iter().zip(&run.streams) {
        let Traffic::Replay { frames: replayed } = &stream.traffic else { panic!("{}", stream.name) };
        assert_eq!(replayed.len(), 40, "{}", stream.name);
        for (number, (at, _)) in replayed.iter().enumerate() {
            let later = if stream.source.0 == B { number as u64 * 1_000 } else { 0 };
            assert_eq!(at.as_ps(), number as u64 * 500_000_000 + later, "{}", stream.name);
        }
        assert!(seen.listeners.iter().all(|listener| listener.delay.count() == 40), "{}", stream.name);
        assert_eq!(
            (stream.tagged, stream.priority.number(), stream.vlan.number()),
            if stream.source.0 == C { (false, 0, 1) } else { (true, 5, 7) }
        );
        assert_eq!(stream.udp.is_some(), stream.source.0 == A);
        assert_eq!(stream.listeners.len(), if stream.source.0 == C { 2 } else { 1 });
    }
    let sizes: Vec<(u64, u64)> =
        network.streams.iter().map(|stream| (stream.payload_min.get(), stream.payload_max.get())).collect();
    assert!(
        sizes.contains(&(200, 239)) && sizes.contains(&(100, 100)) && sizes.contains(&(300, 300)),
        "{sizes:?}"
    );
    for what in [
        "who listens to 91:e0:f0:00:00:01",
        "cables, bridges and rates",
        "how much later conversations begin",
    ] {
        assert!(
            found.left_out.iter().any(|line| line.starts_with("bus: ") && line.contains(what)),
            "{what}: {:#?}",
            found.left_out
        );
    }
    assert_eq!(found.left_out.len(), 3, "{:#?}", found.left_out);
}

#[test]
fn what_is_no_conversation_is_counted_and_what_is_no_capture_refused() {
    let good = frame(B, A, None, 0x88b5, &[1; 60]);
    let frames = [
        (0, good.clone()),
        (1, vec![1; 9]),
        (2, frame([0x01, 0x80, 0xc2, 0, 0, 0x0e], A, None, 0x88cc, &[1; 60])),
        (3, frame([0x01, 0x80, 0xc2, 0, 0, 0x0e], A, None, 0x88f7, &[1; 60])),
        (4, frame(B, GROUP, None, 0x88b5, &[1; 60])),
        (5, frame(B, A, None, 0x88b5, &[1; 2_000])),
        (6, frame(B, A, Some((3, 0)), 0x88b5, &[1; 60])),
        (7, frame(B, A, Some((3, 4_095)), 0x88b5, &[1; 60])),
        (8, [A.as_slice(), &B, &[0x81, 0]].concat()),
        (9, frame(A, A, None, 0x88b5, &[1; 60])),
    ];
    let mut octets = pcap(&frames);
    octets.extend([1, 2, 3]);
    let found = read(octets).unwrap();
    let network = network("counted", &found);
    let Traffic::Replay { frames } = &network.streams[0].traffic else { panic!() };
    assert_eq!((network.streams.len(), frames.len()), (1, 2));
    for what in [
        "1 packet: shorter than the header of a frame",
        "2 packets: to 01:80:c2:00:00:0e, which bridges do not forward",
        "1 packet: from 91:e0:f0:00:00:01, which is no station",
        "1 packet: without data, or with more than 1500 octets of it",
        "1 packet: the priority in tags without a VLAN, from packet 7 on",
        "1 packet: of VLAN 4095, which is reserved",
        "1 packet: shorter than the tag of a frame",
        "1 frames from s-02-00-00-00-00-0a to 02:00:00:00:00:0a: no other station is there",
        "it ends within a frame, at octet",
    ] {
        assert!(found.left_out.iter().any(|line| line.contains(what)), "{what}: {:#?}", found.left_out);
    }
    for (octets, why) in [
        (b"time,payload\n".to_vec(), "bus is neither a pcap nor a pcapng file"),
        (pcap(&[]), "bus has no frame from one station to others"),
        (Vec::new(), "bus is neither"),
    ] {
        let found = read(octets).unwrap_err();
        assert!(found.contains(why), "{found}");
    }
    let import = tautwire_exchange::import("capture").unwrap();
    let two = [("a".to_owned(), pcap(&[(0, good.clone())])), ("b".to_owned(), pcap(&[(0, good)]))];
    assert!(import.read_octets(&two).unwrap_err()[0].contains("2 captures: one is read"));
    assert!(import.read(&[], None).unwrap_err()[0].contains("octets"));
    let lldp = tautwire_exchange::import("lldp").unwrap();
    assert!(lldp.read_octets(&[]).unwrap_err()[0].contains("are texts"));
}

/// Any octets are read, or refused with a reason.
#[test]
fn no_octets_are_too_strange() {
    let whole = pcap(&[
        (0, frame(B, A, Some((5, 7)), 0x0800, &datagram((1, 2), 90))),
        (9, frame(GROUP, B, None, 0x0800, &[0x45; 30])),
    ]);
    for at in 0..whole.len() {
        let _ = read(whole[..at].to_vec());
        for other in [0, 0x7f, 0xff] {
            let mut changed = whole.clone();
            changed[at] = other;
            if let Ok(found) = read(changed) {
                let text = tautwire_workbench::load_text("bus.yaml", &found.text);
                // What is wrong is that the traces are not there, and that alone.
                assert!(
                    text.diagnostics.iter().all(|fault| fault.code == "text::file"
                        || fault.severity != tautwire_workbench::Severity::Error),
                    "{at} {other}: {:#?}\n{}",
                    text.diagnostics,
                    found.text
                );
            }
        }
    }
}
