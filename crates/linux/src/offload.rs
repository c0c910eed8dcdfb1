//! What an interface is by its driver: rate, state, length of frames; and offloads that merge received frames, which are turned off, or
//! the interface is refused.

use std::io;
use std::os::fd::AsRawFd;

use crate::checked;
use crate::packet::{PacketSocket, index_of};

const SIOCETHTOOL: libc::c_ulong = 0x8946;
const SIOCGIFNAME: libc::c_ulong = 0x8910;
const SIOCGIFFLAGS: libc::c_ulong = 0x8913;
const SIOCGIFMTU: libc::c_ulong = 0x8921;
const GET_SETTINGS: u32 = 0x01;
const GET_LINK: u32 = 0x0a;
const GET_GRO: u32 = 0x2b;
const SET_GRO: u32 = 0x2c;
const GET_FLAGS: u32 = 0x25;
const SET_FLAGS: u32 = 0x26;
const FLAG_LRO: u32 = 1 << 15;
const FLAG_VLAN_RECEPTION: u32 = 1 << 8;
const HALF_DUPLEX: u8 = 0;

#[repr(C)]
struct Value {
    command: u32,
    data: u32,
}

#[repr(C)]
struct Request {
    name: [u8; libc::IFNAMSIZ],
    value: *mut libc::c_void,
    rest: [u8; 16],
}

/// `ifreq` with a value in it.
#[repr(C, align(8))]
struct Question {
    name: [u8; libc::IFNAMSIZ],
    value: [u8; 24],
}

/// `ethtool_cmd`: 44 octets, of which the command is the first word.
#[repr(C)]
struct Settings([u32; 11]);

impl Settings {
    /// Octets of its words, as they are in memory.
    fn octets(&self) -> [u8; 44] {
        let mut octets = [0; 44];
        for (to, word) in octets.chunks_exact_mut(4).zip(self.0) {
            to.copy_from_slice(&word.to_ne_bytes());
        }
        octets
    }

    /// Mbit/s.
    fn speed(&self) -> u32 {
        let octets = self.octets();
        let [low, high] = [12, 28].map(|at| u16::from_ne_bytes([octets[at], octets[at + 1]]));
        u32::from(high) << 16 | u32::from(low)
    }

    fn duplex(&self) -> u8 {
        self.octets()[14]
    }
}

/// What an interface is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Properties {
    /// Whether it is set up.
    pub is_up: bool,
    /// Whether it is connected to another that is set up.
    pub has_carrier: bool,
    /// Whether its driver states that it sends and receives by turns.
    pub is_half_duplex: bool,
    /// Largest MAC client data.
    pub mtu: u32,
    /// Mbit/s; none if its driver states none.
    pub speed: Option<u32>,
}

impl Properties {
    /// Of an interface in the namespace of a socket.
    ///
    /// # Errors
    /// If it is not there.
    pub fn of(interface: &str, socket: &PacketSocket) -> io::Result<Self> {
        let flags = i32::from(i16::from_ne_bytes(first(question(socket, interface, SIOCGIFFLAGS)?)));
        let mtu = i32::from_ne_bytes(first(question(socket, interface, SIOCGIFMTU)?));
        let mut settings = Settings([0; 11]);
        settings.0[0] = GET_SETTINGS;
        let is_answered = ethtool(socket, interface, settings.0.as_mut_ptr().cast()).is_ok();
        let speed = settings.speed();
        Ok(Self {
            is_up: flags & libc::IFF_UP != 0,
            has_carrier: value(socket, interface, Value { command: GET_LINK, data: 0 }).unwrap_or(1) != 0,
            is_half_duplex: is_answered && settings.duplex() == HALF_DUPLEX,
            mtu: u32::try_from(mtu).unwrap_or(0),
            speed: Some(speed)
                .filter(|speed| is_answered && *speed != 0 && *speed != u32::MAX && *speed != 0xffff),
        })
    }
}

/// What was changed at an interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// The number of the interface: its name may change.
    index: libc::c_int,
    had_gro: bool,
    had_lro: bool,
    took_tags: bool,
}

/// Turns off that an interface merges frames which it receives (GRO, LRO): a bridge would see one frame where several came. With
/// `keeps_tags` also that it takes their tags off, which packet sockets put back and others do not.
///
/// # Errors
/// If one of them stays on, or the interface does not answer.
pub fn settle_offloads(interface: &str, socket: &PacketSocket, keeps_tags: bool) -> io::Result<Settled> {
    let ask = |command, data| value(socket, interface, Value { command, data });
    let had_gro = ask(GET_GRO, 0).unwrap_or(0) != 0;
    let flags = ask(GET_FLAGS, 0).unwrap_or(0);
    let had_lro = flags & FLAG_LRO != 0;
    let takes_tags = keeps_tags && flags & FLAG_VLAN_RECEPTION != 0;
    let unwanted = FLAG_LRO | if takes_tags { FLAG_VLAN_RECEPTION } else { 0 };
    // A driver that knows neither merges nothing.
    let _ = ask(SET_GRO, 0);
    if flags & unwanted != 0 {
        let _ = ask(SET_FLAGS, flags & !unwanted);
    }
    let flags = ask(GET_FLAGS, 0).unwrap_or(0);
    let left = [
        ("gro", "merges frames", ask(GET_GRO, 0).unwrap_or(0) != 0),
        ("lro", "merges frames", flags & FLAG_LRO != 0),
        ("rxvlan", "takes tags off", takes_tags && flags & FLAG_VLAN_RECEPTION != 0),
    ];
    match left.iter().find(|(.., on)| *on) {
        Some((name, does, _)) => {
            Err(io::Error::other(format!("{interface}: `{name}` cannot be turned off, and {does}")))
        }
        None => Ok(Settled { index: index_of(interface)?, had_gro, had_lro, took_tags: takes_tags }),
    }
}

