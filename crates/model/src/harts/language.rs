//! HaRTES: elementary cycle and servers.

use crate::text::language::devices::DELAY;
use crate::text::language::{MANY, PRIORITY, key, must};
use crate::text::shape::{Key, Kind, Shape};

pub(crate) static HARTS: Shape = Shape {
    name: "HaRTES",
    about: "Every bridge sends in elementary cycles, with a tree of servers at every port; the background server carries streams without a server.",
    keys: &[&[
        must("elementary-cycle", Kind::Duration, "Length of the elementary cycle (EC)."),
        must("trigger", Kind::Duration, "Window of the trigger message at the start of the EC."),
        must("turn-around", Kind::Duration, "Window after that, in which nodes decode the trigger message."),
        key("synchronous", Kind::Duration, "Window of synchronous traffic after that.").or("0 s"),
        key("guard", Kind::Duration, "Window at the end of the EC in which nothing is sent.").or("0 s"),
        key("servers", Kind::List(0, MANY, &Kind::Object(&SHARED)), "Servers that streams share."),
        key("reserve", Kind::List(0, MANY, &Kind::Object(&RESERVATION)), "Streams with a separate server."),
        key(
            "scheduler",
            Kind::Word(&["rate-monotonic", "earliest-deadline-first", "servers"]),
            "How masters schedule waiting messages: by period, by deadline, or by priority.",
        )
        .or("rate-monotonic"),
        key(
            "polled",
            Kind::List(0, MANY, &Kind::Object(&POLLED)),
            "Synchronous streams, which the trigger message of their talker's switch polls, and which further switches forward in their own cycles.",
        ),
        key(
            "admission",
            Kind::Object(&ADMISSION),
            "The ACMaster and the requests to it; without it all reservations exist from the start.",
        ),
        key(
            "response-time",
            Kind::Object(&RESPONSE_TIME),
            "Parameters of the test by equation 3 that the published evaluation leaves open.",
        ),
        key(
            "background",
            Kind::Object(&BACKGROUND),
            "Capacity for frames of other streams; by default all that is left.",
        ),
    ]],
};

const KIND: Key = key(
    "kind",
    Kind::Word(&["deferrable", "polling", "sporadic"]),
     "Use of capacity: `deferrable` keeps it for the period, `polling` loses it when nothing waits, `sporadic` is replenished a period after use.",
).or("deferrable");

static SHARED: Shape = Shape {
    name: "a shared server",
    about: "A capacity that its child servers share at every port.",
    keys: &[&[
        must("name", Kind::Text, "Its name."),
        key("in", Kind::Text, "Its parent server, which is listed before; by default the root."),
        must("capacity", Kind::Octets, "Octets on the wire (frame, preamble and gap) in a period."),
        key("every", Kind::Integer(1, 1_000_000), "Replenishment period, in ECs.").or("1"),
        must(
            "priority",
            PRIORITY,
            "Priority among the servers with the same parent; the highest is served first.",
        ),
        KIND,
    ]],
};

static RESERVATION: Shape = Shape {
    name: "the server of a stream",
    about: "A stream's own server, at every bridge on its way.",
    keys: &[&[
        must("stream", Kind::Text, "The stream."),
        key("in", Kind::Text, "Its parent, a shared server; by default the root."),
        key("capacity", Kind::Octets, "Octets on the wire in a period; by default one frame of the stream."),
        key(
            "every",
            Kind::Integer(1, 1_000_000),
            "Replenishment period, in ECs; by default the stream's interval, rounded down to ECs.",
        ),
        key(
            "priority",
            PRIORITY,
            "Priority among the servers with the same parent; by default that of the stream.",
        ),
        KIND,
        key("police", Kind::Object(&POLICE), "How the first switch polices it; by default not at all."),
    ]],
};

static ADMISSION: Shape = Shape {
    name: "central admission",
    about: "An ACMaster admits the streams of the network. Talker and listeners request a stream; the ACMaster tests it, configures every switch on its path, and then answers the requests.",
    keys: &[&[
        must("master", Kind::Text, "The switch that has the ACMaster."),
        key(
            "standby",
            Kind::Text,
            "The switch that has the standby ACMaster, which takes over when the first is silent.",
        ),
        key(
            "channel",
            Kind::Text,
            "The server under `servers` that carries control messages; the background server.",
        ),
        key(
            "decide-by",
            Kind::Word(&["response-time", "bounds"]),
            "The admission test: equation 3 of the published comparison, or the proven bounds.",
        )
        .or("response-time"),
        key("patience", Kind::Duration, "Time after which an unanswered message is repeated.")
            .or("100 ms")
            .at_least("1 ps"),
        key("alive", Kind::Duration, "Interval of the active ACMaster's heartbeats.")
            .or("50 ms")
            .at_least("1 ps"),
        key("node", DELAY, "Processing time of a message in a node.").or("0 s"),
        key("relay", DELAY, "Processing time of a message that a switch's master relays.").or("0 s"),
        key("configure", DELAY, "Time of a switch's master to configure a stream.").or("0 s"),
        key("handling", DELAY, "Processing time of a message in the ACMaster.").or("0 s"),
        key("test", DELAY, "Time of the ACMaster to test a stream.").or("0 s"),
        key(
            "test-by-links",
            Kind::List(1, 1_000, &Kind::Object(&TEST_STEP)),
            "How `test` grows with the number of links of all tested streams: points in order of rising `links`, with linear interpolation. By default it does not grow.",
        ),
        key(
            "requests",
            Kind::List(0, MANY, &Kind::Object(&REQUEST)),
            "Requested streams; other streams are reserved from the start.",
        ),
    ]],
};

