//! Frame preemption of ports.

use crate::text::language::key;
use crate::text::shape::{Key, Kind, Shape};

/// A priority's status.
const STATUS: Kind = Kind::Word(&["express", "preemptable"]);

const fn status(name: &'static str) -> Key {
    key(name, STATUS, "Service of the frames of this priority.").or("express")
}

pub(crate) static FRAME_PREEMPTION_PARAMETERS: Shape = Shape {
    name: "frame preemption parameters",
    about: "Which frames of a port are preemptable (802.1Q-2022 6.7.2, 12.30), and its MAC merge sublayer (802.3-2022 clause 99, 30.14). Each key holds where a port, its node or its device does not state it.",
    keys: &[&[
        key(
            "frame-preemption-status-table",
            Kind::Object(&STATUS_TABLE),
            "Which priorities are sent by the preemptable service.",
        ),
        key(
            "enable-tx",
            Kind::Flag,
            "Whether the port preempts frames (aMACMergeEnableTx); otherwise all are express ones.",
        )
        .or("true"),
        key(
            "support",
            Kind::Flag,
            "Whether the port has a MAC merge sublayer (aMACMergeSupport): without one it takes no fragments and sends none.",
        )
        .or("true"),
        key(
            "add-frag-size",
            Kind::Integer(0, 3),
            "Fewest octets of a fragment that is not the last, in units of 64 octets beyond the least (aMACMergeAddFragSize).",
        )
        .or("0"),
        key(
            "hold-advance",
            Kind::Duration,
            "How long before an entry `set-and-hold-mac` the MAC is told to hold preemptable frames (holdAdvance). By default as long as it may need to stop: the time of 143 octets, and 64 more for each unit of `add-frag-size`.",
        )
        .at_most("4294967295 ns"),
        key(
            "release-advance",
            Kind::Duration,
            "How long after an entry `set-and-release-mac` the MAC goes on (releaseAdvance).",
        )
        .or("0 s")
        .at_most("4294967295 ns"),
        key(
            "verify-disable-tx",
            Kind::Flag,
            "Whether the port preempts without having verified that the other end of its link takes fragments (aMACMergeVerifyDisableTx).",
        )
        .or("false"),
        key(
            "verify-time",
            Kind::Duration,
            "How long the port waits for the response to a verification (aMACMergeVerifyTime); three attempts are made.",
        )
        .or("10 ms")
        .at_least("1 ms")
        .at_most("128 ms"),
        key(
            "verify-at-start",
            Kind::Flag,
            "Whether the port verifies the other end of its link when the run begins. By default the link has been up for long, and the result is known. A link that comes back in the run is verified in any case.",
        )
        .or("false"),
    ]],
};

static STATUS_TABLE: Shape = Shape {
    name: "a frame preemption status table",
    about: "Service of each priority, at the port that sends its frames. Priorities of one class have the same.",
    keys: &[&[
        status("priority0"),
        status("priority1"),
        status("priority2"),
        status("priority3"),
        status("priority4"),
        status("priority5"),
        status("priority6"),
        status("priority7"),
    ]],
};
