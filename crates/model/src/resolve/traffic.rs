//! Traffic: when a talker's frames come.

use std::path::Path;

use tautwire_units::{BitRate, Bytes, Duration};

use super::arrival;
use super::streams::UDP_HEADERS;
use crate::frame::wire_bits;
use crate::network::{ArrivalCurve, StreamIndex, Traffic};
use crate::text::codes;
use crate::text::faults::Faults;
use crate::text::tree::{Node, Place};
use crate::trace;

/// Reads `traffic:`; none if it cannot be.
pub(crate) fn traffic(node: &Node<'_>, directory: &Path, faults: &mut Faults) -> Option<Traffic> {
    let stated = |key: &str| node.parsed::<Duration>(key);
    let span = |key: &str| stated(key).unwrap_or_default();
    let place = |key: &str| node.get(key).map_or(node.anchor(), |node| node.place);
    Some(match node.get("type")?.text()? {
        "periodic" => {
            let (interval, jitter) = (stated("interval")?, span("jitter"));
            if jitter.as_ps() / 1_000 >= interval.as_ps() {
                let message = format!("the jitter of {jitter} is longer than a thousand intervals");
                faults.error(codes::TRAFFIC, place("jitter"), message, "lower `jitter`, or raise `interval`");
            }
            Traffic::Periodic {
                interval,
                offset: span("offset"),
                jitter,
                burst: node.parsed("burst").unwrap_or(1),
                drawn: node.get("phase").is_some(),
            }
        }
        "constant-rate" => {
            let rate: BitRate = node.parsed("rate")?;
            Traffic::ConstantRate { rate, offset: span("offset") }
        }
        "poisson" => Traffic::Poisson { mean_interval: stated("mean-interval")? },
        "on-off" => {
            let (on, interval) = (stated("on")?, stated("interval")?);
            if on.as_ps() / 1_000_000_000 >= interval.as_ps() {
                let message = format!("`on` of {on} has more than 10⁹ intervals of {interval}");
                faults.error(codes::TRAFFIC, place("interval"), message, "raise `interval`, or lower `on`");
                return None;
            }
            Traffic::OnOff { on, off: span("off"), interval, offset: span("offset") }
        }
        "greedy" => Traffic::Greedy { offset: span("offset") },
        "replay" => Traffic::Replay { frames: replay(node, directory, faults)? },
        "injected" => {
            let interval = stated("interval")?;
            let least = span("overhead-min");
            let most = node.parsed("overhead-max").unwrap_or(least);
            if most < least {
                let message = "`overhead-min` is above `overhead-max`".to_owned();
                faults.error(codes::DELAY_RANGE, place("overhead-min"), message, "raise `overhead-max`");
            }
            Traffic::Injected {
                threads: node.parsed("threads").unwrap_or(1),
                burst: node.parsed("burst").unwrap_or(1),
                interval,
                overhead: (least, most.max(least)),
            }
        }
        "file" => Traffic::File { octets: node.parsed("octets")?, at: span("at") },
        "polled" => Traffic::Polled,
        "synchronisation" => Traffic::Synchronisation { cycle: Duration::ZERO },
        // Its request is found when all streams are known.
        "response" => Traffic::Response { to: StreamIndex(u32::MAX), turn_around: span("turn-around") },
        _ => return None,
    })
}

/// Whether a description leaves open when traffic begins. The offset of a time-triggered link is part of what it promises.
pub(crate) fn opens_phase(node: Option<&Node<'_>>, traffic: &Traffic, is_time_triggered: bool) -> bool {
    match traffic {
        Traffic::Periodic { drawn: true, .. } => true,
        Traffic::Periodic { .. }
        | Traffic::ConstantRate { .. }
        | Traffic::OnOff { .. }
        | Traffic::Greedy { .. } => {
            !is_time_triggered && node.is_some_and(|node| node.get("offset").is_none())
        }
        _ => false,
    }
}

fn replay(node: &Node<'_>, directory: &Path, faults: &mut Faults) -> Option<Vec<(Duration, Bytes)>> {
    let file = node.get("file")?;
    let trace = read_trace(file, directory, faults)?;
    trace::warn(&trace, file.text().unwrap_or_default(), file.place, faults);
    Some(trace.frames.iter().map(|frame| (frame.at, frame.payload)).collect())
}

/// The trace that `file` names; none if it cannot be replayed, which is reported.
pub(crate) fn read_trace(file: &Node<'_>, directory: &Path, faults: &mut Faults) -> Option<trace::Trace> {
    let name = file.text()?;
    let path = directory.join(name);
    faults.names(&path);
    match trace::read(&path, faults) {
        Ok(trace) => Some(trace),
        Err(trace::Unfit::Reported) => None,
        Err(trace::Unfit::Because { reason, help }) => {
            faults.error(codes::FILE, file.place, format!("`{name}` {reason}"), help);
            None
        }
    }
}

/// Least and most payload of the frames that `traffic` makes, where sizes that it leaves open are `drawn`.
pub(crate) fn sizes(traffic: &Traffic, drawn: (Bytes, Bytes)) -> (Bytes, Bytes) {
    match traffic {
        // A trace has its own sizes.
        Traffic::Replay { frames } => {
            let sizes = frames.iter().map(|(_, size)| *size);
            sizes.clone().min().zip(sizes.max()).unwrap_or(drawn)
        }
        Traffic::File { octets, .. } => {
            let rest = octets.get().checked_rem(drawn.1.get()).filter(|rest| *rest > 0).map(Bytes::new);
            (rest.map_or(drawn.0, |rest| rest.min(drawn.0)), drawn.1)
        }
        _ => drawn,
    }
}

