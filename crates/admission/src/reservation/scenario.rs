//! What a run is made from: the network, its requests, and how long its processors take.

use serde::{Deserialize, Serialize};

/// How admission is organised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Architecture {
    /// Centralised: HaRTES.
    Harts,
    /// Distributed: stream reservation of AVB.
    Avb,
}

/// A time that varies: normal, cut at both ends. Nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spread {
    /// Mean.
    pub mean_ns: u64,
    /// Standard deviation.
    pub deviation_ns: u64,
    /// Least.
    pub min_ns: u64,
    /// Greatest.
    pub max_ns: u64,
}

/// An end node and its switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Its name.
    pub name: String,
    /// Its switch, by number.
    pub switch: usize,
}

/// A stream that is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamRequest {
    /// Its name.
    pub name: String,
    /// Its producer, or talker.
    pub talker: String,
    /// Its consumer, or listener.
    pub listener: String,
    /// MAC client data, octets.
    pub payload: u16,
    /// Period, nanoseconds.
    pub interval_ns: u64,
    /// Deadline, nanoseconds.
    pub deadline_ns: u64,
    /// Priority of the class: 3 for class A, 2 for class B.
    pub priority: u8,
    /// When the talker asks, nanoseconds after the warm-up.
    #[serde(default)]
    pub at_ns: u64,
    /// How much later the listener asks, at most (drawn), nanoseconds; both are drawn up to it.
    #[serde(default)]
    pub jitter_ns: u64,
}

/// Best-effort traffic on every link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Load {
    /// Packets in a second.
    pub packets_per_second: u64,
    /// Time of one on the line, nanoseconds.
    pub frame_ns: u64,
}

/// Time of an admission test, by the number of streams that are installed, or by links; straight lines between.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestTime {
    /// Installed streams and nanoseconds at the processor's higher speed, by streams.
    pub table: Vec<(u64, u64)>,
    /// If it is not zero: links of each stream that the table was measured with. The test's time then goes by the links of all
    /// streams that it looks at, the new one's with them, as if they were of so many links each; below the table it goes on
    /// as the table begins.
    #[serde(default)]
    pub links: u64,
    /// Runs in which the processor has its lower speed, in thousandths.
    pub slow_permille: u64,
    /// How much longer everything takes in these, in thousandths of the other.
    pub slow_factor_permille: u64,
    /// Standard deviation of a single test, in thousandths of its time, cut at three of them.
    pub noise_permille: u64,
    /// Whether that is drawn once for all tests of a run; else for each.
    #[serde(default)]
    pub noise_lasts: bool,
}

/// Times of HaRTES.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HartsTimes {
    /// Elementary cycle, nanoseconds.
    pub cycle_ns: u64,
    /// Windows before the asynchronous one, nanoseconds.
    pub before_ns: u64,
    /// Octets of the wire of control messages that a port sends in a cycle.
    pub control_octets: u64,
    /// Whether the control channel goes before everything else; if not, it has what the load leaves, in its place.
    #[serde(default = "yes")]
    pub control_first: bool,
    /// Handling of a message in the ACMaster.
    pub handling: Spread,
    /// Relaying of a request in a switch's master.
    pub relay: Spread,
    /// Configuration of a stream in a switch's master.
    pub configure: Spread,
    /// Handling of a message in a node.
    pub node: Spread,
    /// The admission test.
    pub test: TestTime,
    /// The switch of the ACMaster.
    pub acmaster_switch: usize,
    /// Whether a second ACMaster, at the same switch, is told of every stream before it is acknowledged.
    #[serde(default)]
    pub replicated: bool,
}

/// When an AVB station's declarations leave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JoinKind {
    /// At once, three in one and a half join times (point-to-point links).
    AtOnce,
    /// A join time later: implementations with one timer.
    After,
    /// After a drawn part of the join time.
    Random,
}

