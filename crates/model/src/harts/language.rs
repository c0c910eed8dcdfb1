//! HaRTES: elementary cycle and servers.

use crate::text::language::devices::DELAY;
use crate::text::language::{MANY, PRIORITY, key, must};
use crate::text::shape::{Key, Kind, Shape};

pub(crate) static HARTS: Shape = Shape {
    name: "HaRTES",
    about: "Every bridge sends in elementary cycles and by a tree of servers at every port; a stream without a server of its own is carried by the background server.",
    keys: &[&[
        must("elementary-cycle", Kind::Duration, "Length of the elementary cycle (EC)."),
        must("trigger", Kind::Duration, "Window of the trigger message at the start of the EC."),
        must("turn-around", Kind::Duration, "Window behind it, in which nodes decode the trigger message."),
        key("synchronous", Kind::Duration, "Window of synchronous traffic behind that.").or("0 s"),
        key("guard", Kind::Duration, "Window at the end of the EC in which nothing is sent.").or("0 s"),
        key("servers", Kind::List(0, MANY, &Kind::Object(&SHARED)), "Servers that streams share."),
        key(
            "reserve",
            Kind::List(0, MANY, &Kind::Object(&RESERVATION)),
            "Streams with servers of their own.",
        ),
        key(
            "scheduler",
            Kind::Word(&["rate-monotonic", "earliest-deadline-first", "servers"]),
            "How masters choose among the messages that wait: by period, by deadline, or by priority.",
        )
        .or("rate-monotonic"),
        key(
            "polled",
            Kind::List(0, MANY, &Kind::Object(&POLLED)),
            "Synchronous streams, which the trigger message of their talker's switch polls, and which further switches pass on in cycles of their own.",
        ),
        key(
            "admission",
            Kind::Object(&ADMISSION),
            "The ACMaster and who asks it for what; without it all reservations stand from the start.",
        ),
        key(
            "response-time",
            Kind::Object(&RESPONSE_TIME),
            "What the test by equation 3 reckons with, where the published evaluation leaves it open.",
        ),
        key(
            "background",
            Kind::Object(&BACKGROUND),
            "What frames of other streams may take at most; all that is left.",
        ),
    ]],
};

const KIND: Key = key(
    "kind",
    Kind::Word(&["deferrable", "polling", "sporadic"]),
     "What becomes of unused capacity: kept for the period, lost when nothing waits, or given back a period after it was taken.",
).or("deferrable");

static SHARED: Shape = Shape {
    name: "a shared server",
    about: "A capacity that the servers in it share at every port.",
    keys: &[&[
        must("name", Kind::Text, "Its name."),
        key("in", Kind::Text, "The server in which it stands, which is listed before; the root."),
        must("capacity", Kind::Octets, "Octets of the wire (frame, preamble and gap) in a period."),
        key("every", Kind::Integer(1, 1_000_000), "Replenishment period, in ECs.").or("1"),
        must("priority", PRIORITY, "Priority among those in the same server; the greater goes first."),
        KIND,
    ]],
};

static RESERVATION: Shape = Shape {
    name: "the server of a stream",
    about: "A stream's own server, at every bridge on its way.",
    keys: &[&[
        must("stream", Kind::Text, "The stream."),
        key("in", Kind::Text, "The shared server in which it stands; the root."),
        key("capacity", Kind::Octets, "Octets of the wire in a period; one frame of the stream."),
        key(
            "every",
            Kind::Integer(1, 1_000_000),
            "Replenishment period, in ECs; the whole ECs of the stream's interval.",
        ),
        key("priority", PRIORITY, "Priority among those in the same server; that of the stream."),
        KIND,
        key("police", Kind::Object(&POLICE), "What the switch where it enters holds it to; not policed."),
    ]],
};

