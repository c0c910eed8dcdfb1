//! Results as plain tables for a terminal.
//!
//! How a table is laid out is in `grid.rs`. Delays are microseconds with three decimals, to the nearest nanosecond.

use std::fmt::Write;

pub use crate::grid::TableOptions;
use crate::grid::{number, render, text};
use crate::proviso::Proviso;
use crate::summary::{ListenerSummary, PortSummary, StreamSummary, Summary};
use crate::verdict::Verdict;

/// Picoseconds as microseconds with three decimals, to the nearest: `12.336`.
#[must_use]
pub fn microseconds(ps: i128) -> String {
    let ns = (ps.unsigned_abs() + 500) / 1_000;
    let sign = if ps < 0 && ns > 0 { "-" } else { "" };
    format!("{sign}{}.{:03}", ns / 1_000, ns % 1_000)
}

/// Parts per million as per cent: `12.3 %`; a small one keeps its digits: `0.0004 %`.
#[must_use]
pub fn per_cent(ppm: u64) -> String {
    if ppm == 0 {
        return "0 %".to_owned();
    }
    if ppm < 1_000 {
        return format!("{}.{:04} %", ppm / 10_000, ppm % 10_000);
    }
    let tenths = (ppm + 500) / 1_000;
    format!("{}.{} %", tenths / 10, tenths % 10)
}

/// A table of the streams, a row for each listener; the worst verdicts and least margins first if
/// not all rows fit, else in the order of the description.
#[must_use]
pub fn streams(summary: &Summary, options: TableOptions) -> String {
    let has_bounds = summary.verification.is_some();
    let has_run = summary.run.is_some();
    let mut columns = vec![text("stream", 0), text("listener", 4), number("deadline us", 0)];
    if has_bounds {
        columns.push(number("bound us", 0));
    }
    let has_adversary = summary.adversary.is_some();
    if has_adversary {
        columns.extend([number("adversary us", 0), number("bound/adv.", 1)]);
    }
    if has_run {
        columns.extend([
            number("observed max", 0),
            number("mean", 5),
            number("jitter", 6),
            number("loss", 3),
            number("late", 7),
        ]);
    }
    if has_bounds {
        columns.extend([number("margin us", 2), text("verdict", 0)]);
    }
    let mut pairs: Vec<_> =
        described(summary).flat_map(|s| s.listeners.iter().map(move |l| (s, l))).collect();
    if pairs.len() > options.rows {
        pairs.sort_by_key(|(_, listener)| {
            (std::cmp::Reverse(listener.verdict), listener.margin_ps.unwrap_or(i64::MAX))
        });
    }
    let rows: Vec<_> = pairs.iter().map(|(stream, listener)| stream_row(stream, listener, summary)).collect();
    render(&columns, &rows, options)
}

/// The streams of the description (only names of control protocols' frames have a colon), and those frames of
/// protocols that miss their deadlines or bounds.
pub(crate) fn described(summary: &Summary) -> impl Iterator<Item = &StreamSummary> {
    let fails = |stream: &StreamSummary| stream.verdict.is_some_and(|verdict| verdict > Verdict::Proven);
    summary.streams.iter().filter(move |stream| !stream.name.contains(':') || fails(stream))
}

/// The verdict in a table, with the word for a proviso.
fn verdict(listener: &ListenerSummary) -> String {
    listener.verdict.map_or_else(String::new, |verdict| words(verdict, listener.proviso))
}

/// The words of a verdict: `proven`, `proven but for losses`.
fn words(verdict: Verdict, proviso: Option<Proviso>) -> String {
    match proviso {
        Some(proviso) => format!("{} {}", verdict.name(), proviso.name()),
        None => verdict.name().to_owned(),
    }
}

