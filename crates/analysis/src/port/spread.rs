//! By how much the bursts of a stream grow in a class whose frames go in the order in which they come.
//!
//! Let a stream bring at most `b + r·t` to the queue, and let frame *m* of it stay `D` there. The frames from *m* to a later *n* leave within
//! a time of at least `a_n − a_m − D` and the least stay, so that the burst grows by `r·D`. But a stay that is long because of the stream's
//! own frames before *m*, `X` bits since the last instant *τ* at which none was waiting, leaves less for those from *m* on: they are no more
//! than `b + r·(a_n − τ) − X`, and no more than `b + r·(a_n − a_m)`. With `D = (latency + others + X)/R − (a_m − τ)` the growth is greatest at
//! `X = r·(a_m − τ)`: the stream's own burst does not count. So it grows by `r` times the greatest stay behind the bursts of the others
//! alone, as long as all together bring no more than *R*.
//! Source: Le Boudec and Thiran, Network Calculus, 2001, corollary 6.2.3 (output of a flow of an aggregate), with whole frames.

use super::{Assess, ClassTerms, FifoService};
use crate::curve::{Curve, Line, crossing, span, volume, volume_floor};
use crate::passage::NO_REASON;
use crate::port_plan::ClassOrder;

/// The service of a class in the order of arrival, and what comes to it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Spread {
    service: FifoService,
    /// What its streams bring together, in bits as they are served, on the clock of the node.
    all: Curve,
    #[cfg(feature = "planted-faults")]
    is_faulty: bool,
}

impl Spread {
    /// The greatest wait for the start of a frame behind what others bring, on the clock of the node: of a stream that brings the lesser of
    /// the lines `own` of all, the steeper first, for a line of `rate` by which it may come. None if more comes than is served.
    pub(crate) fn wait_max(&self, own: [Line; 2], rate: u64) -> Option<u64> {
        let (num, den) = self.service.ratio;
        let fewer = |line: Line| Line {
            burst: line.burst * u128::from(num) / u128::from(den),
            rate: u64::try_from(u128::from(line.rate) * u128::from(num) / u128::from(den)).unwrap_or(0),
        };
        let own = own.map(fewer);
        let rate = Line { burst: 0, rate }.in_bits(self.service.ratio).rate;
        let lines = self.service.lines.iter();
        let wait =
            lines.filter_map(|(latency, served)| self.wait_by((*latency, *served), own, rate)).min()?;
        Some(wait.saturating_add(self.service.slack))
    }

    /// The same by one line of the service. Any lines of what comes give a bound: the first, and the two between which its rate falls below
    /// what is served.
    fn wait_by(&self, (latency, served): (u128, u64), own: [Line; 2], rate: u64) -> Option<u64> {
        let lines = self.all.lines();
        let left = (u128::from(served) + u128::from(own[1].rate)).checked_sub(u128::from(rate))?;
        let flat = lines.partition_point(|line| u128::from(line.rate) > left);
        let counted = [*lines.first()?, lines[flat.saturating_sub(1)], *lines.get(flat)?];
        let [first, steep, flat] = counted;
        // Anywhere between two instants.
        let wait = |from: u64, to: u64| {
            let come = counted.iter().map(|line| line.burst + volume(line.rate, to)).min();
            let of_own = own.iter().map(|line| line.burst + volume_floor(line.rate, from)).min();
            let others = come.zip(of_own).map_or(0, |(come, own)| come.saturating_sub(own));
            #[cfg(feature = "planted-faults")]
            let others = if self.is_faulty { 0 } else { others };
            Some(span(latency + others + volume(rate, to), served)?.saturating_sub(from))
        };
        let mut most = wait(0, 0)?;
        for (steep, flat) in [(first, steep), (first, flat), (steep, flat), (own[0], own[1])] {
            if steep.rate > flat.rate {
                let at = crossing(steep, flat);
                most = most.max(wait(at, at.saturating_add(1))?);
            }
        }
        Some(most)
    }
}

