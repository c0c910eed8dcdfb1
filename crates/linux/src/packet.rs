//! Frames of an interface by a packet socket (AF_PACKET): as on the wire, the tag that the kernel takes off put back, with the kernel's
//! stamp of reception.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::Arc;

use crate::checked;
use crate::ring::{Ring, Slot};

/// Room for a tag in front of a received frame.
const TAG: usize = 4;
/// Addresses in front of the tag.
const ADDRESSES: usize = 12;
/// Octets of the buffer between kernel and this process: a run loses frames if it does not read for so long.
const BUFFER: libc::c_int = 8 << 20;

const ALL_PROTOCOLS: u16 = 3;
const IGNORE_OUTGOING: libc::c_int = 23;
/// Stamps by software of what is sent, each with its frame. The kernel's numbers of frames also count some that it did not take.
const STAMPING: libc::c_uint = libc::SOF_TIMESTAMPING_TX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;
const STATUS_VLAN_VALID: u32 = 1 << 4;
const STATUS_VLAN_TPID_VALID: u32 = 1 << 6;

/// A port that takes and gives frames from destination address to the end of the data, without FCS.
pub trait FramePort {
    /// The next frame that was received, if there is one. `buffer` has room for a frame and a tag.
    ///
    /// # Errors
    /// If the port fails.
    fn receive<'b>(&self, buffer: &'b mut [u8]) -> io::Result<Option<Received<'b>>>;

    /// Sends a frame; false if the port has no room for it now.
    ///
    /// # Errors
    /// If the port fails.
    fn send(&self, frame: &[u8]) -> io::Result<bool>;

    /// Has the kernel send what was given to [`Self::send`], if that gathers frames.
    ///
    /// # Errors
    /// If the port fails.
    fn flush(&self) -> io::Result<()> {
        Ok(())
    }

    /// Frames that were received and lost since the last call.
    ///
    /// # Errors
    /// If the port fails.
    fn lost(&self) -> io::Result<u64>;

    /// What to wait for.
    fn descriptor(&self) -> RawFd;
}

/// A received frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received<'b> {
    /// From destination address, tag included.
    pub octets: &'b [u8],
    /// When the kernel received it, in nanoseconds of the system's time; none if it did not stamp it.
    pub stamp: Option<u64>,
}

/// A packet socket of an interface.
#[derive(Debug)]
pub struct PacketSocket {
    socket: OwnedFd,
    /// Where received frames are; none: the kernel gives each by a call.
    ring: Option<Arc<Ring>>,
}

impl PacketSocket {
    /// Of an interface in this thread's namespace; it takes all frames, whatever their destination.
    ///
    /// # Errors
    /// If there is no such interface, or the process may not open it: it needs `CAP_NET_RAW`.
    pub fn open(interface: &str) -> io::Result<Self> {
        Self::of_type(interface, ALL_PROTOCOLS, None)
    }

