//! Frame-exact discrete-event simulation: picosecond time, total event order, same seed, same bytes.
//!
//! ```text
//!  source ─► host ─► egress port ═ link ═► stages ─► egress port ═ link ═► listener
//!            ring                  ring              (core's machines)
//! ```
//! The machines are `core`'s; this crate carries frames and time between them. Events come in the
//! total order (time, phase, entity): timeline, arrivals, sources, selections; see
//! `docs/adr/0002-event-order.md`. Networks without machines and cycles run port by port, with the same result (`ports/`). Not here: the description (`model`), what is proven (`analysis`).

mod agenda;
mod applications;
mod as6802;
mod central;
mod clock;
mod control;
mod control_loss;
mod creations;
mod egress;
mod engine;
mod fates;
mod frame;
mod frer;
mod gates;
mod gptp;
mod harts;
mod host_stacks;
mod identification;
mod mechanisms;
mod network_time;
mod node;
mod options;
mod order;
mod plan;
mod plugged;
mod ports;
mod preemption;
mod protocols;
mod psfp;
mod random;
mod reception;
mod recorder;
mod refusal;
mod relay;
mod request_outcome;
mod result;
mod run;
mod source;
mod srp;
mod stages;
mod stamps;
mod started;
mod statistics;
mod talker;
mod tdma;
mod test_bed;
mod time_triggered;
mod timeline;
mod tournament;
mod virtual_links;

pub use central::{AdmissionControl, ControlNote};
pub use clock::SimTime;
pub use control::{
    Attached, Attachment, CYCLES, CycleFrame, Cycles, Fault, Filtering, Frame, HandedDown, HandingDown,
    Hosted, InCommon, Machines, Metadata, NetworkTime, Notes, Passing, Plane, PlugIn, Policing, Pooling,
    Seen, Servers, Shaping, Shut, Stamping, Talkers, Wish,
};
pub use control_loss::{ControlLoss, LossPlace, LossReason};
pub use creations::{Creation, Creations};
pub use frer::{FunctionObservation, RecoveryObservation, RepeatsObservation};
pub use gates::{GatesObservation, PortGatesObservation};
pub use gptp::{ClockObservation, CorrectedObservation};
pub use harts::{
    AdmissionEvent, AdmissionRung, HartsObservation, ListeningObservation, MasterObservation, MasterState,
    RequestObservation, SwitchLink,
};
pub use network_time::{NetworkTimeObservation, NodeTime};
pub use options::{Driver, HartsTest, Options, Progress, StreamPart};
#[cfg(feature = "planted-faults")]
pub use ports::{OrderFault, run_by_ports, run_with_processors};
pub use preemption::{PortPreemptionObservation, PreemptionObservation};
pub use psfp::{
    BridgeFiltersObservation, NodeFilters, StreamFiltersObservation, StreamGateObservation, filter_behind,
};
pub use recorder::{Contents, NoRecorder, Recorder, SentPart, SentVerification, Transmission};
pub use refusal::{Late, Limit, Refusal};
pub use request_outcome::RequestOutcome;
pub use result::{
    ApplicationObservation, ClassObservation, DatagramObservation, DropReason, HopObservation,
    ListenerObservation, Observation, PortObservation, SlotObservation, StampedObservation,
    StreamObservation, VirtualLinkObservation, WorstFrame,
};
pub use run::{is_plain, run, run_with};
pub use srp::{BridgeDelays, Declaration, ReservationObservation, Rung, RungEvent, VlanObservation};
pub use tdma::{CycleObservation, CyclesObservation, MissedSlot, SlotFate, StartUpObservation};

pub use tautwire_wire::{TestMessage, WireError};
pub use test_bed::{
    CaptureObservation, ClockOffsets, LinkObservation, LogEntry, MessageObservation, Reasons,
    TestObservation, track,
};
