//! The mechanisms of a run, in one list. The event loop names none of them; options and results of a run have types of some.
//!
//! At one instant they act in the order of this list. Not here: what drives them (`control/`).

use tautwire_model::Network;

use crate::central::AdmissionControl;
use crate::control::{Attached, PlugIn};
use crate::options::HartsTest;
use crate::reception::{AtReception, Receptions};
use crate::recorder::Wrap;
use crate::{as6802, central, frer, gptp, harts, psfp, srp, tdma, test_bed};

/// The callers' input for mechanisms: the plug-ins, and the tests of requests.
pub(crate) struct Given<'run> {
    pub(crate) plug_ins: &'run [&'static dyn PlugIn],
    pub(crate) admission: Option<Box<dyn AdmissionControl>>,
    pub(crate) harts_test: Option<HartsTest>,
}

/// An entry of the list.
struct Listed {
    /// Whether a network uses it.
    is_in: fn(&Network) -> bool,
    /// Its part in a run of such a network, if it acts in one.
    attach: Option<Attach>,
    /// How it watches a run, if it does.
    wrap: Option<Wrap>,
}

type Attach = for<'n> fn(&'n Network, u64, &mut Given<'_>) -> Vec<Attached<'n>>;

const LIST: [Listed; 8] = [
    Listed::acting(|network| network.tdma.is_some(), |network, _, _| all(tdma::attach(network))),
    Listed::acting(|network| network.as6802.is_some(), |network, _, _| all(as6802::attach(network))),
    Listed::acting(
        |network| network.srp.as_ref().is_some_and(|srp| srp.central.is_none()),
        |network, seed, _| all(srp::attach(network, seed)),
    ),
    Listed::acting(
        |network| network.srp.as_ref().is_some_and(|srp| srp.central.is_some()),
        |network, seed, given| all(central::attach(network, seed, given.admission.take())),
    ),
    Listed::acting(|network| network.gptp.is_some(), |network, _, _| all(gptp::attach(network))),
    Listed::acting(|network| network.sections.keys().next().is_some(), attach_plug_ins),
    Listed::acting(
        |network| network.harts.is_some(),
        |network, seed, given| all(harts::attach(network, seed, given.harts_test)),
    ),
    Listed::watching(test_bed::WRAP),
];

/// Makes the functions at reception of a mechanism; none if a network has none.
type MakeAtReception = fn(&Network) -> Option<Box<dyn AtReception>>;

/// Functions at the reception of frames, in the order in which they are asked: none where a network has none.
const AT_RECEPTION: [MakeAtReception; 2] = [frer::functions, psfp::at_reception];

impl Listed {
    const fn acting(is_in: fn(&Network) -> bool, attach: Attach) -> Self {
        Self { is_in, attach: Some(attach), wrap: None }
    }

    const fn watching(wrap: Wrap) -> Self {
        Self { is_in: wrap.is_wanted, attach: None, wrap: Some(wrap) }
    }
}

fn all(attached: Option<Attached<'_>>) -> Vec<Attached<'_>> {
    attached.into_iter().collect()
}

fn attach_plug_ins<'n>(network: &'n Network, _: u64, given: &mut Given<'_>) -> Vec<Attached<'n>> {
    for key in network.sections.keys() {
        let is_given = given.plug_ins.iter().any(|plug_in| plug_in.section() == key);
        assert!(is_given, "a run of a network with `{key}` is given its mechanism");
    }
    given.plug_ins.iter().filter_map(|plug_in| plug_in.attach(network)).collect()
}

/// Whether a network has a mechanism.
pub(crate) fn are_there(network: &Network) -> bool {
    LIST.iter().any(|listed| (listed.is_in)(network)) || AT_RECEPTION.iter().any(|of| of(network).is_some())
}

/// The functions at the receptions of a network.
pub(crate) fn at_receptions(network: &Network) -> Receptions {
    Receptions(AT_RECEPTION.iter().filter_map(|of| of(network)).collect())
}

/// Those that act in a run of a network, in this order.
pub(crate) fn attached<'n>(network: &'n Network, seed: u64, mut given: Given<'_>) -> Vec<Attached<'n>> {
    let there = LIST.iter().filter(|listed| (listed.is_in)(network)).filter_map(|listed| listed.attach);
    there.flat_map(|attach| attach(network, seed, &mut given)).collect()
}

/// Those that a node on real interfaces has, in the order of the list.
pub(crate) fn hosted<'n>(
    network: &'n Network,
    seed: u64,
    plug_ins: &[&'static dyn PlugIn],
) -> Vec<Attached<'n>> {
    let live = plug_ins.iter().filter(|plug_in| plug_in.runs_live());
    let own = tdma::attach(network).into_iter().chain(srp::attach(network, seed));
    own.chain(live.filter_map(|one| one.attach(network))).collect()
}

/// How those watch a run that do.
pub(crate) fn wraps() -> impl Iterator<Item = Wrap> {
    LIST.iter().filter_map(|listed| listed.wrap)
}
