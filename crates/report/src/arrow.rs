//! Results as Arrow record batches, a row for each stream, listener, hop, step of a histogram, port
//! or class.
//!
//! Columns are named as the keys of `summary.json`, with their units; a value that was not computed
//! is null. Bounds have the prefix `bound_`. Python takes these batches without copying.
//!
//! Not here: files (`parquet.rs`), traces (`frame_trace.rs`).

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray, UInt8Array, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field, Schema};

use crate::adversary::AdversarySummary;
use crate::listener_frames::ListenerFrames;
use crate::name::kebab;
use crate::proviso::Proviso;
use crate::summary::{
    BoundSummary, DelaySummary, HopSummary, ListenerSummary, PartsSummary, PortSummary, StreamSummary,
    Summary,
};
use crate::verdict::Verdict;

/// Columns that grow to a record batch.
#[derive(Default)]
pub(crate) struct Columns {
    fields: Vec<Field>,
    arrays: Vec<ArrayRef>,
}

impl Columns {
    fn push(mut self, name: &str, data_type: DataType, array: ArrayRef) -> Self {
        self.fields.push(Field::new(name, data_type, true));
        self.arrays.push(array);
        self
    }

    pub(crate) fn text<'a>(self, name: &str, cells: impl Iterator<Item = Option<&'a str>>) -> Self {
        self.push(name, DataType::Utf8, Arc::new(cells.collect::<StringArray>()))
    }

    pub(crate) fn u8(self, name: &str, cells: impl Iterator<Item = Option<u8>>) -> Self {
        self.push(name, DataType::UInt8, Arc::new(cells.collect::<UInt8Array>()))
    }

    pub(crate) fn u32(self, name: &str, cells: impl Iterator<Item = Option<u32>>) -> Self {
        self.push(name, DataType::UInt32, Arc::new(cells.collect::<UInt32Array>()))
    }

    pub(crate) fn u64(self, name: &str, cells: impl Iterator<Item = Option<u64>>) -> Self {
        self.push(name, DataType::UInt64, Arc::new(cells.collect::<UInt64Array>()))
    }

    pub(crate) fn i64(self, name: &str, cells: impl Iterator<Item = Option<i64>>) -> Self {
        self.push(name, DataType::Int64, Arc::new(cells.collect::<Int64Array>()))
    }

    pub(crate) fn batch(self) -> RecordBatch {
        RecordBatch::try_new(Arc::new(Schema::new(self.fields)), self.arrays)
            .expect("all columns have a cell for each row")
    }
}

fn verdict_name(verdict: Verdict) -> String {
    kebab(&format!("{verdict:?}"))
}

fn index(position: usize) -> Option<u32> {
    u32::try_from(position).ok()
}

/// A row for each stream; `stream_index` is its place in the description.
#[must_use]
pub fn streams(summary: &Summary) -> RecordBatch {
    let rows = || summary.streams.iter();
    let frames = |count: fn(&crate::summary::FrameCounts) -> u64| {
        rows().map(move |stream| stream.frames.as_ref().map(count))
    };
    let verdicts: Vec<_> = rows().map(|stream| stream.verdict.map(verdict_name)).collect();
    Columns::default()
        .u32("stream_index", (0..summary.streams.len()).map(index))
        .text("stream", rows().map(|stream| Some(stream.name.as_str())))
        .text("talker", rows().map(|stream| Some(stream.talker.as_str())))
        .u8("traffic_class", rows().map(|stream| Some(stream.traffic_class)))
        .u64("deadline_ps", rows().map(|stream| stream.deadline_ps))
        .text("verdict", verdicts.iter().map(Option::as_deref))
        .u64("created", frames(|frames| frames.created))
        .u64("replicated", frames(|frames| frames.replicated))
        .u64("delivered", frames(|frames| frames.delivered))
        .u64("consumed", frames(|frames| frames.consumed))
        .u64("in_flight", frames(|frames| frames.in_flight))
        .u64("dropped", frames(|frames| frames.dropped.values().sum()))
        .u64("loss_ppm", frames(|frames| frames.loss_ppm))
        .batch()
}