fn stream_row(stream: &StreamSummary, listener: &ListenerSummary, summary: &Summary) -> Vec<String> {
    let (has_bounds, has_run) = (summary.verification.is_some(), summary.run.is_some());
    let us = |ps: Option<u64>| ps.map_or_else(|| "-".to_owned(), |ps| microseconds(ps.into()));
    let mut row = vec![stream.name.clone(), listener.listener.clone(), us(stream.deadline_ps)];
    if has_bounds {
        let bound = listener.bound.as_ref();
        let is_granted =
            bound.and_then(|one| one.unbounded.as_ref()).is_none_or(|one| one.reason != "not-granted");
        row.push(match bound.and_then(|bound| bound.delay_max_ps) {
            Some(ps) => microseconds(ps.into()),
            None if is_granted => "unbounded".to_owned(),
            None => "-".to_owned(),
        });
    }
    if summary.adversary.is_some() {
        row.extend(adversary_cells(listener));
    }
    if has_run {
        let seen = listener.observed.as_ref();
        row.push(us(seen.and_then(|seen| seen.observed_max_ps)));
        row.push(us(seen.and_then(|seen| seen.delays.delay_mean_ps)));
        row.push(us(seen.and_then(|seen| seen.jitter_ps)));
        row.push(listener.frames.as_ref().map_or_else(|| "-".to_owned(), |f| per_cent(f.loss_ppm)));
        row.push(seen.map_or_else(|| "-".to_owned(), |seen| seen.late.to_string()));
    }
    if has_bounds {
        row.push(listener.margin_ps.map_or_else(|| "-".to_owned(), |ps| microseconds(ps.into())));
        row.push(verdict(listener));
    }
    row
}

/// The worst that was found, and bound over it. A star: nothing is open, so it is what was observed.
fn adversary_cells(listener: &ListenerSummary) -> [String; 2] {
    let found = listener.adversary.as_ref();
    let worst = found.and_then(|found| found.delay_max_ps);
    let ratio = found.and_then(|found| found.bound_to_worst_mille);
    let mark =
        if found.is_some_and(|found| !found.open && found.bound_to_worst_mille.is_some()) { "*" } else { "" };
    [
        worst.map_or_else(|| "-".to_owned(), |ps| microseconds(ps.into())),
        ratio.map_or_else(|| "-".to_owned(), |mille| format!("{}.{:03}{mark}", mille / 1_000, mille % 1_000)),
    ]
}

/// Why streams whose bounds are within their deadlines are not proven, a line each; nothing if there is none.
#[must_use]
pub fn not_proven(summary: &Summary) -> String {
    let mut text = String::new();
    for stream in described(summary) {
        for listener in &stream.listeners {
            let in_time = listener.margin_ps.is_some_and(|ps| ps >= 0);
            if !(in_time && listener.taken_twice && listener.verdict == Some(Verdict::NotProven)) {
                continue;
            }
            let us = |ps: u64| microseconds(ps.into());
            let (name, at) = (&stream.name, &listener.listener);
            let repeats = format!("repeats:{name}.");
            let is_repeated = summary.streams.iter().any(|other| other.name.starts_with(&repeats));
            let why = match (listener.skew_bound_ps, stream.skew_max_ps) {
                // Copies that recovery functions eliminate.
                (_, None) if is_repeated => {
                    "a frame twice, as the last recovery function before it may pass another copy of a frame that it has passed, or what a stuck sender repeats"
                        .to_owned()
                }
                (_, None) => {
                    "a frame twice, as the last recovery function before it may pass another copy of a frame that it has passed"
                        .to_owned()
                }
                (Some(skew), Some(most)) if skew > most => {
                    format!("both copies of a frame, as they may arrive {} us apart, more than skew-max of {} us", us(skew), us(most))
                }
                (None, Some(_)) => "both copies of a frame, as the time between them has no bound".to_owned(),
                _ => "both copies of a frame, as the listener may reset between them, or copies of another sub-virtual-link may arrive too far apart"
                    .to_owned(),
            };
            writeln!(text, "{name} at {at} is in time but not proven: the listener may accept {why}")
                .expect("a string can be written");
        }
    }
    text
}

/// A table of frames later than each of several spans, a row for each listener and span; empty if no stream counts any.
#[must_use]
pub fn late(summary: &Summary, options: TableOptions) -> String {
    let columns = [
        text("stream", 0),
        text("listener", 1),
        number("deadline us", 0),
        number("frames", 2),
        number("late", 0),
        number("share", 3),
        text("proven", 4),
    ];
    let mut rows = Vec::new();
    for stream in described(summary) {
        for listener in &stream.listeners {
            let Some(seen) = &listener.observed else { continue };
            let bound = listener.bound.as_ref().and_then(|bound| bound.delay_max_ps);
            // Those of the warm-up too, as the late ones.
            let frames = listener.frames.as_ref().map_or(seen.delays.count, |frames| frames.delivered);
            for at in &seen.late_at {
                let proven = match bound {
                    Some(bound) if bound <= at.deadline_ps => "never late",
                    Some(_) => "no",
                    None => "-",
                };
                rows.push(vec![
                    stream.name.clone(),
                    listener.listener.clone(),
                    microseconds(at.deadline_ps.into()),
                    frames.to_string(),
                    at.late.to_string(),
                    per_cent(at.late.saturating_mul(1_000_000) / frames.max(1)),
                    proven.to_owned(),
                ]);
            }
        }
    }
    render(&columns, &rows, options)
}

