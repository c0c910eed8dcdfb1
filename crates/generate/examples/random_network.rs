//! Prints the random network of a seed: `cargo run --example random_network -- 1670`.
#![allow(clippy::print_stdout, reason = "an example prints")]

fn main() {
    let seed = std::env::args().nth(1).and_then(|seed| seed.parse().ok()).expect("a seed");
    print!("{}", tautwire_generate::random_network(seed));
}
