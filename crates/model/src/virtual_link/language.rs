//! Virtual links of ARINC 664 part 7.

use crate::text::language::{key, must};
use crate::text::shape::{Kind, Shape};

pub(crate) static VIRTUAL_LINK: Shape = Shape {
    name: "a virtual link",
    about: "Makes a stream a virtual link of ARINC 664 part 7, or one of its sub-virtual-links: streams with the same `id` are one link and have the same keys except `sub-link`, traffic and payload.",
    keys: &[&[
        must(
            "id",
            Kind::Integer(0, 65_535),
            "Identifier; the destination address is 03:00:00:00 and its two octets.",
        ),
        must("bag", Kind::Duration, "Bandwidth allocation gap: least distance of frames."),
        key(
            "profile",
            Kind::Word(&["arinc-664", "development-switch"]),
            "Which BAGs are allowed: 1 to 128 ms in powers of two (the default), or 1 to 255 ms in steps of 1 ms.",
        ),
        key("sub-link", Kind::Integer(1, 4), "Number of the sub-virtual-link; they are served in turn.")
            .or("1"),
        key(
            "buffer",
            Kind::Word(&["queueing", "overwriting"]),
            "Whether messages that wait for the BAG queue (the default), or a new one overwrites the waiting one.",
        ),
        key("buffer-frames", Kind::Integer(1, 65_535), "Greatest number of messages in the queue.").or("64"),
        key(
            "regulated",
            Kind::Flag,
            "Whether the end system keeps the BAG; by default true. Otherwise it sends each message at once: a babbling talker.",
        ),
        key(
            "policing",
            Kind::Word(&["frames", "octets", "none"]),
            "Unit that the token buckets of the switches count.",
        )
        .or("frames"),
        key("policing-jitter", Kind::Duration, "Jitter that the first switch grants.").or("500 us"),
        key("policing-jitter-step", Kind::Duration, "Jitter that every further switch grants in addition.")
            .or("500 us"),
        key(
            "redundancy",
            Kind::Flag,
            "Whether it is sent over both networks, A from the talker's first port and B from its second.",
        )
        .or("false"),
        key("skew-max", Kind::Duration, "Greatest time between the two copies of a frame at a listener.")
            .or("500 us"),
    ]],
};
