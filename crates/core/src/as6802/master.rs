//! A synchronisation master, or a client, which is one that sends nothing (SAE AS6802).
//!
//! ```text
//!  Integrate ──listen timeout──► Unsync ──cold start──► Flood ──acknowledged──► WaitForCycleStart
//!     ▲  │                        │  ▲ │                  │                          │
//!     │  └─integration frame─┐    │  └─┴──nobody──────────┘                          ▼
//!     │                      ▼    ▼                                            TentativeSync
//!     └──── too few ───────  Sync ◄──────────── enough members ──────────────────────┘
//!     └──── too few ────── Stable ◄── enough cycles
//! ```
//! A master that receives no other frames sends cold start frames. A master that receives one answers with an acknowledgement
//! after a delay, and the compressed acknowledgement starts the clocks of all masters at once. When synchronised,
//! every master sends an integration frame at the start of each cycle, and sets its clock once a cycle by the
//! compressed frames that came within the acceptance window (in schedule). Compressed frames outside of the window, at
//! any time since the last evaluation, belong to another clique. The master integrates anew if one of them has more
//! members than those inside, or as many members and one with a lower number than all inside (asynchronous clique
//! detection), and also if there are too few members inside (synchronous clique detection). Each frame is compared by
//! itself, and this order is total: of any number of cliques that receive each other's frames exactly one remains. A
//! master that remains in `TentativeSync` starts again with the others when an acknowledgement comes. Invariants: one
//! frame at the start of a cycle; the clock is set once a cycle, by at most half of the acceptance window; when
//! members are too few for long enough, synchronisation is lost and reported.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::cmp::Ordering;

use tautwire_units::{Duration, Instant};

use super::{PcfType, ProtocolControlFrame, fault_tolerant_average, permanent_at, transparent_time};

/// Frames that wait to be permanent, at most.
const PENDING_MAX: usize = 64;
/// Different memberships of frames out of schedule that are kept, at most: what comes beyond is babbled.
const OTHERS_MAX: usize = 64;

/// Members, and cycles, at which a master changes its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Thresholds {
    /// From `Integrate` and `Unsync` to `Sync`.
    pub to_sync: u32,
    /// To stay in `TentativeSync`, or to come there from `Unsync`.
    pub to_tentative: u32,
    /// To stay in `Sync` and `Stable`.
    pub stay: u32,
    /// Cycles with enough members from `Sync` to `Stable`.
    pub stable_cycles: u32,
    /// Cycles with too few members in a row, after which `Stable` is left.
    pub unstable_cycles: u32,
}

/// Settings of a master or client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MasterConfig {
    /// Its bit of the membership; none for a client.
    pub member: Option<u32>,
    /// Synchronisation domain; frames of others are not looked at.
    pub domain: u8,
    /// Synchronisation priority.
    pub priority: u8,
    /// Greatest transmission delay between masters and compression masters.
    pub delay_max: Duration,
    /// From the first point at a compression master to the compressed one, without correction.
    pub compression_delay: Duration,
    /// Length of an integration cycle.
    pub integration_cycle: Duration,
    /// Integration cycles until their number begins again.
    pub cycles: u32,
    /// Half of the acceptance window: at least the precision.
    pub acceptance: Duration,
    /// How long a node listens before it starts the network itself.
    pub listen_timeout: Duration,
    /// Distance of its cold start frames.
    pub cold_start_timeout: Duration,
    /// From a cold start frame to its acknowledgement.
    pub cold_start_offset: Duration,
    /// From the compressed acknowledgement to the start of the first cycle.
    pub acknowledge_offset: Duration,
    /// Masters that may be faulty.
    pub faulty: u32,
    /// Whether it is a command/monitor pair, which may rely on its own cold start.
    pub high_integrity: bool,
    /// Thresholds.
    pub thresholds: Thresholds,
}

/// The state of a master or client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MasterState {
    /// Listens whether there is a network.
    Integrate,
    /// Tries to start one.
    Unsync,
    /// Has received a cold start frame, and acknowledges it.
    Flood,
    /// Waits for the first cycle.
    WaitForCycleStart,
    /// Cycles run; whether others take part is to be seen.
    TentativeSync,
    /// Synchronised.
    Sync,
    /// For long enough to bear a few bad cycles.
    Stable,
}

/// What a master reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Sends a frame to the compression masters.
    Send(ProtocolControlFrame),
    /// Network time begins: an integration cycle of this number began at this reading of its clock.
    Synchronised {
        /// Number of the cycle.
        cycle: u32,
        /// Its start.
        start: Instant,
    },
    /// An integration cycle begins.
    Cycle {
        /// Its number.
        cycle: u32,
        /// Its start.
        start: Instant,
    },
    /// Network time is lost.
    Lost,
}

