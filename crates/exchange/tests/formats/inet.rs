//! Networks of INET: what is written is read again as it was; networks in the shape of INET's own validation give the delays of their references.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use tautwire_exchange::{Converted, Input};
use tautwire_model::network::{NodeIndex, NodeKind, PortIndex, Stream, Traffic, TransmissionSelection};
use tautwire_workbench::{Network, Options, bounds, simulate};

use crate::common::{network, networks};

pub(crate) fn read(files: &[(&str, &str)]) -> Result<Converted, String> {
    let inputs: Vec<Input> = files
        .iter()
        .map(|(name, text)| Input { name: (*name).to_owned(), text: (*text).to_owned() })
        .collect();
    tautwire_exchange::import("inet").unwrap().read(&inputs, None).map_err(|faults| faults.join("\n"))
}

fn written(network: &Network) -> (String, String, Vec<String>) {
    let texts = tautwire_exchange::export("inet").unwrap().write(network, None).unwrap();
    let [ned, ini] = &texts[..] else { panic!("two files") };
    assert_eq!(ini.file.as_deref(), Some("omnetpp.ini"));
    (ned.converted.text.clone(), ini.converted.text.clone(), ned.converted.left_out.clone())
}

/// The ports with cables in the order in which cables come, by node.
fn cabled(network: &Network) -> Vec<Vec<PortIndex>> {
    let mut found = vec![Vec::new(); network.nodes.len()];
    for link in network.links.iter().step_by(2) {
        for port in [link.from, link.to] {
            found[network.ports[port.index()].node.index()].push(port);
        }
    }
    found.into_iter().filter(|ports| !ports.is_empty()).collect()
}

/// What two networks must have in common, as INET has it.
fn compare(name: &str, own: &Network, back: &Network, ini: &str, left_out: &[String]) -> usize {
    let mut compared = 0;
    let (ports, ports_back) = (cabled(own), cabled(back));
    assert_eq!(ports.len(), ports_back.len(), "{name}");
    for (link, other) in own.links.iter().step_by(2).zip(back.links.iter().step_by(2)) {
        assert_eq!(link.rate, other.rate, "{name}");
        let delay = link.propagation.as_ps() + link.phy_delay.max.as_ps();
        assert_eq!(delay, other.propagation.as_ps(), "{name}");
    }
    for (port, other) in ports.iter().flatten().zip(ports_back.iter().flatten()) {
        let (port, other) = (&own.ports[port.index()], &back.ports[other.index()]);
        let is_blind = match own.nodes[port.node.index()].kind {
            NodeKind::EndStation { host } => own.hosts[host.index()].is_class_blind,
            NodeKind::Bridge { .. } => false,
        };
        if is_blind {
            continue;
        }
        for priority in tautwire_core::Priority::all() {
            let class = |table: &tautwire_core::TrafficClassTable| table.class_of(priority, true);
            assert_eq!(class(&port.class_table), class(&other.class_table), "{name}: {}", port.name);
        }
        for (class, (settings, read)) in port.classes.iter().zip(&other.classes).enumerate() {
            let is_station = matches!(own.nodes[port.node.index()].kind, NodeKind::EndStation { .. });
            let place =
                format!("port {}.{} class {class}: asynch", own.nodes[port.node.index()].name, port.name);
            let is_listed = left_out.iter().any(|line| line.starts_with(&place));
            if !(is_listed || is_station && settings.selection == TransmissionSelection::Ats) {
                assert_eq!(settings.selection, read.selection, "{name}: {} class {class}", port.name);
            }
            assert_eq!(settings.limit_frames, read.limit_frames, "{name}: {} class {class}", port.name);
            assert_eq!(settings.discards_oldest, read.discards_oldest, "{name}: {} class {class}", port.name);
        }
        let Some(gates) = &port.gates else {
            assert!(other.gates.is_none(), "{name}: {}", port.name);
            continue;
        };
        // Gates that are always open are not written.
        let read = other.gates.as_ref().map(|gates| &gates.parameters);
        let cycle = gates.parameters.cycle_time.floor().as_ps();
        let clock = own.nodes[port.node.index()].clock.offset.as_ps();
        let start = i128::from(gates.parameters.base_time.as_ps()) - i128::from(clock);
        for part in 0..97_u64 {
            let time = part * (cycle / 97) + part * 31;
            let place = (i128::from(time) - start).rem_euclid(i128::from(cycle)) as u64;
            let states = read.map_or(u8::MAX, |read| {
                state(
                    read.control_list.iter().map(|entry| (entry.gate_states, entry.time_interval.as_ps())),
                    time % read.cycle_time.floor().as_ps(),
                )
            });
            let entries = gates.parameters.control_list.iter();
            let expected =
                state(entries.map(|entry| (entry.gate_states, entry.time_interval.as_ps())), place);
            if gates.parameters.cycle_time.denominator() == 1 {
                assert_eq!(states, expected, "{name}: {} at {time} ps of {cycle}, {place}\n{ini}", port.name);
            }
        }
        compared += 1;
    }
    compared
}