    /// The same with at least `room` octets of memory that the kernel shares with this process, 2 KiB for a frame: received frames are read
    /// there without a call. The kernel holds this memory as long as the socket is open.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn with_ring(interface: &str, room: usize) -> io::Result<Self> {
        Self::of_type(interface, ALL_PROTOCOLS, Some(room))
    }

    /// Of an interface in this thread's namespace, by which it is asked and set: it receives nothing.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn without_frames(interface: &str) -> io::Result<Self> {
        Self::of_type(interface, 0, None)
    }

    /// Of an interface in this thread's namespace; it takes the frames of one EtherType, and the kernel stamps what is sent by it.
    ///
    /// # Errors
    /// As [`Self::open`], and if the kernel does not stamp.
    pub fn stamped(interface: &str, ether_type: u16) -> io::Result<Self> {
        let socket = Self::of_type(interface, ether_type, None)?;
        socket.set(libc::SOL_SOCKET, libc::SO_TIMESTAMPING, &STAMPING)?;
        Ok(socket)
    }

    /// The next frame of which the kernel states when it has left, in nanoseconds of the system's time; none if there is none now.
    ///
    /// # Errors
    /// If the port fails.
    pub fn left<'b>(&self, buffer: &'b mut [u8]) -> io::Result<Option<(&'b [u8], u64)>> {
        let stamped = self.message(buffer, libc::MSG_ERRQUEUE)?;
        Ok(stamped.and_then(|(length, added)| Some((&buffer[..length], added.left?))))
    }

    /// The next message, into `room`: its length and what the kernel added to it; none if there is none now.
    fn message(&self, room: &mut [u8], flags: libc::c_int) -> io::Result<Option<(usize, Added)>> {
        let mut part = libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: room.len() };
        let mut control = Control([0; 256]);
        // SAFETY: a header is plain data; its pointers are those of `part` and `control`, with their lengths, which outlive the calls.
        let (got, added) = unsafe {
            let mut header: libc::msghdr = std::mem::zeroed();
            header.msg_iov = &raw mut part;
            header.msg_iovlen = 1;
            header.msg_control = control.0.as_mut_ptr().cast();
            header.msg_controllen = control.0.len() as _;
            let got = libc::recvmsg(self.socket.as_raw_fd(), &raw mut header, flags | libc::MSG_DONTWAIT);
            (got, if got < 0 { Added::default() } else { added(&header) })
        };
        let Ok(length) = usize::try_from(got) else {
            let error = io::Error::last_os_error();
            return match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(None),
                _ => Err(error),
            };
        };
        Ok(Some((length, added)))
    }

    fn of_type(interface: &str, ether_type: u16, room: Option<usize>) -> io::Result<Self> {
        let index = index_of(interface)?;
        let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        // SAFETY: takes no pointer; the descriptor it gives is owned by nothing else. Without a protocol it receives nothing yet.
        let socket = unsafe { OwnedFd::from_raw_fd(checked(libc::socket(libc::AF_PACKET, kind, 0))?) };
        // A kernel without memory for it gives each frame by a call.
        let ring = room.and_then(|room| Ring::new(socket.as_fd(), room).ok()).map(Arc::new);
        let socket = Self { socket, ring };
        socket.set(libc::SOL_PACKET, libc::PACKET_AUXDATA, &1)?;
        socket.set(libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, &1)?;
        // Older kernels have neither: what is sent is then received, and passes a queue more.
        let _ = socket.set(libc::SOL_PACKET, IGNORE_OUTGOING, &1);
        let _ = socket.set(libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, &1);
        if socket.set(libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &BUFFER).is_err() {
            socket.set(libc::SOL_SOCKET, libc::SO_RCVBUF, &BUFFER)?;
        }
        let all = libc::packet_mreq {
            mr_ifindex: index,
            mr_type: libc::PACKET_MR_PROMISC as libc::c_ushort,
            mr_alen: 0,
            mr_address: [0; 8],
        };
        socket.set(libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &all)?;
        socket.bind(index, ether_type)?;
        Ok(socket)
    }

    /// The same socket by another descriptor.
    ///
    /// # Errors
    /// If the process may have no further descriptor.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { socket: self.socket.try_clone()?, ring: self.ring.clone() })
    }

    fn bind(&self, index: libc::c_int, ether_type: u16) -> io::Result<()> {
        // SAFETY: an address is plain octets; the pointer and the length are those of `address`, which outlives the call.
        unsafe {
            let mut address: libc::sockaddr_ll = std::mem::zeroed();
            address.sll_family = libc::AF_PACKET as libc::c_ushort;
            address.sll_protocol = ether_type.to_be();
            address.sll_ifindex = index;
            let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
            checked(libc::bind(self.socket.as_raw_fd(), (&raw const address).cast(), length))?;
        }
        Ok(())
    }

    fn set<T>(&self, level: libc::c_int, option: libc::c_int, value: &T) -> io::Result<()> {
        let length = size_of::<T>() as libc::socklen_t;
        // SAFETY: the pointer and the length are those of `value`, which outlives the call.
        let set = unsafe {
            libc::setsockopt(self.socket.as_raw_fd(), level, option, std::ptr::from_ref(value).cast(), length)
        };
        checked(set).map(|_| ())
    }

    pub(crate) fn as_fd_raw(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// The number of an interface in this thread's namespace.
pub(crate) fn index_of(interface: &str) -> io::Result<libc::c_int> {
    let name = std::ffi::CString::new(interface).map_err(io::Error::other)?;
    // SAFETY: the pointer is that of a text which outlives the call.
    let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
    match libc::c_int::try_from(index) {
        Ok(index) if index > 0 => Ok(index),
        _ => Err(io::Error::new(io::ErrorKind::NotFound, format!("no interface `{interface}`"))),
    }
}

/// What the kernel adds to a message. Stamps are in nanoseconds of the system's time.
#[derive(Clone, Copy, Default)]
struct Added {
    /// Tag protocol and control information.
    tag: Option<(u16, u16)>,
    /// When the frame was received.
    received: Option<u64>,
    /// When it left.
    left: Option<u64>,
}

impl FramePort for PacketSocket {
    fn receive<'b>(&self, buffer: &'b mut [u8]) -> io::Result<Option<Received<'b>>> {
        let (length, tag, stamp) = match self.ring.as_ref().map(|ring| ring.take(&mut buffer[TAG..])) {
            Some(None) => return Ok(None),
            Some(Some(Slot::Frame { length, tag, stamp })) => (length, tag, Some(stamp)),
            Some(Some(Slot::InQueue)) | None => {
                let Some((length, added)) = self.message(&mut buffer[TAG..], 0)? else { return Ok(None) };
                (length, added.tag, added.received)
            }
        };
        let end = TAG + length;
        let octets = match tag {
            Some((protocol, information)) if length >= ADDRESSES => {
                buffer.copy_within(TAG..TAG + ADDRESSES, 0);
                buffer[ADDRESSES..ADDRESSES + 2].copy_from_slice(&protocol.to_be_bytes());
                buffer[ADDRESSES + 2..ADDRESSES + TAG].copy_from_slice(&information.to_be_bytes());
                &buffer[..end]
            }
            _ => &buffer[TAG..end],
        };
        Ok(Some(Received { octets, stamp }))
    }

    fn send(&self, frame: &[u8]) -> io::Result<bool> {
        // SAFETY: the pointer and the length are those of `frame`, which outlives the call.
        let sent = unsafe { libc::send(self.socket.as_raw_fd(), frame.as_ptr().cast(), frame.len(), 0) };
        if sent >= 0 {
            return Ok(true);
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EAGAIN | libc::ENOBUFS | libc::EINTR) => Ok(false),
            _ => Err(error),
        }
    }

    fn lost(&self) -> io::Result<u64> {
        let mut counted = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
        let mut length = size_of::<libc::tpacket_stats>() as libc::socklen_t;
        // SAFETY: the pointers are those of `counted`, with its length, which outlives the call.
        checked(unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                (&raw mut counted).cast(),
                &raw mut length,
            )
        })?;
        Ok(u64::from(counted.tp_drops) + self.ring.as_ref().map_or(0, |ring| ring.cut()))
    }

    fn descriptor(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}

