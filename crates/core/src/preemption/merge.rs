//! The sending side of a MAC merge sublayer (IEEE Std 802.3-2022, 99.4.7): the preemptable frame that is under way, and where it may be cut.
//!
//! Times are those of the port's clock. Invariant: a frame that is cut stays here until its last mPacket is out, and until then no other
//! preemptable one begins. An octet that has begun is finished, and a cut leaves at least [`LAST_MIN`] octets. What of a frame is charged to the credit
//! of its class is its own octets: time without any of them, and the head of a continuation, is not (802.1Q-2022, 8.6.8.2 e).

use tautwire_units::{Bytes, Duration, Instant};

use super::{GAP, HEAD, LAST_MIN, MCRC, MPacket, PreemptionConfig};
use crate::OctetTime;

/// What a sending side has counted (30.14.1.8 to 30.14.1.13).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MergeCounters {
    /// Frames that were begun by the preemptable service.
    pub preemptable: u64,
    /// mPackets beyond one for each frame (FragCountTx).
    pub fragments: u64,
    /// mPackets that verify.
    pub verifies: u64,
    /// mPackets that respond.
    pub responds: u64,
}

/// A preemptable frame from its first octet to its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Started<F> {
    /// The frame.
    pub frame: F,
    /// Octets of it in the mPackets before the one on the line.
    pub sent: u32,
    /// How often it was cut.
    pub cuts: u32,
    octets: u32,
    class: usize,
    number: u8,
    /// When the mPacket began that is on the line.
    begun: Instant,
    on_line: bool,
    /// Whether it was found to be sent with its gate shut.
    overruns: bool,
    /// A charge that is to come with this mPacket: from when on, and how long.
    charge: Option<(Instant, Duration)>,
    /// How long it is charged with later ones.
    left: Duration,
}

/// A charge that begins now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Charge {
    pub(crate) from: Instant,
    pub(crate) line_end: Instant,
    pub(crate) end: Instant,
}

/// The sending side.
#[derive(Clone, Debug)]
pub(crate) struct Merge<F> {
    config: PreemptionConfig,
    active: bool,
    started: Option<Started<F>>,
    /// The number of the next preemptable frame.
    number: u8,
    /// What was begun last, and octets of a frame in the fragment that was cut off last.
    last: MPacket,
    part: u32,
    /// Whether to verify, and to respond, when the line is free.
    verifies: bool,
    responds: bool,
    /// The mPacket of these that was sent last, until it is asked for.
    sent: Option<MPacket>,
    counters: MergeCounters,
}

impl<F: Copy> Merge<F> {
    pub(crate) const fn new(config: PreemptionConfig) -> Self {
        Self {
            config,
            active: config.active,
            started: None,
            number: 0,
            last: MPacket::Express,
            part: 0,
            verifies: false,
            responds: false,
            sent: None,
            counters: MergeCounters { preemptable: 0, fragments: 0, verifies: 0, responds: 0 },
        }
    }

    pub(crate) const fn config(&self) -> &PreemptionConfig {
        &self.config
    }

    /// Bit *n*: class *n* is preemptable now.
    pub(crate) fn preemptable(&self) -> u8 {
        if self.active || planted!(UnverifiedActive) { self.config.preemptable } else { 0 }
    }

    pub(crate) const fn is_active(&self) -> bool {
        self.active
    }

    pub(crate) const fn set_active(&mut self, active: bool) {
        self.active = active;
    }

    pub(crate) const fn counters(&self) -> MergeCounters {
        self.counters
    }

    pub(crate) const fn last(&self) -> MPacket {
        self.last
    }

    pub(crate) const fn part(&self) -> u32 {
        self.part
    }

    pub(crate) const fn started(&self) -> Option<&Started<F>> {
        self.started.as_ref()
    }

    /// The frame that waits for the line to go on.
    pub(crate) fn interrupted(&self) -> Option<&Started<F>> {
        self.started.as_ref().filter(|started| !started.on_line)
    }