/// How often a master gave up its cycles, by what it found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CliquesDetected {
    /// Too few members in schedule: its own clique is too small.
    pub synchronous: u32,
    /// As many members out of schedule: another clique is there.
    pub asynchronous: u32,
}

/// A synchronisation master or client.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SynchronisationMaster {
    config: MasterConfig,
    state: MasterState,
    /// Start of the cycle, while cycles run.
    start: Instant,
    cycle: u32,
    /// Whether the cycle's frames were looked at.
    evaluated: bool,
    /// End of what the state waits for, if cycles do not run.
    timer: Instant,
    /// Whether the acknowledgement was sent.
    flooded: bool,
    /// Frames that are not permanent yet, in order of time: when, by which channel.
    pending: Vec<(Instant, u8, ProtocolControlFrame)>,
    /// Per channel: membership of its best frame in schedule, and how late it was.
    in_schedule: Vec<(u8, u32, i64)>,
    /// Memberships of the frames out of schedule since the last look.
    out_of_schedule: Vec<u32>,
    detected: CliquesDetected,
    good_cycles: u32,
    bad_cycles: u32,
    out: VecDeque<Outcome>,
}

impl SynchronisationMaster {
    /// Begins to listen at `now`.
    ///
    /// # Panics
    /// If there are no integration cycles, or the frames of a cycle come too late to be looked at in it.
    #[must_use]
    pub fn new(config: MasterConfig, now: Instant) -> Self {
        assert!(config.cycles > 0, "a cycle");
        let mut master = Self {
            config,
            state: MasterState::Integrate,
            start: now,
            cycle: 0,
            evaluated: true,
            timer: now,
            flooded: false,
            pending: Vec::new(),
            in_schedule: Vec::new(),
            out_of_schedule: Vec::new(),
            detected: CliquesDetected::default(),
            good_cycles: 0,
            bad_cycles: 0,
            out: VecDeque::new(),
        };
        assert!(master.evaluation() < config.integration_cycle, "frames come in their cycle");
        master.listen(now);
        master
    }

    /// Its state.
    #[must_use]
    pub const fn state(&self) -> MasterState {
        self.state
    }

    /// Whether it has network time.
    #[must_use]
    pub const fn is_synchronised(&self) -> bool {
        matches!(self.state, MasterState::Sync | MasterState::Stable)
    }

    /// How often it found that it was in too small a clique, or not in the only one.
    #[must_use]
    pub const fn detected(&self) -> CliquesDetected {
        self.detected
    }

    /// Start and number of the running cycle; none without synchronisation.
    #[must_use]
    pub fn cycle(&self) -> Option<(Instant, u32)> {
        self.is_synchronised().then_some((self.start, self.cycle))
    }

    /// Receives a frame on a channel; its transparent clock holds its transmission delay.
    pub fn receive(&mut self, now: Instant, channel: u8, frame: ProtocolControlFrame) {
        self.advance(now);
        if !super::is_of(&frame, self.config.domain, self.config.priority) {
            return;
        }
        let took = transparent_time(frame.transparent_clock);
        let Some(at) = permanent_at(now, took, self.config.delay_max) else { return };
        if self.pending.len() < PENDING_MAX {
            let place = self.pending.partition_point(|(other, ..)| *other <= at);
            self.pending.insert(place, (at, channel, frame));
        }
    }

