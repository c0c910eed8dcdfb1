//! A folder that is being written, under a temporary name next to its place, and locked as long as a process writes it.
//!
//! A killed process leaves such a folder, and no lock on it: the next process that writes next to it removes it. If a
//! process was killed after it had moved an earlier run aside and before it had put the new one at the place, the
//! earlier run is put back.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// What a temporary name has behind the name of the place; a process and a number follow.
const MARK: &str = ".partial-";
/// After the temporary name: the earlier run of the place.
const OLD: &str = "-old";
const LOCK: &str = ".lock";

/// A folder on its way.
#[derive(Debug)]
pub(crate) struct Partial {
    path: PathBuf,
    /// Held until the folder is at its place, or gone.
    _lock: File,
}

impl Partial {
    /// A new folder that will be moved to `place`; remains of killed processes are removed.
    pub(crate) fn create(place: &Path) -> io::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let name = place.file_name().ok_or_else(|| io::Error::other("a run folder needs a name"))?;
        let parent = parent(place);
        check_parent(parent)?;
        fs::create_dir_all(parent)?;
        remove_stale(parent);
        loop {
            let mut name: OsString = name.to_owned();
            name.push(format!("{MARK}{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed)));
            let path = place.with_file_name(name);
            match fs::create_dir(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
                Ok(()) => {
                    if let Some(lock) = locked(&path)? {
                        return Ok(Self { path, _lock: lock });
                    }
                }
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Moves the folder to its place, and replaces what is there.
    pub(crate) fn put(&self, place: &Path) -> io::Result<()> {
        // The lock is held on the file, whatever its name is.
        fs::remove_file(self.path.join(LOCK))?;
        if !place.exists() {
            return fs::rename(&self.path, place);
        }
        let mut old = self.path.as_os_str().to_owned();
        old.push(OLD);
        let old = PathBuf::from(old);
        fs::rename(place, &old)?;
        if let Err(error) = fs::rename(&self.path, place) {
            fs::rename(&old, place)?;
            return Err(error);
        }
        fs::remove_dir_all(&old)
    }

    /// Takes it away.
    pub(crate) fn remove(&self) {
        // There is no further remedy if a folder cannot be removed.
        let _ = fs::remove_dir_all(&self.path);
    }
}

fn parent(place: &Path) -> &Path {
    place.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// An error for the first parent that is no folder.
fn check_parent(parent: &Path) -> io::Result<()> {
    match parent.ancestors().find(|path| path.exists()) {
        Some(there) if !there.is_dir() => {
            let text = format!("{} is not a folder", there.display());
            Err(io::Error::new(io::ErrorKind::NotADirectory, text))
        }
        _ => Ok(()),
    }
}

/// The lock of a new folder; none if another process, which looked for abandoned ones before it was locked, removed
/// the folder. That process holds the lock until the folder is gone.
fn locked(path: &Path) -> io::Result<Option<File>> {
    let place = path.join(LOCK);
    let lock = match File::create(&place) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        made => made?,
    };
    lock.lock()?;
    Ok(place.exists().then_some(lock))
}

/// Removes the remains of killed processes in a folder. If that is impossible they stay: they do no harm.
fn remove_stale(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some((place, process, is_old)) = name.to_str().and_then(parts) else { continue };
        let (path, place) = (entry.path(), folder.join(place));
        if !path.is_dir() {
            continue;
        }
        // Its lock is held until it is gone.
        let Some(_lock) = abandoned(&path, process) else { continue };
        let _ = if is_old && !place.exists() { fs::rename(&path, &place) } else { fs::remove_dir_all(&path) };
    }
}

/// The name of the place, the process, and whether it is the earlier run of the place, from a temporary name.
fn parts(name: &str) -> Option<(&str, u32, bool)> {
    let (place, rest) = name.rsplit_once(MARK)?;
    let (rest, is_old) = rest.strip_suffix(OLD).map_or((rest, false), |rest| (rest, true));
    let (process, number) = rest.split_once('-').unwrap_or((rest, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|octet| octet.is_ascii_digit());
    (!place.is_empty() && is_number(number)).then_some((place, process.parse().ok()?, is_old))
}

/// Whether this is the name of a folder on its way.
pub(crate) fn is_partial(name: &str) -> bool {
    parts(name).is_some()
}

/// The name that a folder will have which a process writes; none if it is no such folder, or nobody writes it any more.
pub(crate) fn running(path: &Path) -> Option<&str> {
    let (place, _, is_old) = parts(path.file_name()?.to_str()?)?;
    let lock = File::open(path.join(LOCK)).ok()?;
    // Shared, so that several that look do not take each other for the one that writes.
    let is_written = matches!(lock.try_lock_shared(), Err(fs::TryLockError::WouldBlock));
    (!is_old && is_written).then_some(place)
}

/// Whether no process writes the folder any more: its lock, which was free, or no lock if there is none and its process is gone.
fn abandoned(path: &Path, process: u32) -> Option<Option<File>> {
    match OpenOptions::new().read(true).write(true).open(path.join(LOCK)) {
        Ok(lock) => lock.try_lock().is_ok().then_some(Some(lock)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let processes = Path::new("/proc");
            let is_gone = processes.join("self").exists() && !processes.join(process.to_string()).exists();
            is_gone.then_some(None)
        }
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_names_are_known() {
        assert_eq!(parts("net-1.partial-77-3"), Some(("net-1", 77, false)));
        assert_eq!(parts("net-1.partial-77"), Some(("net-1", 77, false)));
        assert_eq!(parts("net-1.partial-77-3-old"), Some(("net-1", 77, true)));
        for other in
            ["net-1", ".partial-7", "net.partial-x", "net.partial-7-x", "net.partial-", "net.partial-7.html"]
        {
            assert_eq!(parts(other), None, "{other}");
        }
    }

    /// One that looked for abandoned folders took away those that another had made and not yet locked.
    #[test]
    fn folders_that_are_begun_at_once_stay() {
        use std::sync::atomic::AtomicBool;
        let folder = std::env::temp_dir().join(format!("tautwire-beside-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        let is_done = AtomicBool::new(false);
        std::thread::scope(|threads| {
            for _ in 0..2 {
                threads.spawn(|| {
                    while !is_done.load(Ordering::Relaxed) {
                        remove_stale(&folder);
                    }
                });
            }
            let place = folder.join("run");
            let begin = || -> io::Result<()> {
                let partial = Partial::create(&place)?;
                fs::write(partial.path().join("summary.json"), "{}")?;
                partial.put(&place)
            };
            let begun = (0..400).try_for_each(|_| begin());
            is_done.store(true, Ordering::Relaxed);
            begun.expect("nobody else takes it away");
            assert!(place.join("summary.json").is_file());
        });
        assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 1, "nothing else is left");
        fs::remove_dir_all(&folder).expect("ours");
    }

    #[test]
    fn what_killed_processes_left_goes_and_what_is_written_stays() {
        let folder = std::env::temp_dir().join(format!("tautwire-partial-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        let place = folder.join("run");
        let writing = Partial::create(&place).expect("begun");
        // A process of this number is not there: Linux has none above 4194304.
        let stale = |name: &str| {
            fs::create_dir(folder.join(name)).expect("a folder");
            fs::write(folder.join(name).join("frames.pcapng"), "half").expect("a file");
        };
        for name in
            ["run.partial-4999999", "run.partial-4999999-2", "else.partial-4999999-0-old", "run.partial"]
        {
            stale(name);
        }
        fs::write(folder.join("run.partial-4999999-2").join(LOCK), "").expect("a file");
        let second = Partial::create(&place).expect("begun beside it");
        assert!(writing.path().is_dir() && second.path().is_dir());
        let mut left: Vec<String> = fs::read_dir(&folder)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .filter(|name| !folder.join(name).join(LOCK).exists())
            .collect();
        left.sort();
        assert_eq!(left, ["else", "run.partial"]);
        second.put(&place).expect("put");
        writing.put(&place).expect("put in its place");
        assert!(place.is_dir());
        fs::remove_dir_all(&folder).expect("ours");
    }
}
