//! A device by which ordinary programs send and receive IP packets (TUN): what they send is read here, and what is written here they
//! receive. It goes with its descriptor, however the process ends.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::OpenOptionsExt as _;

use crate::checked;
use crate::namespace::Namespace;
use crate::route::set_up_tunnel;

const DEVICE: &str = "/dev/net/tun";

/// `ifreq` with flags.
#[repr(C, align(8))]
struct Request {
    name: [u8; libc::IFNAMSIZ],
    flags: libc::c_short,
    rest: [u8; 22],
}

/// What a device is to have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TunnelSettings {
    /// Longest packet.
    pub mtu: u32,
    /// IPv4 addresses that are its own, each once.
    pub addresses: Vec<[u8; 4]>,
    /// IPv4 addresses to which packets go by it, each once, with the own address from which they come.
    pub routes: Vec<([u8; 4], Option<[u8; 4]>)>,
}

/// A device for programs.
#[derive(Debug)]
pub struct Tunnel {
    file: File,
}

impl Tunnel {
    /// Makes one of this name in a namespace, and sets it up.
    ///
    /// # Errors
    /// If this machine has no such devices, the process may not make one (it needs `CAP_NET_ADMIN` there), or the namespace has an
    /// interface of this name or a route of these.
    pub fn new(namespace: &Namespace, name: &str, settings: &TunnelSettings) -> io::Result<Self> {
        let made = namespace.inside(|| Self::open(name).map_err(|error| told(&error, DEVICE)))?;
        set_up_tunnel(namespace, name, settings)
            .map_err(|error| told(&error, &format!("interface `{name}`")))?;
        Ok(made)
    }

    fn open(name: &str) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).custom_flags(libc::O_NONBLOCK).open(DEVICE)?;
        let flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
        let mut request = Request { name: [0; libc::IFNAMSIZ], flags, rest: [0; 22] };
        let octets = name.as_bytes();
        request
            .name
            .get_mut(..octets.len())
            .filter(|_| octets.len() < libc::IFNAMSIZ)
            .ok_or_else(|| io::Error::other("a name of an interface has at most 15 octets"))?
            .copy_from_slice(octets);
        // SAFETY: the descriptor is open; the pointer is that of `request`, which has the size of `ifreq` and outlives the call.
        checked(unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request) })?;
        Ok(Self { file })
    }

    /// The next packet that a program sent, if there is one.
    ///
    /// # Errors
    /// If the device is down or gone.
    pub fn receive<'b>(&self, buffer: &'b mut [u8]) -> io::Result<Option<&'b [u8]>> {
        match (&self.file).read(buffer) {
            Ok(length) => Ok(Some(&buffer[..length])),
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(None),
                _ => Err(error),
            },
        }
    }

    /// Gives a packet to the programs; false if the device does not take it.
    pub fn send(&self, packet: &[u8]) -> bool {
        (&self.file).write(packet).is_ok_and(|length| length == packet.len())
    }

    /// What to wait for.
    #[must_use]
    pub fn descriptor(&self) -> RawFd {
        self.file.as_raw_fd()
    }
}

/// An error of the kernel, with what it is about.
fn told(error: &io::Error, what: &str) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::time::Duration;

    use super::*;
    use crate::{Clock, Waiter};

    const OWN: [u8; 4] = [10, 99, 0, 1];
    const OTHER: [u8; 4] = [10, 99, 0, 2];

    fn settings() -> TunnelSettings {
        TunnelSettings { mtu: 300, addresses: vec![OWN], routes: vec![(OTHER, Some(OWN))] }
    }

    #[test]
    fn a_socket_sends_and_receives_by_it() {
        let Ok(namespace) = Namespace::new() else { return crate::route::skipped() };
        let tunnel = Tunnel::new(&namespace, "programs", &settings()).expect("it is new");
        let socket = namespace.inside(|| UdpSocket::bind("10.99.0.1:5000")).expect("the address is its own");
        socket.set_read_timeout(Some(Duration::from_secs(20))).expect("it is open");
        assert_eq!(socket.send_to(&[7; 100], "10.99.0.2:5001").expect("there is a route"), 100);
        let mut buffer = [0; 2048];
        let mut waiter = Waiter::new([tunnel.descriptor()]);
        waiter.wait(Clock::starting_in(0), 20_000_000_000).expect("it is open");
        let mut packet = tunnel.receive(&mut buffer).expect("it is up").expect("it was sent").to_vec();
        // Header, its addresses, the ports, and the contents.
        assert_eq!((packet.len(), packet[0]), (128, 0x45));
        assert_eq!([&packet[12..16], &packet[16..20]], [OWN, OTHER]);
        assert_eq!(packet[28..], [7; 100]);
        assert_eq!(tunnel.receive(&mut buffer).expect("it is up"), None);
        // The same packet back: both sums stay, for addresses and ports change places.
        for (one, other, octets) in [(12, 16, 4), (20, 22, 2)] {
            for place in 0..octets {
                packet.swap(one + place, other + place);
            }
        }
        assert!(tunnel.send(&packet));
        let (length, from) = socket.recv_from(&mut buffer).expect("it was given");
        assert_eq!((length, from.to_string()), (100, "10.99.0.2:5001".to_owned()));
        // To nobody; and longer than the longest packet: in two fragments.
        assert!(socket.send_to(&[7; 10], "10.99.0.3:5001").is_err());
        socket.send_to(&[7; 300], "10.99.0.2:5001").expect("the kernel cuts it");
        for fragment in [[0x20, 0], [0, 35]] {
            waiter.wait(Clock::starting_in(0), 20_000_000_000).expect("it is open");
            let packet = tunnel.receive(&mut buffer).expect("it is up").expect("it was sent");
            assert_eq!((&packet[6..8], packet.len() <= 300), (&fragment[..], true));
        }
    }

    #[test]
    fn it_goes_with_its_descriptor_and_is_there_once() {
        let Ok(namespace) = Namespace::new() else { return crate::route::skipped() };
        let tunnel = Tunnel::new(&namespace, "programs", &settings()).expect("it is new");
        let again = Tunnel::new(&namespace, "programs", &settings()).expect_err("it is taken");
        assert!(again.to_string().starts_with("/dev/net/tun: "), "{again}");
        drop(tunnel);
        let seen = namespace.inside(|| std::fs::read_to_string("/proc/thread-self/net/dev"));
        assert!(!seen.expect("it is there").contains("programs"));
        drop(Tunnel::new(&namespace, "programs", &settings()).expect("it is gone"));
        let error = Tunnel::new(&namespace, "sixteen-octets-l", &settings()).expect_err("it is long");
        assert!(error.to_string().contains("at most 15 octets"), "{error}");
    }
}
