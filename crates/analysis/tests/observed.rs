//! No frame is later than its bound, nor earlier than its least delay: random networks against the
//! simulator. `TAUTWIRE_CASES` sets how many; `TAUTWIRE_SEED` where they begin.

mod common;

use common::{contradictions, number};
use tautwire_analysis::bounds;
use tautwire_sim::{Options, run};

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
