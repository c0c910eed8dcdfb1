//! The service of a mechanism that serves ports in its own way: two traits, and their types.
//!
//! The flow of bounds (`analysis.rs`) knows two things of a mechanism: the frames that it *carries* ([`Carried`], of a
//! stream at a port) and the time of a port's line that it takes from the classes that it does not carry ([`Served`]).
//! Where no service carries a stream, its class does by its transmission selection (`port.rs`). Invariants: a carried
//! passage depends on no passage of the flow, so it is known before the first port is evaluated; a hop's bound is the
//! sum of its terms, and all figures of an explanation are such terms. Not here: the list of mechanisms
//! (`services.rs`), their proofs.

use core::fmt::Debug;

use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, Stream, StreamIndex};
use tautwire_units::Duration;

use crate::analysis::Analysis;
use crate::curve::Curve;
use crate::explain::Part;
use crate::host_stacks::{Handed, Sending};
use crate::loss::{Overflow, StatedFailure};
use crate::passage::{Brought, NO_REASON, Passage};
use crate::plan::Plan;
use crate::precedence::Precedence;
use crate::reasons::Reasons;
use crate::result::{Bounds, ClassBounds, HopBounds, ListenerBounds, Method, StreamBounds};
use crate::unbounded::Unbounded;
use crate::windows::Windows;

/// A mechanism that may serve ports of a network.
pub(crate) trait ServiceKind: Sync {
    /// Why every step of a session analyses a network with this service completely; none where it does not serve.
    fn why_not_stepwise(&self, network: &Network) -> Option<&'static str>;

    /// Whether it settles itself how responses come and what hosts do that serve both ways.
    fn settles_answers(&self, _network: &Network) -> bool {
        false
    }

    /// What its service must not rest on, by numbers of its own: these bounds do not bear it. They come back as
    /// `Learned::doubted` of the plan.
    fn doubts(&self, _network: &Network, _bounds: &Bounds) -> Vec<u16> {
        Vec::new()
    }

    /// Nodes that stated failures silence, although their frames do not pass any of these; `misses` is true if frames
    /// of a stream may be lost on their path to a node, and false for a node that is no listener.
    fn silences(&self, _network: &Network, _misses: Misses<'_>) -> Vec<Silence> {
        Vec::new()
    }

    /// Its service in one analysis; none where it does not serve. The plan has all streams, and no passage yet.
    fn serve<'network>(&self, plan: &Plan<'network>) -> Option<Box<dyn Service + 'network>>;
}

/// Whether frames of a stream may be lost on their way to a node; none if it is no listener.
pub(crate) type Misses<'a> = &'a dyn Fn(StreamIndex, NodeIndex) -> Option<bool>;

/// A node that sends nothing of some streams while what its service rests on does not come.
pub(crate) struct Silence {
    pub(crate) failure: StatedFailure,
    pub(crate) node: NodeIndex,
    /// Whether it takes frames that pass the node; else those that it makes.
    pub(crate) on_way: bool,
    /// The streams that it takes.
    pub(crate) takes: fn(&Stream) -> bool,
}

