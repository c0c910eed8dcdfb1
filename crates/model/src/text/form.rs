//! Compares the tree with the grammar: every fault of form at once.
//!
//! Values that pass here can be read without further faults of form; others are reported once, here, and left out by `resolve`.

use tautwire_units::{BitRate, Bits, Bytes, Duration, ParseUnitError, Quantity};

use super::codes;
use super::faults::{Faults, did_you_mean, nearest};
use super::language::synonyms;
use super::measure;
use super::scalar::{self, ScalarFault};
use super::shape::{self, Form, Kind, Shape};
use super::tree::{Key, Node, Place, Value};
use crate::blocks::place_of;

/// Reports every fault of form in `node`, and empties the wrong scalars, so that they are not read. `owner` is the
/// place at which a missing key is reported.
pub(crate) fn check(node: &mut Node<'_>, kind: &'static Kind, owner: Place, faults: &mut Faults) {
    let place = node.place;
    match (kind, &mut node.value) {
        (Kind::OneOf(kinds), _) => one_of(node, kinds, owner, faults),
        (Kind::Object(shape), Value::Map(entries)) => object(entries, shape, None, owner, faults),
        (Kind::Object(shape), Value::Nothing) => object(&mut [], shape, None, owner, faults),
        (Kind::Tagged(shapes), Value::Map(entries)) => tagged(entries, shapes, owner, faults),
        (Kind::Names(kind), Value::Map(entries)) => {
            duplicates(entries, faults);
            for (key, node) in entries {
                name(&key.text, key.place, faults);
                check(node, kind, key.place, faults);
            }
        }
        (Kind::Numbers(min, max, kind), Value::Map(entries)) => {
            duplicates(entries, faults);
            for (key, node) in entries {
                integer(&key.text, key.place, *min, *max, faults);
                check(node, kind, key.place, faults);
            }
        }
        (Kind::Names(_) | Kind::Numbers(..), Value::Nothing) => {}
        (Kind::List(0, ..), Value::Nothing) => {}
        (Kind::List(min, max, kind), Value::List(items)) => {
            if items.len() < *min || items.len() > *max {
                let elements = |count: usize| format!("{count} element{}", if count == 1 { "" } else { "s" });
                let message = format!("the list has {}", elements(items.len()));
                let help = match items.len() {
                    _ if min == max => format!("write {}", elements(*min)),
                    few if few < *min => format!("write {} at least", elements(*min)),
                    _ => format!("write {} at most", elements(*max)),
                };
                faults.error(codes::COUNT, owner, message, help);
            }
            for item in items {
                check(item, kind, item.anchor(), faults);
            }
        }
        (_, Value::Scalar(text)) if kind.form() == Some(Form::Scalar) => {
            let before = faults.errors();
            scalar_of(text, place, kind, faults);
            if faults.errors() > before {
                node.value = Value::Nothing;
            }
        }
        _ => wrong_form(kind, node, owner, faults),
    }
}

fn wrong_form(kind: &Kind, node: &Node<'_>, owner: Place, faults: &mut Faults) {
    let (found, place) = match &node.value {
        Value::Scalar(text) => (format!("the value is the text `{text}`"), node.place),
        Value::List(_) => ("the value is a list".to_owned(), owner),
        Value::Map(_) => ("the value is a mapping".to_owned(), owner),
        Value::Nothing => ("the value is missing".to_owned(), owner),
    };
    faults.error(codes::KIND, place, found, format!("write {}", kind.describe()));
}

/// The first alternative that fits; if none does, the faults of the last one of this form.
fn one_of(node: &mut Node<'_>, kinds: &'static [Kind], owner: Place, faults: &mut Faults) {
    let form = match node.value {
        Value::Scalar(_) => Some(Form::Scalar),
        Value::List(_) => Some(Form::List),
        Value::Map(_) => Some(Form::Map),
        Value::Nothing => None,
    };
    let mut fitting = kinds.iter().filter(|kind| form.is_some() && kind.form() == form);
    match (fitting.next(), fitting.next()) {
        (None, _) => wrong_form(&Kind::OneOf(kinds), node, owner, faults),
        (Some(kind), None) => {
            // A word that is an alternative to lists or mappings only: the message names those, too.
            if let (Kind::Word(words), Value::Scalar(text)) = (kind, &node.value)
                && !words.contains(&&**text)
            {
                let help = format!("write {}", Kind::OneOf(kinds).describe());
                faults.error(codes::WORD, node.place, format!("`{text}` is not known here"), help);
                node.value = Value::Nothing;
                return;
            }
            check(node, kind, owner, faults);
        }
        (Some(_), Some(_)) => {
            let mut last = Faults::default();
            for kind in kinds.iter().filter(|kind| kind.form() == form) {
                last = Faults::default();
                let mut trial = node.clone();
                check(&mut trial, kind, owner, &mut last);
                if last.errors() == 0 {
                    return;
                }
            }
            faults.append(last);
            node.value = Value::Nothing;
        }
    }
}

