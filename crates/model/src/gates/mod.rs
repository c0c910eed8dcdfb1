//! Scheduled traffic of ports, resolved (IEEE Std 802.1Q-2022, 8.6.8.4, 8.6.9, 12.29).
//!
//! The machine and its parameters are `core`'s (`gates/`); here are those of each port, and the clock that its list
//! follows. Not here: bounds.

pub(crate) mod check;
pub(crate) mod codes;
pub(crate) mod language;
pub(crate) mod resolve;
mod scheduled_text;
mod without_effect;

pub use self::scheduled_text::GateChange;
use tautwire_core::gates::GatesConfig;
pub use tautwire_core::gates::{
    CycleTime, Entry, GateParameters, GatedCredit, GuardPolicy, OpenInterval, Openings, Operation,
};
use tautwire_units::{BitRate, Bytes, Duration, Instant};

use crate::blocks::Block;
use crate::frame::frame_length;
use crate::network::{
    Network, NodeIndex, PortIndex, StreamIndex, TimelineAction, TimelineEvent, Traffic, TransmissionSelection,
};

/// What the description's stages know of it.
pub(crate) static BLOCK: Block = Block {
    name: "gates",
    is_in: |network| network.ports.iter().any(|port| port.gates.is_some()),
    port_keys: &["gate-parameter-table"],
    words: &[
        "gate-parameter-table",
        "gates",
        "gate-control-list",
        "gcl",
        "taprio",
        "time-aware-shaper",
        "tas",
        "scheduled-traffic",
    ],
    place: "gates are under `gate-parameter-table` of a port, a node, a device or the defaults",
    check: check::check,
};

/// The gates of a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortGates {
    /// Bit *n*: the gate of class *n* is open until the first cycle starts.
    pub admin_gate_states: u8,
    /// The list. Its first cycle starts at the base time, or a whole number of cycles later if that is past when the run begins.
    pub parameters: GateParameters,
    /// Largest MAC client data of each class (queueMaxSDU, whatever the description counts); a larger frame is discarded when it is to
    /// be queued. None: the MTU of the port alone.
    pub payload_max: [Option<Bytes>; 8],
    /// How frames are kept from being sent while their gates shut.
    pub guard: GuardPolicy,
    /// Each change of the gates happens at the first multiple of it, at or after the time in the list; zero: at that time.
    pub tick: Duration,
    /// The behaviour of credit.
    pub credit: GatedCredit,
    /// The limits of the device; lists are within them.
    pub limits: GateLimits,
}

/// Limits of lists; none: no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GateLimits {
    /// Most entries (SupportedListMax).
    pub list: Option<u64>,
    /// Longest interval (SupportedIntervalMax).
    pub interval: Option<Duration>,
    /// Longest cycle (SupportedCycleMax).
    pub cycle: Option<CycleTime>,
}

/// Requirements on the offset at which a talker releases the frames of a stream (802.1Qcc, TSpecTimeAware).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeAware {
    /// Least offset.
    pub earliest: Duration,
    /// Greatest offset, below the interval.
    pub latest: Duration,
}

/// The clock that the gates of a node follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GateClock {
    /// The node's own clock.
    Free,
    /// The grandmaster's, by a clock that gPTP corrects.
    Gptp,
    /// Network time of AS6802, or of clocks that are corrected to a stated precision.
    NetworkTime,
}

/// Open gates, with nothing stated.
impl Default for PortGates {
    fn default() -> Self {
        Self {
            admin_gate_states: u8::MAX,
            parameters: GateParameters {
                control_list: Vec::new(),
                base_time: Instant::ZERO,
                cycle_time: CycleTime::new(1_000_000, 1).expect("a microsecond"),
                cycle_time_extension: Duration::ZERO,
            },
            payload_max: [None; 8],
            guard: GuardPolicy::LookAhead,
            tick: Duration::ZERO,
            credit: GatedCredit {
                frozen_when_closed: true,
                frozen_in_guard_band: false,
                slope_is_average: true,
            },
            limits: GateLimits::default(),
        }
    }
}

impl PortGates {
    /// Largest MAC client data that a class takes at a port with this MTU.
    #[must_use]
    pub fn payload_max(&self, class: usize, mtu: Bytes) -> Bytes {
        self.payload_max[class].map_or(mtu, |most| most.min(mtu))
    }

    /// By how much an open interval may be shorter than in its list, and a change of the gates later, because of the
    /// tick. Zero where all times are multiples of the tick.
    #[must_use]
    pub fn rounding(&self) -> Duration {
        self.rounding_of(&self.parameters)
    }

