//! Bounds that runs reach: of strict priority with periodic traffic, frame by frame.

use tautwire_units::Duration;

use crate::{answer, text};

/// The greatest bound of streams whose names begin so, and the latest of their frames.
fn greatest(name: &str, begins: &str) -> (Duration, Duration) {
    let (network, bounds, observation, _) = answer(&text(name));
    let mut most = (Duration::ZERO, Duration::ZERO);
    for (number, stream) in network.streams.iter().enumerate() {
        if stream.name.starts_with(begins) {
            let bound = bounds.streams[number].listeners[0].delay.clone().expect("a bound");
            let worst = observation.streams[number].listeners[0].worst.as_ref().expect("frames came");
            most = (most.0.max(bound), most.1.max(worst.delay));
        }
    }
    most
}

/// The run reaches it, except for rates that are rounded to integers in bit/s.
fn is_reached(name: &str, begins: &str) {
    let (bound, observed) = greatest(name, begins);
    assert!(
        observed <= bound && bound <= observed + Duration::from_ps(10),
        "{begins}: {bound} and {observed}"
    );
}

#[test]
fn twenty_periodic_streams_above() {
    for begins in ["m", "v"] {
        is_reached("periodic-strict-priority.yaml", begins);
    }
    // By hand, with frames untagged on the last line: 12 304 bits of a lower frame, 123 264 of 38 frames above, its own 12 304 at
    // 100 Mbit/s, 320 ns of cables and gaps less, and 1 224 ns of its first line.
    assert_eq!(greatest("periodic-strict-priority.yaml", "v").0, Duration::from_ns(1_478_984));
}

#[test]
fn the_second_frame_of_a_busy_period_waits_longest() {
    is_reached("later-frame-waits-longest.yaml", "low");
}

/// A clock that steps once a day lets a day's frames come at once: too many to be looked at one by one.
#[test]
fn bursts_of_a_day_are_bounded_by_curves() {
    let (_, bounds, ..) = answer(&text("clock-of-a-day.yaml"));
    assert!(bounds.streams.iter().all(|stream| !stream.listeners.is_empty()));
}
