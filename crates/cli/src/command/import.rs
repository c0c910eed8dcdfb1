//! `tautwire import`: a description of what another tool knows of a network.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::PossibleValuesParser;
use tautwire_workbench::exchange::{self, Base, IMPORTS, Input};

use super::{is_stdin, message, remark, scenario, text};
use crate::exit::Exit;
use crate::output;

/// The forms with their examples, as each of them has these.
pub(super) fn help() -> String {
    let mut text = "Examples:\n".to_owned();
    for line in IMPORTS.iter().flat_map(|import| import.example.lines()) {
        text.push_str(&format!("  {line}\n"));
    }
    text.push_str("\nForms:\n");
    for import in IMPORTS {
        for (number, line) in import.about.lines().enumerate() {
            let name = if number == 0 { import.name } else { "" };
            text.push_str(&format!("  {name:8}{line}\n"));
        }
    }
    text + "
What a description does not take of the files, and what it says without them, is listed on stderr,
a line each. A file that is there is never overwritten.

Exit codes: 0 written, 2 wrong input, or the file is there, 3 failure."
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// Form
    #[arg(value_parser = PossibleValuesParser::new(IMPORTS.map(|import| import.name)))]
    pub(super) form: String,
    /// Files in this form; `-` is stdin
    #[arg(value_name = "FILE", required = true)]
    pub(super) paths: Vec<PathBuf>,
    /// Configuration to read, of a file with several (inet)
    #[arg(long, value_name = "NAME")]
    pub(super) configuration: Option<String>,
    /// Description into which files are read, and whose text changes only where they say something else (yang)
    #[arg(long, value_name = "FILE", conflicts_with = "configuration")]
    pub(super) base: Option<PathBuf>,
    /// Description to write [default: stdout]
    #[arg(long, value_name = "FILE")]
    pub(super) to: Option<PathBuf>,
}

pub(super) fn run(arguments: &Import) -> Result<Exit, Exit> {
    let import = exchange::import(&arguments.form).expect("clap takes the forms alone");
    let inputs: Result<Vec<Input>, Exit> = arguments.paths.iter().map(|path| input(path)).collect();
    let inputs = inputs?;
    let read = match &arguments.base {
        None => import.read(&inputs, arguments.configuration.as_deref()),
        Some(file) => {
            let base = scenario(file)?;
            import.read_into(&inputs, &Base { text: &text(file)?, network: &base.network })
        }
    };
    let read = read.map_err(|faults| {
        faults.iter().for_each(|fault| message(fault));
        Exit::WrongInput
    })?;
    match &arguments.to {
        None => output::result(&read.text)?,
        Some(file) => {
            let written = OpenOptions::new().write(true).create_new(true).open(file);
            written.and_then(|mut file| file.write_all(read.text.as_bytes())).map_err(|error| {
                message(&format!("cannot write {}: {error}", file.display()));
                if error.kind() == ErrorKind::AlreadyExists { Exit::WrongInput } else { Exit::Failure }
            })?;
        }
    }
    for line in &read.left_out {
        remark(&format!("not from {}: {line}", import.name));
    }
    Ok(Exit::Holds)
}

/// A file with its name.
fn input(path: &Path) -> Result<Input, Exit> {
    let text = text(path)?;
    let name = if is_stdin(path) {
        "stdin".into()
    } else {
        path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy()
    };
    let name = name.into_owned();
    Ok(Input { name, text })
}
