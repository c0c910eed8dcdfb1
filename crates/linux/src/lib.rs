//! Network namespaces, pairs of interfaces, devices for programs, packet sockets, clocks, waiting and priority of Linux.
//!
//! The only crate with system calls and `unsafe` of its own. It knows octets and nanoseconds, and nothing of networks that are
//! described. Nothing that it makes has a name in the system: what a process made goes with it, however it ends.

#![cfg(target_os = "linux")]
#![allow(unsafe_code, reason = "the standard library lacks these system calls")]

mod clock;
mod namespace;
mod offload;
mod packet;
mod priority;
mod ring;
mod route;
mod tunnel;
mod wait;
mod xdp;

pub use clock::{Clock, clock_read_cost, monotonic};
pub use namespace::{Namespace, why_no_namespaces};
pub use offload::{Properties, Settled, restore_offloads, settle_offloads};
pub use packet::{FramePort, PacketSocket, Received};
pub use priority::{Priority, prefer};
pub use route::{End, add_kernel_bridge, add_pair, set_up};
pub use tunnel::{Tunnel, TunnelSettings};
pub use wait::{Waiter, Woken};
pub use xdp::{XdpMode, XdpSocket};

/// What a system call gave, or its error.
fn checked(result: libc::c_int) -> std::io::Result<libc::c_int> {
    if result < 0 { Err(std::io::Error::last_os_error()) } else { Ok(result) }
}