    /// Whether a frame of a class was cut and is not charged now, so that its class earns credit as if it waited.
    pub(crate) fn earns(&self, class: usize) -> bool {
        let waits = |started: &Started<F>| !started.on_line || started.charge.is_some();
        self.started.as_ref().is_some_and(|started| started.class == class && waits(started))
    }

    /// An express frame begins.
    pub(crate) const fn express(&mut self) {
        self.last = MPacket::Express;
    }

    /// A preemptable frame begins.
    pub(crate) fn begin(&mut self, now: Instant, frame: F, (class, octets): (usize, u32)) {
        self.started = Some(Started {
            frame,
            sent: 0,
            cuts: 0,
            octets,
            class,
            number: self.number,
            begun: now,
            on_line: true,
            overruns: false,
            charge: None,
            left: Duration::ZERO,
        });
        self.last = MPacket::Start(self.number);
        self.number = (self.number + 1) % 4;
        self.counters.preemptable += 1;
    }

    /// The line is free: what was on it is out, and with its last mPacket a frame is.
    pub(crate) fn line_is_free(&mut self) {
        self.started = self.started.take().filter(|started| !started.on_line);
    }

    /// Sends an mPacket of verification when the line is free and no frame is interrupted.
    pub(crate) const fn request(&mut self, mpacket: MPacket) {
        match mpacket {
            MPacket::Verify => self.verifies = true,
            MPacket::Respond => self.responds = true,
            MPacket::Express | MPacket::Start(_) | MPacket::Continuation(..) => {}
        }
    }

    /// Whether such an mPacket waits.
    pub(crate) const fn has_request(&self) -> bool {
        self.verifies || self.responds
    }

    /// Begins one that waits, with the line free.
    pub(crate) fn begin_request(&mut self) -> bool {
        if !self.has_request() || self.started.is_some() {
            return false;
        }
        let mpacket = if self.responds { MPacket::Respond } else { MPacket::Verify };
        match mpacket {
            MPacket::Respond => (self.responds, self.counters.responds) = (false, self.counters.responds + 1),
            _ => (self.verifies, self.counters.verifies) = (false, self.counters.verifies + 1),
        }
        (self.last, self.sent) = (mpacket, Some(mpacket));
        true
    }

    /// The mPacket of verification that has begun since this was asked.
    pub(crate) const fn take_sent(&mut self) -> Option<MPacket> {
        self.sent.take()
    }

    /// Forgets the frame that is under way, and what was to be sent of verification; whether some of the frame was on the line.
    pub(crate) fn forget(&mut self) -> bool {
        (self.verifies, self.responds) = (false, false);
        self.started.take().is_some_and(|started| started.on_line)
    }

    /// Whether the frame on the line may be cut, now or later.
    pub(crate) fn may_cut(&self) -> bool {
        let least = self.config.add_frag_size.fragment_min();
        let started = self.started.as_ref().filter(|started| started.on_line);
        started.is_some_and(|started| least + last_min() <= started.octets - started.sent)
    }

    /// The last instant at which the frame on the line may be cut.
    pub(crate) fn changes_until(&self, octet_time: OctetTime) -> Option<Instant> {
        let started = self.started.as_ref().filter(|started| started.on_line)?;
        let octets = HEAD + u64::from(started.rest().saturating_sub(last_min()));
        Some(started.begun.saturating_add(octet_time.duration_ceil(Bytes::new(octets))))
    }

    /// If the frame on the line may be cut by what comes at `now`: octets of it that are then in this mPacket.
    pub(crate) fn cut_at(&self, now: Instant, octet_time: OctetTime) -> Option<u32> {
        let started = self.started.as_ref().filter(|started| started.on_line && !planted!(NothingIsCut))?;
        let begun = octet_time.octets_ceil(now.saturating_since(started.begun).as_ps());
        let begun = u32::try_from(begun.saturating_sub(HEAD)).unwrap_or(u32::MAX);
        let mut least = self.config.add_frag_size.fragment_min();
        if planted!(FragmentTooShort) {
            least = 1;
        }
        let sent = begun.max(least);
        (sent.saturating_add(last_min()) <= started.octets - started.sent).then_some(sent)
    }

