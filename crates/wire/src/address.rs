//! MAC addresses, VLAN identifiers and IPv4 addresses.

use core::fmt;
use core::str::FromStr;

pub use core::net::Ipv4Addr as Ipv4Address;

/// A 48-bit MAC address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MacAddress(pub [u8; 6]);

/// A VLAN identifier, 1 to 4094 (IEEE Std 802.1Q-2022 Table 9-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VlanId(u16);

/// A text that is no address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseAddressError;

impl MacAddress {
    /// The address of all stations.
    pub const BROADCAST: Self = Self([0xff; 6]);

    /// Whether it names a group of stations.
    #[must_use]
    pub const fn is_group(self) -> bool {
        self.0[0] & 1 == 1
    }
}

impl VlanId {
    /// The default VLAN.
    pub const DEFAULT: Self = Self(1);

    /// The identifier `number`, if it is 1 to 4094.
    #[must_use]
    pub const fn new(number: u16) -> Option<Self> {
        if number >= 1 && number <= 4094 { Some(Self(number)) } else { None }
    }

    /// The number.
    #[must_use]
    pub const fn number(self) -> u16 {
        self.0
    }
}

impl fmt::Display for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, octet) in self.0.iter().enumerate() {
            if position > 0 {
                f.write_str(":")?;
            }
            write!(f, "{octet:02x}")?;
        }
        Ok(())
    }
}

impl FromStr for MacAddress {
    type Err = ParseAddressError;

    fn from_str(text: &str) -> Result<Self, ParseAddressError> {
        let mut octets = [0; 6];
        let mut parts = text.split([':', '-']);
        for octet in &mut octets {
            let part = parts.next().ok_or(ParseAddressError)?;
            if part.len() != 2 || !part.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                return Err(ParseAddressError);
            }
            *octet = u8::from_str_radix(part, 16).map_err(|_| ParseAddressError)?;
        }
        if parts.next().is_some() { Err(ParseAddressError) } else { Ok(Self(octets)) }
    }
}

impl fmt::Display for VlanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for ParseAddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an address")
    }
}

impl core::error::Error for ParseAddressError {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn addresses_are_read_as_they_are_printed() {
        let text = "01:80:c2:00:00:0e";
        let address: MacAddress = text.parse().expect("an address");
        assert_eq!(address.to_string(), text);
        assert!(address.is_group());
        for wrong in ["", "01:80:c2:00:00", "01:80:c2:00:00:0e:00", "1:80:c2:00:00:0e", "gg:80:c2:00:00:0e"] {
            assert_eq!(wrong.parse::<MacAddress>(), Err(ParseAddressError), "{wrong}");
        }
    }

    #[test]
    fn a_vlan_identifier_is_1_to_4094() {
        assert_eq!(VlanId::new(0), None);
        assert_eq!(VlanId::new(4095), None);
        assert_eq!(VlanId::new(4094).map(VlanId::number), Some(4094));
    }
}
