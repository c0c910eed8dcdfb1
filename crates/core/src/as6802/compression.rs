//! The compression function (SAE AS6802): from the points at which frames of several masters are permanent to one
//! point, which a limited number of faulty masters cannot shift beyond those of the others.
//!
//! The first frame opens an observation window; each window in which a frame comes is followed by another one, up to
//! one more than the number of masters that may be faulty. Then the points are averaged, without the outermost ones.

use alloc::vec::Vec;

use tautwire_units::{Duration, Instant};

/// Frames that are being compressed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Compression {
    first: Instant,
    window: Duration,
    windows_left: u32,
    /// End of the window that is open.
    closes: Instant,
    /// Whether a frame came in it.
    brought: bool,
    membership: u32,
    /// Since the first, picoseconds.
    points: Vec<u64>,
}

impl Compression {
    /// Opened by a frame that is permanent at `first`. `windows` is one more than masters may be faulty.
    ///
    /// # Panics
    /// If there are no windows.
    #[must_use]
    pub fn new(first: Instant, membership: u32, window: Duration, windows: u32) -> Self {
        assert!(windows > 0, "a window to observe");
        Self {
            first,
            window,
            windows_left: windows - 1,
            closes: first + window,
            brought: false,
            membership,
            points: [0].to_vec(),
        }
    }

    /// Another frame is permanent at `at`, before the window closes. One that a master sends twice counts once.
    pub fn add(&mut self, at: Instant, membership: u32) {
        if membership & !self.membership != 0 {
            self.membership |= membership;
            self.brought = true;
            self.points.push(at.saturating_since(self.first).as_ps());
        }
    }

    /// When the window closes.
    #[must_use]
    pub const fn closes(&self) -> Instant {
        self.closes
    }

    /// The window closes: whether no other one follows.
    pub fn close(&mut self) -> bool {
        if !self.brought || self.windows_left == 0 {
            return true;
        }
        self.windows_left -= 1;
        self.brought = false;
        self.closes += self.window;
        false
    }

    /// How far behind the first point the compressed one is, when `faulty` masters may be.
    #[must_use]
    pub fn correction(&self, faulty: usize) -> Duration {
        let mut points: Vec<i64> =
            self.points.iter().map(|point| i64::try_from(*point).unwrap_or(i64::MAX)).collect();
        let average = fault_tolerant_average(&mut points, faulty);
        Duration::from_ps(u64::try_from(average).unwrap_or(0))
    }

    /// When the first frame was permanent.
    #[must_use]
    pub const fn first(&self) -> Instant {
        self.first
    }

    /// The masters whose frames it has.
    #[must_use]
    pub const fn membership(&self) -> u32 {
        self.membership
    }
}

/// The average of the points without the outermost ones, rounded down: of one it is that, of two their mean, of
/// three the middle, of four the mean of the inner two, of more the mean of the least and the greatest when
/// `faulty` are left out at either end (of five at least one).
///
/// # Panics
/// If there is no point.
pub fn fault_tolerant_average(points: &mut [i64], faulty: usize) -> i64 {
    points.sort_unstable();
    let count = points.len();
    let outer = match count {
        1 | 2 => 0,
        3 | 4 => 1,
        _ => faulty.max(1).min((count - 1) / 2),
    };
    let outer = if planted!(OutermostKept) { 0 } else { outer };
    let (least, most) = (points[outer], points[count - 1 - outer]);
    // Half of each, and the odd ones of both: no sum that could be too large.
    least.div_euclid(2) + most.div_euclid(2) + (least.rem_euclid(2) + most.rem_euclid(2)) / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn us(us: u64) -> Instant {
        Instant::ZERO + Duration::from_us(us)
    }

    #[test]
    fn averages_leave_out_the_outermost() {
        let average = |points: &[i64], faulty| fault_tolerant_average(&mut points.to_vec(), faulty);
        assert_eq!(average(&[7], 1), 7);
        assert_eq!(average(&[8, 3], 1), 5);
        assert_eq!(average(&[-3, -8], 0), -6, "rounded down");
        assert_eq!(average(&[100, 0, 4], 1), 4);
        assert_eq!(average(&[100, 0, 4, 6], 1), 5);
        assert_eq!(average(&[-900, 0, 4, 6, 900], 1), 3);
        assert_eq!(average(&[-900, -800, 0, 5, 6, 900, 901], 2), 3);
        assert_eq!(average(&[i64::MAX, i64::MAX], 0), i64::MAX);
    }

    #[test]
    fn windows_follow_while_frames_come_and_no_longer() {
        let window = Duration::from_us(10);
        let mut one = Compression::new(us(100), 1, window, 3);
        one.add(us(104), 2);
        assert_eq!(one.closes(), us(110));
        assert!(!one.close());
        one.add(us(115), 4);
        one.add(us(116), 4);
        assert!(!one.close(), "the last window");
        one.add(us(125), 8);
        assert!(one.close());
        assert_eq!((one.membership(), one.first()), (15, us(100)));
        assert_eq!(one.correction(1), Duration::from_ps(9_500_000), "mean of 4 and 15 us");
        let mut alone = Compression::new(us(100), 1, window, 3);
        alone.add(us(101), 1);
        assert!(alone.close(), "one master alone, twice");
        assert_eq!(alone.correction(1), Duration::ZERO);
    }

    proptest! {
        /// With more than three times as many masters as are faulty, the average is within the correct ones.
        #[test]
        fn faulty_masters_pull_nothing_away(
            correct in prop::collection::vec(-1_000_i64..1_000, 4..9),
            faulty in prop::collection::vec(any::<i32>().prop_map(i64::from), 0..2),
        ) {
            let (least, most) = (correct.iter().min().copied(), correct.iter().max().copied());
            let mut all: Vec<i64> = correct.iter().chain(&faulty).copied().collect();
            let average = fault_tolerant_average(&mut all, 1);
            prop_assert!(Some(average) >= least && Some(average) <= most);
        }
    }
}