    /// When there is something to do.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        let own = if self.runs() { self.next_point() } else { self.timer };
        self.pending.first().map_or(own, |(at, ..)| own.min(*at))
    }

    /// Does what is due, in order of time; of one instant frames first.
    pub fn advance(&mut self, now: Instant) {
        while self.deadline() <= now {
            let at = self.deadline();
            if self.pending.first().is_some_and(|(due, ..)| *due == at) {
                let (_, channel, frame) = self.pending.remove(0);
                self.permanent(at, channel, frame);
            } else if !self.runs() {
                self.time_out(at);
            } else if self.evaluated {
                self.begin_cycle(self.start + self.config.integration_cycle);
            } else {
                self.evaluate(at);
            }
        }
    }

    /// The next outcome to report.
    pub fn poll(&mut self) -> Option<Outcome> {
        self.out.pop_front()
    }

    /// Whether cycles run.
    const fn runs(&self) -> bool {
        matches!(self.state, MasterState::TentativeSync | MasterState::Sync | MasterState::Stable)
    }

    /// From the start of a cycle to the point of its compressed frame.
    fn scheduled(&self) -> Duration {
        self.config.delay_max * 2 + self.config.compression_delay
    }

    /// From the start of a cycle to the look at its frames: the window, and the greatest step of the clock.
    fn evaluation(&self) -> Duration {
        self.scheduled() + self.config.acceptance * 2
    }

    fn next_point(&self) -> Instant {
        let span = if self.evaluated { self.config.integration_cycle } else { self.evaluation() };
        self.start + span
    }

    fn listen(&mut self, now: Instant) {
        if self.is_synchronised() {
            self.out.push_back(Outcome::Lost);
        }
        self.state = MasterState::Integrate;
        self.timer = now + self.config.listen_timeout;
    }

    fn send(&mut self, kind: PcfType, integration_cycle: u32) {
        let Some(member) = self.config.member else { return };
        self.out.push_back(Outcome::Send(ProtocolControlFrame {
            integration_cycle,
            membership_new: member,
            sync_priority: self.config.priority,
            sync_domain: self.config.domain,
            kind,
            transparent_clock: 0,
        }));
    }

    /// The timeout of a state, when the awaited frame has not come.
    fn time_out(&mut self, at: Instant) {
        match self.state {
            MasterState::Flood if !self.flooded => {
                self.flooded = true;
                self.send(PcfType::ColdStartAcknowledge, 0);
                // The compressed acknowledgement is there by then.
                self.timer = at + self.evaluation();
            }
            MasterState::WaitForCycleStart => {
                self.state = MasterState::TentativeSync;
                (self.good_cycles, self.bad_cycles) = (0, 0);
                self.out_of_schedule.clear();
                self.cycle = self.config.cycles - 1;
                self.begin_cycle(at);
            }
            // A client starts no network.
            _ if self.config.member.is_none() => self.listen(at),
            _ => {
                self.state = MasterState::Unsync;
                self.send(PcfType::ColdStart, 0);
                self.timer = at + self.config.cold_start_timeout;
            }
        }
    }

    fn begin_cycle(&mut self, at: Instant) {
        self.start = at;
        self.cycle = (self.cycle + 1) % self.config.cycles;
        self.evaluated = false;
        self.in_schedule.clear();
        if planted!(CliqueForgotten) {
            self.out_of_schedule.clear();
        }
        self.send(PcfType::Integration, self.cycle);
        if self.is_synchronised() {
            self.out.push_back(Outcome::Cycle { cycle: self.cycle, start: at });
        }
    }

    /// A frame is permanent.
    fn permanent(&mut self, at: Instant, channel: u8, frame: ProtocolControlFrame) {
        match (self.state, frame.kind) {
            (MasterState::Integrate | MasterState::Unsync, PcfType::Integration) => self.join(at, frame),
            // A standard-integrity master starts nothing with itself alone: it may be the faulty one.
            (MasterState::Unsync, PcfType::ColdStart)
                if Some(frame.membership_new) != self.config.member || self.config.high_integrity =>
            {
                self.state = MasterState::Flood;
                self.flooded = false;
                self.timer = at + self.config.cold_start_offset;
            }
            (
                MasterState::Integrate | MasterState::Unsync | MasterState::Flood,
                PcfType::ColdStartAcknowledge,
            ) => {
                self.acknowledged(at);
            }
            (MasterState::TentativeSync, PcfType::ColdStartAcknowledge) if self.starts_again() => {
                self.acknowledged(at);
            }
            (_, PcfType::Integration) if self.runs() => self.take(at, channel, frame),
            _ => {}
        }
    }

    /// Everybody begins the first cycle at one time.
    fn acknowledged(&mut self, at: Instant) {
        self.state = MasterState::WaitForCycleStart;
        self.timer = at + self.config.acknowledge_offset;
    }

    /// Whether it stays tentative for want of members: not in the first cycle, in which acknowledgements of one start
    /// may still come, and not with members enough for network time in this one.
    fn starts_again(&self) -> bool {
        if planted!(AcknowledgementIgnored) {
            return false;
        }
        self.good_cycles > 0 && self.membership().count_ones() < self.config.thresholds.to_sync
    }

    /// Membership of the frame in schedule with most members.
    fn membership(&self) -> u32 {
        let memberships = self.in_schedule.iter().map(|(_, membership, _)| *membership);
        memberships.max_by_key(|membership| membership.count_ones()).unwrap_or(0)
    }

    /// Joins the network of an integration frame.
    fn join(&mut self, at: Instant, frame: ProtocolControlFrame) {
        let members = frame.membership_new.count_ones();
        let thresholds = self.config.thresholds;
        self.state = if members >= thresholds.to_sync {
            MasterState::Sync
        } else if members >= thresholds.to_tentative && self.state == MasterState::Unsync {
            MasterState::TentativeSync
        } else {
            return;
        };
        self.start = Instant::from_ps(at.as_ps().saturating_sub(self.scheduled().as_ps()));
        self.cycle = frame.integration_cycle % self.config.cycles;
        // The integration frame that it joined by is this cycle's frame.
        self.evaluated = true;
        (self.good_cycles, self.bad_cycles) = (0, 0);
        self.out_of_schedule.clear();
        if self.is_synchronised() {
            self.out.push_back(Outcome::Synchronised { cycle: self.cycle, start: self.start });
        }
    }

    /// An integration frame while cycles run: in schedule or not.
    fn take(&mut self, at: Instant, channel: u8, frame: ProtocolControlFrame) {
        let due = self.start + self.scheduled();
        let late = i128::from(at.as_ps()) - i128::from(due.as_ps());
        let membership = frame.membership_new;
        let expected = frame.integration_cycle == self.cycle;
        if !expected || late.unsigned_abs() > u128::from(self.config.acceptance.as_ps()) {
            if !self.out_of_schedule.contains(&membership) && self.out_of_schedule.len() < OTHERS_MAX {
                self.out_of_schedule.push(membership);
            }
            return;
        }
        // In the cycle in which it joined, which is not evaluated.
        if self.evaluated {
            return;
        }
        let late = i64::try_from(late).expect("within the acceptance window");
        match self.in_schedule.iter_mut().find(|(other, ..)| *other == channel) {
            Some(best) if membership.count_ones() > best.1.count_ones() => {
                *best = (channel, membership, late)
            }
            Some(_) => {}
            None => self.in_schedule.push((channel, membership, late)),
        }
    }

    /// Whether another clique has precedence over its own: it has more members, or as many and not all of its members
    /// have higher numbers. Of all cliques that receive each other's frames exactly one finds none.
    fn gives_way_to_clique(&self) -> bool {
        let own = self.membership();
        #[cfg(feature = "planted-faults")]
        if planted!(CliquesSummed) {
            let all = self.out_of_schedule.iter().fold(0, |all, others| all | others);
            return is_before(all & !own, own);
        }
        // A compression master that receives frames of both cliques for one cycle compresses members of this one, too.
        self.out_of_schedule.iter().any(|others| is_before(others & !own, own))
    }

    /// Gives up its cycles.
    fn give_up(&mut self, at: Instant) {
        self.detected.synchronous += 1;
        self.listen(at);
    }

    /// Evaluates the frames of the cycle: members and time.
    fn evaluate(&mut self, at: Instant) {
        self.evaluated = true;
        let members = self.membership().count_ones();
        let thresholds = self.config.thresholds;
        let gives_way = self.gives_way_to_clique();
        self.out_of_schedule.clear();
        if gives_way {
            self.detected.asynchronous += 1;
            return self.listen(at);
        }
        match self.state {
            MasterState::TentativeSync if members >= thresholds.to_sync => {
                self.state = MasterState::Sync;
                (self.good_cycles, self.bad_cycles) = (0, 0);
                self.correct();
                self.out.push_back(Outcome::Synchronised { cycle: self.cycle, start: self.start });
            }
            MasterState::TentativeSync if members < thresholds.to_tentative => self.give_up(at),
            MasterState::Sync if members < thresholds.stay => self.give_up(at),
            MasterState::Stable if members < thresholds.stay => {
                self.bad_cycles += 1;
                if self.bad_cycles >= thresholds.unstable_cycles {
                    return self.give_up(at);
                }
                self.correct();
            }
            _ => {
                self.bad_cycles = 0;
                self.good_cycles += 1;
                if self.state == MasterState::Sync && self.good_cycles >= thresholds.stable_cycles {
                    self.state = MasterState::Stable;
                }
                self.correct();
            }
        }
    }

    /// Sets the clock by the frames in schedule.
    fn correct(&mut self) {
        let mut late: Vec<i64> = self.in_schedule.iter().map(|(.., late)| *late).collect();
        if !late.is_empty() {
            let faulty = usize::try_from(self.config.faulty).unwrap_or(usize::MAX);
            let correction = fault_tolerant_average(&mut late, faulty);
            self.start = Instant::from_ps(self.start.as_ps().saturating_add_signed(correction));
        }
    }
}

/// Whether the members of one clique are before those of another: more, or as many and with the lowest-numbered of both.
fn is_before(one: u32, other: u32) -> bool {
    match one.count_ones().cmp(&other.count_ones()) {
        Ordering::Greater => true,
        Ordering::Equal => one.trailing_zeros() < other.trailing_zeros(),
        Ordering::Less => false,
    }
}

#[cfg(test)]
#[path = "master_tests.rs"]
mod tests;
