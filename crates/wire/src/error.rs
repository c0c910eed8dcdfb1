//! Why octets are no header.

use core::fmt;

/// Why octets are no header of a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireError {
    /// They end before the header does.
    Truncated,
    /// A version, type or reserved value that the protocol does not know.
    Unknown,
    /// A length that does not fit the octets there are.
    Length,
    /// The checksum is wrong.
    Checksum,
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Truncated => "the octets end within the header",
            Self::Unknown => "a value that the protocol does not know",
            Self::Length => "a length that does not fit the octets",
            Self::Checksum => "the checksum is wrong",
        })
    }
}

impl core::error::Error for WireError {}

/// The first `N` octets and the rest.
pub(crate) fn split<const N: usize>(octets: &[u8]) -> Result<(&[u8; N], &[u8]), WireError> {
    octets.split_first_chunk::<N>().ok_or(WireError::Truncated)
}
