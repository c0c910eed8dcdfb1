//! `tautwire bounds`: what is proven, and what a stream's bound is made of.

use std::path::PathBuf;

use clap::Args;
use tautwire_workbench::{Manifest, RunFolderWriter, Summary, judge};

use super::run::not_written;
use super::{exit, remark, scenario, stream, tables_with};
use crate::args::{By, Input};
use crate::exit::Exit;
use crate::output;

pub(super) const HELP: &str = "\
Examples:
  tautwire bounds scenarios/in-vehicle.yaml
  tautwire bounds scenarios/in-vehicle.yaml --explain view-front
  tautwire bounds scenarios/in-vehicle.yaml --json > bounds.json
  tautwire bounds scenarios/in-vehicle.yaml --out runs/bounds
  tautwire bounds scenarios/in-vehicle.yaml --method tight

Exit codes: 0 every deadline is proven, 1 at least one is not, or frames may be lost, 2 wrong input,
3 failure.";

#[derive(Debug, Args)]
pub(crate) struct Bounds {
    #[command(flatten)]
    pub(super) input: Input,
    #[command(flatten)]
    pub(super) by: By,
    /// Show hop by hop how the bound of this stream is computed
    #[arg(long, value_name = "STREAM")]
    pub(super) explain: Option<String>,
    /// Also write the results to this folder, for `report` and for other programs
    #[arg(long, value_name = "FOLDER")]
    pub(super) out: Option<PathBuf>,
}

pub(super) fn run(arguments: &Bounds) -> Result<Exit, Exit> {
    let scenario = scenario(&arguments.input.path)?;
    let network = &scenario.network;
    let explained = arguments.explain.as_deref().map(|name| stream(network, name)).transpose()?;
    let (bounds, summary) = match &arguments.out {
        Some(place) => {
            // Before the work: a place that cannot be used is known at once.
            let writer = RunFolderWriter::create(place).map_err(|error| not_written(place, &error))?;
            crate::signals::remove_on_kill(writer.temporary());
            let bounds = tautwire_workbench::bounds_by(network, arguments.by.method.into());
            let manifest = Manifest::new(&scenario.name, &scenario.text, None, &["bounds".to_owned()])
                .of_file(&scenario.file);
            let kept = writer.finish(&manifest, network, &scenario.text, Some(&bounds), None);
            let kept = kept.map_err(|error| not_written(place, &error))?;
            remark(&format!("results in {}", place.display()));
            (bounds, kept.summary)
        }
        None => {
            let bounds = tautwire_workbench::bounds_by(network, arguments.by.method.into());
            let summary = Summary::new(network, Some(&bounds), None);
            (bounds, summary)
        }
    };
    output::result(&match explained {
        _ if arguments.input.json => summary.to_json(),
        Some(stream) => tautwire_workbench::explain(network, &bounds, stream).to_string(),
        None => {
            let assumed = tautwire_workbench::network_control::line(network);
            tables_with(&summary, &format!("{assumed}\n"))
        }
    })?;
    Ok(exit(judge(network, Some(&bounds), None).verdict))
}
