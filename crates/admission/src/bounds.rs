//! The test by proven bounds: admitted is what leaves every deadline proven, its own and the others'.

use tautwire_analysis::bounds;
use tautwire_model::Network;
use tautwire_model::network::StreamIndex;
use tautwire_report::unbounded_text;

use crate::controller::AdmissionTest;
use crate::decision::RefusalReason;

/// End-to-end bounds of the network with the admitted streams and the new one, held against all
/// deadlines (the bounds are those of `tautwire bounds`). A stream without a deadline asks for
/// nothing, and is admitted if it takes no one's bound away.
#[derive(Clone, Copy, Debug, Default)]
pub struct EndToEndBounds;

impl AdmissionTest for EndToEndBounds {
    fn refuse(&self, network: &Network, streams: &[StreamIndex]) -> Option<RefusalReason> {
        let network = network.with_only(streams);
        let bounds = bounds(&network);
        for (stream, proven) in network.streams.iter().zip(&bounds.streams) {
            let Some(deadline) = stream.deadline else { continue };
            for (listener, proven) in stream.listeners.iter().zip(&proven.listeners) {
                let (name, listener) = (stream.name.clone(), network.nodes[listener.index()].name.clone());
                match &proven.delay {
                    Ok(bound) if *bound <= deadline => {}
                    Ok(bound) => {
                        let (deadline_ps, bound_ps) = (deadline.as_ps(), bound.as_ps());
                        return Some(RefusalReason::Deadline {
                            stream: name,
                            listener,
                            deadline_ps,
                            bound_ps,
                        });
                    }
                    Err(why) => {
                        let why = unbounded_text(&network, why);
                        return Some(RefusalReason::Unbounded { stream: name, listener, why });
                    }
                }
            }
        }
        None
    }
}