/// The states of gates at a place in the cycle; the last ones stay until its end.
fn state(entries: impl Iterator<Item = (u8, u64)>, place: u64) -> u8 {
    let mut until = 0;
    let mut last = u8::MAX;
    for (states, interval) in entries {
        if until > place {
            break;
        }
        last = states;
        until += interval;
    }
    last
}

/// The listeners of a stream, by names as NED takes them.
fn listeners(network: &Network, stream: &Stream) -> BTreeSet<String> {
    let letter = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    let name = |node: &NodeIndex| network.nodes[node.index()].name.chars().map(letter).collect::<String>();
    stream.listeners.iter().map(|node| name(node).trim_start_matches("n_").to_owned()).collect()
}

#[test]
fn all_networks_come_back() {
    let (mut streams, mut gated, mut shaped, mut groups) = (0, 0, 0, 0);
    for (name, own) in networks(1) {
        let (ned, ini, left_out) = written(&own);
        let found = read(&[("net", &ned), ("omnetpp", &ini)])
            .unwrap_or_else(|why| panic!("{name}: {why}\n{ned}\n{ini}"));
        let loaded = tautwire_workbench::load_text("net.yaml", &found.text);
        let network_back =
            loaded.network.unwrap_or_else(|| panic!("{name}: {:#?}\n{}", loaded.diagnostics, found.text));
        // Every line of what is written is understood.
        let unknown: Vec<&String> = found.left_out.iter().filter(|line| line.contains("` ")).collect();
        assert!(!found.left_out.iter().any(|line| line.contains(" = ")), "{name}: {unknown:?}\n{ini}");
        gated += compare(&name, &own, &network_back, &ini, &left_out);
        let mut known: BTreeMap<&str, Vec<&Stream>> = BTreeMap::new();
        for stream in &network_back.streams {
            known.entry(&stream.name).or_default().push(stream);
        }
        for stream in own.streams.iter().filter(|stream| stream.traffic != Traffic::Protocol) {
            let Some(back) = known.get(stream.name.as_str()) else {
                let place = format!("stream {}:", stream.name);
                assert!(left_out.iter().any(|line| line.starts_with(&place)), "{name}: {}", stream.name);
                continue;
            };
            let back = back[0];
            assert_eq!(stream.payload_max, back.payload_max, "{name}: {}", stream.name);
            assert_eq!(stream.tagged, back.tagged, "{name}: {}", stream.name);
            assert_eq!(listeners(&own, stream), listeners(&network_back, back), "{name}: {}", stream.name);
            groups += usize::from(stream.listeners.len() > 1);
            if stream.tagged {
                assert_eq!(stream.priority, back.priority, "{name}: {}", stream.name);
            }
            match (&stream.traffic, &back.traffic) {
                (Traffic::Poisson { mean_interval }, Traffic::Poisson { mean_interval: back }) => {
                    assert_eq!(mean_interval, back, "{name}: {}", stream.name);
                }
                (
                    Traffic::Periodic { interval, offset, burst, .. },
                    Traffic::Periodic { interval: other, offset: begun, burst: number, .. },
                ) => assert_eq!((interval, offset, burst), (other, begun, number), "{name}: {}", stream.name),
                other => panic!("{name}: {}: {other:?}", stream.name),
            }
            streams += 1;
            if let (Some(shaper), Some(back)) = (&stream.shaper, &back.shaper) {
                assert_eq!(shaper, back, "{name}: {}", stream.name);
                shaped += 1;
            }
        }
    }
    assert!(streams > 100 && gated > 10 && shaped > 10 && groups > 10, "{streams} {gated} {shaped} {groups}");
}