    /// The same with another list.
    #[must_use]
    pub fn rounding_of(&self, parameters: &GateParameters) -> Duration {
        let tick = self.tick.as_ps();
        let exact = tick <= 1 || parameters.is_multiple_of(tick);
        if exact { Duration::ZERO } else { Duration::from_ps(tick - 1) }
    }

    /// idleSlope of a credit-based class while its gate is open, in a description with `idle_slope`; none if it never opens.
    #[must_use]
    pub fn oper_idle_slope(&self, class: usize, idle_slope: BitRate) -> Option<BitRate> {
        if self.credit.slope_is_average {
            self.parameters.oper_idle_slope(class, idle_slope)
        } else {
            Some(idle_slope)
        }
    }
}

impl Network {
    /// The gates of a port, if its list runs.
    #[must_use]
    pub fn gates(&self, port: PortIndex) -> Option<&PortGates> {
        self.ports[port.index()].gates.as_deref()
    }

    /// What is stated of the gates of a port, enabled or not.
    #[must_use]
    pub fn stated_gates(&self, port: PortIndex) -> PortGates {
        let port = &self.ports[port.index()];
        port.gates.as_deref().or(port.gates_off.as_deref()).cloned().unwrap_or_default()
    }

    /// What the clock of a node reads when a run begins; the least of all nodes, if below zero, counts as zero.
    #[must_use]
    pub fn first_reading(&self, node: NodeIndex) -> Duration {
        let least = self.nodes.iter().map(|node| node.clock.offset.as_ps()).min().unwrap_or(0).min(0);
        let reading = self.nodes[node.index()].clock.offset.as_ps() - least;
        Duration::from_ps(u64::try_from(reading).expect("the least is taken off"))
    }

    /// The network with other gates, and other offsets of periodic traffic.
    #[must_use]
    pub fn with_gates(
        &self,
        gates: Vec<(PortIndex, PortGates)>,
        offsets: &[(StreamIndex, Duration)],
    ) -> Self {
        let mut network = self.clone();
        for (port, gates) in gates {
            let port = &mut network.parts.ports[port.index()];
            (port.gates, port.gates_off) = (Some(Box::new(gates)), None);
        }
        for (stream, found) in offsets {
            let stream = &mut network.parts.streams[stream.index()];
            if let Traffic::Periodic { offset, .. } = &mut stream.traffic {
                (*offset, stream.open_phase) = (*found, false);
            }
        }
        network
    }

    /// How the gates of a port are built.
    pub(crate) fn gates_config(&self, port: PortIndex) -> Option<GatesConfig> {
        let (gates, mtu) = (self.gates(port)?, self.ports[port.index()].mtu);
        let most: [Bytes; 8] = std::array::from_fn(|class| gates.payload_max(class, mtu));
        let octets = |octets: Bytes| u32::try_from(octets.get()).unwrap_or(u32::MAX);
        Some(GatesConfig {
            admin_gate_states: gates.admin_gate_states,
            parameters: gates.parameters.clone(),
            guard: gates.guard,
            frame_max: most.map(|most| octets(frame_length(most, true))),
            payload_max: most.map(octets),
            tick: gates.tick,
            credit: gates.credit,
        })
    }

    /// Whether the list of a port changes in a run.
    #[must_use]
    pub fn gates_change(&self, port: PortIndex) -> bool {
        let changes =
            |event: &TimelineEvent| matches!(event.action, TimelineAction::ChangeGates(at, _) if at == port);
        self.events.iter().any(changes)
    }

    /// Whether any port has gates.
    #[must_use]
    pub fn has_gates(&self) -> bool {
        self.ports.iter().any(|port| port.gates.is_some())
    }

    /// The clock that all gates follow.
    #[must_use]
    pub fn gate_clock(&self) -> GateClock {
        if self.time_triggered.is_some() {
            GateClock::NetworkTime
        } else if self.gptp.as_ref().is_some_and(|gptp| gptp.servo.is_some()) {
            GateClock::Gptp
        } else {
            GateClock::Free
        }
    }

    /// idleSlope of a class in its shaper's terms: of a port with gates while the gate is open. None if the class is not credit-based.
    #[must_use]
    pub fn oper_idle_slope(&self, port: PortIndex, class: usize) -> Option<BitRate> {
        let settings = &self.ports[port.index()];
        let TransmissionSelection::CreditBased { idle_slope } = settings.classes[class].selection else {
            return None;
        };
        match &settings.gates {
            Some(gates) => gates.oper_idle_slope(class, idle_slope),
            None => Some(idle_slope),
        }
    }
}
