//! Observations that a bound excludes.
//!
//! Compared are the delays end to end (greatest and least), the greatest delay at each hop, backlog and credit of each
//! class of each port, the precision of network time, and the time of admissions.

use std::fmt;

use tautwire_analysis::Bounds;
use tautwire_core::TrafficClass;
use tautwire_model::network::{Network, PortIndex, StreamIndex};
use tautwire_sim::Observation;

use crate::admission::bounds;
use crate::name;
use crate::table::microseconds;
use crate::verdict::observed_delay;

/// An observation that a bound excludes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// Where.
    pub place: Place,
    /// The quantity.
    pub quantity: Quantity,
    /// What was seen, in the quantity's unit.
    pub observed: i64,
    /// What the bound allows.
    pub bound: i64,
    /// The same for people, with names.
    pub text: String,
}

/// Where a contradiction was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Of a stream, end to end: index of its listeners.
    Listener(StreamIndex, usize),
    /// Of a stream at the application behind a listener's protocol stack: index of its listeners.
    Application(StreamIndex, usize),
    /// Of a stream at a hop: index of its hops.
    Hop(StreamIndex, usize),
    /// At a class of an egress port.
    Class(PortIndex, TrafficClass),
    /// Between the clocks of the network.
    Clocks,
    /// In the admission of a stream.
    Admission(StreamIndex),
    /// Where the standby of a TDMA network takes over.
    Takeover,
}

/// The quantity of a bound, and its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Greatest delay, ps.
    DelayMax,
    /// Least delay, ps.
    DelayMin,
    /// Precision of the network time, ps.
    Precision,
    /// Time that an admission took, ps.
    AdmissionTime,
    /// From the last cycle that the master opened to the first of the standby, ps.
    Silence,
    /// Backlog, bits.
    Backlog,
    /// Greatest credit, bits.
    HiCredit,
    /// Least credit, bits.
    LoCredit,
}

impl Quantity {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::DelayMax => "greatest delay",
            Self::DelayMin => "least delay",
            Self::Precision => "precision",
            Self::AdmissionTime => "time of the admission",
            Self::Silence => "time without a cycle",
            Self::Backlog => "backlog",
            Self::HiCredit => "hiCredit",
            Self::LoCredit => "loCredit",
        }
    }

    /// `value` with its unit.
    fn with_unit(self, value: i64) -> String {
        match self {
            Self::DelayMax | Self::DelayMin | Self::Precision | Self::AdmissionTime | Self::Silence => {
                format!("{} us", microseconds(value.into()))
            }
            Self::Backlog | Self::HiCredit | Self::LoCredit => format!("{value} bit"),
        }
    }

    /// Whether the bound excludes the observation.
    const fn excludes(self, observed: i64, bound: i64) -> bool {
        match self {
            Self::DelayMax
            | Self::Precision
            | Self::AdmissionTime
            | Self::Silence
            | Self::Backlog
            | Self::HiCredit => observed > bound,
            Self::DelayMin | Self::LoCredit => observed < bound,
        }
    }
}

