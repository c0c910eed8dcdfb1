//! Time, rates, sizes and credit as integer types.
//!
//! Everything that Tautwire computes about a network is computed in these types: whole picoseconds,
//! whole bits per second, whole octets and bits, and credit in units of 10⁻¹² bit. They never
//! convert into one another silently, and every division names its rounding.
//!
//! ```
//! use tautwire_units::{BitRate, Bits, Bytes, Duration};
//!
//! let rate: BitRate = "1 Gbit/s".parse()?;
//! let frame = Bytes::new(1522);
//! let wire: Bits = (frame + Bytes::MEDIA_OVERHEAD).bits();
//! assert_eq!(rate.duration_ceil(wire), Duration::from_ns(12_336));
//! # Ok::<(), tautwire_units::ParseUnitError>(())
//! ```
//!
//! Not here: dates (a reading is a time since the start of a run) and true time, which only the
//! simulator knows.
#![no_std]

extern crate alloc;

mod credit;
mod rate;
mod size;
mod text;
mod time;

pub use credit::Credit;
pub use rate::{BitRate, RateError};
pub use size::{Bits, Bytes};
pub use text::{ParseUnitError, Quantity};
pub use time::{ClockOffset, Duration, Instant};
