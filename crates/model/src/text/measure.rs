//! Values of a key as numbers that can be compared with the ranges of the grammar.

use tautwire_units::{BitRate, Bits, Bytes, Duration};

use super::scalar;
use super::shape::Kind;

/// A text of a kind as a number of the smallest unit; none if it is no quantity, or none of this kind.
pub(crate) fn measure(kind: &Kind, text: &str) -> Option<i128> {
    Some(match kind {
        Kind::Duration => text.parse::<Duration>().ok()?.as_ps().into(),
        Kind::Period => scalar::period(text).ok()?.floor().as_ps().into(),
        Kind::SignedDuration => scalar::signed_duration(text).ok()?.as_ps().into(),
        Kind::Rate => text.parse::<BitRate>().ok()?.as_bps().into(),
        Kind::Octets => text.parse::<Bytes>().ok()?.get().into(),
        Kind::Bits => text.parse::<Bits>().ok()?.get().into(),
        Kind::Deviation => scalar::deviation(text).ok()?.into(),
        Kind::SignedDeviation => scalar::signed_deviation(text).ok()?.into(),
        Kind::Chance => scalar::chance(text).ok()?.into(),
        Kind::Length => scalar::length(text).ok()?.as_ps().into(),
        Kind::Integer(..) => text.parse::<u64>().ok()?.into(),
        Kind::List(_, _, kind) => measure(kind, text)?,
        Kind::OneOf(kinds) => kinds.iter().find_map(|kind| measure(kind, text))?,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::Grammar;
    use crate::text::faults::Faults;
    use crate::text::shape::{Key, Shape};
    use crate::text::tree::{self, Value};
    use crate::text::{codes, form};

    /// The keys of the kernel that take a part of their kind's values.
    fn ranged() -> Vec<(&'static Shape, &'static Key)> {
        let keys = |shape: &'static Shape| shape.keys().map(move |key| (shape, key));
        let has_range = |(_, key): &(&Shape, &Key)| key.range.words().is_some();
        Grammar::kernel().shapes().into_iter().flat_map(keys).filter(has_range).collect()
    }

    fn leaf(kind: &Kind, text: &str) -> Option<Kind> {
        match kind {
            Kind::List(_, _, inner) => leaf(inner, text),
            Kind::OneOf(kinds) => kinds.iter().find_map(|kind| leaf(kind, text)),
            other => measure(other, text).map(|_| *other),
        }
    }

    /// A number of the smallest unit as a text of a kind.
    fn written(kind: &Kind, value: i128) -> String {
        let unit = match kind {
            Kind::Duration | Kind::Period | Kind::SignedDuration => "ps",
            Kind::Rate => "bit/s",
            Kind::Octets => "B",
            Kind::Bits => "bit",
            Kind::Deviation | Kind::SignedDeviation => "ppb",
            _ => "",
        };
        format!("{value} {unit}").trim().to_owned()
    }

    /// Whether a key takes a text; a text that it does not take has one fault of range and is not read by anyone.
    fn is_taken(shape: &'static Shape, key: &Key, text: &str) -> bool {
        let keys: &'static [Key] = Box::leak(Box::new([*key]));
        let alone = Shape { keys: Box::leak(Box::new([keys])), ..*shape };
        let kind: &'static Kind = Box::leak(Box::new(Kind::Object(Box::leak(Box::new(alone)))));
        let text = format!("{}: {text}", key.name);
        let mut faults = Faults::default();
        let mut node = tree::read(0, &text, &mut faults);
        let place = node.anchor();
        form::check(&mut node, kind, place, &mut faults);
        let faults = faults.into_sorted();
        let value = node.get(key.name).map(|node| &node.value);
        assert_eq!(faults.is_empty(), !matches!(value, Some(Value::Nothing)), "{text}");
        assert!(faults.iter().all(|fault| fault.code == codes::RANGE), "{text}: {faults:?}");
        assert!(faults.len() < 2, "{text}");
        faults.is_empty()
    }

    #[test]
    fn bounds_are_taken_and_what_is_beyond_them_is_refused() {
        let ranged = ranged();
        assert!(ranged.len() > 25, "{}", ranged.len());
        for (shape, key) in ranged {
            let what = format!("{} of {}", key.name, shape.name);
            let one = key.range.min.or(key.range.max).expect("a bound");
            let kind = leaf(&key.kind, one).unwrap_or_else(|| panic!("{what}: {one} is none of its kind"));
            let bound = |text: Option<&str>| text.map(|text| measure(&kind, text).expect("of its kind"));
            let (min, max) = (bound(key.range.min), bound(key.range.max));
            let step = bound(key.range.step).unwrap_or(1);
            assert!(min.zip(max).is_none_or(|(min, max)| min < max), "{what}");
            for (inside, outside) in
                [min.map(|min| (min, min - 1)), max.map(|max| (max, max + 1))].into_iter().flatten()
            {
                assert!(is_taken(shape, key, &written(&kind, inside)), "{what}: {inside}");
                assert!(outside < 0 || !is_taken(shape, key, &written(&kind, outside)), "{what}: {outside}");
            }
            // Values drawn within, and half as many without.
            let (low, high) =
                (min.unwrap_or(0), max.unwrap_or_else(|| min.unwrap_or(0).saturating_mul(1_000) + 1_000));
            let mut state = 1_u64;
            for _ in 0..50 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let drawn = low + i128::from(state >> 1) % (high - low + 1);
                let even = drawn / step * step;
                assert!(is_taken(shape, key, &written(&kind, even.max(low))), "{what}: {even}");
                let is_step = drawn % step == 0;
                assert_eq!(is_taken(shape, key, &written(&kind, drawn)), is_step, "{what}: {drawn}");
                if let Some(max) = max {
                    let above = max + 1 + drawn % max.max(1);
                    assert!(!is_taken(shape, key, &written(&kind, above)), "{what}: {above}");
                }
            }
            if let Some(default) = key.default {
                assert!(is_taken(shape, key, default), "{what}: its default {default}");
            }
        }
    }

    #[test]
    fn numbers_are_held_to_their_bounds() {
        for shape in Grammar::kernel().shapes() {
            for key in shape.keys() {
                let Kind::Integer(min, max) = key.kind else { continue };
                for (value, taken) in [
                    (Some(min), true),
                    (Some(max), true),
                    (min.checked_sub(1), false),
                    (max.checked_add(1), false),
                ] {
                    let Some(value) = value else { continue };
                    assert_eq!(is_taken(shape, key, &value.to_string()), taken, "{}: {value}", key.name);
                }
            }
        }
    }
}
