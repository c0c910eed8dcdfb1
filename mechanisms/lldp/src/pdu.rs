//! LLDPDUs (IEEE Std 802.1AB-2016, clauses 8 and 9.2.7.7): a list of TLVs after the type 88-CC, the first three of them mandatory.
//!
//! Parsing is total. Unknown TLVs, those of organisations among them, are skipped.

use tautwire_wire::{EtherType, MacAddress, WireError};

/// The type of the frames.
pub const ETHER_TYPE: EtherType = EtherType(0x88cc);
/// Where they go: no further than the next bridge.
pub const NEAREST_BRIDGE: MacAddress = MacAddress([0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e]);

const END: u8 = 0;
const CHASSIS_ID: u8 = 1;
const PORT_ID: u8 = 2;
const TIME_TO_LIVE: u8 = 3;
const SYSTEM_NAME: u8 = 5;
const SYSTEM_CAPABILITIES: u8 = 7;
/// Most octets of an identifier, and of a name.
const TEXT_MAX: usize = 255;

/// What a chassis or a port is called: a subtype and up to 255 octets.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identifier {
    subtype: u8,
    octets: Vec<u8>,
}

impl Identifier {
    /// A chassis by a MAC address (subtype 4).
    #[must_use]
    pub fn chassis(address: MacAddress) -> Self {
        Self { subtype: 4, octets: address.0.to_vec() }
    }

    /// A port by the name of its interface (subtype 5), cut to 255 octets.
    #[must_use]
    pub fn interface(name: &str) -> Self {
        Self { subtype: 5, octets: cut(name).as_bytes().to_vec() }
    }

    fn emit(&self, kind: u8, to: &mut Vec<u8>) {
        header(kind, 1 + self.octets.len(), to);
        to.push(self.subtype);
        to.extend_from_slice(&self.octets);
    }

    fn parse(octets: &[u8]) -> Result<Self, WireError> {
        match octets {
            [subtype, octets @ ..] if (1..=TEXT_MAX).contains(&octets.len()) => {
                Ok(Self { subtype: *subtype, octets: octets.to_vec() })
            }
            _ => Err(WireError::Length),
        }
    }

    /// Whether its octets are a MAC address: of a chassis subtype 4, of a port 3, which as a chassis is a port component.
    fn address(&self) -> Option<MacAddress> {
        let address = self.octets.first_chunk().filter(|_| self.octets.len() == 6)?;
        [3, 4].contains(&self.subtype).then_some(MacAddress(*address))
    }
}

impl core::fmt::Display for Identifier {
    /// As a person reads it: an address, a text, or octets.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match (self.address(), core::str::from_utf8(&self.octets)) {
            (Some(address), _) => write!(f, "{address}"),
            (None, Ok(text)) if !text.chars().any(char::is_control) => f.write_str(text),
            _ => self.octets.iter().try_for_each(|octet| write!(f, "{octet:02x}")),
        }
    }
}

/// An LLDPDU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lldpdu {
    /// Chassis.
    pub chassis: Identifier,
    /// Port.
    pub port: Identifier,
    /// Seconds for which this holds; zero: no more.
    pub time_to_live: u16,
    /// Name of the system, if it is sent.
    pub system_name: Option<String>,
    /// Capabilities of the system and those enabled, bits of 802.1AB-2016 Table 8-4, if sent.
    pub capabilities: Option<(u16, u16)>,
}

impl Lldpdu {
    /// Bit of a bridge.
    pub const BRIDGE: u16 = 1 << 2;
    /// Bit of a station that is nothing else.
    pub const STATION_ONLY: u16 = 1 << 7;

    /// The octets behind the type.
    #[must_use]
    pub fn emit(&self) -> Vec<u8> {
        let mut octets = Vec::new();
        self.chassis.emit(CHASSIS_ID, &mut octets);
        self.port.emit(PORT_ID, &mut octets);
        header(TIME_TO_LIVE, 2, &mut octets);
        octets.extend_from_slice(&self.time_to_live.to_be_bytes());
        if let Some(name) = &self.system_name {
            let name = cut(name);
            header(SYSTEM_NAME, name.len(), &mut octets);
            octets.extend_from_slice(name.as_bytes());
        }
        if let Some((supported, enabled)) = self.capabilities {
            header(SYSTEM_CAPABILITIES, 4, &mut octets);
            octets.extend_from_slice(&supported.to_be_bytes());
            octets.extend_from_slice(&enabled.to_be_bytes());
        }
        header(END, 0, &mut octets);
        octets
    }

    /// Parses the octets after the type; what follows the last TLV is padding.
    ///
    /// # Errors
    /// If the first three TLVs are not those that must be there, occur twice, or have invalid lengths, or if a TLV is
    /// longer than the remaining octets: such a frame is discarded (9.2.7.7.1).
    pub fn parse(octets: &[u8]) -> Result<Self, WireError> {
        let mut rest = octets;
        let chassis = Identifier::parse(expected(CHASSIS_ID, &mut rest)?)?;
        let port = Identifier::parse(expected(PORT_ID, &mut rest)?)?;
        let [high, low, ..] = *expected(TIME_TO_LIVE, &mut rest)? else { return Err(WireError::Length) };
        let mut pdu = Self {
            chassis,
            port,
            time_to_live: u16::from_be_bytes([high, low]),
            system_name: None,
            capabilities: None,
        };
        // The last one may be left out.
        while !rest.is_empty() {
            let (kind, value) = next(&mut rest)?;
            match (kind, value) {
                (END, _) => break,
                (CHASSIS_ID | PORT_ID | TIME_TO_LIVE, _) => return Err(WireError::Unknown),
                (SYSTEM_NAME, text) if text.len() <= TEXT_MAX => {
                    pdu.system_name.get_or_insert_with(|| String::from_utf8_lossy(text).into_owned());
                }
                (SYSTEM_CAPABILITIES, [a, b, c, d]) => {
                    let bits = (u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d]));
                    pdu.capabilities.get_or_insert(bits);
                }
                _ => {}
            }
        }
        Ok(pdu)
    }
}

