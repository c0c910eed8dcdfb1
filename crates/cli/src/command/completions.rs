//! `tautwire completions`: what a shell needs to complete the command.

use clap::CommandFactory;

use crate::args::{Arguments, Completions};
use crate::exit::Exit;
use crate::output;

pub(super) fn run(arguments: &Completions) -> Result<Exit, Exit> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "tautwire", &mut script);
    output::result(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Holds)
}
