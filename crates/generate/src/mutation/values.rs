//! Values by their kind: plausible ones, and those at a limit.

use super::grammar::{Grammar, Kind};
use super::names::Names;
use super::tree::Tree;
use crate::Dice;

/// How deep a drawn object may have objects.
const DEPTH: usize = 3;

/// A drawn value: at a limit of its kind, or somewhere in between.
pub(super) fn draw(grammar: &Grammar, kind: &Kind, names: &Names, dice: &mut Dice, depth: usize) -> Tree {
    match kind {
        Kind::Text => Tree::Scalar(names.any(dice)),
        Kind::Quantity { units, signed } => Tree::Scalar(quantity(units, *signed, dice)),
        Kind::Chance => word(dice, &["0", "1e-18", "1e-9", "1e-6", "1e-4", "0.01", "0.5", "1"]),
        Kind::Flag => word(dice, &["true", "false"]),
        Kind::Integer(least, most) => Tree::Scalar(integer(*least, *most, dice).to_string()),
        Kind::Word(words) => Tree::Scalar(dice.one_of(&words[..]).clone()),
        Kind::MacAddress => {
            word(dice, &["02:00:00:00:00:01", "01:80:c2:00:00:0e", "ff:ff:ff:ff:ff:ff", "02:aa:00:00:00:00"])
        }
        Kind::Ipv4Address => word(dice, &["192.168.0.1", "224.0.0.1", "0.0.0.0", "255.255.255.255"]),
        Kind::Object(shape) => object(grammar, *shape, None, names, dice, depth),
        Kind::Tagged(shapes) => {
            let (tag, shape) = dice.one_of(shapes);
            object(grammar, *shape, Some(tag), names, dice, depth)
        }
        Kind::Names(inner) => {
            let name = if dice.chance(80) { names.any(dice) } else { "another".to_owned() };
            Tree::Map(vec![(name, draw(grammar, inner, names, dice, depth + 1))])
        }
        Kind::Numbers(most, inner) => {
            let number = if dice.chance(30) { *most } else { dice.between(1, 7.min(*most)) };
            Tree::Map(vec![(number.to_string(), draw(grammar, inner, names, dice, depth + 1))])
        }
        Kind::List(least, inner) => {
            let count = if *least > 0 { *least } else { usize::try_from(dice.between(0, 2)).expect("few") };
            Tree::List((0..count).map(|_| draw(grammar, inner, names, dice, depth + 1)).collect())
        }
        Kind::OneOf(kinds) => draw(grammar, dice.one_of(kinds), names, dice, depth),
    }
}

/// An object with what it must have, and now and then with more.
fn object(
    grammar: &Grammar,
    shape: usize,
    tag: Option<&str>,
    names: &Names,
    dice: &mut Dice,
    depth: usize,
) -> Tree {
    let keys = &grammar.shapes[shape].keys;
    let optional = keys.iter().filter(|key| !grammar.keys[**key].required).count() as u64;
    let percent = if depth < DEPTH { 150 / optional.max(1) } else { 0 };
    let mut entries = Vec::new();
    for key in keys.iter().map(|key| &grammar.keys[*key]) {
        if key.name == "type" && tag.is_some() {
            entries.push(("type".to_owned(), Tree::Scalar(tag.unwrap_or_default().to_owned())));
        } else if key.required || dice.chance(percent.min(60)) {
            entries.push((key.name.clone(), draw(grammar, &key.kind, names, dice, depth + 1)));
        }
    }
    Tree::Map(entries)
}

fn word(dice: &mut Dice, words: &[&str]) -> Tree {
    Tree::Scalar((*dice.one_of(words)).to_owned())
}

fn integer(least: u64, most: u64, dice: &mut Dice) -> u64 {
    let drawn = match dice.between(0, 5) {
        0 => least,
        1 => most,
        2 => most.saturating_sub(1),
        3 => least.saturating_add(1),
        _ => {
            let bits = dice.between(0, 20);
            dice.between(0, 1 << bits)
        }
    };
    drawn.clamp(least, most)
}

fn quantity(units: &[String], signed: bool, dice: &mut Dice) -> String {
    let unit = dice.one_of(units);
    let number = match dice.between(0, 9) {
        0 => 0,
        1 | 2 => 1,
        3 => *dice.one_of(&[2, 3, 7, 10, 64, 100, 125, 1_500, 1_522, 65_535]),
        4 => 1 << dice.between(0, 40),
        _ => dice.between(1, 1_000),
    };
    let sign = if signed && dice.chance(50) { "-" } else { "" };
    format!("{sign}{number} {unit}")
}

/// A scalar that is near another one: another unit, a factor, one more or less.
pub(super) fn near(text: &str, kind: &Kind, dice: &mut Dice) -> Option<String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..digits].parse().ok()?;
    let unit = &text[digits..];
    let factor = *dice.one_of(&[2, 3, 10, 100, 1_000]);
    Some(match dice.between(0, 5) {
        0 => format!("{}{unit}", number.saturating_mul(factor)),
        1 => format!("{}{unit}", number / factor),
        2 => format!("{}{unit}", number.saturating_add(1)),
        3 => format!("{}{unit}", number.saturating_sub(1)),
        4 => format!("{}{unit}", dice.between(number / 2, number.saturating_mul(2).max(1))),
        _ => match kind {
            Kind::Quantity { units, .. } => format!("{number} {}", dice.one_of(units)),
            _ => format!("{}{unit}", number.saturating_mul(factor)),
        },
    })
}
