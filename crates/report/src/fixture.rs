//! A small in-vehicle network with made-up bounds and a made-up run, for tests and examples.
//!
//! Three bridges in line, six end stations, eight streams. Nothing here is computed by the analysis
//! or the simulator: delays are drawn below their bounds, so that everything that shows results has
//! some. Streams: 0 is proven, `lidar` has a bound above its deadline, `diagnosis` is late, `logging` has no deadline and
//! loses frames.

use tautwire_analysis::{Bounds, ClassBounds, HopBounds, ListenerBounds, Method, StreamBounds, Unbounded};
use tautwire_core::{Priority, TrafficClass, TrafficClassTable};
use tautwire_model::network::{
    ArrivalCurve, AtsDevice, AtsOrganisation, ClassSettings, Clock, Delay, DelayRange, DeviceIndex,
    DeviceModel, Grouping, Hop, HostIndex, HostModel, Link, LinkIndex, Network, Node, NodeIndex, NodeKind,
    Port, PortIndex, PortLinks, RunSettings, Stage, StagePosition, Stream, Switching, TieRule, Traffic,
    TransmissionSelection, UdpFlow, Vlan, VlanMember,
};
use tautwire_observe::{DelayParts, Histogram};
use tautwire_sim::{
    DropReason, HopObservation, ListenerObservation, Observation, PortObservation, StreamObservation,
    WorstFrame,
};
use tautwire_units::{BitRate, Bits, Bytes, Duration};
use tautwire_wire::{Ipv4Address, MacAddress, VlanId};

const END_STATIONS: [(&str, usize); 6] =
    [("camera", 0), ("lidar-front", 0), ("controller", 1), ("brake", 2), ("display", 2), ("recorder", 2)];
const BRIDGES: [&str; 3] = ["front", "middle", "rear"];
/// Frames of each stream.
const FRAMES: u32 = 4_000;

/// The network, its bounds and its run.
pub(crate) fn line() -> (Network, Bounds, Observation) {
    let mut network = empty();
    let add = add_stream;
    let us = Duration::from_us;
    add(&mut network, "brake-command", 2, &[3], 7, 64, us(500), Some(us(100)));
    add(&mut network, "steering", 2, &[3, 4], 7, 128, us(1_000), Some(us(200)));
    add(&mut network, "camera", 0, &[4], 5, 1_400, us(250), Some(us(2_000)));
    add(&mut network, "lidar", 1, &[2], 5, 1_200, us(500), Some(us(350)));
    add(&mut network, "wheel-speed", 3, &[2], 4, 100, us(2_000), Some(us(1_000)));
    add(&mut network, "recording", 0, &[5], 3, 1_500, us(1_000), Some(us(5_000)));
    add(&mut network, "diagnosis", 4, &[2], 1, 600, us(4_000), Some(us(400)));
    add(&mut network, "logging", 2, &[5], 0, 1_500, us(300), None);
    let bounds = bounds(&network);
    let observation = observation(&network, &bounds);
    (network, bounds, observation)
}

