//! Writes a network for INET: its NED file, and the INI file with sources, priorities, classes, shapers and gates.
//!
//! Names of modules and parameters are those of INET 4.5 (`TsnDevice`, `TsnSwitch`, `Ieee8021qTimeAwareShaper` and what is in them). Every
//! stream has a UDP port of its own. Not here: what a stream or port has that these have not; it is listed.

mod switches;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::net::Ipv4Addr;

use tautwire_model::network::{Clock, Network, NodeKind, PortIndex, Stream, Traffic};
use tautwire_model::wire_bits;

use super::HEADERS;
use crate::{Converted, Text, cables, mechanisms};

/// The UDP port of the first stream.
const FIRST_PORT: usize = 1_000;

/// Most frames of a burst: each is a source of its own.
const BURST: u32 = 64;

/// Octets of the line that a scheduler of the standard counts in addition to the frame.
const CHARGED: u64 = 20;

/// Words of NED that are no names of modules.
const WORDS: [&str; 30] = [
    "import",
    "package",
    "property",
    "channel",
    "channelinterface",
    "simple",
    "module",
    "moduleinterface",
    "network",
    "like",
    "extends",
    "types",
    "submodules",
    "connections",
    "allowunconnected",
    "parameters",
    "gates",
    "for",
    "if",
    "true",
    "false",
    "this",
    "parent",
    "index",
    "sizeof",
    "exists",
    "typename",
    "default",
    "volatile",
    "object",
];

/// What is written so far.
struct Writer<'n> {
    network: &'n Network,
    /// Names of nodes in NED.
    names: Vec<String>,
    /// The number of the interface of each port with a cable.
    interfaces: BTreeMap<usize, usize>,
    ini: String,
    lacks: Converted,
}

/// A stream that INET can express.
struct Sent<'n> {
    stream: &'n Stream,
    name: &'n str,
    /// Its UDP port, and as many as a burst has frames.
    port: usize,
    burst: u32,
    interval: String,
    offset: u64,
}

impl Sent<'_> {
    /// The group of a stream with several listeners, of its own: its address ends with the UDP port.
    fn group(&self) -> Option<Ipv4Addr> {
        let [_, high, middle, low] = (self.port as u32).to_be_bytes();
        (self.stream.listeners.len() > 1).then(|| Ipv4Addr::new(239, high & 0x7f, middle, low))
    }
}

pub(super) fn write(network: &Network) -> Vec<Text> {
    let mut names: Vec<String> = Vec::new();
    for node in &network.nodes {
        names.push(identifier(&node.name, &names));
    }
    let mut interfaces = BTreeMap::new();
    let mut counts = vec![0; network.nodes.len()];
    for cable in cables(network) {
        for port in [cable.link.from, cable.link.to] {
            let count = &mut counts[network.ports[port.index()].node.index()];
            interfaces.insert(port.index(), *count);
            *count += 1;
        }
    }
    let mut writer = Writer { network, names, interfaces, ini: String::new(), lacks: Converted::default() };
    let name = identifier(&network.name, &[]);
    let ned = writer.ned(&name);
    let _ = writeln!(writer.ini, "# The configuration of the network {name}, written by Tautwire.");
    let _ = writeln!(
        writer.ini,
        "[General]\nnetwork = {name}\nsim-time-limit = {}",
        time(network.run.duration.as_ps())
    );
    let sent = writer.sent();
    writer.applications(&sent);
    writer.nodes(&sent);
    writer.rest();
    let ned = Converted { text: ned, left_out: writer.lacks.left_out, ..Converted::default() };
    vec![
        Text { file: Some(format!("{name}.ned")), converted: ned },
        Text {
            file: Some("omnetpp.ini".to_owned()),
            converted: Converted { text: writer.ini, ..Converted::default() },
        },
    ]
}

