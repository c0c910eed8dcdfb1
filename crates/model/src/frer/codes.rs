//! The catalogue of faults of frame replication and elimination.

pub(crate) use crate::text::codes::*;

codes! {
    /// Impossible frame replication: paths that do not part, copies that are not eliminated, or a stream that cannot have copies.
    FRER = "frer::impossible";
    /// A history that one lost frame makes useless.
    FRER_HISTORY = "frer::history";
    /// A node that cannot repeat frames of a stream.
    FRER_REPEATS = "frer::repeats";
    /// An ATS scheduler group behind an elimination of copies, which has no bound.
    FRER_REGULATOR = "frer::regulator";
}
