//! Protocol stacks of hosts in a run: frames on their way through them, and the observations of applications. A host
//! without stacks has one step after its port, to the application, if that takes time.
//!
//! A frame on its way through a host is an entry of one heap, in the order (time, sequence); sequences are
//! given as entries are made, so they do not depend on how the event loop is built. Servers that take
//! frames as they come (threads, parts, the sending side of an interface) are settled when a frame reaches
//! them; the receiving side of an interface, which may prefer a class, is an event of its own. Invariant:
//! a frame that a listener's port received is received by the application, lost with a reason, or in
//! flight. A host and its servers are in `host_stacks/host.rs`, an interface in `interface.rs`, a frame's
//! way in `way.rs`. Not here: what a host is made of (`tautwire-model`), the part between port and port.

mod host;
mod interface;
mod way;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use tautwire_model::Network;
use tautwire_model::network::{self as model, NodeIndex};
use tautwire_observe::Histogram;

use crate::clock::SimTime;
use crate::plan::index;
use crate::random::{Purpose, Random};
use crate::result::{ApplicationObservation, DropReason, Observation};
use host::Host;

/// All hosts with stacks of a run.
pub(crate) struct HostStacks {
    /// Per node.
    hosts: Vec<Option<Host>>,
    due: BinaryHeap<Reverse<Entry>>,
    sequence: u64,
    /// Per stream, per listener: the application's, of a listener that receives behind its port.
    applications: Vec<Vec<Option<Application>>>,
    warm_up: SimTime,
}

/// Something that happens in a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    time: SimTime,
    sequence: u64,
    node: u32,
    step: Step,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// A frame to be sent reaches its servicing thread, or its stack if it has none.
    Send(u32),
    /// A frame to be sent reaches the interface.
    Interface(u32),
    /// The interface has handed it to the port.
    Port(u32),
    /// An interface has brought a received frame into memory.
    Received(u32),
    /// An interface interrupts, or software looks at it.
    Interrupt(u32),
    /// A received frame reaches its servicing thread, or its application if it has none.
    Take(Taken),
    /// A received frame reaches its application.
    Application(Taken),
}

/// A received frame on its way to an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Taken {
    stream: u32,
    listener: u32,
    number: u32,
    octets: u32,
    class: u8,
    created: SimTime,
    received: SimTime,
    /// Whether it is answered, if that is known at the port: there datagrams of hosts without stacks are put together.
    is_answered: Option<bool>,
}

/// Observations of an application.
#[derive(Default)]
struct Application {
    seen: ApplicationObservation,
    lost: BTreeMap<DropReason, u64>,
    last: Option<SimTime>,
    /// When it gets the last frame that is under way: a host keeps a stream's order.
    gets_last: SimTime,
}

/// Whether a stream's frames pass stacks: those of control protocols are taken at the interface.
fn reaches_applications(stream: &model::Stream) -> bool {
    !stream.traffic.is_control()
}

impl HostStacks {
    pub(crate) fn new(network: &Network, seed: u64, histograms: bool) -> Self {
        let hosts = (0..network.nodes.len()).map(|number| {
            let host = network.host(NodeIndex::at(number))?;
            let random = Random::new(seed, Purpose::HostStack, number);
            (!host.stacks.stacks.is_empty()).then(|| Host::new(host, random))
        });
        let application = |stream: &model::Stream, node: &NodeIndex| {
            (network.receives_behind_port(*node) && reaches_applications(stream)).then(|| {
                let mut application = Application::default();
                application.seen.histogram = histograms.then(Histogram::default);
                application
            })
        };
        let of_stream =
            |stream: &model::Stream| stream.listeners.iter().map(|node| application(stream, node)).collect();
        Self {
            hosts: hosts.collect(),
            due: BinaryHeap::new(),
            sequence: 0,
            applications: network.streams.iter().map(of_stream).collect(),
            warm_up: SimTime::ZERO + network.run.warm_up,
        }
    }

    /// When something happens next.
    pub(crate) fn next_due(&self) -> Option<SimTime> {
        self.due.peek().map(|Reverse(entry)| entry.time)
    }

    /// Frames to be sent that are in a host, by their places in the slab.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = u32> + '_ {
        self.due.iter().filter_map(|Reverse(entry)| match entry.step {
            Step::Send(place) | Step::Interface(place) | Step::Port(place) => Some(place),
            Step::Received(_) | Step::Interrupt(_) | Step::Take(_) | Step::Application(_) => None,
        })
    }

    fn put(&mut self, time: SimTime, node: usize, step: Step) {
        self.sequence += 1;
        self.due.push(Reverse(Entry { time, sequence: self.sequence, node: index(node), step }));
    }

    /// An application gets a frame at `at`, or behind the frame of its stream before it.
    fn put_in_order(&mut self, at: SimTime, node: usize, taken: Taken) {
        let application = self.application(&taken);
        application.gets_last = application.gets_last.max(at);
        let at = application.gets_last;
        self.put(at, node, Step::Application(taken));
    }

    fn host(&mut self, node: usize) -> &mut Host {
        self.hosts[node].as_mut().expect("a host with stacks")
    }

    fn application(&mut self, taken: &Taken) -> &mut Application {
        let of_stream = &mut self.applications[taken.stream as usize];
        of_stream[taken.listener as usize].as_mut().expect("a listener that receives behind its port")
    }

    /// Adds the observations of applications.
    ///
    /// # Panics
    /// If a received frame has vanished: that would be a fault of the simulator.
    pub(crate) fn finish(self, observation: &mut Observation) {
        let mut in_flight: BTreeMap<(u32, u32), u64> = BTreeMap::new();
        let steps = self.due.iter().filter_map(|Reverse(entry)| match &entry.step {
            Step::Take(taken) | Step::Application(taken) => Some(taken),
            Step::Send(_) | Step::Interface(_) | Step::Port(_) | Step::Received(_) | Step::Interrupt(_) => {
                None
            }
        });
        let interfaces = self.hosts.iter().flatten().flat_map(|host| &host.interfaces);
        let held = interfaces.flat_map(|interface| {
            interface.queues.iter().flatten().chain(&interface.coming).chain(&interface.untold)
        });
        for taken in steps.chain(held) {
            *in_flight.entry((taken.stream, taken.listener)).or_default() += 1;
        }
        for (stream, (observed, applications)) in
            observation.streams.iter_mut().zip(self.applications).enumerate()
        {
            let delivered = observed.delivered;
            let listeners = observed.listeners.len();
            let mut sum = 0;
            let mut all = true;
            for (listener, (place, application)) in
                observed.listeners.iter_mut().zip(applications).enumerate()
            {
                let Some(application) = application else {
                    all = false;
                    continue;
                };
                let mut seen = application.seen;
                seen.in_flight = in_flight.remove(&(index(stream), index(listener))).unwrap_or(0);
                seen.dropped = application.lost.into_iter().collect();
                let lost: u64 = seen.dropped.iter().map(|(_, count)| count).sum();
                sum += seen.received + seen.in_flight + lost;
                place.application = Some(Box::new(seen));
            }
            assert!(
                !all || listeners == 0 || sum == delivered,
                "frames in the hosts of stream {stream} are conserved"
            );
        }
    }
}
