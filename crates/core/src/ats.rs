//! Asynchronous traffic shaping: eligibility times (IEEE Std 802.1Q-2022, 8.6.5.6 and 8.6.11).
//!
//! In: arrival time and length of a frame of a stream. Out: its assigned eligibility time, or its
//! discard. Invariants: the eligibility times of a group never decrease; a frame is never eligible
//! earlier than exact arithmetic would make it. Not here: the queues that hold frames until then
//! (`queue.rs`, `port.rs`). Scenario: `scenarios/asynchronous.yaml`.
//!
//! A device with a tick computes in ticks of the scheduler's clock: [`AtsParameters::new`] alone derives them from rates, and
//! rounds every one to the late side, so that the simulator, a live bridge and the hardware agree to the tick. Without a tick
//! times are those of the standard, in picoseconds and exact parts of one (`fine_time.rs`); an assigned eligibility time is
//! rounded up to the picosecond, and nothing is lost to it.

use alloc::vec::Vec;

use tautwire_units::{BitRate, Bits, Duration, Instant};

use crate::OctetTime;
use crate::fine_time::{FineTime, Pace, Scale};

/// CommittedInformationRate and CommittedBurstSize in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtsParameters {
    pace: Pace,
    /// In which its times are.
    scale: Scale,
    /// EmptyToFullDuration, of ticks rounded down: a bucket that fills earlier lets fewer frames pass early.
    empty_to_full: FineTime,
    /// A longer frame never passes.
    octets_max: u64,
}

impl AtsParameters {
    /// Parameters of a scheduler whose clock ticks every `quantum`, or is exact; none if the rate is zero or so
    /// small that an octet lasts more than 2⁴⁰ ticks or the bucket fills in more than 2⁶³.
    #[must_use]
    pub fn new(
        committed_information_rate: BitRate,
        committed_burst_size: Bits,
        quantum: Option<Duration>,
    ) -> Option<Self> {
        let octets_max = committed_burst_size.get() / 8;
        let Some(quantum) = quantum else {
            let (pace, scale, empty_to_full) = Pace::exact(committed_information_rate, committed_burst_size)?;
            return Some(Self { pace, scale, empty_to_full, octets_max });
        };
        let pace = Pace::Ticks(OctetTime::new(committed_information_rate, quantum)?);
        let full = committed_information_rate.duration_floor(committed_burst_size) / quantum;
        let empty_to_full = FineTime::of_ticks(i64::try_from(full).ok()?);
        Some(Self { pace, scale: Scale::TICKS, empty_to_full, octets_max })
    }
}

/// Why a scheduler discards a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtsDiscard {
    /// Its eligibility time is later than its arrival time and MaxResidenceTime.
    ResidenceTime,
    /// It is larger than CommittedBurstSize: its bucket never holds enough.
    ExceedsBurstSize,
}

/// An ATS scheduler instance.
#[derive(Clone, Debug)]
struct Scheduler {
    parameters: AtsParameters,
    /// BucketEmptyTime; negative while the bucket would have been full before the start.
    bucket_empty_time: FineTime,
    group: u32,
    /// Charged octets of the last frame, and how long they last.
    last: (u64, FineTime),
}

impl Scheduler {
    /// LengthRecoveryDuration. Most streams have frames of one length: the last value is kept, because a new one may need a division.
    #[inline]
    fn recovery(&mut self, charged: u64) -> FineTime {
        if self.last.0 != charged {
            self.last = (charged, self.parameters.pace.duration(charged, self.parameters.scale));
        }
        self.last.1
    }
}

/// An ATS scheduler group.
#[derive(Clone, Debug)]
struct Group {
    /// GroupEligibilityTime, in the scale of the scheduler that has set it.
    eligibility_time: FineTime,
    scale: Scale,
    /// MaxResidenceTime, in ticks, rounded down.
    residence_max: i64,
    /// Frames discarded.
    discarded: u64,
}

