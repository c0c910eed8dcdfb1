//! The result of a listener's request for a stream, whether its talker's declarations, central configuration, or an
//! ACMaster answers it.
//!
//! An end station without a request receives failures too, because MSRP floods what talkers declare: they are not
//! answers. Not here: whether frames came, and how each mechanism computes the result (`outcome.rs` in its folder).

/// The result of a listener's request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestOutcome {
    /// Whether it sent a request at any time.
    pub asked: bool,
    /// Whether it requests the stream at the end of the run.
    pub asks: bool,
    /// Whether it requests the stream at the end and the last answer is a refusal.
    pub refused: bool,
    /// Whether it was granted at any time, according to the answers that it received.
    pub granted: bool,
    /// The last failure code during its request (802.1Q-2022 Table 46-15).
    pub failure: Option<u8>,
}
