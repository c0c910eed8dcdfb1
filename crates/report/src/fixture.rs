//! A small in-vehicle network with made-up bounds and a made-up run, for tests and examples.
//!
//! Three bridges in line, six end stations, eight streams. Nothing here is computed by the analysis
//! or the simulator: delays are drawn below their bounds, so that everything that shows results has
//! some. Streams: 0 is proven, `lidar` has a bound above its deadline, `diagnosis` is late, `logging` has no deadline and
//! loses frames.

use tautwire_analysis::{
    Accuracy, Bounds, ClassBounds, HopBounds, ListenerBounds, Method, StreamBounds, Unbounded,
};
use tautwire_model::Network;
use tautwire_model::network::{Hop, Stream};
use tautwire_observe::{DelayParts, Histogram};
use tautwire_sim::{
    DropReason, HopObservation, ListenerObservation, Observation, PortObservation, StreamObservation,
    WorstFrame,
};
use tautwire_units::{Bits, Bytes, Duration};

/// Its description.
pub(crate) const DESCRIPTION: &str = include_str!("fixture.yaml");
/// Frames of each stream.
const FRAMES: u32 = 4_000;

/// The network, its bounds and its run.
pub(crate) fn line() -> (Network, Bounds, Observation) {
    let loaded = tautwire_model::load_text("vehicle.yaml", DESCRIPTION);
    let network = loaded.network.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    let bounds = bounds(&network);
    let observation = observation(&network, &bounds);
    (network, bounds, observation)
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
    Bounds { streams, ports, overflows: Vec::new(), recoveries: Vec::new(), accuracy: Accuracy::default() }
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
                method: Method::HopByHop,
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
        cycle_frames: Vec::new(),
        seed: 1,
        end: network.run.duration,
        frame_hops,
        streams,
        ports,
        reservations: Vec::new(),
        refusals: Vec::new(),
        control_losses: Vec::new(),
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
    observed.sums += parts;
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
