//! Frames that have begun and may still change, in a run: one that is given up waits again, one that is interrupted goes on later.
//!
//! Such a frame is on the link when it cannot change any more: then its whole future is computed, as that of other frames when they begin. Ports
//! that may cut frames are asked when they say so (`EgressPort::next_look`), and whenever a frame comes.

use tautwire_core::Cut;
use tautwire_units::Duration;

use crate::clock::SimTime;
use crate::engine::Engine;
use crate::frame::Handle;
use crate::recorder::Recorder;
use crate::result::DropReason;

/// Per port, the frame that it has begun, if it may change.
#[derive(Clone, Debug)]
pub(crate) struct StartedFrames(Vec<Option<Started>>);

/// A frame that may change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Started {
    frame: Handle,
    pub(crate) held: Duration,
    pub(crate) selected: SimTime,
    /// When the part of it began that is on the line.
    begun: SimTime,
    /// When it cannot change any more, and when its last bit is out.
    settled: SimTime,
    last: SimTime,
    busy_until: SimTime,
    /// Whether it is on the line; else when the part before was out.
    off_since: Option<SimTime>,
    /// How long it was not on the line, and how often.
    off_line: Duration,
    cuts: u32,
}

/// The last of several parts of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LastPart {
    /// When it began.
    pub(crate) begun: SimTime,
    /// How long the frame was not on the line before.
    pub(crate) off_line: Duration,
    /// Octets of the frame in it.
    pub(crate) octets: u64,
}

impl StartedFrames {
    pub(crate) fn new(ports: usize) -> Self {
        Self(vec![None; ports])
    }

    /// The frames, by their places in the slab.
    pub(crate) fn places(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().flatten().map(|started| started.frame.slot)
    }
}

impl Started {
    /// Its last part, if that begins at `now`.
    pub(crate) fn goes_on(&self, now: SimTime, octets: u64) -> LastPart {
        let off = self.off_since.map_or(Duration::ZERO, |since| now.saturating_since(since));
        LastPart { begun: now, off_line: self.off_line + off, octets }
    }
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    fn started(&mut self, port: u32) -> Option<&mut Option<Started>> {
        Some(&mut self.plugged.as_mut()?.started.0[port as usize])
    }

    /// Arms a port that has something to do.
    pub(crate) fn arm_watched(&mut self, port_index: u32) {
        let started = self.started(port_index).and_then(|started| *started);
        let port = self.ports[port_index as usize].as_mut().expect("an armed port is connected");
        let local = port.clock.local(self.now);
        let time = match started {
            Some(started) if started.off_since.is_none() => {
                let look = port.egress.next_look(local).map(|at| port.clock.true_at(at));
                look.map_or(started.settled, |look| look.min(started.settled)).max(self.now)
            }
            _ if port.egress.busy_until() > local => port.clock.true_at(port.egress.busy_until()),
            _ => self.now,
        };
        self.agenda.set(self.first_port + port_index, time);
    }

    /// The frame that goes on at a port with what it has selected now, if it was interrupted; it is forgotten.
    pub(crate) fn resumed(&mut self, port_index: u32) -> Option<Started> {
        let port = self.ports[port_index as usize].as_ref()?;
        let resumes = port.egress.started().is_some_and(|started| started.cuts > 0 && started.is_on_line());
        resumes.then(|| self.started(port_index)?.take()).flatten()
    }

    /// Notes a frame that may change, or a part of it.
    pub(crate) fn begin(&mut self, port_index: u32, frame: Handle, held: Duration, busy_until: SimTime) {
        let now = self.now;
        let before = self.resumed(port_index);
        let port = self.ports[port_index as usize].as_ref().expect("it sends a frame");
        let last = SimTime::from_ps(busy_until.as_ps() - port.gap.as_ps()).max(now);
        let settled = port.egress.changes_until().map_or(last, |until| port.clock.true_at(until).min(last));
        let off_line = before.map_or(Duration::ZERO, |before| before.goes_on(now, 0).off_line);
        let begun = Started {
            frame,
            held: before.map_or(held, |before| before.held),
            selected: before.map_or(now, |before| before.selected),
            begun: now,
            settled: settled.max(now),
            last,
            busy_until,
            off_since: None,
            off_line,
            cuts: before.map_or(0, |before| before.cuts),
        };
        if let Some(started) = self.started(port_index) {
            *started = Some(begun);
        }
        self.arm_watched(port_index);
    }

    /// Looks at the frame that a port has begun; false if there is none on the line that may change.
    pub(crate) fn serve_started(&mut self, port_index: u32) -> bool {
        let now = self.now;
        let Some(started) = self.started(port_index).and_then(|started| *started) else { return false };
        if started.off_since.is_some() {
            return false;
        }
        let port = self.ports[port_index as usize].as_mut().expect("it sends a frame");
        let cut = if now < started.last { port.egress.cut(port.clock.local(now)) } else { Cut::No };
        let kept = match cut {
            Cut::No if now >= started.settled => {
                self.end_started(port_index, &started);
                return true;
            }
            Cut::No => Some(started),
            // What of it is out will be dropped by its receiver; the frame itself waits again.
            Cut::GivenUp(_) => None,
            Cut::Interrupted(_) => {
                let free = port.clock.true_at(port.egress.busy_until());
                let off = SimTime::from_ps(free.as_ps() - port.gap.as_ps());
                self.part_sent(port_index, started.frame.slot, started.begun);
                Some(Started { off_since: Some(off.max(now)), cuts: started.cuts + 1, ..started })
            }
        };
        if let Some(place) = self.started(port_index) {
            *place = kept;
        }
        self.arm_watched(port_index);
        true
    }

    /// A frame cannot change any more: it is on the link.
    fn end_started(&mut self, port_index: u32, started: &Started) {
        if let Some(place) = self.started(port_index) {
            *place = None;
        }
        let rest =
            self.ports[port_index as usize].as_ref().and_then(|port| Some(port.egress.started()?.rest()));
        let part = rest.filter(|_| started.cuts > 0).map(|rest| LastPart {
            begun: started.begun,
            off_line: started.off_line,
            octets: u64::from(rest),
        });
        self.transmit(port_index, started.frame, started.held, (started.selected, started.busy_until), part);
        let waits = self.ports[port_index as usize]
            .as_ref()
            .is_some_and(|port| !port.egress.is_empty() || port.egress.has_more());
        let entity = self.first_port + port_index;
        if waits {
            self.agenda.set(entity, started.busy_until.max(self.now));
        } else {
            self.agenda.clear(entity);
        }
    }

    /// The link of a port is cut, or its node stops: the frame that it has begun is lost.
    pub(crate) fn lose_started(&mut self, port_index: u32, reason: DropReason) {
        if let Some(started) = self.started(port_index).and_then(Option::take) {
            self.drop_frame(started.frame.slot, reason);
        }
    }
}
