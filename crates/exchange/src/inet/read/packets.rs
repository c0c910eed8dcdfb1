//! When the packets of a source come, and how long they are: constants and laws that a description has, else a trace of a run.

use super::super::HEADERS;
use super::super::formula::{Dice, Formula};
use super::super::value::{Unit, Value};
use super::{Interval, Reader};

/// The packets of a source.
pub(super) struct Packets {
    /// Where their length is stated.
    pub(super) place: String,
    pub(super) interval: Interval,
    /// Picoseconds.
    pub(super) offset: u64,
    pub(super) is_phase_drawn: bool,
    /// Octets of UDP data.
    pub(super) least: u64,
    pub(super) most: u64,
}

/// Most packets of a trace.
const PACKETS: usize = 1_000_000;

/// Most octets of UDP data in a frame.
const OCTETS: u64 = 1_500 - HEADERS;

/// A parameter: a value that a description has, or a formula.
enum Read<T> {
    Stated(T),
    Formula(Formula),
}

impl Reader<'_> {
    /// The packets of a source; none if it is left out.
    pub(super) fn packets(&mut self, path: &str, number: u64) -> Result<Option<Packets>, String> {
        let length = format!("{path}.source.packetLength");
        let Some(place) = self.place(&length) else { return Err(format!("{length}: it has no value")) };
        let interval = format!("{path}.source.productionInterval");
        let place_of_interval = self.place(&interval).unwrap_or_else(|| path.to_owned());
        let length = self.formula(&length, number, |value| match value {
            Value::Call(name, values) if name == "intuniform" && values.len() == 2 => {
                octets(&values[0]).zip(octets(&values[1])).filter(|(least, most)| least <= most)
            }
            value => octets(value).map(|octets| (octets, octets)),
        });
        let interval = self.formula(&interval, number, |value| match value {
            Value::Call(name, values) if name == "exponential" && values.len() == 1 => {
                values[0].whole(Unit::Time).filter(|mean| *mean > 0).map(Interval::Exponential)
            }
            value => value.whole(Unit::Time).filter(|time| *time > 0).map(Interval::Constant),
        });
        let mut left = |place: &str, why: &str| {
            self.converted.lacks(format!("{place}: the source {path}; {why}; it is left out"));
        };
        let length = length.map_err(|why| left(&place, &format!("its packets: {why}")));
        let interval = interval.map_err(|why| left(&place_of_interval, &format!("its interval: {why}")));
        let (Ok(length), Ok(interval)) = (length, interval) else { return Ok(None) };
        let Some((offset, is_phase_drawn)) = self.offset(path, number, &interval)? else { return Ok(None) };
        let (length, interval) = match (length, interval) {
            (Read::Stated((least, most)), Read::Stated(interval)) if least == most || most <= OCTETS => {
                return Ok(Some(Packets { place, interval, offset, is_phase_drawn, least, most }));
            }
            other => other,
        };
        let draws = matches!(&interval, Read::Formula(formula) if formula.draws())
            || matches!(interval, Read::Stated(Interval::Exponential(_)))
            || matches!(&length, Read::Formula(formula) if formula.draws())
            || matches!(length, Read::Stated((least, most)) if least != most);
        let Some(duration) = self.duration else {
            let why =
                "its packets follow a formula, and without `sim-time-limit` they have no end; it is left out";
            self.converted.lacks(format!("{place_of_interval}: the source {path}; {why}"));
            return Ok(None);
        };
        let frames = match trace(&interval, &length, offset, duration, number) {
            Ok(frames) => frames,
            Err(why) => {
                self.converted
                    .lacks(format!("{place_of_interval}: the source {path}; {why}; it is left out"));
                return Ok(None);
            }
        };
        let how = if draws { "drawn once" } else { "computed" };
        self.converted.lacks(format!(
            "{place_of_interval}: the formulas of {path}; its {} packets until `sim-time-limit` are {how} and written as a trace",
            frames.len()
        ));
        if offset > 0 || is_phase_drawn {
            self.converted
                .lacks(format!("{place_of_interval}: the offset of {path}; a trace begins at the start"));
        }
        let (least, most) = frames
            .iter()
            .fold((u64::MAX, 0), |(least, most), (_, octets)| (least.min(*octets), most.max(*octets)));
        Ok(Some(Packets {
            place,
            interval: Interval::Trace(frames),
            offset: 0,
            is_phase_drawn: false,
            least,
            most,
        }))
    }

    /// Where a parameter has its value.
    fn place(&self, path: &str) -> Option<String> {
        self.parameters.get(&format!("{}.{path}", self.name)).map(|entry| entry.place.clone())
    }

    /// A parameter as a description has it, or as a formula; or why it is neither.
    fn formula<T>(
        &self,
        path: &str,
        number: u64,
        stated: impl Fn(&Value) -> Option<T>,
    ) -> Result<Read<T>, String> {
        let entry = self.parameters.get(&format!("{}.{path}", self.name)).ok_or("it has no value")?;
        let own = Value::read(&entry.value, number).ok();
        if let Some(own) = own.as_ref().and_then(stated) {
            return Ok(Read::Stated(own));
        }
        if let Some(Value::Number(_)) = own {
            return Err(format!(
                "`{}` is out of range, or no whole number of octets or picoseconds",
                entry.value
            ));
        }
        Formula::read(&entry.value, number).map(Read::Formula)
    }

    /// The time of the first packet, and whether it is drawn from there on; none if the source is left out.
    fn offset(
        &mut self,
        path: &str,
        number: u64,
        interval: &Read<Interval>,
    ) -> Result<Option<(u64, bool)>, String> {
        let parameter = format!("{path}.source.initialProductionOffset");
        let Some((value, place)) = self.value(&parameter, number).or_else(|_| {
            // A formula that has no exact value.
            Ok::<_, String>(self.place(&parameter).map(|place| (Value::Bool(false), place)))
        })?
        else {
            return Ok(Some((0, false)));
        };
        if let Value::Call(name, values) = &value
            && name == "uniform"
            && let [from, to] = &values[..]
            && let (Some(from), Some(to)) = (from.whole(Unit::Time), to.whole(Unit::Time))
            && from <= to
            && let Read::Stated(Interval::Constant(interval)) = interval
        {
            if to - from != *interval {
                self.converted.lacks(format!(
                    "{place}: the span of the offset of {path}; a drawn offset is below an interval, and so it is written"
                ));
            }
            return Ok(Some((from, true)));
        }
        let offset = match &value {
            Value::Number(_) => {
                value.number(Unit::Time).ok_or_else(|| format!("{place}: an offset is a time"))?
            }
            _ => {
                self.converted.lacks(format!(
                    "{place}: the source {path}; its offset is no constant, and no `uniform(least, most)` of a constant interval; it is left out"
                ));
                return Ok(None);
            }
        };
        if offset.is_negative() {
            return Ok(Some((0, false)));
        }
        let whole = offset.whole();
        whole
            .map(|offset| Some((offset, false)))
            .ok_or_else(|| format!("{place}: an offset is a whole number of picoseconds"))
    }
}

