//! A compression master (SAE AS6802): frames of the masters in, compressed frames out, and its own clock.
//!
//! A cold start frame is relayed when it is permanent. Acknowledgements and integration frames are compressed, frames
//! of different integration cycles separately. A compressed frame leaves after the collection windows, plus the
//! correction: its permanence point is that of the masters, later by a constant. Invariants: at most four compressions
//! are open at a time, and an open one is never discarded for a new one; work per call is bounded. A compressed frame
//! with fewer members than the threshold is relayed, but does not set this node's clock.
//!
//! It polices its masters, which it identifies by their links: each may have one frame of a kind waiting for
//! permanence, and one open compression. While its own clock is set it accepts integration frames of the next cycle
//! only, one of each master, within two windows of their due time. A master that sends anything else, or with another
//! master's membership bit, is babbling: all its frames are discarded until the next compressed frame, and again if it
//! continues.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use tautwire_units::{Duration, Instant};

use super::{Compression, PcfType, ProtocolControlFrame, permanent_at, transparent_time};

/// Frames that wait to be permanent, and compressions, at most.
const PENDING_MAX: usize = 64;
const COMPRESSIONS_MAX: usize = 4;

/// Settings of a compression master.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CompressionConfig {
    /// Synchronisation domain; frames of others are not looked at.
    pub domain: u8,
    /// Synchronisation priority.
    pub priority: u8,
    /// Greatest transmission delay from a master to here, and from here to it.
    pub delay_max: Duration,
    /// An observation window: at least the precision.
    pub window: Duration,
    /// Masters that may be faulty.
    pub faulty: u32,
    /// Length of an integration cycle.
    pub integration_cycle: Duration,
    /// Integration cycles until their number begins again.
    pub cycles: u32,
    /// Members without which its own clock is not set.
    pub members_min: u32,
}

impl CompressionConfig {
    /// From the first point to the compressed one, without correction.
    #[must_use]
    pub fn compression_delay(&self) -> Duration {
        self.window * u64::from(self.faulty + 1)
    }
}

/// A compression master.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CompressionMaster {
    config: CompressionConfig,
    /// Frames that are not permanent yet: when they are.
    pending: Vec<(Instant, ProtocolControlFrame)>,
    compressions: Vec<(PcfType, u32, Compression)>,
    /// Compressed frames: when they leave.
    leaving: Vec<(Instant, ProtocolControlFrame)>,
    out: VecDeque<ProtocolControlFrame>,
    /// Start and number of the integration cycle of the last frame that set its clock; none without
    /// synchronisation.
    cycle: Option<(Instant, u32)>,
    /// Members whose frames of the next cycle were taken, while its clock is set.
    taken: u32,
    /// Members that babble, since the last compressed frame and before it.
    babbling: [u32; 2],
}

impl CompressionMaster {
    /// Without synchronisation.
    #[must_use]
    pub const fn new(config: CompressionConfig) -> Self {
        Self {
            config,
            pending: Vec::new(),
            compressions: Vec::new(),
            leaving: Vec::new(),
            out: VecDeque::new(),
            cycle: None,
            taken: 0,
            babbling: [0; 2],
        }
    }

    /// Receives a frame of the master whose membership bit is `sender`; the frame's transparent clock holds its transmission delay.
    pub fn receive(&mut self, now: Instant, sender: u32, frame: ProtocolControlFrame) {
        self.advance(now);
        if !super::is_of(&frame, self.config.domain, self.config.priority) {
            return;
        }
        let same = |(_, other): &(Instant, ProtocolControlFrame)| {
            (other.kind, other.membership_new) == (frame.kind, sender)
        };
        let babbles = frame.membership_new != sender || self.pending.iter().any(same);
        if babbles && !planted!(BabbleTaken) {
            self.babbling[0] |= sender;
            return;
        }
        let took = transparent_time(frame.transparent_clock);
        if let Some(at) =
            permanent_at(now, took, self.config.delay_max).filter(|_| self.pending.len() < PENDING_MAX)
        {
            self.pending.push((at, frame));
        }
    }