/// Four talkers and a switch, each frame of which it keeps for 8 us.
pub(crate) const NED: &str = "
import inet.node.ethernet.Eth100M;
network Star extends TsnNetworkBase
{
    submodules:
        bulk: TsnDevice;
        slow: TsnDevice;
        fast: TsnDevice;
        urgent: TsnDevice;
        sink: TsnDevice;
        sw: TsnSwitch { @display(\"p=1,2\"); }
    connections:
        bulk.ethg++ <--> Eth100M <--> sw.ethg++;
        slow.ethg++ <--> Eth100M <--> sw.ethg++;
        fast.ethg++ <--> Eth100M <--> sw.ethg++;
        urgent.ethg++ <--> Eth100M <--> sw.ethg++;
        sw.ethg++ <--> Eth100M <--> sink.ethg++;
}
";

/// Sources, priorities and delay; the selection is added.
pub(crate) const INI: &str = r#"[General]
network = Star
sim-time-limit = 120ms
*.*.eth[*].bitrate = 100Mbps
*.sw.bridging.directionReverser.delayer.typename = "PacketDelayer"
*.sw.bridging.directionReverser.delayer.delay = 8us
*.*.hasEgressTrafficShaping = true
*.sink.hasIncomingStreams = true
*.sink.numApps = 4
*.sink.app[*].typename = "UdpSinkApp"
*.sink.app[*].io.localPort = 7000 + parent.index
*.sw.numApps = 0
*.*.numApps = 1
*.*.app[0].typename = "UdpSourceApp"
*.*.app[0].io.destAddress = "sink"
*.*.hasOutgoingStreams = true
*.bulk.app[0].display-name = "bulk"
*.bulk.app[0].source.productionInterval = 125us
*.bulk.app[0].source.packetLength = 1518B - 50B
*.bulk.app[0].io.destPort = 7000
*.slow.app[0].display-name = "slow"
*.slow.app[0].source.initialProductionOffset = 1ns
*.slow.app[0].source.productionInterval = 250us
*.slow.app[0].source.packetLength = 322B - 50B
*.slow.app[0].io.destPort = 7001
*.fast.app[0].display-name = "fast"
*.fast.app[0].source.productionInterval = 125us
*.fast.app[0].source.packetLength = 322B - 50B
*.fast.app[0].io.destPort = 7002
*.urgent.app[0].display-name = "urgent"
*.urgent.app[0].source.productionInterval = 300us
*.urgent.app[0].source.packetLength = 1522B - 50B
*.urgent.app[0].io.destPort = 7003
*.bulk.bridging.streamIdentifier.identifier.mapping = [{stream: "bulk", packetFilter: "*"}]
*.slow.bridging.streamIdentifier.identifier.mapping = [{stream: "slow", packetFilter: "*"}]
*.fast.bridging.streamIdentifier.identifier.mapping = [{stream: "fast", packetFilter: "*"}]
*.urgent.bridging.streamIdentifier.identifier.mapping = [{stream: "urgent", packetFilter: "*"}]
*.*.bridging.streamCoder.encoder.mapping = [{stream: "bulk", pcp: 0}, {stream: "slow", pcp: 5},
                                            {stream: "fast", pcp: 6}, {stream: "urgent", pcp: 7}]
*.sw.bridging.streamCoder.decoder.mapping = [{pcp: 7, stream: "urgent"}, {pcp: 6, stream: "fast"},
                                             {pcp: 5, stream: "slow"}, {pcp: 0, stream: "bulk"}]
*.sw.eth[*].macLayer.queue.queue[*].packetCapacity = 4
*.sw.eth[*].macLayer.queue.queue[*].dropperClass = "inet::queueing::PacketAtCollectionBeginDropper"
"#;

const CREDIT: &str = r#"
*.sw.eth[*].macLayer.queue.transmissionSelectionAlgorithm[5..6].typename = "Ieee8021qCreditBasedShaper"
*.sw.eth[*].macLayer.queue.transmissionSelectionAlgorithm[5].idleSlope = 10.976Mbps
*.sw.eth[*].macLayer.queue.transmissionSelectionAlgorithm[6].idleSlope = 21.952Mbps
"#;

const ELIGIBLE: &str = r#"
*.sw.hasIngressTrafficFiltering = true
*.sw.bridging.streamFilter.ingress.numStreams = 2
*.sw.bridging.streamFilter.ingress.classifier.mapping = {"slow": 0, "fast": 1}
*.sw.bridging.streamFilter.ingress.meter[*].typename = "EligibilityTimeMeter"
*.sw.bridging.streamFilter.ingress.filter[*].typename = "EligibilityTimeFilter"
*.sw.bridging.streamFilter.ingress.meter[0].committedInformationRate = 9.6Mbps
*.sw.bridging.streamFilter.ingress.meter[1].committedInformationRate = 19.2Mbps
*.sw.bridging.streamFilter.ingress.meter[*].committedBurstSize = 322B - 22B
*.sw.eth[*].macLayer.queue.queue[5..6].typename = "EligibilityTimeQueue"
*.sw.eth[*].macLayer.queue.transmissionSelectionAlgorithm[5..6].typename = "EligibilityTimeGate"
"#;

/// Least and greatest delays of `slow`, `fast` and `urgent`, nanoseconds: what INET's validation of both shapers compares with (Core4INET's medium
/// network), and the delay of two cables of 10 m. INET lets its own be a hundredth off, and never outside.
const REFERENCE: [(&str, u64, u64); 3] =
    [("slow", 88_159, 540_000), ("fast", 60_800, 307_200), ("urgent", 252_800, 375_840)];
const CABLES: u64 = 100;

/// Holds the delays of a run and the bounds against the reference.
fn holds(text: &str, names: [&str; 3]) {
    let network = network(text);
    let run = simulate(&network, &mut Options::default());
    let bounds = bounds(&network);
    for ((name, least, greatest), own) in REFERENCE.into_iter().zip(names) {
        let number = network.streams.iter().position(|stream| stream.name == own).unwrap();
        let seen = &run.streams[number].listeners[0].delay;
        let (min, max) = (seen.min().unwrap().as_ps() / 1_000, seen.max().unwrap().as_ps() / 1_000);
        let (least, greatest) = (least + CABLES, greatest + CABLES);
        assert!(min >= least && min <= least + least / 100, "{name}: {min} {least}");
        assert!(max <= greatest && max >= greatest - greatest / 100, "{name}: {max} {greatest}");
        let bound = bounds.streams[number].listeners[0].delay.as_ref().ok().map(|delay| delay.as_ps());
        assert!(bound.is_none_or(|bound| bound >= max * 1_000), "{name}");
    }
}

#[test]
fn shapers_give_the_delays_of_the_validation() {
    for shaper in [CREDIT, ELIGIBLE] {
        let found = read(&[("star", NED), ("omnetpp", &format!("{INI}{shaper}"))]).unwrap();
        assert!(!found.left_out.iter().any(|line| line.contains(" = ")), "{:#?}", found.left_out);
        holds(&found.text, ["slow", "fast", "urgent"]);
    }
}

#[test]
fn what_is_not_understood_has_its_line() {
    let with = |lines: &str| read(&[("star", NED), ("omnetpp", &format!("{INI}{lines}"))]);
    let last = INI.lines().count() + 1;
    for (line, why) in [
        (
            "*.sw.eth[*].macLayer.queue.transmissionSelectionAlgorithm[3].typename = \"X\"",
            "the selection `X`",
        ),
        ("*.sw.eth[*].macLayer.queue.transmissionGate[3].durations = [1ms]", "an even number"),
        ("*.bulk.eth[0].bitrate = 1 parsec", "unit"),
        ("include other.ini", "`include`"),
        ("*.sw.x = ${a=1..2}", "iteration"),
    ] {
        // The first line that matches counts.
        let text = INI.replace("[General]\n", &format!("[General]\n{line}\n"));
        let found = read(&[("star", NED), ("omnetpp", &text)]).unwrap_err();
        assert!(found.contains(why), "{line}: {found}");
    }
    let found =
        with("*.sw.hasFramePreemption = true\n*.visualizer.x = 1\n**.display-name = \"y\"\n").unwrap();
    let line = format!("omnetpp.ini:{last}: `*.sw.hasFramePreemption = true`");
    assert_eq!(found.left_out.iter().filter(|line| line.contains(" = ")).collect::<Vec<_>>(), [&line]);
    for (ned, why) in [
        (NED.replace("sw: TsnSwitch", "sw: Router"), "star.ned:11"),
        (NED.replace("bulk.ethg++ <--> Eth100M", "bulk.ethg++ <--> Wire"), "star.ned:13"),
        (NED.replace("<--> sw.ethg++;\n        slow", "<--> sw.ethg[3];\n        slow"), "star.ned:13"),
    ] {
        let found = read(&[("star", &ned), ("omnetpp", INI)]).unwrap_err();
        assert!(found.starts_with(why), "{found}");
    }
    // All at once.
    let bad = "*.sw.eth[0].macLayer.queue.transmissionGate[3].durations = [1ms]\n*.sw.eth[1].macLayer.queue.numTrafficClasses = 9\n*.bulk.eth[0].bitrate = 1 parsec\n";
    let text = INI.replace("[General]\n", &format!("[General]\n{bad}"));
    let found = read(&[("star", NED), ("omnetpp", &text)]).unwrap_err();
    assert_eq!(found.lines().count(), 3, "{found}");
    let found =
        read(&[("star", NED), ("omnetpp", &format!("{INI}include a\nx\n*.y = ${{z}}\n"))]).unwrap_err();
    assert_eq!(found.lines().count(), 3, "{found}");
    // One of several; what is not supported counts only in what is read.
    let several = format!(
        "{INI}[Config Base]\nsim-time-limit = 2s\n[Config A]\nextends = Base\n[Config B]\nsim-time-limit = ${{t=3s..9s}}\n"
    );
    let with = |name: &str| {
        let inputs = [("star", NED), ("omnetpp", several.as_str())];
        let inputs = inputs.map(|(name, text)| Input { name: name.to_owned(), text: text.to_owned() });
        tautwire_exchange::import("inet")
            .unwrap()
            .read(&inputs, Some(name))
            .map_err(|faults| faults.join("\n"))
    };
    for name in ["A", "Base"] {
        let found = with(name).unwrap();
        assert!(found.text.contains("duration: 2 s"), "{name}: {}", found.text);
    }
    assert!(with("B").unwrap_err().contains("iteration variables"));
    assert!(with("C").unwrap_err().contains("no configuration `C`; there are General (line 1), Base (line"));
    let lldp = tautwire_exchange::import("lldp").unwrap();
    assert!(lldp.read(&[], Some("A")).unwrap_err()[0].contains("have no configurations"));
    let two = format!("{INI}[Config A]\n[Config B]\n");
    assert!(read(&[("star", NED), ("omnetpp", &two)]).unwrap_err().contains("A (line"));
}

/// Talker, listener, word of the class, priority, how many, interval in milliseconds, octets with preamble, tag and headers; and the delay of the
/// paper, microseconds, that no frame reaches.
type Flow = (&'static str, &'static str, &'static str, u32, u32, u32, u32, f64);

/// Streams of the network with three switches.
const FLOWS: [Flow; 7] = [
    ("N1", "N7", "CDT", 6, 10, 5, 100, 867.6),
    ("N2", "N7", "Class-A", 5, 10, 10, 1_000, 4_665.5),
    ("N3", "N7", "Class-B", 4, 10, 20, 1_500, 10_902.0),
    ("N4", "N6", "Class-A", 5, 5, 10, 1_000, 2_505.2),
    ("N5", "N6", "Class-B", 4, 5, 20, 1_500, 5_678.3),
    ("N8", "N7", "Class-A", 5, 5, 10, 800, f64::INFINITY),
    ("N8", "N7", "Class-B", 4, 5, 20, 1_200, f64::INFINITY),
];

/// Holds the delays of a run against those of the paper, and the bounds against the run.
fn within_paper(text: &str) {
    let network = network(text);
    let run = simulate(&network, &mut Options::default());
    let bounds = bounds(&network);
    for (talker, _, word, _, count, _, _, most) in FLOWS {
        let of = network.streams.iter().enumerate().filter(|(_, stream)| {
            network.nodes[stream.talker.index()].name == talker && stream.name.contains(word)
        });
        let mut compared = 0;
        for (number, stream) in of {
            let seen = run.streams[number].listeners[0].delay.max().unwrap().as_ps();
            let bound = bounds.streams[number].listeners[0].delay.as_ref().ok().map(|delay| delay.as_ps());
            let holds = (seen as f64) < most * 1e6 && bound.is_none_or(|bound| bound >= seen);
            assert!(holds, "{}: {seen} ps, bound {bound:?}, paper {most} us", stream.name);
            compared += 1;
        }
        assert_eq!(compared, count, "{talker} {word}");
    }
}

/// The network with three switches of the paper on asynchronous shaping under parameter inconsistency (ICCT 2020), as INET has it: a meter for
/// each stream at its talker, one for each class at the switches, and as much other traffic as a line takes.
#[test]
fn three_switches_are_within_the_delays_of_their_paper() {
    let nodes: String = (1..=8).map(|node| format!("N{node}: TsnDevice; ")).collect();
    let cables = [("N1", "S1"), ("N2", "S1"), ("N3", "S1"), ("N4", "S2"), ("N5", "S2"), ("N6", "S3")];
    let cables = cables.into_iter().chain([("N7", "S3"), ("N8", "S3"), ("S1", "S2"), ("S2", "S3")]);
    let cables: String =
        cables.map(|(from, to)| format!("{from}.ethg++ <--> Eth100M <--> {to}.ethg++;\n")).collect();
    let ned = format!(
        "network Line extends TsnNetworkBase {{ submodules: {nodes} S1: TsnSwitch; S2: TsnSwitch; S3: TsnSwitch;\nconnections:\n{cables}}}"
    );
    let mut ini = "[General]\nnetwork = Line\nsim-time-limit = 0.1s\n".to_owned();
    let mut apps: BTreeMap<&str, (u32, String, String, String, String)> = BTreeMap::new();
    let mut port = 2_000;
    for (talker, listener, word, priority, count, interval, octets, _) in FLOWS {
        for number in 0..count {
            port += 1;
            let (next, lines, known, encoded, metered) = apps.entry(talker).or_default();
            let app = format!("*.{talker}.app[{next}]");
            lines.push_str(&format!(
                "{app}.typename = \"UdpSourceApp\"\n{app}.display-name = \"{word}-{number}\"\n{app}.io.destAddress = \"{listener}\"\n{app}.io.destPort = {port}\n\
                {app}.source.initialProductionOffset = {interval}ms\n{app}.source.productionInterval = {interval}ms\n{app}.source.packetLength = {octets}B - 58B\n\
                *.{talker}.bridging.streamFilter.egress.meter[{next}].committedInformationRate = {}kbps\n\
                *.{talker}.bridging.streamFilter.egress.meter[{next}].committedBurstSize = {octets}B\n",
                octets * 8 / interval
            ));
            known.push_str(&format!(
                "{{stream: \"{word}-{number}\", packetFilter: expr(udp.destPort == {port})}}, "
            ));
            encoded.push_str(&format!("{{stream: \"{word}-{number}\", pcp: {priority}}}, "));
            metered.push_str(&format!("\"{word}-{number}\": {next}, "));
            *next += 1;
        }
    }
    for (talker, (count, lines, known, encoded, metered)) in apps {
        // What fills the line besides.
        let more = u32::from(talker == "N1");
        ini.push_str(&format!(
            "*.{talker}.numApps = {}\n{lines}*.{talker}.bridging.streamIdentifier.identifier.mapping = [{known}]\n*.{talker}.bridging.streamCoder.encoder.mapping = [{encoded}]\n\
            *.{talker}.bridging.streamFilter.egress.numStreams = {count}\n*.{talker}.bridging.streamFilter.egress.classifier.mapping = {{{metered}}}\n",
            count + more
        ));
        if more == 1 {
            let app = format!("*.N1.app[{count}]");
            ini.push_str(&format!(
                "{app}.typename = \"UdpSourceApp\"\n{app}.display-name = \"rest\"\n{app}.io.destAddress = \"N7\"\n{app}.io.destPort = 1999\n\
                {app}.source.productionInterval = 0.1ms\n{app}.source.packetLength = 1518B - 58B\n"
            ));
        }
    }
    for (switch, first, second) in [("S1", 10, 10), ("S2", 15, 15), ("S3", 20, 20)] {
        for (class, rate, burst) in [(0, 800 * first, 1_000 * first), (1, 600 * second, 1_500 * second)] {
            let meter = format!("*.{switch}.bridging.streamFilter.ingress.meter[{class}]");
            ini.push_str(&format!(
                "{meter}.committedInformationRate = {rate}kbps\n{meter}.committedBurstSize = {burst}B\n"
            ));
        }
    }
    ini.push_str(
        r#"*.*.eth[*].bitrate = 100Mbps
*.N*.hasOutgoingStreams = true
*.N*.hasEgressTrafficFiltering = true
*.N*.bridging.streamFilter.egress.hasDefaultPath = true
*.*.bridging.streamFilter.*.meter[*].typename = "EligibilityTimeMeter"
*.*.bridging.streamFilter.*.filter[*].typename = "EligibilityTimeFilter"
*.S*.hasIngressTrafficFiltering = true
*.S*.bridging.streamFilter.ingress.numStreams = 2
*.S*.bridging.streamFilter.ingress.classifier.mapping = {"Class A": 0, "Class B": 1}
*.S*.bridging.streamCoder.decoder.mapping = [{pcp: 6, stream: "CDT"}, {pcp: 5, stream: "Class A"}, {pcp: 4, stream: "Class B"}, {pcp: 0, stream: "rest"}]
*.*.hasEgressTrafficShaping = true
*.N*.eth[*].macLayer.queue.queue[6].typename = "EligibilityTimeQueue"
*.N*.eth[*].macLayer.queue.transmissionSelectionAlgorithm[6].typename = "EligibilityTimeGate"
*.*.eth[*].macLayer.queue.queue[4..5].typename = "EligibilityTimeQueue"
*.*.eth[*].macLayer.queue.transmissionSelectionAlgorithm[4..5].typename = "EligibilityTimeGate"
"#,
    );
    let found = read(&[("line", &ned), ("omnetpp", &ini)]).unwrap();
    assert!(!found.left_out.iter().any(|line| line.contains(" = ")), "{:#?}", found.left_out);
    within_paper(&found.text);
}

/// With a checkout of INET, its own networks: those of the validation give what their references say; of all others it is known what is not understood.
#[test]
fn networks_of_inet_are_read() {
    let Some(folder) = std::env::var_os("TAUTWIRE_INET").map(PathBuf::from) else {
        eprintln!("without TAUTWIRE_INET, a checkout of INET, its own networks are not read");
        return;
    };
    let folder_of = |path: &str| folder.join("tests/validation/tsn/trafficshaping").join(path);
    for path in ["creditbasedshaper", "asynchronousshaper/core4inet"] {
        let found = import(&folder_of(path)).unwrap();
        holds(&found.text, ["Medium", "High", "Critical"]);
    }
    within_paper(&import(&folder_of("asynchronousshaper/icct")).unwrap().text);
    for path in ["showcases/tsn", "tests/validation/tsn"] {
        for file in configurations(&folder.join(path)) {
            match import(file.parent().unwrap()) {
                Ok(found) => {
                    let loaded = saved("own", &found);
                    let is = if loaded.network.is_some() { "valid" } else { "not valid" };
                    eprintln!("{}: {is}, {} lines listed", file.display(), found.left_out.len());
                    for line in found.left_out {
                        eprintln!("    {line}");
                    }
                    for fault in loaded.diagnostics {
                        eprintln!("    {}: {}", fault.code, fault.message);
                    }
                }
                Err(why) => eprintln!("{}: {why}", file.display()),
            }
        }
    }
}

/// A description, loaded from a folder with the files that it names.
pub(crate) fn saved(name: &str, found: &Converted) -> tautwire_workbench::Loaded {
    let folder = std::env::temp_dir().join(format!("tautwire-inet-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let files = found.files.iter().map(|(file, text)| (&**file, text));
    for (file, text) in files.chain([("net.yaml", &found.text)]) {
        std::fs::write(folder.join(file), text).unwrap();
    }
    let loaded = tautwire_workbench::load(&folder.join("net.yaml")).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    loaded
}

/// All INI files below a folder.
fn configurations(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(configurations(&path));
        } else if path.file_name().is_some_and(|name| name == "omnetpp.ini") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The files of a folder.
fn import(folder: &Path) -> Result<Converted, String> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "ned") || path.ends_with("omnetpp.ini") {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            files.push((name, std::fs::read_to_string(&path).unwrap()));
        }
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    read(&files)
}
