//! Networks in real time, in namespaces of the test's own: what arrives, in which order, and what is counted; no figure of time.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::io::Write as _;
use std::net::UdpSocket;
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::path::Path;

use tautwire_linux::{End, Namespace, add_pair};
use tautwire_live::{
    Attachment, Cannot, Go, LiveRun, NodeRecord, Onlooker, PROGRAM_INTERFACE, Priority, RECEPTIONS_MAX,
    Settings, gathered, monotonic, refusals, run, run_node, run_watched,
};
use tautwire_model::Network;
use tautwire_model::network::NodeIndex;
use tautwire_sim::{DropReason, RungEvent};
use tautwire_units::Duration;
use tautwire_workbench::PcapngWriter;
use tautwire_workbench::captures::{CaptureFile, Captures, analyse};

fn network(text: &str) -> Network {
    let loaded = tautwire_workbench::load_text("live.yaml", text);
    assert!(loaded.network.is_some(), "{:?}", loaded.diagnostics);
    loaded.network.unwrap()
}

fn scenario(name: &str) -> Network {
    let path = Path::new("../../scenarios").join(name);
    tautwire_workbench::load(&path).unwrap().network.unwrap()
}

/// A run without real-time priority; none where namespaces cannot be made, which is said aloud.
fn lived(network: &Network) -> Option<LiveRun> {
    if let Some(why) = tautwire_linux::why_no_namespaces() {
        // The harness keeps what a passing test prints, but not what it writes to stderr.
        std::io::stderr().write_all(format!("SKIPPED: {why}\n").as_bytes()).unwrap();
        return None;
    }
    Some(
        run(
            network,
            Settings { threads: None, is_real_time: false, captures: true, attached: Vec::new() },
            tautwire_workbench::in_runs(),
        )
        .unwrap(),
    )
}

#[test]
fn every_frame_of_every_mechanism_arrives_once_and_in_order() {
    let mut network = scenario("shaped-line.yaml");
    network.set_duration(Duration::from_ms(100));
    let Some(live) = lived(&network) else { return };
    let simulated = tautwire_workbench::simulate(&network, &mut tautwire_workbench::Options::default());
    for (number, stream) in network.streams.iter().enumerate() {
        let seen = &live.observation.streams[number];
        // Its talkers have clocks that drift.
        let other = simulated.streams[number].created;
        assert!(seen.created.abs_diff(other) <= 1, "{}: {} and {other} frames", stream.name, seen.created);
        assert_eq!((&seen.dropped, seen.in_flight), (&vec![], 0), "{}", stream.name);
        assert_eq!(seen.delivered, seen.created + seen.replicated, "{}", stream.name);
        for listener in &seen.listeners {
            assert_eq!(listener.delivered, seen.created, "{}", stream.name);
            assert!(listener.delay.count() > 0 && listener.worst.is_some());
        }
        for hop in &seen.hops {
            assert!(hop.frames > 0);
        }
    }
    assert_eq!([live.out_of_order, live.duplicates, live.foreign, live.socket_lost], [0; 4]);
    let sent: u64 = live.observation.ports.iter().map(|port| port.frames).sum();
    assert_eq!(sent, live.observation.frame_hops);
}

/// Stream filters in real time: what a meter or a maximum size discards is lost with that reason, and counted by its filter.
#[test]
fn filters_discard_and_count() {
    let text = std::fs::read_to_string("../../scenarios/filtering-and-policing.yaml").unwrap();
    let (text, _) = text.split_once("events:").unwrap();
    let text = text.replace(
        "started: false\n    traffic: {type: file, octets: 900 B}",
        "traffic: {type: periodic, interval: 20 ms}",
    );
    let network = network(&format!("{text}run: {{duration: 100 ms}}\n"));
    let Some(live) = lived(&network) else { return };
    let lost = |name: &str| {
        let number = network.streams.iter().position(|stream| stream.name == name).unwrap();
        live.observation.streams[number].dropped.clone()
    };
    // The first dump blocks its filter, and diagnosis with it.
    assert_eq!(lost("dump"), [(DropReason::FilterMaxSdu, 6)]);
    assert!(matches!(lost("diagnosis")[..], [(DropReason::FilterMaxSdu, 1..)]), "{:?}", lost("diagnosis"));
    // What a meter or a gate passes depends on when this machine's talkers wake.
    assert_eq!(lost("orders"), vec![]);
    let tables = live.observation.mechanisms.tables();
    let filters = tables.iter().find(|table| table.name == "stream_filters").unwrap();
    assert_eq!(filters.rows.len(), 3);
}

