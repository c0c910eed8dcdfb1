//! A bridge on interfaces of this process's network namespace, until it is stopped.
//!
//! One thread carries frames; the caller's gets what is counted, and never delays it. Offloads that were changed are put back.

use std::io;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, TryLockError};
use std::time;

use tautwire_linux::{
    Clock, FramePort, PacketSocket, Priority, Properties, Settled, Waiter, XdpMode, XdpSocket, prefer,
    restore_offloads, settle_offloads,
};
use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, PortIndex};
use tautwire_sim::DropReason;
use tautwire_units::{BitRate, Duration, Instant};

use crate::bridge::Bridge;
use crate::bridge_status::{BridgeStatus, TimeStatus};
use crate::control::PlugIns;
use crate::gptp::PrecisionTime;
use crate::plan::Plan;
use crate::run::Cannot;
use crate::support;

/// Longest wait: then it looks whether it is stopped.
const LOOK: u64 = 5_000_000;
/// Frames of a port that are read before others are sent.
pub(crate) const READ_MAX: usize = 64;
/// Octets of memory for received frames of a port: 16 384 frames.
const ROOM: usize = 32 << 20;
/// The kernel's answer to a frame that is too large for an interface.
const MESSAGE_SIZE: i32 = 90;
/// Greatest reading of an [`Instant`] in nanoseconds, half a year: the bridge stops there.
const END: u64 = u64::MAX / 1000 - 1_000_000_000_000;

/// Kinds of sockets for frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sockets {
    /// Packet sockets: frames with the kernel's stamps of reception.
    Packet,
    /// Sockets of XDP: frames before the kernel's own stack, without stamps.
    Xdp,
}

/// How a bridge is run.
#[derive(Clone, Copy, Debug)]
pub struct BridgeSettings<'s> {
    /// Set by others to stop it.
    pub stop: &'s AtomicBool,
    /// After which it stops by itself.
    pub duration: Option<Duration>,
    /// Whether its thread asks for real-time priority.
    pub is_real_time: bool,
    /// By which sockets it has its frames.
    pub sockets: Sockets,
    /// How often what it has counted is given out.
    pub every: time::Duration,
}

/// An interface, with its offloads as they were.
pub(crate) struct Interface {
    /// No other process of ours has the interface while this is open.
    _own: UnixDatagram,
    name: String,
    /// By which the interface is asked and set, and which has the frames if `xdp` does not.
    socket: PacketSocket,
    xdp: Option<XdpSocket>,
    were: Settled,
    pub(crate) rate: Option<BitRate>,
}

impl Interface {
    /// Notes whether its link is up.
    fn look(&self, up: &AtomicBool) {
        let found = Properties::of(&self.name, &self.socket);
        up.store(found.is_ok_and(|found| found.is_up && found.has_carrier), Ordering::Relaxed);
    }

    /// What has its frames.
    fn port(&self) -> &dyn FramePort {
        match &self.xdp {
            Some(socket) => socket,
            None => &self.socket,
        }
    }

    /// Its socket once more.
    pub(crate) fn another(&self) -> io::Result<PacketSocket> {
        self.socket.try_clone()
    }
}

impl Drop for Interface {
    fn drop(&mut self) {
        restore_offloads(&self.socket, self.were);
    }
}

