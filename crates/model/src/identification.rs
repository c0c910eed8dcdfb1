//! Names of the stream identification functions (IEEE Std 802.1CB-2017 and 802.1CBdb-2021, clause 6).
//!
//! `core` (`identification.rs`) defines the fields that a function uses; the frames of each scheduler are determined
//! once, when a description is built.

/// A stream identification function, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdentificationFunction {
    /// Null stream identification (6.4): destination address and VLAN.
    NullStream,
    /// Source MAC and VLAN stream identification (6.5).
    SmacVlan,
    /// IP stream identification (6.7).
    Ip,
    /// Mask-and-match stream identification (802.1CBdb 6.8).
    MaskAndMatch,
}

impl IdentificationFunction {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::NullStream, Self::SmacVlan, Self::Ip, Self::MaskAndMatch];

    /// As in the YANG module of 802.1CB.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NullStream => "null-stream-identification",
            Self::SmacVlan => "smac-vlan-stream-identification",
            Self::Ip => "ip-stream-identification",
            Self::MaskAndMatch => "mask-and-match-stream-identification",
        }
    }

    /// The function of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|function| function.name() == name)
    }
}
