//! Least and greatest times in the stages of devices and in hosts (device model, not a standard).
//!
//! Stages are queues of their own: a stage lets a frame in when the one before it (of the same
//! reception port) has left it free, and out not before the one before it of the same class. For a
//! row of such stages the time at which a frame comes out is the heaviest path through a grid of
//! frames and stages: a step to the next stage costs a latency, a step to the next frame at most an
//! occupancy (max-plus algebra, Baccelli et al., Synchronization and Linearity, 1992, ch. 1). The
//! frames themselves come no faster than the line, so where no stage is slower than the line, all
//! stages together add one occupancy at most, and not one each.

use tautwire_model::network::{Delay, Distribution, SelectionAlgorithm, Stage, StagePosition};
use tautwire_units::Bytes;

/// Least time of a delay for a frame of `octets`.
pub(crate) fn delay_min(delay: &Delay, octets: Bytes) -> u64 {
    let random = match delay.random {
        Distribution::Zero => 0,
        Distribution::Uniform { min, .. } | Distribution::Normal { min, .. } => min.as_ps(),
    };
    fixed(delay, octets) + random
}

/// Greatest time of a delay for a frame of `octets`.
pub(crate) fn delay_max(delay: &Delay, octets: Bytes) -> u64 {
    delay.longest(octets.get()).as_ps()
}

fn fixed(delay: &Delay, octets: Bytes) -> u64 {
    (delay.constant.as_ps() + delay.per_octet.as_ps() * octets.get()).saturating_sub(delay.less.as_ps())
}

/// The stages at one or more positions that frames of one selection pass.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    latencies: Vec<Delay>,
    occupancies: Vec<Delay>,
}

impl Row {
    /// Of a device.
    pub(crate) fn of(stages: &[Stage], algorithm: SelectionAlgorithm, positions: &[StagePosition]) -> Self {
        let here = stages
            .iter()
            .filter(|stage| positions.contains(&stage.position))
            .filter(|stage| stage.only_for.is_none_or(|only| only == algorithm));
        let mut row = Self::default();
        for stage in here {
            row.latencies.push(stage.latency);
            row.occupancies.push(stage.occupancy);
        }
        row
    }

    /// All stages between selection and wire: they are independent of the selection.
    pub(crate) fn of_transmission(stages: &[Stage]) -> Self {
        let here = stages.iter().filter(|stage| stage.position == StagePosition::Transmission);
        Self {
            latencies: here.clone().map(|stage| stage.latency).collect(),
            occupancies: here.map(|stage| stage.occupancy).collect(),
        }
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.latencies.is_empty()
    }

    /// All latencies, least.
    pub(crate) fn latency_min(&self, octets: Bytes) -> u64 {
        self.latencies.iter().map(|delay| delay_min(delay, octets)).sum()
    }

    /// All latencies, greatest.
    pub(crate) fn latency_max(&self, octets: Bytes) -> u64 {
        self.latencies.iter().map(|delay| delay_max(delay, octets)).sum()
    }

    /// The greatest occupancy of one of the stages.
    pub(crate) fn occupancy_max(&self, octets: Bytes) -> u64 {
        self.occupancies.iter().map(|delay| delay_max(delay, octets)).max().unwrap_or(0)
    }
}

/// Facts about the frames that come by one reception port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reception {
    /// Smallest frame.
    pub(crate) frame_min: Bytes,
    /// Largest frame.
    pub(crate) frame_max: Bytes,
    /// Rate of the line, as fast as it may be.
    pub(crate) line_bps: u64,
    /// How often one frame passes a stage at most: once for each class and selection to which it goes.
    pub(crate) copies: u64,
    /// Greatest occupancy of a stage, for the largest and the smallest frame.
    pub(crate) occupancy: (u64, u64),
    /// All latencies of all stages in use up to the arrival time and up to the queues, largest frame: a frame may wait
    /// for one that passes other stages.
    pub(crate) latency: (u64, u64),
    /// By how much less two frames may lie apart here than on the line before.
    pub(crate) jitter: u64,
}

impl Reception {
    /// Time of the line for a frame, media overhead included, rounded down.
    pub(crate) fn wire_ps(&self, octets: Bytes) -> u64 {
        let bits = u128::from((octets + Bytes::MEDIA_OVERHEAD).bits().get());
        u64::try_from(bits * crate::clock::PS_PER_S / u128::from(self.line_bps)).unwrap_or(u64::MAX)
    }

    /// Least time from header to header of two frames of which the second has at least `frame_min`, rounded down.
    pub(crate) fn headers_apart(&self, header: Bytes, frame_min: Bytes) -> u64 {
        let behind_header = Bytes::new(self.frame_min.get().saturating_sub(header.get()));
        self.wire_ps(header.min(frame_min) + behind_header)
    }

