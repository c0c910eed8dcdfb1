//! Offloads that merge received frames: they are turned off, or the interface is refused.

use std::io;
use std::os::fd::AsRawFd;

use crate::checked;
use crate::packet::PacketSocket;

const SIOCETHTOOL: libc::c_ulong = 0x8946;
const GET_GRO: u32 = 0x2b;
const SET_GRO: u32 = 0x2c;
const GET_FLAGS: u32 = 0x25;
const SET_FLAGS: u32 = 0x26;
const FLAG_LRO: u32 = 1 << 15;

#[repr(C)]
struct Value {
    command: u32,
    data: u32,
}

#[repr(C)]
struct Request {
    name: [u8; libc::IFNAMSIZ],
    value: *mut Value,
    rest: [u8; 16],
}

/// Turns off that an interface merges frames which it receives (GRO, LRO): a bridge would see one frame where several came.
///
/// # Errors
/// If one of them stays on, or the interface does not answer.
pub fn settle_offloads(interface: &str, socket: &PacketSocket) -> io::Result<()> {
    let ask = |command, data| ethtool(socket, interface, Value { command, data });
    // A driver that knows neither merges nothing.
    let _ = ask(SET_GRO, 0);
    let flags = ask(GET_FLAGS, 0).unwrap_or(0);
    if flags & FLAG_LRO != 0 {
        let _ = ask(SET_FLAGS, flags & !FLAG_LRO);
    }
    let left =
        [("gro", ask(GET_GRO, 0).unwrap_or(0) != 0), ("lro", ask(GET_FLAGS, 0).unwrap_or(0) & FLAG_LRO != 0)];
    match left.iter().find(|(_, on)| *on) {
        Some((name, _)) => {
            Err(io::Error::other(format!("{interface}: `{name}` cannot be turned off, and merges frames")))
        }
        None => Ok(()),
    }
}

fn ethtool(socket: &PacketSocket, interface: &str, mut value: Value) -> io::Result<u32> {
    let mut request = Request { name: [0; libc::IFNAMSIZ], value: &raw mut value, rest: [0; 16] };
    let name = interface.as_bytes();
    if name.len() >= request.name.len() {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    request.name[..name.len()].copy_from_slice(name);
    // SAFETY: the request has the layout of `ifreq` and points to a value that outlives the call.
    checked(unsafe { libc::ioctl(socket.as_fd_raw().as_raw_fd(), SIOCETHTOOL as _, &raw mut request) })?;
    Ok(value.data)
}