    /// When there is something to do.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let pending = self.pending.iter().map(|(at, _)| *at);
        let closing = self.compressions.iter().map(|(_, _, compression)| compression.closes());
        let expiry = self.cycle.map(|(start, _)| self.expiry(start));
        pending.chain(closing).chain(self.leaving.iter().map(|(at, _)| *at)).chain(expiry).min()
    }

    /// Does what is due, in order of time.
    pub fn advance(&mut self, now: Instant) {
        while let Some(at) = self.deadline().filter(|at| *at <= now) {
            if let Some(place) = self.pending.iter().position(|(due, _)| *due == at) {
                let (_, frame) = self.pending.swap_remove(place);
                self.permanent(at, frame);
            } else if let Some(place) = self.leaving.iter().position(|(due, _)| *due == at) {
                let (_, frame) = self.leaving.swap_remove(place);
                self.leave(at, frame);
            } else if let Some(place) =
                self.compressions.iter().position(|(_, _, compression)| compression.closes() == at)
            {
                self.close(place);
            } else {
                self.cycle = None;
                (self.taken, self.babbling) = (0, [0; 2]);
            }
        }
    }

    /// The next frame to be sent to all, with its transparent clock at zero.
    pub fn poll(&mut self) -> Option<ProtocolControlFrame> {
        self.out.pop_front()
    }

    /// Start and number of the integration cycle that last set its clock, by which it counts on; none without
    /// synchronisation.
    #[must_use]
    pub fn cycle(&self, now: Instant) -> Option<(Instant, u32)> {
        self.cycle.filter(|(start, _)| now < self.expiry(*start))
    }

    /// When the frame of the cycle behind one should have set its clock: without it nothing is known of it.
    fn expiry(&self, start: Instant) -> Instant {
        let leaves = self.config.delay_max + self.config.compression_delay();
        start + self.config.integration_cycle + leaves + self.config.window * 3
    }

    /// Whether a frame is none that its master may send now.
    fn is_refused(&mut self, at: Instant, frame: &ProtocolControlFrame) -> bool {
        let sender = frame.membership_new;
        if planted!(BabbleTaken) {
            return false;
        }
        let Some((start, cycle)) = self.cycle(at) else {
            let open =
                |(_, _, compression): &(PcfType, u32, Compression)| compression.membership() & sender != 0;
            return frame.kind != PcfType::ColdStart && self.compressions.iter().any(open);
        };
        let due = start + self.config.integration_cycle + self.config.delay_max;
        let off = at.saturating_since(due).max(due.saturating_since(at));
        let is_next = frame.kind == PcfType::Integration
            && frame.integration_cycle == (cycle + 1) % self.config.cycles
            && off <= self.config.window * 2;
        if !is_next || self.taken & sender != 0 {
            self.babbling[0] |= sender;
            return true;
        }
        self.taken |= sender;
        (self.babbling[0] | self.babbling[1]) & sender != 0
    }

    fn permanent(&mut self, at: Instant, frame: ProtocolControlFrame) {
        if self.is_refused(at, &frame) {
            return;
        }
        if frame.kind == PcfType::ColdStart {
            self.out.push_back(ProtocolControlFrame { transparent_clock: 0, ..frame });
            return;
        }
        let same = |(kind, cycle, _): &&mut (PcfType, u32, Compression)| {
            (*kind, *cycle) == (frame.kind, frame.integration_cycle)
        };
        if let Some((_, _, compression)) = self.compressions.iter_mut().find(same) {
            compression.add(at, frame.membership_new);
        } else if self.compressions.len() < COMPRESSIONS_MAX {
            let windows = self.config.faulty + 1;
            let opened = Compression::new(at, frame.membership_new, self.config.window, windows);
            self.compressions.push((frame.kind, frame.integration_cycle, opened));
        }
    }

    fn close(&mut self, place: usize) {
        if !self.compressions[place].2.close() {
            return;
        }
        let (kind, integration_cycle, compression) = self.compressions.swap_remove(place);
        let faulty = usize::try_from(self.config.faulty).unwrap_or(usize::MAX);
        let at = compression.first() + self.config.compression_delay() + compression.correction(faulty);
        let frame = ProtocolControlFrame {
            integration_cycle,
            membership_new: compression.membership(),
            sync_priority: self.config.priority,
            sync_domain: self.config.domain,
            kind,
            transparent_clock: 0,
        };
        self.leaving.push((at, frame));
    }

    fn leave(&mut self, at: Instant, frame: ProtocolControlFrame) {
        // A network that runs is not started again, even if this clock was set only since the frame came.
        if frame.kind != PcfType::Integration && self.cycle(at).is_some() {
            return;
        }
        self.out.push_back(frame);
        if frame.kind == PcfType::Integration && frame.membership_new.count_ones() >= self.config.members_min
        {
            let ago = self.config.delay_max + self.config.compression_delay();
            let start = Instant::from_ps(at.as_ps().saturating_sub(ago.as_ps()));
            self.cycle = Some((start, frame.integration_cycle));
            self.taken = 0;
            self.babbling = [0, self.babbling[0]];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: CompressionConfig = CompressionConfig {
        domain: 1,
        priority: 2,
        delay_max: Duration::from_us(100),
        window: Duration::from_us(10),
        faulty: 1,
        integration_cycle: Duration::from_ms(5),
        cycles: 8,
        members_min: 2,
    };

    fn us(us: u64) -> Instant {
        Instant::ZERO + Duration::from_us(us)
    }

    fn frame(kind: PcfType, cycle: u32, member: u32) -> ProtocolControlFrame {
        ProtocolControlFrame {
            integration_cycle: cycle,
            membership_new: member,
            sync_priority: 2,
            sync_domain: 1,
            kind,
            transparent_clock: super::super::to_transparent_clock(Duration::from_us(30)),
        }
    }

    #[test]
    fn integration_frames_become_one() {
        let mut master = CompressionMaster::new(CONFIG);
        master.receive(us(1_030), 1, frame(PcfType::Integration, 4, 1));
        master.receive(us(1_036), 2, frame(PcfType::Integration, 4, 2));
        master.receive(us(1_040), 4, frame(PcfType::Integration, 5, 4));
        assert_eq!(master.deadline(), Some(us(1_100)));
        // Points at 1100 and 1106 us; compressed 20 us behind the first, and their mean later.
        master.advance(us(1_122));
        assert_eq!(master.poll(), None);
        master.advance(us(1_123));
        let sent = master.poll().expect("compressed");
        assert_eq!((sent.membership_new, sent.integration_cycle, sent.transparent_clock), (3, 4, 0));
        assert_eq!(master.cycle(us(1_123)), Some((us(1_003), 4)), "as the masters' clocks in the mean");
        master.advance(us(1_200));
        let other = master.poll().expect("of another cycle");
        assert_eq!((other.membership_new, other.integration_cycle), (4, 5));
        assert_eq!(master.cycle(us(1_200)), Some((us(1_003), 4)), "one member sets no clock");
        // A cycle, the way of its frame, and three windows behind the start.
        assert_eq!((master.deadline(), master.cycle(us(6_153))), (Some(us(6_153)), None));
        assert_eq!(master.cycle(us(6_152)), Some((us(1_003), 4)));
        master.advance(us(6_153));
        assert_eq!((master.poll(), master.deadline()), (None, None));
    }

    #[test]
    fn cold_starts_pass_and_what_is_not_of_its_domain_does_not() {
        let mut master = CompressionMaster::new(CONFIG);
        let start = frame(PcfType::ColdStart, 0, 1);
        master.receive(us(30), 1, start);
        master.receive(us(31), 1, ProtocolControlFrame { sync_domain: 9, ..start });
        master.receive(us(32), 1, ProtocolControlFrame { sync_priority: 3, ..start });
        let slow = super::super::to_transparent_clock(Duration::from_us(101));
        master.receive(us(33), 1, ProtocolControlFrame { transparent_clock: slow, ..start });
        master.advance(us(1_000));
        assert_eq!(master.poll(), Some(ProtocolControlFrame { transparent_clock: 0, ..start }));
        assert_eq!(master.poll(), None);
    }

    #[test]
    fn a_babbling_master_has_one_place_of_its_own() {
        let mut master = CompressionMaster::new(CONFIG);
        for cycle in 0..1_000 {
            master.receive(us(30), 1, frame(PcfType::Integration, cycle, 1));
            master.receive(us(30), 1, frame(PcfType::Integration, cycle, 4));
        }
        master.receive(us(31), 2, frame(PcfType::Integration, 7, 2));
        master.advance(us(10_000));
        let sent: Vec<u32> =
            core::iter::from_fn(|| master.poll()).map(|frame| frame.membership_new).collect();
        assert_eq!(sent, [1, 2], "its first frame, and none under another's name");
    }

    /// A compression master whose clock is set: cycle 4 began at 1000 us.
    fn running() -> CompressionMaster {
        let mut master = CompressionMaster::new(CONFIG);
        for sender in [1, 2, 4] {
            master.receive(us(1_030), sender, frame(PcfType::Integration, 4, sender));
        }
        master.advance(us(1_200));
        assert_eq!(master.poll().map(|frame| frame.membership_new), Some(7));
        assert_eq!(master.cycle(us(1_200)), Some((us(1_000), 4)));
        master
    }

    #[test]
    fn with_its_clock_set_it_takes_one_frame_of_the_next_cycle_of_each() {
        let mut master = running();
        master.receive(us(6_011), 1, frame(PcfType::Integration, 5, 1));
        master.receive(us(6_050), 2, frame(PcfType::Integration, 5, 2));
        master.advance(us(6_095));
        master.receive(us(6_050), 4, frame(PcfType::Integration, 6, 4));
        master.advance(us(6_300));
        let sent: Vec<u32> =
            core::iter::from_fn(|| master.poll()).map(|frame| frame.membership_new).collect();
        assert_eq!(sent, [1, 2], "early within two windows, late within them; another cycle's is none");
    }

    #[test]
    fn who_babbles_is_not_taken_until_it_is_silent_for_a_cycle() {
        let mut master = running();
        master.receive(us(3_000), 1, frame(PcfType::ColdStart, 0, 1));
        master.advance(us(3_200));
        assert_eq!(master.poll(), None, "nobody starts a network that runs");
        // Cycles 5 to 7, the babbler's frames as they should be.
        let mut sent = Vec::new();
        for cycle in 5..8_u32 {
            let at = us(1_030) + CONFIG.integration_cycle * u64::from(cycle - 4);
            for sender in [1, 2, 4] {
                master.receive(at, sender, frame(PcfType::Integration, cycle, sender));
            }
            master.advance(at + Duration::from_us(200));
            sent.extend(core::iter::from_fn(|| master.poll()).map(|frame| frame.membership_new));
        }
        assert_eq!(sent, [6, 6, 7]);
    }
}
