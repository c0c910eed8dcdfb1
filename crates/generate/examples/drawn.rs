//! Prints the network of a kind and a seed: `cargo run --package tautwire-generate --example drawn -- network 1670`.
#![allow(clippy::print_stdout, reason = "an example prints")]

use tautwire_generate::KINDS;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let kinds: Vec<&str> = KINDS.iter().map(|(kind, _)| *kind).collect();
    let wanted = arguments.next().unwrap_or_default();
    let draw = KINDS.iter().find(|(kind, _)| *kind == wanted).map(|(_, draw)| draw);
    let seed = arguments.next().and_then(|seed| seed.parse().ok());
    let (Some(draw), Some(seed)) = (draw, seed) else {
        panic!("give a kind and a seed; kinds: {}", kinds.join(", "));
    };
    print!("{}", draw(seed));
}
