//! What is removed when a signal ends the process (SIGINT, SIGTERM, SIGHUP): unfinished files and folders, and the
//! socket on which it listens.
//!
//! The process then ends as it would have without this: by the signal. One that it was started to ignore (`nohup`) stays ignored.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, Once, PoisonError};
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

static PLACES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
static WATCHED: Once = Once::new();

/// Registers a file or folder of this process, to be removed if a signal ends the process before it removed the file itself.
pub(crate) fn remove_on_kill(place: &Path) {
    let place = std::path::absolute(place).unwrap_or_else(|_| place.to_owned());
    PLACES.lock().unwrap_or_else(PoisonError::into_inner).push(place);
    WATCHED.call_once(|| {
        // Without signals it is as if it were killed: the next run takes away what this one leaves.
        let Ok(mut signals) = Signals::new(watched()) else { return };
        let _ = thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for signal in signals.forever() {
                remove();
                let _ = emulate_default_handler(signal);
            }
        });
    });
}

/// The signals that ask the process to end, but for those that it was started to ignore.
fn watched() -> impl Iterator<Item = i32> {
    let ignored = ignored();
    [SIGHUP, SIGINT, SIGTERM].into_iter().filter(move |signal| ignored >> (signal - 1) & 1 == 0)
}

/// The signals that the process ignores, a bit for each; none where the system does not show them.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

fn remove() {
    let places = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
    for place in places.iter() {
        // Others still write: a folder may get a file while it is removed.
        for _ in 0..100 {
            let gone = if place.is_dir() { fs::remove_dir_all(place) } else { fs::remove_file(place) };
            if gone.is_ok() || !place.exists() {
                break;
            }
        }
    }
}

/// What is set when a signal asks the process to stop; it then goes on until it is ready to.
pub(crate) fn stop() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in watched() {
        // Without it the signal ends the process at once.
        let _ = signal_hook::flag::register(signal, Arc::clone(&stop));
    }
    stop
}
