//! Why a stream through servers has no bound.

use crate::unbounded::Why;

/// It has no server of its own: the background server carries it.
pub(super) static NO_SERVER: Why =
    Why { name: "no-server", text: "the background server of port {port} carries it" };

/// Its server, or one above it, cannot give it what it was promised in every period.
pub(super) static SERVER_TOO_SMALL: Why =
    Why { name: "server-too-small", text: "its server, or one above it, is too small at port {port}" };

/// The schedule of its switch may not poll it in every period.
pub(super) static UNPOLLED: Why =
    Why { name: "unpolled", text: "its switch may not poll it in every period (port {port})" };
