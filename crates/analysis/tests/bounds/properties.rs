//! Laws that bounds keep on every network: more traffic, longer frames or worse clocks never lower one.

use proptest::prelude::*;
use tautwire_analysis::{Bounds, bounds};
use tautwire_model::Network;
use tautwire_units::{BitRate, Bits, Bytes};

fn drawn(seed: u64) -> Network {
    let text = tautwire_generate::random_network(seed);
    tautwire_model::load_text("random", &text).network.expect("a network that was drawn is whole")
}

/// Bounds of all listeners of all streams but one, in picoseconds; none is the greatest.
fn delays(bounds: &Bounds, but: Option<usize>) -> Vec<u64> {
    let others = bounds.streams.iter().enumerate().filter(|(number, _)| Some(*number) != but);
    others
        .flat_map(|(_, stream)| &stream.listeners)
        .map(|listener| listener.delay.as_ref().map_or(u64::MAX, |delay| delay.as_ps()))
        .collect()
}

/// Corners of curves are rounded up by a picosecond or so, at every hop: that much may be lost.
const ROUNDING_PS: u64 = 100;

fn not_lower(less: &[u64], more: &[u64]) -> Result<(), TestCaseError> {
    prop_assert_eq!(less.len(), more.len());
    for (number, (less, more)) in less.iter().zip(more).enumerate() {
        prop_assert!(*less <= more.saturating_add(ROUNDING_PS), "bound {}: {} became {}", number, less, more);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(1),
        ..ProptestConfig::default() })]

    #[test]
    fn a_further_stream_never_lowers_a_bound(seed in 0_u64..100_000, which in 0_usize..10) {
        let with = drawn(seed);
        let which = which % with.streams.len();
        let without = with.clone().altered(|parts| drop(parts.streams.remove(which)));
        let less = delays(&bounds(&without), None);
        let more = delays(&bounds(&with), Some(which));
        not_lower(&less, &more)?;
    }

    #[test]
    fn a_larger_burst_never_lowers_a_bound(seed in 0_u64..100_000, which in 0_usize..10, bits in 1_u64..50_000) {
        let less = drawn(seed);
        let which = which % less.streams.len();
        let more = less.clone().altered(|parts| {
            if let Some(curve) = &mut parts.streams[which].arrival {
                curve.burst += Bits::new(bits);
            }
        });
        not_lower(&delays(&bounds(&less), None), &delays(&bounds(&more), None))?;
    }

    #[test]
    fn a_higher_rate_never_lowers_a_bound(seed in 0_u64..100_000, which in 0_usize..10, bps in 1_u64..5_000_000) {
        let less = drawn(seed);
        let which = which % less.streams.len();
        let more = less.clone().altered(|parts| {
            if let Some(curve) = &mut parts.streams[which].arrival {
                curve.rate = curve.rate.saturating_add(BitRate::from_bps(bps));
            }
        });
        not_lower(&delays(&bounds(&less), None), &delays(&bounds(&more), None))?;
    }

    #[test]
    fn a_longer_frame_never_lowers_a_bound(seed in 0_u64..100_000, which in 0_usize..10, octets in 1_u64..400) {
        let less = drawn(seed);
        let which = which % less.streams.len();
        let more = less.clone().altered(|parts| {
            let stream = &mut parts.streams[which];
            stream.payload_max = (stream.payload_max + Bytes::new(octets)).min(Bytes::new(1_500));
            // A burst holds the largest frame, with headers and tag, on the wire.
            let frame = stream.payload_max + Bytes::new(22) + Bytes::MEDIA_OVERHEAD;
            if let Some(curve) = &mut stream.arrival {
                curve.burst = curve.burst.max(frame.bits());
            }
        });
        not_lower(&delays(&bounds(&less), None), &delays(&bounds(&more), None))?;
    }

    #[test]
    fn a_worse_clock_never_lowers_a_bound(seed in 0_u64..100_000, ppb in 1_u32..50_000_000) {
        let less = drawn(seed);
        let more = less.clone().altered(|parts| {
            for node in &mut parts.nodes {
                node.clock.tolerance_ppb += ppb;
            }
        });
        not_lower(&delays(&bounds(&less), None), &delays(&bounds(&more), None))?;
    }

    #[test]
    fn least_is_never_above_greatest_and_equal_networks_have_equal_bounds(seed in 0_u64..100_000) {
        let network = drawn(seed);
        let once = bounds(&network);
        prop_assert_eq!(&once, &bounds(&network.clone()));
        for stream in &once.streams {
            for listener in &stream.listeners {
                if let Ok(delay) = &listener.delay {
                    prop_assert!(listener.delay_min <= *delay);
                }
            }
        }
    }
}
