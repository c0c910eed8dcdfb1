//! `tautwire plan`: slots of a TDMA cycle that make the worst round trip least.

use clap::Args;
use tautwire_workbench::{Duration, NotPlanned, SlotDocument, plan_slots};

use super::{message, scenario};
use crate::args::{Input, duration};
use crate::exit::Exit;
use crate::output;

pub(super) const HELP: &str = "\
Examples:
  tautwire plan scenarios/tdma.yaml
  tautwire plan scenarios/tdma.yaml --shortest
  tautwire plan scenarios/tdma.yaml --cycle 2ms --json

The result belongs under `tdma:` of the description. Its comments give the proven round trips and,
for each pair and round, when the response is ready at the latest and when its slot begins.

Exit codes: 0 every round trip is proven, 1 at least one is not, 2 wrong input or no room in the
cycle, 3 failure.";

#[derive(Debug, Args)]
pub(crate) struct Plan {
    #[command(flatten)]
    pub(super) input: Input,
    /// Length of the cycle, with its unit [default: the description's]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(super) cycle: Option<Duration>,
    /// Plan the shortest cycle that has room for one round
    #[arg(long, conflicts_with = "cycle")]
    pub(super) shortest: bool,
}

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
