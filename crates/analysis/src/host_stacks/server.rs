//! A server that takes the frames of flows in their order, or the highest class first.
//!
//! Where every stream of a server promises a token bucket (r, b) on the wire, with frames of at least l bits, at most (b + r t)/l of its
//! frames come in a window t; if the work of these does not exceed the time, no frame waits and is served longer than
//! the work of the bursts, Σ S b/l, and a wake-up (Le Boudec and Thiran, Network Calculus, 2001, 1.4, with a server of
//! one second of work a second). Only whole frames come, so all frames of the busy period are looked at as well, as ports do
//! (`longest_wait`), and the lesser of both counts. Classes of a receiving interface wait for the frame in transfer and for the classes
//! above.

use tautwire_model::network::Delay;

use super::flow::{Flow, delay, span};
use crate::clock::PS_PER_S;

/// The work of the bursts and that of a second, of flows at a server; none if something is not known.
fn work(
    flows: &[Flow],
    group: impl Iterator<Item = usize>,
    service: impl Fn(&Flow) -> u64,
) -> Option<(u128, u128)> {
    let (mut bursts, mut second) = (0_u128, 0_u128);
    for number in group {
        let flow = &flows[number];
        let (rate, burst) = flow.bucket?;
        let time = u128::from(service(flow));
        bursts += (time * u128::from(burst)).div_ceil(u128::from(flow.least_bits));
        second += (time * u128::from(rate)).div_ceil(u128::from(flow.least_bits));
    }
    Some((bursts, second))
}

/// Frames of flows at a server, one after the other in time.
#[derive(Debug)]
struct Coming<'a> {
    flows: &'a [Flow],
    /// Flows, the time that a frame of each takes, and how many have come.
    came: Vec<(usize, u64, u64)>,
    /// The time that all of these take.
    work: u64,
}

impl<'a> Coming<'a> {
    /// All that may come at once; none if something is not known.
    fn of(
        flows: &'a [Flow],
        group: impl Iterator<Item = usize>,
        service: impl Fn(&Flow) -> u64,
    ) -> Option<Self> {
        let mut coming = Self { flows, came: Vec::new(), work: 0 };
        for number in group {
            let flow = &flows[number];
            let (_, burst) = flow.bucket?;
            let frames = burst / flow.least_bits.max(1);
            #[cfg(feature = "planted-faults")]
            let frames = if flow.is_hasty { frames.min(1) } else { frames };
            coming.came.push((number, service(flow), frames));
            coming.work = coming.work.saturating_add(service(flow).saturating_mul(frames));
        }
        Some(coming)
    }

    /// How long after the first of them the next frame of a flow may come, at the earliest; none: never.
    fn next_of(&self, (number, _, frames): (usize, u64, u64)) -> Option<u64> {
        let flow = &self.flows[number];
        let (rate, burst) = flow.bucket?;
        let bits = (u128::from(frames) + 1) * u128::from(flow.least_bits.max(1));
        let missing = bits.saturating_sub(u128::from(burst));
        (rate > 0).then(|| u64::try_from(missing * PS_PER_S / u128::from(rate)).unwrap_or(u64::MAX))
    }

    /// When the next frame may come.
    fn next(&self) -> Option<u64> {
        self.came.iter().filter_map(|flow| self.next_of(*flow)).min()
    }

    /// Lets all frames come that may come up to an instant; none if these are more than are looked at.
    fn take_until(&mut self, now: u64, left: &mut usize) -> Option<()> {
        for place in 0..self.came.len() {
            while self.next_of(self.came[place]).is_some_and(|next| next <= now) {
                *left = left.checked_sub(1)?;
                self.came[place].2 += 1;
                self.work = self.work.saturating_add(self.came[place].1);
            }
        }
        Some(())
    }
}

/// Frames of a busy period that are looked at.
const FRAMES_MAX: usize = 4_096;

/// How long a frame waits and is served at most at a server that takes `own` in their order, `above` before them, and has `first` to do before; none if that is
/// not known, or too much would have to be looked at.
///
/// Of a flow, no more frames come within a time than its token bucket holds whole ones of its least size. Let the server have nothing to do before zero. A frame
/// that comes *a* later is served by the least *w* with `w = first + frames of its flows within a + frames above within w`, and the longest of all `w - a` is at
/// an *a* at which a frame may come, before the server has done all that came.
fn longest_wait(first: u64, mut own: Coming<'_>, mut above: Coming<'_>) -> Option<u64> {
    let (mut at, mut longest, mut left) = (0, 0_u64, FRAMES_MAX);
    loop {
        let done = loop {
            let done = first.saturating_add(own.work).saturating_add(above.work);
            if above.next().is_none_or(|next| next > done) {
                break done;
            }
            above.take_until(done, &mut left)?;
        };
        longest = longest.max(done.saturating_sub(at));
        let Some(next) = own.next().filter(|next| *next <= done) else { return Some(longest) };
        #[cfg(feature = "planted-faults")]
        if own.flows.iter().any(|flow| flow.is_hasty) {
            return Some(longest);
        }
        at = next;
        own.take_until(at, &mut left)?;
    }
}

/// Flows pass a server that takes their frames as they come.
///
/// Whether they take any time.
pub(super) fn serve(
    flows: &mut [Flow],
    group: &[usize],
    service: impl Fn(&Flow) -> (u64, u64),
    wake: u64,
) -> bool {
    if wake == 0 && group.iter().all(|flow| service(&flows[*flow]).1 == 0) {
        return false;
    }
    let most = work(flows, group.iter().copied(), |flow| service(flow).1)
        .filter(|(_, second)| *second <= PS_PER_S)
        .and_then(|(bursts, _)| u64::try_from(bursts).ok()?.checked_add(wake));
    let by_frames = || {
        let own = Coming::of(flows, group.iter().copied(), |flow| service(flow).1)?;
        longest_wait(wake, own, Coming::of(flows, std::iter::empty(), |_| 0)?)
    };
    let most = most.map(|most| by_frames().map_or(most, |wait| most.min(wait)));
    match most {
        Some(most) => delay(flows, group, |flow| (service(flow).0, most.max(service(flow).0))),
        None => group.iter().for_each(|flow| flows[*flow].bucket = None),
    }
    true
}