impl<'n> Writer<'n> {
    fn ned(&mut self, name: &str) -> String {
        let mut text = format!("// The network {name}, written by Tautwire.\n");
        for import in [
            "inet.networks.base.TsnNetworkBase",
            "inet.node.ethernet.EthernetLink",
            "inet.node.tsn.TsnDevice",
            "inet.node.tsn.TsnSwitch",
        ] {
            let _ = writeln!(text, "import {import};");
        }
        let _ = write!(text, "\nnetwork {name} extends TsnNetworkBase\n{{\n    submodules:\n");
        for (node, name) in self.network.nodes.iter().zip(&self.names) {
            let kind = if matches!(node.kind, NodeKind::Bridge { .. }) { "TsnSwitch" } else { "TsnDevice" };
            let _ = writeln!(text, "        {name}: {kind};");
        }
        text.push_str("    connections:\n");
        for (number, cable) in cables(self.network).enumerate() {
            let [from, to] = cable.ends.map(|port| &self.names[port.node.index()]);
            let back = &self.network.links[2 * number + 1];
            let delay = cable.link.propagation.as_ps() + cable.link.phy_delay.max.as_ps();
            let place = format!("cable {from} to {to}");
            if (back.rate, back.propagation, back.phy_delay)
                != (cable.link.rate, cable.link.propagation, cable.link.phy_delay)
            {
                self.lacks.lacks(format!("{place}: its two directions differ; the first one is written"));
            }
            if cable.link.phy_delay.min != cable.link.phy_delay.max {
                self.lacks.lacks(format!("{place}: delays of its PHYs vary; the greatest is written"));
            }
            if cable.link.bit_error_rate > 0 || back.bit_error_rate > 0 {
                self.lacks.lacks(format!("{place}: its bit errors"));
            }
            if !cable.link.up {
                self.lacks.lacks(format!("{place}: it is down"));
            }
            let _ = writeln!(
                text,
                "        {from}.ethg++ <--> EthernetLink {{ datarate = {}; length = {}; }} <--> {to}.ethg++;",
                rate(cable.link.rate.as_bps()),
                length(delay)
            );
        }
        text.push_str("}\n");
        text
    }

