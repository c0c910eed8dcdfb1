//! Frames of an interface by a socket of XDP (AF_XDP, in copy mode): they leave the driver's path before the kernel's own stack sees them,
//! with their tags, and without a stamp.
//!
//! Memory of the process is cut into chunks, one for each frame. Four queues hand chunks to the kernel and back: to be filled, received, to
//! be sent, sent. A program of a few instructions at the interface redirects frames to the socket, but for those of gPTP, which have sockets
//! of their own. It goes with the process, however that ends.

mod program;
mod queue;

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::checked;
use crate::packet::{FramePort, Received, index_of};
use crate::xdp::program::redirect;
use crate::xdp::queue::{Mapping, Queue};

/// Chunks for received frames, and for those that are sent: entries of the queues.
const RECEIVED: u32 = 8192;
const SENT: u32 = 1024;
/// Octets that the kernel leaves free at the start of a chunk with a received frame.
const HEADROOM: usize = 256;
/// Two tags and a header.
const BESIDE_MTU: usize = 22;
/// Frames that a call sends at most.
const BATCH: u32 = 32;

/// How the program is at the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XdpMode {
    /// In its driver.
    Native,
    /// Behind its driver, which has no place for it.
    Generic,
}

/// A socket of XDP, of the first queue of an interface.
#[derive(Debug)]
pub struct XdpSocket {
    socket: OwnedFd,
    /// The program is at the interface as long as this is open.
    _link: OwnedFd,
    mode: XdpMode,
    chunks: Mapping,
    chunk: usize,
    incoming: Mutex<Incoming>,
    outgoing: Mutex<Outgoing>,
    lost: AtomicU64,
}

#[derive(Debug)]
struct Incoming {
    received: Queue<libc::xdp_desc>,
    to_fill: Queue<u64>,
}

#[derive(Debug)]
struct Outgoing {
    to_send: Queue<libc::xdp_desc>,
    sent: Queue<u64>,
    free: Vec<u64>,
    /// Whether the interface was down at the last call: then nothing is added to what waits for it.
    was_down: bool,
}

impl XdpSocket {
    /// Of an interface in this thread's namespace with this MTU.
    ///
    /// # Errors
    /// If there is no such interface, its MTU is above 3818, another program is at it, or the process may not: it needs `CAP_NET_RAW`, and `CAP_BPF` with
    /// `CAP_NET_ADMIN`.
    pub fn open(interface: &str, mtu: usize) -> io::Result<Self> {
        let index = u32::try_from(index_of(interface)?).map_err(io::Error::other)?;
        let frame = mtu + BESIDE_MTU + HEADROOM;
        let chunk = [2048, 4096].into_iter().find(|chunk| frame <= *chunk);
        let chunk = chunk.ok_or_else(|| io::Error::other(format!("an MTU of {mtu} is too large for XDP")))?;
        // SAFETY: takes no pointer; the descriptor it gives is owned by nothing else.
        let socket = unsafe {
            let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
            OwnedFd::from_raw_fd(checked(libc::socket(libc::AF_XDP, kind, 0))?)
        };
        let length = (RECEIVED + SENT) as usize * chunk;
        let chunks = Mapping::new(length, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)?;
        let region = libc::xdp_umem_reg {
            addr: chunks.memory.as_ptr() as u64,
            len: length as u64,
            chunk_size: u32::try_from(chunk).map_err(io::Error::other)?,
            headroom: 0,
            flags: 0,
            tx_metadata_len: 0,
        };
        set(&socket, libc::XDP_UMEM_REG, &region)?;
        set(&socket, libc::XDP_UMEM_FILL_RING, &RECEIVED)?;
        set(&socket, libc::XDP_UMEM_COMPLETION_RING, &SENT)?;
        set(&socket, libc::XDP_RX_RING, &RECEIVED)?;
        set(&socket, libc::XDP_TX_RING, &SENT)?;
        let offsets = offsets(&socket)?;
        let mut incoming = Incoming {
            received: Queue::new(&socket, libc::XDP_PGOFF_RX_RING, offsets.rx, RECEIVED)?,
            to_fill: Queue::new(
                &socket,
                libc::XDP_UMEM_PGOFF_FILL_RING as libc::off_t,
                offsets.fr,
                RECEIVED,
            )?,
        };
        let outgoing = Outgoing {
            to_send: Queue::new(&socket, libc::XDP_PGOFF_TX_RING, offsets.tx, SENT)?,
            sent: Queue::new(&socket, libc::XDP_UMEM_PGOFF_COMPLETION_RING as libc::off_t, offsets.cr, SENT)?,
            free: (RECEIVED..RECEIVED + SENT).map(|number| u64::from(number) * chunk as u64).collect(),
            was_down: false,
        };
        for number in 0..RECEIVED {
            let is_put = incoming.to_fill.put(u64::from(number) * chunk as u64);
            debug_assert!(is_put, "it has an entry for each");
        }
        bind(&socket, index)?;
        let (link, mode) = redirect(&socket, index)?;
        Ok(Self {
            socket,
            _link: link,
            mode,
            chunks,
            chunk,
            incoming: Mutex::new(incoming),
            outgoing: Mutex::new(outgoing),
            lost: AtomicU64::new(0),
        })
    }