/// Reservations and neighbours in real time: what is reserved arrives, and nothing before.
#[test]
fn control_machines_reserve_and_learn() {
    let mut network = scenario("reserved-slopes.yaml");
    network.set_duration(Duration::from_ms(1_900));
    let Some(live) = lived(&network) else { return };
    let video = &live.observation.streams[0];
    let [screen, recorder] = [&video.listeners[0], &video.listeners[1]];
    // It is sent from 600 ms on, later if the machine is busy; the second listener asks behind the end.
    assert!(screen.delivered > 0 && screen.delivered <= video.created, "{video:?}");
    assert_eq!((recorder.delivered, recorder.withheld), (0, video.created), "{video:?}");
    // What comes in a burst, since the machine was busy, leaves no faster than is reserved: a queue may be full.
    assert!(video.dropped.iter().all(|(reason, _)| *reason == DropReason::QueueFull), "{:?}", video.dropped);
    let ladder = &live.observation.reservations[0].ladder;
    let rungs = |wanted: fn(&RungEvent) -> bool| ladder.iter().filter(|rung| wanted(&rung.event)).count();
    assert_eq!(rungs(|event| matches!(event, RungEvent::Started)), 1, "{ladder:?}");
    assert_eq!(rungs(|event| matches!(event, RungEvent::Reserved(_))), 2, "{ladder:?}");
    assert!(rungs(|event| matches!(event, RungEvent::Shaped(..))) >= 3, "{ladder:?}");
    assert_eq!([live.out_of_order, live.duplicates, live.foreign, live.socket_lost], [0; 4]);
    let network = without_events("lldp.yaml", 1_200);
    let Some(live) = lived(&network) else { return };
    let tables = live.observation.mechanisms.tables();
    let neighbours = tables.iter().find(|table| table.name == "lldp_neighbours").unwrap();
    // One port sends alone, and another one learns alone.
    let cables = network.links.len() / 2;
    assert_eq!(neighbours.rows.len(), 2 * cables - 1, "{neighbours:?}");
    let lost: u64 =
        live.observation.streams.iter().flat_map(|seen| &seen.dropped).map(|(_, count)| count).sum();
    assert_eq!((lost, live.foreign), (0, 0));
}

/// A scenario without its timeline.
fn without_events(name: &str, milliseconds: u64) -> Network {
    let mut network = scenario(name).altered(|parts| parts.events.clear());
    network.set_duration(Duration::from_ms(milliseconds));
    network
}

/// Two talkers to one listener over a bridge; 14 Mbit/s each to a line of 10 Mbit/s with a queue of few frames.
const OVERLOAD: &str = "\
name: overload
allow: [port::overload, class::overload, port::queue-limit]
defaults: {rate: 100 Mbit/s, classes: {1: {queue-limit: {frames: 4}}}}
nodes:
  a: {type: end-station}
  b: {type: end-station}
  s: {type: bridge}
  c: {type: end-station}
links:
  - {between: [a, s]}
  - {between: [b, s]}
  - {between: [s, c], rate: 10 Mbit/s}
streams:
  - {name: one, talker: a, listeners: c, payload: 20 B, traffic: {type: periodic, interval: 100 us}}
  - {name: two, talker: b, listeners: c, payload: 20 B, traffic: {type: periodic, interval: 100 us}}
run: {duration: 100 ms}
";

#[test]
fn a_link_is_as_slow_as_described_and_losses_have_the_simulators_names() {
    let network = network(OVERLOAD);
    let Some(live) = lived(&network) else { return };
    for (stream, seen) in network.streams.iter().zip(&live.observation.streams) {
        let lost: u64 = seen.dropped.iter().map(|(_, count)| count).sum();
        assert_eq!(seen.created, 1001, "{}", stream.name);
        assert_eq!(
            seen.created,
            seen.delivered + lost + seen.in_flight,
            "{}: frames are conserved",
            stream.name
        );
        let names: Vec<_> = seen.dropped.iter().map(|(reason, _)| reason.name()).collect();
        assert!(names.iter().all(|name| *name == "queue-full"), "{}: {names:?}", stream.name);
    }
    // The line carries 84 octets in 67.2 us: of 2002 frames in 100 ms about 1488 and the queue, whenever they come.
    let delivered: u64 = live.observation.streams.iter().map(|seen| seen.delivered).sum();
    assert!(delivered > 0 && delivered <= 1500, "{delivered}");
    assert_eq!(live.socket_lost, 0);
}

