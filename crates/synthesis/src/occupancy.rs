//! The occupied times of one link, and the next instant that is free in every turn of a period.
//!
//! Windows are kept by their flow's period. Two windows of periods *T* and *P* never overlap if they do not on a
//! circle of gcd(*T*, *P*): all windows of one period are folded to that circle, at once.

use crate::intervals::Circle;

/// The occupied times of one link.
#[derive(Clone, Debug, Default)]
pub(crate) struct Occupancy {
    classes: Vec<PeriodClass>,
}

/// All windows of one period.
#[derive(Clone, Debug)]
struct PeriodClass {
    period: u64,
    /// On the circle of the period, and folded to the shorter ones that are queried.
    circles: Vec<Circle>,
}

impl PeriodClass {
    fn take(&mut self, begin: u64, span: u64) {
        for circle in &mut self.circles {
            circle.take(begin, span);
        }
    }

    /// Makes sure that there is a circle of this length, a divisor of the period; its place.
    fn circle(&mut self, length: u64) -> usize {
        if let Some(found) = self.circles.iter().position(|circle| circle.length() == length) {
            return found;
        }
        let folded = self.circles[0].folded(length);
        self.circles.push(folded);
        self.circles.len() - 1
    }
}

impl Occupancy {
    /// Takes `[begin, begin + span)` of every period.
    pub(crate) fn take(&mut self, begin: u64, span: u64, period: u64) {
        let class = match self.classes.iter().position(|class| class.period == period) {
            Some(found) => &mut self.classes[found],
            None => {
                self.classes.push(PeriodClass { period, circles: vec![Circle::new(period)] });
                self.classes.last_mut().expect("just pushed")
            }
        };
        class.take(begin, span);
    }

    /// The earliest instant from `from` on, less than a period later, at which `span` is free in every period; none
    /// if there is none, and then there is none from any other instant either.
    pub(crate) fn next_free(&mut self, from: u64, span: u64, period: u64) -> Option<u64> {
        if span > period {
            return None;
        }
        let places: Vec<usize> =
            self.classes.iter_mut().map(|class| class.circle(gcd(class.period, period))).collect();
        let mut at = from;
        loop {
            let before = at;
            for (class, place) in self.classes.iter().zip(&places) {
                at += class.circles[*place].move_on(at, span)?;
                if at - from >= period {
                    return None;
                }
            }
            if at == before {
                return Some(at);
            }
        }
    }
}

/// Greatest common divisor.
pub(crate) fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_free_in_every_turn() {
        let mut link = Occupancy::default();
        link.take(0, 3, 10);
        link.take(13, 2, 20);
        assert_eq!(link.next_free(0, 2, 20), Some(3));
        assert_eq!(link.next_free(0, 2, 10), Some(5), "3 is taken in every second turn");
        assert_eq!(link.next_free(0, 6, 10), None);
        assert_eq!(link.next_free(18, 7, 20), Some(23), "counting goes on behind the period");
    }

    #[test]
    fn periods_need_not_divide_each_other() {
        let mut link = Occupancy::default();
        link.take(0, 2, 6);
        assert_eq!(link.next_free(0, 1, 4), None, "folded to gcd 2 nothing is left");
        assert_eq!(link.next_free(0, 1, 9), Some(2), "folded to gcd 3 one is left");
    }
}