    /// How its program is at the interface.
    #[must_use]
    pub fn mode(&self) -> XdpMode {
        self.mode
    }

    /// The octets of a chunk from `address`, at most `length`.
    fn octets(&self, address: u64, length: usize) -> NonNull<u8> {
        let start = usize::try_from(address).expect("an address in the memory of this process");
        assert!(start + length <= self.chunks.length, "the kernel gives back what it was given");
        // SAFETY: it is within the mapping, which lives as long as `self`.
        unsafe { self.chunks.memory.add(start) }
    }

    /// Has the kernel send what is to be sent.
    fn kick(&self, outgoing: &mut Outgoing) -> io::Result<()> {
        // Each call sends a batch; what a full interface does not take is tried once more by the next call.
        for _ in 0..=SENT / BATCH {
            if outgoing.to_send.is_empty() {
                break;
            }
            outgoing.was_down = false;
            // SAFETY: without data and address.
            let result = unsafe {
                let flags = libc::MSG_DONTWAIT;
                libc::sendto(self.socket.as_raw_fd(), std::ptr::null(), 0, flags, std::ptr::null(), 0)
            };
            if result < 0 {
                let error = io::Error::last_os_error();
                outgoing.was_down = error.raw_os_error() == Some(libc::ENETDOWN);
                match error.raw_os_error() {
                    Some(libc::EAGAIN) => {}
                    Some(libc::EBUSY | libc::ENOBUFS | libc::EINTR) => break,
                    _ => return Err(error),
                }
            }
        }
        while let Some(address) = outgoing.sent.take() {
            outgoing.free.push(address / self.chunk as u64 * self.chunk as u64);
        }
        Ok(())
    }
}