/// Puts the offloads of an interface back as they were; one that has gone has none.
pub fn restore_offloads(socket: &PacketSocket, were: Settled) {
    let Ok(interface) = name_of(socket, were.index) else { return };
    let ask = |command, data| value(socket, &interface, Value { command, data });
    if were.had_gro {
        let _ = ask(SET_GRO, 1);
    }
    let mut had = if were.had_lro { FLAG_LRO } else { 0 };
    had |= if were.took_tags { FLAG_VLAN_RECEPTION } else { 0 };
    if let (1.., Ok(flags)) = (had, ask(GET_FLAGS, 0)) {
        let _ = ask(SET_FLAGS, flags | had);
    }
}

fn value(socket: &PacketSocket, interface: &str, mut value: Value) -> io::Result<u32> {
    ethtool(socket, interface, (&raw mut value).cast())?;
    Ok(value.data)
}

/// Asks the driver of an interface; `asked` points to what the command at its beginning takes.
fn ethtool(socket: &PacketSocket, interface: &str, asked: *mut libc::c_void) -> io::Result<()> {
    let mut request = Request { name: named(interface)?, value: asked, rest: [0; 16] };
    // SAFETY: the request has the layout of `ifreq` and points to what the callers in this file have for their commands.
    checked(unsafe { libc::ioctl(socket.as_fd_raw().as_raw_fd(), SIOCETHTOOL as _, &raw mut request) })?;
    Ok(())
}

/// Asks the kernel for a value of an interface, of at most 16 octets.
fn question(socket: &PacketSocket, interface: &str, what: libc::c_ulong) -> io::Result<[u8; 16]> {
    let mut request = Question { name: named(interface)?, value: [0; 24] };
    // SAFETY: the request has the layout of `ifreq`, and outlives the call.
    checked(unsafe { libc::ioctl(socket.as_fd_raw().as_raw_fd(), what as _, &raw mut request) })?;
    Ok(first(request.value))
}

/// The name of the interface of a number.
fn name_of(socket: &PacketSocket, index: libc::c_int) -> io::Result<String> {
    let mut request = Question { name: [0; libc::IFNAMSIZ], value: [0; 24] };
    request.value[..4].copy_from_slice(&index.to_ne_bytes());
    // SAFETY: the request has the layout of `ifreq`, and outlives the call.
    checked(unsafe { libc::ioctl(socket.as_fd_raw().as_raw_fd(), SIOCGIFNAME as _, &raw mut request) })?;
    let name = request.name.split(|octet| *octet == 0).next().unwrap_or_default();
    Ok(String::from_utf8_lossy(name).into_owned())
}

/// The first octets of more.
fn first<const N: usize, const M: usize>(octets: [u8; M]) -> [u8; N] {
    std::array::from_fn(|place| octets[place])
}

fn named(interface: &str) -> io::Result<[u8; libc::IFNAMSIZ]> {
    let mut name = [0; libc::IFNAMSIZ];
    let octets = interface.as_bytes();
    if octets.len() >= name.len() {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    name[..octets.len()].copy_from_slice(octets);
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::{pair, skipped};

    #[test]
    fn a_pair_is_up_and_its_offloads_are_put_back() {
        let Some([one, _other]) = pair() else { return skipped() };
        one.inside(|| {
            let socket = PacketSocket::open("t0")?;
            let properties = Properties::of("t0", &socket)?;
            assert!(
                properties.is_up && properties.has_carrier && !properties.is_half_duplex,
                "{properties:?}"
            );
            // What the kernel states of every virtual pair.
            assert_eq!((properties.mtu, properties.speed), (1504, Some(10_000)));
            let is_merging = || value(&socket, "t0", Value { command: GET_GRO, data: 0 });
            value(&socket, "t0", Value { command: SET_GRO, data: 1 })?;
            let takes_tags = || {
                let flags = value(&socket, "t0", Value { command: GET_FLAGS, data: 0 })?;
                Ok::<_, io::Error>(flags & FLAG_VLAN_RECEPTION != 0)
            };
            for keeps_tags in [false, true] {
                let were = settle_offloads("t0", &socket, keeps_tags)?;
                assert_eq!((were.had_gro, is_merging()?), (true, 0));
                assert_eq!((were.took_tags, takes_tags()?), (keeps_tags, !keeps_tags));
                restore_offloads(&socket, were);
                assert_eq!((is_merging()?, takes_tags()?), (1, true));
            }
            assert!(Properties::of("none-such", &socket).is_err());
            Ok(())
        })
        .expect("interfaces of the test's own");
    }
}
