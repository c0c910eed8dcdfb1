//! Sizes in octets and in bits.

use core::fmt;
use core::iter::Sum;
use core::ops::{Add, AddAssign, Mul, Sub, SubAssign};

/// A size in octets. The name of the variable states what it covers (payload, frame, wire).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

/// A size in bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bits(u64);

impl Bytes {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// Preamble and start frame delimiter (8) and the least inter-packet gap (12): what a port adds
    /// to every frame (IEEE Std 802.3, 4.4.2).
    pub const MEDIA_OVERHEAD: Self = Self(20);

    /// A size of `octets`.
    #[must_use]
    pub const fn new(octets: u64) -> Self {
        Self(octets)
    }

    /// Octets.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The same size in bits.
    #[must_use]
    pub const fn bits(self) -> Bits {
        Bits(self.0 * 8)
    }
}

impl Bits {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// A size of `bits`.
    #[must_use]
    pub const fn new(bits: u64) -> Self {
        Self(bits)
    }

    /// Bits.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// `self - other`, nothing if `other` is larger.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// `self + other`, or the largest size there is.
    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The least number of octets that hold these bits.
    #[must_use]
    pub const fn bytes_ceil(self) -> Bytes {
        Bytes(self.0.div_ceil(8))
    }
}

macro_rules! arithmetic {
    ($size:ident) => {
        impl Add for $size {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }
        impl AddAssign for $size {
            fn add_assign(&mut self, other: Self) {
                self.0 += other.0;
            }
        }
        impl Sub for $size {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }
        impl SubAssign for $size {
            fn sub_assign(&mut self, other: Self) {
                self.0 -= other.0;
            }
        }
        impl Mul<u64> for $size {
            type Output = Self;
            fn mul(self, times: u64) -> Self {
                Self(self.0 * times)
            }
        }
        impl Sum for $size {
            fn sum<I: Iterator<Item = Self>>(sizes: I) -> Self {
                sizes.fold(Self::ZERO, Add::add)
            }
        }
    };
}

arithmetic!(Bytes);
arithmetic!(Bits);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} B", self.0)
    }
}

impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bit", self.0)
    }
}
