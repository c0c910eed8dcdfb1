//! Flow meters (IEEE Std 802.1Q-2022, 8.6.5.5): the two-rate three-colour bandwidth profile of MEF 10.3.
//!
//! In: reading of the clock, octets and colour of a frame. Out: its colour, or none if it is discarded. Invariants:
//! tokens are exact (in 10⁻¹² bit); the green frames of any span are at most CBS and what CIR earns in it, the yellow
//! ones EBS and what EIR earns (with the coupling flag also CIR's). A discarded frame takes no token, but a dropped
//! yellow one does.

use tautwire_units::{BitRate, Instant};

/// Whether the colour of an arriving frame counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ColourMode {
    /// It does not.
    #[default]
    Blind,
    /// A frame that comes yellow is not green.
    Aware,
}

/// The colour of a frame that is not discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Colour {
    /// It keeps to the committed rate.
    Green,
    /// It keeps to the excess rate: it is drop-eligible from here on.
    Yellow,
}

/// The parameters of a flow meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MeterConfig {
    /// CIR, in bits of frames (destination to FCS).
    pub committed_information_rate: BitRate,
    /// CBS, octets.
    pub committed_burst_size: u32,
    /// EIR.
    pub excess_information_rate: BitRate,
    /// EBS, octets.
    pub excess_burst_size: u32,
    /// CF: whether committed tokens that find their bucket full are excess tokens.
    pub coupling_flag: bool,
    /// CM.
    pub color_mode: ColourMode,
    /// DropOnYellow.
    pub drop_on_yellow: bool,
    /// MarkAllFramesRedEnable: whether a discarded frame makes all later ones red.
    pub mark_all_frames_red_enable: bool,
}

/// Tokens of an octet.
const OCTET: u128 = 8_000_000_000_000;

/// A flow meter.
#[derive(Clone, Debug)]
pub struct FlowMeter {
    config: MeterConfig,
    committed: u128,
    excess: u128,
    settled: Instant,
    /// MarkAllFramesRed.
    all_red: bool,
}

impl FlowMeter {
    /// A meter with full buckets when the clock reads zero.
    #[must_use]
    pub fn new(config: MeterConfig) -> Self {
        let mut meter = Self { config, committed: 0, excess: 0, settled: Instant::ZERO, all_red: false };
        meter.start(Instant::ZERO);
        meter
    }

    /// The node starts when its clock reads `now`.
    pub fn start(&mut self, now: Instant) {
        self.committed = u128::from(self.config.committed_burst_size) * OCTET;
        self.excess = u128::from(self.config.excess_burst_size) * OCTET;
        self.settled = now;
        self.all_red = false;
    }

    /// Changes the parameters at `now`: the buckets keep their contents, up to their new sizes.
    pub fn change(&mut self, now: Instant, config: MeterConfig) {
        self.settle(now);
        self.config = config;
        self.committed = self.committed.min(u128::from(config.committed_burst_size) * OCTET);
        self.excess = self.excess.min(u128::from(config.excess_burst_size) * OCTET);
    }

    /// Earns tokens up to `now`.
    fn settle(&mut self, now: Instant) {
        let MeterConfig { committed_information_rate, excess_information_rate, coupling_flag, .. } =
            self.config;
        let span = u128::from(now.saturating_since(self.settled).as_ps());
        let full = |octets: u32| u128::from(octets) * OCTET;
        let committed = self.committed + u128::from(committed_information_rate.as_bps()) * span;
        self.committed = committed.min(full(self.config.committed_burst_size));
        let over = if coupling_flag { committed - self.committed } else { 0 };
        let excess = self.excess + u128::from(excess_information_rate.as_bps()) * span + over;
        self.excess = excess.min(full(self.config.excess_burst_size));
        self.settled = self.settled.max(now);
    }

    /// Meters a frame of `octets` that came drop-eligible or not, at `now`: its colour, or none if it is discarded.
    pub fn judge(&mut self, now: Instant, octets: u32, drop_eligible: bool) -> Option<Colour> {
        self.settle(now);
        let MeterConfig { color_mode, drop_on_yellow, mark_all_frames_red_enable, .. } = self.config;
        if planted!(MeterOpen) {
            return Some(Colour::Green);
        }
        if mark_all_frames_red_enable && self.all_red {
            return None;
        }
        let needed = u128::from(octets) * OCTET;
        let may_be_green = color_mode == ColourMode::Blind || !drop_eligible;
        let colour = if may_be_green && needed <= self.committed {
            self.committed -= needed;
            Some(Colour::Green)
        } else if needed <= self.excess {
            self.excess -= needed;
            Some(Colour::Yellow).filter(|_| !drop_on_yellow)
        } else {
            None
        };
        self.all_red |= mark_all_frames_red_enable && colour.is_none();
        colour
    }

    /// Whether all frames are red (MarkAllFramesRed).
    #[must_use]
    pub const fn is_all_red(&self) -> bool {
        self.all_red
    }

    /// Makes all frames red, if that is enabled, or ends it.
    pub const fn set_all_red(&mut self, so: bool) {
        self.all_red = so;
    }

    /// Octets in the two buckets, rounded down, when the clock reads `now`.
    #[must_use]
    pub fn octets_left(&self, now: Instant) -> (u32, u32) {
        let mut then = self.clone();
        then.settle(now);
        let whole = |tokens: u128| u32::try_from(tokens / OCTET).unwrap_or(u32::MAX);
        (whole(then.committed), whole(then.excess))
    }

