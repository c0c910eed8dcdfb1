//! Frames of an interface by a socket of XDP (AF_XDP, in copy mode): they leave the driver's path before the kernel's own stack sees them,
//! with their tags, and without a stamp.
//!
//! Memory of the process is cut into chunks, one for each frame. Four queues hand chunks to the kernel and back: to be filled, received, to
//! be sent, sent. A program of a few instructions at the interface redirects frames to the socket, but for those of gPTP, which have sockets
//! of their own. It goes with the process, however that ends.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::checked;
use crate::packet::{FramePort, Received, index_of};

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
            // SAFETY: without data and address.
            let result = unsafe {
                let flags = libc::MSG_DONTWAIT;
                libc::sendto(self.socket.as_raw_fd(), std::ptr::null(), 0, flags, std::ptr::null(), 0)
            };
            if result < 0 {
                let error = io::Error::last_os_error();
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
        if outgoing.free.is_empty() {
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

/// Memory that is shared with the kernel.
#[derive(Debug)]
struct Mapping {
    memory: NonNull<u8>,
    length: usize,
}

// SAFETY: it is memory of this process; who uses it is said where it is used.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    fn new(length: usize, flags: libc::c_int, of: RawFd, offset: libc::off_t) -> io::Result<Self> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = flags | libc::MAP_POPULATE;
        // SAFETY: takes no memory of ours.
        let memory = unsafe { libc::mmap(std::ptr::null_mut(), length, access, flags, of, offset) };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { memory: NonNull::new(memory.cast()).expect("a mapping is somewhere"), length })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is its owner's, and nothing points to it when that goes.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), self.length) };
    }
}

/// One of the four queues. Its two counters never turn back; each is written by one side alone.
#[derive(Debug)]
struct Queue<T> {
    memory: Mapping,
    producer: usize,
    consumer: usize,
    entries: usize,
    size: u32,
    of: std::marker::PhantomData<T>,
}

impl<T: Copy> Queue<T> {
    fn new(socket: &OwnedFd, at: libc::off_t, places: libc::xdp_ring_offset, size: u32) -> io::Result<Self> {
        let place = |place: u64| usize::try_from(place).map_err(io::Error::other);
        let entries = place(places.desc)?;
        let length = entries + size as usize * size_of::<T>();
        let memory = Mapping::new(length, libc::MAP_SHARED, socket.as_raw_fd(), at)?;
        let (producer, consumer) = (place(places.producer)?, place(places.consumer)?);
        Ok(Self { memory, producer, consumer, entries, size, of: std::marker::PhantomData })
    }

    fn counter(&self, place: usize) -> &AtomicU32 {
        // SAFETY: the kernel states where in the mapping its counters are; both sides write them as a whole.
        unsafe { AtomicU32::from_ptr(self.memory.memory.add(place).as_ptr().cast()) }
    }

    fn entry(&self, number: u32) -> NonNull<T> {
        let place = self.entries + (number & (self.size - 1)) as usize * size_of::<T>();
        // SAFETY: it is within the mapping, which has an entry for each number below the size, a power of two.
        unsafe { self.memory.memory.add(place).cast() }
    }

    fn is_empty(&self) -> bool {
        let [producer, consumer] =
            [self.producer, self.consumer].map(|at| self.counter(at).load(Ordering::Acquire));
        producer == consumer
    }

    /// Takes what the kernel put.
    fn take(&mut self) -> Option<T> {
        let next = self.counter(self.consumer).load(Ordering::Relaxed);
        if self.counter(self.producer).load(Ordering::Acquire) == next {
            return None;
        }
        // SAFETY: the kernel has written the entry, and leaves it until the counter says that it was taken.
        let entry = unsafe { self.entry(next).read() };
        self.counter(self.consumer).store(next.wrapping_add(1), Ordering::Release);
        Some(entry)
    }

    /// Puts something for the kernel; false if there is no room.
    fn put(&mut self, entry: T) -> bool {
        let next = self.counter(self.producer).load(Ordering::Relaxed);
        if next.wrapping_sub(self.counter(self.consumer).load(Ordering::Acquire)) >= self.size {
            return false;
        }
        // SAFETY: the kernel does not look at the entry before the counter says that it is there.
        unsafe { self.entry(next).write(entry) };
        self.counter(self.producer).store(next.wrapping_add(1), Ordering::Release);
        true
    }
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
fn redirect(socket: &OwnedFd, index: u32) -> io::Result<(OwnedFd, XdpMode)> {
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
}