    /// The streams that are written; the others are listed.
    fn sent(&mut self) -> Vec<Sent<'n>> {
        let mut sent = Vec::new();
        let mut port = FIRST_PORT;
        for stream in self.network.streams.iter().filter(|stream| stream.traffic != Traffic::Protocol) {
            let name = &stream.name;
            let mut offset = 0;
            let mut number = 1;
            let interval = match stream.traffic {
                Traffic::Periodic { interval, offset: own, jitter, burst, drawn } => {
                    (offset, number) = (own.as_ps(), burst);
                    if !jitter.is_zero() {
                        self.lacks.lacks(format!("stream {name}: its jitter of {jitter}"));
                    }
                    if drawn {
                        self.lacks.lacks(format!("stream {name}: that its phase is drawn"));
                    }
                    Some(time(interval.as_ps()))
                }
                Traffic::Poisson { mean_interval } => {
                    Some(format!("exponential({})", time(mean_interval.as_ps())))
                }
                _ => None,
            };
            let without = [
                (interval.is_none(), "its traffic: sources are periodic or Poisson"),
                (number > BURST, "bursts of so many frames"),
                (stream.payload_max.get() <= HEADERS, "frames without place for IP and UDP"),
                (stream.datagrams.is_some(), "datagrams of several frames"),
                (stream.replication.is_some(), "copies over several paths"),
                (stream.virtual_link.is_some(), "a virtual link"),
                (stream.time_triggered.is_some(), "dispatch points"),
                (!stream.started, "that it starts later"),
            ];
            if let Some((_, what)) = without.into_iter().find(|(is, _)| *is) {
                self.lacks.lacks(format!("stream {name}: {what}; it is left out"));
                continue;
            }
            if stream.payload_min != stream.payload_max {
                self.lacks.lacks(format!("stream {name}: frames below the largest size"));
            }
            if let Some(deadline) = stream.deadline {
                self.lacks.lacks(format!("stream {name}: its deadline of {deadline}"));
            }
            let interval = interval.expect("others are left out");
            sent.push(Sent { stream, name, port, burst: number, interval, offset });
            port += number as usize;
        }
        sent
    }

    fn set(&mut self, path: &str, value: &str) {
        let _ = writeln!(self.ini, "*.{path} = {value}");
    }

    /// Sources, sinks, and how streams are known at their talkers.
    fn applications(&mut self, sent: &[Sent<'n>]) {
        for number in 0..self.network.nodes.len() {
            let node = self.names[number].clone();
            let own = || sent.iter().filter(|one| one.stream.talker.index() == number);
            let received =
                || sent.iter().filter(|one| one.stream.listeners.iter().any(|node| node.index() == number));
            let frames = |one: &Sent<'_>| one.burst as usize;
            let count: usize = own().map(frames).sum::<usize>() + received().map(frames).sum::<usize>();
            if count == 0 {
                continue;
            }
            self.ini.push('\n');
            self.set(&format!("{node}.numApps"), &count.to_string());
            let mut app = 0;
            for one in own() {
                for port in one.port..one.port + frames(one) {
                    let path = format!("{node}.app[{app}]");
                    self.set(&format!("{path}.typename"), "\"UdpSourceApp\"");
                    self.set(&format!("{path}.display-name"), &format!("\"{}\"", one.name));
                    let octets = one.stream.payload_max.get() - HEADERS;
                    self.set(&format!("{path}.source.packetLength"), &format!("{octets}B"));
                    self.set(&format!("{path}.source.productionInterval"), &one.interval);
                    self.set(&format!("{path}.source.initialProductionOffset"), &time(one.offset));
                    let address = match one.group() {
                        Some(group) => format!("\"{group}\""),
                        None => format!("\"{}\"", self.names[one.stream.listeners[0].index()]),
                    };
                    self.set(&format!("{path}.io.destAddress"), &address);
                    self.set(&format!("{path}.io.destPort"), &port.to_string());
                    app += 1;
                }
            }
            for one in received() {
                for port in one.port..one.port + frames(one) {
                    let path = format!("{node}.app[{app}]");
                    self.set(&format!("{path}.typename"), "\"UdpSinkApp\"");
                    self.set(&format!("{path}.display-name"), &format!("\"{}\"", one.name));
                    self.set(&format!("{path}.io.localPort"), &port.to_string());
                    if let Some(group) = one.group() {
                        self.set(&format!("{path}.io.multicastAddresses"), &format!("[\"{group}\"]"));
                    }
                    app += 1;
                }
            }
            let tagged = || own().filter(|one| one.stream.tagged);
            if tagged().next().is_some() {
                let identified: Vec<String> = tagged()
                    .flat_map(|one| (one.port..one.port + frames(one)).map(move |port| (one, port)))
                    .map(|(one, port)| {
                        format!("{{stream: \"{}\", packetFilter: expr(udp.destPort == {port})}}", one.name)
                    })
                    .collect();
                let encoded: Vec<String> = tagged()
                    .map(|one| format!("{{stream: \"{}\", pcp: {}}}", one.name, one.stream.priority.number()))
                    .collect();
                self.set(&format!("{node}.hasOutgoingStreams"), "true");
                self.list(&format!("{node}.bridging.streamIdentifier.identifier.mapping"), &identified);
                self.list(&format!("{node}.bridging.streamCoder.encoder.mapping"), &encoded);
            }
            self.egress_filters(number, sent);
        }
    }

    /// A list, an element in each line.
    fn list(&mut self, path: &str, elements: &[String]) {
        let _ = writeln!(self.ini, "*.{path} = [{}]", elements.join(",\n    "));
    }

    /// Meters of a talker that shapes its streams.
    fn egress_filters(&mut self, number: usize, sent: &[Sent<'n>]) {
        let is_own = |one: &&Sent<'_>| one.stream.talker.index() == number;
        let first = |one: &Sent<'_>| {
            one.stream.hops.iter().find(|hop| hop.previous.is_none()).map(|hop| (hop.port, hop.class.index()))
        };
        let (shaped, others): (Vec<&Sent<'_>>, Vec<&Sent<'_>>) = sent
            .iter()
            .filter(is_own)
            .partition(|one| one.stream.shaped_at_talker && one.stream.shaper.is_some() && one.stream.tagged);
        let mixed: BTreeSet<_> = others.iter().filter_map(|one| first(one)).collect();
        let mut written = Vec::new();
        for one in shaped {
            if first(one).is_some_and(|at| mixed.contains(&at)) {
                self.lacks.lacks(format!(
                    "stream {}: its shaper at the talker, in a class with other streams",
                    one.name
                ));
            } else {
                written.push(one);
            }
        }
        if written.is_empty() {
            return;
        }
        let node = self.names[number].clone();
        self.set(&format!("{node}.hasEgressTrafficFiltering"), "true");
        self.meters(&format!("{node}.bridging.streamFilter.egress"), &written, None);
        for (port, class) in written.iter().filter_map(|one| first(one)).collect::<BTreeSet<_>>() {
            self.eligible(port, class);
        }
    }

    /// Queue and gate of eligibility times.
    fn eligible(&mut self, port: PortIndex, class: usize) {
        let queue = self.queue(port.index());
        self.set(&format!("{queue}.queue[{class}].typename"), "\"EligibilityTimeQueue\"");
        self.set(
            &format!("{queue}.transmissionSelectionAlgorithm[{class}].typename"),
            "\"EligibilityTimeGate\"",
        );
    }

    /// The queue of a port with a cable.
    fn queue(&self, port: usize) -> String {
        let node = &self.names[self.network.ports[port].node.index()];
        format!("{node}.eth[{}].macLayer.queue", self.interfaces[&port])
    }

    fn meters(&mut self, path: &str, streams: &[&Sent<'n>], residence: Option<u64>) {
        self.set(&format!("{path}.numStreams"), &streams.len().to_string());
        let mapping: Vec<String> =
            streams.iter().enumerate().map(|(number, one)| format!("\"{}\": {number}", one.name)).collect();
        let _ = writeln!(self.ini, "*.{path}.classifier.mapping = {{{}}}", mapping.join(",\n    "));
        for (number, one) in streams.iter().enumerate() {
            let meter = format!("{path}.meter[{number}]");
            let shaper = one.stream.shaper.expect("it has one");
            self.set(&format!("{meter}.typename"), "\"EligibilityTimeMeter\"");
            self.set(&format!("{path}.filter[{number}].typename"), "\"EligibilityTimeFilter\"");
            self.set(
                &format!("{meter}.committedInformationRate"),
                &rate(shaper.committed_information_rate.as_bps()),
            );
            self.set(
                &format!("{meter}.committedBurstSize"),
                &format!("{}b", shaper.committed_burst_size.get()),
            );
            // What a scheduler counts of a frame beyond its IP packet.
            let counted = wire_bits(one.stream.payload_max, true).get();
            let overhead = counted - 8 * one.stream.payload_max.get();
            self.set(&format!("{meter}.packetOverheadLength"), &format!("{overhead}b"));
            if let Some(time_) = residence {
                self.set(&format!("{meter}.maxResidenceTime"), &time(time_));
            }
        }
    }

    /// What no line of the files is about.
    fn rest(&mut self) {
        let network = self.network;
        for key in mechanisms(network) {
            self.lacks.lacks(format!("`{key}`"));
        }
        if network.nodes.len() != network.links.len() / 2 + 1 {
            self.lacks.lacks("ways of streams: the network has circles, and INET takes shortest ways");
        }
        if network.cyclic.is_some() {
            self.lacks.lacks("`cyclic-queuing-and-forwarding`");
        }
        for (node, name) in network.nodes.iter().zip(&self.names) {
            if node.name != *name {
                self.lacks.lacks(format!("node {}: its name; in the files it is {name}", node.name));
            }
            if node.clock != Clock::default() {
                self.lacks.lacks(format!("node {}: its clock", node.name));
            }
        }
        for host in &network.hosts {
            let is_late = !host.transmit.longest(1_522).is_zero() || !host.receive.longest(1_522).is_zero();
            if is_late || !host.stacks.stacks.is_empty() {
                self.lacks.lacks(format!("host {}: its delays", host.name));
            }
        }
    }
}

/// A name as NED takes it, unlike others.
fn identifier(name: &str, known: &[String]) -> String {
    let mut own: String =
        name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect();
    if own.chars().next().is_none_or(|letter| letter.is_ascii_digit()) || WORDS.contains(&own.as_str()) {
        own.insert_str(0, "n_");
    }
    while known.contains(&own) {
        own.push('_');
    }
    own
}

/// A time in the largest unit of which it is a whole number.
fn time(ps: u64) -> String {
    let units = [("s", 1_000_000_000_000), ("ms", 1_000_000_000), ("us", 1_000_000), ("ns", 1_000)];
    let unit = units.into_iter().find(|(_, unit)| ps.is_multiple_of(*unit));
    unit.map_or_else(|| format!("{ps}ps"), |(name, unit)| format!("{}{name}", ps / unit))
}

/// A rate in the largest unit of which it is a whole number.
fn rate(bps: u64) -> String {
    let units = [("Gbps", 1_000_000_000), ("Mbps", 1_000_000), ("kbps", 1_000)];
    let unit = units.into_iter().find(|(_, unit)| bps.is_multiple_of(*unit));
    unit.map_or_else(|| format!("{bps}bps"), |(name, unit)| format!("{}{name}", bps / unit))
}

/// The length of a cable with a delay in picoseconds: INET has 5 ns a metre.
fn length(ps: u64) -> String {
    match ps {
        ps if ps.is_multiple_of(5_000) => format!("{}m", ps / 5_000),
        ps => format!("{}.{}mm", ps / 5, 2 * (ps % 5)),
    }
}
