//! The analysis in its public form: bounds per listener and hop, and reasons where there are none.

use tautwire_model::Network;
use tautwire_model::network::PortIndex;
use tautwire_units::Duration;

use crate::analysis::Analysis;
use crate::host;
use crate::passage::NO_REASON;
use crate::plan::Entry;
use crate::result::{Bounds, HopBounds, ListenerBounds, StreamBounds, Unbounded};

impl Analysis<'_> {
    /// The results in their public form.
    pub(crate) fn bounds(self) -> Bounds {
        let network = self.plan.network;
        let streams = (0..network.streams.len()).map(|stream| self.stream(network, stream)).collect();
        let mut bounds = Bounds { streams, ports: self.ports };
        host::add_receiving(network, &mut bounds);
        bounds
    }

    fn stream(&self, network: &Network, number: usize) -> StreamBounds {
        let stream = &network.streams[number];
        let first = self.plan.first_entry[number] as usize;
        let entries = first..first + stream.hops.len();
        let time = |ps: i64| Duration::from_ps(u64::try_from(ps).unwrap_or(0));
        let hops = entries
            .clone()
            .map(|entry| {
                let (entry, passage) = (&self.plan.entries[entry], &self.passages[entry]);
                let delay = match (passage.hop_max, passage.hop_reason) {
                    (Some(most), NO_REASON) => Ok(Duration::from_ps(most)),
                    (_, reason) => Err(self.told(reason, entry)),
                };
                let delay_min = time(entry.next_min - entry.here_min);
                HopBounds { delay, delay_min, method: passage.method }
            })
            .collect();
        let listeners = (0..stream.listeners.len())
            .map(|listener| {
                let hops = stream.hops.iter().enumerate();
                let at_end = hops.filter(|(_, hop)| hop.listener.is_some_and(|one| one as usize == listener));
                // Over two networks either may be the only one whose copy comes.
                let each = at_end.map(|(hop, _)| {
                    let (entry, passage) = (&self.plan.entries[first + hop], &self.passages[first + hop]);
                    let delay = match (passage.next_max, passage.reason) {
                        (Some(most), NO_REASON) => Ok(Duration::from_ps(most)),
                        (_, reason) => Err(self.told(reason, entry)),
                    };
                    ListenerBounds { delay, delay_min: time(entry.next_min), skew: None, application: None }
                });
                // A listener that no hop reaches never sees a frame.
                let none = ListenerBounds {
                    delay: Ok(Duration::ZERO),
                    delay_min: Duration::ZERO,
                    skew: None,
                    application: None,
                };
                ListenerBounds { skew: self.skew(number, listener), ..each.reduce(worse).unwrap_or(none) }
            })
            .collect();
        StreamBounds { listeners, hops }
    }

    fn told(&self, reason: u32, entry: &Entry) -> Unbounded {
        let overload = || Unbounded::Overload {
            port: PortIndex(entry.port),
            class: tautwire_core::TrafficClass::new(entry.class).expect("below eight"),
        };
        match self.reasons.get(reason as usize) {
            // A stream that its host holds up promises nothing behind it.
            Some(Unbounded::NoArrivalCurve { stream, .. })
                if self.plan.sending[stream.index()].is_some_and(|sending| sending.max.is_none()) =>
            {
                Unbounded::Host { port: self.plan.network.streams[stream.index()].hops[0].port }
            }
            reason => reason.cloned().unwrap_or_else(overload),
        }
    }
}

/// What holds of either of two ways.
fn worse(one: ListenerBounds, other: ListenerBounds) -> ListenerBounds {
    let delay_min = one.delay_min.min(other.delay_min);
    let delay = match (one.delay, other.delay) {
        (Ok(one), Ok(other)) => Ok(one.max(other)),
        (Err(reason), _) | (_, Err(reason)) => Err(reason),
    };
    ListenerBounds { delay, delay_min, skew: None, application: None }
}
