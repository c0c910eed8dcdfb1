//! `tautwire new`: a first description from a template.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use clap::ValueEnum as _;

use super::{message, remark};
use crate::args::{New, Template};
use crate::exit::Exit;
use crate::output;

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
