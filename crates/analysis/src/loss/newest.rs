//! Messages that a talker's virtual link replaces by newer ones before it sends them: those that come faster than it sends.
//!
//! A link that keeps only the newest message has a place for one. A message that comes between two of its turns
//! replaces the one before; that is its purpose, so such a limit counts as intended. A sub-virtual-link that
//! overwrites has a turn once a BAG. Not here: links that a mechanism carries.

use tautwire_core::virtual_link::LinkBuffer;
use tautwire_model::network::StreamIndex;

use super::{LimitKind, Whose};
use crate::analysis::Analysis;

impl Analysis<'_> {
    /// The queue of a sub-virtual-link in its end system, or the place of its newest message.
    pub(super) fn link_queue(
        &self,
        stream: StreamIndex,
        hold: &mut impl FnMut(Whose, LimitKind, u64, Option<u64>),
    ) {
        let Some(link) = self.plan.links[stream.index()].as_ref().filter(|link| link.is_regulated()) else {
            return;
        };
        let most = link.waiting_max();
        let buffer = self.plan.stream(stream.0).virtual_link.map(|link| link.buffer);
        let (kind, limit) = match buffer {
            Some(LinkBuffer::Queueing(limit)) => (LimitKind::LinkQueue(stream), u64::from(limit)),
            Some(LinkBuffer::Overwriting) => (LimitKind::NewestMessage(stream), 1),
            None => return,
        };
        if most.is_none_or(|most| most > limit) {
            hold(Whose::Stream(stream), kind, limit, most);
        }
    }
}
