//! Central admission of a network with HaRTES, resolved: where the ACMaster stands, and who asks for what.
//!
//! Every port with a cable sends control messages as frames of a stream of its own; at bridges they go by the server that
//! the description names, and by the background server if it names none. A message for another node goes on from
//! node to node. A stream that is asked for does not run, and has neither server nor policer, before it is granted.

use tautwire_units::Duration;

use crate::network::{Delay, Network, NodeIndex, PortIndex, StreamIndex};
use crate::test_growth::TestGrowth;

/// What an ACMaster tests a stream with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecidesBy {
    /// Equation 3 of the published comparison: response times, which are no bounds.
    ResponseTime,
    /// The proven bounds of all deadlines.
    Bounds,
}

/// The ACMaster, its standby, their messages and the requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HartsAdmission {
    /// The switch of the ACMaster.
    pub master: NodeIndex,
    /// That of its standby.
    pub standby: Option<NodeIndex>,
    /// What streams are tested with.
    pub decides_by: DecidesBy,
    /// After how long what is not answered is said again.
    pub patience: Duration,
    /// How often the active ACMaster says that it lives; its standby takes over after three times that.
    pub alive: Duration,
    /// What a node takes over a message.
    pub node: Delay,
    /// What a switch's master takes to relay one.
    pub relay: Delay,
    /// What it takes to set up a stream.
    pub configure: Delay,
    /// What the ACMaster takes over a message.
    pub handling: Delay,
    /// What it takes to test a stream.
    pub test: Delay,
    /// How that grows with the links of all streams that it looks at.
    pub test_growth: TestGrowth,
    /// The shared server that carries control messages at ports of bridges; none: the background server.
    pub channel: Option<u16>,
    /// Per port: the stream of its control messages.
    pub control: Vec<Option<StreamIndex>>,
    /// What is asked for.
    pub requests: Vec<AdmissionRequest>,
    /// What listeners ask for: one for each of every request, in their order.
    pub consumers: Vec<ConsumerRequest>,
}

/// A listener's part of a stream that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConsumerRequest {
    /// The stream.
    pub stream: StreamIndex,
    /// The listener.
    pub node: NodeIndex,
    /// When it asks.
    pub at: Duration,
    /// When it gives its part back.
    pub release_at: Option<Duration>,
}

/// A stream that its talker and its listeners ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdmissionRequest {
    /// The stream.
    pub stream: StreamIndex,
    /// When its talker asks.
    pub at: Duration,
    /// When the first of its listeners does.
    pub listeners_at: Duration,
    /// When its talker gives it back.
    pub release_at: Option<Duration>,
}

impl Network {
    /// With central admission: the streams with servers, and the synchronous ones, that nobody asks for in the run; none
    /// without.
    pub fn reserved_from_the_start(&self) -> impl Iterator<Item = StreamIndex> + '_ {
        let harts = self.harts.iter();
        harts.flat_map(|harts| {
            let admission = harts.admission.as_ref();
            let reserved = harts.reservations.iter().map(|reservation| reservation.stream);
            let is_polled = |stream: &StreamIndex| harts.ftt.polled(*stream).is_some();
            let reserved = reserved.filter(move |stream| !is_polled(stream));
            let polled = harts.ftt.polled.iter().map(|polled| polled.stream);
            reserved
                .chain(polled)
                .filter(move |stream| admission.is_some_and(|one| one.request(*stream).is_none()))
        })
    }
}

impl HartsAdmission {
    /// The request for a stream.
    #[must_use]
    pub fn request(&self, stream: StreamIndex) -> Option<&AdmissionRequest> {
        self.requests.iter().find(|request| request.stream == stream)
    }

    /// What the listeners of a stream ask for.
    pub fn consumers(&self, stream: StreamIndex) -> impl Iterator<Item = &ConsumerRequest> {
        self.consumers.iter().filter(move |consumer| consumer.stream == stream)
    }

    /// Whether these are control messages of a port.
    #[must_use]
    pub fn is_control(&self, stream: StreamIndex, port: PortIndex) -> bool {
        self.control.get(port.index()).copied().flatten() == Some(stream)
    }

    /// As if only some streams were there; `place` says where.
    pub(crate) fn keep(&mut self, place: &[Option<StreamIndex>]) {
        for control in &mut self.control {
            *control = control.and_then(|stream| place[stream.index()]);
        }
        self.requests.retain_mut(|request| match place[request.stream.index()] {
            Some(stream) => {
                request.stream = stream;
                true
            }
            None => false,
        });
        self.consumers.retain_mut(|consumer| match place[consumer.stream.index()] {
            Some(stream) => {
                consumer.stream = stream;
                true
            }
            None => false,
        });
    }
}
