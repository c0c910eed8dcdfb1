//! Messages that a talker's time-triggered link replaces by newer ones before it sends them: those that come faster than its points.
//!
//! An application that follows network time, and whose messages all come between the same two points of their periods,
//! certainly has one at each. Not here: places behind the talker, which a schedule without faults empties in time;
//! links that keep a BAG (`../loss/newest.rs`).

use tautwire_model::network::{StreamIndex, Traffic};
use tautwire_model::time_triggered::{Release, TimeTriggered, TimeTriggeredLink};

use super::ways::point_from;
use crate::answers::begins_anew;
use crate::clock::{Deviation, slack_ps};
use crate::loss::{Limit, LimitPlace, NEWEST_MESSAGE};
use crate::plan::Plan;
use crate::virtual_link::Messages;

/// The place of the newest message of a stream; none of other streams, and if each is certainly sent.
pub(super) fn place(plan: &Plan<'_>, settings: &TimeTriggered, stream: StreamIndex) -> Option<Limit> {
    let link = plan.stream(stream.0).time_triggered.as_ref()?;
    // A link without points is never sent.
    let most = (!link.points.is_empty()).then(|| messages_a_point(plan, settings, stream, link))?;
    let limit = Limit { kind: NEWEST_MESSAGE, at: LimitPlace::Stream(stream), limit: 1, needed: most };
    most.is_none_or(|most| most > 1).then_some(limit)
}

/// Most frames that come to a talker's place between two of its points; none if there is no bound.
fn messages_a_point(
    plan: &Plan<'_>,
    settings: &TimeTriggered,
    number: StreamIndex,
    link: &TimeTriggeredLink,
) -> Option<u64> {
    let network = plan.network;
    let stream = plan.stream(number.0);
    let clock = &network.nodes[stream.talker.index()].clock;
    let entry = &plan.entries[plan.first_entry[number.index()] as usize];
    let (host_min, host_max) = (u64::try_from(entry.queue_min).unwrap_or(0), entry.own_latency.1);
    let (deviation, error) = (Deviation::of(clock), settings.precision.as_ps() + slack_ps(clock));
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
    let messages = Messages::of(network, number.0, host_max, &plan.learned)?;
    let span = deviation.stretch(link.period.as_ps()).saturating_add(error).saturating_sub(1);
    Some(messages.within(span).saturating_mul(pieces))
}