static TEST_STEP: Shape = Shape {
    name: "a step of the test",
    about: "The time of a test for a number of links: those of the requested stream and of all reserved streams.",
    keys: &[&[
        must("links", Kind::Integer(0, 1_000_000), "Sum of the links of all these streams."),
        must("per-mille", Kind::Integer(0, 1_000_000), "Thousandths of `test`."),
    ]],
};

static REQUEST: Shape = Shape {
    name: "a request",
    about: "A reserved or synchronous stream that its talker and listeners request; it is sent once it is granted.",
    keys: &[&[
        must("stream", Kind::Text, "The stream."),
        key("at", Kind::Duration, "When its talker requests it.").or("0 s"),
        key("listeners-at", Kind::Duration, "When its listeners request it; by default with its talker."),
        key("release-at", Kind::Duration, "When its talker releases it; by default never."),
        key(
            "listeners",
            Kind::List(0, MANY, &Kind::Object(&CONSUMER)),
            "Listeners that request it at other times, or release their part.",
        ),
    ]],
};

static CONSUMER: Shape = Shape {
    name: "a request of a listener",
    about: "A listener's request for its part of a stream, which is granted or refused separately.",
    keys: &[&[
        must("node", Kind::Text, "The listener."),
        key("at", Kind::Duration, "When it requests the stream; by default with the other listeners."),
        key("release-at", Kind::Duration, "When it releases its part; by default never."),
    ]],
};

static POLICE: Shape = Shape {
    name: "the policing of a stream",
    about: "Size and distance of a stream's frames at its first switch, and what happens to early ones.",
    keys: &[&[
        key("frame-max", Kind::Octets, "Longest frame, destination to FCS; by default that of the stream."),
        key("distance", Kind::Duration, "Least distance of its frames; by default that of its traffic.")
            .at_least("1 ns"),
        key("early", Kind::Word(&["discard", "reshape"]), "What happens to a frame that arrives too early.")
            .or("discard"),
        key("pool", Kind::Integer(1, 65_535), "Number of early frames that may wait.").or("1"),
    ]],
};

static POLLED: Shape = Shape {
    name: "a synchronous stream",
    about: "A message in every `every` elementary cycles, within the synchronous windows of its switches.",
    keys: &[&[
        must("stream", Kind::Text, "The stream; its traffic is `polled`."),
        key("every", Kind::Integer(1, 1_000_000),  "Period in ECs.").or("1"),
        key("offset", Kind::Integer(0, 1_000_000),  "The EC of its first message.").or("0"),
        key(
            "within",
            Kind::Integer(1, 1_000_000),
            "Deadline in ECs for the earliest-deadline-first scheduler; by default the period.",
        ),
        key("priority", PRIORITY, "Priority for the `servers` scheduler; by default that of the stream."),
        key(
            "further-switches",
            Kind::Word(&["synchronous", "servers"]),
             "How further switches carry it: in their synchronous windows, each by its own schedule, or by its server there.",
        ).or("synchronous"),
        key("pool", Kind::Integer(1, 1_000),  "Number of messages that each of those switches may hold.").or("4"),
    ]],
};

static RESPONSE_TIME: Shape = Shape {
    name: "the response-time test",
    about: "Parameters of the test by equation 3, of an ACMaster and of `tautwire admit`.",
    keys: &[&[
        key(
            "deadline-periods",
            Kind::Integer(1, 1_000_000),
            "Deadline of every stream, in its periods; by default the stream's `deadline`.",
        ),
        key("switch-delay", Kind::Duration,  "Delay from the last bit received in a switch to its queue.").or("5 us"),
        key("guard", Kind::Duration, "The guard window; by default that of the elementary cycle."),
        key(
            "unreserved",
            Kind::Word(&["counted", "left-out"]),
             "Whether frames without a reservation count in blocking and in the idle time at the end of a window.",
        ).or("counted"),
    ]],
};

static BACKGROUND: Shape = Shape {
    name: "the background server",
    about: "Carries frames without a reservation, with the lowest priority.",
    keys: &[&[
        must("capacity", Kind::Octets, "Octets on the wire in a period."),
        key("every", Kind::Integer(1, 1_000_000), "Replenishment period, in ECs.").or("1"),
    ]],
};