/// A table of the delays by the stations' time stamps, a row for each listener that stamps; empty if none does.
#[must_use]
pub fn stamps(summary: &Summary, options: TableOptions) -> String {
    let us = |ps: Option<i64>| ps.map_or_else(|| "-".to_owned(), |ps| microseconds(ps.into()));
    let row = |stream: &StreamSummary, listener: &ListenerSummary| {
        let seen = listener.stamped.as_ref()?;
        let deviation = seen.latency_sd_ps.map_or_else(|| "-".to_owned(), |ps| microseconds(ps.into()));
        let latency = [seen.latency_min_ps, seen.latency_mean_ps, seen.latency_max_ps].map(us);
        let [least, mean, most] = latency;
        let ends = [stream.name.clone(), listener.listener.clone(), seen.count.to_string()];
        Some(ends.into_iter().chain([least, mean, most, deviation, us(seen.interval_mean_ps)]).collect())
    };
    let pairs = summary.streams.iter().flat_map(|s| s.listeners.iter().map(move |l| (s, l)));
    let rows: Vec<Vec<String>> = pairs.filter_map(|(s, l)| row(s, l)).collect();
    let columns = [
        text("time stamps", 0),
        text("listener", 4),
        number("frames", 3),
        number("least us", 0),
        number("mean", 0),
        number("greatest", 0),
        number("deviation", 1),
        number("interval", 2),
    ];
    render(&columns, &rows, options)
}

/// A table of what applications behind their ports see, a row for each; empty if there are none.
#[must_use]
pub fn applications(summary: &Summary, options: TableOptions) -> String {
    let us = |ps: Option<u64>| ps.map_or_else(|| "-".to_owned(), |ps| microseconds(ps.into()));
    let row = |stream: &StreamSummary, listener: &ListenerSummary| {
        let application = listener.application.as_ref()?;
        let bound = application.bound.as_ref();
        let bound = bound.map_or_else(
            || "-".to_owned(),
            |bound| bound.delay_max_ps.map_or_else(|| "unbounded".to_owned(), |ps| microseconds(ps.into())),
        );
        let seen = application.observed.as_ref();
        let count = |count: Option<u64>| count.map_or_else(|| "-".to_owned(), |count| count.to_string());
        Some(vec![
            stream.name.clone(),
            listener.listener.clone(),
            bound,
            us(seen.and_then(|seen| seen.delays.delay_min_ps)),
            us(seen.and_then(|seen| seen.delays.delay_mean_ps)),
            us(seen.and_then(|seen| seen.observed_max_ps)),
            us(seen.and_then(|seen| seen.delays.delay_sd_ps)),
            us(seen.map(|seen| seen.processing.mean_ps)),
            count(seen.map(|seen| seen.received)),
            count(seen.map(|seen| seen.dropped.values().sum())),
        ])
    };
    let pairs = summary.streams.iter().flat_map(|s| s.listeners.iter().map(move |l| (s, l)));
    let rows: Vec<Vec<String>> = pairs.filter_map(|(s, l)| row(s, l)).collect();
    let columns = [
        text("application", 0),
        text("listener", 4),
        number("bound us", 0),
        number("least us", 2),
        number("mean", 0),
        number("observed max", 0),
        number("deviation", 1),
        number("in host", 2),
        number("received", 3),
        number("lost", 3),
    ];
    render(&columns, &rows, options)
}

/// What the ATS schedulers discarded, a line for each reception port; nothing if they discarded nothing.
#[must_use]
pub fn discards(summary: &Summary) -> String {
    let mut text = String::new();
    for port in &summary.ports {
        let count = port.observed.as_ref().map_or(0, |seen| seen.scheduler_discarded);
        if count > 0 {
            let frames = if count == 1 { "frame" } else { "frames" };
            writeln!(
                text,
                "{}: {count} {frames} received from {} discarded by ATS schedulers",
                port.port, port.to
            )
            .expect("a string can be written");
        }
    }
    text
}

