//! How the command ends: five exit codes, the same for every subcommand.

/// How the command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// All holds.
    Holds,
    /// A deadline is missed or not proven; or `diff` finds a difference.
    DeadlineMissed,
    /// Wrong input or usage.
    WrongInput,
    /// A failure: a file that cannot be written, a fault of the program.
    Failure,
    /// An observation above a bound: a fault of the program, in its bounds or its machines.
    BoundExceeded,
}

impl Exit {
    /// The exit code of the process.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Holds => 0,
            Self::DeadlineMissed => 1,
            Self::WrongInput => 2,
            Self::Failure => 3,
            Self::BoundExceeded => 4,
        }
    }
}