/// What the ports of a run received, as a capture, gives the run's delays: both have the same stamps.
#[test]
fn a_capture_of_a_run_gives_its_delays() {
    let network = network(OVERLOAD);
    let Some(live) = lived(&network) else { return };
    let mut file = Vec::new();
    let mut capture = PcapngWriter::of_live_run(&mut file, &network).unwrap();
    for frame in &live.received {
        capture.received(frame.port, frame.at, &frame.octets).unwrap();
    }
    capture.finish().unwrap();
    let captures = Captures {
        files: vec![CaptureFile { name: "frames.pcapng".into(), octets: file, clock: None }],
        ..Captures::default()
    };
    let found = analyse(&network, &captures, &|_, _| None).unwrap();
    for row in &found.rows {
        let [seen, lived] = [&found.observation, &live.observation].map(|one| &one.streams[row.stream]);
        assert_eq!(row.from.as_deref(), Some("creation"));
        assert_eq!(seen.listeners[0].delay, lived.listeners[0].delay);
        assert_eq!(seen.delivered, lived.delivered);
        // They reached the bridge and not the listener.
        let lost: u64 = seen.dropped.iter().map(|(_, count)| count).sum();
        assert_eq!(seen.delivered + lost + seen.in_flight, seen.created);
        assert!(lost > 0 && seen.created == lived.created);
        for place in &row.losses {
            assert_eq!((place.behind.is_some(), place.before.as_str()), (true, "c.p1"), "{place:?}");
        }
    }
    assert_eq!(live.not_kept, 0);
}

#[test]
fn what_is_not_run_live_is_named() {
    for (name, expected) in [
        ("harts.yaml", "a live run has no HaRTES (`harts`) yet"),
        ("lldp.yaml", "a live run has no `lldp` yet"),
        ("cut-through.yaml", "a live run has no cut-through yet"),
    ] {
        let found = refusals(&scenario(name));
        assert!(found.iter().any(|reason| reason == expected), "{name}: {found:?}");
    }
    // Agents have gPTP, and no filters.
    assert_eq!(refusals(&scenario("precision-time.yaml")), [""; 0]);
    let found = refusals(&scenario("cyclic.yaml"));
    assert_eq!(found, ["a live run has no stream filters, gates and meters of bridges yet"]);
    let settings = Settings { threads: None, is_real_time: false, captures: false, attached: Vec::new() };
    let Err(Cannot::Refused(reasons)) =
        run(&scenario("cut-through.yaml"), settings, tautwire_workbench::in_runs())
    else {
        panic!("it has cut-through");
    };
    assert_eq!(reasons, ["a live run has no cut-through yet"]);
}

