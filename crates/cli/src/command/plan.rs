//! `tautwire plan`: slots of a TDMA cycle that make the worst round trip least.

use tautwire_workbench::{NotPlanned, SlotDocument, plan_slots};

use super::{message, scenario};
use crate::args::Plan;
use crate::exit::Exit;
use crate::output;

pub(super) fn run(arguments: &Plan) -> Result<Exit, Exit> {
    let scenario = scenario(&arguments.input.path)?;
    let network = &scenario.network;
    let kept = arguments.cycle.or_else(|| network.tdma.as_ref().map(|tdma| tdma.cycle));
    let cycle = if arguments.shortest { None } else { kept };
    let planned = plan_slots(network, cycle).map_err(|reason| {
        message(&match reason {
            NotPlanned::NoTdma => "the description has no `tdma:`".to_owned(),
            NotPlanned::NoPairs => "no stream answers another: nothing to plan".to_owned(),
            NotPlanned::TooShort { needed } => format!("the cycle is too short: one round needs {needed}"),
        });
        Exit::WrongInput
    })?;
    let document = SlotDocument::new(network, &planned);
    output::result(&if arguments.input.json { document.to_json() } else { document.to_yaml() })?;
    Ok(if document.holds() { Exit::Holds } else { Exit::DeadlineMissed })
}