/// Runs a bridge of the network. `ready` gets words on its interfaces and its priority, then `publish` what it has counted, now and then
/// and at the end.
///
/// # Errors
/// If the description asks for what it does not have, an interface, a right or a rate is missing, or a system call fails.
pub fn run_bridge(
    network: &Network,
    node: NodeIndex,
    settings: BridgeSettings<'_>,
    plug_ins: PlugIns,
    ready: impl FnOnce(&[String]),
    mut publish: impl FnMut(&BridgeStatus),
) -> Result<BridgeStatus, Cannot> {
    let refusals = refusals(network, node, plug_ins);
    if !refusals.is_empty() {
        return Err(Cannot::Refused(refusals));
    }
    let plan = Plan::new(network);
    let mut words = Vec::new();
    let interfaces = connected(network, node)
        .map(|port| interface(network, port, settings.sockets, &mut words))
        .collect::<Result<Vec<_>, Cannot>>()?;
    let rates = interfaces.iter().map(|interface| interface.rate).collect();
    let mut bridge = Bridge::new(network, &plan, node, rates).controlled(node, plug_ins);
    let (wanted, failed, given) = (AtomicBool::new(false), AtomicBool::new(false), Mutex::new(None));
    let precision = PrecisionTime::open(network, node)?;
    let up: Vec<AtomicBool> = interfaces.iter().map(|_| AtomicBool::new(true)).collect();
    let (is_over, time) = (AtomicBool::new(false), Mutex::new(TimeStatus::default()));
    let has_time = precision.is_some();
    let time_of = |status: &mut BridgeStatus| {
        let state = time.lock().unwrap_or_else(PoisonError::into_inner).clone();
        status.time = has_time.then_some(state);
    };
    let (uptime, lost) = std::thread::scope(|scope| -> io::Result<(u64, Vec<u64>)> {
        let (interfaces, asked) =
            (&interfaces, Asked { wanted: &wanted, failed: &failed, given: &given, up: &up });
        let carried = &mut bridge;
        let (sender, started) = std::sync::mpsc::channel();
        let thread =
            std::thread::Builder::new().name("bridge".to_owned()).spawn_scoped(scope, move || {
                let priority = if settings.is_real_time { prefer(0) } else { Priority::Ordinary };
                let _ = sender.send(priority);
                carry(carried, interfaces, settings, asked)
            })?;
        let (is_over, time) = (&is_over, &time);
        let keeping = precision.map(|precision| {
            std::thread::Builder::new()
                .name("gptp".to_owned())
                .spawn_scoped(scope, move || precision.run(is_over, time))
        });
        // Without it the thread that carries frames ends, too.
        let keeping = keeping.transpose().inspect_err(|_| failed.store(true, Ordering::Relaxed))?;
        if let Ok(priority) = started.recv() {
            words.push(priority.words().to_owned());
        }
        ready(&words);
        let mut next = time::Instant::now();
        while !thread.is_finished() {
            std::thread::sleep(time::Duration::from_millis(20));
            interfaces.iter().zip(&up).for_each(|(interface, up)| interface.look(up));
            let got = given.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(mut status) = got {
                time_of(&mut status);
                publish(&status);
            }
            if keeping.as_ref().is_some_and(|thread| thread.is_finished()) {
                // It ends before its time only by a failure, which ends the bridge, too.
                failed.store(true, Ordering::Relaxed);
            }
            if time::Instant::now() >= next {
                next += settings.every;
                wanted.store(true, Ordering::Relaxed);
            }
        }
        is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = keeping {
            thread.join().unwrap_or_else(|_| Err(io::Error::other("the thread of gPTP panicked")))?;
        }
        thread.join().unwrap_or_else(|_| Err(io::Error::other("the thread of the bridge panicked")))
    })?;
    let mut status = counted(&bridge, uptime, &lost);
    time_of(&mut status);
    publish(&status);
    Ok(status)
}

/// What the description asks for in vain: of a live network, or an interface for each port.
fn refusals(network: &Network, node: NodeIndex, plug_ins: PlugIns) -> Vec<String> {
    let mut found = support::refusals_but(network, Some(plug_ins));
    if network.device(node).is_none() {
        found.push(format!("`{}` is an end station, and no bridge", network.nodes[node.index()].name));
    } else if connected(network, node).next().is_none() {
        found.push(format!("no link leads to `{}`", network.nodes[node.index()].name));
    }
    found.extend(without_interfaces(network, node));
    found
}

/// The connected ports of a node, in order.
pub(crate) fn connected(network: &Network, node: NodeIndex) -> impl Iterator<Item = PortIndex> {
    let ports = network.nodes[node.index()].ports.clone().map(PortIndex);
    ports.filter(|port| network.ports[port.index()].links.is_some())
}

/// A sentence for each connected port without an interface.
pub(crate) fn without_interfaces(network: &Network, node: NodeIndex) -> impl Iterator<Item = String> {
    let bare = connected(network, node).filter(|port| network.ports[port.index()].interface.is_none());
    bare.map(move |port| {
        let (node, port) = (&network.nodes[node.index()].name, &network.ports[port.index()].name);
        format!("port `{port}` of `{node}` has no `interface`: give it one under `ports`")
    })
}