/// A row for each listener of each stream.
#[must_use]
pub fn listeners(summary: &Summary) -> RecordBatch {
    let rows: Vec<(u32, &StreamSummary, &ListenerSummary)> = summary
        .streams
        .iter()
        .enumerate()
        .flat_map(|(place, stream)| {
            stream.listeners.iter().map(move |listener| (index(place).unwrap_or(u32::MAX), stream, listener))
        })
        .collect();
    let bound = |value: fn(&BoundSummary) -> Option<u64>| {
        rows.iter().map(move |(_, _, listener)| listener.bound.as_ref().and_then(value))
    };
    let seen = |value: fn(&DelaySummary) -> Option<u64>| {
        rows.iter().map(move |(_, _, listener)| listener.observed.as_ref().and_then(value))
    };
    let frames = |value: fn(&ListenerFrames) -> u64| {
        rows.iter().map(move |(_, _, listener)| listener.frames.as_ref().map(value))
    };
    let adversary = |value: fn(&AdversarySummary) -> Option<u64>| {
        rows.iter().map(move |(_, _, listener)| listener.adversary.as_ref().and_then(value))
    };
    let not_served =
        rows.iter().map(|(_, _, listener)| listener.not_served.as_ref().map(|why| why.reason.as_str()));
    let provisos = rows.iter().map(|(_, _, listener)| listener.proviso.map(Proviso::key));
    let quantile = |value: fn(&crate::summary::Quantiles) -> u64| {
        rows.iter().map(move |(_, _, listener)| {
            listener.observed.as_ref().and_then(|seen| seen.delays.quantiles.as_ref()).map(value)
        })
    };
    let verdicts: Vec<_> = rows.iter().map(|(_, _, listener)| listener.verdict.map(verdict_name)).collect();
    Columns::default()
        .u32("stream_index", rows.iter().map(|(place, _, _)| Some(*place)))
        .text("stream", rows.iter().map(|(_, stream, _)| Some(stream.name.as_str())))
        .text("listener", rows.iter().map(|(_, _, listener)| Some(listener.listener.as_str())))
        .u64("deadline_ps", rows.iter().map(|(_, stream, _)| stream.deadline_ps))
        .u64("bound_delay_max_ps", bound(|bound| bound.delay_max_ps))
        .u64("bound_delay_min_ps", bound(|bound| Some(bound.delay_min_ps)))
        .u64("bound_jitter_ps", bound(|bound| bound.jitter_ps))
        .text("method", rows.iter().map(|(_, _, listener)| listener.method.as_deref()))
        .text("unbounded", rows.iter().map(|(_, _, listener)| unbounded(listener.bound.as_ref())))
        .i64("margin_ps", rows.iter().map(|(_, _, listener)| listener.margin_ps))
        .text("verdict", verdicts.iter().map(Option::as_deref))
        .u64("count", seen(|seen| Some(seen.delays.count)))
        .u64("delay_min_ps", seen(|seen| seen.delays.delay_min_ps))
        .u64("delay_mean_ps", seen(|seen| seen.delays.delay_mean_ps))
        .u64("delay_max_ps", seen(|seen| seen.delays.delay_max_ps))
        .u64("delay_sd_ps", seen(|seen| seen.delays.delay_sd_ps))
        .u64("delay_mean_ci95_ps", seen(|seen| seen.delay_mean_ci95_ps))
        .u64("jitter_ps", seen(|seen| seen.jitter_ps))
        .u64("delay_p50_ps", quantile(|quantiles| quantiles.delay_p50_ps))
        .u64("delay_p90_ps", quantile(|quantiles| quantiles.delay_p90_ps))
        .u64("delay_p99_ps", quantile(|quantiles| quantiles.delay_p99_ps))
        .u64("delay_p99_9_ps", quantile(|quantiles| quantiles.delay_p99_9_ps))
        .u64("delay_p99_99_ps", quantile(|quantiles| quantiles.delay_p99_99_ps))
        .u64("observed_max_ps", seen(|seen| seen.observed_max_ps))
        .u64("late", seen(|seen| Some(seen.late)))
        .u64("worst_number", seen(|seen| seen.worst.as_ref().map(|worst| worst.number.into())))
        .u64("worst_created_ps", seen(|seen| seen.worst.as_ref().map(|worst| worst.created_ps)))
        .u64("worst_delay_ps", seen(|seen| seen.worst.as_ref().map(|worst| worst.delay_ps)))
        .u64("delivered", frames(|frames| frames.delivered))
        .u64("in_flight", frames(|frames| frames.in_flight))
        .u64("dropped", frames(|frames| frames.dropped.values().sum()))
        .u64("lost_by_failures", frames(|frames| frames.lost_by_failures))
        .u64("loss_ppm", frames(|frames| frames.loss_ppm))
        .text("not_served", not_served)
        .text("proviso", provisos)
        .u64("adversary_max_ps", adversary(|found| found.delay_max_ps))
        .u64("bound_to_adversary_mille", adversary(|found| found.bound_to_worst_mille))
        .batch()
}

