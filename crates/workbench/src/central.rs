//! A CNC that tests bounds, in a run: a session of bounds that knows which reserved streams are admitted.

use tautwire_analysis::Session;
use tautwire_model::Network;
use tautwire_model::central::CentralTest;
use tautwire_model::network::{StreamIndex, Traffic};
use tautwire_sim::{AdmissionControl, Options};

/// Gives a run what its CNC tests with, if it tests bounds.
pub(crate) fn give_admission(network: &Network, options: &mut Options<'_>) {
    let central = network.reservation.as_ref().and_then(|reservation| reservation.central.as_ref());
    if central.is_some_and(|central| central.test == CentralTest::Bounds) && options.admission.is_none() {
        options.admission = Some(Box::new(Bounded::new(network.clone())));
    }
}

/// Which reserved streams are admitted, as a network of which the session is made anew for every decision.
struct Bounded {
    network: Network,
    admitted: Vec<StreamIndex>,
    /// Streams that run whatever is reserved.
    always: Vec<StreamIndex>,
}

impl Bounded {
    fn new(network: Network) -> Self {
        let reserved = &network.reservation.as_ref().expect("stream reservation").streams;
        let reserved: Vec<StreamIndex> = reserved.iter().map(|reserved| reserved.stream).collect();
        let always = (0..network.streams.len()).map(StreamIndex::at);
        let always = always.filter(|stream| !reserved.contains(stream)).collect();
        Self { network, admitted: Vec::new(), always }
    }

    /// Whether all deadlines hold; a stream without one must be bounded.
    fn holds(&self) -> bool {
        let mut session = Session::new(&self.network);
        let all: Vec<StreamIndex> = self.always.iter().chain(&self.admitted).copied().collect();
        session.start_all(&all);
        all.iter().all(|index| {
            let stream = &self.network.streams[index.index()];
            let most = session.delay_max(*index);
            match stream.deadline {
                Some(deadline) => most.is_some_and(|most| most <= deadline),
                // Frames of protocols are what the standard says, not what is admitted.
                None => most.is_some() || stream.traffic == Traffic::Protocol,
            }
        })
    }
}

impl AdmissionControl for Bounded {
    fn admit(&mut self, stream: StreamIndex) -> bool {
        self.admitted.push(stream);
        let holds = self.holds();
        if !holds {
            self.admitted.pop();
        }
        holds
    }

    fn release(&mut self, stream: StreamIndex) {
        self.admitted.retain(|admitted| *admitted != stream);
    }
}
