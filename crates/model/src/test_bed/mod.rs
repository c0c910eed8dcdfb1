//! A test of a test bed: tasks of end systems, and the messages that they send one another.

pub(crate) mod codes;
pub(crate) mod language;
pub(crate) mod resolve;

use tautwire_units::{Bytes, Duration};
use tautwire_wire::PayloadType;

use crate::check::pace::Recurring;
use crate::network::{Delay, NodeIndex, PortIndex, StreamIndex};

/// A test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    /// Its tasks, in order.
    pub tasks: Vec<Task>,
    /// A message with a latency above it on any of its links is taken for one that met a context switch: it is counted, and
    /// in no statistics.
    pub outliers_above: Option<Duration>,
    /// How the stations' system clocks are disciplined, by which they log; by true time if not at all.
    pub clocks: Option<TestClocks>,
}

/// How a station's system clock follows its interface's: a servo, once an interval, by the quickest of some readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TestClocks {
    /// The error of its free-running rate, parts in 10^9.
    pub tolerance_ppb: u32,
    /// Time between two corrections.
    pub interval: Duration,
    /// Share of an offset that changes the rate at once, in thousandths.
    pub proportional: u16,
    /// Share that changes it permanently, in thousandths.
    pub integral: u16,
    /// Readings of a correction, of which the quickest counts.
    pub readings: u8,
    /// How long a reading takes.
    pub reading: Delay,
}

impl TestClocks {
    /// Its recurring events in a run.
    pub(crate) fn recurring(&self, nodes: usize) -> Vec<Recurring> {
        let readings = nodes * usize::from(self.readings);
        vec![Recurring::new("a station of the test corrects its clock", self.interval, readings)]
    }
}

/// A task of an end system in a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The end system.
    pub station: NodeIndex,
    /// Its kind.
    pub kind: TaskKind,
}

/// Kinds of tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskKind {
    /// Sends the messages of a route. The task's number is the messages' identifier.
    Transmit {
        /// The route.
        route: StreamIndex,
        /// The payload of the messages.
        payload_type: PayloadType,
    },
    /// Takes the messages of a route.
    Receive {
        /// The route.
        route: StreamIndex,
    },
    /// Takes the messages of a route and sends them on by another.
    Relay {
        /// The route by which they come.
        route: StreamIndex,
        /// The route by which they go.
        by: StreamIndex,
    },
    /// Sends frames that only fill the network.
    Inject {
        /// Their route.
        route: StreamIndex,
    },
    /// Turns bits of a route's messages at a station that sends or receives them, behind the check of the frame.
    Corrupt {
        /// The route.
        route: StreamIndex,
        /// Chance of a message, in 10^-18.
        chance: u64,
    },
    /// Stamps what passes a cable at a port, both ways, and disturbs nothing: a passive tap.
    Capture {
        /// The port of the end system.
        port: PortIndex,
        /// Step of its stamps.
        quantum: Duration,
    },
}

impl Task {
    /// The route that it is about; none of a capture.
    #[must_use]
    pub const fn route(&self) -> Option<StreamIndex> {
        match self.kind {
            TaskKind::Transmit { route, .. }
            | TaskKind::Receive { route }
            | TaskKind::Relay { route, .. }
            | TaskKind::Inject { route }
            | TaskKind::Corrupt { route, .. } => Some(route),
            TaskKind::Capture { .. } => None,
        }
    }
}

impl Test {
    /// Octets of the headers before a message in its frame's payload: IPv4 and UDP.
    pub const HEADERS: Bytes = Bytes::new(28);

    /// The tasks that send messages, by their numbers, with their routes.
    pub fn messages(&self) -> impl Iterator<Item = (u32, StreamIndex)> + '_ {
        self.tasks.iter().zip(0..).filter_map(|(task, number)| match task.kind {
            TaskKind::Transmit { route, .. } => Some((number, route)),
            TaskKind::Receive { .. }
            | TaskKind::Relay { .. }
            | TaskKind::Inject { .. }
            | TaskKind::Corrupt { .. }
            | TaskKind::Capture { .. } => None,
        })
    }

    /// The routes of a message: the first is `route`, the others are those by which it is relayed, each behind the one
    /// that it relays.
    #[must_use]
    pub fn way(&self, route: StreamIndex) -> Vec<StreamIndex> {
        let mut way = vec![route];
        let mut place = 0;
        while let Some(last) = way.get(place).copied() {
            let relayed = self.tasks.iter().filter_map(|task| match task.kind {
                TaskKind::Relay { route, by } if route == last => Some(by),
                _ => None,
            });
            for by in relayed {
                if !way.contains(&by) {
                    way.push(by);
                }
            }
            place += 1;
        }
        way
    }

    /// The end systems that a route is to be received by, each once.
    pub fn receivers(&self, route: StreamIndex) -> impl Iterator<Item = NodeIndex> + '_ {
        let receives = move |task: &Task| matches!(task.kind, TaskKind::Receive { route: of } | TaskKind::Relay { route: of, .. } if of == route);
        let place = self.tasks.iter().enumerate().filter(move |(_, task)| receives(task));
        place.filter_map(move |(number, task)| {
            let again = |other: &Task| receives(other) && other.station == task.station;
            (!self.tasks[..number].iter().any(again)).then_some(task.station)
        })
    }
}