fn duplicates(entries: &[(Key<'_>, Node<'_>)], faults: &mut Faults) {
    if entries.len() < 2 {
        return;
    }
    let mut seen = std::collections::HashMap::with_capacity(entries.len());
    for (key, _) in entries {
        if let Some(first) = seen.insert(&*key.text, key.place) {
            seen.insert(&*key.text, first);
            let message = format!("the key `{}` occurs twice", key.text);
            let help = "remove one of them, or give it another name";
            faults.error_with(codes::DUPLICATE_KEY, key.place, message, help, (first, "first here"));
        }
    }
}

fn object(
    entries: &mut [(Key<'_>, Node<'_>)],
    shape: &'static Shape,
    tag: Option<&str>,
    owner: Place,
    faults: &mut Faults,
) {
    for position in 0..entries.len() {
        let (before, rest) = entries.split_at_mut(position);
        let (key, node) = &mut rest[0];
        if let Some((first, _)) = before.iter().find(|(other, _)| other.text == key.text) {
            let message = format!("the key `{}` occurs twice", key.text);
            let help = "remove one of them";
            faults.error_with(codes::DUPLICATE_KEY, key.place, message, help, (first.place, "first here"));
            continue;
        }
        if tag == Some(&*key.text) {
            continue;
        }
        match shape.key(&key.text) {
            Some(known) => {
                check(node, &known.kind, key.place, faults);
                in_range(node, known, faults);
            }
            None => unknown_key(key, shape, faults),
        }
    }
    // A misspelt key is not missing, too.
    let is_meant = |name: &str| {
        let mut unknown = entries.iter().filter(|(key, _)| shape.key(&key.text).is_none());
        unknown.any(|(key, _)| nearest(&key.text, shape.keys().map(|key| key.name)) == Some(name))
    };
    for key in shape.keys().filter(|key| key.required) {
        if !entries.iter().any(|(present, _)| present.text == key.name) && !is_meant(key.name) {
            let message = format!("{} needs the key `{}`", shape.name, key.name);
            let help = format!("add `{}:` with {}", key.name, key.kind.describe());
            faults.error(codes::MISSING_KEY, owner, message, help);
        }
    }
}

/// Holds a value, and those in a list, against the range of their key. A word in the place of a quantity is in it.
fn in_range(node: &mut Node<'_>, key: &'static shape::Key, faults: &mut Faults) {
    let Some(words) = key.range.words() else { return };
    let text = match &mut node.value {
        Value::Scalar(text) => text,
        Value::List(items) => return items.iter_mut().for_each(|item| in_range(item, key, faults)),
        _ => return,
    };
    let Some(value) = measure::measure(&key.kind, text) else { return };
    let bound = |text: Option<&str>| text.and_then(|text| measure::measure(&key.kind, text));
    let fault = if bound(key.range.min).is_some_and(|min| value < min) {
        "too small"
    } else if bound(key.range.max).is_some_and(|max| value > max) {
        "too large"
    } else if bound(key.range.step).is_some_and(|step| value % step != 0) {
        "between two steps"
    } else {
        return;
    };
    let message = format!("`{}` of {text} is {fault}", key.name);
    faults.error(codes::RANGE, node.place, message, format!("write {words}"));
    node.value = Value::Nothing;
}

fn unknown_key(key: &Key<'_>, shape: &'static Shape, faults: &mut Faults) {
    if let Some(mechanism) = not_supported(&key.text) {
        let message = format!("`{}` is not supported: Tautwire has no {mechanism} yet", key.text);
        let help = "remove it: README.md lists what is not supported";
        return faults.error(codes::NOT_SUPPORTED, key.place, message, help);
    }
    let message = format!("`{}` is no key of {}", key.text, shape.name);
    let help = match &*key.text {
        "size" | "length" | "frame-size" | "packet-size" | "bytes" if shape.name == "a stream" => {
            "write `payload` (MAC client data) or `frame` (destination to FCS, tag included)".to_owned()
        }
        text => place_of(text).map_or_else(|| key_meant(text, shape), str::to_owned),
    };
    faults.error(codes::UNKNOWN_KEY, key.place, message, help);
}

/// The key of a shape that was meant, or the list of its keys.
fn key_meant(text: &str, shape: &'static Shape) -> String {
    match synonyms::meant(text, |path| synonyms::has(shape, path)) {
        Some(path) => match path.split_once('.') {
            Some((first, rest)) => format!("did you mean `{rest}` in `{first}`?"),
            None => format!("did you mean `{path}`?"),
        },
        None => did_you_mean(text, "a key", shape.keys().map(|key| key.name)),
    }
}