/// A socket in a namespace, as soon as that has the interface of programs and the address.
fn socket(within: &Namespace, address: &str) -> UdpSocket {
    for _ in 0..20_000 {
        let seen = within.inside(|| std::fs::read_to_string("/proc/thread-self/net/dev")).unwrap();
        let bound = within.inside(|| UdpSocket::bind(address));
        if let Some(socket) = bound.ok().filter(|_| seen.contains(PROGRAM_INTERFACE)) {
            socket.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
            return socket;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    panic!("no address {address} in 20 s");
}

/// Orders of a program at `plc` and answers of one at `drive`.
const ORDERS: u8 = 25;

/// A run in which ordinary sockets of both talk, and at last an order is sent that is longer than promised.
fn with_programs(network: &Network, plc: &Namespace, drive: &Namespace) -> LiveRun {
    let attached = [("plc", plc), ("drive", drive)]
        .map(|(station, within)| Attachment {
            station: station.to_owned(),
            namespace: format!("/proc/self/fd/{}", within.as_fd().as_raw_fd()),
        })
        .to_vec();
    std::thread::scope(|scope| {
        let settings = Settings { threads: None, is_real_time: false, captures: true, attached };
        let (say, ready) = std::sync::mpsc::channel();
        let lived = scope.spawn(move || {
            let ready = || say.send(()).unwrap();
            let onlooker = Onlooker { ready: Some(&ready), publish: None };
            run_watched(network, settings, tautwire_workbench::in_runs(), onlooker).unwrap()
        });
        // Then the devices are there.
        ready.recv().unwrap();
        let answers = socket(drive, "10.0.0.2:5001");
        let orders = socket(plc, "10.0.0.1:5000");
        scope.spawn(move || {
            let mut buffer = [0; 2_000];
            for number in 0..ORDERS {
                let (length, from) = answers.recv_from(&mut buffer).unwrap();
                assert_eq!(
                    (&buffer[..length], from.to_string()),
                    (&[number; 100][..], "10.0.0.1:5000".into())
                );
                answers.send_to(&[number; 50], from).unwrap();
            }
        });
        let mut buffer = [0; 2_000];
        for number in 0..ORDERS {
            orders.send_to(&[number; 100], "10.0.0.2:5001").unwrap();
            let (length, from) = orders.recv_from(&mut buffer).unwrap();
            assert_eq!((&buffer[..length], from.to_string()), (&[number; 50][..], "10.0.0.2:5001".into()));
        }
        // It would be a frame of 129 octets.
        orders.send_to(&[0; 101], "10.0.0.2:5001").unwrap();
        lived.join().unwrap()
    })
}

/// What programs sent arrived, what was too long did not, and both are counted.
fn talked(network: &Network, live: &LiveRun) {
    let count = u64::from(ORDERS);
    for (name, dropped) in [("orders", vec![(DropReason::PolicedLength, 1)]), ("state", vec![])] {
        let number = network.streams.iter().position(|stream| stream.name == name).unwrap();
        let seen = &live.observation.streams[number];
        assert_eq!((seen.delivered, &seen.dropped), (count, &dropped), "{name}");
        assert!(seen.listeners[0].delay.count() > 0 && seen.listeners[0].worst.is_some(), "{name}");
    }
    let packets: Vec<_> = live
        .programs
        .iter()
        .map(|own| (own.given, own.not_given, own.streams.iter().map(|one| one.packets).collect::<Vec<_>>()))
        .collect();
    assert_eq!(packets, [(count, 0, vec![count + 1, 0]), (count, 0, vec![count, 0])]);
    assert_eq!([live.out_of_order, live.duplicates, live.foreign, live.socket_lost], [0; 4]);
}

/// Two namespaces for programs; none where they cannot be made, which is said aloud.
fn two_namespaces() -> Option<[Namespace; 2]> {
    if let Some(why) = tautwire_linux::why_no_namespaces() {
        std::io::stderr().write_all(format!("SKIPPED: {why}\n").as_bytes()).unwrap();
        return None;
    }
    Some([Namespace::new().unwrap(), Namespace::new().unwrap()])
}

/// Packets of ordinary programs leave in the slots of their stations.
#[test]
fn programs_talk_in_slots() {
    let mut network = scenario("programs-in-slots.yaml");
    network.set_duration(Duration::from_ms(3_000));
    let Some([plc, drive]) = two_namespaces() else { return };
    let live = with_programs(&network, &plc, &drive);
    talked(&network, &live);
    // Each frame had a slot of its own.
    let tdma = network.tdma.as_ref().unwrap();
    for (owner, least) in [("plc", ORDERS), ("drive", ORDERS), ("sensor", 0)] {
        let own = tdma.slots.iter().zip(&live.observation.slots);
        let own = own.filter(|(slot, _)| network.nodes[slot.owner.index()].name == owner);
        let used: u64 = own.map(|(_, seen)| seen.used).sum();
        let streams = network.streams.iter().zip(&live.observation.streams);
        let streams = streams.filter(|(stream, _)| {
            network.nodes[stream.talker.index()].name == owner && !stream.traffic.is_control()
        });
        let sent: u64 = streams.map(|(_, seen)| seen.delivered).sum();
        assert!(used == sent && used >= least.into(), "{owner}: {used} slots, {sent} frames");
    }
    let opened = &live.observation.streams[0];
    assert!(opened.created >= 600 && opened.delivered + opened.consumed > 0, "{opened:?}");
}

/// Ordinary sockets on both sides: each order is answered by a state, each on a stream of its own; what is longer than promised is
/// discarded and counted.
#[test]
fn programs_talk_over_their_streams() {
    let mut network = scenario("programs.yaml");
    network.set_duration(Duration::from_ms(3_000));
    let Some([plc, drive]) = two_namespaces() else { return };
    let live = with_programs(&network, &plc, &drive);
    talked(&network, &live);
    let seen = |name: &str| {
        let number = network.streams.iter().position(|stream| stream.name == name).unwrap();
        &live.observation.streams[number]
    };
    let count = u64::from(ORDERS);
    assert_eq!((seen("there").created, seen("picture").dropped.len()), (0, 0));
    assert!(seen("picture").delivered > 2_000);
    // What ports received of them is in the capture, and is told apart.
    let mut file = Vec::new();
    let mut capture = PcapngWriter::of_live_run(&mut file, &network).unwrap();
    for frame in &live.received {
        capture.received(frame.port, frame.at, &frame.octets).unwrap();
    }
    capture.finish().unwrap();
    let files = vec![CaptureFile { name: "frames.pcapng".into(), octets: file, clock: None }];
    let found = analyse(&network, &Captures { files, ..Captures::default() }, &|_, _| None).unwrap();
    let captured = &found.observation.streams[0];
    assert_eq!((captured.delivered, &captured.dropped), (count, &vec![]));
    let worst = [captured, seen("orders")].map(|one| one.listeners[0].worst.map(|worst| worst.delay));
    assert!(worst[0].is_some() && worst[0] == worst[1], "{worst:?}");
    // The devices went with the run.
    for within in [&plc, &drive] {
        let left = within.inside(|| std::fs::read_to_string("/proc/thread-self/net/dev")).unwrap();
        assert!(!left.contains(PROGRAM_INTERFACE), "{left}");
    }
}

/// Two stations at a bridge, with clocks that drift by thousands of ppm; the second station is ahead by three seconds.
const TIMED: &str = "\
name: timed
defaults: {rate: 100 Mbit/s}
nodes:
  a: {type: end-station, clock: {tolerance: 5000 ppm, drift: 5000 ppm}}
  s: {type: bridge, clock: {tolerance: 5000 ppm, drift: -3000 ppm}}
  x: {type: end-station, clock: {tolerance: 5000 ppm, drift: 2000 ppm, offset: 3 s}}
links: [{between: [a, s]}, {between: [s, x]}]
gptp:
  log-sync-interval: -3
  log-announce-interval: -2
  log-pdelay-interval: -3
  bridges: {delay-max: 50 ms}
  end-stations: {delay-max: 50 ms}
  nodes: {a: {priority1: 100}}
streams:
  - {name: one, talker: a, listeners: x, payload: 100 B, traffic: {type: periodic, interval: 1 ms}}
run: {duration: 4 s}
";

#[test]
fn nodes_agree_on_a_time_and_no_frame_is_lost_for_it() {
    let network = network(TIMED);
    let Some(live) = lived(&network) else { return };
    let clocks = &live.observation.clocks;
    assert_eq!(clocks.len(), 3, "{clocks:?}");
    for (seen, ports) in clocks.iter().zip([1, 2, 1]) {
        assert_eq!((seen.grandmaster, seen.capable_ports), (Some(NodeIndex(0)), ports), "{seen:?}");
        assert!(seen.synchronised_at.is_some() && seen.offset.count() > 0, "{seen:?}");
    }
    // Its own clock is three seconds off; a busy machine stamps late by milliseconds at worst.
    let last = clocks[2].offset.mean_ps().unwrap().abs();
    assert!(last < 500_000_000_000, "{clocks:?}");
    let seen = &live.observation.streams[0];
    assert_eq!((seen.created, seen.delivered), (4_001, 4_001), "{:?}", seen.dropped);
    assert_eq!([live.out_of_order, live.duplicates, live.foreign, live.socket_lost], [0; 4]);
}

/// A talker and a listener, each in a namespace, and what is between them by interfaces of the name of the node.
const TWO: &str = "\
name: two
defaults: {rate: 100 Mbit/s}
nodes:
  a: {type: end-station, ports: {p1: {interface: a}}}
  x: {type: end-station, ports: {p1: {interface: x}}}
links: [{between: [a, x]}]
streams:
  - {name: one, talker: a, listeners: x, payload: 100 B, traffic: {type: periodic, interval: 1 ms}}
run: {duration: 400 ms}
";

type Ran = Result<Option<(NodeRecord, Priority)>, Cannot>;

/// Runs both nodes as agents do, and a tenth of a second longer; `meanwhile` gets their namespaces when they are about to
/// start. None where namespaces cannot be made, which is said aloud.
fn by_agents(network: &Network, most: usize, meanwhile: impl FnOnce(&[Namespace; 2])) -> Option<[Ran; 2]> {
    if let Some(why) = tautwire_linux::why_no_namespaces() {
        std::io::stderr().write_all(format!("SKIPPED: {why}\n").as_bytes()).unwrap();
        return None;
    }
    let within = [Namespace::new().unwrap(), Namespace::new().unwrap()];
    let end = |number: usize, name: &str| End {
        namespace: &within[number],
        name: name.to_owned(),
        address: [2, 0xaa, 0, 0, 0, number as u8],
        mtu: 1504,
    };
    add_pair(&end(0, "a"), &end(1, "x")).unwrap();
    let start = std::sync::OnceLock::new();
    let length = network.run.duration.as_ps() / 1000 + 100_000_000;
    std::thread::scope(|scope| {
        let ran = [0, 1].map(|number| {
            let (within, start) = (&within[number], &start);
            scope.spawn(move || {
                let node = NodeIndex::at(number);
                let starts = |_: &[String]| Some(*start.get_or_init(|| monotonic() + 1_000_000_000));
                let over = |_| {
                    if monotonic() < start.get().unwrap() + length { Go::On } else { Go::Finish }
                };
                let mut ran = None;
                within
                    .inside(|| {
                        ran = Some(run_node(network, node, false, most, starts, over));
                        Ok(())
                    })
                    .unwrap();
                ran.unwrap()
            })
        });
        while start.get().is_none_or(|start| monotonic() < *start) {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        meanwhile(&within);
        Some(ran.map(|thread| thread.join().unwrap()))
    })
}

#[test]
fn a_run_that_a_record_does_not_hold_ends_with_what_fits() {
    let network = network(TWO);
    let Some([talker, listener]) = by_agents(&network, 40, |_| {}) else { return };
    assert!(talker.unwrap().is_some());
    let Err(Cannot::Machine(why)) = listener else { panic!("{listener:?}") };
    let (words, fits) = why.rsplit_once(": a run of ").unwrap();
    assert_eq!(words, "its listeners received more than 40 frames, which a record does not hold");
    // The 41st frame is created at 40 ms.
    let fits = fits.strip_suffix(" ms fits").unwrap().parse::<u64>().unwrap();
    assert!((40..400).contains(&fits), "{why}");
}

/// A node goes on when its interface does, and what it could not send has a reason.
#[test]
fn an_interface_that_goes_down_ends_no_run() {
    let mut network = network(TWO);
    network.set_duration(Duration::from_ms(1000));
    let set = |within: &Namespace, state: &str| {
        within.inside(|| std::process::Command::new("ip").args(["link", "set", "dev", "a", state]).status())
    };
    let mut has_ip = true;
    let ran = by_agents(&network, RECEPTIONS_MAX, |[talker, _]| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        has_ip = set(talker, "down").is_ok_and(|status| status.success());
        std::thread::sleep(std::time::Duration::from_millis(100));
        has_ip &= set(talker, "up").is_ok_and(|status| status.success());
    });
    let Some(ran) = ran else { return };
    let records: Vec<_> = ran
        .into_iter()
        .enumerate()
        .map(|(number, ran)| (NodeIndex::at(number), ran.unwrap().unwrap().0))
        .collect();
    if !has_ip {
        std::io::stderr().write_all(b"SKIPPED: there is no command ip\n").unwrap();
        return;
    }
    assert!(records[0].1.was_down());
    let live = gathered(&network, records, Priority::Ordinary).unwrap();
    let seen = &live.observation.streams[0];
    let lost = |reason: DropReason| {
        seen.dropped.iter().find(|(own, _)| *own == reason).map_or(0, |(_, count)| *count)
    };
    // Some left before the interface was down and are lost behind it: nobody knows why.
    assert!(lost(DropReason::LinkDown) >= 20, "{:?}", seen.dropped);
    assert_eq!(lost(DropReason::LinkDown) + lost(DropReason::Unknown) + seen.delivered, seen.created);
    // It carries frames again: many more than came before.
    assert!(seen.created == 1001 && seen.delivered > 200, "{} of {}", seen.delivered, seen.created);
}
