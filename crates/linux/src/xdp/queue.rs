//! Queues in memory that is shared with the kernel: one side puts, the other takes.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// Memory that is shared with the kernel.
#[derive(Debug)]
pub(super) struct Mapping {
    pub(super) memory: NonNull<u8>,
    pub(super) length: usize,
}

// SAFETY: it is memory of this process; who uses it is said where it is used.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    pub(super) fn new(length: usize, flags: libc::c_int, of: RawFd, offset: libc::off_t) -> io::Result<Self> {
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
pub(super) struct Queue<T> {
    memory: Mapping,
    producer: usize,
    consumer: usize,
    entries: usize,
    size: u32,
    of: std::marker::PhantomData<T>,
}

impl<T: Copy> Queue<T> {
    pub(super) fn new(
        socket: &OwnedFd,
        at: libc::off_t,
        places: libc::xdp_ring_offset,
        size: u32,
    ) -> io::Result<Self> {
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

    pub(super) fn is_empty(&self) -> bool {
        let [producer, consumer] =
            [self.producer, self.consumer].map(|at| self.counter(at).load(Ordering::Acquire));
        producer == consumer
    }

    /// Takes what the kernel put.
    pub(super) fn take(&mut self) -> Option<T> {
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
    pub(super) fn put(&mut self, entry: T) -> bool {
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