    /// Whether no stage delays the line's frames more and more: for the smallest and the largest frame, and so for all
    /// between, the stage is free before the line can deliver as much again.
    pub(crate) fn keeps_up(&self) -> bool {
        let (largest, smallest) = self.occupancy;
        largest.saturating_mul(self.copies) <= self.wire_ps(self.frame_max)
            && smallest.saturating_mul(self.copies) <= self.wire_ps(self.frame_min)
    }

    /// Picoseconds of occupancy per bit of the wire, as a fraction, rounded up: (numerator, bits).
    pub(crate) fn work_per_bit(&self) -> (u64, u64) {
        let bits = |octets: Bytes| (octets + Bytes::MEDIA_OVERHEAD).bits().get();
        let large = (self.occupancy.0.saturating_mul(self.copies), bits(self.frame_max));
        let small = (self.occupancy.1.saturating_mul(self.copies), bits(self.frame_min));
        let large_is_more =
            u128::from(large.0) * u128::from(small.1) >= u128::from(small.0) * u128::from(large.1);
        if large_is_more { large } else { small }
    }

    /// The greatest time from the last bit received (the header, for cut-through) through stages of which its own
    /// latencies are at most `own` and those of any frame `any`, for a frame that comes `apart` after the one before
    /// it. `work`: how long frames before it may occupy the stages where they are slower than the line; none where
    /// they are not, and then the greatest delay is its own, or that of a larger frame that came one line time
    /// earlier. Cut-through frames and stored frames pass in parallel.
    pub(crate) fn passage_max(&self, own: u64, any: u64, apart: u64, work: Option<u64>) -> u64 {
        if let Some(work) = work {
            return own.max(any).saturating_add(work);
        }
        let copies_ahead = self.occupancy.0.saturating_mul(self.copies.saturating_sub(1));
        let behind = any.saturating_add(self.occupancy.0.saturating_mul(self.copies));
        own.max((behind + self.jitter).saturating_sub(apart)).saturating_add(copies_ahead)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tautwire_units::Duration;

    fn per_octet(constant_ns: u64, ns: u64) -> Delay {
        Delay {
            constant: Duration::from_ns(constant_ns),
            per_octet: Duration::from_ns(ns),
            ..Delay::default()
        }
    }

    #[test]
    fn a_delay_lies_between_its_least_and_its_greatest() {
        let delay = Delay {
            constant: Duration::from_ns(100),
            less: Duration::from_ns(150),
            per_octet: Duration::from_ns(1),
            random: Distribution::Uniform { min: Duration::from_ns(3), max: Duration::from_ns(9) },
        };
        assert_eq!(delay_min(&delay, Bytes::new(40)), 3_000, "never less than nothing");
        assert_eq!(delay_max(&delay, Bytes::new(64)), 23_000);
    }

    /// A row of two stages, each slower than its latency suggests, driven by hand at full line rate.
    #[test]
    fn a_row_is_never_passed_later_than_its_bound() {
        let stages: Vec<Stage> = [(per_octet(10, 2), per_octet(0, 8)), (per_octet(500, 0), per_octet(70, 6))]
            .into_iter()
            .map(|(latency, occupancy)| Stage {
                name: String::new(),
                position: StagePosition::Processing,
                only_for: None,
                latency,
                occupancy,
            })
            .collect();
        let row = Row::of(&stages, SelectionAlgorithm::StrictPriority, &[StagePosition::Processing]);
        let reception = Reception {
            frame_min: Bytes::new(64),
            frame_max: Bytes::new(1_522),
            line_bps: 1_000_000_000,
            copies: 1,
            occupancy: (row.occupancy_max(Bytes::new(1_522)), row.occupancy_max(Bytes::new(64))),
            latency: (0, row.latency_max(Bytes::new(1_522))),
            jitter: 0,
        };
        assert!(reception.keeps_up());
        let sizes = [1_522_u64, 64, 64, 700, 64, 1_522, 1_522, 64, 300, 64, 64, 64];
        let (mut now, mut free, mut out) = (0, [0; 2], [0; 2]);
        for size in sizes {
            now += (size + 20) * 8_000;
            let mut time = now;
            for (index, stage) in stages.iter().enumerate() {
                let start = time.max(free[index]);
                free[index] = start + delay_max(&stage.occupancy, Bytes::new(size));
                time = (start + delay_max(&stage.latency, Bytes::new(size))).max(out[index]);
                out[index] = time;
            }
            let octets = Bytes::new(size);
            let own = row.latency_max(octets);
            let bound = reception.passage_max(own, reception.latency.1, reception.wire_ps(octets), None);
            assert!(time - now <= bound, "{size}: {} above {bound}", time - now);
        }
    }
}
