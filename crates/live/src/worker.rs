//! A thread that runs some nodes: it receives, has them settle, sends what is due, and waits for the next instant.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};

use tautwire_linux::{Clock, FramePort, PacketSocket, Priority, Tunnel, Waiter, prefer};
use tautwire_model::network::PortIndex;
use tautwire_sim::DropReason;
use tautwire_units::{Duration, Instant};

use crate::bridge_run::is_down;
use crate::node::Node;
use crate::watch::{Asked, Taker};

/// How long a run goes on behind its end for frames that are on their way.
const DRAIN_MAX: u64 = 1_000_000_000;
/// Most octets of frames that are captured at a node.
const CAPTURE_MAX: usize = 256 << 20;
/// Most frames that are taken of a port before the other ports and what is due have their turn. A frame is received and handled in less
/// than 4 us, so a port that is flooded keeps all else waiting for a quarter of a millisecond.
const TURN_MAX: usize = 64;
/// Longest wait: then it looks whether the run is over.
const LOOK: u64 = 5_000_000;

/// A node and its interfaces.
pub(crate) struct Station<'n> {
    pub(crate) node: Node<'n>,
    pub(crate) ports: Vec<(PortIndex, PacketSocket)>,
    /// By which programs use it.
    pub(crate) device: Option<Device>,
    pub(crate) capture: Option<Capture>,
}

/// The device of programs, and what it took of packets for them.
pub(crate) struct Device {
    tunnel: Tunnel,
    pub(crate) given: u64,
    pub(crate) not_given: u64,
}

impl Device {
    pub(crate) fn new(tunnel: Tunnel) -> Self {
        Self { tunnel, given: 0, not_given: 0 }
    }

    /// Takes what programs have sent, as much as has its turn; none if the device is gone. Behind the end of the run nothing is sent.
    fn receive(&self, node: &mut Node<'_>, turn: Turn, buffer: &mut [u8]) -> Option<()> {
        for _ in 0..TURN_MAX {
            let Some(packet) = self.tunnel.receive(buffer).ok()? else { break };
            let now = turn.clock.now();
            if now < turn.end {
                node.take_packet(instant(now), packet);
            }
        }
        Some(())
    }

