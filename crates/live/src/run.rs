//! A run: namespaces and pairs of interfaces, sockets, readiness, threads, and the observation.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use tautwire_linux::{Clock, End, Namespace, PacketSocket, Priority, add_pair, settle_offloads};
use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, PortIndex, StreamIndex};
use tautwire_sim::{ClockObservation, DropReason, InCommon, Observation, PortObservation};
use tautwire_wire::{EthernetHeader, LiveMessage, RtmacHeader};

use crate::attach::{self, Attachment};
use crate::control::PlugIns;
use crate::counters::Counters;
use crate::floor::{self, Floor, Spread};
use crate::gptp::PrecisionTime;
use crate::message::PROBE;
use crate::node::Node;
use crate::plan::Plan;
use crate::program::StationPrograms;
use crate::record::NodeRecord;
use crate::support;
use crate::watch::{Asked, ClockNow, LiveStatus, look_on};
use crate::worker::{Capture, Device, ReceivedFrame, Shared, Station, Turn, work};

/// How long before its start a run is ready.
const AHEAD: u64 = 50_000_000;

/// How a run is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Threads; none: as many as there are processors, and at most one for each node.
    pub threads: Option<usize>,
    /// Whether threads ask for real-time priority.
    pub is_real_time: bool,
    /// Whether received frames are kept.
    pub captures: bool,
    /// Stations whose streams programs feed.
    pub attached: Vec<Attachment>,
}

/// Who gets what a run has counted.
pub type Publish<'p> = &'p (dyn Fn(&LiveStatus) + Sync);

/// Who looks on at a run.
#[derive(Clone, Copy, Default)]
pub struct Onlooker<'p> {
    /// Called when programs can send, right before the start.
    pub ready: Option<&'p dyn Fn()>,
    /// Gets about each second what was counted, in a thread of its own.
    pub publish: Option<Publish<'p>>,
}

/// Why there is no run.
#[derive(Debug)]
pub enum Cannot {
    /// The description asks for what a live run does not have.
    Refused(Vec<String>),
    /// The machine lacks something, or fails.
    Machine(String),
}

impl fmt::Display for Cannot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(reasons) => f.write_str(&reasons.join("; ")),
            Self::Machine(why) => f.write_str(why),
        }
    }
}

impl From<io::Error> for Cannot {
    fn from(error: io::Error) -> Self {
        Self::Machine(error.to_string())
    }
}

/// What a live run gave.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveRun {
    /// As that of a simulated run.
    pub observation: Observation,
    /// The floor of the machine.
    pub floor: Floor,
    /// By how much transmissions were later than their instants.
    pub lateness: Spread,
    /// Frames that a listener received after one with a greater number.
    pub out_of_order: u64,
    /// Frames that a listener received twice.
    pub duplicates: u64,
    /// Frames that are none of the description's.
    pub foreign: u64,
    /// Frames that sockets lost, as the kernel counts them.
    pub socket_lost: u64,
    /// What was counted of the programs of attached stations.
    pub programs: Vec<StationPrograms>,
    /// Frames that ports received, in order of time, if they were to be kept.
    pub received: Vec<ReceivedFrame>,
    /// Frames for which there was no room among them.
    pub not_kept: u64,
}

/// Runs a network on pairs of interfaces in namespaces of this process; `plug_ins`: mechanisms, those of the network among them.
///
/// # Errors
/// If the description asks for what a live run does not have, the machine allows no namespaces, or a system call fails.
pub fn run(network: &Network, settings: Settings, plug_ins: PlugIns) -> Result<LiveRun, Cannot> {
    run_watched(network, settings, plug_ins, Onlooker::default())
}