/// The ATS schedulers of a bridge, or of a talker that shapes its streams.
#[derive(Clone, Debug)]
pub struct AtsSchedulers {
    quantum: u64,
    /// Octets charged in addition to the frame's own.
    charged_overhead: u64,
    /// ProcessingDelayMax and what else is added to every eligibility time.
    assigned_later: Duration,
    schedulers: Vec<Scheduler>,
    groups: Vec<Group>,
}

impl AtsSchedulers {
    /// A bank without schedulers. `quantum` is the tick of its clock, if it has one; `charged_overhead` is charged
    /// with every frame; `assigned_later` (ProcessingDelayMax) is added to every eligibility time.
    ///
    /// # Panics
    /// If the quantum is zero.
    #[must_use]
    pub fn new(quantum: Option<Duration>, charged_overhead: u64, assigned_later: Duration) -> Self {
        let quantum = quantum.map_or(1, Duration::as_ps);
        assert!(quantum > 0, "a tick lasts");
        Self { quantum, charged_overhead, assigned_later, schedulers: Vec::new(), groups: Vec::new() }
    }

    /// Adds a group and gives its number.
    ///
    /// # Panics
    /// If there are 2³² groups.
    pub fn add_group(&mut self, max_residence_time: Option<Duration>) -> u32 {
        let residence_max = max_residence_time
            .map_or(i64::MAX, |time| i64::try_from(time.as_ps() / self.quantum).unwrap_or(i64::MAX));
        let eligibility_time = FineTime::default();
        self.groups.push(Group { eligibility_time, scale: Scale::TICKS, residence_max, discarded: 0 });
        u32::try_from(self.groups.len() - 1).expect("fewer than 2^32 groups")
    }

    /// Adds a scheduler of a group, its bucket full, and gives its number.
    ///
    /// # Panics
    /// If the group does not exist or there are 2³² schedulers.
    pub fn add_scheduler(&mut self, group: u32, parameters: AtsParameters) -> u32 {
        assert!((group as usize) < self.groups.len(), "a group that was added");
        let bucket_empty_time = FineTime::default().minus(parameters.empty_to_full, parameters.scale);
        self.schedulers.push(Scheduler {
            parameters,
            bucket_empty_time,
            group,
            last: (0, FineTime::default()),
        });
        u32::try_from(self.schedulers.len() - 1).expect("fewer than 2^32 schedulers")
    }

    /// Changes the parameters of a scheduler; its bucket keeps its BucketEmptyTime.
    pub fn set_parameters(&mut self, scheduler: u32, parameters: AtsParameters) {
        let scheduler = &mut self.schedulers[scheduler as usize];
        let from = core::mem::replace(&mut scheduler.parameters, parameters).scale;
        scheduler.bucket_empty_time = scheduler.bucket_empty_time.rescaled(from, parameters.scale);
        scheduler.last = (0, FineTime::default());
    }

    /// Removes the parameters of a scheduler: it discards every frame until it has others. Its bucket keeps its
    /// BucketEmptyTime, so earlier frames count when it has parameters again.
    pub fn remove_parameters(&mut self, scheduler: u32) {
        self.schedulers[scheduler as usize].parameters.octets_max = 0;
    }

