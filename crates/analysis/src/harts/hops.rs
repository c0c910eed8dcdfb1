//! The hops of a stream: at its talker's port, at a switch that schedules it, and through a server.
//!
//! In: facts about its frames at the end of the hop before. Out: the terms of the hop's bound, and the facts at its
//! end. Not here: the guarantee of a server (`port.rs`), when schedules take messages (`relayed.rs`).

use tautwire_core::harts::Violator;
use tautwire_model::harts::polled::Police;
use tautwire_model::network::{Stream, StreamIndex};
use tautwire_units::Bytes;

use super::arrivals::Arrivals;
use super::port::Port;
use super::reasons::{NO_SERVER, UNPOLLED};
use super::{End, FRAMES_MAX, Range, Servers, wire_octets};
use crate::clock::Deviation;
use crate::service::Terms;
use crate::unbounded::Unbounded;

impl Servers<'_> {
    /// From the application to the last bit at the next node: what the greatest time is made of, and what is known there.
    pub(super) fn first_hop(&self, number: StreamIndex, place: usize) -> (Result<Terms, Unbounded>, End) {
        let stream = &self.network.streams[number.index()];
        let hop = &stream.hops[place];
        let line = self.line(stream, place);
        let harts = self.network.harts.as_ref().expect("a network with HaRTES");
        if harts.ftt.is_trigger(number, hop.port) {
            // No other frame is in transmission when the cycle begins.
            let links = self.network.ports[hop.port.index()].links.expect("a hop's port has a cable");
            let rate = self.network.links[links.egress.index()].rate;
            let frame = rate.duration_ceil(Bytes::new(wire_octets(stream, hop.tagged)).bits()).as_ps();
            let most = Terms::of("transmission", self.late(frame)).and("cable and stages", line.max);
            let end = End { most: Ok(most.total()), least: line.min, behind: None };
            return (Ok(most), end);
        }
        let transmit = self.transmit(stream);
        let least = transmit.min + line.min;
        // A synchronous message waits for the cycle that polls it, and is decoded before the synchronous window begins.
        let waits = match harts.ftt.polled(number) {
            None => Ok(0),
            Some(polled) => self
                .schedule
                .response(number, polled.switch)
                .map(|cycles| {
                    self.late((cycles - 1).saturating_mul(harts.cycle.as_ps()) + harts.synchronous.as_ps())
                })
                .ok_or(UNPOLLED.at(hop.port)),
        };
        let most = waits.and_then(|waits| {
            let busy = self.talker_port(stream, place)?;
            let most = Terms::of("cycle that polls it", waits).and("host", transmit.max);
            Ok(most.and("what waits with it, and transmission", busy).and("cable and stages", line.max))
        });
        let end = End { most: most.as_ref().map(Terms::total).map_err(Clone::clone), least, behind: None };
        (most, end)
    }

    /// From the last bit at this node to that at the next: what the greatest time is made of, and what is known there.
    pub(super) fn hop(
        &self,
        number: StreamIndex,
        place: usize,
        before: &End,
    ) -> (Result<Terms, Unbounded>, End) {
        let stream = &self.network.streams[number.index()];
        let hop = &stream.hops[place];
        let line = self.line(stream, place);
        let (stages, queues) = self.stages(stream, place);
        let least = before.least + stages.min + line.min;
        if let Some(found) = self.synchronous_hop(number, place, before) {
            return found;
        }
        let fault = |reason: Unbounded| (Err(reason.clone()), End { most: Err(reason), least, behind: None });
        let reached = match &before.most {
            Err(reason) => return fault(reason.clone()),
            Ok(_) if queues => return fault(Unbounded::StageTooSlow { port: hop.port }),
            Ok(reached) => *reached,
        };
        let police = self.police(number).filter(|_| hop.previous == Some(0));
        let jitter = reached.saturating_sub(before.least);
        let come = self.releases(number).or_else(|| self.arrivals(number));
        let come = come.map(|arrivals| arrivals.with_jitter(jitter));
        let held = police.map_or(0, |police| self.held(&police, come));
        // Behind the policer, frames are as far apart as it lets them be.
        let behind = match police {
            Some(police) => Some((police, Range::default())),
            None => before.behind,
        };
        let shaken = held.saturating_add(stages.max - stages.min);
        let own = come.map(|arrivals| arrivals.with_jitter(shaken));
        let policed = behind.map(|(police, since)| Arrivals::Periodic {
            interval: self.deviation.shrink(police.distance.as_ps()).max(1),
            jitter: since.max - since.min + (stages.max - stages.min) + self.slack + 2,
            burst: 1,
            extra: 0,
        });
        let served: Vec<Result<u64, Unbounded>> =
            own.into_iter().chain(policed).map(|arrivals| self.server(number, place, arrivals)).collect();
        let best = served.iter().filter_map(|one| one.as_ref().ok()).min().copied();
        let reason = served.into_iter().find_map(Result::err);
        let Some(best) = best else {
            return fault(reason.unwrap_or(Unbounded::NoArrivalCurve { stream: number, port: hop.port }));
        };
        let served = Terms::of("processing", stages.max)
            .and("server, what waits before it, and transmission", best)
            .and("cable and stages", line.max);
        let behind = behind.map(|(police, since)| {
            let max = since.max.saturating_add(served.total());
            (police, Range { min: since.min + stages.min + line.min, max })
        });
        let rest = Terms::of("policer", held).then(&served);
        let end = End { most: Ok(reached.saturating_add(rest.total())), least, behind };
        (Ok(rest), end)
    }

    pub(super) fn is_synchronous(&self, number: StreamIndex, place: usize) -> bool {
        let hop = &self.network.streams[number.index()].hops[place];
        let switch = self.network.ports[hop.port.index()].node;
        self.network.harts.as_ref().is_some_and(|harts| harts.ftt.is_synchronous_at(number, switch))
    }

    /// Stages and line alone.
    pub(super) fn passage_min(&self, stream: &Stream, place: usize) -> u64 {
        self.stages(stream, place).0.min + self.line(stream, place).min
    }

    /// A synchronous message at a switch that schedules it: it is complete when a synchronous window ends. Gives the
    /// hop's bound, and the facts at its end; none for other streams, and at other switches.
    fn synchronous_hop(
        &self,
        number: StreamIndex,
        place: usize,
        before: &End,
    ) -> Option<(Result<Terms, Unbounded>, End)> {
        let stream = &self.network.streams[number.index()];
        let harts = self.network.harts.as_ref()?;
        let hop = &stream.hops[place];
        let switch = self.network.ports[hop.port.index()].node;
        if !self.is_synchronous(number, place) {
            return None;
        }
        let (stages, queues) = self.stages(stream, place);
        let line = self.line(stream, place);
        let is_first = harts.ftt.relayed(number, switch).is_none();
        let fault = |reason: Unbounded| {
            let least = before.least + stages.min + line.min;
            Some((Err(reason.clone()), End { most: Err(reason), least, behind: None }))
        };
        let reached = match &before.most {
            Err(reason) => return fault(reason.clone()),
            Ok(_) if queues && !is_first => return fault(Unbounded::StageTooSlow { port: hop.port }),
            Ok(reached) => *reached,
        };
        let left = self.left(number, place, &self.schedule);
        let response = self.schedule.response(number, switch);
        let (Some(left), Some(response)) = (left, response) else {
            return fault(UNPOLLED.at(hop.port));
        };
        let open = harts.open.as_ps();
        let rest = if is_first {
            Terms::of("end of the synchronous window", self.late(open))
        } else {
            let cycles = response.saturating_mul(harts.cycle.as_ps());
            Terms::of("processing", stages.max)
                .and("cycle that takes it, to the end of its window", self.late(cycles.saturating_add(open)))
        };
        let rest = rest.and("cable and stages", line.max);
        let most = left.max.min(reached.saturating_add(rest.total()));
        // Not before the window begins, nor before it came: over a slow line it may come behind that.
        let least = left.min.max(before.least + stages.min + line.min);
        Some((Ok(rest), End { most: Ok(most), least, behind: None }))
    }

    pub(super) fn police(&self, number: StreamIndex) -> Option<Police> {
        let harts = self.network.harts.as_ref()?;
        harts.reservations.iter().find(|reservation| reservation.stream == number)?.police
    }

    /// How long a policer holds a frame back at most.
    fn held(&self, police: &Police, come: Option<Arrivals>) -> u64 {
        if police.violator == Violator::Discard {
            return 0;
        }
        let distance = self.deviation.stretch(police.distance.as_ps()).saturating_add(self.slack + 2);
        let full = distance.saturating_mul(u64::from(police.pool));
        let Some((come, repeats)) = come.and_then(|come| Some((come, come.repeats(distance, 1)?))) else {
            return full;
        };
        if repeats >= FRAMES_MAX {
            return full;
        }
        let early = |frames: u64| (frames - 1).saturating_mul(distance).saturating_sub(come.distance(frames));
        (1..=FRAMES_MAX.min(repeats + FRAMES_MAX / 2)).map(early).max().unwrap_or(0).min(full)
    }

    /// From the queue of a server to the last bit of the frame out of the port.
    fn server(&self, number: StreamIndex, place: usize, arrivals: Arrivals) -> Result<u64, Unbounded> {
        let hop = &self.network.streams[number.index()].hops[place];
        let port = Port::of(self.network, hop.port, self.slack).ok_or(NO_SERVER.at(hop.port))?;
        let lane = self.network.server_of(number, hop.port).ok_or(NO_SERVER.at(hop.port))?;
        let wire = wire_octets(&self.network.streams[number.index()], hop.tagged);
        let (period, through, frames) = port.guarantee(lane, wire)?;
        // Where the server is as fast as the stream, its frames repeat after so many.
        let long =
            self.deviation.stretch(period).saturating_add(u64::from(self.deviation != Deviation::default()));
        let repeats = arrivals.repeats(long, frames);
        let mut apart = 0;
        let mut most = 0;
        for count in 1..=FRAMES_MAX {
            let done = period.saturating_mul(count.div_ceil(frames)).saturating_add(through);
            let done = self.deviation.stretch(done).saturating_add(self.slack + 2);
            most = most.max(done.saturating_sub(arrivals.distance(count)));
            apart += u64::from(arrivals.distance(count) > 0);
            if arrivals.distance(count + 1) >= done || repeats.is_some_and(|repeats| apart > repeats) {
                return Ok(most);
            }
        }
        Err(Unbounded::Overload { port: hop.port, class: hop.class })
    }
}
