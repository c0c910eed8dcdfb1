//! The arrivals from one link are limited by its rate: shaping of aggregates by the line.
//!
//! Of the frames that a link delivers within a window of *t*, each but the first took its own time on the line within
//! the window: together at most `L_max + C·t`, and never the fluid `C·t`, which would let a frame arrive bit by bit
//! where a bridge stores the full frame. Different delays between the line and the queue (stages, PHYs) widen the
//! window.
//! Sources: Grieu, Analyse et évaluation de techniques de commutation Ethernet, 2004 (grouping);
//! Mifdaoui and Leydier, TFA++, 2017; packetised as in Mohammadpour, Stai and Le Boudec, 2023.

use crate::curve::{Line, MICRO, volume};

/// The arrivals at a queue by one link whose line runs at `rate`: `largest` micro-bits of a frame, and `jitter`
/// picoseconds by which the delay to the queue differs between frames.
pub(crate) fn shaped_by_line(largest_bits: u64, rate: u64, jitter: u64) -> Line {
    Line { burst: u128::from(largest_bits) * MICRO + volume(rate, jitter), rate }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_delivers_complete_frames() {
        let line = shaped_by_line(12_336, 1_000_000_000, 0);
        assert_eq!(line, Line::new(12_336, 1_000_000_000));
        let later = shaped_by_line(12_336, 1_000_000_000, 1_000_000);
        assert_eq!(later, Line::new(13_336, 1_000_000_000), "a microsecond of jitter, 1000 bits");
    }
}