/// Type in seven bits, length in nine.
fn header(kind: u8, length: usize, to: &mut Vec<u8>) {
    let length = u16::try_from(length).expect("at most 256 octets");
    to.extend_from_slice(&(u16::from(kind) << 9 | length).to_be_bytes());
}

/// Takes the next TLV.
fn next<'o>(rest: &mut &'o [u8]) -> Result<(u8, &'o [u8]), WireError> {
    let (head, behind) = rest.split_first_chunk::<2>().ok_or(WireError::Truncated)?;
    let head = u16::from_be_bytes(*head);
    let (value, behind) = behind.split_at_checked(usize::from(head & 0x1ff)).ok_or(WireError::Length)?;
    *rest = behind;
    Ok(((head >> 9) as u8, value))
}

/// Takes the next TLV, which must be of this type.
fn expected<'o>(kind: u8, rest: &mut &'o [u8]) -> Result<&'o [u8], WireError> {
    let (found, value) = next(rest)?;
    if found == kind { Ok(value) } else { Err(WireError::Unknown) }
}

/// The beginning of a text that fits.
fn cut(text: &str) -> &str {
    let mut end = text.len().min(TEXT_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pdu() -> Lldpdu {
        Lldpdu {
            chassis: Identifier::chassis(MacAddress([2, 0, 0, 0, 0, 1])),
            port: Identifier::interface("p1"),
            time_to_live: 121,
            system_name: Some("s1".to_owned()),
            capabilities: Some((Lldpdu::BRIDGE, Lldpdu::BRIDGE)),
        }
    }

    /// By hand, from the figures of clause 8.
    const OCTETS: [u8; 30] = [
        0x02, 0x07, 4, 2, 0, 0, 0, 0, 1, // chassis
        0x04, 0x03, 5, b'p', b'1', // port
        0x06, 0x02, 0, 121, // time to live
        0x0a, 0x02, b's', b'1', // name
        0x0e, 0x04, 0, 4, 0, 4, // capabilities
        0, 0, // end
    ];

    #[test]
    fn a_pdu_is_the_octets_of_the_standard_and_read_from_them_with_or_without_padding() {
        assert_eq!(pdu().emit(), OCTETS);
        assert_eq!(Lldpdu::parse(&OCTETS), Ok(pdu()));
        assert_eq!(Lldpdu::parse(&[&OCTETS[..], &[0x55; 16]].concat()), Ok(pdu()));
        assert_eq!(Lldpdu::parse(&OCTETS[..28]), Ok(pdu()), "the end may be left out");
    }

    #[test]
    fn what_the_standard_discards_is_an_error() {
        for (octets, why) in [
            (&OCTETS[9..], "no chassis"),
            (&OCTETS[..14], "no time to live"),
            (&OCTETS[..20], "cut within a TLV"),
            (&[&OCTETS[..18], &OCTETS[..9]].concat()[..], "two of a chassis"),
            (&[&[0x02, 0x01, 4], &OCTETS[9..]].concat()[..], "an empty chassis"),
            (&[], "nothing"),
        ] {
            assert!(Lldpdu::parse(octets).is_err(), "{why}");
        }
    }

    #[test]
    fn other_tlvs_are_read_past_and_any_octets_give_a_value_or_an_error() {
        let organisation = [0xfe, 0x06, 0x00, 0x80, 0xc2, 1, 0, 1];
        let longer = [&OCTETS[..18], &organisation, &OCTETS[18..]].concat();
        assert_eq!(Lldpdu::parse(&longer), Ok(pdu()));
        let mut dice = tautwire_generate::Dice::new(1);
        for _ in 0..20_000 {
            let mut octets = longer.clone();
            for _ in 0..dice.between(1, 4) {
                let place = usize::try_from(dice.between(0, octets.len() as u64 - 1)).expect("small");
                octets[place] = u8::try_from(dice.between(0, 255)).expect("an octet");
            }
            octets.truncate(usize::try_from(dice.between(0, octets.len() as u64)).expect("small"));
            if let Ok(read) = Lldpdu::parse(&octets) {
                // A name that is no UTF-8 is read with signs in place of it.
                let again = Lldpdu::parse(&read.emit()).expect("what is written can be read");
                assert_eq!((again.chassis, again.port), (read.chassis, read.port));
            }
        }
    }

    #[test]
    fn identifiers_read_as_people_write_them() {
        assert_eq!(Identifier::chassis(MacAddress([2, 0, 0, 0, 0, 1])).to_string(), "02:00:00:00:00:01");
        assert_eq!(Identifier::interface("eth0").to_string(), "eth0");
        assert_eq!(Identifier { subtype: 7, octets: vec![0, 255] }.to_string(), "00ff");
        let long = "ü".repeat(200);
        assert_eq!(Identifier::interface(&long).to_string().chars().count(), 127, "whole signs only");
    }
}
