//! `tautwire schema`: JSON Schema of the description and of the summary.

use clap::{Args, ValueEnum};

use crate::exit::Exit;
use crate::output;

pub(super) const HELP: &str = "\
Examples:
  tautwire schema > tautwire.schema.json
  tautwire schema summary

Exit codes: 0 printed, 2 wrong usage, 3 failure.";

#[derive(Debug, Args)]
pub(crate) struct Schema {
    /// What the schema describes
    #[arg(value_enum, default_value_t = SchemaOf::Description)]
    pub(super) of: SchemaOf,
}

/// What a schema describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaOf {
    /// The description of a network
    Description,
    /// The file summary.json of a run
    Summary,
}

pub(super) fn run(arguments: &Schema) -> Result<Exit, Exit> {
    let schema = match arguments.of {
        SchemaOf::Description => tautwire_workbench::description_schema(),
        SchemaOf::Summary => tautwire_workbench::summary_schema(),
    };
    output::result(&schema)?;
    Ok(Exit::Holds)
}
