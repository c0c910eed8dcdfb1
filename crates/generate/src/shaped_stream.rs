//! A stream of about a rate, in several kinds of traffic, with a shaper that lets it pass, and the clocks of nodes: what several kinds of
//! networks draw alike.

use std::fmt::Write as _;

use crate::Dice;

/// A stream before its traffic is drawn.
pub(crate) struct ShapedStream {
    pub(crate) number: u64,
    pub(crate) talker: u64,
    pub(crate) listener: u64,
    pub(crate) priority: u64,
    /// Least and most payload, octets.
    pub(crate) payload: (u64, u64),
    /// Bits of the line per second.
    pub(crate) rate: u64,
}

impl ShapedStream {
    /// Draws its traffic, and writes it with that.
    pub(crate) fn write(&self, text: &mut String, dice: &mut Dice) {
        let Self { number, talker, listener, priority, payload: (least, most), rate } = *self;
        let burst = dice.between(1, 3);
        let bits = ((most + 22).max(64) + 20) * 8 * burst;
        let interval_ns = (bits * 1_000_000_000).div_ceil(rate.max(1_000));
        let traffic = match dice.between(0, 3) {
            0 => format!("{{type: greedy}}, arrival-curve: {{rate: {rate} bit/s, burst: {bits} bit}}"),
            1 => {
                let jitter = dice.between(0, interval_ns / 2);
                format!("{{type: periodic, interval: {interval_ns} ns, jitter: {jitter} ns, burst: {burst}}}")
            }
            2 => format!("{{type: constant-rate, rate: {rate} bit/s}}"),
            _ => {
                let offset = dice.between(0, interval_ns);
                format!("{{type: periodic, interval: {interval_ns} ns, offset: {offset} ns, burst: {burst}}}")
            }
        };
        let cir = rate + rate / 500 + 1;
        let _ = writeln!(
            text,
            "  - {{name: s{number}, talker: e{talker}, listeners: e{listener}, priority: {priority}, payload: {{min: {least} B, max: {most} B}}, traffic: {traffic}, \
             shaper: {{committed-information-rate: {cir} bit/s, committed-burst-size: {bits} bit}}}}"
        );
    }
}

/// A clock at one end of its tolerance, or drawn; its offset is drawn, or zero if it must be.
pub(crate) fn write_clock(text: &mut String, dice: &mut Dice, tolerance: u64, has_offset: bool) {
    let (drift, offset) = (dice.between(0, 2), dice.between(0, 900));
    let offset = if has_offset { offset } else { 0 };
    if tolerance > 0 && drift < 2 {
        let sign = if drift == 0 { "" } else { "-" };
        let _ = writeln!(
            text,
            "    clock: {{tolerance: {tolerance} ppm, drift: {sign}{tolerance} ppm, offset: {offset} us}}"
        );
    } else if dice.chance(20) {
        let _ = writeln!(text, "    clock: {{offset: {offset} us}}");
    }
}
