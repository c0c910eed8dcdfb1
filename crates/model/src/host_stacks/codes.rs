//! The catalogue of faults of protocol stacks of hosts.

pub(crate) use crate::text::codes::*;

codes! {
    /// A reference to a protocol stack, an interface or a servicing thread that no host has.
    UNKNOWN_STACK = "name::unknown-stack";
    /// A socket's buffer that does not hold a message of a stream that waits in it.
    SOCKET_BUFFER = "host::socket-buffer";
}
