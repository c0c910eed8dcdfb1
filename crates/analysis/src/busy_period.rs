//! Classes whose frames come from several lanes and are not served in one FIFO order.
//!
//! Device choices (802.1Q leaves the order between reception ports open): a queue per reception port
//! or scheduler group, served in turn or lowest first. Each lane is FIFO in itself. A frame of a lane
//! waits for its own lane like in a FIFO class, and for the others in one of these ways:
//!
//! - [`others_first`]: all frames of the other lanes that come until it starts go before it, as if they were a higher
//!   class. Holds for any order; with the complete class in the last term it is the length of the busy period of the
//!   class.
//! - [`in_turn`]: between two frames of its lane each other lane sends at most one frame, so `n` frames
//!   of its own lane ahead of it mean at most `n + 1` of each other. With two stages one more frame may
//!   be on the line when the turn begins, because the next was committed when that one left.
//! - [`lowest_first`]: lower lanes are a higher class; of the higher lanes at most one frame blocks, the one in
//!   transmission. Not with two stages: there a frame of a higher lane is committed each time that the lower lanes are
//!   empty while one of theirs is still on the line.
//!
//! Source: the argument of `strict_priority.rs` with the lanes as sub-classes; in turn as in deficit
//! round robin with a quantum of one frame (Boyer, Stea and Sofack, VALUETOOLS 2012).

use crate::curve::{Curve, Line, MICRO, scaled};
use crate::queue_bound::{QueueBound, queue_bound};

/// One lane from the view of the others.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    /// Its arrivals.
    pub(crate) curve: Curve,
    /// Its smallest and largest frame, bits of the unit in which it is served.
    pub(crate) frame_min: u64,
    /// Largest frame.
    pub(crate) frame_max: u64,
}

/// All other lanes go first, whatever the order. The least bound is computed for a frame of `frame` bits.
pub(crate) fn others_first<'a>(
    latency: u128,
    rate: u64,
    higher: &Curve,
    own: &Lane,
    others: impl Iterator<Item = &'a Lane>,
    frame: u64,
) -> Option<QueueBound> {
    let higher = others.fold(higher.clone(), |higher, other| higher.plus(&other.curve));
    queue_bound(latency, rate, &higher, &own.curve, frame)
}

/// The lanes take turns, a frame each, counted from when the lane of the frame has one waiting, committed or on the
/// line. `latency` covers the frame in transmission when the lane of the frame begins to wait, unless it belongs to
/// another lane whose turn it was.
pub(crate) fn in_turn<'a>(
    latency: u128,
    rate: u64,
    higher: &Curve,
    own: &Lane,
    others: impl Iterator<Item = &'a Lane>,
) -> Option<QueueBound> {
    let turn: u64 = others.map(|other| other.frame_max).sum();
    // A frame of its own lane ahead of it causes a turn of the others.
    let weight = (own.frame_min + turn, own.frame_min);
    let lines = own.curve.lines().iter().map(|line| Line {
        burst: scaled(line.burst, weight.0, weight.1),
        rate: u64::try_from(scaled(u128::from(line.rate), weight.0, weight.1)).unwrap_or(u64::MAX),
    });
    let weighted = Curve::least_of(lines);
    let latency = latency + u128::from(turn) * MICRO;
    let bound = queue_bound(latency, rate, higher, &weighted, own.frame_min)?;
    Some(QueueBound { weight, ..bound })
}

/// The lowest lane goes first, in one stage. `blocking_class`: the largest frame of a lower class,
/// micro-bits.
pub(crate) fn lowest_first<'a>(
    blocking_class: u128,
    rate: u64,
    higher: &Curve,
    own: &Lane,
    lower_lanes: impl Iterator<Item = &'a Lane>,
    higher_lane_frame_max: u64,
) -> Option<QueueBound> {
    let blocking = blocking_class.max(u128::from(higher_lane_frame_max) * MICRO);
    others_first(blocking, rate, higher, own, lower_lanes, own.frame_min)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIGABIT: u64 = 1_000_000_000;
    const FRAME: u64 = 1_542 * 8;

    fn lane(frames: u64, rate: u64) -> Lane {
        let curve = Curve::least_of([Line::new(frames * FRAME, rate)]);
        Lane { curve, frame_min: FRAME, frame_max: FRAME }
    }

    fn ns(bound: Option<QueueBound>) -> Option<u64> {
        bound?.start_max(FRAME).map(|ps| ps / 1_000)
    }

    #[test]
    fn one_frame_of_each_other_lane_when_they_take_turns() {
        let (own, other) = (lane(1, 100_000_000), lane(8, 900_000_000));
        let zero = Curve::zero();
        assert_eq!(ns(in_turn(0, GIGABIT, &zero, &own, [&other].into_iter())), Some(12_336));
        assert_eq!(
            ns(others_first(0, GIGABIT, &zero, &own, [&other].into_iter(), FRAME)),
            Some(986_880),
            "eight frames at the tenth that is left"
        );
        let three = lane(3, 100_000_000);
        assert_eq!(
            ns(in_turn(0, GIGABIT, &zero, &three, [&other, &other].into_iter())),
            Some(8 * 12_336),
            "two ahead, and three turns of two"
        );
    }

    #[test]
    fn a_higher_lane_blocks_with_one_frame() {
        let (own, lower) = (lane(1, 100_000_000), lane(1, 500_000_000));
        let zero = Curve::zero();
        let low = u128::from(FRAME) * MICRO;
        let bound = lowest_first(low, GIGABIT, &zero, &own, [&lower].into_iter(), FRAME);
        assert_eq!(ns(bound), Some(4 * 12_336));
    }
}
