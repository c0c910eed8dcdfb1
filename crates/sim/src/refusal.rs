//! Refusals of a central entity in a run: the request, and the limit that was reached.

use tautwire_model::network::{NodeIndex, PortIndex, StreamIndex};
use tautwire_units::{BitRate, Duration};

/// A deadline that would not hold if a stream joined those that are admitted, or a frame that could be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Late {
    /// The stream.
    pub stream: StreamIndex,
    /// At which listener.
    pub listener: NodeIndex,
    /// Its greatest delay, a deadline that would have fitted; none if it has no bound.
    pub delay_max: Option<Duration>,
    /// Its deadline; none if it requests a bound alone.
    pub deadline: Option<Duration>,
    /// The port at which that delay grows most by the new stream (for the new one: is the greatest), or a frame could be lost, if there
    /// is one.
    pub port: Option<PortIndex>,
    /// Whether its deadline would hold, and a frame of it could be lost.
    pub may_be_lost: bool,
}

/// The limit that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// A deadline.
    Late(Late),
    /// The available bandwidth of a port's classes.
    Bandwidth {
        /// The port.
        port: PortIndex,
        /// The bandwidth that the stream requests.
        wanted: BitRate,
        /// The bandwidth that would have fitted.
        left: BitRate,
    },
}

/// A request that a CNC or an ACMaster tested and refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// When, true time since the start.
    pub at: Duration,
    /// Where it was tested.
    pub node: NodeIndex,
    /// The requested stream.
    pub stream: StreamIndex,
    /// The requesting listener.
    pub listener: NodeIndex,
    /// Why.
    pub limit: Limit,
}
