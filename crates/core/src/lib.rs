//! Sans-IO machines of the data plane: time in, decision out.
//!
//! Every mechanism is written once, here, and driven by others: the simulator in virtual time, the
//! live data plane with readings of a clock, the hardware bench as golden model, and the tests with
//! hostile inputs. A machine owns no clock, thread, file or unseeded random number. `now` is a
//! reading of the node's own clock that never goes back; same inputs, same outputs; a call with
//! nothing to do changes nothing; work per call is bounded; every queue has a limit and every drop a
//! reason.
//!
//! ```text
//!  frame ─► classification ─► forwarding ─► ATS scheduler ─► egress port ─► wire
//!           priority.rs       forwarding.rs  ats.rs           port.rs
//!           identification.rs                                 queue.rs buffer.rs cbs.rs
//!  virtual links: virtual_link.rs (talker) policing.rs (switch) redundancy.rs (listener)
//!  scheduled traffic: gates/
//!  frame replication and elimination: frer/
//!  reception: psfp/ (stream filters, stream gates, flow meters)
//!  time-triggered: time_triggered/ (windows; dispatcher.rs: slots of a port)
//! ```
#![no_std]

extern crate alloc;
#[cfg(feature = "planted-faults")]
extern crate std;

/// Whether a fault is planted: never, without the feature `planted-faults`.
macro_rules! planted {
    ($fault:ident) => {{
        #[cfg(feature = "planted-faults")]
        {
            $crate::fault::is_planted($crate::fault::PlantedFault::$fault)
        }
        #[cfg(not(feature = "planted-faults"))]
        {
            false
        }
    }};
}

pub mod as6802;
pub mod ats;
pub mod buffer;
pub mod cbs;
pub mod central;
mod class;
pub mod control;
#[cfg(feature = "planted-faults")]
pub mod fault;
mod fine_time;
pub mod forwarding;
pub mod fragment;
pub mod frer;
pub mod gates;
pub mod gptp;
pub mod harts;
pub mod identification;
mod octet_time;
pub mod policing;
pub mod port;
pub mod preemption;
pub mod priority;
pub mod psfp;
pub mod queue;
pub mod redundancy;
pub mod srp;
pub mod stream_policing;
pub mod tdma;
pub mod time_triggered;
pub mod virtual_link;

pub use octet_time::OctetTime;
pub use port::{Cut, EgressPort, QueuedFrame, Selection};
pub use priority::{Priority, TrafficClass, TrafficClassTable};