/// The word of the grammar that was meant, or the list of them; `what` they are.
fn word_meant(text: &str, what: &str, words: impl Iterator<Item = &'static str> + Clone) -> String {
    match synonyms::meant(text, |word| words.clone().any(|known| known == word)) {
        Some(word) => format!("did you mean `{word}`?"),
        None => did_you_mean(text, what, words),
    }
}

/// The mechanism that a key speaks of, if it is one of 802.1 that is not there.
fn not_supported(key: &str) -> Option<&'static str> {
    Some(match key {
        "spanning-tree" | "stp" | "rstp" | "mstp" => "spanning tree",
        "link-aggregation" | "lag" | "lacp" => "link aggregation (802.1AX)",
        "deficit-round-robin" | "weighted-round-robin" | "ets" | "wrr" | "drr" => {
            "enhanced transmission selection (802.1Q-2022 8.6.8.3)"
        }
        _ => return None,
    })
}

fn tagged(
    entries: &mut [(Key<'_>, Node<'_>)],
    shapes: &'static [(&'static str, &'static Shape)],
    owner: Place,
    faults: &mut Faults,
) {
    let known = || shapes.iter().map(|(name, _)| *name);
    let Some((_, tag)) = entries.iter().find(|(key, _)| key.text == "type") else {
        if let Some((key, _)) =
            entries.iter().find(|(key, _)| nearest(&key.text, ["type"].into_iter()).is_some())
        {
            let help = "did you mean `type`?";
            return faults.error(
                codes::UNKNOWN_KEY,
                key.place,
                format!("`{}` is no key here", key.text),
                help,
            );
        }
        let help = format!("add `type:` with one of {}", known().collect::<Vec<_>>().join(", "));
        faults.error(codes::MISSING_KEY, owner, "the key `type` is missing".to_owned(), help);
        return;
    };
    let Some(text) = tag.text() else {
        return wrong_form(&Kind::Text, tag, owner, faults);
    };
    match shapes.iter().find(|(name, _)| *name == text) {
        Some((_, shape)) => object(entries, shape, Some("type"), owner, faults),
        None => {
            let help = word_meant(text, "a type", known());
            faults.error(codes::WORD, tag.place, format!("`{text}` is not one of the types"), help);
        }
    }
}

/// Most of what any description needs, so that no sum or product of its values leaves its type.
const DURATION_MAX: Duration = Duration::from_s(86_400);
const OCTETS_MAX: Bytes = Bytes::new(1_000_000_000_000);
const RATE_MAX: BitRate = BitRate::from_gbps(1_000);

/// Reports a text that is no quantity with its unit, or one above `max`.
pub(crate) fn quantity<Q: Quantity + PartialOrd>(text: &str, place: Place, max: Q, faults: &mut Faults) {
    match text.parse::<Q>() {
        Err(error) => unit_fault(&error, text, place, Q::NAME, Q::EXAMPLE, faults),
        Ok(value) if value > max => {
            let help = format!("write {} of at most {max}", Q::NAME);
            faults.error(codes::RANGE, place, format!("`{text}` is too large"), help);
        }
        Ok(_) => {}
    }
}

fn unit_fault(
    error: &ParseUnitError,
    text: &str,
    place: Place,
    name: &str,
    example: &str,
    faults: &mut Faults,
) {
    let code = match error {
        ParseUnitError::NoNumber => codes::NUMBER,
        ParseUnitError::NoUnit { .. } => codes::UNIT_MISSING,
        ParseUnitError::UnknownUnit { .. } => codes::UNIT_UNKNOWN,
        ParseUnitError::TooFine { .. } | ParseUnitError::TooLarge { .. } => codes::RANGE,
    };
    let what = match error {
        ParseUnitError::NoNumber if text.strip_prefix('-').is_some_and(|rest| rest.starts_with(digit)) => {
            "it is negative".to_owned()
        }
        _ => error.to_string(),
    };
    let help = match text.split_once(',').map(|(integer, rest)| format!("{integer}.{rest}")) {
        // As spreadsheets of many countries save it.
        Some(pointed) if starts_with_comma(text) => format!("write a decimal point: `{pointed}`"),
        _ => format!("write {name} such as `{example}`"),
    };
    faults.error(code, place, format!("`{text}`: {what}"), help);
}

fn digit(letter: char) -> bool {
    letter.is_ascii_digit()
}

/// Whether a text begins with a number with a decimal comma.
fn starts_with_comma(text: &str) -> bool {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let integer = digits(text);
    integer > 0 && text[integer..].strip_prefix(',').is_some_and(|rest| digits(rest) > 0)
}