/// Room for what the kernel adds, aligned as it needs it.
#[repr(align(8))]
struct Control([u8; 256]);

/// What the kernel added to a message.
///
/// # Safety
/// The header is one that `recvmsg` has filled, and what it points to is there.
unsafe fn added(header: &libc::msghdr) -> Added {
    let mut added = Added::default();
    // SAFETY: by this function's contract.
    let mut part = unsafe { libc::CMSG_FIRSTHDR(header) };
    while !part.is_null() {
        // SAFETY: by this function's contract a part is one of the header's.
        let (level, kind) = unsafe { ((*part).cmsg_level, (*part).cmsg_type) };
        // SAFETY: as above; each type is plain data.
        unsafe {
            match (level, kind) {
                (libc::SOL_PACKET, libc::PACKET_AUXDATA) => {
                    let data = data(part)
                        .filter(|data: &libc::tpacket_auxdata| data.tp_status & STATUS_VLAN_VALID != 0);
                    added.tag = data.map(|data| {
                        let is_known = data.tp_status & STATUS_VLAN_TPID_VALID != 0;
                        (if is_known { data.tp_vlan_tpid } else { 0x8100 }, data.tp_vlan_tci)
                    });
                }
                (libc::SOL_SOCKET, libc::SO_TIMESTAMPNS) => added.received = data(part).map(nanoseconds),
                // By software is the first of three.
                (libc::SOL_SOCKET, libc::SO_TIMESTAMPING) => added.left = data(part).map(nanoseconds),
                _ => {}
            }
            part = libc::CMSG_NXTHDR(header, part);
        }
    }
    added
}

