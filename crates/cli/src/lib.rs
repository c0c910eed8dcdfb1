//! The command `tautwire`: arguments, diagnostics, progress and exit codes over the public interface.
//!
//! [`run`] is the complete command; the binary and the Python wheel's command both call it. The result goes to stdout,
//! everything else to stderr. Nothing is computed here: that is the workbench's part.

mod args;
mod command;
mod diagnostics;
mod exit;
mod http;
mod nearest;
mod output;
mod progress;
mod signals;
mod terminal;
mod watch;

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};

use clap::Parser;
use clap::error::ErrorKind;

pub use exit::Exit;

/// Runs the command with its arguments, the command's own name first, and returns how it ended.
///
/// Prints to this process's stdout and stderr; never exits the process and never panics on input.
pub fn run<I, T>(arguments: I) -> Exit
where
    I: IntoIterator<Item = T>,
    T: Into<OsString> + Clone,
{
    match args::Arguments::try_parse_from(arguments) {
        Ok(arguments) => {
            output::be_quiet(arguments.quiet);
            guarded(|| command::run(&arguments.command))
        }
        Err(error) => {
            // A closed pipe is no fault: its reader has ended.
            let _ = error.print();
            match error.kind() {
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Exit::Holds,
                _ => Exit::WrongInput,
            }
        }
    }
}

/// A panic is a fault of the program: its place is on stderr, and the exit code is that of a failure.
fn guarded(command: impl FnOnce() -> Exit) -> Exit {
    // Nothing is used again of what the command may have left half done.
    catch_unwind(AssertUnwindSafe(command)).unwrap_or_else(|_| {
        output::note("tautwire: this is a fault of the program, please report it with the description\n");
        Exit::Failure
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_of_the_program_is_a_failure() {
        assert_eq!(guarded(|| Exit::Holds), Exit::Holds);
        assert_eq!(guarded(|| unreachable!("a fault")), Exit::Failure);
    }
}
