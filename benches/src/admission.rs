//! Time of an admission decision and its growth: streams by switches, for each test, as a table.
//!
//! `cargo run --release --package tautwire-benches -- --admission` (with a part of a table's title behind it, that one). One
//! decision is that of a stream with all others admitted; of the bounds, also the mean of all decisions by which the
//! network fills up from nothing, and of those that a network that is full refuses.

use std::time::Duration;

use tautwire_admission::{AdmissionTest, Bandwidth, Test, TestSession};
use tautwire_model::Network;
use tautwire_model::network::{Parts, StreamIndex, TransmissionSelection};

use crate::{cpu, network, tree};

/// CPU time that one figure may take.
const BUDGET: Duration = Duration::from_secs(3);
/// Decisions of a figure at most.
const DECISIONS: usize = 2_000;
/// Per cent of the delays proven of all streams of a tree that they may have in one that refuses some.
const WANTED: u64 = 97;

/// A test's decisions on a network; none if there are none of the kind.
type Figure = fn(Test, &Network) -> Option<Decisions>;

/// Decisions of one kind.
struct Decisions {
    /// Time of all.
    total: Duration,
    count: usize,
    /// Those by which a stream may join.
    granted: usize,
}

impl Decisions {
    /// Microseconds a decision, and how many of them are refusals, if not all or none are.
    fn text(&self) -> String {
        let mean = self.total.as_secs_f64() * 1e6 / self.count as f64;
        let refused = 100.0 * (self.count - self.granted) as f64 / self.count as f64;
        if self.granted == 0 || self.granted == self.count {
            format!("{mean:.1}{}", if self.granted == 0 { " (refused)" } else { "" })
        } else {
            format!("{mean:.1} ({refused:.0} % refused)")
        }
    }
}

/// Prints the tables, or those in whose title there is `only`.
pub(crate) fn print_curves(only: Option<&str>) {
    for name in Test::NAMES {
        let test = Test::from_name(name).expect("it is one of them");
        let kinds: [(&str, Figure); 3] =
            [("", decision), (", filling up", filling_up), (", refused by a full network", refused)];
        for (kind, figure) in kinds.into_iter().take(if test == Test::Bounds { 3 } else { 1 }) {
            let title = format!("{name}{kind}, microseconds a decision");
            if !only.is_none_or(|only| title.contains(only)) {
                continue;
            }
            println!("\n{title}\n| streams | 3 switches | 16 | 100 | 1 000 |\n|---|---|---|---|---|");
            for streams in [1, 10, 100, 1_000, 10_000] {
                let mut row = format!("| {streams} |");
                for bridges in [3, 16, 100, 1_000] {
                    row += &match figure(test, &of(test, streams, bridges)) {
                        Some(decisions) => format!(" {} |", decisions.text()),
                        None => " - |".to_owned(),
                    };
                }
                println!("{row}");
            }
        }
    }
}

/// A tree; for the test of HaRTES with the cycle of its scenario and no servers of streams, for that of bandwidth with all classes
/// credit-based.
fn of(test: Test, streams: usize, bridges: usize) -> Network {
    network(&tree(streams, bridges)).altered(|network| alter(network, test))
}

fn alter(network: &mut Parts, test: Test) {
    if test == Test::Bandwidth {
        let rates: Vec<_> = network.links.iter().map(|link| link.rate).collect();
        for port in &mut network.ports {
            let Some(links) = port.links else { continue };
            for class in &mut port.classes {
                class.selection =
                    TransmissionSelection::CreditBased { idle_slope: rates[links.egress.index()] };
            }
        }
    }
    if test == Test::ResponseTime {
        let scenario = tautwire_model::load(&crate::scenario("harts")).expect("a kept scenario");
        let mut harts = scenario.network.expect("no errors").harts.clone().expect("it has cycles");
        harts.reservations.clear();
        network.harts = Some(harts);
    }
}

/// A test; that of bandwidth with all of a line and intervals as long as the periods of these streams, so that it grants as others do.
fn of_kind(test: Test, network: &Network) -> Box<dyn AdmissionTest> {
    let interval = tautwire_units::Duration::from_ms(20);
    match test {
        Test::Bandwidth => Box::new(Bandwidth {
            interval_highest: interval,
            interval_others: interval,
            reservable_percent: 100,
        }),
        _ => test.of(network),
    }
}

/// Mean of decisions, each with all other streams admitted.
fn decision(test: Test, network: &Network) -> Option<Decisions> {
    let all: Vec<StreamIndex> = (0..network.streams.len()).map(StreamIndex::at).collect();
    let mut session = of_kind(test, network).begin(network);
    session.rejoin(network, &all);
    let mut decisions = Decisions { total: Duration::ZERO, count: 0, granted: 0 };
    while decisions.count < DECISIONS && decisions.total < BUDGET {
        let stream = all[decisions.count * 7_919 % all.len()];
        session.leave(network, stream);
        let (time, joined) = join(&mut *session, network, stream);
        decisions.total += time;
        if !joined {
            session.rejoin(network, &[stream]);
        }
        decisions.count += 1;
        decisions.granted += usize::from(joined);
    }
    Some(decisions)
}

/// Mean of the decisions on all streams, one after the other.
fn filling_up(test: Test, network: &Network) -> Option<Decisions> {
    let mut session = of_kind(test, network).begin(network);
    let streams = (0..network.streams.len()).map(StreamIndex::at);
    let made: Vec<_> = streams.map(|stream| join(&mut *session, network, stream)).collect();
    let granted = made.iter().filter(|(_, joined)| *joined).count();
    Some(Decisions { total: made.iter().map(|(time, _)| *time).sum(), count: made.len(), granted })
}

/// Mean time of the decisions on refused streams, where streams request one after the other less than is proven of them together.
fn refused(test: Test, network: &Network) -> Option<Decisions> {
    let proven = tautwire_analysis::bounds(network).streams;
    let network = network.clone().altered(|parts| {
        for (stream, proven) in parts.streams.iter_mut().zip(&proven) {
            let delays = proven.listeners.iter().filter_map(|listener| listener.delay.as_ref().ok());
            let most = delays.max().expect("all of them may run together");
            stream.deadline = Some(tautwire_units::Duration::from_ps(most.as_ps() / 100 * WANTED));
        }
    });
    let mut session = of_kind(test, &network).begin(&network);
    let all = (0..network.streams.len()).map(StreamIndex::at);
    let left: Vec<StreamIndex> = all.filter(|stream| !join(&mut *session, &network, *stream).1).collect();
    let (mut total, mut count) = (Duration::ZERO, 0);
    while !left.is_empty() && count < DECISIONS && total < BUDGET {
        let (time, joined) = join(&mut *session, &network, left[count % left.len()]);
        assert!(!joined, "the others have come, and what is refused once is refused beside more");
        (total, count) = (total + time, count + 1);
    }
    (count > 0).then_some(Decisions { total, count, granted: 0 })
}

/// The time of a decision, and whether the stream may join.
fn join(session: &mut dyn TestSession, network: &Network, stream: StreamIndex) -> (Duration, bool) {
    let start = cpu();
    let refused = session.join(network, stream);
    (cpu() - start, refused.is_none())
}
