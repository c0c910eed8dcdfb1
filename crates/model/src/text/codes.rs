//! The catalogue of faults. A test holds a broken description against every code.

macro_rules! codes {
    ($($(#[doc = $doc:literal])* $name:ident = $code:literal;)*) => {
        $($(#[doc = $doc])* pub(crate) const $name: &str = $code;)*
        /// Every code, with what it means.
        pub(crate) const CATALOGUE: &[(&str, &str)] = &[$(($code, concat!($($doc),*))),*];
    };
}

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
    /// A reference to a protocol stack, an interface or a servicing thread that no host has.
    UNKNOWN_STACK = "name::unknown-stack";
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
    /// Half duplex, which is not Ethernet as it is modelled here.
    HALF_DUPLEX = "link::half-duplex";
    /// PAUSE, priority-based flow control or Energy-Efficient Ethernet, which must be off.
    FLOW_CONTROL = "link::flow-control";
    /// A socket's buffer that does not hold a message of a stream that waits in it.
    SOCKET_BUFFER = "host::socket-buffer";
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
    /// More streams in a group than it has schedulers.
    SCHEDULERS = "shaper::schedulers";
    /// A bandwidth allocation gap that the profile of its virtual link does not have.
    BAG = "virtual-link::bag";
    /// Two virtual links with one identifier, or one sub-virtual-link twice.
    LINK_DOUBLED = "virtual-link::doubled";
    /// Sub-virtual-links of one virtual link that differ in more than their traffic.
    LINK_DIFFERS = "virtual-link::differs";
    /// Virtual links of an end system that are granted more than its line carries.
    LINK_BANDWIDTH = "virtual-link::bandwidth";
    /// An end system whose virtual links give it more jitter than the standard allows.
    LINK_JITTER = "virtual-link::jitter";
    /// A virtual link of priority 1, whose class is below that of priority 0.
    LINK_PRIORITY = "virtual-link::priority";
    /// A virtual link that is policed by a switch which does not wait for the whole frame.
    LINK_POLICING = "virtual-link::policing";
    /// A virtual link over two networks that do not exist, or that have a bridge in common.
    LINK_REDUNDANCY = "virtual-link::redundancy";
    /// Impossible gates: without a list, beyond what the device can do, beside another schedule of the port, or shut to frames of a stream.
    GATES = "gates::impossible";
    /// A gate control list longer than its cycle.
    GATE_LIST = "gates::list";
    /// A class whose gate is never open for long enough for its frames.
    GATE_WINDOW = "gates::window";
    /// Frames that are longer than queueMaxSDU of their class.
    GATE_SDU = "gates::max-sdu";
    /// Stream filters, stream gates or flow meters that cannot be so, or that do not go together with other mechanisms.
    STREAM_FILTERS = "filters::impossible";
    /// Frames that are larger than the maximum SDU size of their stream filter.
    FILTER_SDU = "filters::max-sdu";
    /// Frames that fit into no bucket of their flow meter.
    FILTER_BURST = "filters::burst";
    /// Frame preemption that cannot be: classes of two services, a link whose end takes no fragments, or beside another mechanism of the port.
    PREEMPTION = "preemption::impossible";
    /// A port that is to preempt frames and does not.
    PREEMPTION_INACTIVE = "preemption::inactive";
    /// Cyclic queuing and forwarding that cannot be so, or that does not go together with other mechanisms.
    CYCLIC = "cyclic::impossible";
    /// A dead time that is too short for cables, stages and clocks, or as long as the cycle.
    CYCLIC_DEAD_TIME = "cyclic::dead-time";
    /// Clocks whose phase error is not known, or too large for cycles.
    CYCLIC_CLOCKS = "cyclic::clocks";
    /// A talker whose frames may leave their cycle.
    CYCLIC_TALKER = "cyclic::talker";
    /// More frames in a cycle than it has time for.
    CYCLIC_LOAD = "cyclic::load";
    /// Impossible frame replication: paths that do not part, copies that are not eliminated, or a stream that cannot have copies.
    FRER = "frer::impossible";
    /// A history that one lost frame makes useless.
    FRER_HISTORY = "frer::history";
    /// An ATS scheduler group behind an elimination of copies, which has no bound.
    FRER_REGULATOR = "frer::regulator";
    /// More traffic than a link can carry.
    OVERLOAD = "port::overload";
    /// More traffic in a credit-based class than its idleSlope.
    CLASS_OVERLOAD = "class::overload";
    /// A slot beyond the cycle, or in the time of another.
    TDMA_SLOT = "tdma::slot";
    /// A talker without a slot for its frames, or a network that cannot have slots.
    TDMA_STATION = "tdma::station";
    /// A time-triggered network whose clocks cannot keep its precision, or links without their network.
    TIME_TRIGGERED = "time-triggered::network";
    /// Impossible synchronisation: too few masters, nodes that no frame reaches, a precision that it does not keep.
    SYNCHRONISATION = "time-triggered::synchronisation";
    /// A faulty device, or a split of the network, that its synchronisation does not contain: no precision is proven.
    NOT_CONTAINED = "time-triggered::not-contained";
    /// A time-triggered virtual link that does not fit its traffic, its ports or another link.
    TIME_TRIGGERED_LINK = "time-triggered::link";
    /// An impossible dispatch point: at no port of the link, or before its frame has arrived.
    DISPATCH_POINT = "time-triggered::point";
    /// Time-triggered frames that would occupy one line at the same time.
    SLOTS_COLLIDE = "time-triggered::collision";
    /// An acceptance window that some of the link's frames may miss.
    ACCEPTANCE_WINDOW = "time-triggered::window";
    /// A time-triggered virtual link without dispatch points: it is never sent.
    UNSCHEDULED = "time-triggered::unscheduled";
    /// Impossible stream reservation: a loop, times out of order, classes with more bandwidth than the port.
    RESERVATION = "reservation::network";
    /// More declarations than MRP can repeat within a LeaveTime.
    RESERVATION_PACE = "reservation::pace";
    /// A deviation from the AVB profile (802.1BA), if the description requests it.
    AVB_PROFILE = "reservation::profile";
    /// Registration of VLANs without a VLAN to register, or without a node that can declare it.
    VLAN_REGISTRATION = "reservation::vlans";
    /// A reservation of a stream that cannot be reserved, with times out of order, or in a network without stream
    /// reservation.
    RESERVED_STREAM = "reservation::stream";
    /// Impossible gPTP: shaped messages, too many samples, no possible grandmaster, or TDMA slots in the network.
    GPTP = "gptp::network";
    /// Windows that do not fit into an elementary cycle, or are too short for their frames.
    HARTS_WINDOW = "harts::window";
    /// A server that does not exist, exists twice, or is too small for a frame.
    HARTS_SERVER = "harts::server";
    /// Policing that discards frames of a talker that keeps its promise.
    HARTS_POLICING = "harts::policing";
    /// A stream that a network with servers cannot carry, or impossible central admission.
    HARTS_STREAM = "harts::stream";
    /// Requirements on an offset that its traffic cannot meet, or of a stream whose offset no schedule chooses.
    TIME_AWARE = "stream::time-aware";
    /// A response to a stream that the talker does not receive, or that is a response itself.
    RESPONSE = "stream::response";
    /// A task that does not fit its station or its stream.
    TASK = "test::task";
    /// A message of a test that no task receives or sends, or that two tasks handle in the same way.
    TEST_MESSAGE = "test::message";
    /// Impossible clocks or limits of a test.
    TEST_SETTINGS = "test::settings";
    /// An event without effect, about something that does not exist, or that bypasses the grant of a stream.
    EVENT = "event::impossible";
    /// More frames, or cycles of protocols, than a run can carry out.
    PACE = "run::pace";
    /// A run that ends before its statistics begin.
    RUN = "run::duration";
}

/// The errors that a description may allow: what they are about can be run and bounded.
pub(crate) const ALLOWED: &[&str] =
    &[OVERLOAD, CLASS_OVERLOAD, MTU, QUEUE_LIMIT, DEADLINE, BURST_SIZE, GATE_WINDOW, GATE_SDU];