/// The service of a mechanism in one analysis.
pub(crate) trait Service: Debug + Send + Sync {
    /// The frames that it carries, by the number of the entry.
    fn carries(&self, plan: &Plan<'_>) -> Vec<(u32, Carried)>;

    /// Its effect on a port.
    fn port(&self, plan: &Plan<'_>, port: u32) -> Option<Served>;

    /// What hosts do to streams, where it proves that itself; limits of hosts are its own then, too.
    fn hosts(&self) -> Option<Hosts> {
        None
    }

    /// Bounds of streams at ports by the instants of their frames, once all ports are analysed by curves; by the number of the entry.
    fn by_instants(&self, _analysis: &Analysis<'_>) -> Vec<(u32, ByInstants)> {
        Vec::new()
    }

    /// Notes on a stream, for its explanation.
    fn notes(&self, _analysis: &Analysis<'_>, _stream: u32) -> Vec<String> {
        Vec::new()
    }

    /// Limits of what it carries that may be too small.
    fn overflows(&self, plan: &Plan<'_>, found: &mut Vec<Overflow>);

    /// The words of an entry that it carries.
    fn words(&self, plan: &Plan<'_>, entry: u32) -> Words;
}

/// A stream at a port whose frames a mechanism carries. Times are true ones: least rounded down, greatest up.
#[derive(Clone, Debug)]
pub(crate) struct Carried {
    /// From the last bit here (the application, at the talker) to the last bit at the next node.
    pub(crate) hop_min: u64,
    pub(crate) hop: Result<Terms, Unbounded>,
    /// From the application to the last bit at the next node.
    pub(crate) end_min: u64,
    pub(crate) end: Result<u64, Unbounded>,
    pub(crate) method: Method,
}

/// A stream at a port whose frames come at known instants. The same times as of what is carried; the least of these and of what curves say holds.
#[derive(Clone, Debug)]
pub(crate) struct ByInstants {
    pub(crate) hop_min: u64,
    pub(crate) hop: Terms,
    pub(crate) end_min: u64,
    pub(crate) end: u64,
    /// Most frames of it in its queue at once.
    pub(crate) waiting: u64,
    /// Its name in results; the formula of its bound, and where that is from.
    pub(crate) method: &'static str,
    pub(crate) formula: &'static str,
    pub(crate) source: &'static str,
}

/// Times that add up to a bound, in the order in which a frame meets them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Terms(Vec<(&'static str, u64)>);

/// The effects of services on a port.
#[derive(Clone, Debug, Default)]
pub(crate) struct Served {
    /// Classes whose frames are carried, and their bounds.
    pub(crate) carried: [Option<ClassBounds>; 8],
    /// What each class cannot use of the line, in bits of it, on the node's clock: it goes before the class. With a name for it.
    pub(crate) taken: Vec<(&'static str, [Curve; 8])>,
    /// When its classes may send, if that is not always.
    pub(crate) windows: Option<Box<Windows>>,
    /// Which classes go before which, if that is not the higher class.
    pub(crate) precedence: Option<Box<Precedence>>,
    /// Why its classes have no bound, whatever comes.
    pub(crate) unbounded: Option<Unbounded>,
}

/// The delays of hosts.
#[derive(Debug, Default)]
pub(crate) struct Hosts {
    /// Per stream, from its application to its port, of a talker with protocol stacks.
    pub(crate) sending: Vec<Option<Sending>>,
    /// Per stream: a response as its application hands it over.
    pub(crate) responses: Vec<Option<Handed>>,
}

/// Facts about a hop in addition to its times.
#[derive(Debug)]
pub(crate) struct Words {
    /// The formula of its bound, in words of the field, and where that is from.
    pub(crate) formula: &'static str,
    pub(crate) source: &'static str,
    /// Streams that wait with it.
    pub(crate) same: Vec<Part>,
}

impl Terms {
    /// A single term.
    pub(crate) fn of(name: &'static str, ps: u64) -> Self {
        Self(vec![(name, ps)])
    }

    /// And this.
    pub(crate) fn and(mut self, name: &'static str, ps: u64) -> Self {
        self.0.push((name, ps));
        self
    }

    /// And these.
    pub(crate) fn then(mut self, more: &Self) -> Self {
        self.0.extend_from_slice(&more.0);
        self
    }

    /// The bound.
    pub(crate) fn total(&self) -> u64 {
        self.0.iter().fold(0, |sum, (_, ps)| sum.saturating_add(*ps))
    }

    /// Those that are not zero.
    pub(crate) fn nonzero(&self) -> Vec<(&'static str, Duration)> {
        let mut left = self.total();
        let clipped = self.0.iter().map(|(name, ps)| {
            let ps = left.min(*ps);
            left -= ps;
            (*name, Duration::from_ps(ps))
        });
        clipped.filter(|(_, time)| !time.is_zero()).collect()
    }
}

impl Served {
    /// Whose service carries all that leaves the port; `classes` are those of what does.
    pub(crate) fn all_carried(classes: [ClassBounds; 8]) -> Self {
        Self { carried: classes.map(Some), ..Self::default() }
    }

    /// With what another service means to the port.
    pub(crate) fn and(mut self, other: Self) -> Self {
        for (known, more) in self.carried.iter_mut().zip(other.carried) {
            *known = known.take().or(more);
        }
        self.taken.extend(other.taken);
        self.windows = self.windows.or(other.windows);
        self.precedence = self.precedence.or(other.precedence);
        self.unbounded = self.unbounded.or(other.unbounded);
        self
    }

    /// All that a class cannot use.
    pub(crate) fn taken_of(&self, class: usize) -> Curve {
        self.taken.iter().fold(Curve::zero(), |sum, (_, taken)| sum.plus(&taken[class]))
    }
}

impl Carried {
    /// As a passage of the flow.
    pub(crate) fn passage(&self, reasons: &Reasons) -> Passage {
        let number =
            |reason: Option<&Unbounded>| reason.map_or(NO_REASON, |reason| reasons.number(reason.clone()));
        let (end, hop) = (self.end.as_ref().ok().copied(), self.hop.as_ref().ok().map(Terms::total));
        Passage {
            ready_max: end,
            start_max: end,
            next_max: end,
            spread_max: None,
            hop_max: hop,
            sending_max: hop,
            queued: Brought::default(),
            shaped: None,
            reason: number(self.end.as_ref().err()),
            hop_reason: number(self.hop.as_ref().err()),
            method: self.method,
        }
    }
}

/// The bounds of a stream that is carried all its way, hop by hop.
pub(crate) fn bounds_of(network: &Network, stream: &Stream, hops: &[Carried]) -> StreamBounds {
    let listener = |listener: usize| {
        let is_last =
            |hop: &tautwire_model::network::Hop| hop.listener.is_some_and(|at| at as usize == listener);
        let last = stream.hops.iter().position(is_last).map(|place| &hops[place]);
        let delay = last.map_or(Ok(0), |last| last.end.clone()).map(Duration::from_ps);
        let delay_min = Duration::from_ps(last.map_or(0, |last| last.end_min));
        let method = if delay.is_ok() { Method::HopByHop } else { Method::None };
        ListenerBounds { delay, delay_min, skew: None, application: None, method }
    };
    let hop = |hop: &Carried| HopBounds {
        delay: hop.hop.as_ref().map(|terms| Duration::from_ps(terms.total())).map_err(Clone::clone),
        delay_min: Duration::from_ps(hop.hop_min),
        method: hop.method,
    };
    let listeners = (0..stream.listeners.len()).map(listener).collect();
    let mut bounds = StreamBounds { listeners, hops: hops.iter().map(hop).collect() };
    bounds.add_receptions(network, stream);
    bounds
}