    /// The parameters.
    #[must_use]
    pub const fn config(&self) -> &MeterConfig {
        &self.config
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use tautwire_units::Duration;

    const MBIT: fn(u64) -> BitRate = BitRate::from_mbps;

    fn config() -> MeterConfig {
        MeterConfig {
            committed_information_rate: MBIT(8),
            committed_burst_size: 3_000,
            excess_information_rate: MBIT(4),
            excess_burst_size: 2_000,
            coupling_flag: false,
            color_mode: ColourMode::Blind,
            drop_on_yellow: false,
            mark_all_frames_red_enable: false,
        }
    }

    fn at(us: u64) -> Instant {
        Instant::ZERO + Duration::from_us(us)
    }

    const TIMES: [u64; 8] = [0, 0, 0, 0, 1_000, 1_600, 1_700, 2_000];

    #[test]
    fn two_rates_give_three_colours() {
        use Colour::{Green, Yellow};
        let mut meter = FlowMeter::new(config());
        let expected = [
            ((3_000, 2_000), Some(Green), (1_500, 2_000)),
            ((1_500, 2_000), Some(Green), (0, 2_000)),
            ((0, 2_000), Some(Yellow), (0, 500)),
            ((0, 500), None, (0, 500)),
            ((1_000, 1_000), None, (1_000, 1_000)),
            ((1_600, 1_300), Some(Green), (100, 1_300)),
            ((200, 1_350), None, (200, 1_350)),
            ((500, 1_500), Some(Yellow), (500, 0)),
        ];
        for (us, (before, colour, after)) in TIMES.into_iter().zip(expected) {
            assert_eq!(meter.octets_left(at(us)), before, "at {us} us");
            assert_eq!(meter.judge(at(us), 1_500, false), colour, "at {us} us");
            assert_eq!(meter.octets_left(at(us)), after, "at {us} us");
        }
        let mut strict = FlowMeter::new(MeterConfig { drop_on_yellow: true, ..config() });
        let passed: Vec<bool> =
            TIMES.into_iter().map(|us| strict.judge(at(us), 1_500, false).is_some()).collect();
        assert_eq!(passed, [true, true, false, false, false, true, false, false]);
    }

    #[test]
    fn coupled_buckets_share_what_is_over() {
        let coupled = MeterConfig { coupling_flag: true, excess_information_rate: MBIT(0), ..config() };
        for (config, left) in [(coupled, 500), (MeterConfig { coupling_flag: false, ..coupled }, 0)] {
            let mut meter = FlowMeter::new(config);
            // A frame that comes yellow takes tokens of the second bucket alone.
            meter.config.color_mode = ColourMode::Aware;
            assert_eq!(meter.judge(at(0), 2_000, true), Some(Colour::Yellow));
            // The first bucket is full, so 500 octets of its rate go over.
            assert_eq!(meter.octets_left(at(500)), (3_000, left));
        }
    }

    #[test]
    fn a_discarded_frame_makes_all_red_until_management_clears_it() {
        let mut meter = FlowMeter::new(MeterConfig { mark_all_frames_red_enable: true, ..config() });
        assert_eq!(meter.judge(at(0), 6_000, false), None);
        assert!(meter.is_all_red());
        assert_eq!(meter.judge(at(10_000), 64, false), None);
        meter.set_all_red(false);
        assert_eq!(meter.judge(at(10_000), 64, false), Some(Colour::Green));
        meter.set_all_red(true);
        meter.start(at(20_000));
        assert_eq!(
            meter.judge(at(20_000), 3_000, false),
            Some(Colour::Green),
            "a node that starts has forgotten it"
        );
    }

    #[test]
    fn a_change_keeps_what_the_buckets_hold() {
        let mut meter = FlowMeter::new(config());
        assert_eq!(meter.judge(at(0), 2_900, false), Some(Colour::Green));
        meter
            .change(at(100), MeterConfig { excess_burst_size: 300, committed_burst_size: 9_000, ..config() });
        assert_eq!(meter.octets_left(at(100)), (200, 300));
    }

    proptest::proptest! {
        /// The frames that pass in any span keep to the two buckets and rates, for any arrivals, and the number of
        /// calls does not matter.
        #[test]
        fn what_passes_keeps_to_the_profile(
            frames in proptest::collection::vec((0_u64..2_000_000, 64_u32..=1_522, proptest::bool::ANY), 1..60),
            coupled in proptest::bool::ANY,
            aware in proptest::bool::ANY,
            drop_on_yellow in proptest::bool::ANY,
        ) {
            let color_mode = if aware { ColourMode::Aware } else { ColourMode::Blind };
            let config = MeterConfig { coupling_flag: coupled, color_mode, drop_on_yellow, ..config() };
            let (mut meter, mut asked) = (FlowMeter::new(config), FlowMeter::new(config));
            let mut now = Instant::ZERO;
            let mut passed: Vec<(Instant, u64, Colour)> = Vec::new();
            for (apart, octets, yellow) in frames {
                asked.settle(now + Duration::from_ps(apart / 3));
                now += Duration::from_ps(apart);
                let colour = meter.judge(now, octets, yellow);
                proptest::prop_assert_eq!(colour, asked.judge(now, octets, yellow));
                proptest::prop_assert!(!(aware && yellow) || colour != Some(Colour::Green));
                passed.extend(colour.map(|colour| (now, u64::from(octets), colour)));
            }
            for first in 0..passed.len() {
                let (mut green, mut all) = (0_u128, 0_u128);
                for (time, octets, colour) in &passed[first..] {
                    let span = u128::from(time.since(passed[first].0).as_ps());
                    all += u128::from(*octets) * OCTET;
                    green += if *colour == Colour::Green { u128::from(*octets) * OCTET } else { 0 };
                    let committed = 3_000 * OCTET + 8_000_000 * span;
                    proptest::prop_assert!(green <= committed);
                    proptest::prop_assert!(all <= committed + 2_000 * OCTET + 4_000_000 * span);
                    proptest::prop_assert!(!drop_on_yellow || all == green);
                }
            }
        }
    }
}
