//! Values of parameters in NED and INI: exact numbers with units, texts, lists, mappings, and calls of functions.
//!
//! Numbers are fractions of whole numbers of picoseconds, bits, bits per second or millimetres. Not here: conditions and other operators.

use std::fmt;

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    None,
    /// Picoseconds.
    Time,
    /// Bits.
    Size,
    /// Bits per second.
    Rate,
    /// Millimetres.
    Length,
}

/// The units of OMNeT++ that parameters of networks have, with what they count and how much of it.
pub(super) const UNITS: [(&str, Unit, i128); 26] = [
    ("ps", Unit::Time, 1),
    ("ns", Unit::Time, 1_000),
    ("us", Unit::Time, 1_000_000),
    ("ms", Unit::Time, 1_000_000_000),
    ("s", Unit::Time, 1_000_000_000_000),
    ("min", Unit::Time, 60_000_000_000_000),
    ("h", Unit::Time, 3_600_000_000_000_000),
    ("b", Unit::Size, 1),
    ("B", Unit::Size, 8),
    ("byte", Unit::Size, 8),
    ("bytes", Unit::Size, 8),
    ("kb", Unit::Size, 1_000),
    ("kB", Unit::Size, 8_000),
    ("KiB", Unit::Size, 8_192),
    ("Mb", Unit::Size, 1_000_000),
    ("MB", Unit::Size, 8_000_000),
    ("MiB", Unit::Size, 8_388_608),
    ("bps", Unit::Rate, 1),
    ("kbps", Unit::Rate, 1_000),
    ("Mbps", Unit::Rate, 1_000_000),
    ("Gbps", Unit::Rate, 1_000_000_000),
    ("Bps", Unit::Rate, 8),
    ("mm", Unit::Length, 1),
    ("cm", Unit::Length, 10),
    ("m", Unit::Length, 1_000),
    ("km", Unit::Length, 1_000_000),
];

/// A fraction of a unit; the denominator is positive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number {
    numerator: i128,
    denominator: i128,
    pub(super) unit: Unit,
}

impl Number {
    pub(super) fn new(numerator: i128, denominator: i128, unit: Unit) -> Option<Self> {
        let (mut a, mut b) = (numerator.checked_abs()?, denominator);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        let common = a.checked_abs().filter(|common| *common > 0)?;
        let sign = if denominator < 0 { -1 } else { 1 };
        Some(Self { numerator: sign * numerator / common, denominator: sign * denominator / common, unit })
    }

    fn sum(self, other: Self, sign: i128) -> Option<Self> {
        let unit = self.shared(other)?;
        let left = self.numerator.checked_mul(other.denominator)?;
        let right = other.numerator.checked_mul(self.denominator)?.checked_mul(sign)?;
        Self::new(left.checked_add(right)?, self.denominator.checked_mul(other.denominator)?, unit)
    }

    fn product(self, other: Self) -> Option<Self> {
        let unit = match (self.unit, other.unit) {
            (unit, Unit::None) | (Unit::None, unit) => unit,
            _ => return None,
        };
        let numerator = self.numerator.checked_mul(other.numerator)?;
        Self::new(numerator, self.denominator.checked_mul(other.denominator)?, unit)
    }

    fn ratio(self, other: Self) -> Option<Self> {
        let unit = if other.unit == Unit::None {
            self.unit
        } else if self.unit == other.unit {
            Unit::None
        } else {
            return None;
        };
        if other.numerator == 0 {
            return None;
        }
        let numerator = self.numerator.checked_mul(other.denominator)?;
        Self::new(numerator, self.denominator.checked_mul(other.numerator)?, unit)
    }

    /// The unit of a sum.
    fn shared(self, other: Self) -> Option<Unit> {
        (self.unit == other.unit).then_some(self.unit)
    }

    /// The number in its unit, if it is whole and not negative.
    pub(super) fn whole(self) -> Option<u64> {
        if self.denominator == 1 { u64::try_from(self.numerator).ok() } else { None }
    }

    /// Whether it is below zero.
    pub(super) const fn is_negative(self) -> bool {
        self.numerator < 0
    }

