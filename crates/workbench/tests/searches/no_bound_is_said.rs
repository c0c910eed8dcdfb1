//! Combinations of mechanisms without a bound: the check of a description warns of each, and of no other.
//!
//! `TAUTWIRE_CASES` sets how many networks are drawn of each kind, `TAUTWIRE_SEED` draws one.

use tautwire_analysis::Unbounded;
use tautwire_generate::{
    random_corrected_gates, random_cycles, random_gate_changes, random_gates, random_preemption,
    random_stream_filters, random_verification, seeds,
};
use tautwire_workbench::network::PortIndex;
use tautwire_workbench::{Bounds, Network, bounds, load_text};

use crate::common::described;

/// Names of the reasons that a check knows.
const REASONS: [&str; 5] = [
    "corrected-gates",
    "preemption-behind-gates",
    "preemption-unverified",
    "corrected-cycles",
    "internal-priority-varies",
];

/// Those of the reasons that a stream has at a port or a listener. Frames of protocols may be alone at a port, of which a check does not warn.
fn reasons(network: &Network, bounds: &Bounds) -> Vec<&'static str> {
    let streams = network.streams.iter().zip(&bounds.streams);
    let streams =
        || streams.clone().filter(|(stream, _)| !stream.traffic.is_control()).map(|(_, bounds)| bounds);
    let of_ports = streams().flat_map(|stream| &stream.hops).map(|hop| hop.delay.as_ref().err());
    let of_listeners = streams().flat_map(|stream| &stream.listeners);
    let all = of_ports.chain(of_listeners.map(|listener| listener.delay.as_ref().err())).flatten();
    // Where a list changes, the place of the change may be the reason, too; a port that preempts has no bound then in any case.
    let is_known = |name: &str, port: PortIndex| {
        REASONS.contains(&name) || name == "gates-change" && network.preemptable(port) != 0
    };
    let names = all.filter_map(|reason| match reason {
        Unbounded::OfService { why, port, .. } if is_known(why.name, *port) => Some(why.name),
        _ => None,
    });
    names.collect()
}

#[test]
fn check_warns_where_no_bound_is_known() {
    let draws: [fn(u64) -> String; 7] = [
        random_gates,
        random_preemption,
        random_verification,
        random_corrected_gates,
        random_cycles,
        random_gate_changes,
        random_stream_filters,
    ];
    let (mut with, mut without) = (0, 0);
    let seeds = seeds(60);
    for (draw, seed) in draws.iter().flat_map(|draw| seeds.iter().map(move |seed| (draw, *seed))) {
        let text = draw(seed);
        let loaded = load_text("drawn.yaml", &text);
        let Some(network) = &loaded.network else { continue };
        let warnings = loaded.diagnostics.iter().filter(|fault| fault.code == "bound::unknown");
        let warnings: Vec<&str> = warnings.map(|fault| fault.message.as_str()).collect();
        let reasons = reasons(network, &bounds(network));
        assert_eq!(
            warnings.is_empty(),
            reasons.is_empty(),
            "TAUTWIRE_SEED={seed}: {warnings:?}, {reasons:?}\n{text}"
        );
        (with, without) = if warnings.is_empty() { (with, without + 1) } else { (with + 1, without) };
    }
    println!("{with} networks with a warning, {without} without one");
    assert!(seeds.len() < 60 || with > 2 && without > 200, "{with}, {without}");
}

/// Each example of such a warning has streams without a bound, for a reason of these.
#[test]
fn what_check_warns_of_has_no_bound() {
    let files = std::fs::read_dir("../model/tests/doubtful").expect("the corpus");
    let files = files.map(|entry| entry.expect("an entry").path());
    let is_such = |path: &std::path::PathBuf| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("no-bound-"))
    };
    let mut examples = 0;
    for path in files.filter(is_such) {
        let text = std::fs::read_to_string(&path).expect("a file");
        let network = described(&text);
        assert!(!reasons(&network, &bounds(&network)).is_empty(), "{}", path.display());
        examples += 1;
    }
    assert!(examples >= 5, "{examples} examples");
}
