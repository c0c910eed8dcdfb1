//! Eq. (1) of the published switch's evaluation, by itself: the queueing part of one flow's delay.
//!
//! The bounds of networks do not call it: they use the same formula with the bursts and rates that are
//! proven at each port, add the flow's own transmission and take the greatest over the shaped queue.
//! It is here so that a re-run of that evaluation can compare its figures with the printed ones.
//! Source: Ben Ahmed, Hirofuchi and Fukai, FPGA-based network switch supporting ATS, eq. 1; the token
//! bucket case of Specht and Samii, ECRTS 2016, eq. 9; terms of 802.1Q-2022 Annex V.

use tautwire_units::{BitRate, Bits, Duration};

/// `(Σ_{F_H ∪ F_S} b_max − l_min + l_LP,max) / (R − Σ_{F_H} r_max)`, rounded up; none if the higher classes use the
/// full line rate. All in bits on the wire.
///
/// `bursts`: of the flows of higher classes and of the same class, the flow's own among them.
/// `own_min`: its smallest frame. `lower_max`: the largest frame of any lower class.
#[must_use]
pub fn contention_max(
    bursts: Bits,
    own_min: Bits,
    lower_max: Bits,
    line: BitRate,
    higher: BitRate,
) -> Option<Duration> {
    let left = line.checked_sub(higher).filter(|left| *left > BitRate::ZERO)?;
    Some(left.duration_ceil(bursts.saturating_sub(own_min) + lower_max))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_printed_values() {
        let frame = Bits::new(1_542 * 8);
        let line = BitRate::from_gbps(1);
        let higher = BitRate::from_mbps(100);
        let none = BitRate::ZERO;
        let bound = |bursts, lower, higher| contention_max(frame * bursts, frame, lower, line, higher);
        assert_eq!(bound(1, frame, none), Some(Duration::from_ns(12_336)), "eq. 2");
        assert_eq!(bound(2, Bits::ZERO, none), Some(Duration::from_ns(12_336)), "eq. 3");
        assert_eq!(bound(2, frame, higher).map(|span| span.as_ps() / 1_000), Some(27_413), "eq. 4");
        assert_eq!(bound(2, frame, line), None);
    }
}