/// The interface of a port, if it can carry what the description asks of it; and words on it.
pub(crate) fn interface(
    network: &Network,
    port: PortIndex,
    sockets: Sockets,
    words: &mut Vec<String>,
) -> Result<Interface, Cannot> {
    let described = &network.ports[port.index()];
    let name = described.interface.clone().unwrap_or_default();
    let link = &network.links[described.links.map_or(0, |links| links.egress.index())];
    let no = |why: String| Cannot::Machine(format!("interface {name} for port `{}`: {why}", described.name));
    let socket = match sockets {
        Sockets::Packet => PacketSocket::with_ring(&name, ROOM),
        Sockets::Xdp => PacketSocket::without_frames(&name),
    };
    let socket = socket.map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => {
            no("packet sockets are not allowed: run as root, or with CAP_NET_RAW".to_owned())
        }
        io::ErrorKind::NotFound => no("it is not in this network namespace (`ip link`)".to_owned()),
        _ => no(error.to_string()),
    })?;
    let found = Properties::of(&name, &socket).map_err(|error| no(error.to_string()))?;
    if !found.is_up {
        return Err(no(format!("it is down: `ip link set {name} up`")));
    }
    if found.is_half_duplex {
        return Err(no("it is half duplex".to_owned()));
    }
    if u64::from(found.mtu) < described.mtu.get() {
        return Err(no(format!("its MTU of {} B is below that of the port, {}", found.mtu, described.mtu)));
    }
    let rate = found.speed.map(|speed| BitRate::from_mbps(speed.into()));
    if let Some(rate) = rate.filter(|rate| *rate < link.rate) {
        return Err(no(format!("it runs at {rate}, and the link has {}", link.rate)));
    }
    let own = own(&name).map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => no("another process of tautwire has it".to_owned()),
        _ => no(error.to_string()),
    })?;
    let were =
        settle_offloads(&name, &socket, sockets == Sockets::Xdp).map_err(|error| no(error.to_string()))?;
    let xdp = match sockets {
        Sockets::Packet => None,
        Sockets::Xdp => Some(XdpSocket::open(&name, found.mtu as usize).map_err(|error| {
            restore_offloads(&socket, were);
            no(match error.kind() {
                io::ErrorKind::PermissionDenied => "XDP is not allowed: run as root".to_owned(),
                _ => format!("no XDP: {error}"),
            })
        })?),
    };
    let runs = rate.map_or("a rate that it does not state".to_owned(), |rate| rate.to_string());
    let carrier = if found.has_carrier { "" } else { ", not connected now" };
    let by = match xdp.as_ref().map(XdpSocket::mode) {
        None => "",
        Some(XdpMode::Native) => ", by XDP in the driver",
        Some(XdpMode::Generic) => ", by XDP behind the driver",
    };
    words.push(format!("port {} on {name}: {} paced on {runs}{by}{carrier}", described.name, link.rate));
    Ok(Interface { _own: own, name, socket, xdp, were, rate })
}

/// A name that one process at a time can have in a network namespace, for an interface.
fn own(interface: &str) -> io::Result<UnixDatagram> {
    let name = SocketAddr::from_abstract_name(format!("tautwire interface {interface}"))?;
    UnixDatagram::bind_addr(&name)
}

/// How the thread that carries frames is asked for what it has counted.
#[derive(Clone, Copy)]
struct Asked<'a> {
    wanted: &'a AtomicBool,
    /// Set if another thread failed.
    failed: &'a AtomicBool,
    /// Per port, whether its link is up.
    up: &'a [AtomicBool],
    given: &'a Mutex<Option<BridgeStatus>>,
}

impl Asked<'_> {
    /// Gives it out, if it is wanted and nobody reads the last one.
    fn answer(self, bridge: &mut Bridge<'_>, now: u64, lost: &[u64]) {
        if !self.wanted.load(Ordering::Relaxed) {
            return;
        }
        let mut room = match self.given.try_lock() {
            Ok(room) => room,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        self.wanted.store(false, Ordering::Relaxed);
        *room = Some(counted(bridge, now, lost));
        bridge.forget();
    }
}

