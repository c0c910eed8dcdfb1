//! `tautwire man`: the manual pages, one of the command and one of each subcommand, made of the same arguments as the help.

use std::path::{Path, PathBuf};
use std::{fs, io};

use clap::{Args, CommandFactory};
use clap_mangen::Man;

use super::message;
use crate::args::Arguments;
use crate::exit::Exit;
use crate::output;

pub(super) const HELP: &str = "\
Examples:
  tautwire man ~/.local/share/man/man1
  man tautwire-verify

Exit codes: 0 written, 2 wrong usage, 3 failure.";

#[derive(Debug, Args)]
pub(crate) struct ManualPages {
    /// Folder for the pages; it is made if it is missing
    #[arg(value_name = "FOLDER")]
    pub(super) folder: PathBuf,
}

pub(super) fn run(arguments: &ManualPages) -> Result<Exit, Exit> {
    let folder = &arguments.folder;
    let mut command = Arguments::command().disable_help_subcommand(true);
    command.build();
    let count = fs::create_dir_all(folder).and_then(|()| write(&command, folder)).map_err(|error| {
        message(&format!("cannot write {}: {error}", folder.display()));
        Exit::Failure
    })?;
    output::result(&format!("{}: {count} pages\n", folder.display()))?;
    Ok(Exit::Holds)
}

/// Writes the page of a command and those of its subcommands; gives their number.
fn write(command: &clap::Command, folder: &Path) -> io::Result<usize> {
    let page =
        Man::new(command.clone()).source(concat!("Tautwire ", env!("CARGO_PKG_VERSION"))).manual("Tautwire");
    page.generate_to(folder)?;
    command.get_subcommands().try_fold(1, |count, inner| Ok(count + write(inner, folder)?))
}
