//! A frame's path through the stacks of a host, step by step: out to a port, and in to an application.
//!
//! Not here: the heap of what is on its way (`host_stacks/`), the servers (`host.rs`, `interface.rs`).

use std::cmp::Reverse;

use tautwire_model::network::NodeIndex;

use super::host::drawn_tail;
use super::{HostStacks, Step, Taken};
use crate::clock::SimTime;
use crate::engine::Engine;
use crate::frame::{Slot, octets_of};
use crate::recorder::Recorder;
use crate::result::DropReason;

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    fn stacks(&mut self) -> &mut HostStacks {
        &mut self.plugged().stacks
    }

    /// Gives a frame that an application creates now to the stack of its node; false if there is none.
    pub(crate) fn send_through_stack(&mut self, place: u32, node: usize) -> bool {
        if self.plugged().stacks.hosts[node].is_none() {
            return false;
        }
        let (now, octets) = (self.now, self.octets_to_send(place));
        let stream = self.slab.get(place).stream;
        let stacks = self.stacks();
        let at = stacks.host(node).read_clock(stream, now, octets);
        stacks.put(at, node, Step::Send(place));
        self.arm_timeline();
        true
    }

    fn octets_to_send(&self, place: u32) -> u64 {
        let slot = self.slab.get(place);
        let overhead = self.talkers[slot.stream as usize].overhead;
        u64::from(octets_of(slot.payload, overhead).get())
    }

    /// A frame that a listener's port received now.
    fn taken(&self, slot: &Slot, listener: u32, is_answered: Option<bool>) -> Taken {
        let hop = &self.plan.hops[slot.hop as usize];
        Taken {
            stream: slot.stream,
            listener,
            number: slot.number,
            octets: u32::from(octets_of(slot.payload, hop.overhead).get()),
            class: hop.class,
            created: slot.created,
            received: self.now,
            is_answered,
        }
    }

    /// Gives a frame that the port of a listener without stacks received now to the application, at `at` or behind the
    /// frame of its stream before it.
    pub(crate) fn take_from_port(
        &mut self,
        slot: &Slot,
        (node, listener): (NodeIndex, u32),
        at: SimTime,
        is_answered: bool,
    ) {
        let taken = self.taken(slot, listener, Some(is_answered));
        self.stacks().put_in_order(at, node.index(), taken);
    }

    /// Gives a frame that a listener's port received now to the stack of its node.
    pub(crate) fn take_into_stack(&mut self, slot: &Slot, node: NodeIndex, listener: u32) {
        let taken = self.taken(slot, listener, None);
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

    /// A free interface starts to transfer its next frame.
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
                return self.drop_at_talker(place, DropReason::TaskQueueFull);
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
            return self.drop_at_talker(place, DropReason::SocketBufferFull);
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
            return self.drop_at_talker(place, DropReason::NodeDown);
        }
        match self.plan.talker_aim(slot.stream as usize) {
            Some(aim) => self.hand_down(place, node, self.now, aim),
            None => self.drop_at_talker(place, DropReason::NoRoute),
        }
    }

    /// An interface has brought a frame into memory.
    fn received(&mut self, node: usize, number: u32) {
        let now = self.now;
        let clock = self.nodes[node].clock;
        let stacks = self.stacks();
        let host = stacks.host(node);
        let interface = &mut host.interfaces[number as usize];
        let taken = interface.coming.take().expect("it was bringing one in");
        if now < interface.looking.1 {
            // Software is still looking at what came before.
            let from = interface.looking.0.max(now);
            self.look_at(node, number, &taken, from);
        } else {
            interface.untold.push(taken);
            if !interface.armed {
                interface.adapt();
                interface.octets_since_interrupt = 0;
                interface.armed = true;
                let at = interface.interrupt_at(now, &clock, &mut host.random);
                if at == now {
                    self.interrupt(node, number);
                } else {
                    stacks.put(at, node, Step::Interrupt(number));
                }
            }
        }
        self.bring_in(node, number);
    }

    /// Software is notified of frames that an interface has brought into memory.
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
        interface.octets_since_interrupt += u64::from(taken.octets);
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
        let at = at + host.read_time(octets);
        stacks.put_in_order(at, node, taken);
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
            application.seen.processing += now.since(taken.received);
            application.seen.processing_max = application.seen.processing_max.max(now.since(taken.received));
            if let Some(histogram) = &mut application.seen.histogram {
                histogram.add(delay);
            }
            if let Some(last) = application.last.replace(now) {
                application.seen.interval.add(now.saturating_since(last));
            }
        }
        let is_answered = taken.is_answered.unwrap_or_else(|| {
            self.reassemble(taken.stream, taken.listener, taken.number, taken.created, now)
        });
        if is_answered {
            self.answer(taken.stream, NodeIndex::at(node), taken.created, taken.number);
        }
    }

    /// A frame is lost between a listener's port and its application.
    fn lose_in_host(&mut self, taken: &Taken, reason: DropReason) {
        self.recorder.lost_in_host(self.now, taken.stream, taken.listener, taken.number, reason);
        *self.stacks().application(taken).lost.entry(reason).or_default() += 1;
    }
}