fn empty() -> Network {
    let mut network = Network {
        name: "vehicle".to_owned(),
        nodes: Vec::new(),
        ports: Vec::new(),
        links: Vec::new(),
        vlans: Vec::new(),
        streams: Vec::new(),
        devices: vec![device()],
        hosts: vec![HostModel {
            name: "host".to_owned(),
            transmit: Delay::default(),
            receive: Delay::default(),
            queue_limit: 1_000,
            reassembly_buffers: 10,
            credit_charged_overhead: Bytes::new(20),
            time_stamp: None,
            is_class_blind: false,
            stacks: tautwire_model::network::HostStacks::default(),
        }],
        schedulers: Vec::new(),
        scheduler_groups: Vec::new(),
        events: Vec::new(),
        run: RunSettings {
            duration: Duration::from_s(2),
            warm_up: Duration::from_ms(10),
            stop_after_frames: None,
            seed: 1,
        },
        test_bed: None,
        network_control: None,
        tdma: None,
        srp: None,
        reserved_classes: Vec::new(),
        gptp: None,
        as6802: None,
        time_triggered: None,
        harts: None,
        sections: tautwire_model::section::Sections::default(),
    };
    for (index, (name, bridge)) in END_STATIONS.into_iter().enumerate() {
        let _ = bridge;
        add_node(&mut network, name, NodeKind::EndStation { host: HostIndex(0) }, 1, index);
    }
    for (index, name) in BRIDGES.into_iter().enumerate() {
        let kind = NodeKind::Bridge { device: DeviceIndex(0), learning: None };
        add_node(&mut network, name, kind, 5, END_STATIONS.len() + index);
    }
    let bridge = |index: usize| NodeIndex::at(END_STATIONS.len() + index);
    for (station, (_, to)) in END_STATIONS.into_iter().enumerate() {
        connect(&mut network, NodeIndex::at(station), bridge(to), BitRate::from_mbps(100));
    }
    connect(&mut network, bridge(0), bridge(1), BitRate::from_mbps(1_000));
    connect(&mut network, bridge(1), bridge(2), BitRate::from_mbps(100));
    let members =
        (0..network.ports.len()).map(|port| VlanMember { port: PortIndex::at(port), tagged: true }).collect();
    let cables = u32::try_from(network.links.len() / 2).expect("few");
    network.vlans =
        vec![Vlan { id: VlanId::new(10).expect("valid"), members, active_cables: (0..cables).collect() }];
    network
}

fn device() -> DeviceModel {
    DeviceModel {
        name: "store-and-forward".to_owned(),
        switching: Switching::StoreAndForward,
        stages: vec![Stage {
            name: "lookup".to_owned(),
            position: StagePosition::Processing,
            only_for: None,
            latency: Delay { constant: Duration::from_ns(1_500), ..Delay::default() },
            occupancy: Delay::default(),
        }],
        tie_rule: TieRule::ArrivalOrder,
        lane_limit: None,
        two_stage: false,
        credit_charged_overhead: Bytes::new(20),
        ats: AtsDevice {
            organisation: AtsOrganisation::EligibilityOrdered,
            grouping: Grouping::UpstreamClass,
            charged_overhead: Bytes::new(20),
            time_quantum: None,
            processing_delay_max: Duration::from_us(2),
            schedulers_per_group: None,
            arrival_recognition_delay_max: Duration::ZERO,
            clock_offset_variation_max: Duration::ZERO,
            clock_rate_deviation_max_ppb: 0,
        },
        stream_identification: Vec::new(),
        port_pairs: Vec::new(),
    }
}

fn add_node(network: &mut Network, name: &str, kind: NodeKind, ports: usize, index: usize) {
    let first = u32::try_from(network.ports.len()).expect("few");
    for port in 0..ports {
        let mut classes = [ClassSettings {
            selection: TransmissionSelection::StrictPriority,
            limit_frames: 128,
            discards_oldest: false,
            limit_octets: Bytes::new(262_144),
        }; 8];
        classes[5].selection = TransmissionSelection::CreditBased { idle_slope: BitRate::from_mbps(60) };
        classes[4].selection = TransmissionSelection::Ats;
        let number = u8::try_from(index * 16 + port).expect("few");
        network.ports.push(Port {
            node: NodeIndex::at(index),
            name: format!("p{}", port + 1),
            links: None,
            address: MacAddress([2, 0, 0, 0, 0, number]),
            mtu: Bytes::new(1_500),
            pvid: VlanId::DEFAULT,
            ingress_filtering: true,
            default_priority: Priority::default(),
            priority_regeneration: std::array::from_fn(|n| priority(u8::try_from(n).expect("below eight"))),
            class_table: TrafficClassTable::IDENTITY,
            classes,
            shared_buffer: None,
        });
    }
    let end = u32::try_from(network.ports.len()).expect("few");
    let clock = Clock { tolerance_ppb: 100_000, ..Clock::default() };
    network.nodes.push(Node { name: name.to_owned(), kind, ports: first..end, clock });
}

