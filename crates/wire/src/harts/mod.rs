//! Messages of FTT and HaRTES: trigger messages and the control channel of admission.
//!
//! The published evaluation names the messages (Add_Msg, Config_Msg, replies, Ack) and prints no layout: this one is
//! the project's own, under the EtherType for local experiments (IEEE Std 802, 0x88B5). One octet of version, one of
//! type, then the fields, all big endian; what follows is padding. Not here: when the nodes send them (`core`,
//! `harts`).

use alloc::vec::Vec;

use crate::EtherType;

mod layout;

/// EtherType of these messages.
pub const FTT: EtherType = EtherType(0x88b5);

/// The kind of a reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FttStream {
    /// Identifier, unique in the network.
    pub id: u16,
    /// Longest frame, octets of the wire.
    pub size: u16,
    /// Period, or least distance of frames, nanoseconds.
    pub period_ns: u32,
    /// Relative deadline, nanoseconds.
    pub deadline_ns: u32,
    /// Priority, 0 to 7: that of its servers below the same one, and of its messages in the schedule.
    pub priority: u8,
    /// Its producer.
    pub producer: u16,
    /// Of a synchronous stream the offset of its first message, nanoseconds; none: it is asynchronous.
    pub offset_ns: Option<u32>,
    /// The optional attributes that it states.
    pub terms: FttTerms,
}

/// Optional attributes of a request, in addition to those of every stream. The switches derive those that it does not state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FttTerms {
    /// The shared server below which its servers are, by its number in every switch; none: the root.
    pub parent: Option<u8>,
    /// The fate of unused capacity.
    pub kind: FttServerKind,
    /// Capacity of its servers in octets of the wire, and their period in elementary cycles.
    pub server: Option<(u32, u16)>,
    /// What the switch where it enters does with a frame that is too early.
    pub policing: FttPolicing,
    /// Longest frame, destination to FCS, that may enter there.
    pub frame_max: Option<u16>,
    /// Whether its period already is the least distance of frames, so that nothing is subtracted for the difference of clocks.
    pub exact: bool,
    /// Messages that its memory pool holds: of a synchronous stream behind its first switch, of another one before it is
    /// reshaped.
    pub pool: Option<u16>,
    /// Of an asynchronous stream the messages that may come at once; zero: it promises no number.
    pub burst: u8,
    /// How switches behind the first carry a synchronous stream.
    pub further: FttFurther,
    /// Priority of its servers there, if it is not that of its messages in the schedule.
    pub server_priority: Option<u8>,
}

impl FttTerms {
    /// Nothing stated.
    pub const NONE: Self = Self {
        parent: None,
        kind: FttServerKind::Deferrable,
        server: None,
        policing: FttPolicing::Open,
        frame_max: None,
        exact: false,
        pool: None,
        burst: 0,
        further: FttFurther::Synchronous,
        server_priority: None,
    };
}

/// The fate of a server's unused capacity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FttServerKind {
    /// It stays until the end of the period.
    #[default]
    Deferrable = 0,
    /// It is lost as soon as nothing waits.
    Polling = 1,
    /// Consumed capacity comes back a period later.
    Sporadic = 2,
}

/// How switches behind the first carry a synchronous stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FttFurther {
    /// In their synchronous windows, each by its own schedule.
    #[default]
    Synchronous = 0,
    /// By servers of its own.
    Servers = 1,
    /// By the background server.
    Background = 2,
}

/// The action on a frame that comes too early.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FttPolicing {
    /// It goes on.
    #[default]
    Open = 0,
    /// It is discarded.
    Discard = 1,
    /// It waits in the memory pool until it is due.
    Reshape = 2,
}

