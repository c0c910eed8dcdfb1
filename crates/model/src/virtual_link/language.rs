//! Virtual links of ARINC 664 part 7.

use crate::text::language::{key, must};
use crate::text::shape::{Kind, Shape};

pub(crate) static VIRTUAL_LINK: Shape = Shape {
    name: "a virtual link",
    about: "What makes a stream a virtual link of ARINC 664 part 7, or one of its sub-virtual-links: streams with the same `id` are one link, and say the same but for `sub-link`, their traffic and their payload.",
    keys: &[&[
        must(
            "id",
            Kind::Integer(0, 65_535),
            "Identifier; the destination address is 03:00:00:00 and its two octets.",
        ),
        must("bag", Kind::Duration, "Bandwidth allocation gap: at most one frame leaves in it."),
        key(
            "profile",
            Kind::Word(&["arinc-664", "development-switch"]),
            "Which BAGs there are: 1 to 128 ms in powers of two (the default), or 1 to 255 ms in steps of 1 ms.",
        ),
        key("sub-link", Kind::Integer(1, 4), "Which sub-virtual-link this is; they are served in turn.")
            .or("1"),
        key(
            "buffer",
            Kind::Word(&["queueing", "overwriting"]),
            "Whether messages that wait for the BAG queue (the default), or only the last one leaves.",
        ),
        key("buffer-frames", Kind::Integer(1, 65_535), "Most messages that queue.").or("64"),
        key(
            "regulated",
            Kind::Flag,
            "Whether the end system keeps the BAG; true. Without it, it sends what its traffic says: a babbling talker.",
        ),
        key(
            "policing",
            Kind::Word(&["frames", "octets", "none"]),
            "What the token buckets of the switches are charged with.",
        )
        .or("frames"),
        key("policing-jitter", Kind::Duration, "Jitter that the first switch grants.").or("500 us"),
        key("policing-jitter-step", Kind::Duration, "What every further switch grants more.").or("500 us"),
        key(
            "redundancy",
            Kind::Flag,
            "Whether it goes over both networks, A from the talker's first port and B from its second.",
        )
        .or("false"),
        key("skew-max", Kind::Duration, "Greatest distance of the two copies of a frame at a listener.")
            .or("500 us"),
    ]],
};
