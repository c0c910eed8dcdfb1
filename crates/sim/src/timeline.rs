//! The run's timeline: streams, links and nodes start, stop, fail and return; parameters change.

use tautwire_model::network::{LinkIndex, NodeIndex, ShaperSettings, StreamIndex, TimelineAction};
use tautwire_units::Instant;

use crate::clock::SimTime;
use crate::control::Fault;
use crate::engine::Engine;
use crate::node::deviation_ppb;
use crate::plan::index;
use crate::random::{Purpose, Random};
use crate::recorder::Recorder;
use crate::result::DropReason;
use crate::talker::TalkerShaper;
use crate::time_triggered::is_locked;

/// The timeline's entity.
const TIMELINE: u32 = 0;

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    /// Arms the next step.
    pub(crate) fn arm_timeline(&mut self) {
        let mut next = self.network.events.get(self.next_event).map(|event| SimTime::ZERO + event.at);
        if PLUGGED {
            next = next.into_iter().chain(self.plugged_next()).min();
        }
        match next {
            Some(time) => self.agenda.set(TIMELINE, time),
            None => self.agenda.clear(TIMELINE),
        }
    }

    /// The next step is due.
    pub(crate) fn take_timeline(&mut self) {
        let network = self.network;
        if PLUGGED
            && network.events.get(self.next_event).is_none_or(|event| SimTime::ZERO + event.at > self.now)
        {
            return self.act_plugged();
        }
        let event = &network.events[self.next_event];
        self.next_event += 1;
        self.arm_timeline();
        match &event.action {
            TimelineAction::StartStream(stream) => self.start_stream(*stream, None),
            TimelineAction::StopStream(stream) => self.talkers[stream.index()].running = false,
            TimelineAction::CutCable(cable) => {
                self.cut_link(LinkIndex(cable * 2));
                self.cut_link(LinkIndex(cable * 2 + 1));
                if PLUGGED {
                    self.links_verify();
                    self.controls_link(*cable);
                }
            }
            TimelineAction::MendCable(cable) => {
                for link in [cable * 2, cable * 2 + 1] {
                    self.links[link as usize].up = true;
                }
                if PLUGGED {
                    self.links_verify();
                    self.controls_link(*cable);
                }
            }
            TimelineAction::StopNode(node) => {
                self.stop_node(*node);
                if PLUGGED {
                    self.plugged().repeaters.forget(*node);
                    self.forget_at(node.index());
                    self.links_verify();
                    self.controls_node(*node, false);
                    self.arm_timeline();
                }
            }
            TimelineAction::StartNode(node) => {
                let state = &mut self.nodes[node.index()];
                state.up = true;
                state.up_since = self.now;
                if PLUGGED {
                    self.start_gates(*node);
                    self.start_receptions(*node);
                    self.links_verify();
                    self.controls_node(*node, true);
                    self.arm_timeline();
                }
            }
            TimelineAction::Babble(node, interval) => {
                if PLUGGED {
                    self.controls_fault(*node, Fault::Babble(Some(*interval)));
                }
            }
            TimelineAction::Mistime(node, by) => {
                if PLUGGED {
                    self.controls_fault(*node, Fault::Mistime(*by));
                }
            }
            TimelineAction::StopBabbling(node) => {
                if PLUGGED {
                    self.controls_fault(*node, Fault::Babble(None));
                }
            }
            TimelineAction::RepeatFrame(node, stream, interval) => {
                self.set_repeating((*node, *stream), Some(*interval));
            }
            TimelineAction::StopRepeating(node, stream) => self.set_repeating((*node, *stream), None),
            TimelineAction::ChangeTraffic(stream, traffic, arrival) => {
                // A change has a random stream of its own: its number counts the timeline.
                let name = stream.index() + (self.next_event << 24);
                let random = Random::new(self.seed, Purpose::Source, name);
                let start = self.talker_time(*stream);
                let source = &mut self.talkers[stream.index()].source;
                source.change(traffic.clone(), *arrival, start, random);
                self.offer_anew(*stream);
            }
            TimelineAction::ChangeIdleSlope(port, class, idle_slope) => {
                if let Some(state) = &mut self.ports[port.index()] {
                    let now = state.clock.local(self.now);
                    state.egress.set_idle_slope(now, *class, *idle_slope);
                    self.ask(port.0);
                }
            }
            TimelineAction::ChangeGates(port, list) => {
                if let Some(state) = &mut self.ports[port.index()] {
                    let now = state.clock.local(self.now);
                    state.egress.change_gates(now, (**list).clone());
                    self.ask_gated(port.0);
                }
            }
            TimelineAction::ChangeFilters(..) => {
                if PLUGGED {
                    self.act_at_receptions(&event.action);
                }
            }
            TimelineAction::ChangeShaper(stream, settings) => self.change_shaper(*stream, settings),
            TimelineAction::ChangeBitErrorRate(cable, rate) => {
                for link in [cable * 2, cable * 2 + 1] {
                    self.links[link as usize].set_bit_error_rate(*rate);
                }
            }
        }
    }

    /// What the clock of a stream's talker reads now; network time, if its application follows that.
    pub(crate) fn talker_time(&self, stream: StreamIndex) -> tautwire_units::Instant {
        let node = self.talkers[stream.index()].node as usize;
        let clock = self.nodes[node].clock;
        match self.timed().filter(|_| is_locked(&self.network.streams[stream.index()])) {
            Some(timed) => timed.network(node, clock, self.now),
            None => {
                let local = clock.local(self.now);
                let corrected = self.corrected_clock(node).map(|clock| clock.reading(local));
                let corrected = corrected.map(|ps| Instant::from_ps(u64::try_from(ps).unwrap_or(0)));
                corrected.unwrap_or(local)
            }
        }
    }

    /// A stream begins; not before its talker's clock reads `not_before`.
    pub(crate) fn start_stream(&mut self, stream: StreamIndex, not_before: Option<Instant>) {
        let now = self.talker_time(stream);
        let start = not_before.map_or(now, |earliest| earliest.max(now));
        let talker = &mut self.talkers[stream.index()];
        talker.running = true;
        talker.source.restart(start);
        self.offer_anew(stream);
    }

    /// Voids what a stream had offered and offers its coming frame.
    fn offer_anew(&mut self, stream: StreamIndex) {
        let talker = &mut self.talkers[stream.index()];
        talker.epoch += 1;
        let node = talker.node;
        self.offer_source(stream.0);
        self.arm_sources(node);
    }

    /// Frames that are on the link are lost, and those that wait for it.
    fn cut_link(&mut self, link: LinkIndex) {
        let now = self.now;
        self.links[link.index()].up = false;
        let lost = self.rings[link.index()].remove_if(&mut self.slab, |frame| frame.received > now);
        self.forget(link.0, &lost, DropReason::LinkDown);
        let from = self.network.links[link.index()].from;
        self.flush_port(from.0, DropReason::LinkDown);
    }

    fn stop_node(&mut self, node: NodeIndex) {
        let now = self.now;
        self.nodes[node.index()].up = false;
        if let Some(database) = &mut self.nodes[node.index()].database {
            database.flush();
        }
        for port in self.network.nodes[node.index()].ports.clone() {
            let Some(links) = self.network.ports[port as usize].links else { continue };
            let ring = &mut self.rings[links.ingress.index()];
            let lost = ring.remove_if(&mut self.slab, |frame| frame.received <= now);
            self.forget(links.ingress.0, &lost, DropReason::NodeDown);
            self.flush_port(port, DropReason::NodeDown);
        }
        let ring = index(self.links.len() + node.index());
        let lost = self.rings[ring as usize].remove_if(&mut self.slab, |_| true);
        for place in lost {
            self.drop_at_talker(place, DropReason::NodeDown);
        }
        self.arm_ring(ring);
        self.reset_links(node.0);
    }

    pub(crate) fn flush_port(&mut self, port: u32, reason: DropReason) {
        if PLUGGED {
            self.lose_started(port, reason);
        }
        let Some(state) = &mut self.ports[port as usize] else { return };
        let now = state.clock.local(self.now);
        for frame in state.egress.flush(now) {
            self.drop_frame(frame.slot, reason);
        }
        self.ask(port);
    }

    /// Drops frames that were taken from the ring of a link, and arms the ring anew.
    fn forget(&mut self, ring: u32, places: &[u32], reason: DropReason) {
        for place in places {
            self.drop_on_line(*place, reason);
        }
        self.arm_ring(ring);
    }

    /// Changes the schedulers of a stream everywhere on its way.
    fn change_shaper(&mut self, stream: StreamIndex, settings: &ShaperSettings) {
        let network = self.network;
        for hop in &network.streams[stream.index()].hops {
            let Some(scheduler) = hop.scheduler else { continue };
            let node = network.ports[hop.port.index()].node;
            let state = &mut self.nodes[node.index()];
            let deviation = deviation_ppb(network, &network.schedulers[scheduler.index()], self.seed);
            let parameters = state.parameters(settings, deviation);
            state.ats.set_parameters(self.schedulers[scheduler.index()], parameters);
        }
        let talker = &self.talkers[stream.index()];
        if let TalkerShaper::Scheduler(scheduler) = talker.shaper {
            let state = &mut self.nodes[talker.node as usize];
            let parameters = state.parameters(settings, 0);
            state.ats.set_parameters(scheduler, parameters);
        }
    }
}