    /// Gives programs what came for them.
    fn give(&mut self, node: &mut Node<'_>) {
        for packet in node.programs.iter_mut().flat_map(|programs| programs.given.drain(..)) {
            let count = if self.tunnel.send(&packet) { &mut self.given } else { &mut self.not_given };
            *count += 1;
        }
    }
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
    /// How each thread is asked for what it has counted, if somebody looks on.
    pub(crate) asked: Vec<Asked>,
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
    let ports = |station: &Station<'_>| -> Vec<_> {
        let device = station.device.as_ref().map(|device| device.tunnel.descriptor());
        station.ports.iter().map(|(_, socket)| socket.descriptor()).chain(device).collect()
    };
    let mut waiter = Waiter::new(stations.iter().flat_map(ports));
    let mut buffer = vec![0; 1 << 16];
    let mut was_done = false;
    let mut taker = Taker::default();
    loop {
        let now = turn.clock.now();
        let mut place = 0;
        for station in &mut *stations {
            for (port, socket) in &station.ports {
                if waiter.is_ready(place) {
                    let capture = station.capture.as_mut();
                    let taken = receive((&mut station.node, capture), turn.clock, *port, socket, &mut buffer)
                        .map_err(|error| of_port(&station.node, *port, &error))?;
                    shared.between.fetch_sub(taken, Ordering::Relaxed);
                }
                place += 1;
            }
            if let Some(device) = &station.device {
                if waiter.is_ready(place) && device.receive(&mut station.node, turn, &mut buffer).is_none() {
                    waiter.forget(place);
                }
                place += 1;
            }
        }
        let mut next = u64::MAX;
        let mut is_done = now >= turn.end;
        for Station { node, ports, device, .. } in &mut *stations {
            node.settle(instant(now));
            if let Some(device) = device {
                device.give(node);
            }
            let (mut failed, mut was_down) = (None, false);
            node.emit(instant(turn.clock.now()), |port, frame| {
                let socket = ports.iter().find(|(own, _)| *own == port);
                match socket.map_or(Ok(Some(DropReason::InterfaceFull)), |(_, socket)| send(socket, frame)) {
                    Ok(reason) => {
                        shared.between.fetch_add(i64::from(reason.is_none()), Ordering::Relaxed);
                        was_down |= reason == Some(DropReason::LinkDown);
                        reason
                    }
                    Err(error) => {
                        failed = Some((port, error));
                        Some(DropReason::InterfaceFull)
                    }
                }
            });
            node.counters.was_down |= was_down;
            if let Some((port, error)) = failed {
                return Err(of_port(node, port, &error));
            }
            if let Some(at) = node.counters.full_at {
                return Err(io::Error::other(too_long(node.counters.receptions_max, at)));
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
        taker.take(shared.asked.get(turn.number % turn.threads), stations, turn.clock, next);
        waiter.wait(turn.clock, next.min(now + LOOK))?;
    }
}

/// A failure with the port at which it was.
fn of_port(node: &Node<'_>, port: PortIndex, error: &io::Error) -> io::Error {
    io::Error::other(format!("{}: {error}", node.name_of(port)))
}

/// That a record has no room for what came at this instant; what fits, in whole milliseconds, rounded down.
fn too_long(most: usize, at: Instant) -> String {
    let fits = Duration::from_ms(at.since(Instant::ZERO).as_ps() / 1_000_000_000);
    format!(
        "its listeners received more than {most} frames, which a record does not hold: a run of {fits} fits"
    )
}

/// Sends a frame; the reason why the interface did not take it.
fn send(socket: &impl FramePort, frame: &[u8]) -> io::Result<Option<DropReason>> {
    match socket.send(frame) {
        Ok(true) => Ok(None),
        Ok(false) => Ok(Some(DropReason::InterfaceFull)),
        Err(error) if is_down(&error) => Ok(Some(DropReason::LinkDown)),
        Err(error) => Err(error),
    }
}

/// Takes frames of a socket, at most as many as have their turn, and gives their number.
fn receive(
    (node, mut capture): (&mut Node<'_>, Option<&mut Capture>),
    clock: Clock,
    port: PortIndex,
    socket: &impl FramePort,
    buffer: &mut [u8],
) -> io::Result<i64> {
    let mut taken = 0;
    for _ in 0..TURN_MAX {
        let received = match socket.receive(buffer) {
            Ok(Some(received)) => received,
            Ok(None) => break,
            // It goes on when the interface is up again.
            Err(error) if is_down(&error) => {
                node.counters.was_down = true;
                break;
            }
            Err(error) => return Err(error),
        };
        let stamp = received.stamp.map_or_else(|| clock.now(), |stamp| clock.of_stamp(stamp));
        if let Some(capture) = &mut capture {
            capture.take(stamp, port, received.octets);
        }
        if !node.is_of_time(received.octets) {
            node.receive(instant(stamp), port, received.octets);
            taken += 1;
        }
    }
    Ok(taken)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use tautwire_linux::Received;
    use tautwire_model::network::NodeIndex;

    use super::*;
    use crate::plan::Plan;

    /// A port that is flooded, or fails with this error of the kernel.
    struct Flooded {
        left: Cell<u32>,
        error: Option<i32>,
    }

    impl Flooded {
        fn fails(&self) -> io::Result<()> {
            self.error.map_or(Ok(()), |error| Err(io::Error::from_raw_os_error(error)))
        }
    }

    impl FramePort for Flooded {
        fn receive<'b>(&self, buffer: &'b mut [u8]) -> io::Result<Option<Received<'b>>> {
            self.fails()?;
            let left = self.left.get().checked_sub(1);
            self.left.set(left.unwrap_or(0));
            Ok(left.map(|_| Received { octets: &buffer[..60], stamp: None }))
        }

        fn send(&self, _: &[u8]) -> io::Result<bool> {
            self.fails().map(|()| true)
        }

        fn lost(&self) -> io::Result<u64> {
            Ok(0)
        }

        fn descriptor(&self) -> std::os::fd::RawFd {
            -1
        }
    }

    const TWO: &str = "\
name: two
nodes: {a: {type: end-station}, x: {type: end-station}}
links: [{between: [a, x], rate: 100 Mbit/s}]
streams: [{name: one, talker: a, listeners: x, payload: 100 B, traffic: {type: periodic, interval: 1 ms}}]
run: {duration: 1 ms}
";

    #[test]
    fn a_flooded_port_leaves_others_their_turn_and_one_that_is_down_its_node() {
        let loaded = tautwire_workbench::load_text("two.yaml", TWO);
        let network = loaded.network.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
        let plan = Plan::new(&network);
        let mut node = Node::new(&network, &plan, NodeIndex(0), 1);
        let (port, mut buffer) = (PortIndex(0), vec![0; 2048]);
        let mut taken = |node: &mut Node<'_>, socket: &Flooded| {
            receive((node, None), Clock::starting_in(0), port, socket, &mut buffer)
        };
        let flooded = Flooded { left: Cell::new(100), error: None };
        for expected in [TURN_MAX as i64, 100 - TURN_MAX as i64, 0] {
            assert_eq!(taken(&mut node, &flooded).expect("it is up"), expected);
        }
        assert_eq!((node.counters.foreign, node.counters.was_down), (100, false));
        assert_eq!(send(&flooded, &[0; 60]).expect("it is up"), None);
        // Down, gone, and without an address.
        for error in [100, 19, 6] {
            let down = Flooded { left: Cell::new(100), error: Some(error) };
            node.counters.was_down = false;
            assert_eq!(taken(&mut node, &down).expect("it goes on"), 0, "{error}");
            assert!(node.counters.was_down, "{error}");
            assert_eq!(send(&down, &[0; 60]).expect("it goes on"), Some(DropReason::LinkDown), "{error}");
        }
        // No memory for a frame ends the run, and says where.
        let failed = Flooded { left: Cell::new(100), error: Some(12) };
        let error = taken(&mut node, &failed).expect_err("it fails");
        let text = of_port(&node, port, &error).to_string();
        assert!(text.starts_with("port `p1` of `a`: ") && text.contains("os error 12"), "{text}");
        assert!(send(&failed, &[0; 60]).is_err());
    }
}
