//! What the tests against the simulator share.

use tautwire_analysis::Bounds;
use tautwire_model::Network;
use tautwire_sim::Observation;

/// A number from the environment.
pub fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Every observation that a bound does not cover.
pub fn contradictions(network: &Network, bounds: &Bounds, observed: &Observation) -> Vec<String> {
    let mut found = Vec::new();
    for ((stream, bounds), observed) in network.streams.iter().zip(&bounds.streams).zip(&observed.streams) {
        for (number, (bound, seen)) in bounds.listeners.iter().zip(&observed.listeners).enumerate() {
            let Some(worst) = seen.worst else { continue };
            if let Ok(most) = &bound.delay
                && worst.delay > *most
            {
                found.push(format!("{} listener {number}: {} above {most}", stream.name, worst.delay));
            }
            if let Some(least) = seen.delay.min()
                && least < bound.delay_min
            {
                found.push(format!("{} listener {number}: {least} below {}", stream.name, bound.delay_min));
            }
        }
        for (number, (bound, seen)) in bounds.hops.iter().zip(&observed.hops).enumerate() {
            if let Ok(most) = &bound.delay
                && seen.max > *most
            {
                found.push(format!(
                    "{} hop {number}: {} above {most} ({:?})",
                    stream.name, seen.max, bound.method
                ));
            }
        }
    }
    for (port, (bounds, observed)) in bounds.ports.iter().zip(&observed.ports).enumerate() {
        for (class, (bound, seen)) in bounds.iter().zip(&observed.classes).enumerate() {
            if let Some(most) = bound.backlog
                && seen.backlog_octets_max.bits() > most
            {
                found.push(format!(
                    "port {port} class {class}: backlog {} above {most}",
                    seen.backlog_octets_max
                ));
            }
            if bound.hi_credit_bits.is_some_and(|most| seen.hi_credit_bits > most)
                || bound.lo_credit_bits.is_some_and(|least| seen.lo_credit_bits < least)
            {
                found.push(format!(
                    "port {port} class {class}: credit {} to {} beyond {:?} to {:?}",
                    seen.lo_credit_bits, seen.hi_credit_bits, bound.lo_credit_bits, bound.hi_credit_bits
                ));
            }
        }
    }
    found
}
