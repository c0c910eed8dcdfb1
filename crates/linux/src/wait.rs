//! Waiting for frames or an instant: sleep until shortly before it, then read the clock until it has come; never longer than a share of
//! the time, for the kernel stops a real-time thread that does not sleep.

use std::io;
use std::os::fd::RawFd;

use crate::clock::Clock;

/// How long before an instant the sleep ends: a timer of Linux is late by about this.
const MARGIN: u64 = 60_000;
/// Of each of these spans a thread may be awake so long and spin; behind that it sleeps whenever it waits.
const SPAN: u64 = 50_000_000;
const AWAKE_MAX: u64 = 37_500_000;

/// What ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// Frames may be there.
    Frames,
    /// The instant has come.
    Instant,
}

/// Waits for some descriptors.
#[derive(Debug)]
pub struct Waiter {
    polled: Vec<libc::pollfd>,
    /// Start of the span, and how long it slept in it.
    slept: (u64, u64),
}

impl Waiter {
    /// Of these descriptors.
    #[must_use]
    pub fn new(descriptors: impl IntoIterator<Item = RawFd>) -> Self {
        let poll = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        Self { polled: descriptors.into_iter().map(poll).collect(), slept: (0, 0) }
    }

    /// Waits until a frame can be received, or until `until`, in nanoseconds of `clock`.
    ///
    /// # Errors
    /// What the kernel answers.
    pub fn wait(&mut self, clock: Clock, until: u64) -> io::Result<Woken> {
        loop {
            let now = clock.now();
            let left = until.saturating_sub(now);
            if now >= self.slept.0 + SPAN {
                self.slept = (now, 0);
            }
            let may_spin = now.saturating_sub(self.slept.0 + self.slept.1) < AWAKE_MAX;
            let sleep = if may_spin { left.saturating_sub(MARGIN) } else { left };
            let has_frames = self.poll(sleep)?;
            let awake = clock.now();
            self.slept.1 += if sleep > 0 { awake - now } else { 0 };
            if has_frames {
                return Ok(Woken::Frames);
            }
            if may_spin && until.saturating_sub(awake) <= MARGIN {
                // Frames that come in these microseconds are stamped by the kernel: they lose nothing.
                while clock.now() < until {
                    std::hint::spin_loop();
                }
            }
            if clock.now() >= until {
                return Ok(Woken::Instant);
            }
        }
    }

    /// Whether a descriptor had a frame when it was last polled.
    #[must_use]
    pub fn is_ready(&self, place: usize) -> bool {
        self.polled[place].revents != 0
    }

    /// Waits for a descriptor no more: one that has failed would wake it again and again.
    pub fn forget(&mut self, place: usize) {
        (self.polled[place].fd, self.polled[place].revents) = (-1, 0);
    }

    fn poll(&mut self, nanoseconds: u64) -> io::Result<bool> {
        let time = libc::timespec {
            tv_sec: libc::time_t::try_from(nanoseconds / 1_000_000_000).unwrap_or(libc::time_t::MAX),
            tv_nsec: libc::c_long::try_from(nanoseconds % 1_000_000_000).unwrap_or(0),
        };
        let count = libc::nfds_t::try_from(self.polled.len()).unwrap_or(0);
        // SAFETY: the pointers are those of `polled`, with its length, and of `time`; both outlive the call.
        let ready =
            unsafe { libc::ppoll(self.polled.as_mut_ptr(), count, &raw const time, std::ptr::null()) };
        if ready >= 0 {
            return Ok(ready > 0);
        }
        let error = io::Error::last_os_error();
        if error.kind() == io::ErrorKind::Interrupted { Ok(false) } else { Err(error) }
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd as _;

    use super::*;

    #[test]
    fn what_is_forgotten_wakes_nobody() {
        let clock = Clock::starting_in(0);
        let always = std::fs::File::open("/dev/zero").expect("it is there");
        let mut waiter = Waiter::new([always.as_raw_fd()]);
        let wait = |waiter: &mut Waiter| waiter.wait(clock, clock.now() + 100_000).expect("it is open");
        assert_eq!((wait(&mut waiter), waiter.is_ready(0)), (Woken::Frames, true));
        waiter.forget(0);
        assert!(!waiter.is_ready(0));
        assert_eq!(wait(&mut waiter), Woken::Instant);
    }

    #[test]
    fn it_is_never_early() {
        let clock = Clock::starting_in(0);
        let mut waiter = Waiter::new([]);
        for step in 1..=20 {
            let until = step * 150_000;
            assert_eq!(waiter.wait(clock, until).expect("nothing is waited for"), Woken::Instant);
            assert!(clock.now() >= until);
        }
    }
}
