//! Frames that gain and lose their tag on their way, through stages that take time for each octet: as they came up to the
//! queues, as they leave behind them. For networks of one VLAN with a tag at every port.

use crate::Dice;

/// What begins the latency of the stage of all bridges.
const STAGE: &str = "position: processing, latency: {";
const VLAN: &str = "    tagged: all\n";
const UNTAGGED: &str = "tagged: false";
const TALKER: &str = ", talker: ";

/// The same network, of which some streams are sent with a tag and some without, bridges may strip it, and stages take time for each octet.
#[must_use]
pub fn retagged(text: &str, seed: u64) -> String {
    let mut dice = Dice::new(seed ^ 0x7461_6773);
    let position = *dice.one_of(&["reception", "processing", "transmission"]);
    // Slower than the line, a larger frame is passed by no smaller one behind it.
    // A stage as slow as the line, so that a frame comes to it before a larger one has left it; with synchronous windows
    // there must be room for it.
    let mut slow = Dice::new(seed ^ 0x736c_6f77);
    let most = if text.contains("turn-around: 12 us") { 3 } else { 10 };
    let per_octet = dice.between(1, 8) * if slow.chance(33) { slow.between(2, most) } else { 1 };
    let turn_around = format!("turn-around: {} us", 12 + per_octet * 8 / 5);
    let stage = format!("position: {position}, latency: {{per-octet: {per_octet} ns, ");
    let member = if dice.chance(33) { "    untagged: all\n" } else { VLAN };
    let text = text.replacen(STAGE, &stage, 1).replacen(VLAN, member, 1);
    let text = text.replacen("turn-around: 12 us", &turn_around, 1);
    // A varying part hides the time of four octets.
    let text = if dice.chance(67) { constant(&text) } else { text };
    let mut drawn = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let other = dice.chance(50);
        if other && line.contains(UNTAGGED) {
            drawn.push_str(&line.replacen(UNTAGGED, "tagged: true", 1));
        } else if other && line.contains(TALKER) {
            drawn.push_str(&line.replacen(TALKER, &format!(", {UNTAGGED}{TALKER}"), 1));
        } else {
            drawn.push_str(line);
        }
    }
    drawn
}

/// The same text with the least of every range of microseconds in its place.
fn constant(text: &str) -> String {
    let mut parts = text.split("min: ");
    let mut made = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(" us, max: ") {
            Some((least, rest)) if least.bytes().all(|octet| octet.is_ascii_digit()) => {
                made.push_str(&format!("constant: {least} us"));
                made.push_str(rest.split_once(" us").map_or("", |(_, behind)| behind));
            }
            _ => {
                made.push_str("min: ");
                made.push_str(part);
            }
        }
    }
    made
}
