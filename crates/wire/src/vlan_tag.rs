//! Tag control information of a customer VLAN tag (IEEE Std 802.1Q-2022, 9.6).

use alloc::vec::Vec;

use crate::VlanId;
use crate::error::{WireError, split};

/// Priority code point, drop eligible indicator and VLAN identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VlanTag {
    priority_code_point: u8,
    /// DEI.
    pub drop_eligible: bool,
    /// VLAN; none for a tag that gives the priority alone (VID 0).
    pub vlan: Option<VlanId>,
}

impl VlanTag {
    /// A tag that is not drop eligible; none if the priority code point is above 7.
    #[must_use]
    pub const fn new(priority_code_point: u8, vlan: Option<VlanId>) -> Option<Self> {
        if priority_code_point > 7 {
            return None;
        }
        Some(Self { priority_code_point, drop_eligible: false, vlan })
    }

    /// PCP, 0 to 7.
    #[must_use]
    pub const fn priority_code_point(&self) -> u8 {
        self.priority_code_point
    }

    /// Puts the two octets behind what is in `to`.
    pub fn emit(&self, to: &mut Vec<u8>) {
        let vlan = self.vlan.map_or(0, VlanId::number);
        let control = u16::from(self.priority_code_point) << 13 | u16::from(self.drop_eligible) << 12 | vlan;
        to.extend_from_slice(&control.to_be_bytes());
    }

    /// Reads two octets; also gives what is behind them.
    ///
    /// # Errors
    /// If there are less, or the VID is the reserved 4095.
    pub fn parse(octets: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (control, rest) = split::<2>(octets)?;
        let control = u16::from_be_bytes(*control);
        let number = control & 0x0fff;
        let vlan = VlanId::new(number);
        if vlan.is_none() && number != 0 {
            return Err(WireError::Unknown);
        }
        let priority_code_point = control.to_be_bytes()[0] >> 5;
        Ok((Self { priority_code_point, drop_eligible: control & 0x1000 != 0, vlan }, rest))
    }
}

/// Any tag there is.
#[cfg(test)]
pub(crate) fn any_tag() -> impl proptest::strategy::Strategy<Value = VlanTag> {
    use proptest::prelude::*;
    (0_u8..8, any::<bool>(), 0_u16..4_095).prop_map(|(priority_code_point, drop_eligible, vlan)| VlanTag {
        priority_code_point,
        drop_eligible,
        vlan: VlanId::new(vlan),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_tag_is_read_as_it_is_written(tag in any_tag()) {
            let mut octets = Vec::new();
            tag.emit(&mut octets);
            prop_assert_eq!(VlanTag::parse(&octets), Ok((tag, &[][..])));
        }

        #[test]
        fn any_octets_give_a_tag_or_an_error(octets: Vec<u8>) {
            if let Ok((tag, rest)) = VlanTag::parse(&octets) {
                let mut again = Vec::new();
                tag.emit(&mut again);
                prop_assert_eq!(&again[..], &octets[..octets.len() - rest.len()]);
            }
        }
    }

    #[test]
    fn the_fields_have_the_positions_of_the_standard() {
        let mut octets = vec![];
        let tag = VlanTag { drop_eligible: true, ..VlanTag::new(5, VlanId::new(10)).expect("valid") };
        tag.emit(&mut octets);
        assert_eq!(octets, [0b1011_0000, 10]);
        assert_eq!(VlanTag::parse(&[0xff, 0xff]), Err(WireError::Unknown));
        assert_eq!(VlanTag::new(8, None), None);
    }
}