static ADMISSION: Shape = Shape {
    name: "central admission",
    about: "One master admits the streams of the network. Talker and listeners ask for a stream; when the ACMaster has tested it every switch on its way is told, and then those who asked.",
    keys: &[&[
        must("master", Kind::Text, "The switch in which the ACMaster stands."),
        key(
            "standby",
            Kind::Text,
            "The switch of a second one, another bridge, which takes over when the first falls silent.",
        ),
        key(
            "channel",
            Kind::Text,
            "The server under `servers` that carries control messages; the background server.",
        ),
        key(
            "decide-by",
            Kind::Word(&["response-time", "bounds"]),
            "What streams are tested with: equation 3 of the published comparison, or the proven bounds.",
        )
        .or("response-time"),
        key("patience", Kind::Duration, "After how long what is not answered is said again.")
            .or("100 ms")
            .at_least("1 ps"),
        key("alive", Kind::Duration, "How often the active ACMaster says that it lives.")
            .or("50 ms")
            .at_least("1 ps"),
        key("node", DELAY, "What a node takes over a message.").or("0 s"),
        key("relay", DELAY, "What a switch's master takes to relay one.").or("0 s"),
        key("configure", DELAY, "What it takes to set up a stream.").or("0 s"),
        key("handling", DELAY, "What the ACMaster takes over a message.").or("0 s"),
        key("test", DELAY, "What it takes to test a stream.").or("0 s"),
        key(
            "test-by-links",
            Kind::List(1, 1_000, &Kind::Object(&TEST_STEP)),
            "How `test` grows with the links of all streams that it looks at, by rising numbers of links; straight lines between. It does not.",
        ),
        key(
            "requests",
            Kind::List(0, MANY, &Kind::Object(&REQUEST)),
            "What is asked for; other streams stand from the start.",
        ),
    ]],
};

static TEST_STEP: Shape = Shape {
    name: "a step of the test",
    about: "What a test takes when it looks at so many links: of the stream that is asked for, and of all that stand.",
    keys: &[&[
        must("links", Kind::Integer(0, 1_000_000), "Links of all these streams, added up."),
        must("per-mille", Kind::Integer(0, 1_000_000), "Thousandths of `test`."),
    ]],
};

static REQUEST: Shape = Shape {
    name: "a request",
    about: "A reserved or synchronous stream that its talker and listeners ask for; it is sent from when it is granted.",
    keys: &[&[
        must("stream", Kind::Text, "The stream."),
        key("at", Kind::Duration, "When its talker asks.").or("0 s"),
        key("listeners-at", Kind::Duration, "When its listeners ask; when its talker does."),
        key("release-at", Kind::Duration, "When its talker gives it back; never."),
        key(
            "listeners",
            Kind::List(0, MANY, &Kind::Object(&CONSUMER)),
            "Listeners that ask at times of their own, or give back their part.",
        ),
    ]],
};

static CONSUMER: Shape = Shape {
    name: "a request of a listener",
    about: "A listener asks for its own part of a stream; it is granted or refused alone.",
    keys: &[&[
        must("node", Kind::Text, "The listener."),
        key("at", Kind::Duration, "When it asks; when the others do."),
        key("release-at", Kind::Duration, "When it gives its part back; never."),
    ]],
};

static POLICE: Shape = Shape {
    name: "the policing of a stream",
    about: "Size and distance of the frames of a stream where it enters, and what becomes of those that come too early.",
    keys: &[&[
        key("frame-max", Kind::Octets, "Longest frame, destination to FCS; that of the stream."),
        key("distance", Kind::Duration, "Least distance of its frames; what its traffic promises.")
            .at_least("1 ns"),
        key("early", Kind::Word(&["discard", "reshape"]), "What becomes of a frame that comes too early.")
            .or("discard"),
        key("pool", Kind::Integer(1, 65_535), "Frames that may wait to be reshaped.").or("1"),
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
            "Deadline in ECs for the earliest deadline first; the period.",
        ),
        key("priority", PRIORITY, "Priority for the `servers` scheduler; that of the stream."),
        key(
            "further-switches",
            Kind::Word(&["synchronous", "servers"]),
             "How switches behind the first carry it: in their synchronous windows, each by its own schedule, or by its server there.",
        ).or("synchronous"),
        key("pool", Kind::Integer(1, 1_000),  "Messages that each of those switches may hold.").or("4"),
    ]],
};

static RESPONSE_TIME: Shape = Shape {
    name: "the response-time test",
    about: "Parameters of the test by equation 3, of an ACMaster and of `tautwire admit`.",
    keys: &[&[
        key(
            "deadline-periods",
            Kind::Integer(1, 1_000_000),
            "Deadline of every stream, in its periods; that of the stream, if it has one.",
        ),
        key("switch-delay", Kind::Duration,  "From the last bit received in a switch to its queue.").or("5 us"),
        key("guard", Kind::Duration, "The guard window; that of the elementary cycle."),
        key(
            "unreserved",
            Kind::Word(&["counted", "left-out"]),
             "Whether frames without a reservation count in blocking and in what is left over at the end of a window.",
        ).or("counted"),
    ]],
};

static BACKGROUND: Shape = Shape {
    name: "the background server",
    about: "Carries what has no reservation, behind all others.",
    keys: &[&[
        must("capacity", Kind::Octets, "Octets of the wire in a period."),
        key("every", Kind::Integer(1, 1_000_000), "Replenishment period, in ECs.").or("1"),
    ]],
};
