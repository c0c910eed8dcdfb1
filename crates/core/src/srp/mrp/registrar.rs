//! The registrar (IEEE Std 802.1Q-2022, Table 10-4): remembers what the others on the link declare.

/// State of a registrar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Registrar {
    /// Registered.
    In,
    /// Registered; to be left when the leave timer ends.
    Lv,
    /// Not registered.
    #[default]
    Mt,
}

/// The events of a registrar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RegistrarEvent {
    /// Begin!
    Begin,
    /// rNew!
    RNew,
    /// rJoinIn! or rJoinMt!
    RJoin,
    /// rLv!, rLA!, txLA! or Re-declare!
    Leave,
    /// Flush!
    Flush,
    /// leavetimer!
    LeaveTimer,
}

/// What a registrar indicates to its user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RegistrarAction {
    /// New: registered, and new.
    New,
    /// Join: registered.
    Join,
    /// Lv: not registered any more.
    Leave,
}

/// The action on the leave timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LeaveTimer {
    /// Left as it is.
    Keep,
    /// Started.
    Start,
    /// Stopped.
    Stop,
}

impl Registrar {
    /// The transition of an event: next state, indication to the user, change of the timer.
    #[must_use]
    pub const fn step(self, event: RegistrarEvent) -> (Self, Option<RegistrarAction>, LeaveTimer) {
        use LeaveTimer::{Keep, Start, Stop};
        match (event, self) {
            (RegistrarEvent::Begin, _) => (Self::Mt, None, Stop),
            (RegistrarEvent::RNew, Self::Lv) => (Self::In, Some(RegistrarAction::New), Stop),
            (RegistrarEvent::RNew, Self::In | Self::Mt) => (Self::In, Some(RegistrarAction::New), Keep),
            (RegistrarEvent::RJoin, Self::In) => (Self::In, None, Keep),
            (RegistrarEvent::RJoin, Self::Lv) => (Self::In, None, Stop),
            (RegistrarEvent::RJoin, Self::Mt) => (Self::In, Some(RegistrarAction::Join), Keep),
            (RegistrarEvent::Leave, Self::In) => (Self::Lv, None, Start),
            (RegistrarEvent::Flush, Self::In) => (Self::Mt, Some(RegistrarAction::Leave), Keep),
            (RegistrarEvent::Flush | RegistrarEvent::LeaveTimer, Self::Lv) => {
                (Self::Mt, Some(RegistrarAction::Leave), Stop)
            }
            (RegistrarEvent::Leave, Self::Lv | Self::Mt)
            | (RegistrarEvent::Flush, Self::Mt)
            | (RegistrarEvent::LeaveTimer, Self::In | Self::Mt) => (self, None, Keep),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use LeaveTimer::{Keep, Start, Stop};
    use Registrar::{In, Lv, Mt};

    #[test]
    fn every_transition_is_that_of_the_table() {
        let (new, join, leave) =
            (Some(RegistrarAction::New), Some(RegistrarAction::Join), Some(RegistrarAction::Leave));
        let table = [
            (RegistrarEvent::Begin, [(Mt, None, Stop), (Mt, None, Stop), (Mt, None, Stop)]),
            (RegistrarEvent::RNew, [(In, new, Keep), (In, new, Stop), (In, new, Keep)]),
            (RegistrarEvent::RJoin, [(In, None, Keep), (In, None, Stop), (In, join, Keep)]),
            (RegistrarEvent::Leave, [(Lv, None, Start), (Lv, None, Keep), (Mt, None, Keep)]),
            (RegistrarEvent::Flush, [(Mt, leave, Keep), (Mt, leave, Stop), (Mt, None, Keep)]),
            (RegistrarEvent::LeaveTimer, [(In, None, Keep), (Mt, leave, Stop), (Mt, None, Keep)]),
        ];
        for (event, row) in table {
            for (state, expected) in [In, Lv, Mt].into_iter().zip(row) {
                assert_eq!(state.step(event), expected, "{event:?} in {state:?}");
            }
        }
    }
}