/// The same, with somebody who looks on.
///
/// # Errors
/// As those of [`run`].
pub fn run_watched(
    network: &Network,
    settings: Settings,
    plug_ins: PlugIns,
    onlooker: Onlooker<'_>,
) -> Result<LiveRun, Cannot> {
    let refusals = support::refusals_but(network, Some(plug_ins));
    if !refusals.is_empty() {
        return Err(Cannot::Refused(refusals));
    }
    if let Some(why) = tautwire_linux::why_no_namespaces() {
        return Err(Cannot::Machine(why));
    }
    let mut devices = attach::devices(network, &settings.attached)?;
    let plan = Plan::new(network);
    let namespaces = network.nodes.iter().map(|_| Namespace::new()).collect::<io::Result<Vec<_>>>()?;
    cable(network, &namespaces)?;
    let mut stations = Vec::with_capacity(network.nodes.len());
    let common = InCommon::default();
    for (number, namespace) in namespaces.iter().enumerate() {
        let (index, seed) = (NodeIndex::at(number), network.run.seed);
        let node = Node::new(network, &plan, index, seed).controlled((index, seed, plug_ins), &common);
        let device = devices.remove(&index);
        stations.push(Station {
            node: if device.is_some() { node.with_programs(index) } else { node },
            ports: sockets(network, index, namespace)?,
            device: device.map(Device::new),
            capture: settings.captures.then(Capture::default),
        });
    }
    check_links(network, &stations)?;
    let first = network
        .links
        .first()
        .and_then(|link| Some((socket(&stations, link.from)?, socket(&stations, link.to)?)));
    let frame = network.links.first().map(|link| probe(network, link.from, link.to)).unwrap_or_default();
    let mut floor = floor::measure(first.map(|(one, other)| (one, other, frame.as_slice())))?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    floor.threads = settings.threads.unwrap_or(cores).clamp(1, stations.len().max(1));
    let mut groups = shared_out(stations, floor.threads);
    floor.threads = groups.len();
    let times = precision_times(network, &namespaces)?;
    if let Some(ready) = onlooker.ready {
        ready();
    }
    let (priority, clocks) = go(network, (settings.is_real_time, onlooker.publish), &mut groups, times)?;
    floor.priority = priority;
    let mut run = collect(network, groups, floor)?;
    run.observation.clocks = clocks;
    Ok(run)
}

/// The name of a port's interface in its node's namespace.
fn interface(network: &Network, port: PortIndex) -> String {
    format!("port{}", network.port_number(port))
}

/// Makes a pair of interfaces for each cable.
fn cable(network: &Network, namespaces: &[Namespace]) -> io::Result<()> {
    for cable in network.links.chunks_exact(2) {
        let end = |port: PortIndex| {
            let described = &network.ports[port.index()];
            End {
                namespace: &namespaces[described.node.index()],
                name: interface(network, port),
                address: described.address.0,
                // Than the largest frame without a tag: a tag more, a tunnel's header, and what a program's frame states of itself.
                mtu: u32::try_from(described.mtu.get()).unwrap_or(u32::MAX).clamp(1500, 65_000)
                    + 4
                    + (RtmacHeader::OCTETS + LiveMessage::OCTETS) as u32,
            }
        };
        add_pair(&end(cable[0].from), &end(cable[0].to))?;
    }
    Ok(())
}

fn sockets(
    network: &Network,
    node: NodeIndex,
    namespace: &Namespace,
) -> io::Result<Vec<(PortIndex, PacketSocket)>> {
    let ports = network.nodes[node.index()].ports.clone().map(PortIndex);
    let connected = ports.filter(|port| network.ports[port.index()].links.is_some());
    connected
        .map(|port| {
            let name = interface(network, port);
            let socket = namespace.inside(|| {
                let socket = PacketSocket::open(&name)?;
                settle_offloads(&name, &socket, false)?;
                Ok(socket)
            })?;
            Ok((port, socket))
        })
        .collect()
}

