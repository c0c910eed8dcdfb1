//! Messages that a talker's virtual link replaces by newer ones before it sends them: those that come faster than it sends.
//!
//! A link that keeps the newest message alone has a place for one. What comes between two of its turns takes the place of what came
//! before; that is what it is there for, so such a limit is meant. A sub-virtual-link that overwrites has a turn once a BAG, a
//! time-triggered link one each period of network time. An application that follows network time, and whose messages all come
//! between the same two points of their periods, is sure to have one at each. Not here: places behind the talker, which a schedule
//! without faults empties in time.

use tautwire_core::virtual_link::LinkBuffer;
use tautwire_model::network::{StreamIndex, Traffic};
use tautwire_model::time_triggered::{Release, TimeTriggeredLink};

use super::{Limit, LimitKind, Whose};
use crate::analysis::Analysis;
use crate::answers::begins_anew;
use crate::clock::{Deviation, slack_ps};
use crate::time_triggered::point_from;
use crate::virtual_link::Messages;

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

    /// The place of the newest message of a time-triggered link; none if each is sure to be sent.
    pub(super) fn timed_place(&self, stream: StreamIndex) -> Option<Limit> {
        let link = self.plan.stream(stream.0).time_triggered.as_ref()?;
        // What has no points is never sent.
        let most = (!link.points.is_empty()).then(|| self.messages_a_point(stream, link))?;
        let limit = Limit { kind: LimitKind::NewestMessage(stream), limit: 1, needed: most };
        most.is_none_or(|most| most > 1).then_some(limit)
    }

    /// Most frames that come to a talker's place between two of its points; none if there is no bound.
    fn messages_a_point(&self, number: StreamIndex, link: &TimeTriggeredLink) -> Option<u64> {
        let network = self.plan.network;
        let stream = self.plan.stream(number.0);
        let clock = &network.nodes[stream.talker.index()].clock;
        let entry = &self.plan.entries[self.plan.first_entry[number.index()] as usize];
        let (host_min, host_max) = (u64::try_from(entry.queue_min).unwrap_or(0), entry.own_latency.1);
        let precision = network.time_triggered.as_ref()?.precision.as_ps();
        let (deviation, error) = (Deviation::of(clock), precision + slack_ps(clock));
        let pieces = u64::from(network.frames_a_message(number));
        if let Traffic::Periodic { interval, offset, jitter, burst, drawn: false } = &stream.traffic
            && link.release == Release::Locked
            && !begins_anew(network, number)
        {
            let (interval, period) = (interval.as_ps(), link.period.as_ps());
            let earliest = (offset.as_ps() + host_min).saturating_sub(error);
            let latest = offset.as_ps() + jitter.as_ps() + deviation.stretch(host_max) + error;
            let one = interval % period == 0 && point_from(link, earliest) == point_from(link, latest + 1);
            let most = match one {
                true => 1,
                false => (period - 1).saturating_add(latest - earliest) / interval + 1,
            };
            return Some(most.saturating_mul(u64::from(*burst)).saturating_mul(pieces));
        }
        let messages = Messages::of(network, number.0, host_max, &self.plan.learned)?;
        let span = deviation.stretch(link.period.as_ps()).saturating_add(error).saturating_sub(1);
        Some(messages.within(span).saturating_mul(pieces))
    }
}
