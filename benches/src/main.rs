//! Measures simulation, set-up, bounds, parsing and memory on generated networks.
//!
//! `make bench` runs it on the release build; `ONLY=sim` runs the measurements whose name begins so.
//! CPU time by `clock_gettime(CLOCK_PROCESS_CPUTIME_ID)`, set-up apart from running, the median of
//! several runs. `--admission` prints the growth of admission decisions. Writes `bench.json` (`figures.rs`).
#![allow(clippy::print_stdout, reason = "results go to standard output")]

mod admission;
mod figures;
mod gates;
#[cfg(target_os = "linux")]
mod live;
mod tightness;
mod time_triggered;

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tautwire_admission::{AdmissionTest, EndToEndBounds};
use tautwire_generate::{Backbone, Topology};
use tautwire_model::Network;
use tautwire_model::network::StreamIndex;
use tautwire_sim::Options;

use crate::figures::Figure;

/// Argument that requests [`print_peak_memory`].
const MEMORY: &str = "--memory";

/// Argument that requests the tables of [`admission`].
const ADMISSION: &str = "--admission";

fn main() {
    let mut arguments = std::env::args().skip(1);
    let asked = arguments.next();
    if asked.as_deref() == Some(ADMISSION) {
        return admission::print_curves(arguments.next().as_deref());
    }
    if asked.as_deref() == Some(MEMORY) {
        let streams = arguments.next().and_then(|streams| streams.parse().ok());
        return print_peak_memory(streams.expect("a number of streams"));
    }
    let only = std::env::var("ONLY").unwrap_or_default();
    let mut figures = Vec::new();
    let mut measure = |name: &str, unit: &'static str, run: &dyn Fn() -> f64| {
        if name.starts_with(&only) {
            let value = run();
            println!("{name:40} {value:>16.3} {unit}");
            figures.push(Figure { name: name.to_owned(), value, unit, measured: SystemTime::now() });
        }
    };
    measure("sim_line20_frame_hops_per_cpu_s", "1/s", &|| frame_hops_per_cpu_s("line-20"));
    measure("sim_mesh100_frame_hops_per_cpu_s", "1/s", &|| frame_hops_per_cpu_s("mesh-100"));
    measure("sim_mesh100_two_processors_gain", "", &|| gain_of_processors("mesh-100", 2));
    measure("setup_440_nodes_ms", "ms", &setup_440_nodes_ms);
    measure("bounds_1000x64_ms", "ms", &|| bounds_ms(1_000, 64, 9));
    measure("bounds_10000x1000_ms", "ms", &|| bounds_ms(10_000, 1_000, 5));
    measure("bounds_40000x4000_ms", "ms", &|| bounds_ms(40_000, 4_000, 3));
    measure("tt_schedule_1000x12_ms", "ms", &time_triggered::schedule_ms);
    measure("gate_schedule_1000x8_ms", "ms", &|| gates::schedule_ms(8, 1_000, 9));
    measure("gate_schedule_10000x200_ms", "ms", &|| gates::schedule_ms(200, 10_000, 3));
    if ["tt_run_1000x12_ms", "tt_jitter_1000x12_ns", "tt_precision_1000x12_ns"]
        .iter()
        .any(|name| name.starts_with(&only))
    {
        let run = time_triggered::run();
        measure("tt_run_1000x12_ms", "ms", &|| run.ms);
        measure("tt_jitter_1000x12_ns", "ns", &|| run.jitter_ns);
        measure("tt_precision_1000x12_ns", "ns", &|| run.precision_ns);
    }
    measure("parse_10000x1000_ms", "ms", &|| parse_ms(10_000, 1_000, 5));
    measure("parse_40000x4000_ms", "ms", &|| parse_ms(40_000, 4_000, 3));
    measure("bounds_of_text_200000x5000_ms", "ms", &bounds_of_text_ms);
    measure("memory_bytes_per_stream", "B", &memory_bytes_per_stream);
    measure("admit_100x16_us", "us", &|| admit_us(100, 16, 2_000));
    measure("admit_1000x64_us", "us", &|| admit_us(1_000, 64, 2_000));
    measure("admit_10000x1000_us", "us", &|| admit_us(10_000, 1_000, 1_000));
    #[cfg(target_os = "linux")]
    for (size, octets) in [(64, 60), (1500, 1514)] {
        let names = ["live_hop", "live_xdp_hop", "live_kernel_hop"]
            .map(|whose| format!("{whose}_{size}_frames_per_cpu_s"));
        if names.iter().any(|name| name.starts_with(&only))
            && let Some(hops) = live::hops(octets)
        {
            measure(&names[0], "1/s", &|| hops.ours);
            measure(&names[1], "1/s", &|| hops.xdp);
            measure(&names[2], "1/s", &|| hops.kernel);
        }
    }
    if only.starts_with("tightness") || only.is_empty() {
        for (kind, ratios) in tightness::ratios().into_iter().filter(|(_, ratios)| !ratios.is_empty()) {
            for (name, percent) in [("median", 50), ("p95", 95)] {
                let name = format!("tightness_{kind}_{name}_ratio");
                measure(&name, "1", &|| ratios[ratios.len() * percent / 100]);
            }
        }
    }
    figures::write(Path::new("bench.json"), &figures, &only);
}