impl FramePort for XdpSocket {
    fn receive<'b>(&self, buffer: &'b mut [u8]) -> io::Result<Option<Received<'b>>> {
        let mut incoming = locked(&self.incoming);
        let Some(frame) = incoming.received.take() else { return Ok(None) };
        let length = (frame.len as usize).min(buffer.len());
        let octets = self.octets(frame.addr, length);
        // SAFETY: the chunk is this process's until it is given back; `buffer` is the caller's and has the length.
        unsafe { octets.copy_to_nonoverlapping(NonNull::from(&mut *buffer).cast(), length) };
        let chunk = self.chunk as u64;
        let is_put = incoming.to_fill.put(frame.addr / chunk * chunk);
        debug_assert!(is_put, "it has an entry for each chunk");
        Ok(Some(Received { octets: &buffer[..length], stamp: None }))
    }

    fn send(&self, frame: &[u8]) -> io::Result<bool> {
        let mut outgoing = locked(&self.outgoing);
        if frame.len() > self.chunk {
            return Err(io::Error::from_raw_os_error(libc::EMSGSIZE));
        }
        if outgoing.free.is_empty() || outgoing.was_down {
            self.kick(&mut outgoing)?;
        }
        let Some(addr) = outgoing.free.pop() else { return Ok(false) };
        let octets = self.octets(addr, frame.len());
        // SAFETY: the chunk is this process's until it is sent.
        unsafe { octets.copy_from_nonoverlapping(NonNull::from(frame).cast(), frame.len()) };
        let is_put = outgoing.to_send.put(libc::xdp_desc { addr, len: frame.len() as u32, options: 0 });
        debug_assert!(is_put, "it has an entry for each chunk");
        Ok(true)
    }

    fn flush(&self) -> io::Result<()> {
        let mut outgoing = locked(&self.outgoing);
        if outgoing.to_send.is_empty() { Ok(()) } else { self.kick(&mut outgoing) }
    }

    fn lost(&self) -> io::Result<u64> {
        // SAFETY: plain counters.
        let mut counted: libc::xdp_statistics = unsafe { std::mem::zeroed() };
        get(&self.socket, libc::XDP_STATISTICS, &mut counted)?;
        let all = counted.rx_dropped + counted.rx_ring_full;
        Ok(all - self.lost.swap(all, Ordering::Relaxed))
    }

    fn descriptor(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn set<T>(socket: &OwnedFd, option: libc::c_int, value: &T) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    // SAFETY: the pointer and the length are those of `value`, which outlives the call.
    let result = unsafe {
        let value = std::ptr::from_ref(value).cast();
        libc::setsockopt(socket.as_raw_fd(), libc::SOL_XDP, option, value, length)
    };
    checked(result).map(|_| ())
}

fn get<T>(socket: &OwnedFd, option: libc::c_int, value: &mut T) -> io::Result<()> {
    let mut length = size_of::<T>() as libc::socklen_t;
    // SAFETY: the pointers are those of `value` and its length, which outlive the call; all that is asked for are counters.
    let result = unsafe {
        let value = std::ptr::from_mut(value).cast();
        libc::getsockopt(socket.as_raw_fd(), libc::SOL_XDP, option, value, &raw mut length)
    };
    checked(result).map(|_| ())
}

fn offsets(socket: &OwnedFd) -> io::Result<libc::xdp_mmap_offsets> {
    // SAFETY: plain numbers.
    let mut offsets: libc::xdp_mmap_offsets = unsafe { std::mem::zeroed() };
    get(socket, libc::XDP_MMAP_OFFSETS, &mut offsets)?;
    Ok(offsets)
}

