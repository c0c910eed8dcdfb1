//! Events of streams that are requested during the run: the timeline must not bypass their grant.
//!
//! A stream with a `reservation`, or under `requests` of HaRTES, sends from its grant until its release. An event that
//! starts it would send without a grant. An event that stops it ends its application alone: its reservation stays, and
//! a new grant starts it again.

use tautwire_units::{BitRate, Bytes, Duration};

use crate::frame::wire_bits;
use crate::harts::Harts;
use crate::network::{StreamIndex, TimelineAction, Traffic};
use crate::resolve::events::Event;
use crate::resolve::streams::Streams;
use crate::srp::StreamReservation;
use crate::text::codes;
use crate::text::faults::Faults;

/// Reports events that start a stream which is granted during the run, or make it send more than is reserved.
pub(crate) fn check(
    events: &[Event],
    streams: &Streams<'_, '_>,
    reservation: Option<&StreamReservation>,
    harts: Option<&Harts>,
    faults: &mut Faults,
) {
    for event in events {
        let (number, fault) = match &event.timeline.action {
            TimelineAction::StartStream(number) => (*number, start(*number, reservation, harts)),
            TimelineAction::ChangeTraffic(number, traffic, curve) => {
                let polled = harts.is_some_and(|harts| harts.ftt.polled(*number).is_some());
                let rate = curve.map(|curve| curve.rate);
                let fault = if polled == (*traffic == Traffic::Polled) {
                    beyond(*number, rate, streams, reservation, harts)
                } else if polled {
                    Some((
                        "is polled, and the new traffic would send without a poll".to_owned(),
                        "keep its traffic `polled`",
                    ))
                } else {
                    Some((
                        "would have polled traffic, and no switch polls it".to_owned(),
                        "give it another type of traffic",
                    ))
                };
                (*number, fault)
            }
            _ => continue,
        };
        if let Some((what, help)) = fault {
            let message = format!("`{}` {what}", streams.list[number.index()].stream.name);
            faults.error(codes::EVENT, event.place, message, help);
        }
    }
}

/// What is wrong, behind the stream's name, and what would be right.
type Fault = Option<(String, &'static str)>;

fn start(number: StreamIndex, reservation: Option<&StreamReservation>, harts: Option<&Harts>) -> Fault {
    let reserved = reservation.is_some_and(|known| known.streams.iter().any(|one| one.stream == number));
    let admission = harts.and_then(|harts| harts.admission.as_ref());
    let help = if reserved {
        "remove the event: `advertise-at` and `attach-at` state when it is requested"
    } else if admission.is_some_and(|admission| admission.request(number).is_some()) {
        "remove the event: `at` under `requests` states when it is requested"
    } else {
        return None;
    };
    Some(("starts when it is granted, not by an event".to_owned(), help))
}

/// Whether a stream that is requested during the run promises a greater rate than is reserved; a policed stream is
/// limited to its reservation by the switch.
fn beyond(
    number: StreamIndex,
    rate: Option<BitRate>,
    streams: &Streams<'_, '_>,
    reservation: Option<&StreamReservation>,
    harts: Option<&Harts>,
) -> Fault {
    let stream = &streams.list[number.index()].stream;
    let reserved = reservation.and_then(|known| {
        let reserved = known.streams.iter().find(|one| one.stream == number)?;
        let class = known.classes.iter().find(|class| class.domain.priority == reserved.talker.priority)?;
        let frame = wire_bits(stream.payload_max, stream.tagged);
        BitRate::per_period_ceil(frame * u64::from(reserved.talker.interval_frames_max), class.interval).ok()
    });
    let served = harts.and_then(|harts| {
        harts.admission.as_ref()?.request(number)?;
        let reservation = harts.reservations.iter().find(|one| one.stream == number)?;
        let capacity = reservation.server.capacity.filter(|_| reservation.police.is_none())?;
        let period: Duration = harts.cycle * u64::from(reservation.server.period);
        BitRate::per_period_ceil(Bytes::new(u64::from(capacity)).bits(), period).ok()
    });
    let granted = reserved.or(served)?;
    let rate = rate.filter(|rate| *rate > granted)?;
    let what = format!("would send {rate}, more than the {granted} that are reserved for it");
    Some((what, "give it traffic that fits its reservation, or reserve more"))
}
