//! The accuracy of bounds.

/// The accuracy of bounds. The bounds of every accuracy hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Accuracy {
    /// By arrival curves alone: what a session does at every step.
    Curves,
    /// In addition to curves frame by frame, where frames of a stream are all of one size (`response_time.rs`). Never looser.
    #[default]
    Frames,
    /// In addition by linear programs of paths, in which a burst counts once and not at every port (`paths/`). Never looser, and slower.
    Paths,
}
