//! A real run, traced: what the traces hold is what the run observed.

use std::fs::File;
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_array::{Array, RecordBatch};
use pcap_file::pcapng::{Block, PcapNgReader};
use tautwire_model::Network;
use tautwire_report::{TraceRecorder, parquet};
use tautwire_sim::{Observation, Options, run, run_with};
use tautwire_units::Duration;
use tautwire_wire::EthernetHeader;

fn scenario(name: &str) -> Network {
    let path = Path::new("../../scenarios").join(name);
    let loaded = tautwire_model::load(&path).expect("a scenario");
    loaded.network.expect("a scenario without faults")
}

fn options() -> Options<'static> {
    Options { duration: Some(Duration::from_ms(20)), ..Options::default() }
}

fn scratch(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("tautwire-{}-{name}", std::process::id()))
}

/// The run, its rows and its capture.
fn traced(network: &Network, name: &str) -> (Observation, Vec<RecordBatch>, Vec<u8>) {
    let (frames, capture) = (scratch(&format!("{name}.parquet")), scratch(&format!("{name}.pcapng")));
    let file = |path: &Path| Some(File::create(path).expect("a temporary file"));
    let mut recorder = TraceRecorder::new(network, file(&frames), file(&capture)).expect("begun");
    let observation = run_with(network, &mut options(), &mut recorder);
    recorder.finish().expect("written");
    let read = (parquet::read(&frames).expect("Parquet"), std::fs::read(&capture).expect("a capture"));
    if std::env::var_os("TAUTWIRE_KEEP_TRACES").is_none() {
        std::fs::remove_file(&frames).expect("ours");
        std::fs::remove_file(&capture).expect("ours");
    }
    (observation, read.0, read.1)
}

/// Rows of this event.
fn rows(batches: &[RecordBatch], event: &str) -> u64 {
    let count = |batch: &RecordBatch| {
        let column = batch.column_by_name("event").expect("a column").as_string::<i32>().clone();
        (0..column.len()).filter(|row| column.value(*row) == event).count() as u64
    };
    batches.iter().map(count).sum()
}

#[test]
fn a_trace_holds_every_event_of_the_run() {
    let network = scenario("shaped-line.yaml");
    let (observation, batches, _) = traced(&network, "events");
    assert_eq!(observation, run(&network, &mut options()), "a trace changes nothing");
    let sum =
        |of: fn(&tautwire_sim::StreamObservation) -> u64| observation.streams.iter().map(of).sum::<u64>();
    assert!(observation.frame_hops > 1_000);
    assert_eq!(rows(&batches, "transmitted"), observation.frame_hops);
    assert_eq!(rows(&batches, "queued"), observation.frame_hops);
    assert_eq!(rows(&batches, "created"), sum(|stream| stream.created));
    assert_eq!(rows(&batches, "delivered"), sum(|stream| stream.delivered));
    assert_eq!(rows(&batches, "dropped"), sum(|stream| stream.dropped.iter().map(|(_, n)| n).sum()));
    for batch in &batches {
        let length = batch.column_by_name("length_octets").expect("a column").clone();
        let length = length.as_primitive::<UInt32Type>();
        assert!((0..length.len()).all(|row| (64..=1_522).contains(&length.value(row))));
    }
}

#[test]
fn a_capture_holds_every_transmission_in_order_of_time() {
    let network = scenario("shaped-line.yaml");
    let (observation, _, octets) = traced(&network, "capture");
    let mut reader = PcapNgReader::new(&octets[..]).expect("a section");
    let (mut packets, mut last) = (0_u64, std::time::Duration::ZERO);
    while let Some(block) = reader.next_block() {
        let Block::EnhancedPacket(packet) = block.expect("a block") else { continue };
        assert!(packet.timestamp >= last, "packet {packets} is earlier than the one before");
        last = packet.timestamp;
        packets += 1;
        let (header, payload) = EthernetHeader::parse(&packet.data).expect("a frame");
        assert_eq!(&payload[..8], b"tautwire");
        let stream = u32::from_be_bytes(payload[8..12].try_into().expect("four octets"));
        let stream = &network.streams[stream as usize];
        assert_eq!((header.destination, header.source), (stream.destination, stream.source));
        assert!(payload.len() >= 42);
    }
    assert_eq!(packets, observation.frame_hops);
}