impl Contradiction {
    /// Whether it determines the verdict of this stream's listener (index of the stream's listeners). One at a hop
    /// counts for all listeners of the stream.
    #[must_use]
    pub fn is_of(&self, stream: StreamIndex, listener: usize) -> bool {
        match self.place {
            Place::Listener(of, index) | Place::Application(of, index) => of == stream && index == listener,
            Place::Hop(of, _) => of == stream,
            Place::Class(..) | Place::Clocks | Place::Admission(_) | Place::Takeover => false,
        }
    }
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// All contradictions, in the network's order.
///
/// # Panics
/// If `bounds` or `observation` are not those of `network`.
#[must_use]
pub fn find(network: &Network, bounds: &Bounds, observation: &Observation) -> Vec<Contradiction> {
    let mut found = Found { network, list: Vec::new() };
    for index in 0..network.streams.len() {
        find_in_stream(&mut found, index, bounds, observation);
    }
    if let Some(seen) = &observation.network_time {
        let stated = network.time_triggered.map(|settings| settings.precision);
        for (cluster, apart) in (0..).zip(&seen.clusters) {
            let bound = match network.as6802 {
                Some(_) => tautwire_analysis::proven_precision(network, bounds, cluster),
                None => stated,
            };
            let bound = bound.map(|bound| to_i64(bound.as_ps()));
            found.hold(Place::Clocks, Quantity::Precision, Some(to_i64(apart.as_ps())), bound);
        }
    }
    let admissions = tautwire_analysis::admission_bounds(network, bounds);
    for taken in bounds::taken(network, &admissions, observation) {
        let (seen, bound) = (to_i64(taken.observed.as_ps()), to_i64(taken.bound.as_ps()));
        found.hold(Place::Admission(taken.stream), Quantity::AdmissionTime, Some(seen), Some(bound));
    }
    if let Some(seen) = observation.takeover {
        let proven = tautwire_analysis::takeover(network).and_then(|takeover| takeover.silence.ok());
        let bound = proven.map(|most| to_i64(most.as_ps()));
        found.hold(Place::Takeover, Quantity::Silence, Some(to_i64(seen.as_ps())), bound);
    }
    for (index, (bounds, observed)) in bounds.ports.iter().zip(&observation.ports).enumerate() {
        for class in TrafficClass::all() {
            let (bound, seen) = (&bounds[class.index()], &observed.classes[class.index()]);
            let place = Place::Class(PortIndex::at(index), class);
            let backlog = to_i64(seen.backlog_octets_max.bits().get());
            found.hold(place, Quantity::Backlog, Some(backlog), bound.backlog.map(|bits| to_i64(bits.get())));
            found.hold(place, Quantity::HiCredit, Some(seen.hi_credit_bits), bound.hi_credit_bits);
            found.hold(place, Quantity::LoCredit, Some(seen.lo_credit_bits), bound.lo_credit_bits);
        }
    }
    found.list
}

fn find_in_stream(found: &mut Found<'_>, index: usize, bounds: &Bounds, observation: &Observation) {
    let (bounds, observed) = (&bounds.streams[index], &observation.streams[index]);
    let stream = StreamIndex::at(index);
    for (listener, (bound, seen)) in bounds.listeners.iter().zip(&observed.listeners).enumerate() {
        let place = Place::Listener(stream, listener);
        let max = observed_delay(seen).map(|delay| to_i64(delay.max.as_ps()));
        let bound_max = bound.delay.as_ref().ok().map(|bound| to_i64(bound.as_ps()));
        found.hold(place, Quantity::DelayMax, max, bound_max);
        let min = seen.delay.min().map(|delay| to_i64(delay.as_ps()));
        found.hold(place, Quantity::DelayMin, min, Some(to_i64(bound.delay_min.as_ps())));
        if let (Some((least, most)), Some(seen)) = (&bound.application, &seen.application) {
            let place = Place::Application(stream, listener);
            let bound_max = most.as_ref().ok().map(|bound| to_i64(bound.as_ps()));
            let max = (seen.received > 0).then(|| to_i64(seen.max.as_ps()));
            found.hold(place, Quantity::DelayMax, max, bound_max);
            let min = seen.delay.min().map(|delay| to_i64(delay.as_ps()));
            found.hold(place, Quantity::DelayMin, min, Some(to_i64(least.as_ps())));
        }
    }
    for (hop, (bound, seen)) in bounds.hops.iter().zip(&observed.hops).enumerate() {
        let bound_max = bound.delay.as_ref().ok().map(|bound| to_i64(bound.as_ps()));
        let max = (seen.frames > 0).then(|| to_i64(seen.max.as_ps()));
        found.hold(Place::Hop(stream, hop), Quantity::DelayMax, max, bound_max);
    }
}

struct Found<'a> {
    network: &'a Network,
    list: Vec<Contradiction>,
}

