//! `tautwire schema`: JSON Schema of the description and of the summary.

use crate::args::{Schema, SchemaOf};
use crate::exit::Exit;
use crate::output;

pub(super) fn run(arguments: &Schema) -> Result<Exit, Exit> {
    let schema = match arguments.of {
        SchemaOf::Description => tautwire_workbench::description_schema(),
        SchemaOf::Summary => tautwire_workbench::summary_schema(),
    };
    output::result(&schema)?;
    Ok(Exit::Holds)
}