    /// The least whole number that is not below it, times a fraction.
    pub(super) fn scaled_ceil(self, factor: u64, divisor: u64) -> Option<u64> {
        let numerator = self.numerator.checked_mul(i128::from(factor))?;
        let denominator = self.denominator.checked_mul(i128::from(divisor))?;
        let whole = numerator.div_euclid(denominator) + i128::from(numerator.rem_euclid(denominator) > 0);
        u64::try_from(whole).ok()
    }
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Number(Number),
    Text(String),
    Bool(bool),
    List(Vec<Value>),
    Map(Vec<(String, Value)>),
    /// A function, with its values.
    Call(String, Vec<Value>),
    /// An expression over packets, as it is written.
    Filter(String),
}

impl Value {
    /// Reads a value; `index` is the number of the module that has it, or that is its parent.
    pub(super) fn read(text: &str, index: u64) -> Result<Self, String> {
        let mut reader = Reader { rest: text, index, depth: 0 };
        let value = reader.sum()?;
        if reader.peek().is_some() {
            return Err(format!("`{}` is not understood", reader.rest.trim()));
        }
        Ok(value)
    }

    /// A whole number of a unit.
    pub(super) fn whole(&self, unit: Unit) -> Option<u64> {
        self.number(unit).and_then(Number::whole)
    }

    /// A number of a unit; zero has any.
    pub(super) fn number(&self, unit: Unit) -> Option<Number> {
        match self {
            Self::Number(number) if number.unit == unit => Some(*number),
            Self::Number(number) if number.numerator == 0 && number.unit == Unit::None => {
                Number::new(0, 1, unit)
            }
            _ => None,
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    pub(super) fn list(&self) -> Option<&[Self]> {
        if let Self::List(list) = self { Some(list) } else { None }
    }

    pub(super) fn map(&self) -> Option<&[(String, Self)]> {
        if let Self::Map(map) = self { Some(map) } else { None }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}", self.numerator / self.denominator)
    }
}

/// How deep values may be in each other.
const DEPTH: u32 = 64;

struct Reader<'t> {
    rest: &'t str,
    index: u64,
    depth: u32,
}

