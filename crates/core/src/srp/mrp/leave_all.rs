//! The machines of a participant's own timers (IEEE Std 802.1Q-2022): leave-all (Table 10-5), which makes all
//! participants declare again from time to time, and periodic transmission (Table 10-6).

/// State of the leave-all machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LeaveAll {
    /// A leave-all is to be sent.
    Active,
    /// Waits.
    #[default]
    Passive,
}

/// The events of the leave-all machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LeaveAllEvent {
    /// Begin!
    Begin,
    /// tx!
    Tx,
    /// rLA!
    RLa,
    /// leavealltimer!
    Timer,
}

/// State of the periodic transmission machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Periodic {
    /// Periodic transmission is on.
    Active,
    /// Periodic transmission is off.
    #[default]
    Passive,
}

/// The events of the periodic transmission machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PeriodicEvent {
    /// Begin!
    Begin,
    /// periodicEnabled!
    Enabled,
    /// periodicDisabled!
    Disabled,
    /// periodictimer!
    Timer,
}

impl LeaveAll {
    /// The transition of an event: next state, whether the timer starts, whether a leave-all is sent.
    #[must_use]
    pub const fn step(self, event: LeaveAllEvent) -> (Self, bool, bool) {
        match (event, self) {
            (LeaveAllEvent::Begin | LeaveAllEvent::RLa, _) => (Self::Passive, true, false),
            (LeaveAllEvent::Tx, Self::Active) => (Self::Passive, false, true),
            (LeaveAllEvent::Tx, Self::Passive) => (Self::Passive, false, false),
            (LeaveAllEvent::Timer, _) => (Self::Active, true, false),
        }
    }
}

impl Periodic {
    /// The transition of an event: next state, whether the timer starts, whether the applicants receive periodic!.
    #[must_use]
    pub const fn step(self, event: PeriodicEvent) -> (Self, bool, bool) {
        match (event, self) {
            (PeriodicEvent::Begin, _) | (PeriodicEvent::Enabled, Self::Passive) => {
                (Self::Active, true, false)
            }
            (PeriodicEvent::Disabled, _) => (Self::Passive, false, false),
            (PeriodicEvent::Timer, Self::Active) => (Self::Active, true, true),
            (PeriodicEvent::Enabled, Self::Active) | (PeriodicEvent::Timer, Self::Passive) => {
                (self, false, false)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_transition_of_leave_all_is_that_of_the_table() {
        use LeaveAll::{Active, Passive};
        let table = [
            (LeaveAllEvent::Begin, (Passive, true, false), (Passive, true, false)),
            (LeaveAllEvent::Tx, (Passive, false, true), (Passive, false, false)),
            (LeaveAllEvent::RLa, (Passive, true, false), (Passive, true, false)),
            (LeaveAllEvent::Timer, (Active, true, false), (Active, true, false)),
        ];
        for (event, active, passive) in table {
            assert_eq!(Active.step(event), active, "{event:?}");
            assert_eq!(Passive.step(event), passive, "{event:?}");
        }
    }

    #[test]
    fn every_transition_of_periodic_transmission_is_that_of_the_table() {
        use Periodic::{Active, Passive};
        let table = [
            (PeriodicEvent::Begin, (Active, true, false), (Active, true, false)),
            (PeriodicEvent::Enabled, (Active, false, false), (Active, true, false)),
            (PeriodicEvent::Disabled, (Passive, false, false), (Passive, false, false)),
            (PeriodicEvent::Timer, (Active, true, true), (Passive, false, false)),
        ];
        for (event, active, passive) in table {
            assert_eq!(Active.step(event), active, "{event:?}");
            assert_eq!(Passive.step(event), passive, "{event:?}");
        }
    }
}
