//! Formulas of parameters that INET asks for with each packet: over the time of the simulation, and with random numbers.
//!
//! Functions and operators are those of OMNeT++'s expressions, in floating point as there. Random numbers are of our own generator with a fixed
//! seed: the same laws, other numbers than in a run of OMNeT++. Not here: constants, which are exact (`value.rs`).

use super::value::{UNITS, Unit};

/// How deep formulas may be in each other.
const DEPTH: u32 = 64;

/// A formula.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Formula {
    Number(Quantity),
    Bool(bool),
    Call(&'static str, Vec<Formula>),
    /// `replaceUnit` and `convertUnit` with their unit.
    Unit(&'static str, Box<Formula>, usize),
    Binary(&'static str, Box<(Formula, Formula)>),
    Choice(Box<(Formula, Formula, Formula)>),
}

/// A number in a unit, by its place among all units, as it is written: `dropUnit(5ms)` is 5.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Quantity {
    value: f64,
    unit: Option<usize>,
}

impl Quantity {
    const fn plain(value: f64) -> Self {
        Self { value, unit: None }
    }

    /// The number in another unit of the same kind; one without a unit has none that is another.
    fn converted(self, unit: Option<usize>) -> Option<Self> {
        if self.unit == unit {
            return Some(self);
        }
        let (from, to) = (UNITS[self.unit?], UNITS[unit?]);
        (from.1 == to.1).then(|| Self { value: self.value * (from.2 as f64 / to.2 as f64), unit })
    }

    /// In the smallest unit of a kind: picoseconds, bits.
    fn of(self, kind: Unit) -> Option<f64> {
        let (_, own, factor) = UNITS[self.unit?];
        (own == kind).then_some(self.value * factor as f64)
    }
}

/// What a formula has: a number or a truth.
#[derive(Clone, Copy, Debug)]
enum Found {
    Number(Quantity),
    Bool(bool),
}

impl Found {
    fn number(self) -> Result<Quantity, String> {
        match self {
            Self::Number(number) => Ok(number),
            Self::Bool(_) => Err("a truth where a number is expected".to_owned()),
        }
    }

    fn truth(self) -> Result<bool, String> {
        match self {
            Self::Bool(truth) => Ok(truth),
            Self::Number(_) => Err("a number where a truth is expected".to_owned()),
        }
    }
}

/// Names of functions, with the least and greatest number of their values, and whether they draw.
const FUNCTIONS: [(&str, usize, usize, bool); 35] = [
    ("simTime", 0, 0, false),
    ("dropUnit", 1, 1, false),
    ("sin", 1, 1, false),
    ("cos", 1, 1, false),
    ("tan", 1, 1, false),
    ("asin", 1, 1, false),
    ("acos", 1, 1, false),
    ("atan", 1, 1, false),
    ("exp", 1, 1, false),
    ("log", 1, 1, false),
    ("log10", 1, 1, false),
    ("sqrt", 1, 1, false),
    ("atan2", 2, 2, false),
    ("pow", 2, 2, false),
    ("fmod", 2, 2, false),
    ("hypot", 2, 2, false),
    ("fabs", 1, 1, false),
    ("abs", 1, 1, false),
    ("floor", 1, 1, false),
    ("ceil", 1, 1, false),
    ("int", 1, 1, false),
    ("double", 1, 1, false),
    ("min", 2, 2, false),
    ("max", 2, 2, false),
    ("uniform", 2, 3, true),
    ("intuniform", 2, 3, true),
    ("exponential", 1, 2, true),
    ("normal", 2, 3, true),
    ("truncnormal", 2, 3, true),
    ("lognormal", 2, 3, true),
    ("triang", 3, 4, true),
    ("weibull", 2, 3, true),
    ("pareto_shifted", 3, 4, true),
    ("erlang_k", 2, 3, true),
    ("bernoulli", 1, 2, true),
];

/// A small seeded generator (SplitMix64): files must not change when a library does.
#[derive(Clone, Debug)]
pub(super) struct Dice(u64);

impl Dice {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to below 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A whole number of a range.
    pub(super) fn whole(&mut self, least: u64, most: u64) -> u64 {
        least + (self.unit() * (most - least + 1) as f64) as u64
    }

    /// Standard normal (Box and Muller).
    fn normal(&mut self) -> f64 {
        let (radius, angle) = (1.0 - self.unit(), self.unit());
        (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
    }

    pub(super) fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }
}

impl Formula {
    /// Reads a formula; `index` is the number of the module that has it, or that is its parent.
    pub(super) fn read(text: &str, index: u64) -> Result<Self, String> {
        let mut reader = Reader { rest: text, index, depth: 0 };
        let found = reader.choice()?;
        if reader.peek().is_some() {
            return Err(format!("`{}` is not understood", reader.rest.trim()));
        }
        Ok(found)
    }

    /// Whether it draws random numbers.
    pub(super) fn draws(&self) -> bool {
        match self {
            Self::Number(_) | Self::Bool(_) => false,
            Self::Call(name, values) => {
                FUNCTIONS.iter().any(|(own, _, _, draws)| own == name && *draws)
                    || values.iter().any(Self::draws)
            }
            Self::Unit(_, value, _) => value.draws(),
            Self::Binary(_, pair) => pair.0.draws() || pair.1.draws(),
            Self::Choice(parts) => parts.0.draws() || parts.1.draws() || parts.2.draws(),
        }
    }

    /// Its number at a time in the smallest unit of a kind, picoseconds or bits.
    pub(super) fn at(&self, picoseconds: u64, kind: Unit, dice: &mut Dice) -> Result<f64, String> {
        let found = self.find(picoseconds, dice)?.number()?;
        let number = found.of(kind).ok_or("its unit is another one")?;
        if number.is_finite() { Ok(number) } else { Err("it is no finite number".to_owned()) }
    }

    fn find(&self, time: u64, dice: &mut Dice) -> Result<Found, String> {
        match self {
            Self::Number(number) => Ok(Found::Number(*number)),
            Self::Bool(truth) => Ok(Found::Bool(*truth)),
            Self::Unit(name, value, unit) => {
                let number = value.find(time, dice)?.number()?;
                if *name == "replaceUnit" {
                    return Ok(Found::Number(Quantity { value: number.value, unit: Some(*unit) }));
                }
                let number = number.converted(Some(*unit)).ok_or("`convertUnit` between different kinds")?;
                Ok(Found::Number(number))
            }
            Self::Choice(parts) => {
                let is = parts.0.find(time, dice)?.truth()?;
                if is { parts.1.find(time, dice) } else { parts.2.find(time, dice) }
            }
            Self::Binary(sign, pair) => {
                let (left, right) = (pair.0.find(time, dice)?, pair.1.find(time, dice)?);
                binary(sign, left, right)
            }
            Self::Call("simTime", _) => {
                let unit = UNITS.iter().position(|(name, _, _)| *name == "s");
                Ok(Found::Number(Quantity { value: time as f64 / 1e12, unit }))
            }
            Self::Call(name, values) => {
                let values: Result<Vec<Quantity>, String> =
                    values.iter().map(|value| value.find(time, dice)?.number()).collect();
                call(name, &values?, dice).map(Found::Number)
            }
        }
    }
}

fn binary(sign: &str, left: Found, right: Found) -> Result<Found, String> {
    if let "&&" | "||" = sign {
        let (left, right) = (left.truth()?, right.truth()?);
        return Ok(Found::Bool(if sign == "&&" { left && right } else { left || right }));
    }
    let (left, right) = (left.number()?, right.number()?);
    if let "*" | "/" | "%" | "^" = sign {
        let unit = match (left.unit, right.unit) {
            (unit, None) => unit,
            (None, unit) if sign == "*" => unit,
            (Some(_), Some(_)) if sign == "/" => {
                let right = right.converted(left.unit).ok_or("a quotient of different kinds")?;
                return Ok(Found::Number(Quantity::plain(left.value / right.value)));
            }
            _ => return Err(format!("`{sign}` with these units")),
        };
        let value = match sign {
            "*" => left.value * right.value,
            "/" => left.value / right.value,
            "%" => left.value % right.value,
            _ => left.value.powf(right.value),
        };
        return Ok(Found::Number(Quantity { value, unit }));
    }
    let right = right.converted(left.unit).ok_or_else(|| format!("`{sign}` of different units"))?;
    let number = |value| Found::Number(Quantity { value, unit: left.unit });
    let (a, b) = (left.value, right.value);
    Ok(match sign {
        "+" => number(a + b),
        "-" => number(a - b),
        "<" => Found::Bool(a < b),
        "<=" => Found::Bool(a <= b),
        ">" => Found::Bool(a > b),
        ">=" => Found::Bool(a >= b),
        "==" => Found::Bool(a == b),
        _ => Found::Bool(a != b),
    })
}

/// A function of numbers. Of several the first one's unit is that of all.
fn call(name: &str, values: &[Quantity], dice: &mut Dice) -> Result<Quantity, String> {
    let first = values[0];
    let plain = |own: fn(f64) -> f64| match first.unit {
        None => Ok(Quantity::plain(own(first.value))),
        Some(_) => Err(format!("`{name}` of a number with a unit; `dropUnit` takes it off")),
    };
    let same = |value| Ok(Quantity { value, unit: first.unit });
    // A value behind the first one, in its unit.
    let other = |place: usize| {
        let found = values[place].converted(first.unit).map(|found| found.value);
        found.ok_or_else(|| format!("`{name}` of different units"))
    };
    let number = |place: usize| match values[place].unit {
        None => Ok(values[place].value),
        Some(_) => Err(format!("`{name}`: value {} has a unit", place + 1)),
    };
    match name {
        "dropUnit" => Ok(Quantity::plain(first.value)),
        "sin" => plain(f64::sin),
        "cos" => plain(f64::cos),
        "tan" => plain(f64::tan),
        "asin" => plain(f64::asin),
        "acos" => plain(f64::acos),
        "atan" => plain(f64::atan),
        "exp" => plain(f64::exp),
        "log" => plain(f64::ln),
        "log10" => plain(f64::log10),
        "sqrt" => plain(f64::sqrt),
        "atan2" => Ok(Quantity::plain(first.value.atan2(other(1)?))),
        "pow" => Ok(Quantity::plain(number(0)?.powf(number(1)?))),
        "fmod" => same(first.value % other(1)?),
        "hypot" => same(first.value.hypot(other(1)?)),
        "fabs" | "abs" => same(first.value.abs()),
        "floor" | "int" => same(first.value.floor()),
        "ceil" => same(first.value.ceil()),
        "double" => same(first.value),
        "min" => same(first.value.min(other(1)?)),
        "max" => same(first.value.max(other(1)?)),
        "uniform" => {
            let span = other(1)? - first.value;
            same(first.value + span * dice.unit())
        }
        "intuniform" => {
            let span = other(1)?.floor() - first.value.floor() + 1.0;
            if span < 1.0 {
                return Err("`intuniform` with a greater first value".to_owned());
            }
            same(first.value.floor() + (span * dice.unit()).floor())
        }
        "exponential" => same(dice.exponential(first.value)),
        "normal" => {
            let deviation = other(1)?;
            same(first.value + deviation * dice.normal())
        }
        "truncnormal" => {
            let deviation = other(1)?;
            // What is below zero is drawn again.
            let mut tries = (0..10_000).map(|_| first.value + deviation * dice.normal());
            let found = tries.find(|value| *value >= 0.0);
            same(found.ok_or("`truncnormal` that is hardly ever above zero")?)
        }
        "lognormal" => Ok(Quantity::plain((number(0)? + number(1)? * dice.normal()).exp())),
        "triang" => {
            let (low, mode, high) = (first.value, other(1)?, other(2)?);
            let (drawn, part) = (dice.unit(), (mode - low) / (high - low));
            same(if drawn < part {
                low + (drawn * (high - low) * (mode - low)).sqrt()
            } else {
                high - ((1.0 - drawn) * (high - low) * (high - mode)).sqrt()
            })
        }
        "weibull" => {
            let shape = number(1)?;
            same(first.value * (-(1.0 - dice.unit()).ln()).powf(1.0 / shape))
        }
        "pareto_shifted" => {
            // Shape, scale, shift; the scale has the unit.
            let (shape, scale) = (number(0)?, values[1]);
            let shift = values[2].converted(scale.unit).ok_or("`pareto_shifted` of different units")?;
            let value = scale.value / (1.0 - dice.unit()).powf(1.0 / shape) - shift.value;
            Ok(Quantity { value, unit: scale.unit })
        }
        "erlang_k" => {
            let (phases, mean) = (number(0)?, values[1]);
            if !(1.0..=1_000.0).contains(&phases) {
                return Err("`erlang_k` with so many phases".to_owned());
            }
            let value = (0..phases as u32).map(|_| dice.exponential(mean.value / phases)).sum();
            Ok(Quantity { value, unit: mean.unit })
        }
        "bernoulli" => Ok(Quantity::plain(f64::from(dice.unit() < number(0)?))),
        _ => Err(format!("the function `{name}` is not known")),
    }
}

struct Reader<'t> {
    rest: &'t str,
    index: u64,
    depth: u32,
}

