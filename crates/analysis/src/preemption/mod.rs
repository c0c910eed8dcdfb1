//! Frame preemption (IEEE Std 802.1Q-2022, 6.7.2; IEEE Std 802.3-2022, clause 99): what it leaves to each class of a port.
//!
//! Express classes cut, preemptable ones are cut (`precedence.rs`, which says what bounds make of that). An express frame waits for the
//! longest frame, or part of one, that cannot be cut any more: with addFragSize *a* it is 143 + 64 *a* octets of the line at most, preamble and gap
//! included. Every express frame cuts one preemptable frame at most, which costs 24 octets: a check sequence, a gap and a preamble. Behind gates its windows
//! are those of `gates/`; a credit-based class that is cut has no bound there. Not here: where a frame may be cut (`tautwire-core`).

pub(crate) mod reasons;

use tautwire_core::preemption::{CUT_OVERHEAD, PreemptionConfig};
use tautwire_model::Network;
use tautwire_model::network::PortIndex;

use crate::loss::Overflow;
use crate::plan::Plan;
use crate::precedence::Precedence;
use crate::service::{Carried, Served, Service, ServiceKind, Words};

/// The mechanism.
pub(crate) struct Preemption;

impl ServiceKind for Preemption {
    fn why_not_stepwise(&self, network: &Network) -> Option<&'static str> {
        network
            .has_preemption()
            .then_some("preemption: the largest frame of each class decides how long others wait")
    }

    fn serve<'network>(&self, plan: &Plan<'network>) -> Option<Box<dyn Service + 'network>> {
        plan.network.has_preemption().then(|| -> Box<dyn Service> { Box::new(PreemptingPorts) })
    }
}

/// The ports that preempt.
#[derive(Debug)]
struct PreemptingPorts;

impl Service for PreemptingPorts {
    fn carries(&self, _plan: &Plan<'_>) -> Vec<(u32, Carried)> {
        Vec::new()
    }

    fn port(&self, plan: &Plan<'_>, port: u32) -> Option<Served> {
        let at = PortIndex(port);
        let config = plan.network.preemption_config(at)?;
        Some(Served { precedence: Some(Box::new(precedence(plan, &config))), ..Served::default() })
    }

    fn overflows(&self, _plan: &Plan<'_>, _found: &mut Vec<Overflow>) {}

    fn words(&self, _plan: &Plan<'_>, _entry: u32) -> Words {
        unreachable!("preemption carries no frames: classes do")
    }
}

/// Which classes go before which at a port that preempts.
pub(crate) fn precedence(plan: &Plan<'_>, config: &PreemptionConfig) -> Precedence {
    #[cfg(not(feature = "planted-faults"))]
    let _ = plan;
    let precedence = Precedence {
        cut: config.preemptable,
        blocking_max: config.add_frag_size.blocking(u32::MAX) * 8,
        cut_bits: CUT_OVERHEAD * 8,
        until_end: true,
        formulas: [
            "(largest lower express frame, or what of a preemptable one is not cut + bursts of higher express classes + bursts of the class - own \
             frame) / (line rate - rates of higher express classes) + own frame / line rate",
            "(largest lower preemptable frame + bursts of all express classes with 24 octets for a cut by each frame + bursts of higher \
             preemptable classes + bursts of the class) / (line rate - rates of these others), up to the end of the frame",
        ],
        source: "802.1Q-2022 6.7.2 and 8.6.8; 802.3-2022 clause 99; by frames as in Davis, Burns, Bril and Lukkien 2007",
    };
    #[cfg(feature = "planted-faults")]
    let precedence = with_fault(precedence, plan.fault);
    precedence
}

#[cfg(feature = "planted-faults")]
fn with_fault(precedence: Precedence, fault: Option<crate::PlantedFault>) -> Precedence {
    use crate::PlantedFault::{CutWhileQueuedAlone, CutsForFree, ShortestPartBlocks};
    match fault {
        Some(CutsForFree) => Precedence { cut_bits: 0, ..precedence },
        Some(CutWhileQueuedAlone) => Precedence { until_end: false, ..precedence },
        Some(ShortestPartBlocks) => Precedence { blocking_max: 84 * 8, ..precedence },
        _ => precedence,
    }
}
