//! The program at an interface that hands received frames to a socket of XDP, by the system call `bpf` alone.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use crate::checked;
use crate::xdp::XdpMode;

/// Commands of the system call `bpf`.
const MAP_CREATE: libc::c_long = 0;
const MAP_UPDATE: libc::c_long = 2;
const PROGRAM_LOAD: libc::c_long = 5;
const LINK_CREATE: libc::c_long = 28;
/// Kinds of maps, programs and places.
const MAP_OF_SOCKETS: u32 = 17;
const PROGRAM_XDP: u32 = 6;
const AT_XDP: u32 = 37;
/// Modes of a program at an interface.
const GENERIC: u32 = 1 << 1;
const NATIVE: u32 = 1 << 2;

/// Puts the program at the interface that hands received frames to the socket; gives what keeps it there.
pub(super) fn redirect(socket: &OwnedFd, index: u32) -> io::Result<(OwnedFd, XdpMode)> {
    let number = |fd: &OwnedFd| fd.as_raw_fd().cast_unsigned();
    // Kind, octets of a key and of a value, entries.
    let map = made(MAP_CREATE, &[MAP_OF_SOCKETS, 4, 4, 1, 0])?;
    let (key, value) = (0_u32, number(socket));
    let [key, value] = [&raw const key, &raw const value].map(halves);
    call(MAP_UPDATE, &[number(&map), 0, key[0], key[1], value[0], value[1], 0, 0])?;
    let instructions = program(number(&map));
    let [code, licence] =
        [halves(instructions.as_ptr().cast()), halves(c"MIT OR Apache-2.0".as_ptr().cast())];
    let program = made(
        PROGRAM_LOAD,
        &[PROGRAM_XDP, instructions.len() as u32, code[0], code[1], licence[0], licence[1], 0, 0, 0, 0],
    )?;
    let at = |mode: u32| made(LINK_CREATE, &[number(&program), index, AT_XDP, mode]);
    match at(NATIVE) {
        Ok(link) => Ok((link, XdpMode::Native)),
        Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {
            Err(io::Error::other("another program of XDP is at the interface"))
        }
        // The driver has no place for it, or not with this MTU.
        Err(_) => at(GENERIC).map(|link| (link, XdpMode::Generic)),
    }
}

/// Code, registers (target in the low four bits), offset and number.
type Instruction = u64;

const fn instruction(code: u8, registers: u8, offset: i16, number: u32) -> Instruction {
    code as u64 | (registers as u64) << 8 | (offset.cast_unsigned() as u64) << 16 | (number as u64) << 32
}

/// Redirects a frame to the socket of its queue in the map. Frames of gPTP without a tag, and those of another queue, pass.
fn program(map: u32) -> [Instruction; 15] {
    const PASS: u32 = 2;
    const REDIRECT: u32 = 51;
    // The EtherType as it is in memory, read by a machine with the low octet first.
    let precision_time = u32::from(u16::from_ne_bytes([0x88, 0xf7]));
    [
        instruction(0x61, 0x12, 0, 0),              // r2 = start of the frame
        instruction(0x61, 0x13, 4, 0),              // r3 = its end
        instruction(0xbf, 0x24, 0, 0),              // r4 = r2
        instruction(0x07, 0x04, 0, 14),             // r4 += 14
        instruction(0x2d, 0x34, 2, 0),              // if r4 > r3 goto redirect
        instruction(0x69, 0x25, 12, 0),             // r5 = EtherType
        instruction(0x15, 0x05, 6, precision_time), // if it is gPTP's goto pass
        instruction(0x61, 0x12, 16, 0),             // redirect: r2 = queue
        instruction(0x18, 0x11, 0, map),            // r1 = map
        instruction(0x00, 0x00, 0, 0),
        instruction(0xb7, 0x03, 0, PASS), // r3 = what is done without a socket
        instruction(0x85, 0x00, 0, REDIRECT),
        instruction(0x95, 0x00, 0, 0),
        instruction(0xb7, 0x00, 0, PASS), // pass
        instruction(0x95, 0x00, 0, 0),
    ]
}

/// The two halves of a pointer, as they are in memory.
fn halves(pointer: *const u32) -> [u32; 2] {
    let octets = (pointer as u64).to_ne_bytes();
    [0, 4].map(|at| u32::from_ne_bytes([octets[at], octets[at + 1], octets[at + 2], octets[at + 3]]))
}

/// A call of `bpf` that makes something.
fn made(command: libc::c_long, words: &[u32]) -> io::Result<OwnedFd> {
    let made = call(command, words)?;
    // SAFETY: the descriptor was just made, and is owned by nothing else.
    Ok(unsafe { OwnedFd::from_raw_fd(made) })
}

fn call(command: libc::c_long, words: &[u32]) -> io::Result<RawFd> {
    let mut attributes = [0_u32; 32];
    attributes[..words.len()].copy_from_slice(words);
    // The kernel wants pointers aligned, which an array of 64-bit numbers is.
    let attributes: [u64; 16] = std::array::from_fn(|place| {
        let [low, high] = [attributes[2 * place], attributes[2 * place + 1]].map(u32::to_ne_bytes);
        u64::from_ne_bytes([low[0], low[1], low[2], low[3], high[0], high[1], high[2], high[3]])
    });
    // SAFETY: the pointer and the length are those of `attributes`; the pointers in it are those of callers, and outlive the call.
    let result = unsafe {
        libc::syscall(libc::SYS_bpf, command, attributes.as_ptr(), size_of_val(&attributes) as libc::c_long)
    };
    let result = libc::c_int::try_from(result).map_err(io::Error::other)?;
    checked(result)
}
