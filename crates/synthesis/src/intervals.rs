//! Busy intervals on a circle: what of a period is taken.
//!
//! Invariant: intervals are sorted, lie within the circle, and neither overlap nor touch.

/// A circle of a number of picoseconds and what of it is taken.
#[derive(Clone, Debug)]
pub(crate) struct Circle {
    length: u64,
    /// (begin, end), the end not included.
    busy: Vec<(u64, u64)>,
}

impl Circle {
    pub(crate) fn new(length: u64) -> Self {
        Self { length, busy: Vec::new() }
    }

    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// The same intervals on a circle whose length divides this one's: what they take in any turn of it.
    pub(crate) fn folded(&self, length: u64) -> Self {
        let mut folded = Self::new(length);
        for (begin, end) in &self.busy {
            folded.take(*begin, end - begin);
        }
        folded
    }

    /// Takes `[begin, begin + span)`, wherever on the line `begin` is.
    pub(crate) fn take(&mut self, begin: u64, span: u64) {
        if span >= self.length {
            self.busy = vec![(0, self.length)];
            return;
        }
        let begin = begin % self.length;
        let end = begin + span;
        if end > self.length {
            self.join(begin, self.length);
            self.join(0, end - self.length);
        } else {
            self.join(begin, end);
        }
    }

    fn join(&mut self, begin: u64, end: u64) {
        let first = self.busy.partition_point(|taken| taken.1 < begin);
        let last = self.busy.partition_point(|taken| taken.0 <= end);
        let mut joined = (begin, end);
        if first < last {
            joined = (begin.min(self.busy[first].0), end.max(self.busy[last - 1].1));
        }
        self.busy.splice(first..last, [joined]);
    }

    /// By how much `[begin, begin + span)` must move on so that it does not overlap any present window; zero if it
    /// does not overlap. No smaller move is free: the gaps between are less than `span`. None if it cannot be free
    /// anywhere.
    pub(crate) fn move_on(&self, begin: u64, span: u64) -> Option<u64> {
        if span > self.length {
            return None;
        }
        let begin = begin % self.length;
        let end = begin + span;
        if let Some(wrapped) = end.checked_sub(self.length) {
            let behind = self.busy.partition_point(|taken| taken.0 < wrapped);
            if behind > 0 {
                return Some(self.busy[behind - 1].1 + self.length - begin);
            }
        }
        let behind = self.busy.partition_point(|taken| taken.0 < end);
        let last = behind.checked_sub(1).map_or(0, |last| self.busy[last].1);
        Some(last.saturating_sub(begin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_join_and_wrap() {
        let mut circle = Circle::new(100);
        circle.take(10, 10);
        circle.take(30, 10);
        circle.take(195, 10);
        assert_eq!(circle.busy, [(0, 5), (10, 20), (30, 40), (95, 100)]);
        circle.take(20, 10);
        assert_eq!(circle.busy, [(0, 5), (10, 40), (95, 100)]);
        assert_eq!(circle.folded(50).busy, [(0, 5), (10, 40), (45, 50)]);
    }

    #[test]
    fn a_move_clears_what_it_overlaps() {
        let mut circle = Circle::new(100);
        circle.take(10, 10);
        circle.take(30, 10);
        assert_eq!(circle.move_on(0, 10), Some(0));
        assert_eq!(circle.move_on(5, 10), Some(15));
        assert_eq!(circle.move_on(5, 30), Some(35), "the gap of 10 between is too small for 30");
        assert_eq!(circle.move_on(95, 20), Some(25), "around the end");
        assert_eq!(circle.move_on(0, 101), None);
    }
}