fn unbounded(bound: Option<&BoundSummary>) -> Option<&str> {
    bound.and_then(|bound| bound.unbounded.as_ref()).map(|unbounded| unbounded.text.as_str())
}

/// A row for each hop of each stream; the parts are sums over the frames that passed it.
#[must_use]
pub fn hops(summary: &Summary) -> RecordBatch {
    let rows: Vec<(u32, &StreamSummary, u32, &HopSummary)> = summary
        .streams
        .iter()
        .enumerate()
        .flat_map(|(place, stream)| {
            let place = index(place).unwrap_or(u32::MAX);
            let hops = stream.hops.iter().enumerate();
            hops.map(move |(hop, row)| (place, stream, index(hop).unwrap_or(u32::MAX), row))
        })
        .collect();
    let sum = |value: fn(&PartsSummary) -> u64| {
        rows.iter().map(move |(_, _, _, hop)| hop.observed.as_ref().map(|seen| value(&seen.sum)))
    };
    let bound = |value: fn(&BoundSummary) -> Option<u64>| {
        rows.iter().map(move |(_, _, _, hop)| hop.bound.as_ref().and_then(value))
    };
    Columns::default()
        .u32("stream_index", rows.iter().map(|(place, _, _, _)| Some(*place)))
        .text("stream", rows.iter().map(|(_, stream, _, _)| Some(stream.name.as_str())))
        .u32("hop", rows.iter().map(|(_, _, hop, _)| Some(*hop)))
        .u32("previous", rows.iter().map(|(_, _, _, hop)| hop.previous))
        .text("port", rows.iter().map(|(_, _, _, hop)| Some(hop.port.as_str())))
        .text("to", rows.iter().map(|(_, _, _, hop)| Some(hop.to.as_str())))
        .u8("traffic_class", rows.iter().map(|(_, _, _, hop)| Some(hop.traffic_class)))
        .u64("count", rows.iter().map(|(_, _, _, hop)| hop.observed.as_ref().map(|seen| seen.count)))
        .u64("processing_sum_ps", sum(|parts| parts.processing_ps))
        .u64("shaping_sum_ps", sum(|parts| parts.shaping_ps))
        .u64("queueing_sum_ps", sum(|parts| parts.queueing_ps))
        .u64("transmission_sum_ps", sum(|parts| parts.transmission_ps))
        .u64("propagation_sum_ps", sum(|parts| parts.propagation_ps))
        .u64(
            "delay_max_ps",
            rows.iter().map(|(_, _, _, hop)| hop.observed.as_ref().map(|seen| seen.delay_max_ps)),
        )
        .u64("bound_delay_max_ps", bound(|bound| bound.delay_max_ps))
        .u64("bound_delay_min_ps", bound(|bound| Some(bound.delay_min_ps)))
        .text("method", rows.iter().map(|(_, _, _, hop)| hop.method.as_deref()))
        .text("unbounded", rows.iter().map(|(_, _, _, hop)| unbounded(hop.bound.as_ref())))
        .batch()
}

