//! The binary `tautwire`: its arguments to [`tautwire_cli::run`], its exit code back.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(tautwire_cli::run(std::env::args_os()).code())
}
