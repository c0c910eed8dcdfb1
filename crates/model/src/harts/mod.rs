//! HaRTES of a network, resolved: the elementary cycle of its switches, their servers, and the streams of each server.
//!
//! Every connected port of a bridge has the shared servers, one server for each reserved stream that leaves there, the
//! background server for all other frames, a lane for trigger messages and one for synchronous frames, in this order:
//! see [`Network::port_servers`].

pub mod admission;
pub(crate) mod codes;
pub(crate) mod language;
pub mod polled;
mod request;
pub(crate) mod resolve;

use tautwire_core::harts::servers::{ServerConfig, ServerKind, ServerWindow, ServersConfig};
use tautwire_units::Duration;

use crate::check::pace::Recurring;
use crate::frame::wire_bits;
use crate::harts::admission::HartsAdmission;
use crate::harts::polled::{Ftt, Police};
use crate::network::{Network, NodeKind, PortIndex, Stream, StreamIndex};

/// The cycle and the servers of all bridges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Harts {
    /// Length of the elementary cycle.
    pub cycle: Duration,
    /// End of the window of the trigger message.
    pub trigger: Duration,
    /// Start of the synchronous window: behind the turn-around.
    pub synchronous: Duration,
    /// Start of the asynchronous window: behind trigger message, turn-around and synchronous window.
    pub open: Duration,
    /// Its end: where the guard window begins.
    pub close: Duration,
    /// Servers that streams share, each after its parent.
    pub shared: Vec<SharedServer>,
    /// Streams that have a server of their own.
    pub reservations: Vec<Reservation>,
    /// Capacity of the background server in octets of the wire, and its period in cycles; none: what is left.
    pub background: Option<(u32, u32)>,
    /// Masters, trigger messages and synchronous streams.
    pub ftt: Ftt,
    /// Central admission of streams; none: all of them exist from the start.
    pub admission: Option<HartsAdmission>,
    /// Parameters of the test by equation 3.
    pub response_time: ResponseTimeTest,
}

impl Harts {
    /// Its recurring events in a run.
    pub(crate) fn recurring(&self, nodes: usize) -> Vec<Recurring> {
        let triggers = self.ftt.triggers.iter().flatten().count();
        let cycle = "an elementary cycle of `harts` begins at a port";
        let mut all = vec![Recurring::new(cycle, self.cycle, triggers)];
        if let Some(admission) = &self.admission {
            all.push(Recurring::new("a request of `harts` is repeated", admission.patience, nodes));
            all.push(Recurring::new("an ACMaster of `harts` sends a heartbeat", admission.alive, nodes));
        }
        all
    }
}

/// Parameters of the admission test by equation 3 of the published evaluation, which leaves them open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseTimeTest {
    /// Deadline of every stream in its periods; none: its own, and a stream without one is never late.
    pub deadline_periods: Option<u32>,
    /// From the last bit received in a switch to its queue.
    pub switch_delay: Duration,
    /// Guard window; none: that of the elementary cycle.
    pub guard: Option<Duration>,
    /// Whether streams without a reservation count in blocking and in the time left over at the end of a window.
    pub counts_unreserved: bool,
}

impl Default for ResponseTimeTest {
    fn default() -> Self {
        Self {
            deadline_periods: None,
            switch_delay: Duration::from_us(5),
            guard: None,
            counts_unreserved: true,
        }
    }
}

/// A server that streams share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedServer {
    /// Unique name.
    pub name: String,
    /// Its parent is an index of the shared servers.
    pub config: ServerConfig,
}

/// A stream's own server at every bridge on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// The stream.
    pub stream: StreamIndex,
    /// The server; its parent is an index of the shared servers.
    pub server: ServerConfig,
    /// Whether the description states its capacity or its period, so that they do not follow from the traffic.
    pub stated: bool,
    /// The least distance of its longest frames, a multiple of nanoseconds; at least one.
    pub interval: Duration,
    /// What the switch where it enters holds it to; none: it is not policed.
    pub police: Option<Police>,
}

impl Network {
    /// The servers of a port; none for an end station's, and without HaRTES.
    #[must_use]
    pub fn port_servers(&self, port: PortIndex) -> Option<ServersConfig> {
        let harts = self.harts.as_ref()?;
        let NodeKind::Bridge { .. } = self.nodes[self.ports[port.index()].node.index()].kind else {
            return None;
        };
        let mut servers: Vec<ServerConfig> = harts.shared.iter().map(|shared| shared.config).collect();
        servers.extend(self.reserved_at(harts, port).map(|reservation| reservation.server));
        let (capacity, period) = harts.background.map_or((None, 1), |(octets, every)| (Some(octets), every));
        servers.push(ServerConfig {
            parent: None,
            kind: ServerKind::Deferrable,
            capacity,
            period,
            priority: 0,
            window: ServerWindow::Asynchronous,
        });
        for window in [ServerWindow::Trigger, ServerWindow::Synchronous] {
            servers.push(ServerConfig {
                parent: None,
                kind: ServerKind::Deferrable,
                capacity: None,
                period: 1,
                priority: 7,
                window,
            });
        }
        let Harts { cycle, trigger, synchronous, open, close, .. } = *harts;
        Some(ServersConfig { cycle, trigger, synchronous, open, close, servers })
    }

    /// The number of the background server of a port of a bridge with HaRTES: reserved ones come before it.
    #[must_use]
    pub fn background_server(&self, port: PortIndex) -> Option<usize> {
        let harts = self.harts.as_ref()?;
        Some(harts.shared.len() + self.reserved_at(harts, port).count())
    }

    /// The server in which frames of a stream wait at a port of a bridge with HaRTES, by its number there.
    #[must_use]
    pub fn server_of(&self, stream: StreamIndex, port: PortIndex) -> Option<u16> {
        let harts = self.harts.as_ref()?;
        let NodeKind::Bridge { .. } = self.nodes[self.ports[port.index()].node.index()].kind else {
            return None;
        };
        let here = || self.reserved_at(harts, port);
        let background = harts.shared.len() + here().count();
        let own = || here().position(|reservation| reservation.stream == stream);
        let node = self.ports[port.index()].node;
        let place = if harts.ftt.is_trigger(stream, port) {
            background + 1
        } else if harts.ftt.is_synchronous_at(stream, node) {
            background + 2
        } else if harts.admission.as_ref().is_some_and(|admission| admission.is_control(stream, port)) {
            harts.admission.as_ref().and_then(|admission| admission.channel).map_or(background, usize::from)
        } else {
            own().map_or(background, |own| harts.shared.len() + own)
        };
        Some(u16::try_from(place).expect("fewer than 2^16 servers"))
    }

    fn reserved_at<'h>(&'h self, harts: &'h Harts, port: PortIndex) -> impl Iterator<Item = &'h Reservation> {
        harts.reservations.iter().filter(move |reservation| {
            self.streams[reservation.stream.index()].hops.iter().any(|hop| hop.port == port)
        })
    }
}

/// Octets of the wire of a stream's largest frame, at the hop where it is longest.
pub(crate) fn octets_of(stream: &Stream) -> u32 {
    let tagged = stream.tagged || stream.hops.iter().any(|hop| hop.tagged.vlan);
    u32::try_from(wire_bits(stream.payload_max, tagged).bytes_ceil().get()).unwrap_or(u32::MAX)
}
