//! How far bounds are from the worst that an adversary finds, over drawn networks of each kind.
//!
//! A bound may hold for more runs than its description allows: bounds do not use stated offsets, except where windows of
//! gates or dispatch points meet them. So the adversary searches twice: as described, and with all stated offsets open. The second
//! search counts for a row whose bound stays the same when the offsets are open: such a bound answers that question. It is held
//! against both.
//!
//! Rows whose bound answers a wider question than any run here are counted apart, too ([`Question`]).
//!
//! `NETWORKS` sets how many are drawn of each kind, `KIND` draws of one kind alone, `RUNS` sets how many runs the adversary has for each
//! stream and listener. `METHOD=tight` adds the linear programs of paths to the bounds. `ROWS` prints so many of the rows with the
//! greatest ratios of each kind: where their bound and their latest frame differ most, with the terms of the bound there.

use std::collections::BTreeMap;

use tautwire_generate::KINDS;
use tautwire_model::Network;
use tautwire_model::network::{Stream, StreamIndex};
use tautwire_model::time_triggered::Release;
use tautwire_sim::Options;
use tautwire_units::Duration;
use tautwire_workbench::{
    Accuracy, Adversary, Bounds, Choices, adversary, bounds_in_run_by, explain, load_text, simulate, story,
};

/// What the bound of a row holds for, compared with the runs that are searched.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Question {
    /// The same.
    Same,
    /// Every set of streams that may be granted reservations; a run grants one.
    Grants,
    /// Frames of protocols too that the description does not have (`network-control`); no run sends them.
    Control,
    /// Whatever other streams send, as far as their servers let it through, and any phases of elementary cycles; a run has the
    /// described traffic and clocks.
    Servers,
    /// Any copy as the only one that comes; where nothing fails in a run the first one counts.
    Copies,
}

impl Question {
    /// The name of its rows among the kinds.
    const fn name(self) -> &'static str {
        match self {
            Self::Same => "same-question",
            Self::Grants => "any-grants",
            Self::Control => "unseen-control",
            Self::Servers => "any-load-of-servers",
            Self::Copies => "any-copy",
        }
    }

    fn of(network: &Network, stream: &Stream) -> Self {
        let redundant = stream.virtual_link.is_some_and(|link| link.skew_max.is_some());
        match () {
            () if network.srp.is_some() => Self::Grants,
            () if network.network_control.is_some() => Self::Control,
            () if network.harts.is_some() => Self::Servers,
            () if stream.replication.is_some() || redundant => Self::Copies,
            () => Self::Same,
        }
    }
}

/// Ratios of bound over worst in order: by kind, of all kinds together as `all`, and of all by the question that their bound
/// answers. Control frames do not count.
pub(crate) fn ratios() -> BTreeMap<&'static str, Vec<f64>> {
    let (networks, runs, rows) = (number("NETWORKS", 10), number("RUNS", 30), number("ROWS", 0));
    let mut ratios: BTreeMap<&'static str, Vec<f64>> = BTreeMap::new();
    let asked = std::env::var("KIND").unwrap_or_default();
    for (kind, draw) in KINDS.into_iter().filter(|(kind, _)| asked.is_empty() || *kind == asked) {
        let of_kind = (0..networks).flat_map(|seed| of_network(seed, &draw(seed), runs));
        let mut of_kind: Vec<Row> = of_kind.collect();
        of_kind.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
        let worst = of_kind.iter().rev().take(usize::try_from(rows).expect("small"));
        worst.for_each(|row| row.print(kind, &draw(row.seed)));
        for row in &of_kind {
            ratios.entry(row.question.name()).or_default().push(row.ratio);
        }
        let of_kind: Vec<f64> = of_kind.iter().map(|row| row.ratio).collect();
        ratios.entry("all").or_default().extend(&of_kind);
        ratios.insert(kind, of_kind);
    }
    ratios.values_mut().for_each(|list| list.sort_by(f64::total_cmp));
    ratios
}

/// A stream at a listener.
struct Row {
    seed: u64,
    stream: StreamIndex,
    listener: usize,
    bound: Duration,
    worst: Duration,
    ratio: f64,
    /// Bound over the worst of the description's own offsets.
    as_described: f64,
    /// Whether the worst is of open offsets.
    is_open: bool,
    question: Question,
    /// The run; none: the described one.
    choices: Option<Choices>,
}

