//! Protocol stacks of hosts in a run: servicing threads, parts, interfaces, interrupts.
//!
//! A frame on its way through a host is an entry of one heap, in the order (time, sequence); sequences are
//! given as entries are made, so they do not depend on how the event loop is built. Servers that take
//! frames as they come (threads, parts, the sending side of an interface) are settled when a frame reaches
//! them; the receiving side of an interface, which may prefer a class, is an event of its own. Invariant:
//! a frame that a listener's port received is received by the application, lost with a reason, or in
//! flight. Not here: what a host is made of (`tautwire-model`), the part between port and port.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use tautwire_model::Network;
use tautwire_model::network::{
    self as model, Delay, HostModel, Moderation, NodeIndex, Pace, ReceptionOrder, StackPart, Tail,
};
use tautwire_observe::Histogram;
use tautwire_units::Duration;

use crate::clock::{LocalClock, SimTime};
use crate::engine::Engine;
use crate::frame::{Slot, octets_of};
use crate::plan::index;
use crate::random::{Purpose, Random};
use crate::recorder::Recorder;
use crate::result::{ApplicationObservation, DropReason, Observation};

/// A chance of one.
const CERTAIN: u64 = 1_000_000_000_000_000_000;

/// All hosts with stacks of a run.
pub(crate) struct HostStacks {
    /// Per node.
    hosts: Vec<Option<Host>>,
    due: BinaryHeap<Reverse<Entry>>,
    sequence: u64,
    /// Per stream, per listener: the application's, of a listener with stacks.
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
}

/// A host.
struct Host {
    clock_read: Delay,
    threads: Vec<Thread>,
    interfaces: Vec<Interface>,
    stacks: Vec<Stack>,
    /// Per stream: what of it waits for the thread to send it, for the interface, and for the thread to
    /// take it.
    sockets: BTreeMap<u32, [Waiting; 3]>,
    random: Random,
}

/// Octets that wait, each until a known time.
#[derive(Default)]
struct Waiting {
    held: VecDeque<(SimTime, u64)>,
    octets: u64,
}

struct Thread {
    model: model::ServicingThread,
    free_at: SimTime,
}

struct Stack {
    model: model::ProtocolStack,
    sending: Vec<PartState>,
    receiving: Vec<PartState>,
}

#[derive(Clone, Copy, Default)]
struct PartState {
    free_at: SimTime,
    last_out: SimTime,
}

struct Interface {
    model: model::HostInterface,
    sent_at: SimTime,
    /// Received frames that wait, per class; the first queue for all where it knows no classes.
    queues: [VecDeque<Taken>; 8],
    /// What is being brought in.
    coming: Option<Taken>,
    /// In memory, untold.
    untold: Vec<Taken>,
    armed: bool,
    interrupted: Option<SimTime>,
    /// Software looks at frames from the first time on, until the second.
    looking: (SimTime, SimTime),
    /// Octets since the last interrupt.
    told_octets: u64,
    bulk: bool,
    phase: Duration,
}

/// What an application observes.
#[derive(Default)]
struct Application {
    seen: ApplicationObservation,
    lost: BTreeMap<DropReason, u64>,
    last: Option<SimTime>,
}