/// What a bridge has counted, with what its thread knows: nanoseconds since the start, and frames that each socket lost.
fn counted(bridge: &Bridge<'_>, uptime: u64, lost: &[u64]) -> BridgeStatus {
    let mut status = bridge.status(instant(uptime));
    lost.iter().zip(&mut status.ports).for_each(|(lost, port)| port.socket_lost = *lost);
    status
}

/// Carries frames until it is stopped; gives the time since the start, and the frames that each socket lost.
fn carry(
    bridge: &mut Bridge<'_>,
    interfaces: &[Interface],
    settings: BridgeSettings<'_>,
    asked: Asked<'_>,
) -> io::Result<(u64, Vec<u64>)> {
    let clock = Clock::starting_in(0);
    let end = settings.duration.map_or(END, |span| span.as_ps().div_ceil(1000).min(END));
    let mut waiter = Waiter::new(interfaces.iter().map(|interface| interface.port().descriptor()));
    // Room for the greatest MTU of an interface with its header.
    let mut buffer = vec![0; 1 << 17];
    let mut lost = vec![0; interfaces.len()];
    let mut was_up = vec![true; interfaces.len()];
    loop {
        let now = clock.now();
        for (place, port) in interfaces.iter().map(Interface::port).enumerate() {
            // What is left is read in the next round: no port waits for another's flood.
            for _ in 0..if waiter.is_ready(place) { READ_MAX } else { 0 } {
                let received = match port.receive(&mut buffer) {
                    Ok(Some(received)) => received,
                    Ok(None) => break,
                    // It goes on when the interface is up again.
                    Err(error) if is_down(&error) => break,
                    Err(error) => return Err(error),
                };
                let stamp = received.stamp.map_or_else(|| clock.now(), |stamp| clock.of_stamp(stamp));
                bridge.receive(instant(stamp), place, received.octets);
            }
        }
        bridge.settle(instant(now));
        for (place, (was, up)) in was_up.iter_mut().zip(asked.up).enumerate() {
            let is = up.load(Ordering::Relaxed);
            if std::mem::replace(was, is) != is {
                bridge.link(place, is);
            }
        }
        let mut failed = None;
        bridge.emit(instant(clock.now()), |place, frame| match interfaces[place].port().send(frame) {
            Ok(true) => None,
            Ok(false) => Some(DropReason::InterfaceFull),
            Err(error) if is_down(&error) => Some(DropReason::LinkDown),
            // Its MTU was lowered since.
            Err(error) if error.raw_os_error() == Some(MESSAGE_SIZE) => Some(DropReason::Oversize),
            Err(error) => {
                failed = Some(error);
                None
            }
        });
        let flushed = interfaces.iter().map(|interface| interface.port().flush());
        failed = failed.or(flushed.filter_map(Result::err).find(|error| !is_down(error)));
        if let Some(error) = failed {
            return Err(error);
        }
        let is_over =
            settings.stop.load(Ordering::Relaxed) || asked.failed.load(Ordering::Relaxed) || now >= end;
        if is_over || asked.wanted.load(Ordering::Relaxed) {
            for (lost, interface) in lost.iter_mut().zip(interfaces) {
                *lost += interface.port().lost()?;
            }
        }
        if is_over {
            return Ok((now, lost));
        }
        asked.answer(bridge, now, &lost);
        let next = bridge.deadline().map_or(u64::MAX, |at| at.as_ps().div_ceil(1000));
        waiter.wait(clock, next.min(now + LOOK).min(end))?;
    }
}

/// Whether an interface is down or gone.
pub(crate) fn is_down(error: &io::Error) -> bool {
    const NO_DEVICE: i32 = 19;
    const NO_SUCH_ADDRESS: i32 = 6;
    error.kind() == io::ErrorKind::NetworkDown
        || matches!(error.raw_os_error(), Some(NO_DEVICE | NO_SUCH_ADDRESS))
}

fn instant(nanoseconds: u64) -> Instant {
    Instant::ZERO + Duration::from_ns(nanoseconds)
}
