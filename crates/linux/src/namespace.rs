//! Network namespaces without a name: the kernel removes each, with its interfaces, when the last descriptor of it is closed, so a
//! killed process leaves none.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::checked;

/// A network namespace of this process.
#[derive(Debug)]
pub struct Namespace {
    file: File,
}

impl Namespace {
    /// A new one, empty, in which interfaces get no IPv6 address of their own and so send nothing by themselves.
    ///
    /// # Errors
    /// If the process may not make one: it needs `CAP_SYS_ADMIN`.
    pub fn new() -> io::Result<Self> {
        in_thread(|| {
            // SAFETY: takes no pointer; it concerns this thread alone, which ends after this function.
            checked(unsafe { libc::unshare(libc::CLONE_NEWNET) })?;
            for what in ["default", "all"] {
                // Without it frames of neighbour discovery are seen, and are counted as foreign.
                let _ = std::fs::write(format!("/proc/sys/net/ipv6/conf/{what}/disable_ipv6"), "1");
            }
            Ok(Self { file: File::open("/proc/thread-self/ns/net")? })
        })
    }

    /// One that others made, by its file.
    ///
    /// # Errors
    /// If there is no such file, or it is none of a network namespace.
    pub fn open(file: &Path) -> io::Result<Self> {
        let file = File::open(file)?;
        // SAFETY: takes an open descriptor and no pointer.
        match unsafe { libc::ioctl(file.as_raw_fd(), libc::NS_GET_NSTYPE) } {
            libc::CLONE_NEWNET => Ok(Self { file }),
            _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no network namespace")),
        }
    }

    /// Whether both are one.
    ///
    /// # Errors
    /// If the kernel does not tell.
    pub fn is(&self, other: &Self) -> io::Result<bool> {
        let [own, other] = [self.file.metadata()?, other.file.metadata()?];
        Ok((own.dev(), own.ino()) == (other.dev(), other.ino()))
    }

    /// Does something in it: a socket that is opened there belongs to it for good.
    ///
    /// # Errors
    /// If the namespace cannot be entered, or what is done fails.
    pub fn inside<T: Send>(&self, work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        in_thread(|| {
            // SAFETY: takes an open descriptor; it concerns this thread alone, which ends after this function.
            checked(unsafe { libc::setns(self.file.as_raw_fd(), libc::CLONE_NEWNET) })?;
            work()
        })
    }
}

impl AsFd for Namespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Does something in a thread of its own: the namespace belongs to the thread.
fn in_thread<T: Send>(work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("namespace".to_owned()).spawn_scoped(scope, work)?;
        thread.join().unwrap_or_else(|_| Err(io::Error::other("the thread of a namespace panicked")))
    })
}

/// Why this process cannot make namespaces; none if it can.
#[must_use]
pub fn why_no_namespaces() -> Option<String> {
    let error = Namespace::new().err()?;
    Some(format!(
        "a network namespace cannot be made: {error} (run as root, or by `unshare --map-root-user --net`)"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_apart() {
        let Ok(one) = Namespace::new() else { return crate::route::skipped() };
        let other = Namespace::new().expect("as the first");
        let link = || std::fs::read_link("/proc/thread-self/ns/net");
        let [first, second] = [one.inside(link).expect("it exists"), other.inside(link).expect("it exists")];
        let outside = link().expect("this thread has one");
        assert!(first != second && first != outside && second != outside, "{first:?} {second:?} {outside:?}");
        assert!(one.is(&one).expect("it is open") && !one.is(&other).expect("both are open"));
    }

    #[test]
    fn one_of_others_is_opened_by_its_file() {
        let Ok(one) = Namespace::new() else { return crate::route::skipped() };
        let file = format!("/proc/self/fd/{}", one.file.as_raw_fd());
        let same = Namespace::open(Path::new(&file)).expect("it is open");
        assert!(same.is(&one).expect("both are open"));
        for none in ["/none/such", "/dev/null", "/proc/self/ns/uts"] {
            assert!(Namespace::open(Path::new(none)).is_err(), "{none}");
        }
    }
}