/// A table of the ports and their classes.
#[must_use]
pub fn ports(summary: &Summary, options: TableOptions) -> String {
    let (has_bounds, has_run) = (summary.verification.is_some(), summary.run.is_some());
    let mut columns = vec![text("port", 0), text("to", 5), number("Mbit/s", 4), text("class", 0)];
    if has_run {
        columns.extend([
            number("line used", 0),
            number("frames", 3),
            number("dropped", 0),
            number("backlog B", 1),
        ]);
    }
    let discarded = |port: &PortSummary| port.observed.as_ref().map_or(0, |seen| seen.scheduler_discarded);
    let has_discards = summary.ports.iter().any(|port| discarded(port) > 0);
    if has_discards {
        columns.push(number("ATS discards", 0));
    }
    if has_bounds {
        columns.extend([number("bound B", 1), number("class rate", 2)]);
    }
    let mut rows = Vec::new();
    for port in &summary.ports {
        for (index, class) in port.classes.iter().enumerate() {
            let dash = || "-".to_owned();
            let of_port = |cell: String| if index == 0 { cell } else { String::new() };
            let mut row = vec![
                of_port(port.port.clone()),
                of_port(port.to.clone()),
                of_port(megabits(port.rate_bps)),
                format!("{} {}", class.traffic_class, class.selection),
            ];
            if has_run {
                let used = port.observed.as_ref().map_or_else(dash, |seen| per_cent(seen.utilisation_ppm));
                row.push(of_port(used));
                let seen = class.observed.as_ref();
                row.push(seen.map_or_else(dash, |seen| seen.frames.to_string()));
                row.push(seen.map_or_else(dash, |seen| seen.dropped.to_string()));
                row.push(seen.map_or_else(dash, |seen| seen.backlog_max_octets.to_string()));
            }
            if has_discards {
                row.push(of_port(discarded(port).to_string()));
            }
            if has_bounds {
                let bound = class.bound.as_ref();
                let backlog = bound.and_then(|bound| bound.backlog_max_octets);
                row.push(backlog.map_or_else(|| "unbounded".to_owned(), |octets| octets.to_string()));
                let rate = bound.and_then(|bound| bound.utilisation_ppm);
                row.push(rate.map_or_else(dash, |ppm| per_cent(ppm.into())));
            }
            rows.push(row);
        }
        if port.classes.is_empty() && discarded(port) > 0 {
            // It sends nothing, and what it receives is discarded.
            let mut row = vec![port.port.clone(), port.to.clone(), megabits(port.rate_bps)];
            row.resize(columns.len(), "-".to_owned());
            row[8] = discarded(port).to_string();
            rows.push(row);
        }
    }
    render(&columns, &rows, options)
}

/// One line with the counts of verdicts: `12 streams: 10 proven, 2 not proven`.
#[must_use]
pub fn outcome(summary: &Summary) -> String {
    let provisos = |verdict| Proviso::ALL.into_iter().rev().filter(move |_| verdict == Verdict::Proven);
    let each = Verdict::ALL.into_iter().rev();
    let each = each
        .flat_map(|verdict| provisos(verdict).map(Some).chain([None]).map(move |proviso| (verdict, proviso)));
    let named = each.map(|(verdict, proviso)| {
        let is_so = |stream: &&StreamSummary| stream.verdict == Some(verdict) && stream.proviso == proviso;
        (described(summary).filter(is_so).count(), words(verdict, proviso))
    });
    let counts: Vec<_> =
        named.filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count} {name}")).collect();
    let streams = described(summary).count();
    let plural = if streams == 1 { "" } else { "s" };
    if counts.is_empty() {
        return format!("{streams} stream{plural}");
    }
    format!("{streams} stream{plural}: {}", counts.join(", "))
}

fn megabits(bps: u64) -> String {
    let thousandths = (bps + 500) / 1_000;
    match thousandths % 1_000 {
        0 => (thousandths / 1_000).to_string(),
        rest => format!("{}.{rest:03}", thousandths / 1_000),
    }
}

#[cfg(test)]
mod tests {
    use tautwire_observe::SignedMoments;

    use super::*;
    use crate::fixture;
    use crate::summary::StampedSummary;

    fn summary() -> Summary {
        let (network, bounds, observation) = fixture::line();
        Summary::new(&network, Some(&bounds), Some(&observation))
    }

