//! Random networks with MVRP: those whose streams are reserved, each stream of one of three VLANs that end stations declare, some
//! ports with ingress filtering.

use crate::{Dice, random_stream_reservation};

/// The description of a seed.
#[must_use]
pub fn random_vlan_registration(seed: u64) -> String {
    let mut dice = Dice::new(seed ^ 0x3c6e_f372_fe94_f82b);
    let filtering = dice.chance(40);
    let lines = random_stream_reservation(seed);
    let lines = lines.lines().map(|line| {
        if line == "  shaping: reserved" {
            return format!("{line}\n  mvrp: {{}}\n");
        }
        if line.starts_with("  - {name: r") {
            return line.replacen("priority:", &format!("vlan: {}, priority:", dice.between(2, 4)), 1) + "\n";
        }
        if filtering && line.starts_with("  s") && line.ends_with("{type: bridge}") {
            return line.replacen("{type: bridge}", "{type: bridge, ingress-filtering: true}", 1) + "\n";
        }
        format!("{line}\n")
    });
    lines.collect()
}