fn connect(network: &mut Network, left: NodeIndex, right: NodeIndex, rate: BitRate) {
    let [from, to] = [left, right].map(|node| {
        let mut ports = network.nodes[node.index()].ports.clone();
        PortIndex(ports.find(|port| network.ports[*port as usize].links.is_none()).expect("a free port"))
    });
    let there = LinkIndex::at(network.links.len());
    let back = LinkIndex::at(network.links.len() + 1);
    network.ports[from.index()].links = Some(PortLinks { egress: there, ingress: back });
    network.ports[to.index()].links = Some(PortLinks { egress: back, ingress: there });
    for (from, to) in [(from, to), (to, from)] {
        network.links.push(Link {
            from,
            to,
            rate,
            propagation: Duration::from_ns(50),
            phy_delay: DelayRange { min: Duration::from_ns(300), max: Duration::from_ns(400) },
            bit_error_rate: 0,
            up: true,
        });
    }
}

#[expect(clippy::too_many_arguments, reason = "a row of a table of streams")]
fn add_stream(
    network: &mut Network,
    name: &str,
    talker: usize,
    listeners: &[usize],
    class: u8,
    payload: u64,
    interval: Duration,
    deadline: Option<Duration>,
) {
    let number = u8::try_from(network.streams.len() + 1).expect("few");
    let frame = Bytes::new(payload.max(46) + 22 + 20);
    let udp = UdpFlow {
        source: Ipv4Address::new(10, 0, 0, u8::try_from(talker).expect("few") + 1),
        destination: Ipv4Address::new(239, 0, 0, number),
        source_port: 30_000,
        destination_port: 30_000 + u16::from(number),
    };
    let hops = route(network, talker, listeners, class);
    network.streams.push(Stream {
        name: name.to_owned(),
        talker: NodeIndex::at(talker),
        listeners: listeners.iter().map(|listener| NodeIndex::at(*listener)).collect(),
        destination: MacAddress([0x01, 0, 0x5e, 0, 0, number]),
        source: network.ports[talker].address,
        vlan: VlanId::new(10).expect("valid"),
        tagged: true,
        priority: priority(class),
        udp: (class != 0).then_some(udp),
        payload_min: Bytes::new(payload),
        payload_max: Bytes::new(payload),
        payload_drawn: None,
        traffic: Traffic::Periodic {
            interval,
            offset: Duration::ZERO,
            jitter: Duration::ZERO,
            burst: 1,
            drawn: false,
        },
        arrival: (class != 0).then_some(ArrivalCurve {
            rate: BitRate::per_period_ceil(frame.bits(), interval).expect("a rate"),
            burst: frame.bits(),
        }),
        deadline,
        count_late: Vec::new(),
        shaper: None,
        shaped_at_talker: false,
        started: true,
        hops,
        learned: false,
        virtual_link: None,
        time_triggered: None,
        stack: None,
        datagrams: None,
    });
}

/// The tree along the line of bridges.
fn route(network: &Network, talker: usize, listeners: &[usize], class: u8) -> Vec<Hop> {
    let mut hops: Vec<Hop> = Vec::new();
    for (index, listener) in listeners.iter().enumerate() {
        let (from, to) = (END_STATIONS[talker].1, END_STATIONS[*listener].1);
        let bridges: Vec<usize> =
            if from <= to { (from..=to).collect() } else { (to..=from).rev().collect() };
        let mut nodes = vec![talker];
        nodes.extend(bridges.iter().map(|bridge| END_STATIONS.len() + bridge));
        nodes.push(*listener);
        let mut previous = None;
        for pair in nodes.windows(2) {
            let port = port_towards(network, pair[0], pair[1]);
            let known = hops.iter().position(|hop| hop.port == port);
            let place = known.unwrap_or(hops.len());
            if known.is_none() {
                let listener = (pair[1] == *listener).then(|| u32::try_from(index).expect("few"));
                hops.push(Hop {
                    port,
                    previous,
                    class: traffic_class(class),
                    priority: priority(class),
                    tagged: true,
                    listener,
                    scheduler: None,
                });
            }
            previous = Some(u32::try_from(place).expect("few"));
        }
    }
    hops
}