    #[test]
    fn delays_are_rounded_to_the_nanosecond() {
        for (ps, text) in [
            (12_336_000, "12.336"),
            (499, "0.000"),
            (500, "0.001"),
            (-1_500_000, "-1.500"),
            (-499, "0.000"),
            (1_000_000_000_000, "1000000.000"),
        ] {
            assert_eq!(microseconds(ps), text);
        }
        assert_eq!(per_cent(123_456), "12.3 %");
        assert_eq!(per_cent(4), "0.0004 %");
        assert_eq!(per_cent(0), "0 %");
    }

    #[test]
    fn no_table_is_wider_than_asked() {
        let summary = summary();
        for width in [60, 72, 80, 100, 200] {
            for table in [
                streams(&summary, TableOptions { width, ..TableOptions::default() }),
                ports(&summary, TableOptions { width, ..TableOptions::default() }),
            ] {
                for line in table.lines() {
                    assert!(line.chars().count() <= width, "{width}: {line}");
                }
            }
        }
        let wide = streams(&summary, TableOptions { width: 200, ..TableOptions::default() });
        assert!(wide.starts_with("stream"), "{wide}");
        assert!(wide.lines().next().is_some_and(|titles| titles.contains("jitter")), "{wide}");
        let narrow = streams(&summary, TableOptions { width: 72, ..TableOptions::default() });
        assert!(narrow.lines().next().is_some_and(|titles| !titles.contains("jitter")), "{narrow}");
        assert!(narrow.contains("verdict"));
    }

    #[test]
    fn the_table_is_as_it_should_be() {
        let mut summary = summary();
        summary.streams.drain(..3);
        let expected = "\
stream       listener    deadline us   bound us  observed max   loss  margin us  verdict
───────────  ──────────  ───────────  ─────────  ────────────  ─────  ─────────  ──────────────
lidar        controller      350.000    384.690       318.458    0 %    -34.690  not proven
wheel-speed  controller     1000.000    284.250       198.483    0 %    715.750  proven
recording    recorder       5000.000    817.340       646.362    0 %   4182.660  proven
diagnosis    controller      400.000    629.250       470.693    0 %   -229.250  missed
logging      recorder              -  unbounded      1205.987  0.9 %          -  no requirement
";
        assert_eq!(streams(&summary, TableOptions { width: 100, ..TableOptions::default() }), expected);
    }

    #[test]
    fn the_worst_rows_stay() {
        let table = streams(&summary(), TableOptions { width: 200, rows: 1 });
        assert!(table.contains("diagnosis") && table.contains("missed"), "{table}");
        assert!(table.lines().last().is_some_and(|line| line.starts_with("… and ")), "{table}");
    }

    #[test]
    fn the_outcome_counts_streams() {
        let outcome = outcome(&summary());
        assert!(outcome.contains("streams: 1 missed, 1 not proven, 5 proven, 1 no requirement"), "{outcome}");
    }

    #[test]
    fn time_stamps_have_a_table_of_their_own() {
        let mut summary = summary();
        assert_eq!(stamps(&summary, TableOptions::default()), "");
        let mut seen = SignedMoments::default();
        for ps in [-40_000, 60_000] {
            seen.add(ps);
        }
        summary.streams[1].listeners[0].stamped = Some(StampedSummary {
            count: seen.count(),
            latency_min_ps: seen.min_ps(),
            latency_mean_ps: seen.mean_ps(),
            latency_max_ps: seen.max_ps(),
            latency_sd_ps: seen.standard_deviation_ps(),
            interval_count: 1,
            interval_min_ps: Some(1_000_000),
            interval_mean_ps: Some(1_000_000),
            interval_max_ps: Some(1_000_000),
            interval_sd_ps: None,
        });
        let table = stamps(&summary, TableOptions::default());
        let row: Vec<&str> = table.lines().last().expect("a row").split_whitespace().collect();
        assert_eq!(row[row.len() - 6..], ["2", "-0.040", "0.010", "0.060", "0.071", "1.000"], "{table}");
    }

    #[test]
    fn the_table_of_a_run_alone_has_no_verdict() {
        let (network, _, observation) = fixture::line();
        let table = streams(&Summary::new(&network, None, Some(&observation)), TableOptions::default());
        assert!(!table.contains("verdict") && table.contains("observed max"), "{table}");
    }
}
