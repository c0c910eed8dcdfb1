//! Pairs of virtual interfaces (veth), made by messages of rtnetlink: both ends named, addressed, then set up; addresses and routes of
//! devices for programs.
//!
//! They go with the namespace of either end.

use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use crate::checked;
use crate::namespace::Namespace;
use crate::tunnel::TunnelSettings;

const NEW_LINK: u16 = 16;
const NEW_ADDRESS: u16 = 20;
const NEW_ROUTE: u16 = 24;
const ERROR: u16 = 2;
/// A request that is acknowledged.
const REQUEST: u16 = 0x1 | 0x4;
/// One that makes something that is not there.
const CREATE: u16 = REQUEST | 0x200 | 0x400;
const IFLA_ADDRESS: u16 = 1;
const IFLA_IFNAME: u16 = 3;
const IFLA_MTU: u16 = 4;
const IFLA_MASTER: u16 = 10;
const IFLA_LINKINFO: u16 = 18;
const IFLA_NET_NS_FD: u16 = 28;
const INFO_KIND: u16 = 1;
const INFO_DATA: u16 = 2;
const INFO_PEER: u16 = 1;
const UP: u32 = 1;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
const RTA_DESTINATION: u16 = 1;
const RTA_INTERFACE: u16 = 4;
const RTA_SOURCE: u16 = 7;
/// All bits of an IPv4 address.
const WHOLE: u8 = 32;
const MAIN_TABLE: u8 = 254;
/// A route that an administrator made, to what is behind the interface, to one address.
const STATIC: u8 = 4;
const ON_LINK: u8 = 253;
const UNICAST: u8 = 1;

/// An end of a pair.
#[derive(Clone, Debug)]
pub struct End<'n> {
    /// Its namespace.
    pub namespace: &'n Namespace,
    /// Name, at most 15 octets.
    pub name: String,
    /// MAC address.
    pub address: [u8; 6],
    /// Largest MAC client data.
    pub mtu: u32,
}

/// Makes a pair of interfaces and sets both up.
///
/// # Errors
/// What the kernel answers.
pub fn add_pair(one: &End<'_>, other: &End<'_>) -> io::Result<()> {
    one.namespace.inside(|| {
        let mut body = Message::default();
        body.interface();
        body.end(one);
        body.nested(IFLA_LINKINFO, |info| {
            info.attribute(INFO_KIND, b"veth");
            info.nested(INFO_DATA, |data| {
                data.nested(INFO_PEER, |peer| {
                    peer.interface();
                    peer.end(other);
                    peer.attribute(IFLA_NET_NS_FD, &other.namespace.as_fd().as_raw_fd().to_ne_bytes());
                });
            });
        });
        request(NEW_LINK, CREATE, &body.0)
    })?;
    // The kernel opens neither end before both are there.
    [one, other].iter().try_for_each(|end| set_up(end.namespace, &end.name, true))
}

/// Sets an interface up or down.
///
/// # Errors
/// What the kernel answers.
pub fn set_up(namespace: &Namespace, name: &str, is_up: bool) -> io::Result<()> {
    namespace.inside(|| {
        let mut body = Message::default();
        body.change(if is_up { UP } else { 0 }, UP);
        body.name(name);
        request(NEW_LINK, REQUEST, &body.0)
    })
}

/// Gives a device for programs what it is to have, and sets it up. It gets no IPv6 address, and so sends nothing by itself.
pub(crate) fn set_up_tunnel(namespace: &Namespace, name: &str, settings: &TunnelSettings) -> io::Result<()> {
    namespace.inside(|| {
        let _ = std::fs::write(format!("/proc/sys/net/ipv6/conf/{name}/disable_ipv6"), "1");
        let index = crate::packet::index_of(name)?;
        let mut body = Message::default();
        body.change(UP, UP);
        body.name(name);
        body.attribute(IFLA_MTU, &settings.mtu.to_ne_bytes());
        request(NEW_LINK, REQUEST, &body.0)?;
        let family = libc::AF_INET as u8;
        for address in &settings.addresses {
            let mut body = Message(vec![family, WHOLE, 0, 0]);
            body.0.extend_from_slice(&index.to_ne_bytes());
            body.attribute(IFA_LOCAL, address);
            body.attribute(IFA_ADDRESS, address);
            request(NEW_ADDRESS, CREATE, &body.0)?;
        }
        for (destination, source) in &settings.routes {
            let mut body = Message(vec![family, WHOLE, 0, 0, MAIN_TABLE, STATIC, ON_LINK, UNICAST]);
            body.0.extend_from_slice(&[0; 4]);
            body.attribute(RTA_DESTINATION, destination);
            body.attribute(RTA_INTERFACE, &index.to_ne_bytes());
            if let Some(source) = source {
                body.attribute(RTA_SOURCE, source);
            }
            request(NEW_ROUTE, CREATE, &body.0)?;
        }
        Ok(())
    })
}

