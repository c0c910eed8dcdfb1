//! The catalogue of faults: those of the kernel, and the list of the mechanisms that have others (`codes.rs` of their folders).
//!
//! A test holds a broken description against every code.

/// Codes as constants, and the catalogue of them.
macro_rules! codes {
    ($($(#[doc = $doc:literal])* $name:ident = $code:literal;)*) => {
        $($(#[doc = $doc])* pub(crate) const $name: &str = $code;)*
        /// Every code here, with what it means.
        pub(crate) const CATALOGUE: &[(&str, &str)] = &[$(($code, concat!($($doc),*))),*];
    };
}

pub(crate) use codes;

codes! {
    /// The text is not UTF-8.
    UTF8 = "text::utf-8";
    /// The text is not YAML.
    YAML = "text::yaml";
    /// The text, or the tree that it makes, is too large.
    TOO_LARGE = "text::too-large";
    /// A file that the description names cannot be read or understood.
    FILE = "text::file";
    /// A table with unknown columns, a row with too few or too many cells, or unmatched quotes.
    TABLE = "text::table";
    /// A capture that ends within a frame: the complete frames are replayed.
    TRACE_CUT = "trace::cut-short";
    /// Records of a capture that are not valid frames: too short, or with contradicting lengths.
    TRACE_SKIPPED = "trace::skipped";
    /// Frames of a capture without time stamps.
    TRACE_TIMES = "trace::no-time";
    /// Addresses, VLAN or priority that cannot be taken from a trace: its frames differ, or have none.
    TRACE_TAKEN = "trace::taken";
    /// A key occurs twice in one mapping.
    DUPLICATE_KEY = "form::duplicate-key";
    /// A key that is not known here.
    UNKNOWN_KEY = "form::unknown-key";
    /// A key of a mechanism that is not supported.
    NOT_SUPPORTED = "form::not-supported";
    /// A required key is missing.
    MISSING_KEY = "form::missing-key";
    /// A value of the wrong kind: a list for a text, a word for a number.
    KIND = "form::kind";
    /// A list with too few or too many elements.
    COUNT = "form::count";
    /// Two keys that state the same thing, or exclude each other.
    CONFLICT = "form::conflict";
    /// A key without effect, because another key excludes it or is missing.
    NO_EFFECT = "form::no-effect";
    /// Mechanisms that go together in a run, and of which no bound is known together.
    NO_BOUND = "bound::unknown";
    /// A number without its unit.
    UNIT_MISSING = "value::unit-missing";
    /// A unit of another quantity.
    UNIT_UNKNOWN = "value::unit-unknown";
    /// A text that is not a number.
    NUMBER = "value::number";
    /// A number out of the range of its key, or finer than the resolution.
    RANGE = "value::range";
    /// A word that is not one of those known here.
    WORD = "value::word";
    /// A name with characters that names do not have.
    NAME = "value::name";
    /// A text that is not an address.
    ADDRESS = "value::address";
    /// A reference to a node that does not exist.
    UNKNOWN_NODE = "name::unknown-node";
    /// A reference to a port that does not exist.
    UNKNOWN_PORT = "name::unknown-port";
    /// A reference to a link that does not exist.
    UNKNOWN_LINK = "name::unknown-link";
    /// A reference to a stream that does not exist.
    UNKNOWN_STREAM = "name::unknown-stream";
    /// A reference to a device model that does not exist.
    UNKNOWN_DEVICE = "name::unknown-device";
    /// A reference to a host model that does not exist.
    UNKNOWN_HOST = "name::unknown-host";
    /// A reference to a VLAN that does not exist.
    UNKNOWN_VLAN = "name::unknown-vlan";
    /// Two things of the same name.
    DUPLICATE_NAME = "name::duplicate";
    /// A node of the wrong type for its role: a bridge as a talker.
    NODE_TYPE = "node::type";
    /// A cable between two ports of one node.
    LINK_TO_ITSELF = "link::to-itself";
    /// A port with two cables, or a node with no port left.
    PORT_TAKEN = "link::port-taken";
    /// A name that no network interface has, or one interface for two ports of a node.
    INTERFACE = "port::interface";
    /// Half duplex, which is not Ethernet as it is modelled here.
    HALF_DUPLEX = "link::half-duplex";
    /// PAUSE, priority-based flow control or Energy-Efficient Ethernet, which must be off.
    FLOW_CONTROL = "link::flow-control";
    /// A least delay above the most.
    DELAY_RANGE = "delay::range";
    /// A clock whose drift exceeds its tolerance.
    CLOCK = "clock::drift";
    /// An active topology with a loop in which flooded frames would circle.
    LOOP = "vlan::loop";
    /// A frame leaves a port untagged and would join another VLAN at the next.
    VLAN_CHANGE = "vlan::change";
    /// A frame leaves a port to another bridge untagged, and loses its priority there.
    PRIORITY_LOST = "vlan::priority-lost";
    /// A destination that bridges on the way never learn, so that its frames are flooded for the whole run.
    FLOODING = "vlan::flooding";
    /// idleSlopes of a port that exceed its rate.
    IDLE_SLOPE = "class::idle-slope";
    /// A credit-based class without its idleSlope.
    NO_IDLE_SLOPE = "class::no-idle-slope";
    /// A queue or a shared buffer that holds no frame of a stream, or not its largest ones.
    QUEUE_LIMIT = "port::queue-limit";
    /// A shared buffer with more cells set aside than there are.
    BUFFER = "port::buffer";
    /// A listener that no path reaches.
    UNREACHABLE = "stream::unreachable";
    /// A stated route that does not connect the talker with its listeners.
    ROUTE = "stream::route";
    /// A talker among its own listeners, or one listener twice.
    LISTENERS = "stream::listeners";
    /// A frame that is larger than the MTU of a port on its path.
    MTU = "stream::mtu";
    /// A frame that is smaller or larger than any Ethernet frame, or too small for its headers.
    FRAME_SIZE = "stream::frame-size";
    /// Impossible traffic: no time between frames, unlimited jitter.
    TRAFFIC = "stream::traffic";
    /// Greedy traffic without an arrival curve.
    NO_ARRIVAL_CURVE = "stream::no-arrival-curve";
    /// An arrival curve whose burst does not hold one frame, or that its traffic exceeds or cannot keep.
    ARRIVAL_CURVE = "stream::arrival-curve";
    /// A deadline that is shorter than transmission and propagation alone.
    DEADLINE = "stream::deadline";
    /// A stream in an ATS class without shaper parameters.
    NO_SHAPER = "shaper::missing";
    /// A CommittedBurstSize below the largest frame: such a frame is never eligible.
    BURST_SIZE = "shaper::burst-size";
    /// A CommittedInformationRate below the rate of the stream.
    SHAPER_RATE = "shaper::rate";
    /// Impossible stream identification: a function that the bridge does not have, or one that not all of the
    /// stream's frames match.
    IDENTIFICATION = "stream::identification";
    /// Streams that stream identification does not distinguish: they share an ATS scheduler.
    SHARED_FILTER = "shaper::shared-filter";
    /// A ProcessingDelayMax below what the stages of the device take.
    PROCESSING_DELAY = "shaper::processing-delay";
    /// More streams in a group than it has schedulers.
    SCHEDULERS = "shaper::schedulers";
    /// More traffic than a link can carry.
    OVERLOAD = "port::overload";
    /// More traffic in a credit-based class than its idleSlope.
    CLASS_OVERLOAD = "class::overload";
    /// An event without effect, about something that does not exist, or that bypasses the grant of a stream.
    EVENT = "event::impossible";
    /// More frames, or cycles of protocols, than a run can carry out.
    PACE = "run::pace";
    /// A run that ends before its statistics begin.
    RUN = "run::duration";
}

/// Every code, with what it means.
pub(crate) fn catalogue() -> Vec<(&'static str, &'static str)> {
    let all = [
        CATALOGUE,
        crate::host_stacks::codes::CATALOGUE,
        crate::gates::codes::CATALOGUE,
        crate::psfp::codes::CATALOGUE,
        crate::preemption::codes::CATALOGUE,
        crate::cqf::codes::CATALOGUE,
        crate::frer::codes::CATALOGUE,
        crate::virtual_link::codes::CATALOGUE,
        crate::tdma::codes::CATALOGUE,
        crate::time_triggered::codes::CATALOGUE,
        crate::as6802::codes::CATALOGUE,
        crate::srp::codes::CATALOGUE,
        crate::gptp::codes::CATALOGUE,
        crate::harts::codes::CATALOGUE,
        crate::test_bed::codes::CATALOGUE,
    ];
    all.concat()
}

/// The errors that a description may allow: what they are about can be run and bounded.
pub(crate) const ALLOWED: &[&str] = &[
    OVERLOAD,
    CLASS_OVERLOAD,
    MTU,
    QUEUE_LIMIT,
    DEADLINE,
    BURST_SIZE,
    crate::gates::codes::GATE_WINDOW,
    crate::gates::codes::GATE_SDU,
];
