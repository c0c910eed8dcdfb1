//! A limit that may be too small: its kind, its place, and the sufficient value.
//!
//! The kinds of a mechanism are in its folder; those here are of every port and host.

use tautwire_core::TrafficClass;
use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, PortIndex, StreamIndex};
use tautwire_units::Duration;

/// A limit that may be too small for what comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Its kind.
    pub kind: LimitKind,
    /// Its place.
    pub at: LimitPlace,
    /// The limit, in the unit of its kind.
    pub limit: u64,
    /// What would do, in the same unit; none: no limit is known that does.
    pub needed: Option<u64>,
}

/// The kind of a limit: its name, its unit, its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitKind {
    /// Its name in results.
    pub name: &'static str,
    /// Its unit; `ps` for times.
    pub unit: &'static str,
    /// What is limited, with `{place}` and, where its place has them, `{class}`, `{from}` and `{stream}`.
    pub text: &'static str,
    /// Whether frames that are lost to it are meant to be.
    pub is_meant: bool,
    /// Whether a smaller value would do, not a greater one.
    pub wants_less: bool,
}

/// The place of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitPlace {
    /// A node.
    Node(NodeIndex),
    /// A port.
    Port(PortIndex),
    /// A class of an egress port.
    Class(PortIndex, TrafficClass),
    /// Its frames from one reception port.
    Lane(PortIndex, TrafficClass, PortIndex),
    /// A stream.
    Stream(StreamIndex),
    /// A stream at a node.
    StreamAt(StreamIndex, NodeIndex),
}

impl LimitKind {
    /// Frames that wait in the queue of a class of an egress port.
    pub const QUEUE_FRAMES: Self = Self::new("queue-frames", "frames", "queue of class {class} of {place}");
    /// Octets of them.
    pub const QUEUE_OCTETS: Self = Self::new("queue-octets", "octets", "queue of class {class} of {place}");
    /// Frames of one reception port that wait there.
    pub const LANE_FRAMES: Self = Self::new(
        "reception-queue-frames",
        "frames",
        "queue of class {class} of {place} for frames from port {from}",
    );
    /// Cells of a port's shared buffer, which leave too few for a class when the other classes have theirs.
    pub const BUFFER_CELLS: Self =
        Self::new("buffer-cells", "cells", "shared buffer of {place}, too small for class {class}");
    /// Frames between application and port.
    pub const HOST_QUEUE: Self = Self::new("host-queue-frames", "frames", "queue of host {place}");
    /// Octets of MAC client data that a port takes.
    pub const MTU: Self = Self::new("mtu", "octets", "mtu of {place}");
    /// Picoseconds that a frame may stay before its eligibility time, at an egress port.
    pub const RESIDENCE_TIME: Self = Self::new("residence-time", "ps", "max-residence-time before {place}");
    /// Charged bits of the shaper's CommittedBurstSize before a port, which a frame must fit into.
    pub const SHAPER_BURST: Self = Self::new("shaper-burst", "bits", "committed-burst-size before {place}");

    /// A kind of limit that loses frames where it is too small.
    #[must_use]
    pub const fn new(name: &'static str, unit: &'static str, text: &'static str) -> Self {
        Self { name, unit, text, is_meant: false, wants_less: false }
    }
}

impl Limit {
    /// Whether frames that are lost to it are meant to be.
    #[must_use]
    pub const fn is_meant(&self) -> bool {
        self.kind.is_meant
    }

    /// Its place: a port, a node or a stream.
    #[must_use]
    pub fn place(&self, network: &Network) -> String {
        match self.at {
            LimitPlace::Port(at) | LimitPlace::Class(at, _) | LimitPlace::Lane(at, ..) => {
                let port = &network.ports[at.index()];
                format!("{}.{}", network.nodes[port.node.index()].name, port.name)
            }
            LimitPlace::Node(node) | LimitPlace::StreamAt(_, node) => {
                network.nodes[node.index()].name.clone()
            }
            LimitPlace::Stream(stream) => network.streams[stream.index()].name.clone(),
        }
    }

    /// The class of the port, if it is one of a class.
    #[must_use]
    pub const fn class(&self) -> Option<TrafficClass> {
        match self.at {
            LimitPlace::Class(_, class) | LimitPlace::Lane(_, class, _) => Some(class),
            _ => None,
        }
    }

    /// In words: `queue of class 3 of b1.p2: limit 64 frames, 91 needed`.
    #[must_use]
    pub fn text(&self, network: &Network) -> String {
        let mut what = self.kind.text.replace("{place}", &self.place(network));
        if let Some(class) = self.class() {
            what = what.replace("{class}", &class.to_string());
        }
        if let LimitPlace::Lane(_, _, from) = self.at {
            what = what.replace("{from}", &network.ports[from.index()].name);
        }
        if let LimitPlace::StreamAt(stream, _) = self.at {
            what = what.replace("{stream}", &network.streams[stream.index()].name);
        }
        let amount = |value: u64| match self.kind.unit {
            "ps" => Duration::from_ps(value).to_string(),
            unit => format!("{value} {unit}"),
        };
        let most = if self.kind.wants_less { " at most" } else { "" };
        let needed = match (self.needed, self.kind.unit) {
            (Some(needed), "cells") => format!("`cells: {needed}` would do for all classes"),
            (Some(needed), "ps") => format!("{}{most} needed", Duration::from_ps(needed)),
            (Some(needed), _) => format!("{needed}{most} needed"),
            (None, _) => "no sufficient limit is known".to_owned(),
        };
        format!("{what}: limit {}, {needed}", amount(self.limit))
    }
}
