//! `tautwire import`: a description of what another tool knows of a network.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::PossibleValuesParser;
use tautwire_workbench::exchange::{self, Base, IMPORTS, Input};

use super::{is_stdin, message, not_read, remark, scenario, text};
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
            text.push_str(&format!("  {name:9}{line}\n"));
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
    /// Description into which files are read, and whose text changes only where they say something else (yang, uni, gptp)
    #[arg(long, value_name = "FILE", conflicts_with = "configuration")]
    pub(super) base: Option<PathBuf>,
    /// Description to write; files that it names, such as traces, come into its folder [default: stdout]
    #[arg(long, value_name = "FILE")]
    pub(super) to: Option<PathBuf>,
}

pub(super) fn run(arguments: &Import) -> Result<Exit, Exit> {
    let import = exchange::import(&arguments.form).expect("clap takes the forms alone");
    let inputs = || arguments.paths.iter().map(|path| input(path)).collect::<Result<Vec<Input>, Exit>>();
    let read = match &arguments.base {
        None if import.reads_octets() && arguments.configuration.is_none() => {
            let inputs: Result<Vec<_>, Exit> = arguments.paths.iter().map(|path| octets(path)).collect();
            import.read_octets(&inputs?)
        }
        None => import.read(&inputs()?, arguments.configuration.as_deref()),
        Some(file) => {
            let base = scenario(file)?;
            import.read_into(&inputs()?, &Base { text: &text(file)?, network: &base.network })
        }
    };
    let read = read.map_err(|faults| {
        faults.iter().for_each(|fault| message(fault));
        Exit::WrongInput
    })?;
    match &arguments.to {
        None if read.files.is_empty() => output::result(&read.text)?,
        None => {
            let names: Vec<&str> = read.files.iter().map(|(name, _)| &**name).collect();
            message(&format!(
                "the description names other files, {}: say with --to where it is to be, and they are written into its folder",
                names.join(", ")
            ));
            return Err(Exit::WrongInput);
        }
        Some(file) => {
            let folder = file.parent().unwrap_or(Path::new(""));
            let others = read.files.iter().map(|(name, text)| (folder.join(name), text));
            let files: Vec<(PathBuf, &String)> = others.chain([(file.clone(), &read.text)]).collect();
            // None is written if one is there.
            if let Some((file, _)) = files.iter().find(|(file, _)| file.exists()) {
                message(&format!("{} is there: no file is overwritten", file.display()));
                return Err(Exit::WrongInput);
            }
            for (file, text) in files {
                write(&file, text)?;
            }
        }
    }
    for line in &read.left_out {
        remark(&format!("not from {}: {line}", import.name));
    }
    Ok(Exit::Holds)
}

/// Writes a file that is not there.
fn write(file: &Path, text: &str) -> Result<(), Exit> {
    let written = OpenOptions::new().write(true).create_new(true).open(file);
    written.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| {
        message(&format!("cannot write {}: {error}", file.display()));
        if error.kind() == ErrorKind::AlreadyExists { Exit::WrongInput } else { Exit::Failure }
    })
}

/// A file with its name.
fn input(path: &Path) -> Result<Input, Exit> {
    Ok(Input { name: name(path), text: text(path)? })
}

/// A file that is no text, with its name.
fn octets(path: &Path) -> Result<(String, Vec<u8>), Exit> {
    let mut octets = Vec::new();
    let read = if is_stdin(path) {
        std::io::stdin().read_to_end(&mut octets)
    } else {
        File::open(path).and_then(|mut file| file.read_to_end(&mut octets))
    };
    read.map_err(|error| not_read(path, &error))?;
    Ok((name(path), octets))
}

fn name(path: &Path) -> String {
    if is_stdin(path) {
        return "stdin".to_owned();
    }
    path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