/// Signs between two parts, those that bind least first.
const SIGNS: [&[&str]; 5] =
    [&["||"], &["&&"], &["==", "!=", "<=", ">=", "<", ">"], &["+", "-"], &["*", "/", "%"]];

impl Reader<'_> {
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn take(&mut self, wanted: &str) -> bool {
        self.peek();
        let after = self.rest.strip_prefix(wanted);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn expect(&mut self, wanted: &str) -> Result<(), String> {
        if self.take(wanted) { Ok(()) } else { Err(format!("`{wanted}` is expected before `{}`", self.rest)) }
    }

    fn choice(&mut self) -> Result<Formula, String> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err("too many brackets in each other".to_owned());
        }
        let found = self.level(0)?;
        let found = if self.take("?") {
            let one = self.choice()?;
            self.expect(":")?;
            Formula::Choice(Box::new((found, one, self.choice()?)))
        } else {
            found
        };
        self.depth -= 1;
        Ok(found)
    }

    fn level(&mut self, level: usize) -> Result<Formula, String> {
        let Some(signs) = SIGNS.get(level) else { return self.power() };
        let mut left = self.level(level + 1)?;
        while let Some(sign) = signs.iter().find(|sign| self.take(sign)) {
            left = Formula::Binary(sign, Box::new((left, self.level(level + 1)?)));
        }
        Ok(left)
    }

    fn power(&mut self) -> Result<Formula, String> {
        if self.take("-") {
            let minus = Formula::Number(Quantity::plain(-1.0));
            return Ok(Formula::Binary("*", Box::new((minus, self.power()?))));
        }
        let base = self.single()?;
        if self.take("^") { Ok(Formula::Binary("^", Box::new((base, self.power()?)))) } else { Ok(base) }
    }

    fn single(&mut self) -> Result<Formula, String> {
        match self.peek() {
            Some('(') => {
                self.take("(");
                let found = self.choice()?;
                self.expect(")")?;
                Ok(found)
            }
            Some(letter) if letter.is_ascii_digit() || letter == '.' => self.number(),
            Some(letter) if letter.is_ascii_alphabetic() => self.word(),
            _ => Err(format!("a value is expected before `{}`", self.rest)),
        }
    }

    fn number(&mut self) -> Result<Formula, String> {
        let is_digit = |letter: char| letter.is_ascii_digit() || letter == '.';
        let mut end = self.rest.find(|letter| !is_digit(letter)).unwrap_or(self.rest.len());
        if let Some(after) = self.rest[end..].strip_prefix(['e', 'E']) {
            let signed = after.strip_prefix(['-', '+']).unwrap_or(after);
            let digits = signed.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(signed.len());
            if digits > 0 {
                end += 1 + after.len() - signed.len() + digits;
            }
        }
        let (text, rest) = self.rest.split_at(end);
        let value = text.parse().map_err(|_| format!("`{text}` is no number"))?;
        self.rest = rest;
        self.peek();
        let end = self.rest.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        let unit = if word.is_empty() { None } else { Some(unit(word)?) };
        self.rest = rest;
        Ok(Formula::Number(Quantity { value, unit }))
    }

    fn word(&mut self) -> Result<Formula, String> {
        let is_in = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.');
        let end = self.rest.find(|letter| !is_in(letter)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        if !self.take("(") {
            return match name {
                "true" | "false" => Ok(Formula::Bool(name == "true")),
                "index" | "parent.index" => Ok(Formula::Number(Quantity::plain(self.index as f64))),
                _ => Err(format!("`{name}` is not understood")),
            };
        }
        if let Some(name) = ["replaceUnit", "convertUnit"].into_iter().find(|own| *own == name) {
            let value = self.choice()?;
            self.expect(",")?;
            self.expect("\"")?;
            let (word, rest) = self.rest.split_once('"').ok_or("a text without its end")?;
            let unit = unit(word)?;
            self.rest = rest;
            self.expect(")")?;
            return Ok(Formula::Unit(name, Box::new(value), unit));
        }
        let Some((name, least, most, _)) = FUNCTIONS.iter().find(|(own, ..)| *own == name) else {
            return Err(format!("the function `{name}` is not known"));
        };
        let mut values = Vec::new();
        while !self.take(")") {
            if !values.is_empty() {
                self.expect(",")?;
            }
            values.push(self.choice()?);
        }
        if !(*least..=*most).contains(&values.len()) {
            return Err(format!("`{name}` has {} values", values.len()));
        }
        Ok(Formula::Call(name, values))
    }
}

