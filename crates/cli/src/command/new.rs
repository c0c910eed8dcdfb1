//! `tautwire new`: a first description from a template.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::{message, remark};
use crate::exit::Exit;
use crate::output;

pub(super) const HELP: &str = "\
Examples:
  tautwire new
  tautwire new factory-cell cell.yaml && tautwire verify cell.yaml
  tautwire new audio --name studio | tautwire bounds -

Without a template the templates are listed. A file that is there is never overwritten.

Exit codes: 0 written, 2 no such template, or the file is there, 3 failure.";

#[derive(Debug, Args)]
pub(crate) struct New {
    /// Template
    #[arg(value_enum)]
    pub(super) template: Option<Template>,
    /// File to write [default: stdout]
    #[arg(value_name = "FILE")]
    pub(super) file: Option<PathBuf>,
    /// Name of the network [default: the file's, or the template's]
    #[arg(long, value_name = "NAME")]
    pub(super) name: Option<String>,
}

/// What a first description is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Template {
    /// A car: two zones, a computer, a camera, control loops, audio
    AutomotiveZone,
    /// A factory: a controller, drives and sensors in a line of switches, a camera
    FactoryCell,
    /// An aircraft: virtual links with their gaps over two switches
    Avionics,
    /// A stage: audio and video under credit-based shapers
    Audio,
}

pub(super) fn run(arguments: &New) -> Result<Exit, Exit> {
    let Some(template) = arguments.template else {
        output::result(&list())?;
        return Ok(Exit::Holds);
    };
    let stem = arguments.file.as_deref().and_then(Path::file_stem).map(|stem| stem.to_string_lossy());
    let name = arguments.name.as_deref().or(stem.as_deref());
    let text = named(text_of(template), name);
    let Some(file) = &arguments.file else {
        output::result(&text)?;
        return Ok(Exit::Holds);
    };
    let written = OpenOptions::new().write(true).create_new(true).open(file);
    written.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| {
        message(&format!("cannot write {}: {error}", file.display()));
        if error.kind() == ErrorKind::AlreadyExists { Exit::WrongInput } else { Exit::Failure }
    })?;
    remark(&format!("a first description in {}; next: tautwire verify {0}", file.display()));
    Ok(Exit::Holds)
}

const fn text_of(template: Template) -> &'static str {
    match template {
        Template::AutomotiveZone => include_str!("templates/automotive-zone.yaml"),
        Template::FactoryCell => include_str!("templates/factory-cell.yaml"),
        Template::Avionics => include_str!("templates/avionics.yaml"),
        Template::Audio => include_str!("templates/audio.yaml"),
    }
}

/// The template with another name of the network.
fn named(text: &str, name: Option<&str>) -> String {
    let Some(name) = name else { return text.to_owned() };
    // A JSON text is one in YAML, whatever it holds.
    let is_plain = name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter));
    let name = if is_plain { name.to_owned() } else { serde_json::json!(name).to_string() };
    tautwire_workbench::with_value(text, "name", &name).expect("every template has a name")
}

/// The templates with what they are of.
fn list() -> String {
    let mut text = String::new();
    for template in Template::value_variants() {
        let value = template.to_possible_value().expect("every template has a name");
        let help = value.get_help().map(ToString::to_string).unwrap_or_default();
        text.push_str(&format!("{:16}  {help}\n", value.get_name()));
    }
    text
}
