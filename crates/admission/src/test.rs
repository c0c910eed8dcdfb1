//! What an admission test is, and one that keeps nothing between decisions.

use tautwire_model::Network;
use tautwire_model::network::StreamIndex;

use crate::decision::RefusalReason;

/// Decides whether streams may run together. All tests have this form: a test without state gives only
/// [`refuse`](AdmissionTest::refuse); one that continues from the last decision also gives
/// [`begin`](AdmissionTest::begin), and must give the same decisions by both.
pub trait AdmissionTest {
    /// Why the last of `streams` must not join the others, which were admitted in this order; none if it
    /// may. Of streams that were not admitted by this test, why one of them must not join those before. It must not depend on
    /// anything but its arguments.
    fn refuse(&self, network: &Network, streams: &[StreamIndex]) -> Option<RefusalReason>;

    /// The test over a run of decisions, with nothing admitted yet.
    fn begin<'network>(self: Box<Self>, network: &'network Network) -> Box<dyn TestSession + 'network>
    where
        Self: 'network,
    {
        let _ = network;
        Box::new(Stateless { test: self, streams: Vec::new() })
    }
}

/// A test over a run of decisions, which keeps the admitted streams. `network` is always the one that it began with,
/// except that further streams may follow its own.
pub trait TestSession {
    /// A stream requests to join the admitted ones: it has joined, or the result is the reason, and nothing has changed.
    fn join(&mut self, network: &Network, stream: StreamIndex) -> Option<RefusalReason>;

    /// An admitted stream leaves.
    fn leave(&mut self, network: &Network, stream: StreamIndex);

    /// Streams that were admitted once join again, untested.
    fn rejoin(&mut self, network: &Network, streams: &[StreamIndex]);
}

/// A test that looks at all admitted streams for each decision.
struct Stateless<T: ?Sized> {
    test: Box<T>,
    /// In the order in which they were admitted.
    streams: Vec<StreamIndex>,
}

impl<T: AdmissionTest + ?Sized> TestSession for Stateless<T> {
    fn join(&mut self, network: &Network, stream: StreamIndex) -> Option<RefusalReason> {
        self.streams.push(stream);
        let reason = self.test.refuse(network, &self.streams);
        if reason.is_some() {
            self.streams.pop();
        }
        reason
    }

    fn leave(&mut self, _network: &Network, stream: StreamIndex) {
        self.streams.retain(|one| *one != stream);
    }

    fn rejoin(&mut self, _network: &Network, streams: &[StreamIndex]) {
        self.streams.extend(streams);
    }
}