/// CPU time of this process so far.
pub(crate) fn cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    let seconds = u64::try_from(time.tv_sec).expect("time goes on");
    Duration::new(seconds, u32::try_from(time.tv_nsec).expect("below a second"))
}

/// The median CPU time of `runs` runs, in milliseconds.
pub(crate) fn median_ms(runs: usize, mut run: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..runs)
        .map(|_| {
            let start = cpu();
            run();
            (cpu() - start).as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[runs / 2]
}

fn network(backbone: &Backbone) -> Network {
    let loaded = tautwire_model::load_text("generated", &backbone.describe());
    assert!(!loaded.has_errors(), "{:#?}", loaded.diagnostics.first());
    loaded.network.expect("no errors")
}

/// The file of a kept scenario.
fn scenario(name: &str) -> PathBuf {
    let package = std::env::var("CARGO_MANIFEST_DIR").expect("cargo runs the benches");
    Path::new(&package).join(format!("../scenarios/{name}.yaml"))
}

/// Speed of the simulation of a kept scenario.
fn frame_hops_per_cpu_s(name: &str) -> f64 {
    let loaded = tautwire_model::load(&scenario(&format!("generated/{name}"))).expect("a kept scenario");
    let network = loaded.network.expect("no errors");
    let empty = tautwire_units::Duration::from_ps(1);
    let setup = median_ms(3, || {
        let options = &mut Options { duration: Some(empty), ..Options::default() };
        std::hint::black_box(tautwire_sim::run(&network, options));
    });
    let mut hops = 0;
    let run = median_ms(5, || {
        hops = tautwire_sim::run(&network, &mut Options::default()).frame_hops;
    });
    hops as f64 / ((run - setup) / 1e3)
}

/// By how many times less time passes when a run may use so many processors: the least of five, in turns.
fn gain_of_processors(name: &str, processors: usize) -> f64 {
    let loaded = tautwire_model::load(&scenario(&format!("generated/{name}"))).expect("a kept scenario");
    let network = loaded.network.expect("no errors");
    let seconds = |processors| {
        let begun = std::time::Instant::now();
        std::hint::black_box(tautwire_sim::run(&network, &mut Options { processors, ..Options::default() }));
        begun.elapsed().as_secs_f64()
    };
    let least = (0..5).fold((f64::MAX, f64::MAX), |(one, several): (f64, f64), _| {
        (one.min(seconds(1)), several.min(seconds(processors)))
    });
    least.0 / least.1
}

fn setup_440_nodes_ms() -> f64 {
    let backbone = Backbone { bridges: 220, stations: 1, streams: 440, ..Backbone::LINE_20 };
    let text = backbone.describe();
    let empty = tautwire_units::Duration::from_ps(1);
    median_ms(9, || {
        let network = tautwire_model::load_text("generated", &text).network.expect("no errors");
        let options = &mut Options { duration: Some(empty), ..Options::default() };
        std::hint::black_box(tautwire_sim::run(&network, options));
    })
}

fn tree(streams: usize, bridges: usize) -> Backbone {
    Backbone {
        topology: Topology::Tree { branching: 3 },
        bridges,
        stations: 2,
        streams,
        distance: 6,
        load: 30,
        duration_ms: 2,
        seed: 1,
    }
}

fn bounds_ms(streams: usize, bridges: usize, runs: usize) -> f64 {
    let network = network(&tree(streams, bridges));
    median_ms(runs, || {
        std::hint::black_box(tautwire_analysis::bounds(&network));
    })
}

/// One decision by proven bounds, all other streams admitted: the mean of so many over the streams, each
/// withdrawn before and not counted.
fn admit_us(streams: usize, bridges: usize, decisions: usize) -> f64 {
    let network = network(&tree(streams, bridges));
    let all: Vec<StreamIndex> = (0..streams).map(StreamIndex::at).collect();
    let test: Box<dyn AdmissionTest> = Box::new(EndToEndBounds);
    let mut standing = test.begin(&network);
    standing.rejoin(&network, &all);
    let mut total = Duration::ZERO;
    for number in 0..decisions {
        let stream = all[number * 7_919 % streams];
        standing.leave(&network, stream);
        let start = cpu();
        let refused = standing.join(&network, stream);
        total += cpu() - start;
        assert!(refused.is_none(), "it was admitted before: {refused:?}");
    }
    total.as_secs_f64() * 1e6 / decisions as f64
}

fn parse_ms(streams: usize, bridges: usize, runs: usize) -> f64 {
    let text = tree(streams, bridges).describe();
    median_ms(runs, || {
        std::hint::black_box(tautwire_model::load_text("generated", &text));
    })
}

/// From the text of a large network to the bounds of all its streams.
fn bounds_of_text_ms() -> f64 {
    let text = tree(200_000, 5_000).describe();
    median_ms(1, || {
        let network = tautwire_model::load_text("generated", &text).network.expect("no errors");
        std::hint::black_box(tautwire_analysis::bounds(&network));
    })
}

/// Growth of the peak of resident memory from 2 000 to 20 000 streams: reading the description,
/// setting up and running it, each in a process of its own.
fn memory_bytes_per_stream() -> f64 {
    let peak = |streams: usize| {
        let program = std::env::current_exe().expect("Linux tells");
        let output = std::process::Command::new(program)
            .arg(MEMORY)
            .arg(streams.to_string())
            .output()
            .expect("this program runs again");
        let text = String::from_utf8(output.stdout).expect("a number");
        text.trim().parse::<f64>().expect("a number")
    };
    (peak(20_000) - peak(2_000)) / 18_000.0
}

/// Runs a mesh of so many streams and prints the peak of resident memory in octets.
fn print_peak_memory(streams: usize) {
    let network = network(&Backbone { streams, ..Backbone::MESH_100 });
    let duration = Some(tautwire_units::Duration::from_ms(20));
    let options = &mut Options { duration, ..Options::default() };
    std::hint::black_box(tautwire_sim::run(&network, options));
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("Linux tells");
    let kib: u64 = line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).expect("a number");
    println!("{}", kib * 1024);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The networks of the figures are such that all their streams may run together.
    #[test]
    fn every_stream_of_the_trees_is_admitted() {
        assert!(admit_us(100, 16, 100) > 0.0);
        assert!(admit_us(1_000, 64, 20) > 0.0);
    }
}
