//! Why a stream in slots has no bound.

use crate::unbounded::Why;

/// Frames of different slots of a TDMA cycle may meet.
pub(super) static SLOTS_MEET: Why =
    Why { name: "slots-meet", text: "frames of different TDMA slots may meet at port {port}" };

/// Frames that open the cycles may be lost, and with them slots without number.
pub(super) static SYNCHRONISATION_LOST: Why =
    Why { name: "synchronisation-lost", text: "synchronisation frames of port {port} may be lost" };

/// A standby of TDMA may open cycles simultaneously with a living master, for any length of time.
pub(super) static TWO_RASTERS: Why =
    Why { name: "two-rasters", text: "the standby may open cycles while the master of port {port} does" };