impl HostStacks {
    pub(crate) fn new(network: &Network, seed: u64, histograms: bool) -> Self {
        let hosts = (0..network.nodes.len()).map(|number| {
            let host = network.host(NodeIndex::at(number))?;
            let random = Random::new(seed, Purpose::HostStack, number);
            (!host.stacks.stacks.is_empty()).then(|| Host::new(host, random))
        });
        let application = |node: &NodeIndex| {
            network.has_stacks(*node).then(|| {
                let mut application = Application::default();
                application.seen.histogram = histograms.then(Histogram::default);
                application
            })
        };
        let of_stream = |stream: &model::Stream| stream.listeners.iter().map(application).collect();
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

    fn host(&mut self, node: usize) -> &mut Host {
        self.hosts[node].as_mut().expect("a host with stacks")
    }

    fn application(&mut self, taken: &Taken) -> &mut Application {
        let of_stream = &mut self.applications[taken.stream as usize];
        of_stream[taken.listener as usize].as_mut().expect("a listener with stacks")
    }

    /// Puts what the applications observed to the rest.
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

impl Host {
    fn new(host: &HostModel, mut random: Random) -> Self {
        let stacks = &host.stacks;
        let interface = |model: &model::HostInterface| Interface {
            model: model.clone(),
            sent_at: SimTime::ZERO,
            queues: Default::default(),
            coming: None,
            untold: Vec::new(),
            armed: false,
            interrupted: None,
            looking: (SimTime::ZERO, SimTime::ZERO),
            told_octets: 0,
            bulk: false,
            phase: match model.moderation {
                Moderation::Polled { interval } => random.span_up_to(interval),
                _ => Duration::ZERO,
            },
        };
        Self {
            clock_read: stacks.clock_read,
            interfaces: stacks.interfaces.iter().map(interface).collect(),
            threads: stacks
                .threads
                .iter()
                .map(|model| Thread { model: model.clone(), free_at: SimTime::ZERO })
                .collect(),
            stacks: stacks
                .stacks
                .iter()
                .map(|model| Stack {
                    sending: vec![PartState::default(); model.transmit.len()],
                    receiving: vec![PartState::default(); model.receive.len()],
                    model: model.clone(),
                })
                .collect(),
            sockets: BTreeMap::new(),
            random,
        }
    }

    /// A thread serves a frame that reaches it at `now`: when it begins, and when it is done.
    fn serve(&mut self, thread: u32, now: SimTime, octets: u64) -> (SimTime, SimTime) {
        let thread = &mut self.threads[thread as usize];
        let mut start = now.max(thread.free_at);
        if thread.free_at <= now {
            start = start + self.random.delay(&thread.model.wake_up, octets);
            start = start + drawn_tail(&mut self.random, thread.model.tail, octets);
        }
        thread.free_at = start + self.random.delay(&thread.model.service, octets);
        (start, thread.free_at)
    }

    /// A frame passes the parts of a stack on the way out.
    fn pass_out(&mut self, stack: u32, time: SimTime, octets: u64) -> SimTime {
        let stack = &mut self.stacks[stack as usize];
        pass(&stack.model.transmit, &mut stack.sending, time, octets, &mut self.random).0
    }

    /// A frame passes the parts of a stack on the way in: when it is out, and when the stack is free.
    fn pass_in(&mut self, stack: u32, time: SimTime, octets: u64) -> (SimTime, SimTime) {
        let stack = &mut self.stacks[stack as usize];
        pass(&stack.model.receive, &mut stack.receiving, time, octets, &mut self.random)
    }
}

/// When a frame has passed parts, and when the last of them is free again.
fn pass(
    parts: &[StackPart],
    states: &mut [PartState],
    mut time: SimTime,
    octets: u64,
    random: &mut Random,
) -> (SimTime, SimTime) {
    let mut free = time;
    for (part, state) in parts.iter().zip(states) {
        let start = time.max(state.free_at);
        state.free_at = start + random.delay(&part.occupancy, octets);
        time = (start + random.delay(&part.latency, octets)).max(state.last_out);
        state.last_out = time;
        free = free.max(state.free_at);
    }
    (time, free)
}

fn drawn_tail(random: &mut Random, tail: Option<Tail>, octets: u64) -> Duration {
    match tail {
        Some(tail) if random.up_to(CERTAIN - 1) < tail.chance => random.delay(&tail.delay, octets),
        _ => Duration::ZERO,
    }
}

impl Waiting {
    /// Forgets what no longer waits.
    fn settle(&mut self, now: SimTime) {
        while let Some((_, octets)) = self.held.pop_front_if(|(until, _)| *until <= now) {
            self.octets -= octets;
        }
    }

    fn hold(&mut self, until: SimTime, octets: u64) {
        self.held.push_back((until, octets));
        self.octets += octets;
    }
}

impl Interface {
    /// Takes a frame that its port received, if there is room.
    fn accept(&mut self, taken: Taken) -> bool {
        let queue = match self.model.reception_order {
            ReceptionOrder::Fifo => 0,
            ReceptionOrder::Classes => usize::from(taken.class),
        };
        let queue = &mut self.queues[queue];
        let ring = self.model.receive_ring as usize;
        if queue.len() >= ring {
            let before: u64 = queue.range(ring..).map(|frame| u64::from(frame.octets)).sum();
            if before + u64::from(taken.octets) > self.model.receive_fifo.get() {
                return false;
            }
        }
        queue.push_back(taken);
        true
    }

    /// The frame to be brought in next.
    fn next(&mut self) -> Option<Taken> {
        self.queues.iter_mut().rev().find_map(VecDeque::pop_front)
    }

    /// When software is to be told of a frame that is in memory since `now`.
    fn told_at(&self, now: SimTime, clock: &LocalClock) -> SimTime {
        let interval = |pace: Pace| match pace.bulk {
            Some(bulk) if self.bulk => bulk.interval,
            _ => pace.interval,
        };
        match self.model.moderation {
            Moderation::None => now,
            Moderation::Delayed(pace) => now + interval(pace),
            Moderation::Throttled(pace) => {
                self.interrupted.map_or(now, |last| now.max(last + interval(pace)))
            }
            Moderation::Polled { interval } => {
                let local = clock.local(now).as_ps();
                let step = interval.as_ps();
                let phase = self.phase.as_ps() % step;
                let over = (local + step - phase) % step;
                let wait = if over == 0 { 0 } else { step - over };
                clock.true_at(tautwire_units::Instant::from_ps(local + wait)).max(now)
            }
        }
    }

    /// Adapts the pace to what the last interrupt told of.
    fn adapt(&mut self) {
        let (Moderation::Delayed(Pace { bulk: Some(bulk), .. })
        | Moderation::Throttled(Pace { bulk: Some(bulk), .. })) = self.model.moderation
        else {
            return;
        };
        if self.told_octets > bulk.above.get() {
            self.bulk = true;
        } else if self.told_octets < bulk.below.get() {
            self.bulk = false;
        }
    }
}

impl<R: Recorder> Engine<'_, R> {
    fn stacks(&mut self) -> &mut HostStacks {
        &mut self.driven().stacks
    }

    /// Gives a frame that an application creates now to the stack of its node; false if there is none.
    pub(crate) fn send_through_stack(&mut self, place: u32, node: usize) -> bool {
        if self.driven().stacks.hosts[node].is_none() {
            return false;
        }
        let (now, octets) = (self.now, self.octets_to_send(place));
        let stacks = self.stacks();
        let host = stacks.host(node);
        let at = now + host.random.delay(&host.clock_read.clone(), octets);
        stacks.put(at, node, Step::Send(place));
        self.arm_timeline();
        true
    }

    fn octets_to_send(&self, place: u32) -> u64 {
        let slot = self.slab.get(place);
        let overhead = self.talkers[slot.stream as usize].overhead;
        u64::from(octets_of(slot.payload, overhead).get())
    }

    /// Gives a frame that a listener's port received now to the stack of its node.
    pub(crate) fn take_into_stack(&mut self, slot: &Slot, node: NodeIndex, listener: u32) {
        let hop = &self.plan.hops[slot.hop as usize];
        let taken = Taken {
            stream: slot.stream,
            listener,
            number: slot.number,
            octets: u32::from(octets_of(slot.payload, hop.overhead).get()),
            class: hop.class,
            created: slot.created,
            received: self.now,
        };
        let node = node.index();
        let Some(interface) = self.interface_of(taken.stream, node) else {
            let out = self.pass_stack(node, &taken, self.now).0;
            return self.stacks().put(out, node, Step::Take(taken));
        };
        let host = self.stacks().host(node);
        if !host.interfaces[interface as usize].accept(taken) {
            return self.lose_in_host(&taken, DropReason::InterfaceFull);
        }
        self.bring_in(node, interface);
    }

    /// The stack that a stream uses at a node.
    fn stack_at(&self, stream: u32, node: usize) -> u32 {
        let host = self.network.host(NodeIndex::at(node)).expect("a host with stacks");
        host.stacks.stack_of(&self.network.streams[stream as usize]).expect("a host with stacks")
    }

    fn interface_of(&self, stream: u32, node: usize) -> Option<u32> {
        let host = self.network.host(NodeIndex::at(node)).expect("a host with stacks");
        host.stacks.stacks[self.stack_at(stream, node) as usize].interface
    }

    fn pass_stack(&mut self, node: usize, taken: &Taken, time: SimTime) -> (SimTime, SimTime) {
        let stack = self.stack_at(taken.stream, node);
        self.stacks().host(node).pass_in(stack, time, u64::from(taken.octets))
    }

    /// An interface that is free begins to bring in its next frame.
    fn bring_in(&mut self, node: usize, number: u32) {
        let now = self.now;
        let stacks = self.stacks();
        let host = stacks.host(node);
        let interface = &mut host.interfaces[number as usize];
        if interface.coming.is_some() {
            return;
        }
        let Some(taken) = interface.next() else { return };
        interface.coming = Some(taken);
        let time = now + host.random.delay(&interface.model.receive, u64::from(taken.octets));
        stacks.put(time, node, Step::Received(number));
    }

    /// Does all that is due in hosts.
    pub(crate) fn drive_stacks(&mut self) {
        let now = self.now;
        while let Some(Reverse(entry)) = self.stacks().due.peek().copied()
            && entry.time <= now
        {
            self.stacks().due.pop();
            let node = entry.node as usize;
            match entry.step {
                Step::Send(place) => self.send(node, place),
                Step::Interface(place) => self.send_by_interface(node, place),
                Step::Port(place) => self.send_by_port(node, place),
                Step::Received(interface) => self.received(node, interface),
                Step::Interrupt(interface) => self.interrupt(node, interface),
                Step::Take(taken) => self.take(node, taken),
                Step::Application(taken) => self.hand_to_application(node, taken),
            }
        }
    }

    /// Whether a node has been up since `time`.
    fn was_up(&self, node: usize, time: SimTime) -> bool {
        let node = &self.nodes[node];
        node.up && time >= node.up_since
    }

    fn send(&mut self, node: usize, place: u32) {
        let (now, octets) = (self.now, self.octets_to_send(place));
        let stream = self.slab.get(place).stream;
        let stack = self.stack_at(stream, node);
        let stacks = self.stacks();
        let host = stacks.host(node);
        let model = &host.stacks[stack as usize].model;
        let (thread, interface, limit) = (model.thread, model.interface, model.task_queue);
        let mut at = now;
        if let Some(thread) = thread {
            let waiting = &mut host.sockets.entry(stream).or_default()[0];
            waiting.settle(now);
            if waiting.held.len() >= limit as usize {
                return self.drop_frame(place, DropReason::TaskQueueFull);
            }
            let (start, done) = host.serve(thread, now, octets);
            host.sockets.entry(stream).or_default()[0].hold(start, octets);
            at = done;
        }
        let out = host.pass_out(stack, at, octets);
        let step = if interface.is_some() { Step::Interface(place) } else { Step::Port(place) };
        stacks.put(out, node, step);
    }

    fn send_by_interface(&mut self, node: usize, place: u32) {
        let (now, octets) = (self.now, self.octets_to_send(place));
        let stream = self.slab.get(place).stream;
        let stack = self.stack_at(stream, node);
        let stacks = self.stacks();
        let host = stacks.host(node);
        let model = &host.stacks[stack as usize].model;
        let (number, limit) = (model.interface.expect("it has one"), model.socket_buffer.get());
        let waiting = &mut host.sockets.entry(stream).or_default()[1];
        waiting.settle(now);
        if waiting.octets + octets > limit {
            return self.drop_frame(place, DropReason::SocketBufferFull);
        }
        let interface = &mut host.interfaces[number as usize];
        let start = now.max(interface.sent_at);
        waiting.hold(start, octets);
        let done = start + host.random.delay(&interface.model.transmit, octets);
        interface.sent_at = done;
        stacks.put(done, node, Step::Port(place));
    }

    fn send_by_port(&mut self, node: usize, place: u32) {
        let slot = self.slab.get(place);
        if !self.was_up(node, slot.received) {
            return self.drop_frame(place, DropReason::NodeDown);
        }
        match self.plan.talker_aim(slot.stream as usize) {
            Some(aim) => self.hand_down(place, node, self.now, aim),
            None => self.drop_frame(place, DropReason::NoRoute),
        }
    }

    /// An interface has brought a frame into memory.
    fn received(&mut self, node: usize, number: u32) {
        let now = self.now;
        let clock = self.nodes[node].clock;
        let stacks = self.stacks();
        let interface = &mut stacks.host(node).interfaces[number as usize];
        let taken = interface.coming.take().expect("it was bringing one in");
        if now < interface.looking.1 {
            // Software is still looking at what came before.
            let from = interface.looking.0.max(now);
            self.look_at(node, number, &taken, from);
        } else {
            interface.untold.push(taken);
            if !interface.armed {
                interface.adapt();
                interface.told_octets = 0;
                interface.armed = true;
                let at = interface.told_at(now, &clock);
                if at == now {
                    self.interrupt(node, number);
                } else {
                    stacks.put(at, node, Step::Interrupt(number));
                }
            }
        }
        self.bring_in(node, number);
    }

    /// Software hears of what an interface has brought in.
    fn interrupt(&mut self, node: usize, number: u32) {
        let now = self.now;
        let host = self.stacks().host(node);
        let interface = &mut host.interfaces[number as usize];
        interface.armed = false;
        interface.interrupted = Some(now);
        let untold = std::mem::take(&mut interface.untold);
        let octets = untold.first().map_or(0, |taken| u64::from(taken.octets));
        let from = now + drawn_tail(&mut host.random, interface.model.tail, octets);
        interface.looking = (from, from);
        for taken in &untold {
            self.look_at(node, number, taken, from);
        }
    }

    /// Software takes a frame from an interface.
    fn look_at(&mut self, node: usize, number: u32, taken: &Taken, from: SimTime) {
        let (out, free) = self.pass_stack(node, taken, from);
        let stacks = self.stacks();
        let interface = &mut stacks.host(node).interfaces[number as usize];
        interface.told_octets += u64::from(taken.octets);
        interface.looking.1 = interface.looking.1.max(free);
        stacks.put(out, node, Step::Take(*taken));
    }

    fn take(&mut self, node: usize, taken: Taken) {
        if !self.was_up(node, taken.received) {
            return self.lose_in_host(&taken, DropReason::NodeDown);
        }
        let (now, octets) = (self.now, u64::from(taken.octets));
        let stack = self.stack_at(taken.stream, node);
        let stacks = self.stacks();
        let host = stacks.host(node);
        let model = &host.stacks[stack as usize].model;
        let (thread, limit) = (model.thread, model.socket_buffer.get());
        let mut at = now;
        if let Some(thread) = thread {
            let waiting = &mut host.sockets.entry(taken.stream).or_default()[2];
            waiting.settle(now);
            if waiting.octets + octets > limit {
                return self.lose_in_host(&taken, DropReason::SocketBufferFull);
            }
            let (start, done) = host.serve(thread, now, octets);
            host.sockets.entry(taken.stream).or_default()[2].hold(start, octets);
            at = done;
        }
        let clock_read = host.clock_read;
        let at = at + host.random.delay(&clock_read, octets);
        stacks.put(at, node, Step::Application(taken));
    }

    fn hand_to_application(&mut self, node: usize, taken: Taken) {
        if !self.was_up(node, taken.received) {
            return self.lose_in_host(&taken, DropReason::NodeDown);
        }
        let now = self.now;
        let delay = now.since(taken.created);
        self.recorder.handed_over(now, taken.stream, taken.listener, taken.number, delay);
        let stacks = self.stacks();
        let warm_up = stacks.warm_up;
        let application = stacks.application(&taken);
        application.seen.received += 1;
        application.seen.max = application.seen.max.max(delay);
        if taken.created >= warm_up {
            application.seen.delay.add(delay);
            if let Some(histogram) = &mut application.seen.histogram {
                histogram.add(delay);
            }
            if let Some(last) = application.last.replace(now) {
                application.seen.interval.add(now.saturating_since(last));
            }
        }
        self.answer(taken.stream, NodeIndex::at(node), taken.created);
    }

    /// A frame is lost between a listener's port and its application.
    fn lose_in_host(&mut self, taken: &Taken, reason: DropReason) {
        self.recorder.lost_in_host(self.now, taken.stream, taken.listener, taken.number, reason);
        *self.stacks().application(taken).lost.entry(reason).or_default() += 1;
    }
}
