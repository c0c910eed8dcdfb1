//! No frame is later than its bound, nor earlier than its least delay: random networks against the
//! simulator. `TAUTWIRE_CASES` sets how many; `TAUTWIRE_SEED` where they begin.

use tautwire_analysis::{Bounds, bounds};
use tautwire_model::Network;
use tautwire_sim::{Observation, Options, run};

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Every observation that a bound does not cover.
fn contradictions(network: &Network, bounds: &Bounds, observed: &Observation) -> Vec<String> {
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

#[test]
fn nothing_is_later_than_its_bound() {
    let (first, cases) = (number("TAUTWIRE_SEED", 0), number("TAUTWIRE_CASES", 300));
    let (mut bounded, mut all) = (0_u64, 0_u64);
    let mut ratios = Vec::new();
    let mut reasons = std::collections::BTreeMap::<String, u64>::new();
    let mut broken = Vec::new();
    for seed in first..first + cases {
        let text = tautwire_generate::random_network(seed);
        let loaded = tautwire_model::load_text("random", &text);
        let network = loaded.network.expect("a network that was drawn is whole");
        let bounds = bounds(&network);
        let observed = run(&network, &mut Options { histograms: Some(false), ..Options::default() });
        for found in contradictions(&network, &bounds, &observed) {
            broken.push(format!("seed {seed}: {found}"));
        }
        for (bounds, observed) in bounds.streams.iter().zip(&observed.streams) {
            for (bound, seen) in bounds.listeners.iter().zip(&observed.listeners) {
                all += 1;
                match &bound.delay {
                    Ok(most) => {
                        bounded += 1;
                        if let Some(worst) = seen.worst {
                            ratios.push(most.as_ps() * 1_000 / worst.delay.as_ps());
                        }
                    }
                    Err(reason) => {
                        let name = format!("{reason:?}");
                        let name = name.split(' ').next().expect("a name").to_owned();
                        *reasons.entry(name).or_default() += 1;
                    }
                }
            }
        }
    }
    ratios.sort_unstable();
    let at = |percent: usize| ratios.get(ratios.len() * percent / 100).copied().unwrap_or(0);
    let summary = format!(
        "{bounded} of {all} bounded, {reasons:?}; bound to worst: median {}, 95 % {} per mille",
        at(50),
        at(95)
    );
    assert!(
        broken.is_empty(),
        "{}\n{} contradictions; {summary}",
        broken[..broken.len().min(40)].join("\n"),
        broken.len()
    );
    assert!(bounded * 10 > all * 6, "{summary}");
    if std::env::var_os("TAUTWIRE_SUMMARY").is_some() {
        std::fs::write(std::env::temp_dir().join("tautwire-bounds-summary.txt"), summary)
            .expect("a place to write");
    }
}
