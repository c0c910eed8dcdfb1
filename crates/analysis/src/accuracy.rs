//! How exactly bounds are sought.

/// How exactly bounds are sought. All of them hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Accuracy {
    /// By arrival curves alone: what a session does at every step.
    Curves,
    /// Beside curves frame by frame, where frames of a stream are all of one size (`response_time.rs`). Never looser.
    #[default]
    Frames,
}
