//! The two streams of the process: the result on stdout, everything else on stderr.
//!
//! The only file of the project that writes to them. A reader that has gone (`| head`) is no fault.

use std::io::{self, ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::exit::Exit;

/// Whether the command prints nothing but faults.
static QUIET: AtomicBool = AtomicBool::new(false);

/// From now on the process prints nothing but faults, or results, too.
pub(crate) fn be_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// Whether the process prints nothing but faults.
pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Writes the result, if the command is not quiet; fails only if it is lost for another reason than a closed pipe.
pub(crate) fn result(text: &str) -> Result<(), Exit> {
    if is_quiet() {
        return Ok(());
    }
    write(&mut io::stdout().lock(), text).map_err(|error| {
        note(&format!("tautwire: cannot write to stdout: {error}\n"));
        Exit::Failure
    })
}

/// Writes a remark; one that cannot be written is lost, there is no better place for it.
pub(crate) fn note(text: &str) {
    let _ = write(&mut io::stderr().lock(), text);
}

fn write(to: &mut dyn Write, text: &str) -> io::Result<()> {
    match to.write_all(text.as_bytes()).and_then(|()| to.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Refusing(ErrorKind);

    impl Write for Refusing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn only_a_closed_pipe_is_forgiven() {
        assert!(write(&mut Refusing(ErrorKind::BrokenPipe), "x").is_ok());
        assert!(write(&mut Refusing(ErrorKind::StorageFull), "x").is_err());
    }
}