/// Whole octets.
fn octets(value: &Value) -> Option<u64> {
    value.whole(Unit::Size).filter(|bits| bits % 8 == 0).map(|bits| bits / 8)
}

/// The packets of a run: times since the first, and octets. As in INET, each is made when the one before it was, and its interval, later.
fn trace(
    interval: &Read<Interval>,
    length: &Read<(u64, u64)>,
    offset: u64,
    duration: u64,
    number: u64,
) -> Result<Vec<(u64, u64)>, String> {
    let mut dice = Dice::new(number + 1);
    let mut frames = Vec::new();
    let mut now = offset;
    while now < duration {
        let octets = match length {
            Read::Stated((least, most)) => dice.whole(*least, *most),
            Read::Formula(formula) => {
                let bits =
                    formula.at(now, Unit::Size, &mut dice).map_err(|why| format!("its packets: {why}"))?;
                (bits / 8.0).floor().max(0.0) as u64
            }
        };
        if !(1..=OCTETS).contains(&octets) {
            return Err(format!("a packet of {octets} octets; a trace has 1 to {OCTETS}"));
        }
        frames.push((now - offset, octets));
        if frames.len() > PACKETS {
            return Err(format!("more than {PACKETS} packets until `sim-time-limit`"));
        }
        let next = match interval {
            Read::Stated(Interval::Constant(time)) => *time,
            Read::Stated(Interval::Exponential(mean)) => dice.exponential(*mean as f64).round() as u64,
            Read::Stated(Interval::Trace(_)) => unreachable!("it is made here"),
            Read::Formula(formula) => {
                let next =
                    formula.at(now, Unit::Time, &mut dice).map_err(|why| format!("its interval: {why}"))?;
                if next < 0.0 {
                    return Err(format!("its interval is below zero {now} ps from the start"));
                }
                next.round() as u64
            }
        };
        now = now.saturating_add(next);
    }
    if frames.is_empty() { Err("it has no packet until `sim-time-limit`".to_owned()) } else { Ok(frames) }
}