impl Reader<'_> {
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn take(&mut self, wanted: char) -> bool {
        let is_there = self.peek() == Some(wanted);
        if is_there {
            self.rest = &self.rest[wanted.len_utf8()..];
        }
        is_there
    }

    fn expect(&mut self, wanted: char) -> Result<(), String> {
        if self.take(wanted) { Ok(()) } else { Err(format!("`{wanted}` is expected before `{}`", self.rest)) }
    }

    fn sum(&mut self) -> Result<Value, String> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err("too many brackets in each other".to_owned());
        }
        let mut left = self.product()?;
        loop {
            let sign = if self.take('+') {
                1
            } else if self.take('-') {
                -1
            } else {
                self.depth -= 1;
                return Ok(left);
            };
            let right = self.product()?;
            left = match (left, right) {
                (Value::Text(left), Value::Text(right)) if sign == 1 => Value::Text(left + &right),
                (Value::Number(left), Value::Number(right)) => {
                    Value::Number(left.sum(right, sign).ok_or("a sum of different units, or a large one")?)
                }
                _ => return Err("a sum of what is no number".to_owned()),
            };
        }
    }

    fn product(&mut self) -> Result<Value, String> {
        let mut left = self.single()?;
        loop {
            let found = if self.take('*') {
                let right = self.single()?;
                numbers(&left, &right).and_then(|(left, right)| left.product(right))
            } else if self.take('/') {
                let right = self.single()?;
                numbers(&left, &right).and_then(|(left, right)| left.ratio(right))
            } else {
                return Ok(left);
            };
            left = Value::Number(found.ok_or("a product or quotient that is no number of one unit")?);
        }
    }

    fn single(&mut self) -> Result<Value, String> {
        match self.peek() {
            Some('"') => self.quoted().map(Value::Text),
            Some('[') => {
                self.take('[');
                let mut list = Vec::new();
                while !self.take(']') {
                    list.push(self.sum()?);
                    if !self.take(',') && self.peek() != Some(']') {
                        return Err("a list is `[value, value]`".to_owned());
                    }
                }
                Ok(Value::List(list))
            }
            Some('{') => self.mapping(),
            Some('(') => {
                self.take('(');
                let value = self.sum()?;
                self.expect(')')?;
                Ok(value)
            }
            Some('-') => {
                self.take('-');
                match self.single()? {
                    Value::Number(number) => Number::new(-number.numerator, number.denominator, number.unit)
                        .map(Value::Number)
                        .ok_or_else(|| "a large number".to_owned()),
                    _ => Err("a sign before what is no number".to_owned()),
                }
            }
            Some(digit) if digit.is_ascii_digit() || digit == '.' => self.number(),
            Some(letter) if letter.is_alphabetic() || letter == '_' => self.word(),
            _ => Err(format!("a value is expected before `{}`", self.rest)),
        }
    }

    fn mapping(&mut self) -> Result<Value, String> {
        self.take('{');
        let mut map = Vec::new();
        while !self.take('}') {
            let key = if self.peek() == Some('"') { self.quoted()? } else { self.name() };
            self.expect(':')?;
            map.push((key, self.sum()?));
            if !self.take(',') && self.peek() != Some('}') {
                return Err("a mapping is `{key: value, key: value}`".to_owned());
            }
        }
        Ok(Value::Map(map))
    }

    fn quoted(&mut self) -> Result<String, String> {
        self.take('"');
        let mut text = String::new();
        let mut letters = self.rest.char_indices();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Ok(text);
                }
                '\\' => text.extend(letters.next().map(|(_, letter)| letter)),
                other => text.push(other),
            }
        }
        Err("a text without its end".to_owned())
    }

    fn name(&mut self) -> String {
        self.peek();
        let is_in = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.' | ':');
        let mut end = self.rest.find(|letter| !is_in(letter)).unwrap_or(self.rest.len());
        // The colon behind a key is none of a name's.
        if self.rest[..end].ends_with(':') {
            end -= 1;
        }
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        name.to_owned()
    }

    fn number(&mut self) -> Result<Value, String> {
        let is_digit = |letter: char| letter.is_ascii_digit() || letter == '.';
        let mut end = self.rest.find(|letter| !is_digit(letter)).unwrap_or(self.rest.len());
        // `e` and its digits.
        let mut exponent = 0_i32;
        if let Some(after) = self.rest[end..].strip_prefix(['e', 'E']) {
            let signed = after.strip_prefix('-').or_else(|| after.strip_prefix('+')).unwrap_or(after);
            let digits = signed.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(signed.len());
            if digits > 0 {
                let text = &after[..after.len() - signed.len() + digits];
                exponent = text.parse().map_err(|_| "a large exponent".to_owned())?;
                end += 1 + text.len();
            }
        }
        let text = self.rest[..end].split(['e', 'E']).next().unwrap_or("");
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let digits: i128 = format!("0{whole}{part}").parse().map_err(|_| format!("`{text}` is no number"))?;
        self.rest = &self.rest[end..];
        self.peek();
        let unit_end =
            self.rest.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(self.rest.len());
        let word = &self.rest[..unit_end];
        let (unit, factor) = if word.is_empty() {
            (Unit::None, 1)
        } else {
            let known = UNITS.iter().find(|(name, _, _)| *name == word);
            let (_, unit, factor) = known.ok_or_else(|| format!("the unit `{word}` is not known"))?;
            (*unit, *factor)
        };
        self.rest = &self.rest[unit_end..];
        let shift = exponent - i32::try_from(part.len()).map_err(|_| "a long number".to_owned())?;
        let power = 10_i128.checked_pow(shift.unsigned_abs()).ok_or("a large exponent")?;
        let number = if shift < 0 {
            digits.checked_mul(factor).and_then(|numerator| Number::new(numerator, power, unit))
        } else {
            digits
                .checked_mul(factor)
                .and_then(|number| number.checked_mul(power))
                .and_then(|numerator| Number::new(numerator, 1, unit))
        };
        number.map(Value::Number).ok_or_else(|| "a large number".to_owned())
    }

    fn word(&mut self) -> Result<Value, String> {
        let name = self.name();
        if self.peek() != Some('(') {
            return match name.as_str() {
                "true" => Ok(Value::Bool(true)),
                "false" => Ok(Value::Bool(false)),
                "index" | "parent.index" => Number::new(i128::from(self.index), 1, Unit::None)
                    .map(Value::Number)
                    .ok_or_else(|| "a large index".to_owned()),
                _ => Err(format!("`{name}` is not understood")),
            };
        }
        if name == "expr" {
            let mut open = 0_u32;
            for (at, letter) in self.rest.char_indices() {
                open = match letter {
                    '(' => open + 1,
                    ')' => open - 1,
                    _ => open,
                };
                if open == 0 {
                    let filter = self.rest[1..at].to_owned();
                    self.rest = &self.rest[at + 1..];
                    return Ok(Value::Filter(filter));
                }
            }
            return Err("`expr(` without its end".to_owned());
        }
        self.take('(');
        let mut values = Vec::new();
        while !self.take(')') {
            values.push(self.sum()?);
            if !self.take(',') && self.peek() != Some(')') {
                return Err(format!("`{name}(` without its end"));
            }
        }
        match (name.as_str(), &values[..]) {
            ("string", [Value::Number(number)]) => Ok(Value::Text(number.to_string())),
            _ => Ok(Value::Call(name, values)),
        }
    }
}