/// A row for each port that a link leaves from.
#[must_use]
pub fn ports(summary: &Summary) -> RecordBatch {
    let rows = || summary.ports.iter();
    let seen = |value: fn(&crate::summary::PortTrafficSummary) -> u64| {
        rows().map(move |port| port.observed.as_ref().map(value))
    };
    Columns::default()
        .text("port", rows().map(|port| Some(port.port.as_str())))
        .text("to", rows().map(|port| Some(port.to.as_str())))
        .u64("rate_bps", rows().map(|port| Some(port.rate_bps)))
        .u64("frames", seen(|seen| seen.frames))
        .u64("octets", seen(|seen| seen.octets))
        .u64("busy_ps", seen(|seen| seen.busy_ps))
        .u64("utilisation_ppm", seen(|seen| seen.utilisation_ppm))
        .u64("dropped", seen(|seen| seen.dropped))
        .u64("scheduler_discarded", seen(|seen| seen.scheduler_discarded))
        .batch()
}

/// A row for each used class of each port.
#[must_use]
pub fn classes(summary: &Summary) -> RecordBatch {
    let rows: Vec<(&PortSummary, &crate::summary::ClassSummary)> =
        summary.ports.iter().flat_map(|port| port.classes.iter().map(move |class| (port, class))).collect();
    let seen = |value: fn(&crate::summary::ClassTrafficSummary) -> u64| {
        rows.iter().map(move |(_, class)| class.observed.as_ref().map(value))
    };
    let credit = |value: fn(&crate::summary::ClassTrafficSummary) -> Option<i64>| {
        rows.iter().map(move |(_, class)| class.observed.as_ref().and_then(value))
    };
    let bound = |value: fn(&crate::summary::ClassBoundSummary) -> Option<i64>| {
        rows.iter().map(move |(_, class)| class.bound.as_ref().and_then(value))
    };
    Columns::default()
        .text("port", rows.iter().map(|(port, _)| Some(port.port.as_str())))
        .u8("traffic_class", rows.iter().map(|(_, class)| Some(class.traffic_class)))
        .text("selection", rows.iter().map(|(_, class)| Some(class.selection.as_str())))
        .u64("idle_slope_bps", rows.iter().map(|(_, class)| class.idle_slope_bps))
        .u64("frames", seen(|seen| seen.frames))
        .u64("dropped", seen(|seen| seen.dropped))
        .u64("backlog_max_frames", seen(|seen| seen.backlog_max_frames.into()))
        .u64("backlog_max_octets", seen(|seen| seen.backlog_max_octets))
        .i64("hi_credit_bits", credit(|seen| seen.hi_credit_bits))
        .i64("lo_credit_bits", credit(|seen| seen.lo_credit_bits))
        .u64(
            "bound_backlog_max_octets",
            rows.iter().map(|(_, class)| class.bound.as_ref().and_then(|bound| bound.backlog_max_octets)),
        )
        .i64("bound_hi_credit_bits", bound(|bound| bound.hi_credit_bits))
        .i64("bound_lo_credit_bits", bound(|bound| bound.lo_credit_bits))
        .u64(
            "utilisation_ppm",
            rows.iter().map(|(_, class)| class.bound.as_ref().and_then(|b| b.utilisation_ppm).map(u64::from)),
        )
        .batch()
}

/// A row for each reason of the losses on the path to each listener, and of those in its host. A copy that is lost
/// before it is replicated counts at each of its listeners.
#[must_use]
pub fn drops(summary: &Summary) -> RecordBatch {
    let listeners =
        summary.streams.iter().flat_map(|stream| stream.listeners.iter().map(move |l| (stream, l)));
    let rows: Vec<Lost<'_>> = listeners.flat_map(|(stream, at)| lost(stream, at)).collect();
    Columns::default()
        .text("stream", rows.iter().map(|row| Some(row.stream)))
        .text("listener", rows.iter().map(|row| Some(row.listener)))
        .text("reason", rows.iter().map(|row| Some(row.reason)))
        .u64("count", rows.iter().map(|row| Some(row.count)))
        .text("place", rows.iter().map(|row| Some(row.place)))
        .text("cause", rows.iter().map(|row| row.cause))
        .batch()
}