/// Makes a bridge of the kernel's in a namespace, of interfaces that are there, and sets it up: what a bridge of ours is compared with.
///
/// # Errors
/// What the kernel answers, or that there is no such interface.
pub fn add_kernel_bridge(namespace: &Namespace, name: &str, ports: &[&str]) -> io::Result<()> {
    namespace.inside(|| {
        let mut body = Message::default();
        body.interface();
        body.name(name);
        body.nested(IFLA_LINKINFO, |info| info.attribute(INFO_KIND, b"bridge"));
        request(NEW_LINK, CREATE, &body.0)?;
        let bridge = crate::packet::index_of(name)?;
        for port in ports {
            let mut body = Message::default();
            body.interface();
            body.name(port);
            body.attribute(IFLA_MASTER, &bridge.to_ne_bytes());
            request(NEW_LINK, REQUEST, &body.0)?;
        }
        Ok(())
    })?;
    set_up(namespace, name, true)
}

/// Sends a request and waits for the answer.
fn request(kind: u16, flags: u16, body: &[u8]) -> io::Result<()> {
    // SAFETY: takes no pointer; the descriptor it gives is owned by nothing else.
    let socket = unsafe {
        let raw = checked(libc::socket(
            libc::AF_NETLINK,
            libc::SOCK_RAW | libc::SOCK_CLOEXEC,
            libc::NETLINK_ROUTE,
        ))?;
        OwnedFd::from_raw_fd(raw)
    };
    let length = u32::try_from(16 + body.len()).map_err(io::Error::other)?;
    let mut message = length.to_ne_bytes().to_vec();
    message.extend_from_slice(&kind.to_ne_bytes());
    message.extend_from_slice(&flags.to_ne_bytes());
    message.extend_from_slice(&1_u32.to_ne_bytes());
    message.extend_from_slice(&0_u32.to_ne_bytes());
    message.extend_from_slice(body);
    // SAFETY: the pointer and the length are those of `message`, which outlives the call.
    let sent = unsafe { libc::send(socket.as_raw_fd(), message.as_ptr().cast(), message.len(), 0) };
    if sent < 0 {
        return Err(io::Error::last_os_error());
    }
    let mut answer = [0_u8; 4096];
    // SAFETY: the pointer and the length are those of `answer`, which outlives the call.
    let got = unsafe { libc::recv(socket.as_raw_fd(), answer.as_mut_ptr().cast(), answer.len(), 0) };
    let got = usize::try_from(got).map_err(|_| io::Error::last_os_error())?;
    match (&answer[..got.min(answer.len())], u16::from_ne_bytes([answer[4], answer[5]])) {
        ([_, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, a, b, c, d, ..], ERROR) => {
            match i32::from_ne_bytes([*a, *b, *c, *d]) {
                0 => Ok(()),
                code => Err(io::Error::from_raw_os_error(-code)),
            }
        }
        _ => Err(io::Error::other("an answer of rtnetlink that is no acknowledgement")),
    }
}

