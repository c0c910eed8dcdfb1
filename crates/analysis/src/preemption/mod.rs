//! Frame preemption (IEEE Std 802.1Q-2022, 6.7.2; IEEE Std 802.3-2022, clause 99): what it leaves to each class of a port.
//!
//! Express classes cut, preemptable ones are cut (`precedence.rs`, which says what bounds make of that). An express frame waits for the
//! longest frame, or part of one, that cannot be cut any more: with addFragSize *a* it is 143 + 64 *a* octets of the line at most, preamble and gap
//! included. Every express frame cuts one preemptable frame at most, which costs 24 octets: a check sequence, a gap and a preamble. Behind gates its windows
//! are those of `gates/`; a credit-based class that is cut has no bound there. Not here: where a frame may be cut (`tautwire-core`).
//!
//! A port that verifies in the run cuts nothing until the other end has responded. Where its express classes are above all preemptable ones the order of
//! classes is the same before and after, so one bound covers both: a lower frame may block whole, and a cut may cost. Whatever was queued is lost
//! with the link, so between two losses of it a port sends [`VERIFY_LIMIT`] mPackets that verify at most, and as many that respond: they go before all frames.

pub(crate) mod reasons;

use tautwire_core::preemption::{CUT_OVERHEAD, GAP, HEAD, PreemptionConfig, VERIFY_LIMIT, VERIFY_OCTETS};
use tautwire_model::Network;
use tautwire_model::network::PortIndex;
use tautwire_model::preemption::{PortVerification, keeps_order};

use crate::curve::{Curve, Line, MICRO};
use crate::loss::Overflow;
use crate::plan::Plan;
use crate::precedence::Precedence;
use crate::preemption::reasons::UNVERIFIED;
use crate::service::{Carried, Served, Service, ServiceKind, Words};

/// The mechanism.
pub(crate) struct Preemption;

impl ServiceKind for Preemption {
    fn why_not_stepwise(&self, network: &Network) -> Option<&'static str> {
        network
            .has_merging()
            .then_some("preemption: the largest frame of each class decides how long others wait")
    }

    fn serve<'network>(&self, plan: &Plan<'network>) -> Option<Box<dyn Service + 'network>> {
        plan.network.has_merging().then(|| -> Box<dyn Service> { Box::new(PreemptingPorts) })
    }
}

/// The ports that preempt, verify or respond.
#[derive(Debug)]
struct PreemptingPorts;

impl Service for PreemptingPorts {
    fn carries(&self, _plan: &Plan<'_>) -> Vec<(u32, Carried)> {
        Vec::new()
    }

    fn port(&self, plan: &Plan<'_>, port: u32) -> Option<Served> {
        let at = PortIndex(port);
        let config = plan.network.merge_config(at)?;
        let verification = plan.network.verification(at);
        let is_unverified = verification.is_some_and(|port| port.verifies.is_some());
        let mut served = Served::default();
        if let Some(verification) = verification {
            served.taken.push(("verification", std::array::from_fn(|_| taken(plan, &verification))));
        }
        if config.preemptable == 0 {
            return Some(served);
        }
        let mut precedence = precedence(plan, &config);
        if is_unverified {
            if plan.network.gates(at).is_some() || !keeps_order(config.preemptable, used(plan, port)) {
                served.unbounded = Some(UNVERIFIED.at(at));
            }
            precedence = unverified(plan, precedence);
        }
        served.precedence = Some(Box::new(precedence));
        Some(served)
    }

    fn overflows(&self, _plan: &Plan<'_>, _found: &mut Vec<Overflow>) {}

    fn words(&self, _plan: &Plan<'_>, _entry: u32) -> Words {
        unreachable!("preemption carries no frames: classes do")
    }
}

/// Bit *n*: class *n* has frames at a port.
fn used(plan: &Plan<'_>, port: u32) -> u8 {
    let entries = plan.entries.iter().filter(|entry| entry.port == port).map(|entry| u32::from(entry.class));
    let control = plan.ports[port as usize].as_ref().and_then(|port| port.control);
    let control = control.and_then(|(class, ..)| u32::try_from(class).ok());
    entries.chain(control).fold(0, |all, class| all | 1 << class)
}

/// What the mPackets of verification take of the line from one loss of the link to the next.
fn taken(plan: &Plan<'_>, port: &PortVerification) -> Curve {
    let ends = u64::from(port.verifies.is_some()) + u64::from(port.responds);
    let bits = ends * u64::from(VERIFY_LIMIT) * (HEAD + VERIFY_OCTETS + GAP) * 8;
    #[cfg(feature = "planted-faults")]
    let bits = if plan.fault == Some(crate::PlantedFault::VerificationForgotten) { 0 } else { bits };
    #[cfg(not(feature = "planted-faults"))]
    let _ = plan;
    Curve::least_of([Line { burst: u128::from(bits) * MICRO, rate: 0 }])
}

/// The same where nothing is cut until the other end has responded.
fn unverified(plan: &Plan<'_>, precedence: Precedence) -> Precedence {
    #[cfg(feature = "planted-faults")]
    if plan.fault == Some(crate::PlantedFault::UnverifiedForgotten) {
        return precedence;
    }
    #[cfg(not(feature = "planted-faults"))]
    let _ = plan;
    let [_, cut] = precedence.formulas;
    Precedence {
        blocking_max: u64::MAX,
        formulas: [
            "(largest lower frame, whole until the other end has responded + mPackets of verification + bursts of higher express classes + bursts of the \
             class - own frame) / (line rate - rates of higher express classes) + own frame / line rate",
            cut,
        ],
        ..precedence
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