    /// ProcessFrame (8.6.11.3): the assigned eligibility time of a frame of `octets` (destination to
    /// FCS) that arrived at `arrival`.
    ///
    /// # Errors
    /// The reason for which the frame is discarded; a discarded frame changes no bucket.
    #[inline]
    pub fn process(&mut self, scheduler: u32, arrival: Instant, octets: u64) -> Result<Instant, AtsDiscard> {
        let scheduler = &mut self.schedulers[scheduler as usize];
        let group = if planted!(OneSchedulerGroup) { 0 } else { scheduler.group };
        let group = &mut self.groups[group as usize];
        let charged = octets + self.charged_overhead;
        if charged > scheduler.parameters.octets_max {
            // Without parameters it is none of the scheduler's frames.
            group.discarded += u64::from(scheduler.parameters.octets_max > 0);
            return Err(AtsDiscard::ExceedsBurstSize);
        }
        let arrival_ticks =
            if self.quantum == 1 { arrival.as_ps() } else { arrival.as_ps().div_ceil(self.quantum) };
        let arrival_time = i64::try_from(arrival_ticks).expect("a run of at most 106 days");
        let scale = scheduler.parameters.scale;
        let mut recovery = scheduler.recovery(charged);
        if planted!(HalfCommittedRate) {
            recovery = recovery.plus(recovery, scale);
        }
        let scheduler_eligibility = scheduler.bucket_empty_time.plus(recovery, scale);
        let mut bucket_full = scheduler.bucket_empty_time.plus(scheduler.parameters.empty_to_full, scale);
        if planted!(NoCommittedBurst) {
            bucket_full = scheduler_eligibility;
        }
        let of_group = group.eligibility_time.rescaled(group.scale, scale);
        let eligibility = FineTime::of_ticks(arrival_time).max(of_group).max(scheduler_eligibility);
        if eligibility > FineTime::of_ticks(arrival_time.saturating_add(group.residence_max)) {
            group.discarded += 1;
            return Err(AtsDiscard::ResidenceTime);
        }
        (group.eligibility_time, group.scale) = (eligibility, scale);
        scheduler.bucket_empty_time = if eligibility < bucket_full {
            scheduler_eligibility
        } else {
            scheduler_eligibility.plus(eligibility.minus(bucket_full, scale), scale)
        };
        let ticks = u64::try_from(eligibility.ceil()).expect("not before the arrival");
        let mut later = self.assigned_later;
        if planted!(ProcessingDelayTwice) {
            later = later * 2;
        }
        // Beyond all times: with ticks of hours soon, and such a frame is never sent.
        Ok(Instant::from_ps(ticks.saturating_mul(self.quantum)).saturating_add(later))
    }