/// Binds a socket to the first queue of an interface.
fn bind(socket: &OwnedFd, index: u32) -> io::Result<()> {
    let address = libc::sockaddr_xdp {
        sxdp_family: libc::AF_XDP as u16,
        sxdp_flags: libc::XDP_COPY,
        sxdp_ifindex: index,
        sxdp_queue_id: 0,
        sxdp_shared_umem_fd: 0,
    };
    let length = size_of::<libc::sockaddr_xdp>() as libc::socklen_t;
    // SAFETY: the pointer and the length are those of `address`, which outlives the call.
    checked(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) }).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::skipped;
    use crate::{Clock, End, Namespace, PacketSocket, Waiter, Woken, add_pair};

    /// A pair of interfaces with this MTU.
    fn pair(mtu: u32) -> Option<[Namespace; 2]> {
        let [one, other] = [Namespace::new().ok()?, Namespace::new().ok()?];
        let end = |namespace, number| End {
            namespace,
            name: format!("t{number}"),
            address: [2, 0, 0, 0, 0, number],
            mtu,
        };
        add_pair(&end(&one, 0), &end(&other, 1)).expect("a pair of the test's own");
        Some([one, other])
    }

    fn frame(length: usize, number: u32, ether_type: [u8; 2]) -> Vec<u8> {
        let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
        frame.extend_from_slice(&ether_type);
        frame.extend_from_slice(&number.to_be_bytes());
        frame.extend((frame.len()..length).map(|place| (place % 251) as u8));
        frame
    }

    #[test]
    fn frames_pass_both_ways_in_order_with_their_tags() {
        for (mtu, largest, mode) in
            [(1500, 1514, XdpMode::Native), (3000, 3014, XdpMode::Native), (3700, 3714, XdpMode::Generic)]
        {
            let Some([one, other]) = pair(mtu) else { return skipped() };
            let xdp = one.inside(|| XdpSocket::open("t0", mtu as usize)).expect("the kernel has XDP");
            assert_eq!(xdp.mode(), mode, "{mtu}");
            let packets = other.inside(|| PacketSocket::open("t1")).expect("it is there");
            let lengths = [60, 64, largest];
            let mut buffer = vec![0; 8192];
            let mut number = 0;
            // More than there are chunks, in all and for what is sent at a time.
            for count in [1, 300, SENT + 50, 7000, 7000] {
                let frames: Vec<_> = (0..count)
                    .map(|_| {
                        number += 1;
                        let ether_type = if number % 2 == 0 { [0x81, 0x00] } else { [0x88, 0xb5] };
                        frame(lengths[number as usize % 3], number, ether_type)
                    })
                    .collect();
                for frame in &frames {
                    assert!(packets.send(frame).expect("it is up"));
                }
                let mut waiter = Waiter::new([xdp.descriptor()]);
                let woken = waiter.wait(Clock::starting_in(0), 10_000_000_000);
                assert_eq!(woken.expect("it is open"), Woken::Frames);
                for frame in &frames {
                    let got = std::iter::repeat_with(|| {
                        xdp.receive(&mut buffer).expect("it is open").map(|got| got.octets.to_vec())
                    })
                    .take(100_000)
                    .flatten()
                    .next();
                    assert_eq!(got.as_ref(), Some(frame));
                }
                assert_eq!(xdp.receive(&mut buffer).expect("it is open"), None);
                for frames in frames.chunks(200) {
                    for frame in frames {
                        assert!(xdp.send(frame).expect("it is up"));
                    }
                    xdp.flush().expect("it is up");
                    for frame in frames {
                        let got = packets.receive(&mut buffer).expect("it is open");
                        assert_eq!(got.map(|got| got.octets), Some(&frame[..]));
                    }
                }
            }
            assert_eq!(xdp.lost().expect("it counts"), 0);
        }
    }

    /// Sets an interface up or down.
    fn set(interface: &str, up: bool) -> io::Result<()> {
        let socket = PacketSocket::without_frames(interface)?;
        let mut request = [0_u8; 40];
        request[..interface.len()].copy_from_slice(interface.as_bytes());
        request[16..18].copy_from_slice(&if up { libc::IFF_UP as u16 } else { 0 }.to_ne_bytes());
        let descriptor = socket.descriptor();
        // SAFETY: the request has the size of `ifreq`, with name and flags, and outlives the call.
        checked(unsafe { libc::ioctl(descriptor, libc::SIOCSIFFLAGS as _, request.as_mut_ptr()) }).map(|_| ())
    }

    #[test]
    fn nothing_gathers_for_an_interface_that_is_down() {
        let Some([one, other]) = pair(1500) else { return skipped() };
        let xdp = one.inside(|| XdpSocket::open("t0", 1500)).expect("the kernel has XDP");
        let packets = other.inside(|| PacketSocket::open("t1")).expect("it is there");
        one.inside(|| set("t0", false)).expect("it is this test's own");
        assert!(xdp.send(&frame(60, 1, [0x88, 0xb5])).expect("nobody knows yet"));
        for _ in 0..2 {
            assert_eq!(xdp.flush().expect_err("it is down").raw_os_error(), Some(libc::ENETDOWN));
            let refused = xdp.send(&frame(60, 2, [0x88, 0xb5])).expect_err("it is down");
            assert_eq!(refused.raw_os_error(), Some(libc::ENETDOWN));
        }
        one.inside(|| set("t0", true)).expect("it is this test's own");
        assert!(xdp.send(&frame(60, 3, [0x88, 0xb5])).expect("it is up"));
        xdp.flush().expect("it is up");
        let mut buffer = [0; 2048];
        for number in [1, 3] {
            let got = packets.receive(&mut buffer).expect("it is open").map(|got| got.octets.to_vec());
            assert_eq!(got, Some(frame(60, number, [0x88, 0xb5])));
        }
    }
}
