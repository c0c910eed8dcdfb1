//! Stream identification in a run (IEEE Std 802.1CB-2017, clause 6): of which stream a node takes the frames that come over a hop, by their octets.
//!
//! The functions are `core`'s. All frames of a hop match the same one, so each hop is looked at once, when a run begins.

use tautwire_core::identification::{Header, StreamIdentification, identify};
use tautwire_model::Network;
use tautwire_model::network::{Hop, Identity, Layer, SeenFrames, StreamIndex};

/// What any frame matches.
const ANY: StreamIdentification = StreamIdentification::MaskAndMatch {
    destination: ([0; 6], [0; 6]),
    source: ([0; 6], [0; 6]),
    data: Vec::new(),
};

/// The stream handle of frames of a stream that come over a hop; none: no function identifies them.
pub(crate) fn handle(network: &Network, number: StreamIndex, hop: &Hop, layer: Layer) -> Option<StreamIndex> {
    let (node, port) = network.far_end(hop);
    let Some(list) = network.identities(port, layer) else { return Some(number) };
    let seen = SeenFrames::new(&network.streams[number.index()], hop, node, layer);
    let header = Header::read(seen.frames().last()?)?;
    // A stream without a function is identified by itself.
    let rows: Vec<&Identity> =
        list.iter().filter(|row| row.function.is_some() || row.stream == number).collect();
    let functions: Vec<StreamIdentification> =
        rows.iter().map(|row| row.function.clone().unwrap_or(ANY)).collect();
    identify(&functions, &header).map(|row| rows[row].stream)
}
