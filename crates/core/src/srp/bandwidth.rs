//! The bandwidth that a port may reserve (IEEE Std 802.1Q-2022, 34.3.1): every class may use its own share and the
//! unused part of the shares of the classes above it. So the classes down to any one reserve at most the sum of their
//! shares. A class above cannot take back a reservation of one below.

use alloc::vec::Vec;

use tautwire_units::BitRate;
use tautwire_wire::srp::FailureCode;

use super::class::SrClass;

/// The reserved bandwidth of a port's classes, highest class first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PortBandwidth {
    /// Bits in a second that the classes down to each may hold.
    limits: Vec<u64>,
    /// Bits in a second that each class holds.
    held: Vec<u64>,
}

impl PortBandwidth {
    /// A port of this rate that promised nothing yet. Classes come highest first. Shares are rounded down.
    #[must_use]
    pub fn new(rate: BitRate, classes: &[SrClass]) -> Self {
        let mut percent = 0;
        let mut limit = |class: &SrClass| {
            percent += u128::from(class.delta_percent);
            u64::try_from(u128::from(rate.as_bps()) * percent.min(100) / 100).expect("not more than the rate")
        };
        Self { limits: classes.iter().map(&mut limit).collect(), held: alloc::vec![0; classes.len()] }
    }

    /// Whether `slope` more fits into a class.
    ///
    /// # Errors
    /// The class has no room (3), or one below it was promised what it would take (1).
    pub fn test(&self, class: usize, slope: u64) -> Result<(), FailureCode> {
        let mut held = u128::from(slope);
        for (place, limit) in self.limits.iter().enumerate() {
            held += u128::from(self.held[place]);
            if place >= class && held > u128::from(*limit) {
                let own = place == class;
                return Err(if own { FailureCode::CLASS_BANDWIDTH } else { FailureCode::BANDWIDTH });
            }
        }
        Ok(())
    }

    /// Promises `slope` to a class.
    ///
    /// # Errors
    /// As [`Self::test`]; then nothing changes.
    pub fn reserve(&mut self, class: usize, slope: u64) -> Result<(), FailureCode> {
        self.test(class, slope)?;
        self.hold(class, slope);
        Ok(())
    }

    /// Reserves `slope` for a class without a test, as for an existing reservation.
    pub fn hold(&mut self, class: usize, slope: u64) {
        self.held[class] += slope;
    }

    /// Takes back what was promised to a class.
    pub fn release(&mut self, class: usize, slope: u64) {
        self.held[class] -= slope;
    }

    /// Takes back all.
    pub(super) fn clear(&mut self) {
        self.held.fill(0);
    }

    /// The most that [`Self::test`] lets into a class, bits in a second.
    #[must_use]
    pub fn room(&self, class: usize) -> u64 {
        let [own, below] = self.rooms(class);
        own.min(below)
    }

    /// How many classes there are.
    pub(super) fn classes(&self) -> usize {
        self.held.len()
    }

    /// The most that [`Self::test`] lets into a class: for its own sake, and for that of the classes below.
    pub(super) fn rooms(&self, class: usize) -> [u64; 2] {
        let mut rooms = [u64::MAX; 2];
        let mut held = 0_u64;
        for (place, limit) in self.limits.iter().enumerate() {
            held = held.saturating_add(self.held[place]);
            if place >= class {
                let room = &mut rooms[usize::from(place > class)];
                *room = limit.saturating_sub(held).min(*room);
            }
        }
        rooms
    }

    /// Bits in a second that a class holds: its idle slope.
    #[must_use]
    pub fn held(&self, class: usize) -> u64 {
        self.held[class]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(deltas: [u8; 2]) -> PortBandwidth {
        let classes = [
            SrClass { delta_percent: deltas[0], ..SrClass::a() },
            SrClass { delta_percent: deltas[1], ..SrClass::b() },
        ];
        PortBandwidth::new(BitRate::from_bps(100_000_000), &classes)
    }

    #[test]
    fn a_class_uses_what_those_above_leave() {
        let mut port = port([75, 0]);
        assert_eq!(port.reserve(1, 75_000_000), Ok(()), "class B has no share and uses that of A");
        assert_eq!(port.test(1, 1), Err(FailureCode::CLASS_BANDWIDTH));
        assert_eq!(port.test(0, 1), Err(FailureCode::BANDWIDTH), "promised to B");
        port.release(1, 5_000_000);
        assert_eq!((port.room(0), port.room(1)), (5_000_000, 5_000_000));
    }

    #[test]
    fn a_class_keeps_within_its_shares() {
        let mut port = port([50, 25]);
        assert_eq!(port.reserve(0, 50_000_000), Ok(()));
        assert_eq!(port.reserve(0, 1), Err(FailureCode::CLASS_BANDWIDTH));
        assert_eq!(port.reserve(1, 25_000_000), Ok(()));
        assert_eq!(port.reserve(1, 1), Err(FailureCode::CLASS_BANDWIDTH));
        assert_eq!((port.held(0), port.held(1)), (50_000_000, 25_000_000));
    }
}