/// A scheduled synchronous message of a trigger message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Polled {
    /// The stream.
    pub stream: u16,
    /// Frames of it in this cycle.
    pub frames: u8,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FttMessage {
    /// Opens an elementary cycle and lists the messages to be sent in it.
    Trigger {
        /// The master of the switch.
        master: u16,
        /// Number of the cycle.
        cycle: u32,
        /// Its synchronous messages.
        polled: Vec<Polled>,
    },
    /// Requests a stream (Add_Msg); from the producer, or from a consumer.
    Add {
        /// The stream.
        stream: FttStream,
        /// The requesting node.
        node: u16,
        /// Number of the request among those of its node; a repeated one keeps it.
        number: u16,
    },
    /// Gives a stream back.
    Remove {
        /// Its identifier.
        stream: u16,
        /// The requesting node.
        node: u16,
        /// Number of the request that ends.
        number: u16,
    },
    /// Configures a switch for a stream through it to a consumer (Config_Msg), or removes it. The switch derives the
    /// needed resources from the attributes.
    Config {
        /// The stream.
        stream: FttStream,
        /// The consumer; the producer: all of them.
        consumer: u16,
        /// The neighbours of the switch from which the stream comes and to which it goes; none: it is not carried any more.
        between: Option<[u16; 2]>,
        /// The sender's count of such messages: one with a lower number is older.
        number: u32,
    },
    /// A switch has done so.
    Reply {
        /// The stream's identifier.
        stream: u16,
        /// As in the message that it answers; for a node that gave a stream back, this node.
        consumer: u16,
        /// The switch.
        switch: u16,
        /// As in the message that it answers.
        installed: bool,
        /// As in the message that it answers.
        number: u32,
    },
    /// The result, for producers and consumers (Ack).
    Ack {
        /// The stream's identifier.
        stream: u16,
        /// Whether it is granted.
        granted: bool,
        /// The stream in whose way it is, if it is refused; itself otherwise.
        subject: u16,
        /// Number of the request that it answers.
        number: u16,
        /// The link on its path that is down, if it is refused because of that: the switch that reported it, and its neighbour.
        cut: Option<[u16; 2]>,
    },
    /// From the ACMaster to a producer that was refused, or has no consumer any more: a consumer requests the stream.
    Invite {
        /// The stream's identifier.
        stream: u16,
    },
    /// From the ACMaster to a producer: the last consumer leaves, so it is to stop sending; to a producer or a
    /// consumer: a link on the path failed, so the grant has ended.
    Pause {
        /// The stream's identifier.
        stream: u16,
        /// Number of the request that was granted; none: whatever it is.
        number: Option<u16>,
        /// The link that failed: the switch that reported it, and its neighbour.
        cut: Option<[u16; 2]>,
    },
    /// From that node: it does not use that grant.
    Paused {
        /// The stream's identifier.
        stream: u16,
        /// The producer, or the consumer.
        node: u16,
        /// As in the message that it answers.
        number: Option<u16>,
    },
    /// From a switch: a link of it went down or came up.
    Link {
        /// The switch.
        switch: u16,
        /// The station or switch at the other end.
        neighbour: u16,
        /// Whether it is up.
        up: bool,
        /// How often it changed: a report with a lower number is older.
        number: u32,
    },
    /// From the ACMaster: it knows.
    Linked {
        /// As in the message that it answers.
        neighbour: u16,
        /// As in the message that it answers.
        number: u32,
    },
    /// From a switch: a failed link carried this stream. Repeated until the switch is notified that the stream is gone there.
    Broken {
        /// The switch.
        switch: u16,
        /// The station or switch at the other end of the link.
        neighbour: u16,
        /// The stream.
        stream: FttStream,
        /// The consumer.
        consumer: u16,
        /// The number of the message that configured it at the switch.
        number: u32,
    },
    /// From a switch: it cannot carry the configured stream, because it has no such link, or the link is down.
    Unable {
        /// The stream's identifier.
        stream: u16,
        /// As in the message that it answers.
        consumer: u16,
        /// The switch.
        switch: u16,
        /// The neighbour to which there is no link that is up.
        neighbour: u16,
        /// How often that link changed; zero if there is none.
        link: u32,
        /// As in the message that it answers.
        number: u32,
    },
    /// From the active ACMaster to its standby: this stream is granted, or removed.
    Replicate {
        /// The stream.
        stream: FttStream,
        /// A consumer of it.
        consumer: u16,
        /// Whether it is granted.
        installed: bool,
        /// The sender's count of such messages: one with a lower number is older.
        number: u32,
        /// The life of the sender.
        life: u32,
        /// Number of the producer's request.
        asked: u16,
        /// Number of the consumer's.
        by: u16,
    },
    /// From the standby: it knows.
    Replicated {
        /// The stream's identifier.
        stream: u16,
        /// The consumer.
        consumer: u16,
        /// As in the message that it answers.
        installed: bool,
        /// As in the message that it answers.
        number: u32,
    },
    /// The active ACMaster lives; from another than before: it has taken over.
    Alive {
        /// Its identifier.
        master: u16,
        /// Its life: greater than all that it had before.
        life: u32,
        /// How many facts there were.
        number: u32,
    },
    /// From an ACMaster that came back empty: it requests all grants from the other one.
    Recall {
        /// Its identifier.
        master: u16,
        /// Its life.
        life: u32,
        /// How often in that life its received entries were wrong, and it forgot all.
        attempt: u16,
    },
    /// From the active ACMaster to one that came back: a request without a decision, or a refusal.
    Record {
        /// The stream.
        stream: FttStream,
        /// The requesting node; of a refusal the consumer.
        node: u16,
        /// Number of the request.
        number: u16,
        /// The number of the account that it belongs to.
        account: u16,
        /// The stream in whose way it is, if it is refused.
        refused: Option<u16>,
    },
    /// From the active ACMaster to one that came back: it knows all and may take over.
    Complete {
        /// Identifier of the active one.
        master: u16,
        /// Its life.
        life: u32,
        /// The life of the one that came back.
        to: u32,
        /// How many facts there were.
        number: u32,
        /// The number of the account that ends.
        account: u16,
        /// Of all grants, requests and refusals, entry by entry.
        digest: u64,
    },
    /// From an ACMaster without another one that came back empty: it queries a switch for the streams that it carries.
    Survey {
        /// Its identifier.
        master: u16,
        /// The number of this survey.
        account: u16,
    },
    /// From a switch that is surveyed: it carries this.
    Carries {
        /// The switch.
        switch: u16,
        /// The stream.
        stream: FttStream,
        /// A consumer of it.
        consumer: u16,
        /// As in the message that it answers.
        account: u16,
        /// Whether a link failed since over which it carries it.
        broken: bool,
    },
    /// From a switch that is surveyed: the end mark.
    Surveyed {
        /// The switch.
        switch: u16,
        /// As in the message that it answers.
        account: u16,
        /// The greatest number of a message that it received.
        number: u32,
        /// Of all that it carries, entry by entry.
        digest: u64,
    },
}

impl FttMessage {
    /// Octets of MAC client data, before padding.
    #[must_use]
    pub fn octets(&self) -> usize {
        let mut octets = Vec::new();
        self.emit(&mut octets);
        octets.len()
    }

    /// A digest of messages as they are written: FNV-1a of 64 bits. Equal where every message is, down to its last field.
    pub fn digest(messages: impl Iterator<Item = Self>) -> u64 {
        let mut octets = Vec::new();
        messages.for_each(|message| message.emit(&mut octets));
        let step = |hash: u64, octet: &u8| (hash ^ u64::from(*octet)).wrapping_mul(0x0000_0100_0000_01b3);
        octets.iter().fold(0xcbf2_9ce4_8422_2325, step)
    }
}

#[cfg(test)]
mod tests;