impl Assess<'_> {
    /// The service of the class in the order of arrival, as far as it is asked for, and its spread.
    pub(super) fn in_order(
        &self,
        terms: &mut ClassTerms,
        all: &Curve,
        service: impl FnOnce() -> Option<FifoService>,
    ) {
        if !self.by_frames {
            return;
        }
        let service = service();
        if self.is_in_order() {
            terms.fifo.clone_from(&service);
        }
        terms.spread = self.spread(service, all);
    }

    /// The spread of the class, if its frames go in the order in which they come and nothing takes the line away in windows. `all` is what its
    /// streams bring, each by its own lines.
    fn spread(&self, service: Option<FifoService>, all: &Curve) -> Option<Spread> {
        let in_order = self.order() == ClassOrder::Fifo || self.members.len() == 1;
        let is_plain =
            self.windows.is_none() && self.port.served.is_none() && self.tardy == 0 && !self.unscheduled;
        let are_known = self.members.iter().all(|member| member.unknown == NO_REASON);
        if !(in_order && is_plain && are_known) {
            return None;
        }
        let service = service?;
        let all = all.in_bits(service.ratio);
        Some(Spread {
            service,
            all,
            #[cfg(feature = "planted-faults")]
            is_faulty: self.port.fault == Some(crate::PlantedFault::OthersInSpreadForgotten),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: u64 = 1_000_000_000;

    fn spread(lines: &[(u128, u64)], all: &[Line]) -> Spread {
        let service = FifoService::of(lines.iter().copied(), (1, 1), 0).expect("a service");
        Spread {
            service,
            all: Curve::least_of(all.iter().copied()),
            #[cfg(feature = "planted-faults")]
            is_faulty: false,
        }
    }

    /// 2 000 bit of a lower frame, 8 000 bit of others; its own 50 000 bit do not count.
    #[test]
    fn a_stream_does_not_make_its_own_burst_grow() {
        let own = Line::new(50_000, RATE / 10);
        let alone = spread(&[(2_000_000_000, RATE)], &[own]);
        assert_eq!(alone.wait_max([own; 2], own.rate), Some(2_000_000), "2 us of a lower frame");
        let others = Line::new(8_000, RATE / 5);
        let both = spread(&[(2_000_000_000, RATE)], &[own.and(others)]);
        assert_eq!(both.wait_max([own; 2], own.rate), Some(10_000_000));
        assert_eq!(both.wait_max([own; 2], RATE / 10 * 9), None, "more comes than is served");
    }

    /// What another stream brings by a shaper of 1 000 bit counts, and not its large burst at nearly the same rate.
    #[test]
    fn others_count_by_the_lesser_of_their_lines() {
        let own = Line::new(50_000, RATE / 10);
        let (shaper, promise) = (Line::new(1_000, RATE / 5 + 1), Line::new(90_000, RATE / 5));
        let spread = spread(&[(0, RATE)], &[own.and(shaper), own.and(promise)]);
        let wait = spread.wait_max([own; 2], own.rate).expect("bounded");
        assert!((1_000_000..1_000_010).contains(&wait), "{wait}");
    }

    /// Against the definition, at every instant up to some us.
    #[test]
    fn it_is_never_below_the_definition() {
        for seed in 0..2_000_u64 {
            let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            let mut draw = |below: u64| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) % below
            };
            let mut stream = || {
                let (burst, rate) = (draw(3_000), draw(RATE / 6));
                [Line::new(burst, rate + draw(RATE / 6)), Line::new(burst + draw(2_000), rate)]
            };
            let streams: Vec<[Line; 2]> = (0..3).map(|_| stream()).collect();
            let own = streams[0];
            let sums = (0..8_usize).map(|bits| {
                (0..3).fold(Line::default(), |sum, one| sum.and(streams[one][(bits >> one) & 1]))
            });
            let all = spread(&[(500_000_000, RATE)], &sums.collect::<Vec<_>>());
            let rate = own[0].rate;
            let Some(found) = all.wait_max(own, rate) else { continue };
            for at in (0..8_000_000).step_by(40_000) {
                let others = streams[1..].iter().map(|lines| {
                    lines.iter().map(|line| line.burst + volume_floor(line.rate, at)).min().expect("two")
                });
                let before = 500_000_000 + others.sum::<u128>() + volume_floor(rate, at);
                let least = crate::curve::span_floor(before, RATE).saturating_sub(at);
                assert!(found + 2 >= least, "seed {seed}, {at}: {found} and {least}");
            }
        }
    }
}
