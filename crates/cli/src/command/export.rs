//! `tautwire export`: a network in the form of another tool.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use tautwire_workbench::exchange::{self, EXPORTS};

use super::{message, remark, scenario};
use crate::exit::Exit;
use crate::output;

pub(super) const HELP: &str = "\
Examples:
  tautwire export tc scenarios/scheduled-traffic.yaml --to gates.sh
  tautwire export dot scenarios/in-vehicle.yaml | dot -Tsvg > in-vehicle.svg
  tautwire export graphml scenarios/in-vehicle.yaml --to in-vehicle.graphml

Forms:
  tc       commands of tc (iproute2), a shell script that takes the node's name: mqprio, taprio,
           cbs, etf, and filters with skbedit, gate and police
  dot      topology for Graphviz
  graphml  topology for networkx, yEd and Gephi

What a form does not express is listed on stderr, a line each.

Exit codes: 0 written, 2 wrong input, 3 failure.";

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// Form
    #[arg(value_parser = PossibleValuesParser::new(EXPORTS.map(|export| export.name)))]
    pub(super) form: String,
    /// Description of the network (YAML); `-` is stdin
    #[arg(value_name = "NETWORK")]
    pub(super) path: PathBuf,
    /// File to write [default: stdout]
    #[arg(long, value_name = "FILE")]
    pub(super) to: Option<PathBuf>,
}

pub(super) fn run(arguments: &Export) -> Result<Exit, Exit> {
    let scenario = scenario(&arguments.path)?;
    let export = exchange::export(&arguments.form).expect("clap takes the forms alone");
    let written = (export.write)(&scenario.network);
    match &arguments.to {
        None => output::result(&written.text)?,
        Some(file) => std::fs::write(file, &written.text).map_err(|error| {
            message(&format!("cannot write {}: {error}", file.display()));
            Exit::Failure
        })?,
    }
    for line in &written.not_expressed {
        remark(&format!("not in {}: {line}", export.name));
    }
    Ok(Exit::Holds)
}