fn socket<'s>(stations: &'s [Station<'_>], port: PortIndex) -> Option<&'s PacketSocket> {
    let all = stations.iter().flat_map(|station| &station.ports);
    all.into_iter().find(|(own, _)| *own == port).map(|(_, socket)| socket)
}

/// A frame from one port to the other that is no frame of a stream.
fn probe(network: &Network, from: PortIndex, to: PortIndex) -> Vec<u8> {
    let [source, destination] = [from, to].map(|port| network.ports[port.index()].address);
    let mut frame = Vec::new();
    EthernetHeader { destination, source, tag: None, ether_type: PROBE }.emit(&mut frame);
    frame.resize(60, 0);
    frame
}

/// Checks that a frame passes each link.
fn check_links(network: &Network, stations: &[Station<'_>]) -> Result<(), Cannot> {
    let clock = Clock::starting_in(0);
    for link in &network.links {
        let (Some(from), Some(to)) = (socket(stations, link.from), socket(stations, link.to)) else {
            continue;
        };
        if !floor::pass(from, to, &probe(network, link.from, link.to), clock)? {
            let name = |port: PortIndex| {
                let port = &network.ports[port.index()];
                format!("{}.{}", network.nodes[port.node.index()].name, port.name)
            };
            let text = format!("no frame passes from {} to {}", name(link.from), name(link.to));
            return Err(Cannot::Machine(text));
        }
    }
    Ok(())
}

/// Shares the nodes out, the one with the most ports first, to the group with the fewest ports.
fn shared_out(mut stations: Vec<Station<'_>>, threads: usize) -> Vec<Vec<Station<'_>>> {
    stations.sort_by_key(|station| std::cmp::Reverse(station.ports.len()));
    let mut groups: Vec<Vec<Station<'_>>> = (0..threads).map(|_| Vec::new()).collect();
    for station in stations {
        let ports = |group: &Vec<Station<'_>>| group.iter().map(|station| station.ports.len()).sum::<usize>();
        let least = groups.iter_mut().min_by_key(|group| ports(group)).expect("at least one thread");
        least.push(station);
    }
    groups.retain(|group| !group.is_empty());
    groups
}

/// gPTP of each node, if the network has it.
fn precision_times<'n>(network: &'n Network, namespaces: &[Namespace]) -> io::Result<Vec<PrecisionTime<'n>>> {
    let mut times = Vec::new();
    for (number, namespace) in namespaces.iter().enumerate() {
        let own = |port: PortIndex| interface(network, port);
        times.extend(namespace.inside(|| PrecisionTime::open_on(network, NodeIndex::at(number), own))?);
    }
    Ok(times)
}

/// Runs the threads to their end; gives their priority, and what gPTP observed at each node.
fn go(
    network: &Network,
    (is_real_time, publish): (bool, Option<Publish<'_>>),
    groups: &mut [Vec<Station<'_>>],
    times: Vec<PrecisionTime<'_>>,
) -> io::Result<(Priority, Vec<ClockObservation>)> {
    let is_over = AtomicBool::new(false);
    let threads = groups.len();
    let asked = (0..if publish.is_some() { threads } else { 0 }).map(|_| Asked::default()).collect();
    let shared = Shared { asked, ..Shared::default() };
    let rooms: Vec<Mutex<Option<ClockNow>>> = times.iter().map(|_| Mutex::default()).collect();
    let clock = Clock::starting_in(AHEAD);
    let end = network.run.duration.as_ps().div_ceil(1000);
    std::thread::scope(|scope| {
        let (is_over, shared) = (&is_over, &shared);
        let keeping: Vec<_> = times
            .into_iter()
            .zip(&rooms)
            .map(|(time, room)| {
                let room = publish.map(|_| room);
                std::thread::Builder::new()
                    .name("gptp".to_owned())
                    .spawn_scoped(scope, move || time.observe(clock, is_over, room))
            })
            .collect();
        let started: Vec<_> = groups
            .iter_mut()
            .enumerate()
            .map(|(number, stations)| {
                let turn = Turn { clock, end, number, threads, is_real_time };
                std::thread::Builder::new()
                    .name(format!("live-{number}"))
                    .spawn_scoped(scope, move || work(stations, turn, shared))
            })
            .collect();
        if let Some(publish) = publish {
            let look_on = || look_on(&shared.asked, &rooms, clock, is_over, publish);
            // Without this thread nobody looks on, which is no fault of the run.
            let _ = std::thread::Builder::new().name("watch".to_owned()).spawn_scoped(scope, look_on);
        }
        let panicked = || io::Error::other("a thread of the run panicked");
        let mut ended = Vec::new();
        for thread in started {
            ended.push(thread.and_then(|thread| thread.join().unwrap_or_else(|_| Err(panicked()))));
        }
        // Those of gPTP end with the others, however these ended.
        is_over.store(true, Ordering::Relaxed);
        let kept = keeping
            .into_iter()
            .map(|thread| thread?.join().unwrap_or_else(|_| Err(panicked())))
            .collect::<io::Result<Vec<_>>>();
        let priority =
            ended.into_iter().try_fold(Priority::RealTime, |least, one| one.map(|own| least.min(own)));
        Ok((priority?, kept?))
    })
}

/// What each node has, and the observation of all.
fn collect(network: &Network, groups: Vec<Vec<Station<'_>>>, floor: Floor) -> io::Result<LiveRun> {
    let (mut received, mut not_kept) = (Vec::new(), 0);
    let mut records = Vec::new();
    let mut control = Observation::default();
    let mut programs = Vec::new();
    for mut station in groups.into_iter().flatten() {
        let mut own = Observation::default();
        station.node.observe_control(&mut own);
        control.join_control(own);
        if let (Some(of_node), Some(device)) = (&station.node.programs, &station.device) {
            let Device { given, not_given, .. } = *device;
            programs.push(StationPrograms { given, not_given, ..of_node.seen() });
        }
        if let Some(capture) = &mut station.capture {
            received.append(&mut capture.frames);
            not_kept += capture.left_out;
        }
        records.push(NodeRecord::of(station)?);
    }
    received.sort_by_key(|frame: &ReceivedFrame| frame.at);
    let mut run = observed(network, records, floor, DropReason::SocketBufferFull);
    run.observation.join_control(control);
    programs.sort_by_key(|of_station: &StationPrograms| of_station.node);
    Ok(LiveRun { programs, received, not_kept, ..run })
}

/// The observation of nodes; `between`: why a frame is lost of which none of them knows anything.
pub(crate) fn observed(
    network: &Network,
    records: Vec<NodeRecord>,
    floor: Floor,
    between: DropReason,
) -> LiveRun {
    let mut counters = Counters::default();
    let mut ports = vec![PortObservation::default(); network.ports.len()];
    let mut in_flight: BTreeMap<u32, BTreeMap<u32, u64>> = BTreeMap::new();
    let mut socket_lost = 0;
    let mut clocks = Vec::new();
    for record in records {
        clocks.extend(record.clock);
        for (stream, hop) in record.in_flight {
            *in_flight.entry(stream).or_default().entry(hop).or_default() += 1;
        }
        for (port, seen) in record.ports {
            ports[port.index()] = seen;
        }
        socket_lost += record.socket_lost;
        counters.merge(record.counters);
    }
    let none = BTreeMap::new();
    let streams = (0..network.streams.len()).map(|number| {
        let number = StreamIndex::at(number).0;
        counters.stream(network, number, in_flight.get(&number).unwrap_or(&none), between)
    });
    let observation = Observation {
        seed: network.run.seed,
        end: network.run.duration,
        frame_hops: counters.transmissions,
        streams: streams.collect(),
        ports,
        clocks,
        ..Observation::default()
    };
    LiveRun {
        observation,
        floor,
        lateness: Spread::of(&counters.lateness, counters.lateness_max),
        out_of_order: counters.out_of_order,
        duplicates: counters.duplicates,
        foreign: counters.foreign,
        socket_lost,
        programs: Vec::new(),
        received: Vec::new(),
        not_kept: 0,
    }
}