/// The place of a unit among all.
fn unit(word: &str) -> Result<usize, String> {
    let found = UNITS.iter().position(|(name, _, _)| *name == word);
    found.ok_or_else(|| format!("the unit `{word}` is not known"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Picoseconds or bits of a formula at a time in seconds.
    fn at(text: &str, seconds: f64, kind: Unit) -> Result<f64, String> {
        Formula::read(text, 3)?.at((seconds * 1e12) as u64, kind, &mut Dice::new(1))
    }

    fn near(found: Result<f64, String>, expected: f64) {
        let found = found.unwrap();
        assert!((found - expected).abs() <= expected.abs() * 1e-12, "{found} {expected}");
    }

    #[test]
    fn formulas_have_the_units_of_omnet() {
        // Two sines of seconds that become milliseconds.
        let text =
            "replaceUnit(1 / (sin(dropUnit(simTime() * 1)) + sin(dropUnit(simTime() * 8)) + 2), \"ms\")";
        near(at(text, 0.0, Unit::Time), 0.5e9);
        near(at(text, 0.3, Unit::Time), 1e9 / (0.3_f64.sin() + 2.4_f64.sin() + 2.0));
        near(
            at("200us + replaceUnit(sin(dropUnit(simTime() * 10)), \"ms\") / 8", 0.05, Unit::Time),
            2e8 + 1e9 * 0.5_f64.sin() / 8.0,
        );
        near(at("dropUnit(5ms) * 1us", 0.0, Unit::Time), 5e6);
        near(at("simTime() < 1s ? 10us : 20us", 0.5, Unit::Time), 1e7);
        near(at("simTime() < 1s && true ? 10us : 20us", 2.0, Unit::Time), 2e7);
        near(at("convertUnit(2ms, \"us\") * (1ms / 1us)", 0.0, Unit::Time), 2e12);
        near(at("-2 ^ 2 * -1us + index * 1us", 0.0, Unit::Time), 7e6);
        near(at("int(1.9 * 100B)", 0.0, Unit::Size), 190.0 * 8.0);
        near(at("max(1ms, 200us) + fmod(1.2ms, 1ms)", 0.0, Unit::Time), 1.2e9);
        for (wrong, why) in [
            ("sin(1ms)", "dropUnit"),
            ("1ms + 1", "different units"),
            ("1ms + 1B", "different units"),
            ("1ms * 1ms", "these units"),
            ("f(1)", "`f`"),
            ("uniform(1ms)", "1 values"),
            ("1 parsec", "parsec"),
            ("uniform(1ms, 2B)", "different units"),
            ("1us * (1 / 0)", "finite"),
            ("1ms ? 1us : 2us", "truth"),
            ("5", "unit"),
            ("replaceUnit(1, \"ms)", "end"),
            ("(1ms", "`)`"),
            ("x", "`x`"),
        ] {
            let found = at(wrong, 1.0, Unit::Time).unwrap_err();
            assert!(found.contains(why), "{wrong}: {found}");
        }
        assert!(Formula::read(&"(".repeat(500), 0).is_err());
        assert!(!Formula::read("sin(2)", 0).unwrap().draws());
        assert!(Formula::read("1us + (true ? 2us : uniform(1us, 2us))", 0).unwrap().draws());
    }

    /// Mean and standard deviation of a law, drawn often.
    fn moments(text: &str) -> (f64, f64) {
        let (formula, mut dice) = (Formula::read(text, 0).unwrap(), Dice::new(7));
        let drawn: Vec<f64> =
            (0..40_000).map(|_| formula.at(0, Unit::Time, &mut dice).unwrap() / 1e6).collect();
        let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
        let square = drawn.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / drawn.len() as f64;
        (mean, square.sqrt())
    }

    #[test]
    fn laws_have_their_means_and_deviations() {
        // Mean and deviation of each law, microseconds, by its formulas.
        for (law, mean, deviation) in [
            ("uniform(100us, 300us)", 200.0, 200.0 / 12_f64.sqrt()),
            ("intuniform(1us, 4us)", 2.5, 1.25_f64.sqrt()),
            ("exponential(200us)", 200.0, 200.0),
            ("normal(500us, 20us)", 500.0, 20.0),
            // Of a normal law cut at two deviations below its mean: 0.05525 and 0.88575 of the deviation and its square.
            ("truncnormal(100us, 50us)", 100.0 + 50.0 * 0.055_248, 50.0 * 0.886_454_f64.sqrt()),
            ("triang(0us, 300us, 600us)", 300.0, 300.0 / 6_f64.sqrt()),
            (
                "replaceUnit(lognormal(0, 0.5), \"us\")",
                0.125_f64.exp(),
                (0.25_f64.exp() - 1.0).sqrt() * 0.125_f64.exp(),
            ),
            ("weibull(100us, 2)", 88.622_69, 46.325_14),
            ("erlang_k(4, 100us)", 100.0, 50.0),
            ("pareto_shifted(5, 4us, 1us)", 4.0, (16.0 * 5.0 / (16.0 * 3.0_f64)).sqrt()),
            ("1us * bernoulli(0.25)", 0.25, (0.25 * 0.75_f64).sqrt()),
        ] {
            let found = moments(law);
            assert!((found.0 - mean).abs() < 0.03 * mean, "{law}: {found:?}, {mean}");
            assert!((found.1 - deviation).abs() < 0.06 * deviation, "{law}: {found:?}, {deviation}");
        }
    }
}
