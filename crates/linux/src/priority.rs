//! Real-time priority and pinning of a thread, where they are allowed.

use crate::checked;

/// How the threads of a run are scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// As every other process: others of the machine delay it.
    Ordinary,
    /// `SCHED_FIFO`.
    RealTime,
}

impl Priority {
    /// In words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::RealTime => "real-time priority",
            Self::Ordinary => "ordinary priority (real-time priority is not allowed or not asked for)",
        }
    }
}

/// Gives this thread real-time priority, if that is allowed, and keeps it on the `number`-th processor that it may use.
pub fn prefer(number: usize) -> Priority {
    pin(number);
    let parameter = libc::sched_param { sched_priority: 20 };
    // SAFETY: the pointer is that of `parameter`, which outlives the call; zero is the calling thread.
    let set = checked(unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameter) });
    if set.is_ok() { Priority::RealTime } else { Priority::Ordinary }
}

fn pin(number: usize) {
    // SAFETY: a set of processors is plain octets; the pointers are those of sets that outlive the calls.
    unsafe {
        let mut all: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut all) != 0 {
            return;
        }
        let places = usize::try_from(libc::CPU_SETSIZE).unwrap_or(0);
        let allowed: Vec<usize> = (0..places).filter(|place| libc::CPU_ISSET(*place, &all)).collect();
        if allowed.is_empty() {
            return;
        }
        let mut one: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(allowed[number % allowed.len()], &mut one);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const one);
    }
}