fn port_towards(network: &Network, from: usize, to: usize) -> PortIndex {
    let is_right = |port: &u32| {
        let links = network.ports[*port as usize].links;
        links.is_some_and(|links| {
            network.ports[network.links[links.egress.index()].to.index()].node == NodeIndex::at(to)
        })
    };
    PortIndex(network.nodes[from].ports.clone().find(is_right).expect("neighbours"))
}

fn priority(number: u8) -> Priority {
    Priority::new(number).expect("below eight")
}

fn traffic_class(number: u8) -> TrafficClass {
    TrafficClass::new(number).expect("below eight")
}

/// The least parts of a delay at a hop.
fn least(network: &Network, stream: &Stream, hop: &Hop) -> DelayParts {
    let link = &network.links[network.ports[hop.port.index()].links.expect("connected").egress.index()];
    let frame = Bytes::new(stream.payload_max.get().max(46) + 22 + 8);
    let processing = if hop.previous.is_some() { 1_500 } else { 0 };
    DelayParts {
        processing: Duration::from_ns(processing),
        transmission: link.rate.duration_ceil(frame.bits()),
        propagation: Duration::from_ns(350),
        ..DelayParts::default()
    }
}

fn bounds(network: &Network) -> Bounds {
    let streams = network.streams.iter().map(|stream| stream_bounds(network, stream)).collect();
    let mut ports = vec![<[ClassBounds; 8]>::default(); network.ports.len()];
    for hop in network.streams.iter().flat_map(|stream| &stream.hops) {
        let class = &mut ports[hop.port.index()][hop.class.index()];
        let used = class.utilisation_ppm.unwrap_or_default();
        *class = ClassBounds {
            used: true,
            backlog: (hop.class.number() > 0).then_some(Bits::new(49_152)),
            hi_credit_bits: (hop.class.number() == 5).then_some(9_200),
            lo_credit_bits: (hop.class.number() == 5).then_some(-6_300),
            utilisation_ppm: Some(used + 83_000),
        };
    }
    Bounds { streams, ports, overflows: Vec::new() }
}

fn stream_bounds(network: &Network, stream: &Stream) -> StreamBounds {
    let class = stream.hops[0].class;
    let hops: Vec<_> = stream
        .hops
        .iter()
        .map(|hop| {
            let least = least(network, stream, hop).total();
            let wait = Duration::from_us(8 + 25 * u64::from(7 - class.number()));
            let overload = Unbounded::Overload { port: hop.port, class };
            HopBounds {
                delay: if class.number() == 0 { Err(overload) } else { Ok(least + wait) },
                delay_min: least,
                method: if class.number() == 5 {
                    Method::CreditBased
                } else {
                    Method::StrictPriorityLineShaping
                },
            }
        })
        .collect();
    let listeners = (0..stream.listeners.len())
        .map(|listener| {
            let path = path(stream, listener);
            let delays = path.iter().map(|hop| hops[*hop].delay.clone());
            ListenerBounds {
                delay: delays.reduce(|left, right| Ok(left? + right?)).expect("a path has a hop"),
                delay_min: path.iter().map(|hop| hops[*hop].delay_min).sum(),
                skew: None,
                application: None,
            }
        })
        .collect();
    StreamBounds { listeners, hops }
}

/// The hops to a listener, the talker's first.
fn path(stream: &Stream, listener: usize) -> Vec<usize> {
    let is_last = |hop: &Hop| hop.listener.is_some_and(|index| index as usize == listener);
    let mut next = stream.hops.iter().position(is_last);
    let mut path = Vec::new();
    while let Some(hop) = next {
        path.push(hop);
        next = stream.hops[hop].previous.map(|previous| previous as usize);
    }
    path.reverse();
    path
}

