//! A test of a test bed: tasks of end systems, and the messages that they send one another.

use tautwire_units::{Bytes, Duration};
use tautwire_wire::PayloadType;

use super::{NodeIndex, PortIndex, StreamIndex};

/// A test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    /// Its tasks, in order.
    pub tasks: Vec<Task>,
    /// Latencies above it are left out of the statistics and counted: they are taken for context switches.
    pub outliers_above: Option<Duration>,
}

/// What an end system does in a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The end system.
    pub station: NodeIndex,
    /// What it does.
    pub kind: TaskKind,
}

/// Kinds of tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskKind {
    /// Sends the messages of a route. The task's number is the messages' identifier.
    Transmit {
        /// The route.
        route: StreamIndex,
        /// What the messages hold.
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
    /// Stamps what passes a cable at a port, both ways, and disturbs nothing: a passive tap.
    Capture {
        /// The port of the end system.
        port: PortIndex,
        /// Step of its stamps.
        quantum: Duration,
    },
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
            | TaskKind::Capture { .. } => None,
        })
    }

    /// The routes of a message, in order: the first is `route`, the others are those by which it is relayed.
    #[must_use]
    pub fn way(&self, route: StreamIndex) -> Vec<StreamIndex> {
        let mut way = vec![route];
        let next = |last: StreamIndex| {
            self.tasks.iter().find_map(|task| match task.kind {
                TaskKind::Relay { route, by } if route == last => Some(by),
                _ => None,
            })
        };
        while let Some(by) = next(way[way.len() - 1]).filter(|by| !way.contains(by)) {
            way.push(by);
        }
        way
    }

    /// The end systems that a route is to be received by.
    pub fn receivers(&self, route: StreamIndex) -> impl Iterator<Item = NodeIndex> + '_ {
        self.tasks.iter().filter_map(move |task| match task.kind {
            TaskKind::Receive { route: of } | TaskKind::Relay { route: of, .. } if of == route => {
                Some(task.station)
            }
            _ => None,
        })
    }
}
