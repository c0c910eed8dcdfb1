//! Runs a description and prints what its streams observed: `cargo run --example run -- NET.yaml`.
#![allow(clippy::print_stdout, reason = "an example prints")]

fn main() {
    let path = std::env::args().nth(1).expect("a description");
    let loaded = tautwire_model::load(path.as_ref()).expect("readable");
    let Some(network) = loaded.network else {
        println!("{:#?}", loaded.diagnostics);
        return;
    };
    let observation = tautwire_sim::run(&network, &mut tautwire_sim::Options::default());
    println!("{} frame-hops, hash {:016x}", observation.frame_hops, observation.trace_hash);
    for (stream, observed) in network.streams.iter().zip(&observation.streams) {
        for listener in &observed.listeners {
            println!(
                "{:24} {:6} created, {:6} delivered, max {:?} mean {:?} dropped {:?}",
                stream.name,
                observed.created,
                observed.delivered,
                listener.delay.max(),
                listener.delay.mean(),
                observed.dropped
            );
        }
    }
}