fn scalar_fault<T>(
    result: Result<T, ScalarFault>,
    text: &str,
    place: Place,
    kind: &Kind,
    faults: &mut Faults,
) {
    let (code, message) = match result {
        Ok(_) => return,
        Err(ScalarFault::NoUnit) => (codes::UNIT_MISSING, format!("`{text}` has no unit")),
        Err(ScalarFault::Wrong) => (codes::NUMBER, format!("`{text}` is not understood")),
        Err(ScalarFault::OutOfRange) => (codes::RANGE, format!("`{text}` is too fine or too large")),
    };
    let limits = match kind {
        Kind::Deviation | Kind::SignedDeviation => ": an integral number of ppb, below 100000 ppm",
        _ => "",
    };
    faults.error(code, place, message, format!("write {}{limits}", kind.describe()));
}

fn integer(text: &str, place: Place, min: u64, max: u64, faults: &mut Faults) {
    let help = format!("write {}", Kind::Integer(min, max).describe());
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        faults.error(codes::NUMBER, place, format!("`{text}` is not an integer"), help);
    } else if !text.parse::<u64>().is_ok_and(|number| number >= min && number <= max) {
        faults.error(codes::RANGE, place, format!("{text} is out of range"), help);
    }
}

fn name(text: &str, place: Place, faults: &mut Faults) {
    let good = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    if text.is_empty() || !text.chars().all(good) {
        let help = "use letters, digits, `-`, `_`, `.` and `/`";
        faults.error(codes::NAME, place, format!("`{text}` is not a valid name"), help);
    }
}

fn scalar_of(text: &str, place: Place, kind: &Kind, faults: &mut Faults) {
    match kind {
        Kind::Text => {}
        Kind::Name => name(text, place, faults),
        Kind::Reference => text.splitn(2, ':').for_each(|part| name(part, place, faults)),
        Kind::Duration => quantity(text, place, DURATION_MAX, faults),
        Kind::Period => {
            let denominator =
                text.split_once('/').map(|(_, rest)| rest.trim_end_matches(|letter| !digit(letter)));
            if denominator.is_some_and(|text| !text.is_empty() && text.bytes().all(|octet| octet == b'0')) {
                let help = "write a duration such as `500 us` or `1/3 ms`";
                faults.error(codes::RANGE, place, format!("`{text}` is divided by 0"), help);
            } else if let Err(error) = scalar::period(text) {
                unit_fault(&error, text, place, Duration::NAME, "500 us` or `1/3 ms", faults);
            }
        }
        Kind::SignedDuration => {
            if let Err(error) = scalar::signed_duration(text) {
                unit_fault(&error, text, place, Duration::NAME, "-3 us", faults);
            }
        }
        Kind::Rate => quantity(text, place, RATE_MAX, faults),
        Kind::Octets => quantity(text, place, OCTETS_MAX, faults),
        Kind::Bits => quantity::<Bits>(text, place, OCTETS_MAX.bits(), faults),
        Kind::Deviation => scalar_fault(scalar::deviation(text), text, place, kind, faults),
        Kind::SignedDeviation => scalar_fault(scalar::signed_deviation(text), text, place, kind, faults),
        Kind::Chance => scalar_fault(scalar::chance(text), text, place, kind, faults),
        Kind::Length => scalar_fault(scalar::length(text), text, place, kind, faults),
        Kind::Flag => {
            if scalar::flag(text).is_none() {
                let help = "write `true` or `false`";
                faults.error(codes::WORD, place, format!("`{text}` is neither true nor false"), help);
            }
        }
        Kind::Integer(min, max) => integer(text, place, *min, *max, faults),
        Kind::Word(words) => {
            if !words.contains(&text) {
                let help = word_meant(text, "it", words.iter().copied());
                faults.error(codes::WORD, place, format!("`{text}` is not known here"), help);
            }
        }
        Kind::MacAddress => {
            if text.parse::<tautwire_wire::MacAddress>().is_err() {
                let help = "write six pairs of hexadecimal digits: `02:00:00:00:00:01`";
                faults.error(codes::ADDRESS, place, format!("`{text}` is not a MAC address"), help);
            }
        }
        Kind::Ipv4Address => {
            if text.parse::<tautwire_wire::Ipv4Address>().is_err() {
                let help = "write four numbers: `192.168.0.1`";
                faults.error(codes::ADDRESS, place, format!("`{text}` is not an IPv4 address"), help);
            }
        }
        Kind::Object(_) | Kind::Tagged(_) | Kind::Names(_) | Kind::Numbers(..) => {}
        Kind::List(..) | Kind::OneOf(_) => {}
    }
}