impl Row {
    fn print(&self, kind: &str, text: &str) {
        let described = load_text("drawn", text).network.expect("it was read before");
        let network = if self.is_open { opened(&described) } else { described };
        let observation = simulate(&network, &mut Options::default());
        let bounds = bounds_in_run_by(&network, &observation, accuracy());
        let explained = explain(&network, &bounds, self.stream);
        let stream = &network.streams[self.stream.index()];
        let listener = &network.nodes[stream.listeners[self.listener].index()].name;
        let open = if self.is_open { "open offsets" } else { "as described" };
        println!(
            "{kind} {} {} -> {listener}: {:.2} ({:.2} as described): bound {}, worst {} ({open}, {})",
            self.seed,
            stream.name,
            self.ratio,
            self.as_described,
            self.bound,
            self.worst,
            bounds.streams[self.stream.index()].listeners[self.listener].method.name()
        );
        let run = self.choices.as_ref().map(|choices| choices.apply(&network).expect("it was found so"));
        let run = run.unwrap_or(network);
        let Some(story) = story(&run, &simulate(&run, &mut Options::default()), self.stream) else { return };
        for hop in &explained.hops {
            let seen = story.hops.iter().find(|seen| seen.port == hop.port);
            let seen = seen.map_or_else(String::new, |seen| {
                format!("; latest frame {}: {:?}", seen.parts.total(), seen.parts)
            });
            let times: Vec<String> = hop.times.iter().map(|(name, time)| format!("{name} {time}")).collect();
            let delay = hop.bounds.delay.as_ref().map_or("none".to_owned(), ToString::to_string);
            println!("  {} {} [{}]{seen}\n    {}", hop.port, delay, hop.formula, times.join(", "));
        }
    }
}

/// Nothing of a description that `check` refuses: some kinds draw such.
fn of_network(seed: u64, text: &str, runs: u64) -> Vec<Row> {
    let Some(network) = load_text("drawn", text).network else { return Vec::new() };
    let (bounds, found) = searched(&network, text, runs);
    let opened = opened(&network);
    let open = (opened != network).then(|| searched(&opened, text, runs));
    let row = |(place, row): (usize, &tautwire_workbench::FoundRow)| {
        let bound_of = |bounds: &Bounds| {
            bounds.streams[row.stream.index()].listeners[row.listener].delay.as_ref().ok().copied()
        };
        let bound = bound_of(&bounds)?;
        let worst = row.worst.filter(|worst| !worst.is_zero())?;
        if network.streams[row.stream.index()].traffic.is_control() {
            return None;
        }
        let of_open = open.as_ref().filter(|(bounds, _)| bound_of(bounds) == Some(bound));
        let of_open = of_open.map(|(_, found)| &found.rows[place]);
        let of_open = of_open.and_then(|row| Some((row.worst?, row.choices.clone())));
        let later = of_open.filter(|(later, _)| *later > worst);
        let is_open = later.is_some();
        let (latest, choices) = later.unwrap_or_else(|| (worst, row.choices.clone()));
        let ratio = |worst: Duration| bound.as_ps() as f64 / worst.as_ps() as f64;
        Some(Row {
            seed,
            stream: row.stream,
            listener: row.listener,
            bound,
            worst: latest,
            ratio: ratio(latest),
            as_described: ratio(worst),
            is_open,
            question: Question::of(&network, &network.streams[row.stream.index()]),
            choices,
        })
    };
    found.rows.iter().enumerate().filter_map(row).collect()
}

/// The bounds of a network, and what an adversary finds in it.
fn searched(network: &Network, text: &str, runs: u64) -> (Bounds, Adversary) {
    let observation = simulate(network, &mut Options::default());
    let bounds = bounds_in_run_by(network, &observation, accuracy());
    let found = adversary(network, &bounds, &observation, runs, |_, _| {});
    assert!(found.contradictions.is_empty(), "{:?}\n{text}", found.contradictions);
    (bounds, found)
}

/// The same network, with the starts of all streams open; but of those whose offset is part of what they promise.
fn opened(network: &Network) -> Network {
    let promises = |number: StreamIndex, stream: &Stream| {
        stream.traffic.is_control()
            || network.cyclic.as_ref().is_some_and(|cyclic| cyclic.streams.contains(&number))
            || stream.time_aware.is_some()
            || stream.time_triggered.as_ref().is_some_and(|link| link.release == Release::Locked)
    };
    network.clone().altered(|parts| {
        let streams = (0..).map(StreamIndex).zip(parts.streams.iter_mut());
        let open = streams.filter(|(number, stream)| !promises(*number, stream));
        open.for_each(|(_, stream)| stream.open_phase = true);
    })
}

fn accuracy() -> Accuracy {
    match std::env::var("METHOD").as_deref() {
        Err(_) | Ok("" | "fast") => Accuracy::Frames,
        Ok("tight") => Accuracy::Paths,
        Ok(other) => panic!("no method `{other}`: there are fast, tight"),
    }
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}
