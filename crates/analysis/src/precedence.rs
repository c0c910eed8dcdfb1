//! Which classes of a port go before which, where that is not the higher class: classes whose frames others cut on their way.
//!
//! Classes that *cut* go before all that *are cut*, whatever their numbers; among each of the two the higher goes first. A cut frame keeps
//! one of another class off for no longer than until the next place at which it may be cut ([`Precedence::blocking_max`]); there every frame of a class that cuts
//! may cost the line more ([`Precedence::cut_bits`]), once. No cut frame begins while another has begun, so what has begun below a class is one frame, and
//! counts whole. A frame that is cut can be cut from its start to its end: its wait is to its *end*, less its own time of the line
//! (`queue_bound.rs`: the weight of its own bits). Who makes this: services. Not here: where a frame may be cut.

use tautwire_units::Bytes;

use crate::contribution::Offered;
use crate::curve::{Curve, Line, MICRO};
use crate::port::Above;
use crate::stairs::Stairs;
use crate::windows::Part;

/// Which classes go before which.
#[derive(Clone, Debug)]
pub(crate) struct Precedence {
    /// Bit *n*: frames of class *n* are cut by those of all classes that are not.
    pub(crate) cut: u8,
    /// For how many bits of the line such a frame keeps one of those off at most.
    pub(crate) blocking_max: u64,
    /// What a cut adds to the line, bits.
    pub(crate) cut_bits: u64,
    /// Whether frames are cut behind their start; what else would be a fault.
    pub(crate) until_end: bool,
    /// The formulas of a class that cuts and of one that is cut, and their source.
    pub(crate) formulas: [&'static str; 2],
    pub(crate) source: &'static str,
}

impl Precedence {
    /// Whether frames of a class are cut.
    pub(crate) const fn is_cut(&self, class: usize) -> bool {
        self.cut >> class & 1 == 1
    }

    /// Whether frames of a class cut those of another.
    pub(crate) const fn cuts(&self, other: usize, own: usize) -> bool {
        self.is_cut(own) && !self.is_cut(other)
    }

    /// The classes, the first before all others.
    pub(crate) fn order(&self) -> [usize; 8] {
        let mut order: [usize; 8] = core::array::from_fn(|place| 7 - place);
        order.sort_by_key(|class| self.is_cut(*class));
        order
    }

    /// Whether frames of a class go before those of another.
    pub(crate) const fn goes_before(&self, other: usize, own: usize) -> bool {
        match (self.is_cut(other), self.is_cut(own)) {
            (false, true) => true,
            (true, false) => false,
            _ => other > own,
        }
    }

    /// For how many bits a frame of `wire` of another class keeps one of a class off that goes before it.
    pub(crate) fn blocks(&self, (other, wire): (usize, u64), own: usize) -> u64 {
        if other == own || self.goes_before(other, own) {
            0
        } else if self.is_cut(other) && !self.is_cut(own) {
            wire.min(self.blocking_max)
        } else {
            wire
        }
    }

    /// What goes before a class, of what the others do.
    pub(crate) fn above(&self, class: usize, parts: &[Part]) -> Above {
        let mut all = Above::nothing();
        for part in parts.iter().filter(|part| self.goes_before(part.class, class)) {
            let Some(offered) = &part.prompt else { continue };
            if self.cuts(part.class, class) {
                all.add(&self.with_cuts(offered, part), part.reason);
            } else {
                all.add(offered, part.reason);
            }
        }
        all
    }

    /// Bits of the line that frames of a class cost with what they cut, by those of their own.
    pub(crate) fn cut_ratio(&self, part: &Part) -> (u64, u64) {
        (part.wire_min + self.cut_bits, part.wire_min)
    }

    /// With what each frame may cost besides.
    pub(crate) fn with_cuts(&self, offered: &Offered, part: &Part) -> Offered {
        let ratio = self.cut_ratio(part);
        let overhead = Bytes::MEDIA_OVERHEAD.get() + self.cut_bits / 8;
        let rest = offered.stairs.rest.in_bits(ratio);
        let stairs = Stairs { rest, ..offered.stairs.charged(overhead, ratio) };
        let (plain, shaped) = (offered.plain.in_bits(ratio), offered.shaped.in_bits(ratio));
        let all = Offered { plain, shaped, stairs, slots: None };
        // What a shaper lets pass may end in the middle of a frame.
        let one = Line { burst: u128::from(self.cut_bits) * MICRO, rate: 0 };
        if part.credit.is_some() { all.plus_curve(&Curve::least_of([one])) } else { all }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_that_cut_go_first() {
        let one = Precedence {
            cut: 0b1010_0010,
            blocking_max: 143 * 8,
            cut_bits: 192,
            until_end: true,
            formulas: ["", ""],
            source: "",
        };
        assert_eq!(one.order(), [6, 4, 3, 2, 0, 7, 5, 1]);
        assert!(
            one.goes_before(0, 7) && one.goes_before(7, 5) && !one.goes_before(5, 0) && one.goes_before(6, 4)
        );
        assert_eq!(one.blocks((7, 12_336), 0), 1_144);
        assert_eq!(one.blocks((1, 800), 4), 800);
        assert_eq!(one.blocks((1, 12_336), 5), 12_336);
        assert_eq!((one.blocks((2, 12_336), 4), one.blocks((4, 12_336), 2)), (12_336, 0));
        assert_eq!((one.blocks((0, 12_336), 5), one.blocks((5, 12_336), 5)), (0, 0));
    }
}
