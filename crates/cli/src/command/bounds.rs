//! `tautwire bounds`: what is proven, and what a stream's bound is made of.

use tautwire_workbench::{Summary, judge};

use super::{exit, scenario, stream, tables};
use crate::args::Bounds;
use crate::exit::Exit;
use crate::output;

pub(super) fn run(arguments: &Bounds) -> Result<Exit, Exit> {
    let network = scenario(&arguments.input.path)?.network;
    let explained = arguments.explain.as_deref().map(|name| stream(&network, name)).transpose()?;
    let bounds = tautwire_workbench::bounds(&network);
    let summary = Summary::new(&network, Some(&bounds), None);
    output::result(&match explained {
        _ if arguments.input.json => summary.to_json(),
        Some(stream) => tautwire_workbench::explain(&network, &bounds, stream).to_string(),
        None => tables(&summary),
    })?;
    Ok(exit(judge(&network, Some(&bounds), None).verdict))
}
