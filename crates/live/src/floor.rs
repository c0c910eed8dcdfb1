//! What this machine adds when nothing else happens: the floor under every figure of a live run.

use tautwire_linux::{Clock, FramePort, PacketSocket, Priority, Waiter, clock_read_cost};
use tautwire_observe::Histogram;
use tautwire_units::Duration;

/// Median, 99th percentile and greatest value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spread {
    /// Half of the values are at most this.
    pub p50: Duration,
    /// 99 of 100 are.
    pub p99: Duration,
    /// The greatest.
    pub max: Duration,
}

impl Spread {
    /// Of a histogram whose greatest value is known exactly.
    pub(crate) fn of(values: &Histogram, max: Duration) -> Self {
        let quantile = |ppm| values.quantile(ppm).unwrap_or(Duration::ZERO).min(max);
        Self { p50: quantile(500_000), p99: quantile(990_000), max }
    }

    fn of_list(values: &[u64]) -> Self {
        let mut histogram = Histogram::default();
        values.iter().for_each(|value| histogram.add(Duration::from_ns(*value)));
        Self::of(&histogram, Duration::from_ns(values.iter().copied().max().unwrap_or(0)))
    }
}

/// The floor of a machine, measured in the same run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Floor {
    /// A reading of the clock.
    pub clock_read: Duration,
    /// How late a thread wakes that waits for an instant.
    pub timer_lateness: Spread,
    /// From one node over an idle link to the next and back, by readings of the clock around sending and receiving.
    pub round_trip: Spread,
    /// Threads of the run, and their priority.
    pub threads: usize,
    /// Their priority.
    pub priority: Priority,
}

const ROUNDS: usize = 200;

/// Measures over a link between two sockets, on this thread.
pub(crate) fn measure(ends: Option<(&PacketSocket, &PacketSocket, &[u8])>) -> std::io::Result<Floor> {
    let clock = Clock::starting_in(0);
    let mut waiter = Waiter::new([]);
    let mut late = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let until = clock.now() + 300_000;
        waiter.wait(clock, until)?;
        late.push(clock.now() - until);
    }
    let mut trips = Vec::with_capacity(ROUNDS);
    if let Some((one, other, frame)) = ends {
        for _ in 0..ROUNDS {
            let begun = clock.now();
            if pass(one, other, frame, clock)? && pass(other, one, frame, clock)? {
                trips.push(clock.now() - begun);
            }
        }
    }
    Ok(Floor {
        clock_read: Duration::from_ps(clock_read_cost()),
        timer_lateness: Spread::of_list(&late),
        round_trip: Spread::of_list(&trips),
        threads: 0,
        priority: Priority::Ordinary,
    })
}

/// Sends a frame and takes it at the other end; false if it does not come within a second.
pub(crate) fn pass(
    from: &PacketSocket,
    to: &PacketSocket,
    frame: &[u8],
    clock: Clock,
) -> std::io::Result<bool> {
    let until = clock.now() + 1_000_000_000;
    let mut buffer = [0; 2048];
    if !from.send(frame)? {
        return Ok(false);
    }
    while clock.now() < until {
        match to.receive(&mut buffer)? {
            Some(received) if received.octets == frame => return Ok(true),
            _ => {}
        }
    }
    Ok(false)
}
