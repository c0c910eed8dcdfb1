//! Which frames a bridge sends while it still receives them.

use tautwire_units::{BitRate, Bytes};

use super::{CutThroughFrames, Hop, Network, Stream, Switching, TransmissionSelection};

impl Network {
    /// Octets of a frame that must be received before it is forwarded at a hop of its stream; none if the hop stores the full frame.
    ///
    /// # Panics
    /// If the stream has no such hop.
    #[must_use]
    pub fn cut_through(&self, stream: &Stream, hop: usize) -> Option<Bytes> {
        let this = &stream.hops[hop];
        let port = &self.ports[this.port.index()];
        let Switching::CutThrough { header, frames } = self.device(port.node)?.switching else { return None };
        let before = &stream.hops[this.previous? as usize];
        let selection = port.classes[this.class.index()].selection;
        let may = match frames {
            CutThroughFrames::All => selection != TransmissionSelection::Ats,
            CutThroughFrames::StrictPriorityToOnePort => {
                let copies = stream.hops.iter().filter(|other| other.previous == this.previous).count();
                selection == TransmissionSelection::StrictPriority && copies == 1
            }
        };
        (may && self.rate_behind(before) == self.rate_behind(this)).then_some(header)
    }

    fn rate_behind(&self, hop: &Hop) -> BitRate {
        let links = self.ports[hop.port.index()].links.expect("a hop's port is connected");
        self.links[links.egress.index()].rate
    }
}
