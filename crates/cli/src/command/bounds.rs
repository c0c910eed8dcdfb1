//! `tautwire bounds`: what is proven, and what a stream's bound is made of.

use tautwire_workbench::{Manifest, RunFolderWriter, Summary, judge};

use super::run::not_written;
use super::{exit, remark, scenario, stream, tables_with};
use crate::args::Bounds;
use crate::exit::Exit;
use crate::output;

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
