//! A thread that runs some nodes: it receives, has them settle, sends what is due, and waits for the next instant.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};

use tautwire_linux::{Clock, FramePort, PacketSocket, Priority, Waiter, prefer};
use tautwire_model::network::PortIndex;
use tautwire_units::{Duration, Instant};

use crate::node::Node;

/// How long a run goes on behind its end for frames that are on their way.
const DRAIN_MAX: u64 = 1_000_000_000;
/// Most octets of frames that are captured at a node.
const CAPTURE_MAX: usize = 256 << 20;
/// Longest wait: then it looks whether the run is over.
const LOOK: u64 = 5_000_000;

/// A node and its interfaces.
pub(crate) struct Station<'n> {
    pub(crate) node: Node<'n>,
    pub(crate) ports: Vec<(PortIndex, PacketSocket)>,
    pub(crate) capture: Option<Capture>,
}

/// A frame that a port received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedFrame {
    /// When, in nanoseconds since the start.
    pub at: u64,
    /// Where.
    pub port: PortIndex,
    /// Destination address to the end of the data.
    pub octets: Vec<u8>,
}

/// The frames that a node received, in memory until the run is over.
#[derive(Debug, Default)]
pub(crate) struct Capture {
    pub(crate) frames: Vec<ReceivedFrame>,
    octets: usize,
    /// Frames for which there was no room.
    pub(crate) left_out: u64,
}

impl Capture {
    fn take(&mut self, at: u64, port: PortIndex, octets: &[u8]) {
        if self.octets + octets.len() > CAPTURE_MAX {
            self.left_out += 1;
            return;
        }
        self.octets += octets.len();
        self.frames.push(ReceivedFrame { at, port, octets: octets.to_vec() });
    }
}

/// What the threads of a run share.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// Threads whose nodes have nothing to do any more.
    pub(crate) done: AtomicUsize,
    /// Frames that were sent less those that were received: what is between two nodes, and what was lost there.
    pub(crate) between: AtomicI64,
    /// A thread failed.
    pub(crate) failed: AtomicBool,
    /// Whether others state when it is over, for there are nodes in other processes; and whether they have.
    pub(crate) is_part: bool,
    pub(crate) over: AtomicBool,
}

/// How a thread is run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(crate) clock: Clock,
    /// Nanoseconds of the run.
    pub(crate) end: u64,
    /// Its number, and how many there are.
    pub(crate) number: usize,
    pub(crate) threads: usize,
    pub(crate) is_real_time: bool,
}

fn instant(nanoseconds: u64) -> Instant {
    Instant::ZERO + Duration::from_ns(nanoseconds)
}

/// Runs nodes until all threads have nothing to do any more.
pub(crate) fn work(stations: &mut [Station<'_>], turn: Turn, shared: &Shared) -> io::Result<Priority> {
    let priority = if turn.is_real_time { prefer(turn.number) } else { Priority::Ordinary };
    let worked = go_on(stations, turn, shared);
    if worked.is_err() {
        shared.failed.store(true, Ordering::Relaxed);
    }
    worked.map(|()| priority)
}

fn go_on(stations: &mut [Station<'_>], turn: Turn, shared: &Shared) -> io::Result<()> {
    let sockets =
        stations.iter().flat_map(|station| station.ports.iter().map(|(_, socket)| socket.descriptor()));
    let mut waiter = Waiter::new(sockets);
    let mut buffer = vec![0; 1 << 16];
    let mut was_done = false;
    loop {
        let now = turn.clock.now();
        let mut place = 0;
        for station in &mut *stations {
            for (port, socket) in &station.ports {
                if waiter.is_ready(place) {
                    let capture = station.capture.as_mut();
                    let taken =
                        receive((&mut station.node, capture), turn.clock, *port, socket, &mut buffer)?;
                    shared.between.fetch_sub(taken, Ordering::Relaxed);
                }
                place += 1;
            }
        }
        let mut next = u64::MAX;
        let mut is_done = now >= turn.end;
        for Station { node, ports, .. } in &mut *stations {
            node.settle(instant(now));
            let mut failed = None;
            node.emit(instant(turn.clock.now()), |port, frame| {
                let socket = ports.iter().find(|(own, _)| *own == port);
                match socket.map_or(Ok(false), |(_, socket)| socket.send(frame)) {
                    Ok(taken) => {
                        shared.between.fetch_add(i64::from(taken), Ordering::Relaxed);
                        taken
                    }
                    Err(error) => {
                        failed = Some(error);
                        false
                    }
                }
            });
            if let Some(error) = failed {
                return Err(error);
            }
            is_done &= node.is_done();
            next = next.min(node.deadline().map_or(u64::MAX, |at| at.as_ps().div_ceil(1000)));
        }
        if is_done != was_done {
            was_done = is_done;
            let one = if is_done { 1 } else { usize::MAX };
            shared.done.fetch_add(one, Ordering::Relaxed);
        }
        let all_done = shared.done.load(Ordering::Relaxed) == turn.threads;
        let is_over = if shared.is_part {
            shared.over.load(Ordering::Relaxed)
        } else {
            all_done && shared.between.load(Ordering::Relaxed) == 0 || now >= turn.end + DRAIN_MAX
        };
        if is_over || shared.failed.load(Ordering::Relaxed) {
            return Ok(());
        }
        waiter.wait(turn.clock, next.min(now + LOOK))?;
    }
}

/// Takes all frames of a socket, and gives their number.
fn receive(
    (node, mut capture): (&mut Node<'_>, Option<&mut Capture>),
    clock: Clock,
    port: PortIndex,
    socket: &PacketSocket,
    buffer: &mut [u8],
) -> io::Result<i64> {
    let mut taken = 0;
    while let Some(received) = socket.receive(buffer)? {
        let stamp = received.stamp.map_or_else(|| clock.now(), |stamp| clock.of_stamp(stamp));
        node.receive(instant(stamp), port, received.octets);
        if let Some(capture) = &mut capture {
            capture.take(stamp, port, received.octets);
        }
        taken += 1;
    }
    Ok(taken)
}