/// Times of AVB.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AvbTimes {
    /// Join time of the stations, nanoseconds.
    pub join_ns: u64,
    /// When their declarations leave.
    pub join: JoinKind,
    /// How often a talker's application looks whether its listener is ready, nanoseconds; zero: it is told.
    pub tick_ns: u64,
    /// Whether a listener asks only when it has seen its talker; else it asks at once, as failed at first, and again.
    pub listener_waits: bool,
    /// Processing of a talker's declaration in a bridge.
    pub talker: Spread,
    /// Processing of a listener's declaration in a bridge.
    pub listener: Spread,
    /// Processing of other declarations in a bridge.
    pub other: Spread,
    /// Processing of a message in a station.
    pub station: Spread,
    /// Time that a bridge's processor takes for a packet of the load, nanoseconds.
    pub packet_ns: u64,
    /// Whether bridges keep MRP's limit of three MRPDUs in one and a half join times; to show what follows from it.
    #[serde(default = "yes")]
    pub limited: bool,
    /// JoinTime of the bridges, nanoseconds, which that limit goes by: 200 ms.
    #[serde(default = "join_time")]
    pub bridge_join_ns: u64,
    /// How long behind its last MRPDU a bridge says again what it has said, nanoseconds; zero: at the next opportunity.
    #[serde(default)]
    pub bridge_repeat_ns: u64,
    /// Most reservations of a bridge.
    pub reservations_max: usize,
    /// Time before the first request, nanoseconds: drawn up to twice it. Zero: the network starts with the requests.
    pub warm_up_ns: u64,
}

const fn yes() -> bool {
    true
}

const fn join_time() -> u64 {
    200_000_000
}

/// A run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scenario {
    /// Seed of all that is drawn.
    pub seed: u64,
    /// How admission is organised.
    pub architecture: Architecture,
    /// Number of switches.
    pub switches: usize,
    /// Cables between switches; a tree.
    pub links: Vec<(usize, usize)>,
    /// End nodes.
    pub nodes: Vec<Place>,
    /// Streams that stand before the first request.
    #[serde(default)]
    pub installed: Vec<StreamRequest>,
    /// Requests.
    pub requests: Vec<StreamRequest>,
    /// Best-effort traffic.
    #[serde(default)]
    pub load: Option<Load>,
    /// Times of HaRTES.
    pub harts: HartsTimes,
    /// Times of AVB.
    pub avb: AvbTimes,
}

impl Scenario {
    /// Holds the parts against each other.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.switches == 0 || self.switches > 1_000 || self.nodes.len() > 10_000 {
            return Err("a network of 1 to 1000 switches and at most 10000 nodes".to_owned());
        }
        if let Some(node) = self.nodes.iter().find(|node| node.switch >= self.switches) {
            return Err(format!("node `{}` is at a switch that there is not", node.name));
        }
        if self.links.len() + 1 != self.switches {
            return Err("the cables between switches are a tree".to_owned());
        }
        if self.links.iter().any(|(one, other)| one.max(other) >= &self.switches) {
            return Err("a cable to a switch that there is not".to_owned());
        }
        for request in self.installed.iter().chain(&self.requests) {
            for node in [&request.talker, &request.listener] {
                if !self.nodes.iter().any(|known| known.name == *node) {
                    return Err(format!("stream `{}` names a node `{node}` that there is not", request.name));
                }
            }
            if request.interval_ns == 0 || request.talker == request.listener {
                return Err(format!("stream `{}` has no interval, or is its own listener", request.name));
            }
        }
        let times = &self.harts;
        if times.cycle_ns <= times.before_ns
            || times.control_octets < 100
            || times.acmaster_switch >= self.switches
        {
            return Err(
                "an elementary cycle without a window, without control messages or without an ACMaster"
                    .to_owned(),
            );
        }
        if times.test.table.is_empty() || !times.test.table.is_sorted_by_key(|(streams, _)| *streams) {
            return Err("times of the test by rising numbers of streams".to_owned());
        }
        Ok(())
    }

    /// The number of a node.
    pub(super) fn node(&self, name: &str) -> usize {
        self.nodes.iter().position(|node| node.name == name).expect("a checked scenario")
    }
}

impl StreamRequest {
    /// Octets of the wire of a frame: tag, header, FCS, preamble and gap with it; 64 octets at least.
    #[must_use]
    pub fn wire(&self) -> u64 {
        // 22 octets of header, tag and FCS on at least 46 of data, as a tagged frame of this project is padded.
        u64::from(self.payload.max(46)) + 22 + 20
    }
}
