//! Central admission of a network with HaRTES, resolved: the nodes of the ACMasters, and the requests.
//!
//! Every port with a cable sends control messages as frames of a stream of its own; at bridges they use the server
//! that the description names, or else the background server. A node forwards a message for another node. A stream
//! that is requested during the run does not run, and has neither server nor policer, before its grant.

use tautwire_units::Duration;

use crate::network::{Delay, Network, NodeIndex, PortIndex, StreamIndex};
use crate::test_growth::TestGrowth;

/// The test of an ACMaster.
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
    /// The test of streams.
    pub decides_by: DecidesBy,
    /// The time after which an unanswered message is repeated.
    pub patience: Duration,
    /// The interval of the active ACMaster's keep-alive messages; its standby takes over after three intervals without one.
    pub alive: Duration,
    /// Processing time of a node for a message.
    pub node: Delay,
    /// Time of a switch's master to relay one.
    pub relay: Delay,
    /// Its time to set up a stream.
    pub configure: Delay,
    /// Processing time of the ACMaster for a message.
    pub handling: Delay,
    /// Its time to test a stream.
    pub test: Delay,
    /// How that grows with the links of all streams that it looks at.
    pub test_growth: TestGrowth,
    /// The shared server that carries control messages at ports of bridges; none: the background server.
    pub channel: Option<u16>,
    /// Per port: the stream of its control messages.
    pub control: Vec<Option<StreamIndex>>,
    /// The requests.
    pub requests: Vec<AdmissionRequest>,
    /// The listeners' requests: one for each listener of every request, in their order.
    pub consumers: Vec<ConsumerRequest>,
}

/// A listener's part of a requested stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConsumerRequest {
    /// The stream.
    pub stream: StreamIndex,
    /// The listener.
    pub node: NodeIndex,
    /// When it sends its request.
    pub at: Duration,
    /// When it releases its part.
    pub release_at: Option<Duration>,
}

/// A stream that its talker and its listeners request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdmissionRequest {
    /// The stream.
    pub stream: StreamIndex,
    /// When its talker sends its request.
    pub at: Duration,
    /// When the first of its listeners does.
    pub listeners_at: Duration,
    /// When its talker gives it back.
    pub release_at: Option<Duration>,
}

impl Network {
    /// With central admission: the streams with servers, and the synchronous ones, that no node requests during the run; none without.
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

    /// The requests of a stream's listeners.
    pub fn consumers(&self, stream: StreamIndex) -> impl Iterator<Item = &ConsumerRequest> {
        self.consumers.iter().filter(move |consumer| consumer.stream == stream)
    }

    /// Whether these are control messages of a port.
    #[must_use]
    pub fn is_control(&self, stream: StreamIndex, port: PortIndex) -> bool {
        self.control.get(port.index()).copied().flatten() == Some(stream)
    }

    /// As if only some streams were there; `place` gives their new indices.
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
