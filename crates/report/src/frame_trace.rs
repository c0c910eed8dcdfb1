//! Traces of frames as Parquet: a row for each event in the life of a frame.
//!
//! Memory is bounded: rows are encoded in batches, and a row group goes to the file when it is full. Rows have the
//! order of their recording, which is not quite that of time (a transmission is recorded when it is decided, with the
//! instant at which its frame had joined the queue).

use std::io;
use std::io::Write;
use std::mem;

use arrow_array::RecordBatch;
use parquet::arrow::ArrowWriter;
use tautwire_model::Network;
use tautwire_model::network::PortIndex;
use tautwire_observe::FrameRecord;

use crate::arrow::Columns;
use crate::name;
use crate::parquet::properties;

/// Rows that are encoded at once.
const BATCH: usize = 32_768;

/// Writes frame records as they come.
#[derive(Debug)]
pub struct FrameTraceWriter<W: Write + Send> {
    writer: ArrowWriter<W>,
    streams: Vec<String>,
    ports: Vec<String>,
    rows: Vec<FrameRecord>,
}

impl<W: Write + Send> FrameTraceWriter<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new(to: W, network: &Network) -> io::Result<Self> {
        let streams = network.streams.iter().map(|stream| stream.name.clone()).collect();
        let ports = (0..network.ports.len()).map(|port| name::port(network, PortIndex::at(port)));
        Ok(Self {
            writer: ArrowWriter::try_new(to, batch(&[], &[], &[]).schema(), Some(properties()))
                .map_err(io::Error::other)?,
            streams,
            ports: ports.collect(),
            rows: Vec::with_capacity(BATCH),
        })
    }

    /// Writes one row.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn record(&mut self, record: &FrameRecord) -> io::Result<()> {
        self.rows.push(*record);
        if self.rows.len() == BATCH { self.encode() } else { Ok(()) }
    }

    /// Ends the file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.encode()?;
        self.writer.close().map_err(io::Error::other)?;
        Ok(())
    }

    fn encode(&mut self) -> io::Result<()> {
        let rows = mem::replace(&mut self.rows, Vec::with_capacity(BATCH));
        let batch = batch(&rows, &self.streams, &self.ports);
        self.writer.write(&batch).map_err(io::Error::other)
    }
}

pub(crate) fn batch(rows: &[FrameRecord], streams: &[String], ports: &[String]) -> RecordBatch {
    let name = |names: &[String], index: u32| names.get(index as usize).cloned();
    let stream_names: Vec<_> = rows.iter().map(|row| name(streams, row.stream)).collect();
    let port_names: Vec<_> = rows.iter().map(|row| name(ports, row.port)).collect();
    let length = |row: &FrameRecord| u32::try_from(row.length.get()).ok().filter(|octets| *octets > 0);
    Columns::default()
        .u64("time_ps", rows.iter().map(|row| Some(row.time.as_ps())))
        .u32("stream_index", rows.iter().map(|row| Some(row.stream)))
        .text("stream", stream_names.iter().map(Option::as_deref))
        .u32("number", rows.iter().map(|row| Some(row.number)))
        .u32("hop", rows.iter().map(|row| Some(row.hop)))
        .text("port", port_names.iter().map(Option::as_deref))
        .text("event", rows.iter().map(|row| Some(row.event.name())))
        .text("reason", rows.iter().map(|row| row.event.drop_reason()))
        .u32("length_octets", rows.iter().map(length))
        .batch()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use arrow_array::cast::AsArray;
    use arrow_array::types::UInt64Type;
    use tautwire_observe::FrameEvent;
    use tautwire_units::{Bytes, Duration};

    #[test]
    fn a_trace_longer_than_a_batch_is_read_back() {
        let (network, _, _) = fixture::line();
        let path = std::env::temp_dir().join(format!("tautwire-trace-{}.parquet", std::process::id()));
        let mut trace =
            FrameTraceWriter::new(std::fs::File::create(&path).expect("a file"), &network).expect("begun");
        let rows = u32::try_from(BATCH).expect("small") * 2 + 5;
        for number in 0..rows {
            let lost = number == rows - 1;
            let event =
                if lost { FrameEvent::Dropped { reason: "queue-full" } } else { FrameEvent::Transmitted };
            let record = FrameRecord {
                time: Duration::from_ns(u64::from(number)),
                stream: 2,
                number,
                hop: 0,
                port: network.streams[2].hops[0].port.0,
                event,
                length: Bytes::new(if lost { 0 } else { 1_422 }),
            };
            trace.record(&record).expect("written");
        }
        trace.finish().expect("ended");
        let batches = crate::parquet::read(&path).expect("read");
        std::fs::remove_file(&path).expect("ours");
        assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), rows as usize);
        let last = batches.last().expect("some");
        let end = last.num_rows() - 1;
        let column = |name: &str| last.column_by_name(name).expect("a column").clone();
        assert_eq!(column("time_ps").as_primitive::<UInt64Type>().value(end), u64::from(rows - 1) * 1_000);
        assert_eq!(column("stream").as_string::<i32>().value(end), "camera");
        assert_eq!(column("port").as_string::<i32>().value(end), "camera.p1");
        assert_eq!(column("reason").as_string::<i32>().value(end), "queue-full");
        assert!(column("length_octets").is_null(end));
        assert!(column("reason").is_null(0));
    }
}
