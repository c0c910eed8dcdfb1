//! `tautwire completions`: what a shell needs to complete the command.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::args::Arguments;
use crate::exit::Exit;
use crate::output;

pub(super) const HELP: &str = "\
Examples:
  tautwire completions bash > ~/.local/share/bash-completion/completions/tautwire
  tautwire completions zsh > ~/.zfunc/_tautwire
  tautwire completions fish > ~/.config/fish/completions/tautwire.fish

Exit codes: 0 printed, 2 wrong usage, 3 failure.";

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    pub(super) shell: Shell,
}

pub(super) fn run(arguments: &Completions) -> Result<Exit, Exit> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "tautwire", &mut script);
    output::result(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Holds)
}
