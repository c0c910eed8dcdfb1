//! Received frames in memory that the kernel shares with this process (PACKET_RX_RING of packet sockets, version 2): a frame is read without
//! a system call, as soon as it is there.
//!
//! Frames that are longer than a slot go through the socket's own queue, in the same order: their slot says so.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Octets of a slot: the kernel's header, and a frame of the usual MTU with two tags.
const SLOT: usize = 2048;
/// Octets that the kernel takes at a time.
const BLOCK: usize = 1 << 16;

/// What came next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// A frame of this length, now in the caller's room.
    Frame { length: usize, tag: Option<(u16, u16)>, stamp: u64 },
    /// A frame that waits in the queue of the socket.
    InQueue,
}

/// The slots of a socket.
#[derive(Debug)]
pub(crate) struct Ring {
    memory: NonNull<u8>,
    slots: usize,
    /// The slot that is filled next. Whoever has it is the only one that looks at slots.
    next: Mutex<usize>,
    /// Frames of which the kernel kept a part alone.
    cut: AtomicU64,
}

// SAFETY: the memory is this ring's alone, and is read and given back to the kernel under the lock of `next`.
unsafe impl Send for Ring {}
// SAFETY: as above.
unsafe impl Sync for Ring {}

impl Ring {
    /// Of about so many octets, for a socket that receives nothing yet.
    ///
    /// # Errors
    /// If the kernel has no room.
    pub(crate) fn new(socket: BorrowedFd<'_>, octets: usize) -> io::Result<Self> {
        let blocks = octets.div_ceil(BLOCK).max(1);
        let count = |count: usize| u32::try_from(count).map_err(io::Error::other);
        let request = libc::tpacket_req {
            tp_block_size: count(BLOCK)?,
            tp_block_nr: count(blocks)?,
            tp_frame_size: count(SLOT)?,
            tp_frame_nr: count(blocks * (BLOCK / SLOT))?,
        };
        set(socket, libc::PACKET_VERSION, &(libc::tpacket_versions::TPACKET_V2 as libc::c_int))?;
        set(socket, libc::PACKET_COPY_THRESH, &1)?;
        set(socket, libc::PACKET_RX_RING, &request)?;
        let (length, access) = (blocks * BLOCK, libc::PROT_READ | libc::PROT_WRITE);
        // SAFETY: takes no memory of ours; what it gives is used by this ring alone.
        let memory = unsafe {
            libc::mmap(std::ptr::null_mut(), length, access, libc::MAP_SHARED, socket.as_raw_fd(), 0)
        };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let memory = NonNull::new(memory.cast()).expect("a mapping is somewhere");
        Ok(Self { memory, slots: length / SLOT, next: Mutex::new(0), cut: AtomicU64::new(0) })
    }

    /// The next frame, into `room`; none if there is none now.
    pub(crate) fn take(&self, room: &mut [u8]) -> Option<Slot> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            // SAFETY: the slot is within the mapping, which lives as long as `self`.
            let slot = unsafe { self.memory.add(*next * SLOT) };
            // SAFETY: a slot begins with its state, which is aligned, and which the kernel and this process write as a whole.
            let state = unsafe { AtomicU32::from_ptr(slot.as_ptr().cast()) };
            if state.load(Ordering::Acquire) & libc::TP_STATUS_USER == 0 {
                return None;
            }
            // SAFETY: the slot is this process's until its state is given back; its header is plain data, and aligned.
            let header: libc::tpacket2_hdr = unsafe { slot.cast().read() };
            let (from, length) = (usize::from(header.tp_mac), header.tp_snaplen as usize);
            let is_whole = header.tp_snaplen == header.tp_len && from + length <= SLOT;
            let found = if header.tp_status & libc::TP_STATUS_COPY != 0 {
                Some(Slot::InQueue)
            } else if is_whole {
                let length = length.min(room.len());
                // SAFETY: the frame is within its slot, which this process has; `room` is the caller's and has the length.
                unsafe { slot.add(from).copy_to_nonoverlapping(NonNull::from(&mut *room).cast(), length) };
                let has = |flag: u32| header.tp_status & flag != 0;
                let protocol =
                    if has(libc::TP_STATUS_VLAN_TPID_VALID) { header.tp_vlan_tpid } else { 0x8100 };
                let tag = has(libc::TP_STATUS_VLAN_VALID).then_some((protocol, header.tp_vlan_tci));
                let stamp = u64::from(header.tp_sec) * 1_000_000_000 + u64::from(header.tp_nsec);
                Some(Slot::Frame { length, tag, stamp })
            } else {
                self.cut.fetch_add(1, Ordering::Relaxed);
                None
            };
            state.store(libc::TP_STATUS_KERNEL, Ordering::Release);
            *next = (*next + 1) % self.slots;
            if found.is_some() {
                return found;
            }
        }
    }

    /// Frames of which the kernel kept a part alone, since the last call: there was no room for them in the queue.
    pub(crate) fn cut(&self) -> u64 {
        self.cut.swap(0, Ordering::Relaxed)
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping is this ring's, and nothing else points to it.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), self.slots * SLOT) };
    }
}

/// Sets an option of packet sockets.
fn set<T>(socket: BorrowedFd<'_>, option: libc::c_int, value: &T) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    // SAFETY: the pointer and the length are those of `value`, which outlives the call.
    let set = unsafe {
        let value = std::ptr::from_ref(value).cast();
        libc::setsockopt(socket.as_raw_fd(), libc::SOL_PACKET, option, value, length)
    };
    crate::checked(set).map(|_| ())
}