/// Flows pass a server that takes the highest class first and finishes what it has begun.
///
/// Whether they take any time.
pub(super) fn serve_classes(flows: &mut [Flow], group: &[usize], time: &Delay) -> bool {
    let service = |flow: &Flow| span(time, flow).1;
    if group.iter().all(|flow| service(&flows[*flow]) == 0) {
        return false;
    }
    let bounds: Vec<Option<u64>> = group
        .iter()
        .map(|number| {
            let class = flows[*number].class;
            let of = |is_in: &dyn Fn(u8) -> bool| {
                let members: Vec<usize> =
                    group.iter().copied().filter(|flow| is_in(flows[*flow].class)).collect();
                members
            };
            let begun = of(&|other| other < class).into_iter().map(|flow| service(&flows[flow])).max();
            let (bursts, second) = work(flows, of(&|other| other >= class).into_iter(), service)?;
            let (_, above) = work(flows, of(&|other| other > class).into_iter(), service)?;
            if second > PS_PER_S || above >= PS_PER_S {
                return None;
            }
            let wait = (bursts + u128::from(begun.unwrap_or(0))) * PS_PER_S;
            let by_curves = u64::try_from(wait.div_ceil(PS_PER_S - above)).ok()?;
            let coming = |is_in: &dyn Fn(u8) -> bool| Coming::of(flows, of(is_in).into_iter(), service);
            let by_frames = longest_wait(
                begun.unwrap_or(0),
                coming(&|other| other == class)?,
                coming(&|other| other > class)?,
            );
            Some(by_frames.map_or(by_curves, |wait| by_curves.min(wait)))
        })
        .collect();
    for (number, most) in group.iter().zip(bounds) {
        match most {
            Some(most) => delay(flows, &[*number], |flow| (span(time, flow).0, most.max(span(time, flow).0))),
            None => flows[*number].bucket = None,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use tautwire_units::Bytes;

    /// A flow with a token bucket, bits a second and bits.
    fn flow(bucket: (u64, u64), least_bits: u64) -> Flow {
        let octets = (Bytes::new(64), Bytes::new(64));
        Flow {
            stream: 0,
            listener: 0,
            stack: 0,
            class: 0,
            bucket: Some(bucket),
            least_bits,
            octets,
            min: 0,
            max: 0,
            waiting: None,
            sending: None,
            beyond_ring: None,
            #[cfg(feature = "planted-faults")]
            is_hasty: false,
        }
    }

    /// The longest wait of all instants, one by one.
    fn enumerated(first: u64, flows: &[Flow], services: &[u64], own: usize) -> u64 {
        let work = |among: std::ops::Range<usize>, at: u64| -> u64 {
            let of = |flow: usize| {
                let (rate, burst) = flows[flow].bucket.unwrap();
                let bits = u128::from(burst) + u128::from(rate) * u128::from(at) / PS_PER_S;
                services[flow] * u64::try_from(bits / u128::from(flows[flow].least_bits)).unwrap()
            };
            among.map(of).sum()
        };
        let mut longest = 0;
        for at in 0.. {
            let fixed = first + work(0..own, at);
            let done = (0..).find(|done| *done >= fixed + work(own..flows.len(), *done)).unwrap();
            longest = longest.max(done.saturating_sub(at));
            if done < at {
                return longest;
            }
        }
        unreachable!("the busy period ends")
    }

    #[test]
    fn waits_are_those_of_whole_frames() {
        let one = |flows: &[Flow], services: &[u64], own: usize, first: u64| {
            let of = |among: std::ops::Range<usize>| {
                Coming::of(flows, among.clone(), |flow| {
                    services[flows.iter().position(|other| std::ptr::eq(other, flow)).unwrap()]
                })
                .unwrap()
            };
            longest_wait(first, of(0..own), of(own..flows.len()))
        };
        // A frame and a third of one at once, 50 ps each: the second comes when the first is done.
        let flows = [flow((100_000_000_000, 13), 10)];
        assert_eq!(one(&flows, &[50], 1, 0), Some(50));
        // Behind a wake-up it comes while the first is still served.
        assert_eq!(one(&flows, &[50], 1, 40), Some(90));
        assert_eq!(one(&flows, &[90], 1, 0), Some(110), "the second waits longer");
        let mut state = 1_u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for case in 0..400 {
            let flows: Vec<Flow> = (0..3)
                .map(|_| flow((20_000_000_000 * (1 + draw(8)), 10 + draw(30)), 10 + draw(10)))
                .collect();
            let services: Vec<u64> = (0..3).map(|_| 1 + draw(25)).collect();
            let load = |(flow, service): (&Flow, &u64)| {
                flow.bucket.unwrap().0 / 1_000_000_000 * service / flow.least_bits
            };
            if flows.iter().zip(&services).map(load).sum::<u64>() > 900 {
                continue;
            }
            let own = 1 + draw(3) as usize;
            let (found, worst) =
                (one(&flows, &services, own, case % 7), enumerated(case % 7, &flows, &services, own));
            let found = found.expect("a short busy period");
            assert!(
                found >= worst && found <= worst + 3 * services.iter().max().unwrap(),
                "{case}: {found}, {worst}"
            );
        }
    }
}