/// A message, or part of one.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    /// The header of an interface whose flags stay.
    fn interface(&mut self) {
        self.change(0, 0);
    }

    /// That of an interface with these values of the flags in `change`.
    fn change(&mut self, flags: u32, change: u32) {
        self.0.extend_from_slice(&[0; 8]);
        self.0.extend_from_slice(&flags.to_ne_bytes());
        self.0.extend_from_slice(&change.to_ne_bytes());
    }

    fn name(&mut self, name: &str) {
        let mut name = name.to_owned().into_bytes();
        name.push(0);
        self.attribute(IFLA_IFNAME, &name);
    }

    fn end(&mut self, end: &End<'_>) {
        self.name(&end.name);
        self.attribute(IFLA_ADDRESS, &end.address);
        self.attribute(IFLA_MTU, &end.mtu.to_ne_bytes());
    }

    fn attribute(&mut self, kind: u16, value: &[u8]) {
        self.nested(kind, |inner| inner.0.extend_from_slice(value));
    }

    /// An attribute of what `fill` puts into it, padded to four octets.
    fn nested(&mut self, kind: u16, fill: impl FnOnce(&mut Self)) {
        let start = self.0.len();
        self.0.extend_from_slice(&[0, 0]);
        self.0.extend_from_slice(&kind.to_ne_bytes());
        fill(self);
        let length = u16::try_from(self.0.len() - start).expect("a message of a few hundred octets");
        self.0[start..start + 2].copy_from_slice(&length.to_ne_bytes());
        self.0.resize(self.0.len().next_multiple_of(4), 0);
    }
}

/// States on stderr that a test cannot be made here. `eprintln` would not do: the harness keeps what a passing test prints.
#[cfg(test)]
pub(crate) fn skipped() {
    use std::io::Write as _;
    let why = crate::why_no_namespaces().unwrap_or_default();
    io::stderr().write_all(format!("SKIPPED: {why}\n").as_bytes()).expect("stderr takes a line");
}

/// A pair of interfaces in two namespaces, for tests; none if namespaces cannot be made.
#[cfg(test)]
pub(crate) fn pair() -> Option<[Namespace; 2]> {
    let [one, other] = [Namespace::new().ok()?, Namespace::new().ok()?];
    let end = |namespace, number| End {
        namespace,
        name: format!("t{number}"),
        address: [2, 0, 0, 0, 0, number],
        mtu: 1504,
    };
    add_pair(&end(&one, 0), &end(&other, 1)).expect("a pair in namespaces of one's own");
    Some([one, other])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_have_their_names_and_addresses() {
        let Some([one, other]) = pair() else { return skipped() };
        for (namespace, number) in [(&one, 0), (&other, 1)] {
            // The folder of interfaces is that of the mount's namespace; this file is that of the thread's.
            let seen = namespace
                .inside(|| std::fs::read_to_string("/proc/thread-self/net/dev"))
                .expect("it is there");
            assert!(seen.contains(&format!("t{number}:")), "{seen}");
        }
    }

    #[test]
    fn a_bridge_of_the_kernel_joins_two_pairs() {
        use crate::{FramePort as _, PacketSocket};
        let (Some([one, middle]), Ok(other)) = (pair(), Namespace::new()) else { return skipped() };
        let end = |namespace, name: &str, number| End {
            namespace,
            name: name.to_owned(),
            address: [2, 0, 0, 0, 1, number],
            mtu: 1500,
        };
        add_pair(&end(&middle, "t2", 2), &end(&other, "t3", 3)).expect("a pair of the test's own");
        assert!(add_kernel_bridge(&middle, "br0", &["t1", "none-such"]).is_err());
        add_kernel_bridge(&middle, "br1", &["t1", "t2"]).expect("both are there");
        let [from, to] = [(&one, "t0"), (&other, "t3")]
            .map(|(namespace, name)| namespace.inside(|| PacketSocket::open(name)).expect("it is there"));
        let frame = [&[0xff; 6][..], &[2, 0, 0, 0, 0, 9, 0x88, 0xb5], &[0; 46]].concat();
        let clock = crate::Clock::starting_in(0);
        let mut buffer = [0; 2048];
        while clock.now() < 10_000_000_000 {
            assert!(from.send(&frame).expect("it is up"));
            if to.receive(&mut buffer).expect("it is open").is_some_and(|received| received.octets == frame) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        panic!("no frame passes in 10 s");
    }

    #[test]
    fn a_name_that_is_taken_is_refused() {
        let Some([one, other]) = pair() else { return skipped() };
        let end =
            |namespace| End { namespace, name: "t0".to_owned(), address: [2, 0, 0, 0, 0, 9], mtu: 1500 };
        let refused = add_pair(&end(&one), &end(&other)).expect_err("it is taken");
        assert_eq!(refused.raw_os_error(), Some(libc::EEXIST));
    }
}
