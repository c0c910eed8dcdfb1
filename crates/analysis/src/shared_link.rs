//! Sub-virtual-links of one virtual link at a port: together one largest frame a BAG.
//!
//! One regulator passes all of them, and one policer of a switch, a frame at a time. So their common arrivals are at
//! most `Lmax + Lmax/BAG · t`, increased by the greatest difference of two frames' delays since, whichever
//! sub-virtual-links they belong to: from the least delay of any to the greatest delay of any. That holds in addition
//! to the promise of each. Not here: the output of the regulator and the policer (`virtual_link.rs`). Invariant: those
//! of one link come to a port by one lane, because they have one route.

use crate::curve::{Curve, Line, crossing};
use crate::plan::signed;
use crate::port_plan::PortPlan;

/// A sub-virtual-link's part in what its link was held to at its last shaper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    /// The virtual link.
    pub(crate) link: u16,
    /// The output of the shaper for the complete link, if all its frames are at most as long as this one's: bits on
    /// the wire here, rate in true time.
    pub(crate) line: Line,
    /// From the shaper to the queue, greatest.
    pub(crate) most: u64,
    /// From the shaper to the queue, least.
    pub(crate) least: i64,
}

/// A sum of streams, each with the lesser of two lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sum {
    /// Of the lines of least burst.
    steep: Line,
    /// Streams whose lesser line changes after a while: when, and both lines.
    switches: Vec<(u64, Line, Line)>,
}

impl Sum {
    /// Of one line.
    pub(crate) fn of(line: Line) -> Self {
        Self { steep: line, switches: Vec::new() }
    }

    /// Adds a stream by its lines of least burst and of least rate.
    pub(crate) fn add(&mut self, steep: Line, flat: Line) {
        self.steep = self.steep.and(steep);
        if flat.rate < steep.rate {
            self.switches.push((crossing(steep, flat), steep, flat));
        }
    }

    /// The sum of the lesser of each.
    pub(crate) fn curve(&self) -> Curve {
        if self.switches.is_empty() {
            return Curve::least_of([self.steep]);
        }
        let mut switches = self.switches.clone();
        switches
            .sort_unstable_by_key(|(at, steep, flat)| (*at, steep.burst, steep.rate, flat.burst, flat.rate));
        let mut sum = self.steep;
        let mut lines = Vec::with_capacity(switches.len() + 1);
        lines.push(sum);
        for (_, steep, flat) in switches {
            sum = Line {
                burst: sum.burst + flat.burst - steep.burst,
                rate: sum.rate.saturating_sub(steep.rate - flat.rate),
            };
            lines.push(sum);
        }
        Curve::least_of(lines)
    }
}

/// The arrivals of the sub-virtual-links of one link at a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SharedLink {
    /// All together.
    share: Share,
    /// One by one.
    apart: Sum,
}

impl SharedLink {
    /// Adds a sub-virtual-link to those of its link, with its lines on the clock of the port.
    pub(crate) fn add(all: &mut Vec<Self>, share: Share, steep: Line, flat: Line) {
        let place = all.iter().position(|known| known.share.link == share.link);
        let place = place.unwrap_or_else(|| {
            all.push(Self { share, apart: Sum::default() });
            all.len() - 1
        });
        let known = &mut all[place];
        known.apart.add(steep, flat);
        let line = &mut known.share.line;
        (line.burst, line.rate) = (line.burst.max(share.line.burst), line.rate.max(share.line.rate));
        known.share.most = known.share.most.max(share.most);
        known.share.least = known.share.least.min(share.least);
    }

    /// Their arrivals: each no more than its own, all no more than their link.
    pub(crate) fn curve(&self, port: &PortPlan) -> Curve {
        let Share { line, most, least, .. } = self.share;
        let jitter = u64::try_from(signed(most) - least).unwrap_or(0);
        let grown = line.after_jitter(line.rate, jitter);
        #[cfg(feature = "planted-faults")]
        let grown = if port.fault == Some(crate::PlantedFault::SharedLinkFluid) {
            Line { burst: 0, ..grown }
        } else {
            grown
        };
        let together = Line { rate: port.deviation.fastest(grown.rate), ..grown };
        Curve::least_of(self.apart.curve().lines().iter().copied().chain([together]))
    }
}