fn observation(network: &Network, bounds: &Bounds) -> Observation {
    let mut ports = vec![PortObservation::default(); network.ports.len()];
    let mut random = Random(1);
    let streams: Vec<_> = network
        .streams
        .iter()
        .zip(&bounds.streams)
        .map(|(stream, bounds)| stream_observation(network, stream, bounds, &mut ports, &mut random))
        .collect();
    let frame_hops = ports.iter().map(|port| port.frames).sum();
    Observation {
        mechanisms: tautwire_observe::Observed::default(),
        seed: 1,
        end: network.run.duration,
        frame_hops,
        streams,
        ports,
        reservations: Vec::new(),
        refusals: Vec::new(),
        vlan_registrations: Vec::new(),
        clocks: Vec::new(),
        harts: None,
        virtual_links: Vec::new(),
        slots: Vec::new(),
        cycles: tautwire_sim::CyclesObservation::default(),
        takeover: None,
        start_up: Vec::new(),
        network_time: None,
        trace_hash: 0x7a75_7477_6972_6501,
        test: None,
    }
}

fn stream_observation(
    network: &Network,
    stream: &Stream,
    bounds: &StreamBounds,
    ports: &mut [PortObservation],
    random: &mut Random,
) -> StreamObservation {
    let is_logging = stream.deadline.is_none();
    let mut listeners: Vec<_> = stream.listeners.iter().map(|_| ListenerObservation::default()).collect();
    let mut hops = vec![HopObservation::default(); stream.hops.len()];
    for number in 0..FRAMES {
        let mut delays = Vec::new();
        for (index, hop) in stream.hops.iter().enumerate() {
            let mut parts = least(network, stream, hop);
            let room =
                bounds.hops[index].delay.as_ref().map_or(Duration::from_us(400), |max| *max - parts.total());
            let wait = random.below(room.as_ps()) / 1_000 * random.below(850);
            parts.shaping = Duration::from_ps(if hop.class.number() == 5 { wait / 3 } else { 0 });
            parts.queueing = Duration::from_ps(wait) - parts.shaping;
            pass(&mut hops[index], &mut ports[hop.port.index()], hop, stream, &parts);
            delays.push(parts.total());
        }
        for (index, listener) in listeners.iter_mut().enumerate() {
            let delay: Duration = path(stream, index).iter().map(|hop| delays[*hop]).sum();
            listener.delay.add(delay);
            listener.histogram.get_or_insert_with(Histogram::default).add(delay);
            listener.interval.add(Duration::from_us(490) + delay);
            listener.late += u64::from(stream.deadline.is_some_and(|deadline| delay > deadline));
            if listener.worst.is_none_or(|worst| worst.delay < delay) {
                let created = Duration::from_us(500) * u64::from(number);
                listener.worst = Some(WorstFrame { number, created, delay });
            }
        }
    }
    let copies = stream.listeners.len() as u64;
    let lost = if is_logging { 37 } else { 0 };
    for listener in &mut listeners {
        listener.delivered = u64::from(FRAMES);
        listener.dropped = if is_logging { vec![(DropReason::QueueFull, lost)] } else { Vec::new() };
    }
    StreamObservation {
        created: u64::from(FRAMES) + lost,
        replicated: u64::from(FRAMES) * (copies - 1),
        delivered: u64::from(FRAMES) * copies,
        dropped: if is_logging { vec![(DropReason::QueueFull, lost)] } else { Vec::new() },
        listeners,
        hops,
        ..StreamObservation::default()
    }
}

fn pass(
    observed: &mut HopObservation,
    port: &mut PortObservation,
    hop: &Hop,
    stream: &Stream,
    parts: &DelayParts,
) {
    observed.frames += 1;
    observed.max = observed.max.max(parts.total());
    observed.sums.processing += parts.processing;
    observed.sums.shaping += parts.shaping;
    observed.sums.queueing += parts.queueing;
    observed.sums.transmission += parts.transmission;
    observed.sums.propagation += parts.propagation;
    let octets = Bytes::new(stream.payload_max.get().max(46) + 22);
    port.frames += 1;
    port.octets += octets;
    port.busy += parts.transmission;
    let class = &mut port.classes[hop.class.index()];
    class.frames += 1;
    class.backlog_frames_max = 3;
    class.backlog_octets_max = octets * 3;
    if hop.class.number() == 5 {
        class.hi_credit_bits = 7_100;
        class.lo_credit_bits = -4_400;
    }
}

/// A multiplicative congruential generator, good enough for a picture.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit.max(1)
    }
}
