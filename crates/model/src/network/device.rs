//! Device models: delays and choices of a bridge.

use tautwire_units::{Bytes, Duration};

use super::Delay;
use crate::identification::IdentificationFunction;

/// Delays and choices of a bridge, a set of named values.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceModel {
    /// Unique name.
    pub name: String,
    /// When forwarding may begin.
    pub switching: Switching,
    /// The stages that a frame passes between the last bit received (the header, for cut-through) and the first bit
    /// sent, in order. Each keeps the order of the frames of one reception port and class.
    pub stages: Vec<Stage>,
    /// Order between frames of one class from several reception ports.
    pub tie_rule: TieRule,
    /// Most frames of one reception port that wait in a class of an egress port, where each reception
    /// port has a queue of its own; none: the limits of the class alone.
    pub lane_limit: Option<u32>,
    /// Whether a class commits one frame before the classes compete.
    pub two_stage: bool,
    /// Octets charged by the credit-based shaper in addition to the frame (destination to FCS).
    pub credit_charged_overhead: Bytes,
    /// ATS.
    pub ats: AtsDevice,
    /// Functions by which the bridge identifies frames, in order of preference; none: every stream is identified by
    /// itself, as if its frames carried its name.
    pub stream_identification: Vec<IdentificationFunction>,
    /// Pairs of ports that differ from the rest.
    pub port_pairs: Vec<PortPair>,
}

impl DeviceModel {
    /// ClockRateDeviationMax of two ports, by their numbers in the node from zero, in parts in 10⁹.
    #[must_use]
    pub fn clock_rate_deviation_max_ppb(&self, reception: u32, transmission: u32) -> u32 {
        let pair = self
            .port_pairs
            .iter()
            .find(|pair| (pair.reception, pair.transmission) == (reception, transmission));
        pair.map_or(self.ats.clock_rate_deviation_max_ppb, |pair| pair.clock_rate_deviation_max_ppb)
    }
}

/// When a bridge may begin to forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switching {
    /// When the last bit is received.
    StoreAndForward,
    /// When `header` octets are received, if both ports have the same rate and the frame is one of
    /// `frames`: [`super::Network::cut_through`].
    CutThrough {
        /// Octets of the frame that must be in.
        header: Bytes,
        /// The frames that may be cut through.
        frames: CutThroughFrames,
    },
}

/// Which frames a cut-through bridge sends while it receives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutThroughFrames {
    /// All of a class without ATS, which needs the length.
    All,
    /// Those of a class of strict priority that leave by one port.
    StrictPriorityToOnePort,
}

/// A part of a device, with the time that a frame takes to pass it and keeps it to itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// Unique in the device.
    pub name: String,
    /// The position of the stage.
    pub position: StagePosition,
    /// Only for classes of this selection; none: for all.
    pub only_for: Option<SelectionAlgorithm>,
    /// From in to out.
    pub latency: Delay,
    /// How long the next frame of the same reception port (of the same egress port, behind the
    /// selection) must wait to enter.
    pub occupancy: Delay,
}

/// The position of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StagePosition {
    /// Before the arrival of the frame is recognised: the ATS arrival time is read behind it.
    Reception,
    /// Between arrival and the queues of the egress port: ATS's processing delay.
    Processing,
    /// Between the selection and the wire.
    Transmission,
}

/// Names of the transmission selection algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectionAlgorithm {
    /// [`super::TransmissionSelection::StrictPriority`].
    StrictPriority,
    /// [`super::TransmissionSelection::CreditBased`].
    CreditBased,
    /// [`super::TransmissionSelection::Ats`].
    Ats,
}

/// How frames of one class that come by several reception ports are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TieRule {
    /// One queue: in the order in which they reach it; at the same instant, by port number.
    ArrivalOrder,
    /// A queue per reception port, served in turn.
    RoundRobin,
    /// A queue per reception port, the lowest port number first.
    LowestPort,
}

/// The parameters of a bridge's ATS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtsDevice {
    /// How its queues are built.
    pub organisation: AtsOrganisation,
    /// The definition of a scheduler group.
    pub grouping: Grouping,
    /// Octets that a scheduler charges in addition to the frame (destination to FCS): 20 by the standard.
    pub charged_overhead: Bytes,
    /// Step of the scheduler's times; none: they are exact.
    pub time_quantum: Option<Duration>,
    /// ProcessingDelayMax, added to every eligibility time.
    pub processing_delay_max: Duration,
    /// Most schedulers of one group in addition to the default one, which further streams share. None: no limit.
    pub schedulers_per_group: Option<u32>,
    /// ArrivalRecognitionDelayMax: how much later than the last bit the arrival time may be read.
    pub arrival_recognition_delay_max: Duration,
    /// ClockOffsetVariationMax between the clocks of a reception and a transmission port.
    pub clock_offset_variation_max: Duration,
    /// ClockRateDeviationMax between them, parts in 10⁹, of the pairs of ports that are not in
    /// [`DeviceModel::port_pairs`].
    pub clock_rate_deviation_max_ppb: u32,
}

/// What a pair of ports has of its own (scheduler timing characteristics, 802.1Q-2022 clause 12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortPair {
    /// Reception port, by its number in the node from zero.
    pub reception: u32,
    /// Transmission port, by its number in the node from zero.
    pub transmission: u32,
    /// ClockRateDeviationMax between them, parts in 10⁹.
    pub clock_rate_deviation_max_ppb: u32,
}

/// How an ATS class stores its frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtsOrganisation {
    /// One queue, in order of assigned eligibility time (802.1Q-2022 8.6.8.5).
    EligibilityOrdered,
    /// A FIFO queue per scheduler group (interleaved regulators).
    InterleavedRegulators,
}

/// What defines an ATS scheduler group, in addition to the reception port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// The class that a frame had at the port before.
    UpstreamClass,
    /// The class that a frame has at this bridge.
    OwnClass,
}