/// What was lost for one reason, on the way to a listener or in its host.
struct Lost<'a> {
    stream: &'a str,
    listener: &'a str,
    reason: &'a str,
    count: u64,
    place: &'static str,
    cause: Option<&'a str>,
}

fn lost<'a>(stream: &'a StreamSummary, at: &'a ListenerSummary) -> Vec<Lost<'a>> {
    let Some(frames) = &at.frames else { return Vec::new() };
    let row = |place| {
        move |(reason, count): (&'a String, &'a u64)| Lost {
            stream: &stream.name,
            listener: &at.listener,
            reason,
            count: *count,
            place,
            cause: frames.causes.get(reason).map(String::as_str),
        }
    };
    let in_host = frames.dropped_in_host.iter().map(row("host"));
    frames.dropped.iter().map(row("way")).chain(in_host).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Int64Type, UInt64Type};

    #[test]
    fn batches_hold_what_the_summary_holds() {
        let (network, bounds, observation) = fixture::line();
        let summary = Summary::new(&network, Some(&bounds), Some(&observation));
        let listeners = super::listeners(&summary);
        assert_eq!(listeners.num_rows(), 9, "one stream of eight has two listeners");
        let column = |name: &str| listeners.column_by_name(name).expect("a column").clone();
        let lidar = 4;
        assert_eq!(column("stream").as_string::<i32>().value(lidar), "lidar");
        assert_eq!(column("verdict").as_string::<i32>().value(lidar), "not-proven");
        let summed = &summary.streams[3].listeners[0];
        let bound = summed.bound.as_ref().and_then(|bound| bound.delay_max_ps);
        assert_eq!(Some(column("bound_delay_max_ps").as_primitive::<UInt64Type>().value(lidar)), bound);
        assert_eq!(Some(column("margin_ps").as_primitive::<Int64Type>().value(lidar)), summed.margin_ps);
        assert!(column("bound_delay_max_ps").is_null(8), "logging is unbounded");
        assert!(column("unbounded").as_string::<i32>().value(8).contains("overloaded"));
        let hops: usize = network.streams.iter().map(|stream| stream.hops.len()).sum();
        assert_eq!(super::hops(&summary).num_rows(), hops);
        assert_eq!(streams(&summary).num_rows(), 8);
        assert_eq!(drops(&summary).num_rows(), 1);
        assert_eq!(ports(&summary).num_rows(), network.links.len());
        assert!(classes(&summary).num_rows() > 8);
    }

    #[test]
    fn the_method_of_a_listener_is_that_of_its_path() {
        let (network, mut bounds, observation) = fixture::line();
        bounds.streams[3].listeners[0].method = tautwire_analysis::Method::PathProgram;
        let batch = listeners(&Summary::new(&network, Some(&bounds), Some(&observation)));
        let methods = batch.column_by_name("method").expect("a column");
        assert_eq!(methods.as_string::<i32>().value(4), "path-program");
        assert_eq!(methods.null_count(), 8, "those of hops are in the table of hops");
    }

    #[test]
    fn every_column_is_documented() {
        let page = include_str!("../../../docs/results.md");
        let (network, bounds, observation) = fixture::line();
        let summary = Summary::new(&network, Some(&bounds), Some(&observation));
        for batch in [
            streams(&summary),
            listeners(&summary),
            super::hops(&summary),
            ports(&summary),
            classes(&summary),
            drops(&summary),
            crate::histogram::batch(&[]),
            crate::frame_trace::batch(&[], &[], &[]),
        ] {
            for field in batch.schema().fields() {
                assert!(page.contains(&format!("`{}`", field.name())), "{} is not documented", field.name());
            }
        }
    }

    #[test]
    fn what_was_not_computed_is_null() {
        let (network, bounds, _) = fixture::line();
        let batch = listeners(&Summary::new(&network, Some(&bounds), None));
        assert_eq!(batch.column_by_name("delay_max_ps").map(|column| column.null_count()), Some(9));
    }
}