    /// When the line is free behind a cut that leaves so many octets in this mPacket.
    pub(crate) fn free_at(&self, sent: u32, octet_time: OctetTime) -> Instant {
        let begun = self.started.as_ref().map_or(Instant::ZERO, |started| started.begun);
        begun.saturating_add(octet_time.duration_ceil(Bytes::new(HEAD + u64::from(sent) + MCRC + GAP)))
    }

    /// Cuts the frame on the line behind so many octets of this mPacket, the last of which it is charged for. `charged_until` is when its
    /// charge would have ended, if its class is shaped and the charge has begun.
    pub(crate) fn cut(
        &mut self,
        sent: u32,
        octet_time: OctetTime,
        charged_until: Option<Instant>,
    ) -> Option<(F, Instant)> {
        let started = self.started.as_mut()?;
        let octets = HEAD + u64::from(sent);
        let end = started.begun.saturating_add(octet_time.duration_ceil(Bytes::new(octets)));
        started.left = match &mut started.charge {
            Some((from, span)) => {
                let until = from.saturating_add(*span);
                *span = until.min(end).saturating_since(*from);
                until.saturating_since(end)
            }
            None => charged_until.map_or(Duration::ZERO, |until| until.saturating_since(end)),
        };
        self.part = sent;
        (started.sent, started.cuts, started.on_line) = (started.sent + sent, started.cuts + 1, false);
        Some((started.frame, end))
    }

    /// The interrupted frame goes on: the frame, and octets of the line up to the end of it, with the gap.
    pub(crate) fn resume(&mut self, now: Instant, octet_time: OctetTime) -> Option<(F, u64)> {
        let started = self.started.as_mut().filter(|started| !started.on_line)?;
        (started.begun, started.on_line) = (now, true);
        if started.left > Duration::ZERO {
            let from = now.saturating_add(octet_time.duration_ceil(Bytes::new(HEAD)));
            started.charge = Some((from, core::mem::take(&mut started.left)));
        }
        let fragment = u8::try_from((started.cuts - 1) % 4).expect("below four");
        self.last = MPacket::Continuation(started.number, fragment);
        self.counters.fragments += 1;
        Some((started.frame, HEAD + u64::from(started.octets - started.sent) + GAP))
    }

    /// When the charge of a class begins again that is to be looked at up to `until`.
    pub(crate) fn charge(&mut self, class: usize, until: Instant, line_end: Instant) -> Option<Charge> {
        let started = self.started.as_mut().filter(|started| started.class == class)?;
        let (from, span) = started.charge.filter(|(from, _)| *from <= until)?;
        started.charge = None;
        Some(Charge { from, line_end, end: from.saturating_add(span) })
    }

    /// Whether the frame under way is found for the first time to be sent with its gate shut.
    pub(crate) fn overruns(&mut self, is_shut: bool) -> bool {
        let Some(started) = &mut self.started else { return false };
        let is_first = is_shut && !started.overruns;
        started.overruns |= is_shut;
        is_first
    }
}

/// Fewest octets that a cut leaves.
fn last_min() -> u32 {
    if planted!(LastFragmentTooShort) { 1 } else { LAST_MIN }
}

impl<F> Started<F> {
    /// Its class.
    #[must_use]
    pub const fn class(&self) -> usize {
        self.class
    }

    /// Whether a part of it is on the line; else it waits for its rest to be sent.
    #[must_use]
    pub const fn is_on_line(&self) -> bool {
        self.on_line
    }

    /// Octets of it that are not in the mPackets before.
    #[must_use]
    pub const fn rest(&self) -> u32 {
        self.octets - self.sent
    }
}
