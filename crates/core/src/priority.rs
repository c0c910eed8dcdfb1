//! Priority, traffic class, and the maps between them (IEEE Std 802.1Q-2022, 6.9.3, 8.6.6, 34.5).
//!
//! Not here: the queues of the classes (`queue.rs`), their order on the wire (`port.rs`).

use core::fmt;

/// A priority, 0 to 7: the PCP of a tagged frame, or the port's default of an untagged one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Priority(u8);

/// A traffic class, 0 to 7; a higher number is served first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TrafficClass(u8);

macro_rules! of_eight {
    ($name:ident, $what:literal) => {
        impl $name {
            #[doc = concat!("The ", $what, " `number`, if it is 0 to 7.")]
            #[must_use]
            pub const fn new(number: u8) -> Option<Self> {
                if number < 8 { Some(Self(number)) } else { None }
            }

            /// The number, 0 to 7.
            #[must_use]
            pub const fn number(self) -> u8 {
                self.0
            }

            /// The number as an index of an array of eight.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// All eight, from 0 to 7.
            pub fn all() -> impl DoubleEndedIterator<Item = Self> {
                (0..8).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

of_eight!(Priority, "priority");
of_eight!(TrafficClass, "traffic class");

/// Which traffic class a frame of each priority joins, and which an untagged frame joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TrafficClassTable {
    /// The class of each priority of a tagged frame.
    pub of_priority: [TrafficClass; 8],
    /// The class of an untagged frame; none means that of the reception port's default priority.
    pub of_untagged: Option<TrafficClass>,
}

impl TrafficClassTable {
    /// The recommended map for eight traffic classes (802.1Q-2022 Table 8-5, last column).
    pub const RECOMMENDED: Self = Self::from_numbers([1, 0, 2, 3, 4, 5, 6, 7]);

    /// The map for eight classes of which two are SR classes A (priority 3) and B (priority 2)
    /// (802.1Q-2022 Table 34-1, last column).
    pub const STREAM_RESERVATION: Self = Self::from_numbers([1, 0, 6, 7, 2, 3, 4, 5]);

    /// Priority *n* to class *n*.
    pub const IDENTITY: Self = Self::from_numbers([0, 1, 2, 3, 4, 5, 6, 7]);

    /// A map given by the class numbers of the priorities 0 to 7.
    ///
    /// # Panics
    /// If a number is above 7.
    #[must_use]
    pub const fn from_numbers(numbers: [u8; 8]) -> Self {
        let mut of_priority = [TrafficClass(0); 8];
        let mut priority = 0;
        while priority < 8 {
            assert!(numbers[priority] < 8, "a traffic class is 0 to 7");
            of_priority[priority] = TrafficClass(numbers[priority]);
            priority += 1;
        }
        Self { of_priority, of_untagged: None }
    }

    /// The class of a frame of `priority`.
    #[must_use]
    pub const fn class_of(&self, priority: Priority, tagged: bool) -> TrafficClass {
        match (tagged, self.of_untagged) {
            (false, Some(class)) => class,
            _ => self.of_priority[priority.index()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standards_maps_are_permutations() {
        for table in [
            TrafficClassTable::RECOMMENDED,
            TrafficClassTable::STREAM_RESERVATION,
            TrafficClassTable::IDENTITY,
        ] {
            let mut seen = [false; 8];
            for class in table.of_priority {
                seen[class.index()] = true;
            }
            assert_eq!(seen, [true; 8]);
        }
    }

    #[test]
    fn an_untagged_frame_joins_the_class_of_its_row() {
        let class = TrafficClass::new(5);
        let table = TrafficClassTable { of_untagged: class, ..TrafficClassTable::STREAM_RESERVATION };
        let priority = Priority::new(3).expect("below eight");
        assert_eq!(Some(table.class_of(priority, false)), class);
        assert_eq!(table.class_of(priority, true).number(), 7);
    }
}
