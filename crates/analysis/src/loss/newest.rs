//! Messages that a talker's virtual link replaces by newer ones before it sends them: those that come faster than it sends.
//!
//! A link that keeps only the newest message has a place for one. A message that comes between two of its turns
//! replaces the one before; that is its purpose, so such a limit counts as intended. A sub-virtual-link that
//! overwrites has a turn once a BAG. Not here: links that a mechanism carries.

use tautwire_core::virtual_link::LinkBuffer;
use tautwire_model::network::StreamIndex;

use super::{LimitKind, LimitPlace, Whose};
use crate::analysis::Analysis;

/// Messages that wait for their turn in a virtual link.
const LINK_QUEUE: LimitKind =
    LimitKind::new("link-queue-messages", "messages", "queue of the virtual link of {place}");

/// Messages of a virtual link that keeps the newest alone. Older ones are meant to be lost.
pub const NEWEST_MESSAGE: LimitKind = LimitKind {
    is_meant: true,
    ..LimitKind::new(
        "newest-message",
        "messages",
        "virtual link of {place}, which keeps only the newest message",
    )
};

impl Analysis<'_> {
    /// The queue of a sub-virtual-link in its end system, or the place of its newest message.
    pub(super) fn link_queue(
        &self,
        stream: StreamIndex,
        hold: &mut impl FnMut(Whose, (LimitKind, LimitPlace), u64, Option<u64>),
    ) {
        let Some(link) = self.plan.links[stream.index()].as_ref().filter(|link| link.is_regulated()) else {
            return;
        };
        let most = link.waiting_max();
        let buffer = self.plan.stream(stream.0).virtual_link.map(|link| link.buffer);
        let (kind, limit) = match buffer {
            Some(LinkBuffer::Queueing(limit)) => (LINK_QUEUE, u64::from(limit)),
            Some(LinkBuffer::Overwriting) => (NEWEST_MESSAGE, 1),
            None => return,
        };
        if most.is_none_or(|most| most > limit) {
            hold(Whose::Stream(stream), (kind, LimitPlace::Stream(stream)), limit, most);
        }
    }
}
