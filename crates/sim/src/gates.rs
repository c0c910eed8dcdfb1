//! Gates in a run (IEEE Std 802.1Q-2022, 8.6.8.4): the clock that they follow, frames larger than queueMaxSDU, and observations.
//!
//! The gates are part of the ports (`tautwire-core`), which give the instants of their next changes. This file updates
//! their clocks when network time or gPTP corrects them, and when their node comes back.

use tautwire_core::TrafficClass;
use tautwire_core::gates::GateTime;
use tautwire_core::gptp::DisciplinedClock;
use tautwire_model::network::{NodeIndex, PortIndex};
use tautwire_observe::{Cell, Column, Shown, Table};
use tautwire_units::{Duration, Instant};

use crate::engine::Engine;
use crate::node::PortState;
use crate::plan::index;
use crate::recorder::Recorder;

/// Observations of all gates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GatesObservation {
    /// Ports that have them, in the order of the network.
    pub ports: Vec<PortGatesObservation>,
}

/// Observations of the gates of a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortGatesObservation {
    /// The port.
    pub port: PortIndex,
    node: String,
    name: String,
    /// Bit *n*: the gate of class *n* is open at the end (OperGateStates).
    pub gate_states: u8,
    /// ConfigChangeTime: when the list that runs began, on the clock that the gates follow.
    pub config_change_time: Option<Instant>,
    /// ConfigPending: whether another list waits for its time at the end.
    pub config_pending: bool,
    /// ConfigChangeError: changes that were set with a base time that was past, while a list ran.
    pub config_change_error: u64,
    /// Frames of each class that were being sent when its gate closed (TransmissionOverrun).
    pub transmission_overrun: [u64; 8],
    /// Frames of each class that were larger than queueMaxSDU.
    pub max_sdu_exceeded: [u64; 8],
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    /// A node's clock was corrected: its gates follow it.
    pub(crate) fn gates_follow(&mut self, node: NodeIndex, clock: DisciplinedClock) {
        self.follow_at_receptions(node, GateTime::Corrected(clock));
        let local = self.nodes[node.index()].clock.local(self.now);
        for port in self.network.nodes[node.index()].ports.clone() {
            if let Some(state) = self.ports[port as usize].as_mut().filter(|state| state.egress.is_gated()) {
                state.egress.follow(local, GateTime::Corrected(clock));
                self.ask_gated(port);
            }
        }
    }

    /// A node comes back: its gates begin with their lists anew.
    pub(crate) fn start_gates(&mut self, node: NodeIndex) {
        let local = self.nodes[node.index()].clock.local(self.now);
        for port in self.network.nodes[node.index()].ports.clone() {
            if let Some(state) = &mut self.ports[port as usize] {
                state.egress.start_gates(local);
            }
        }
    }

    /// Polls a port with gates and waiting frames after its time has changed.
    pub(crate) fn ask_gated(&mut self, port: u32) {
        let waits = |state: &PortState| {
            state.egress.is_gated() && (!state.egress.is_empty() || state.egress.started().is_some())
        };
        if self.ports[port as usize].as_ref().is_some_and(waits) {
            self.ask(port);
        }
    }

    /// Observations of gates; none if there are none.
    pub(crate) fn gates_observation(&mut self) -> Option<GatesObservation> {
        let mut seen = GatesObservation::default();
        for (number, state) in self.ports.iter_mut().enumerate() {
            let Some(state) = state else { continue };
            state.egress.settle_gates(state.clock.local(self.now));
            let Some(gates) = state.egress.gates() else { continue };
            let counters = |class: usize| {
                let class = TrafficClass::all().nth(class).expect("below eight");
                state.egress.gate_counters(class)
            };
            let port = PortIndex(index(number));
            let described = &self.network.ports[port.index()];
            seen.ports.push(PortGatesObservation {
                port,
                node: self.network.nodes[described.node.index()].name.clone(),
                name: described.name.clone(),
                gate_states: gates.states(),
                config_change_time: gates.change_time(),
                config_pending: gates.is_pending(),
                config_change_error: gates.change_errors(),
                transmission_overrun: std::array::from_fn(|class| counters(class).transmission_overrun),
                max_sdu_exceeded: std::array::from_fn(|class| counters(class).max_sdu_exceeded),
            });
        }
        (!seen.ports.is_empty()).then_some(seen)
    }
}

const fn column(name: &'static str, title: &'static str) -> Column {
    Column { name, title }
}

/// Classes whose gates are open, the highest first: `7 5 0`.
fn open_classes(states: u8) -> String {
    let open: Vec<String> =
        (0..8_u8).rev().filter(|class| states >> class & 1 == 1).map(|class| class.to_string()).collect();
    if open.is_empty() { "none".to_owned() } else { open.join(" ") }
}

impl Shown for GatesObservation {
    fn join(&self, other: &Self) -> Self {
        let mut ports: Vec<_> = self.ports.iter().chain(&other.ports).cloned().collect();
        ports.sort_by_key(|port| port.port);
        Self { ports }
    }

    fn tables(&self) -> Vec<Table> {
        let place =
            |port: &PortGatesObservation| [Cell::Text(port.node.clone()), Cell::Text(port.name.clone())];
        let ports = self.ports.iter().map(|port| {
            let time = port.config_change_time.map(|time| time.since(Instant::ZERO));
            let cells = [
                Cell::Text(open_classes(port.gate_states)),
                time.map_or(Cell::None, |time: Duration| Cell::Number(time.as_ps())),
                Cell::Text(if port.config_pending { "yes" } else { "no" }.to_owned()),
                Cell::Number(port.config_change_error),
            ];
            place(port).into_iter().chain(cells).collect()
        });
        let classes = self.ports.iter().flat_map(|port| {
            let counted = (0..8)
                .rev()
                .filter(|class| port.transmission_overrun[*class] > 0 || port.max_sdu_exceeded[*class] > 0);
            counted.map(move |class| {
                let counts = [class as u64, port.transmission_overrun[class], port.max_sdu_exceeded[class]];
                place(port).into_iter().chain(counts.map(Cell::Number)).collect()
            })
        });
        vec![
            Table {
                name: "gates",
                title: "Gates",
                about: "The gates of each port at the end of the run; the list began at a time of the clock that they follow.",
                columns: vec![
                    column("node", "node"),
                    column("port", "port"),
                    column("gate_states", "open classes"),
                    column("config_change_time_ps", "list since"),
                    column("config_pending", "change pending"),
                    column("config_change_error", "change errors"),
                ],
                rows: ports.collect(),
            },
            Table {
                name: "gate_classes",
                title: "Frames at gates",
                about: "Frames of a class that were in transmission when its gate closed, and frames above its queueMaxSDU.",
                columns: vec![
                    column("node", "node"),
                    column("port", "port"),
                    column("class", "class"),
                    column("transmission_overrun", "overruns"),
                    column("max_sdu_exceeded", "max-SDU discards"),
                ],
                rows: classes.collect(),
            },
        ]
    }
}