    /// Frames that a group has discarded.
    #[must_use]
    pub fn discarded(&self, group: u32) -> u64 {
        self.groups[group as usize].discarded
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    const PS: Option<Duration> = Some(Duration::from_ps(1));

    fn bank(cir: BitRate, burst: Bits, quantum: Option<Duration>) -> (AtsSchedulers, u32) {
        let mut bank = AtsSchedulers::new(quantum, 0, Duration::ZERO);
        let group = bank.add_group(None);
        let parameters = AtsParameters::new(cir, burst, quantum).expect("a rate");
        let scheduler = bank.add_scheduler(group, parameters);
        (bank, scheduler)
    }

    fn eligibility_ns(bank: &mut AtsSchedulers, scheduler: u32, frames: &[(u64, u64)]) -> Vec<u64> {
        frames
            .iter()
            .map(|(arrival, octets)| {
                let arrival = Instant::ZERO + Duration::from_ns(*arrival);
                bank.process(scheduler, arrival, *octets).expect("no limit").as_ps() / 1_000
            })
            .collect()
    }

    #[test]
    fn without_parameters_nothing_passes_and_the_bucket_is_remembered() {
        let (mut bank, scheduler) = bank(BitRate::from_mbps(100), Bits::new(8_000), PS);
        assert_eq!(eligibility_ns(&mut bank, scheduler, &[(0, 1_000)]), [0]);
        bank.remove_parameters(scheduler);
        let arrival = Instant::ZERO + Duration::from_us(10);
        assert_eq!(bank.process(scheduler, arrival, 64), Err(AtsDiscard::ExceedsBurstSize));
        let parameters = AtsParameters::new(BitRate::from_mbps(100), Bits::new(8_000), PS);
        bank.set_parameters(scheduler, parameters.expect("a rate"));
        // The bucket was emptied at the start: it is full at 80 us again.
        assert_eq!(eligibility_ns(&mut bank, scheduler, &[(20_000, 1_000)]), [80_000]);
    }

    /// A stream at exactly its rate, of which a frame lasts 1 ms and an octet no whole number of picoseconds.
    #[test]
    fn without_a_tick_nothing_drifts() {
        let (mut bank, scheduler) = bank(BitRate::from_mbps(12), Bits::new(12_000), None);
        for frame in 0..100_000 {
            let arrival = Instant::ZERO + Duration::from_ms(frame);
            assert_eq!(bank.process(scheduler, arrival, 1_500), Ok(arrival), "frame {frame}");
        }
    }

    /// Rates without a common measure in one group: what each frame is late for the other's scale does not add up.
    #[test]
    fn a_group_of_odd_rates_does_not_drift() {
        let mut bank = AtsSchedulers::new(None, 0, Duration::ZERO);
        let group = bank.add_group(None);
        let mut scheduler = |bps| {
            let parameters = AtsParameters::new(BitRate::from_bps(bps), Bits::new(12_000), None);
            bank.add_scheduler(group, parameters.expect("a rate"))
        };
        let (one, other) = (scheduler(700_000), scheduler(1_100_000));
        let mut last = Instant::ZERO;
        for frame in 0..100_000 {
            last = bank.process(one, Instant::ZERO, 1_500).expect("no limit");
            // The other has more than it needs, and its bucket is full whenever its frame may go.
            assert_eq!(bank.process(other, Instant::ZERO, 1_500), Ok(last), "frame {frame}");
        }
        // 99 999 frames of 12 000 bits behind the first.
        assert_eq!(last.as_ps(), (99_999_u64 * 12_000 * 10_000_000).div_ceil(7));
    }

    #[test]
    fn streams_of_a_group_at_exactly_their_rates_pass_at_once() {
        let mut bank = AtsSchedulers::new(None, 8, Duration::ZERO);
        let group = bank.add_group(None);
        let mut scheduler = |bps| {
            let parameters = AtsParameters::new(BitRate::from_bps(bps), Bits::new(12_000), None);
            bank.add_scheduler(group, parameters.expect("a rate"))
        };
        let (long, short) = (scheduler(600_000), scheduler(123_200));
        for frame in 0..1_000 {
            let first = Instant::ZERO + Duration::from_ms(20 * frame) + Duration::from_us(120);
            let second = first + Duration::from_ns(25_600);
            assert_eq!(bank.process(long, first, 1_492), Ok(first), "frame {frame}");
            assert_eq!(bank.process(short, second, 300), Ok(second), "frame {frame}");
        }
    }

    /// Frames A to E of the worked example: half a bucket, half a bucket, a full bucket that must wait, then two
    /// halves at once when the bucket is full again.
    #[test]
    fn the_worked_example() {
        // A bucket of 1000 octets that fills in 80 us at 100 Mbit/s.
        let (mut bank, scheduler) = bank(BitRate::from_mbps(100), Bits::new(8_000), PS);
        let frames = [(0, 500), (20_000, 500), (40_000, 1_000), (250_000, 500), (250_000, 500)];
        // C: after A and B the bucket holds 1000 − 500 + 250 − 500 = 250 octets at 20 us; it is full
        // at 20 + 60 = 80 us. D and E pass at once: the bucket is full since 160 us.
        assert_eq!(eligibility_ns(&mut bank, scheduler, &frames), [0, 20_000, 80_000, 250_000, 250_000]);
    }

    #[test]
    fn back_to_back_frames_pass_in_a_burst_and_then_at_the_rate() {
        // 16 frames of 1522 octets of burst at 100 Mbit/s, arriving every 12.336 us at 1 Gbit/s.
        let quantum = Some(Duration::from_ns(8));
        let (mut bank, scheduler) = bank(BitRate::from_mbps(100), Bits::new(16 * 1_522 * 8), quantum);
        let frames: Vec<_> = (0..40).map(|k| (k * 12_336, 1_522)).collect();
        let times = eligibility_ns(&mut bank, scheduler, &frames);
        let intervals: Vec<_> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(intervals[..16], vec![12_336; 16]);
        assert_eq!(intervals[16], 46_144, "a rest of the burst");
        assert!(intervals[17..].iter().all(|interval| *interval == 121_760), "{intervals:?}");
    }

    #[test]
    fn a_group_keeps_its_order() {
        let mut bank = AtsSchedulers::new(PS, 0, Duration::ZERO);
        let group = bank.add_group(None);
        let slow = AtsParameters::new(BitRate::from_mbps(1), Bits::new(8_000), PS).expect("a rate");
        let fast = AtsParameters::new(BitRate::from_mbps(1_000), Bits::new(800_000), PS).expect("a rate");
        let (slow, fast) = (bank.add_scheduler(group, slow), bank.add_scheduler(group, fast));
        let at = Instant::ZERO;
        assert_eq!(bank.process(slow, at, 1_000), Ok(at));
        let second = bank.process(slow, at, 1_000).expect("no limit");
        assert_eq!(second, at + Duration::from_ms(8));
        assert_eq!(bank.process(fast, at, 100), Ok(second), "behind the frame before it");
    }

    #[test]
    fn a_frame_that_would_stay_too_long_is_discarded_and_changes_nothing() {
        let mut bank = AtsSchedulers::new(PS, 0, Duration::from_us(50));
        let group = bank.add_group(Some(Duration::from_us(134)));
        let parameters =
            AtsParameters::new(BitRate::from_mbps(100), Bits::new(1_522 * 8), PS).expect("a rate");
        let scheduler = bank.add_scheduler(group, parameters);
        let at = |us| Instant::ZERO + Duration::from_us(us);
        assert_eq!(bank.process(scheduler, at(0), 1_522), Ok(at(50)), "assigned PMD later");
        assert_eq!(bank.process(scheduler, at(0), 1_522), Ok(at(50) + Duration::from_ns(121_760)));
        assert_eq!(bank.process(scheduler, at(1), 1_522), Err(AtsDiscard::ResidenceTime));
        assert_eq!(bank.process(scheduler, at(1), 1_523), Err(AtsDiscard::ExceedsBurstSize));
        assert_eq!(bank.discarded(group), 2);
        assert_eq!(
            bank.process(scheduler, at(200), 1_522),
            Ok(at(50) + Duration::from_ns(243_520)),
            "as if the discarded ones had never come"
        );
    }

    proptest::proptest! {
        /// Against exact rational arithmetic: never early, late by less than two ticks a frame, and without ticks the same.
        #[test]
        fn ticks_are_never_early(
            bps in 1_000_u64..2_000_000_000,
            burst in 1_600_u64..20_000,
            quantum in 1_u64..10_000,
            frames in proptest::collection::vec((0_u64..200_000_000, 64_u64..1_600), 1..60),
        ) {
            let quantum = Duration::from_ps(quantum);
            let (mut bank, scheduler) = bank(BitRate::from_bps(bps), Bits::new(burst * 8), Some(quantum));
            let (mut exact, same) = self::bank(BitRate::from_bps(bps), Bits::new(burst * 8), None);
            // Exact: all times times bps, in units of 1/bps picosecond.
            let scale = i128::from(bps);
            let bit = 1_000_000_000_000_i128;
            let full = i128::from(burst) * 8 * bit;
            let (mut empty, mut group, mut now) = (-full, 0_i128, 0_u64);
            let mut late_before = i128::MIN;
            for (index, (gap, octets)) in frames.into_iter().enumerate() {
                now += gap;
                let arrival = i128::from(now) * scale;
                let scheduler_eligibility = empty + i128::from(octets) * 8 * bit;
                let eligibility = arrival.max(group).max(scheduler_eligibility);
                let bucket_full = empty + full;
                group = eligibility;
                empty = if eligibility < bucket_full {
                    scheduler_eligibility
                } else {
                    scheduler_eligibility + eligibility - bucket_full
                };
                let rounded = exact.process(same, Instant::from_ps(now), octets).expect("no limit");
                let up = (eligibility + scale - 1).div_euclid(scale);
                proptest::prop_assert_eq!(i128::from(rounded.as_ps()), up, "exact but for the picosecond");
                let got = bank.process(scheduler, Instant::from_ps(now), octets).expect("no limit");
                let late = i128::from(got.as_ps()) * scale - eligibility;
                proptest::prop_assert!(late >= 0, "early by {late}");
                let most = (index as i128 + 1) * 2 * i128::from(quantum.as_ps()) * scale;
                proptest::prop_assert!(late <= most, "late by {late} of {most}");
                proptest::prop_assert!(got.as_ps() as i128 >= late_before);
                late_before = got.as_ps() as i128;
            }
        }
    }
}