/// The data of a part, if it is as long as a `T`, wherever it is aligned.
///
/// # Safety
/// The part is one of a message's, and a `T` is plain data.
unsafe fn data<T>(part: *const libc::cmsghdr) -> Option<T> {
    // SAFETY: by this function's contract, and the length is looked at.
    unsafe {
        let is_whole = (*part).cmsg_len >= libc::CMSG_LEN(size_of::<T>() as u32) as usize;
        is_whole.then(|| libc::CMSG_DATA(part).cast::<T>().read_unaligned())
    }
}

fn nanoseconds(time: libc::timespec) -> u64 {
    let [seconds, rest] = [time.tv_sec, time.tv_nsec].map(|part| u64::try_from(part).unwrap_or(0));
    seconds * 1_000_000_000 + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::{pair, skipped};
    use crate::{Clock, End, Namespace, Waiter, Woken, add_pair, settle_offloads};

    /// Sends a frame over a pair of interfaces and gives what is received.
    fn over(frame: &[u8], room: Option<usize>) -> Option<(Vec<u8>, bool)> {
        let [one, other] = pair()?;
        let open = |name: &'static str| move || PacketSocket::of_type(name, ALL_PROTOCOLS, room);
        let [from, to] =
            [one.inside(open("t0")), other.inside(open("t1"))].map(|socket| socket.expect("it is there"));
        other.inside(|| settle_offloads("t1", &to, false)).expect("a pair merges nothing");
        let clock = Clock::starting_in(0);
        assert!(from.send(frame).expect("it is up"));
        let mut waiter = Waiter::new([to.descriptor()]);
        assert_eq!(waiter.wait(clock, 10_000_000_000).expect("it is open"), Woken::Frames);
        let mut buffer = [0; 2048];
        let received = to.receive(&mut buffer).expect("it is open").expect("it was waited for");
        assert!(to.receive(&mut [0; 2048]).expect("it is open").is_none(), "one frame was sent");
        assert!(from.receive(&mut [0; 2048]).expect("it is open").is_none(), "what is sent is not received");
        assert_eq!(to.lost().expect("it is open"), 0);
        Some((received.octets.to_vec(), received.stamp.is_some()))
    }

    fn frame(ether_type: [u8; 2], length: usize) -> Vec<u8> {
        let mut frame = vec![0x02, 0, 0, 0, 0, 1, 0x02, 0, 0, 0, 0, 2];
        frame.extend_from_slice(&ether_type);
        frame.extend((frame.len()..length).map(|place| (place % 251) as u8));
        frame
    }

    #[test]
    fn octets_arrive_as_they_were_sent_and_stamped() {
        for (ether_type, length) in
            [([0x88, 0xb5], 60), ([0x88, 0xb5], 1514), ([0x81, 0x00], 64), ([0x81, 0x00], 1518)]
        {
            let sent = frame(ether_type, length);
            for room in [None, Some(1)] {
                let Some((received, is_stamped)) = over(&sent, room) else { return skipped() };
                assert_eq!(received, sent, "of {length} octets, type {ether_type:02x?}, ring {room:?}");
                assert!(is_stamped);
            }
        }
    }

    #[test]
    fn long_frames_keep_their_place_and_what_finds_no_room_is_counted() {
        let (Ok(one), Ok(other)) = (Namespace::new(), Namespace::new()) else { return skipped() };
        let end = |namespace, number| {
            let (name, address) = (format!("t{number}"), [2, 0, 0, 0, 0, number]);
            End { namespace, name, address, mtu: 9000 }
        };
        add_pair(&end(&one, 0), &end(&other, 1)).expect("a pair of the test's own");
        // Of 32 frames.
        let open = |name: &'static str| move || PacketSocket::with_ring(name, 1);
        let [from, to] =
            [one.inside(open("t0")), other.inside(open("t1"))].map(|socket| socket.expect("it is there"));
        let mut buffer = [0; 16_384];
        let mut sent = 0_u32;
        let mut last = 0;
        for count in [1, 20, 20, 32, 7] {
            let frames: Vec<_> = (0..count)
                .map(|number| {
                    sent += 1;
                    let mut own = frame([0x88, 0xb5], [60, 1514, 1900, 2100, 9014][number % 5]);
                    own[14..18].copy_from_slice(&sent.to_be_bytes());
                    own
                })
                .collect();
            assert!(frames.iter().all(|frame| from.send(frame).expect("it is up")));
            for frame in &frames {
                let got =
                    to.receive(&mut buffer).expect("it is open").expect("the kernel hands it over at once");
                assert!(got.octets == frame, "{} octets for {}", got.octets.len(), frame.len());
                assert!(got.stamp >= Some(last), "{got:?}");
                last = got.stamp.unwrap_or(0);
            }
            assert!(to.receive(&mut buffer).expect("it is open").is_none());
        }
        assert_eq!(to.lost().expect("it is open"), 0);
        (0..40).for_each(|_| assert!(from.send(&frame([0x88, 0xb5], 60)).expect("it is up")));
        let received =
            std::iter::from_fn(|| to.receive(&mut buffer).expect("it is open").map(|_| ())).count();
        assert_eq!((received, to.lost().expect("it is open")), (32, 8));
    }

    #[test]
    fn frames_that_leave_are_stamped_in_order() {
        let Some([one, other]) = pair() else { return skipped() };
        let from = one.inside(|| PacketSocket::stamped("t0", 0x88b5)).expect("it is there");
        let to = other.inside(|| PacketSocket::stamped("t1", 0x88b5)).expect("it is there");
        let clock = Clock::starting_in(0);
        let mut last = 0;
        for _ in 0..3 {
            // One of another type is not received.
            let [sent, another] = [frame([0x88, 0xb5], 60), frame([0x88, 0xb6], 60)];
            assert!(from.send(&sent).expect("it is up"));
            let mut buffer = [0; 2048];
            let stamped = (0..10_000).find_map(|_| {
                from.left(&mut buffer).expect("it is open").map(|(octets, stamp)| (octets == sent, stamp))
            });
            let (is_it, stamp) = stamped.expect("the kernel stamps at once");
            assert!(is_it && stamp >= last, "{stamp}");
            last = stamp;
            assert!(from.send(&another).expect("it is up"));
            let mut waiter = Waiter::new([to.descriptor()]);
            assert_eq!(waiter.wait(clock, 10_000_000_000).expect("it is open"), Woken::Frames);
            let mut buffer = [0; 2048];
            let received = to.receive(&mut buffer).expect("it is open").expect("it was waited for");
            assert!(received.octets == sent && received.stamp >= Some(stamp), "{received:?}");
            assert!(to.receive(&mut [0; 2048]).expect("it is open").is_none(), "one frame was of its type");
            let left = from.left(&mut buffer).expect("it is open");
            assert_eq!(left.map(|(octets, _)| octets), Some(&another[..]));
        }
    }

    #[test]
    fn an_interface_that_is_not_there_is_named() {
        let error = PacketSocket::open("none-such").expect_err("there is none");
        assert_eq!(error.to_string(), "no interface `none-such`");
    }
}
