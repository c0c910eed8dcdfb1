//! Histograms of delay as rows: for Arrow, Parquet and the page.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use serde::Serialize;
use tautwire_sim::Observation;

use crate::arrow::Columns;

/// The delays of one stream at one listener: the filled steps of a log-linear histogram, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DelayHistogram {
    /// Index of the stream.
    pub stream: u32,
    /// Index of the listener in the stream's.
    pub listener: u32,
    /// Least delay of each step.
    pub least_ps: Vec<u64>,
    /// Greatest delay of each step.
    pub greatest_ps: Vec<u64>,
    /// Frames of each step.
    pub count: Vec<u32>,
}

impl DelayHistogram {
    fn push(&mut self, least_ps: u64, greatest_ps: u64, count: u32) {
        self.least_ps.push(least_ps);
        self.greatest_ps.push(greatest_ps);
        self.count.push(count);
    }

    /// With at most `steps` steps: neighbours are joined until it is so.
    #[must_use]
    pub fn coarsened(&self, steps: usize) -> Self {
        let mut coarse = self.clone();
        while coarse.count.len() > steps.max(1) {
            let fine = std::mem::take(&mut coarse);
            let last = |pair: &[u64]| pair[pair.len() - 1];
            coarse.least_ps = fine.least_ps.chunks(2).map(|pair| pair[0]).collect();
            coarse.greatest_ps = fine.greatest_ps.chunks(2).map(last).collect();
            coarse.count = fine
                .count
                .chunks(2)
                .map(|pair| pair.iter().fold(0, |sum, n| n.saturating_add(sum)))
                .collect();
        }
        Self { stream: self.stream, listener: self.listener, ..coarse }
    }
}

/// The histograms of a run, of those listeners that have one.
#[must_use]
pub fn of_observation(observation: &Observation) -> Vec<DelayHistogram> {
    let mut histograms = Vec::new();
    for (stream, observed) in (0..).zip(&observation.streams) {
        for (listener, seen) in (0..).zip(&observed.listeners) {
            let Some(steps) = &seen.histogram else { continue };
            let mut histogram = DelayHistogram { stream, listener, ..DelayHistogram::default() };
            for (least, greatest, count) in steps.steps() {
                histogram.push(least.as_ps(), greatest.as_ps(), count);
            }
            histograms.push(histogram);
        }
    }
    histograms
}

/// A row for each filled step.
#[must_use]
pub fn batch(histograms: &[DelayHistogram]) -> RecordBatch {
    let steps = || histograms.iter().flat_map(|h| (0..h.count.len()).map(move |step| (h, step)));
    Columns::default()
        .u32("stream_index", steps().map(|(histogram, _)| Some(histogram.stream)))
        .u32("listener_index", steps().map(|(histogram, _)| Some(histogram.listener)))
        .u64("delay_least_ps", steps().map(|(histogram, step)| Some(histogram.least_ps[step])))
        .u64("delay_greatest_ps", steps().map(|(histogram, step)| Some(histogram.greatest_ps[step])))
        .u32("count", steps().map(|(histogram, step)| Some(histogram.count[step])))
        .batch()
}

/// Reads the rows of [`batch`]; none if they are something else.
pub(crate) fn from_batches(batches: &[RecordBatch]) -> Option<Vec<DelayHistogram>> {
    let mut histograms: Vec<DelayHistogram> = Vec::new();
    for batch in batches {
        let column = |name: &str| batch.column_by_name(name).map(Arc::clone);
        let (stream, listener) = (column("stream_index")?, column("listener_index")?);
        let (least, greatest) = (column("delay_least_ps")?, column("delay_greatest_ps")?);
        let count = column("count")?;
        let stream = stream.as_primitive_opt::<UInt32Type>()?;
        let listener = listener.as_primitive_opt::<UInt32Type>()?;
        let least = least.as_primitive_opt::<UInt64Type>()?;
        let greatest = greatest.as_primitive_opt::<UInt64Type>()?;
        let count = count.as_primitive_opt::<UInt32Type>()?;
        for row in 0..batch.num_rows() {
            let key = (stream.value(row), listener.value(row));
            if histograms.last().is_none_or(|last| (last.stream, last.listener) != key) {
                histograms.push(DelayHistogram {
                    stream: key.0,
                    listener: key.1,
                    ..DelayHistogram::default()
                });
            }
            let last = histograms.last_mut().expect("one was pushed");
            last.push(least.value(row), greatest.value(row), count.value(row));
        }
    }
    Some(histograms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn rows_are_read_as_they_are_made() {
        let (_, _, observation) = fixture::line();
        let histograms = of_observation(&observation);
        assert_eq!(histograms.len(), 9);
        assert_eq!(from_batches(&[batch(&histograms)]), Some(histograms));
    }

    #[test]
    fn coarse_histograms_keep_their_frames() {
        let (_, _, observation) = fixture::line();
        let fine = &of_observation(&observation)[0];
        let coarse = fine.coarsened(20);
        assert!(coarse.count.len() <= 20 && fine.count.len() > 20);
        let total = |histogram: &DelayHistogram| histogram.count.iter().map(|n| u64::from(*n)).sum::<u64>();
        assert_eq!(total(&coarse), total(fine));
        assert_eq!(coarse.least_ps.first(), fine.least_ps.first());
        assert_eq!(coarse.greatest_ps.last(), fine.greatest_ps.last());
    }
}
