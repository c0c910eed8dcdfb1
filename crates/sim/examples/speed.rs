//! Runs a generated line or mesh for so many milliseconds: `speed mesh 20`, a target for a profiler; `speed mesh 20 instants`
//! runs it by the event loop, `speed mesh 20 2` on two processors.
#![allow(clippy::print_stdout, reason = "an example prints")]

use tautwire_generate::Backbone;
use tautwire_sim::{Driver, Options, run};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mesh = arguments.next().is_some_and(|name| name == "mesh");
    let duration_ms = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(100);
    let how = arguments.next().unwrap_or_default();
    let processors = how.parse().unwrap_or(1);
    let driver = if how == "instants" { Driver::Eliding } else { Driver::ByPorts };
    let backbone = if mesh { Backbone::MESH_100 } else { Backbone::LINE_20 };
    let backbone = Backbone { duration_ms, ..backbone };
    let loaded = tautwire_model::load_text("generated", &backbone.describe());
    let network = loaded.network.expect("a generated network is right");
    let observation = run(&network, &mut Options { driver, processors, ..Options::default() });
    println!("{} frame-hops, hash {:016x}", observation.frame_hops, observation.trace_hash);
}
