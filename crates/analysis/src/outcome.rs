//! The analysis in its public form: bounds per listener and hop, and reasons where there are none.

use tautwire_model::network::PortIndex;
use tautwire_units::Duration;

use crate::analysis::Analysis;
use crate::passage::NO_REASON;
use crate::plan::{Entry, index};
use crate::result::{Bounds, HopBounds, ListenerBounds, Method, StreamBounds};
use crate::unbounded::Unbounded;

impl Analysis<'_> {
    /// The results in their public form, except for those of applications behind stacks.
    pub(crate) fn bounds(&self) -> Bounds {
        let streams = (0..index(self.plan.stream_count())).map(|stream| self.stream(stream)).collect();
        Bounds {
            streams,
            ports: self.ports.clone(),
            overflows: self.overflows(),
            recoveries: self.recoveries(),
            accuracy: self.accuracy,
        }
    }

    /// The results of a stream.
    pub(crate) fn stream(&self, number: u32) -> StreamBounds {
        let stream = self.plan.stream(number);
        let first = self.plan.first_entry[number as usize] as usize;
        let entries = first..first + stream.hops.len();
        let time = |ps: i64| Duration::from_ps(u64::try_from(ps).unwrap_or(0));
        let hops = entries.clone().map(|number| self.hop(number)).collect();
        let listeners = (0..stream.listeners.len())
            .map(|listener| {
                let hops = stream.hops.iter().enumerate();
                let at_end = hops.filter(|(_, hop)| hop.listener.is_some_and(|one| one as usize == listener));
                // Over two networks either may be the only one whose copy comes.
                let each = at_end.map(|(hop, _)| {
                    let (entry, passage) = (&self.plan.entries[first + hop], &self.passages[first + hop]);
                    let (delay, method) = match (self.end_max(first + hop), passage.reason) {
                        (Some((most, method)), _) => (Ok(Duration::from_ps(most)), method),
                        (None, reason) => (Err(self.why(reason, entry)), Method::None),
                    };
                    let by_instants = self
                        .by_instants(first + hop)
                        .map_or(Duration::ZERO, |by_instants| Duration::from_ps(by_instants.end_min));
                    let delay_min = time(entry.next_min).max(by_instants);
                    ListenerBounds { delay, delay_min, skew: None, application: None, method }
                });
                // A listener that no hop reaches never sees a frame.
                let none = ListenerBounds {
                    delay: Ok(Duration::ZERO),
                    delay_min: Duration::ZERO,
                    skew: None,
                    application: None,
                    method: Method::None,
                };
                ListenerBounds { skew: self.skew(number, listener), ..each.reduce(worse).unwrap_or(none) }
            })
            .collect();
        let mut bounds = StreamBounds { listeners, hops };
        self.add_request(number, &mut bounds);
        bounds.add_receptions(self.plan.network, stream);
        bounds
    }

    /// The bounds of an entry's hop: the least of what curves say and what is known of instants.
    fn hop(&self, number: usize) -> HopBounds {
        let time = |ps: i64| Duration::from_ps(u64::try_from(ps).unwrap_or(0));
        let (entry, passage) = (&self.plan.entries[number], &self.passages[number]);
        let delay = match (passage.hop_max, passage.hop_reason) {
            (Some(most), NO_REASON) => Ok(Duration::from_ps(most)),
            (_, reason) => Err(self.why(reason, entry)),
        };
        let (delay_min, method) = (time(entry.hop_min), passage.method);
        let Some(by_instants) = self.by_instants(number) else {
            return HopBounds { delay, delay_min, method };
        };
        let delay_min = delay_min.max(Duration::from_ps(by_instants.hop_min));
        let hop = Duration::from_ps(by_instants.hop.total());
        match delay {
            Ok(delay) if delay <= hop => HopBounds { delay: Ok(delay), delay_min, method },
            _ => HopBounds { delay: Ok(hop), delay_min, method: Method::Carried(by_instants.method) },
        }
    }

    /// From the application to the last bit at the node behind an entry, greatest, and the method that says so; none without a bound.
    fn end_max(&self, number: usize) -> Option<(u64, Method)> {
        let passage = &self.passages[number];
        let by_curves = passage.next_max.filter(|_| passage.reason == NO_REASON);
        let is_by_path = self.is_by_path(number);
        let by_curves =
            by_curves.map(|end| (end, if is_by_path { Method::PathProgram } else { Method::HopByHop }));
        let by_instants = self.by_instants(number);
        let by_instants = by_instants.map(|known| (known.end, Method::Carried(known.method)));
        let by_path = self.by_path(number).map(|path| (path.end, Method::PathProgram));
        by_path.into_iter().chain(by_curves).chain(by_instants).min_by_key(|(end, _)| *end)
    }

    /// The delay of a response counts from its request's hand-over; that of one that a service carries does already.
    fn add_request(&self, number: u32, bounds: &mut StreamBounds) {
        let stream = self.plan.stream(number);
        let is_carried = self.plan.entries_of(number).any(|entry| self.plan.carried(entry).is_some());
        let Some(response) = self.plan.learned.response(number).filter(|_| !is_carried) else { return };
        let (least, most) = response.handed.since;
        let (least, most) = (Duration::from_ps(least), Duration::from_ps(most));
        for listener in &mut bounds.listeners {
            listener.delay_min += least;
            listener.delay.iter_mut().for_each(|delay| *delay += most);
        }
        let first = stream.hops.iter().zip(&mut bounds.hops).filter(|(hop, _)| hop.previous.is_none());
        for (_, hop) in first {
            hop.delay_min += least;
            hop.delay.iter_mut().for_each(|delay| *delay += most);
        }
    }

    /// The greatest delay of a stream at any of its listeners; none if one has no bound.
    pub(crate) fn delay_max(&self, number: u32) -> Option<Duration> {
        let first = self.plan.first_entry[number as usize] as usize;
        let hops = self.plan.stream(number).hops.iter().enumerate();
        let at_end = hops.filter(|(_, hop)| hop.listener.is_some());
        let mut most = 0;
        for (hop, _) in at_end {
            most = most.max(self.end_max(first + hop)?.0);
        }
        Some(Duration::from_ps(most))
    }

    fn why(&self, reason: u32, entry: &Entry) -> Unbounded {
        let overload = || Unbounded::Overload {
            port: PortIndex(entry.port),
            class: tautwire_core::TrafficClass::new(entry.class).expect("below eight"),
        };
        match self.reasons.get(reason) {
            // A stream that its host holds up promises nothing behind it.
            Some(Unbounded::NoArrivalCurve { stream, .. }) if self.plan.is_held_up(stream.0) => {
                Unbounded::Host { port: self.plan.stream(stream.0).hops[0].port }
            }
            reason => reason.unwrap_or_else(overload),
        }
    }
}

/// The worse bounds of two paths.
fn worse(one: ListenerBounds, other: ListenerBounds) -> ListenerBounds {
    let delay_min = one.delay_min.min(other.delay_min);
    let (delay, method) = match (one.delay, other.delay) {
        (Ok(delay), Ok(later)) if later > delay => (Ok(later), other.method),
        (Ok(delay), Ok(_)) => (Ok(delay), one.method),
        (Err(reason), _) | (_, Err(reason)) => (Err(reason), Method::None),
    };
    ListenerBounds { delay, delay_min, skew: None, application: None, method }
}
