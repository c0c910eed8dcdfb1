//! What became of a listener's request for a stream, whoever answers it: its talker's declarations, central configuration, or an ACMaster.
//!
//! An end station that did not ask is told of failures too, for MSRP floods what talkers declare: that is nobody's answer.
//! Not here: whether frames came, and how each mechanism tells it (`outcome.rs` in its folder).

/// What became of a listener's request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestOutcome {
    /// Whether it asked at any time.
    pub asked: bool,
    /// Whether it asks at the end of the run.
    pub asks: bool,
    /// Whether it asks at the end and the last answer is a refusal.
    pub refused: bool,
    /// Whether it was granted at any time, as far as it was told so.
    pub granted: bool,
    /// The last failure code that held while it asked (802.1Q-2022 Table 46-15).
    pub failure: Option<u8>,
}
