//! Attribute events and listener declarations and their packing in vectors (IEEE Std 802.1Q-2022,
//! 10.8.2.10 and 35.2.2.8.7): three events in an octet to the base six, four declarations in an octet to the base
//! four. Places behind the last value are written as zero and not read.

use alloc::vec::Vec;

use crate::error::WireError;

/// The event of an attribute value (Table 10-8); in the order of their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AttributeEvent {
    /// Declared for the first time.
    New,
    /// Declared, and registered here.
    JoinIn,
    /// Registered here, not declared.
    In,
    /// Declared, and not registered here.
    JoinMt,
    /// Neither.
    Mt,
    /// Withdrawn.
    Lv,
}

/// A listener's declaration of a stream (IEEE Std 802.1Q-2022, 35.2.1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ListenerDeclaration {
    /// The event is not for this stream: a gap of a vector.
    Ignore,
    /// No listener below can be served.
    AskingFailed,
    /// All listeners below can be served.
    Ready,
    /// Some can, some cannot.
    ReadyFailed,
}

impl AttributeEvent {
    /// All, by number.
    pub const ALL: [Self; 6] = [Self::New, Self::JoinIn, Self::In, Self::JoinMt, Self::Mt, Self::Lv];

    /// Its number on the wire.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }
}

impl ListenerDeclaration {
    /// All, by number.
    pub const ALL: [Self; 4] = [Self::Ignore, Self::AskingFailed, Self::Ready, Self::ReadyFailed];

    /// Its number on the wire.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }
}

/// Puts `events` behind what is in `to`, three in an octet.
pub(super) fn emit_events(events: &[AttributeEvent], to: &mut Vec<u8>) {
    for three in events.chunks(3) {
        let number = |place: usize| three.get(place).map_or(0, |event| event.number());
        to.push((number(0) * 6 + number(1)) * 6 + number(2));
    }
}

/// Reads `count` events from exactly as many octets as they take.
pub(super) fn parse_events(octets: &[u8], count: usize) -> Result<Vec<AttributeEvent>, WireError> {
    let mut events = Vec::with_capacity(count);
    for octet in octets {
        for weight in [36, 6, 1] {
            let event = AttributeEvent::ALL.get(usize::from(octet / weight) % 6).copied();
            // The first digit of an octet above 215 would be above five.
            if octet / 36 > 5 {
                return Err(WireError::Unknown);
            }
            events.extend(event);
        }
    }
    events.truncate(count);
    Ok(events)
}

/// Puts `declarations` behind what is in `to`, four in an octet.
pub(super) fn emit_declarations(declarations: &[ListenerDeclaration], to: &mut Vec<u8>) {
    for four in declarations.chunks(4) {
        let number = |place: usize| four.get(place).map_or(0, |declaration| declaration.number());
        to.push(number(0) << 6 | number(1) << 4 | number(2) << 2 | number(3));
    }
}

/// Reads `count` declarations from exactly as many octets as they take.
pub(super) fn parse_declarations(octets: &[u8], count: usize) -> Vec<ListenerDeclaration> {
    let all =
        |octet: &u8| [6, 4, 2, 0].map(|shift| ListenerDeclaration::ALL[usize::from(octet >> shift & 3)]);
    octets.iter().flat_map(all).take(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use AttributeEvent::{JoinIn, JoinMt, Lv, Mt, New};
    use alloc::vec;

    #[test]
    fn three_events_and_four_declarations_share_an_octet() {
        let mut octets = vec![];
        emit_events(&[JoinIn, Mt, Lv, JoinMt], &mut octets);
        assert_eq!(octets, [36 + 4 * 6 + 5, 3 * 36]);
        assert_eq!(parse_events(&octets, 4), Ok(vec![JoinIn, Mt, Lv, JoinMt]));
        assert_eq!(parse_events(&[0x6c], 1), Ok(vec![JoinMt]));
        assert_eq!(parse_events(&[215], 3), Ok(vec![Lv, Lv, Lv]));
        assert_eq!(parse_events(&[216], 1), Err(WireError::Unknown), "no sixth event");
        assert_eq!(parse_events(&[0], 1), Ok(vec![New]));

        use ListenerDeclaration::{AskingFailed, Ignore, Ready, ReadyFailed};
        let five = [ReadyFailed, Ready, AskingFailed, Ignore, Ready];
        let mut octets = vec![];
        emit_declarations(&five, &mut octets);
        assert_eq!(octets, [0b1110_0100, 0b1000_0000]);
        assert_eq!(parse_declarations(&octets, 5), five);
    }
}