fn numbers(left: &Value, right: &Value) -> Option<(Number, Number)> {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => Some((*left, *right)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &str, unit: Unit) -> Option<u64> {
        Value::read(text, 3).ok().and_then(|value| value.whole(unit))
    }

    #[test]
    fn numbers_are_exact() {
        assert_eq!(whole("1518B - 50B", Unit::Size), Some(1_468 * 8));
        assert_eq!(whole("0.1ms", Unit::Time), Some(100_000_000));
        assert_eq!(whole("10.976 Mbps", Unit::Rate), Some(10_976_000));
        assert_eq!(whole("800kbps * 10 + 2e3kbps", Unit::Rate), Some(10_000_000));
        assert_eq!(whole("1ms / 3 * 3", Unit::Time), Some(1_000_000_000));
        assert_eq!(whole("1ms / 1us", Unit::None), Some(1_000));
        assert_eq!(whole("100 * (1000B + 28B)", Unit::Size), Some(822_400));
        assert_eq!(whole("1110 + parent.index", Unit::None), Some(1_113));
        assert_eq!(whole("0", Unit::Time), Some(0));
        assert_eq!(whole("1e-3s", Unit::Time), Some(1_000_000_000));
        assert!(Value::read("-1s", 0).unwrap().number(Unit::Time).unwrap().is_negative());
        for wrong in
            ["", "1ms +", "1ms + 1B", "1 parsec", "1/0", "x", "(1", "[1", "\"a", "expr(a", "1ms 2", "1e99"]
        {
            assert!(Value::read(wrong, 0).is_err(), "{wrong}");
        }
        assert!(Value::read(&"(".repeat(200), 0).is_err());
    }

    #[test]
    fn lists_mappings_and_calls_are_read() {
        let text = r#"[{stream: "best effort", packetFilter: expr(udp.destPort == (1000)), pcp: 4},]"#;
        let value = Value::read(text, 0).unwrap();
        let map = value.list().unwrap()[0].map().unwrap();
        assert_eq!(map[0], ("stream".to_owned(), Value::Text("best effort".to_owned())));
        assert_eq!(map[1].1, Value::Filter("udp.destPort == (1000)".to_owned()));
        assert_eq!(Value::read("\"a\" + string(index)", 7).unwrap().text(), Some("a7"));
        let Value::Call(name, values) = Value::read("exponential(200us)", 0).unwrap() else { panic!() };
        assert_eq!((name.as_str(), values[0].whole(Unit::Time)), ("exponential", Some(200_000_000)));
        assert_eq!(Value::read("{\"a\": true}", 0).unwrap().map().unwrap()[0].1, Value::Bool(true));
    }
}