/// Whether frames can have the sizes that `traffic` gives by itself.
pub(crate) fn check_sizes(
    traffic: &Traffic,
    drawn: (Bytes, Bytes),
    is_udp: bool,
    place: Place,
    faults: &mut Faults,
) {
    let least = sizes(traffic, drawn).0;
    if let (Traffic::File { .. }, Bytes::ZERO) = (traffic, drawn.1) {
        let message = "frames without data never transfer the file".to_owned();
        faults.error(codes::TRAFFIC, place, message, "give its frames a payload of at least 1 B");
    } else if is_udp && least < UDP_HEADERS && (least < drawn.0 || matches!(traffic, Traffic::Replay { .. }))
    {
        let what = if let Traffic::File { .. } = traffic {
            "the last frame of the file"
        } else {
            "a frame of the trace"
        };
        let message = format!("{what} has {least}, less than an IPv4 and a UDP header");
        let help = "the two headers are part of the payload: at least 28 B in every frame";
        faults.error(codes::FRAME_SIZE, place, message, help);
    }
}

/// The promise of `traffic` whose open sizes are `drawn`: the stated one of `stream:` or `change-traffic:`, which its
/// traffic must keep, or the one that follows from the traffic.
pub(crate) fn promise(
    node: &Node<'_>,
    traffic: &Traffic,
    (drawn, tagged): ((Bytes, Bytes), bool),
    faults: &mut Faults,
) -> Option<ArrivalCurve> {
    let (_, payload_max) = sizes(traffic, drawn);
    let derived = || arrival::curve(traffic, payload_max, tagged);
    let Some(named) = node.get("arrival-curve") else {
        if let Traffic::Greedy { .. } = traffic {
            let place = node.get("traffic").map_or(node.anchor(), Node::anchor);
            let help = "add `arrival-curve: {rate: 10 Mbit/s, burst: 1542 B}`";
            let message = "greedy traffic needs an arrival curve, which it follows".to_owned();
            faults.error(codes::NO_ARRIVAL_CURVE, place, message, help);
        }
        return derived();
    };
    let stated = arrival_curve(named, wire_bits(payload_max, tagged), faults)?;
    let place = |key: &str| named.get(key).map_or(named.anchor(), |node| node.place);
    let mut fault = |place: Place, message: String, help: &str| {
        faults.error(codes::ARRIVAL_CURVE, place, message, help);
    };
    let unkept = match traffic {
        // It is its curve.
        Traffic::Greedy { .. } => return Some(stated),
        Traffic::Poisson { .. } => Some("Poisson traffic has no arrival curve that it could keep"),
        Traffic::Response { .. } => {
            Some("the arrival curve of responses follows from the stream that they answer")
        }
        Traffic::Synchronisation { .. } => {
            Some("the arrival curve of synchronisation frames follows from the cycle of `tdma`")
        }
        Traffic::Polled => Some("the arrival curve of polled frames follows from `harts.polled`"),
        _ => None,
    };
    if let Some(message) = unkept {
        let help = match traffic {
            Traffic::Poisson { .. } => {
                "remove `arrival-curve`, or make the traffic `greedy`, which follows it"
            }
            _ => "remove `arrival-curve`",
        };
        fault(named.anchor(), message.to_owned(), help);
        return derived();
    }
    match arrival::least_burst(traffic, stated.rate, payload_max, tagged) {
        None => {
            let makes = derived().map_or(BitRate::ZERO, |curve| curve.rate);
            let message = format!(
                "its traffic has a rate of {makes}, more than the {} of its arrival curve",
                stated.rate
            );
            fault(place("rate"), message, "raise `rate`, or remove `arrival-curve`");
        }
        Some(least) if stated.burst < least => {
            let message = format!(
                "at a rate of {} its traffic has a burst of {least}, more than the {} of its arrival curve",
                stated.rate, stated.burst
            );
            fault(place("burst"), message, "raise `burst`, or remove `arrival-curve`");
        }
        Some(_) => {}
    }
    Some(stated)
}

/// Reads `arrival-curve:`.
fn arrival_curve(node: &Node<'_>, frame: tautwire_units::Bits, faults: &mut Faults) -> Option<ArrivalCurve> {
    let curve = ArrivalCurve { rate: node.parsed("rate")?, burst: node.parsed("burst")? };
    let place = |key: &str| -> Place { node.get(key).map_or(node.anchor(), |node| node.place) };
    if curve.burst < frame {
        let message = format!("a burst of {} is less than a frame of {frame} on the wire", curve.burst);
        let help = "raise `burst` to the largest frame and its 20 B of media overhead at least";
        faults.error(codes::ARRIVAL_CURVE, place("burst"), message, help);
        return None;
    } else if curve.rate == BitRate::ZERO {
        let message = "the arrival curve has a rate of zero".to_owned();
        faults.error(codes::ARRIVAL_CURVE, place("rate"), message, "write a rate of 1 bit/s at least");
        return None;
    }
    Some(curve)
}