impl Found<'_> {
    fn hold(&mut self, place: Place, quantity: Quantity, observed: Option<i64>, bound: Option<i64>) {
        let (Some(observed), Some(bound)) = (observed, bound) else { return };
        if quantity.excludes(observed, bound) {
            let text = format!(
                "{}: {} observed {}, bound {}",
                self.place_name(place),
                quantity.name(),
                quantity.with_unit(observed),
                quantity.with_unit(bound)
            );
            self.list.push(Contradiction { place, quantity, observed, bound, text });
        }
    }

    fn place_name(&self, place: Place) -> String {
        match place {
            Place::Listener(stream, listener) => {
                let stream = &self.network.streams[stream.index()];
                format!("{} at {}", stream.name, name::node(self.network, stream.listeners[listener]))
            }
            Place::Application(stream, listener) => {
                let stream = &self.network.streams[stream.index()];
                let node = name::node(self.network, stream.listeners[listener]);
                format!("{} at the application of {node}", stream.name)
            }
            Place::Hop(stream, hop) => {
                let stream = &self.network.streams[stream.index()];
                format!("{} at port {}", stream.name, name::port(self.network, stream.hops[hop].port))
            }
            Place::Clocks => "network time".to_owned(),
            Place::Takeover => "takeover by the standby".to_owned(),
            Place::Admission(stream) => {
                format!("admission of {}", self.network.streams[stream.index()].name)
            }
            Place::Class(port, class) => format!("class {class} of port {}", name::port(self.network, port)),
        }
    }
}

/// Bits and picoseconds of a run are below 2⁶³; a bound above it excludes nothing.
fn to_i64(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use tautwire_sim::ApplicationObservation;
    use tautwire_units::{Bits, Bytes, Duration};

    type Change<'a> = dyn Fn(&mut Bounds, &mut Observation) + 'a;

    #[test]
    fn every_quantity_is_held_against_its_bound() {
        let (network, bounds, observation) = fixture::line();
        assert_eq!(find(&network, &bounds, &observation), []);
        let port = network.streams[0].hops[1].port.index();
        let class = network.streams[0].hops[1].class.index();
        let cases: [(Quantity, &Change<'_>); 6] = [
            (Quantity::DelayMax, &|b, o| {
                b.streams[0].listeners[0].application = Some((Duration::ZERO, Ok(Duration::from_us(1))));
                let seen =
                    ApplicationObservation { received: 1, max: Duration::from_us(2), ..Default::default() };
                o.streams[0].listeners[0].application = Some(Box::new(seen));
            }),
            (Quantity::DelayMax, &|_, o| o.streams[0].hops[1].max = Duration::from_s(1)),
            (Quantity::DelayMin, &|b, _| b.streams[0].listeners[0].delay_min = Duration::from_us(90)),
            (Quantity::Backlog, &|b, o| {
                b.ports[port][class].backlog = Some(Bits::new(799));
                o.ports[port].classes[class].backlog_octets_max = Bytes::new(100);
            }),
            (Quantity::HiCredit, &|b, o| {
                b.ports[port][class].hi_credit_bits = Some(500);
                o.ports[port].classes[class].hi_credit_bits = 501;
            }),
            (Quantity::LoCredit, &|b, o| {
                b.ports[port][class].lo_credit_bits = Some(-500);
                o.ports[port].classes[class].lo_credit_bits = -501;
            }),
        ];
        for (quantity, change) in cases {
            let (mut bounds, mut observation) = (bounds.clone(), observation.clone());
            change(&mut bounds, &mut observation);
            let found = find(&network, &bounds, &observation);
            assert_eq!(found.iter().map(|c| c.quantity).collect::<Vec<_>>(), [quantity], "{found:?}");
            assert!(found[0].text.contains("observed"), "{}", found[0]);
        }
    }
}
