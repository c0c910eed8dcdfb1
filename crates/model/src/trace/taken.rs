//! Values that a stream takes from its trace (`take`): addresses, VLAN and priority, where all frames agree.
//!
//! The values are put into the stream's tree as if they were stated there: `destination`, `vlan`, `tagged`,
//! `priority`; and `source`, which no description has. So all that holds for stated values holds for these, and no
//! other module knows of traces.

use std::borrow::Cow;
use std::path::Path;

use tautwire_wire::MacAddress;

use super::{Frame, Trace};
use crate::resolve::read_trace;
use crate::text::codes;
use crate::text::faults::Faults;
use crate::text::tree::{Key, Node, Value};

/// Puts into each stream what it takes of its trace.
pub(crate) fn put<'a, 't: 'a>(
    streams: impl Iterator<Item = &'a mut Node<'t>>,
    directory: &Path,
    faults: &mut Faults,
) {
    for stream in streams {
        let Some(traffic) = stream.get("traffic") else { continue };
        let (Some(take), Some(file)) = (traffic.get("take"), traffic.get("file")) else { continue };
        let what = What::of(take);
        if !is_alone(stream, what, faults) {
            continue;
        }
        let Some(trace) = read_trace(file, directory, faults) else { continue };
        let place = take.place;
        match from(&trace, what) {
            Ok(taken) => stream.add(taken.entries().into_iter().map(|(key, text)| {
                (
                    Key { place, text: Cow::Borrowed(key) },
                    Node { place, value: Value::Scalar(Cow::Owned(text)) },
                )
            })),
            Err(reason) => {
                let name = file.text().unwrap_or_default();
                let help = if cut_off(&trace, what).is_some() {
                    "capture more of each frame, at least 18 octets, or take less of it"
                } else {
                    "split the capture by streams, or take less of it"
                };
                faults.error(codes::TRACE_TAKEN, place, format!("`{name}` {reason}"), help);
            }
        }
    }
}

/// Whether the stream leaves open what is taken.
fn is_alone(stream: &Node<'_>, what: What, faults: &mut Faults) -> bool {
    let tags = what.vlan;
    let stated = [
        ("destination", what.addresses),
        ("vlan", what.vlan),
        ("tagged", tags),
        ("priority", what.priority),
        ("virtual-link", what.addresses || tags),
        ("time-triggered", what.addresses || tags),
    ];
    let mut alone = true;
    for (key, taken) in stated {
        let entry = stream.entries().iter().find(|(name, _)| taken && name.text == key);
        let Some((name, _)) = entry else { continue };
        let message = format!("the stream takes `{key}` from its trace and states it as well");
        faults.error(codes::CONFLICT, name.place, message, "remove the key, or take less of the trace");
        alone = false;
    }
    alone
}

/// The values to take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct What {
    addresses: bool,
    vlan: bool,
    priority: bool,
    /// Whether all values that the frames have are requested: a missing one is no fault.
    all: bool,
}

impl What {
    /// The request of `take`.
    fn of(take: &Node<'_>) -> Self {
        let has = |word: &str| take.items_or_self().iter().any(|item| item.text() == Some(word));
        let all = has("all");
        Self {
            addresses: all || has("addresses"),
            vlan: all || has("vlan"),
            priority: all || has("priority"),
            all,
        }
    }
}

/// Common values of all frames of a trace, as far as requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Taken {
    destination: Option<MacAddress>,
    source: Option<MacAddress>,
    /// Whether they have a tag.
    tagged: Option<bool>,
    /// VID of their tags; none for 0.
    vlan: Option<u16>,
    /// PCP of their tags.
    priority: Option<u8>,
}

impl Taken {
    /// As keys of a stream.
    fn entries(&self) -> Vec<(&'static str, String)> {
        let entry = |key: &'static str, text: Option<String>| text.map(|text| (key, text));
        [
            entry("destination", self.destination.map(|address| address.to_string())),
            entry("source", self.source.map(|address| address.to_string())),
            entry("tagged", self.tagged.map(|tagged| tagged.to_string())),
            entry("vlan", self.vlan.map(|vlan| vlan.to_string())),
            entry("priority", self.priority.map(|priority| priority.to_string())),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// Takes the requested values from a trace; or gives the reason why that is impossible.
fn from(trace: &Trace, what: What) -> Result<Taken, String> {
    if trace.is_table {
        return Err("is a table, whose frames have no addresses and no tags".to_owned());
    }
    if let Some((frame, part)) = cut_off(trace, what) {
        return Err(format!("is cut too short: frame {} was captured without its {part}", frame.number));
    }
    let mut taken = Taken::default();
    let frames = &trace.frames;
    if what.addresses {
        let missing = "has no destination addresses: frames of a cooked capture or of raw IP have none";
        taken.destination = common(frames, "destination", |frame| frame.header.destination)?;
        taken.source = common(frames, "source", |frame| frame.header.source)?;
        if taken.destination.is_none() && !what.all {
            return Err(missing.to_owned());
        }
        if taken.source.is_some_and(MacAddress::is_group) {
            return Err("has frames with a group address as source".to_owned());
        }
    }
    if what.vlan || what.priority {
        let tagged = common(frames, "tag", |frame| Some(Shown(frame.header.tag.is_some())))?;
        let tagged = tagged.is_some_and(|tagged| tagged.0);
        if !tagged && what.priority && !what.all {
            return Err("has frames without a tag, which have no priority".to_owned());
        }
        if what.vlan {
            taken.tagged = Some(tagged);
            let vlan = common(frames, "VLAN", |frame| frame.header.tag.map(|(_, vlan)| vlan))?;
            taken.vlan = vlan.filter(|vlan| *vlan != 0);
            if taken.vlan == Some(0xfff) {
                return Err("has frames of VLAN 4095, which is reserved".to_owned());
            }
        }
        if what.priority {
            taken.priority =
                common(frames, "priority", |frame| frame.header.tag.map(|(priority, _)| priority))?;
        }
    }
    Ok(taken)
}

/// The first frame of which a part that is to be taken was not captured, and that part.
fn cut_off(trace: &Trace, what: What) -> Option<(&Frame, &'static str)> {
    trace.frames.iter().find_map(|frame| {
        let cut = frame.header.cut;
        let addresses = (what.addresses && cut.addresses).then_some("addresses");
        addresses.or(((what.vlan || what.priority) && cut.tag).then_some("tag")).map(|part| (frame, part))
    })
}

/// Whether frames have a tag, in words.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Shown(bool);

impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0 { "there" } else { "not there" })
    }
}

/// The common value of all frames; none if they have none.
fn common<T: Copy + PartialEq + std::fmt::Display>(
    frames: &[Frame],
    what: &str,
    of: impl Fn(&Frame) -> Option<T>,
) -> Result<Option<T>, String> {
    let Some(first) = frames.first() else { return Ok(None) };
    let value = of(first);
    let Some(other) = frames.iter().find(|frame| of(frame) != value) else { return Ok(value) };
    let word = |value: Option<T>| value.map_or_else(|| "not there".to_owned(), |value| value.to_string());
    Err(format!(
        "has frames that differ in their {what}: {} in frame {}, {} in frame {}",
        word(value),
        first.number,
        word(of(other)),
        other.number
    ))
}
