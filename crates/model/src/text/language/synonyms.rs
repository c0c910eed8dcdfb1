//! Words of other tools, standards and papers for keys and words of a description, to help whoever writes them.
//!
//! [`meant`] names what a word means where it is written: of its meanings the first that the place has. Words for building blocks
//! are in [`blocks`](crate::blocks), and all that is only mistyped is found by distance.

use crate::text::shape::{Key, Kind, Shape};

/// Words, and their meanings; a point leads to a key within a key.
static SYNONYMS: &[(&[&str], &[&str])] = &[
    // Parts of a network.
    (&["switch", "switches"], &["bridges", "bridge", "nodes"]),
    (
        &[
            "station",
            "stations",
            "end-system",
            "end-systems",
            "endpoint",
            "endpoints",
            "computer",
            "computers",
            "ecu",
        ],
        &["end-stations", "end-station", "between", "nodes", "node"],
    ),
    (
        &["cable", "cables", "edge", "edges", "connection", "connections", "wires", "topology"],
        &["links", "link"],
    ),
    (&["flow", "flows", "message", "messages", "traffic"], &["streams", "stream"]),
    (&["simulation", "sim", "settings", "options"], &["run"]),
    (&["role", "kind"], &["type"]),
    (&["model"], &["device", "host"]),
    (&["title", "label", "id"], &["name"]),
    (&["description", "comment", "notes"], &["about"]),
    (&["host", "endpoint", "computer"], &["end-station"]),
    // Ends of a link or of a stream.
    (
        &["source", "src", "sender", "producer", "publisher", "transmitter", "from"],
        &["talker", "between", "source"],
    ),
    (
        &[
            "destinations",
            "dst",
            "sink",
            "sinks",
            "receiver",
            "receivers",
            "consumer",
            "subscriber",
            "target",
            "to",
        ],
        &["listeners", "between", "destination"],
    ),
    (&["ends", "nodes"], &["between"]),
    (&["mac", "mac-address", "dmac"], &["address", "destination"]),
    (&["ip"], &["udp"]),
    // A stream.
    (&["pcp", "prio", "cos", "qos", "traffic-class", "class"], &["priority", "classes", "class"]),
    (&["vid", "vlan-id"], &["vlan", "pvid"]),
    (&["path", "routing", "hops"], &["route"]),
    (
        &["latency", "delay", "max-latency", "max-delay", "latency-max", "delay-max"],
        &["deadline", "propagation-delay", "latency-max"],
    ),
    (
        &["interval", "period", "cycle", "cycle-time", "periodicity"],
        &[
            "interval",
            "traffic.interval",
            "period",
            "bag",
            "every",
            "cycle-time",
            "admin-cycle-time",
            "cycle",
            "elementary-cycle",
        ],
    ),
    (&["offset", "phase", "start"], &["offset", "traffic.offset", "at"]),
    (&["jitter"], &["traffic.jitter"]),
    (&["burst"], &["traffic.burst", "committed-burst-size"]),
    (&["cir"], &["committed-information-rate", "shaper.committed-information-rate"]),
    (&["cbs"], &["committed-burst-size", "shaper.committed-burst-size"]),
    (&["eir"], &["excess-information-rate"]),
    (&["ebs"], &["excess-burst-size"]),
    // A link, a port and its classes.
    (
        &[
            "rate",
            "speed",
            "bitrate",
            "bit-rate",
            "data-rate",
            "line-rate",
            "link-speed",
            "bandwidth",
            "capacity",
        ],
        &["rate", "idle-slope", "committed-information-rate", "traffic.rate"],
    ),
    (&["cable-length", "distance"], &["length"]),
    (&["ber", "error-rate"], &["bit-error-rate"]),
    (&["max-frame-size", "max-payload"], &["mtu"]),
    (&["algorithm", "shaper", "scheduler", "scheduling", "selection"], &["transmission-selection"]),
    (&["slope", "reserved-bandwidth"], &["idle-slope"]),
    (&["buffer", "buffer-size", "queue-size", "queue-length"], &["queue-limit", "shared-buffer"]),
    // A run.
    (&["time", "sim-time", "sim-time-limit", "simulation-time", "stop", "end", "until"], &["duration"]),
    // Words in the place of values.
    (&["cyclic"], &["periodic"]),
    (&["cbr"], &["constant-rate"]),
    (&["credit-based-shaper", "cbs", "cbsa", "avb"], &["credit-based", "transmission-selection"]),
    (&["asynchronous-traffic-shaping", "ats", "ubs"], &["ats", "transmission-selection"]),
    (&["strict", "sp", "static-priority"], &["strict-priority"]),
];

/// What a word means where `known` has its meanings: other spellings of what is known, then the synonyms.
pub(crate) fn meant(word: &str, known: impl Fn(&str) -> bool) -> Option<String> {
    let spelled = spelled(word);
    if spelled != word && known(&spelled) {
        return Some(spelled);
    }
    let meanings = SYNONYMS.iter().filter(|(words, _)| words.contains(&&*spelled)).flat_map(|(_, all)| *all);
    meanings.copied().find(|meaning| *meaning != word && known(meaning)).map(str::to_owned)
}

/// Whether a mapping of this shape has the key `path`; a point leads to a key within a key.
pub(crate) fn has(shape: &Shape, path: &str) -> bool {
    let Some((first, rest)) = path.split_once('.') else { return shape.key(path).is_some() };
    shape.key(first).is_some_and(|key: &Key| within(&key.kind, rest))
}

/// Whether a value of this kind, as far as it does not depend on its `type`, has the key `path`.
fn within(kind: &Kind, path: &str) -> bool {
    match kind {
        Kind::Object(shape) => has(shape, path),
        Kind::Tagged(shapes) => path == "type" || shapes.iter().any(|(_, shape)| has(shape, path)),
        Kind::OneOf(kinds) => kinds.iter().any(|kind| within(kind, path)),
        _ => false,
    }
}

/// A word as keys are spelled: small letters, and a dash where others have a blank, an underscore or a capital letter.
fn spelled(word: &str) -> String {
    let mut text = String::with_capacity(word.len() + 4);
    let mut small = false;
    for letter in word.chars() {
        if matches!(letter, '_' | ' ') {
            text.push('-');
        } else if letter.is_uppercase() {
            if small {
                text.push('-');
            }
            text.extend(letter.to_lowercase());
        } else {
            text.push(letter);
        }
        small = letter.is_lowercase();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::language::{NETWORK, STREAM};
    use crate::text::reference;
    use std::collections::BTreeSet;

    #[test]
    fn keys_are_found_however_they_are_spelled() {
        for (word, expected) in [("idleSlope", "idle-slope"), ("idle_slope", "idle-slope"), ("MTU", "mtu")] {
            assert_eq!(spelled(word), expected);
            assert_eq!(meant(word, |known| known == expected), Some(expected.to_owned()));
        }
    }

    #[test]
    fn a_synonym_means_what_its_place_has() {
        let network = |word| meant(word, |path| has(&NETWORK, path));
        let stream = |word| meant(word, |path| has(&STREAM, path));
        assert_eq!(network("switches").as_deref(), Some("nodes"));
        assert_eq!(stream("source").as_deref(), Some("talker"));
        assert_eq!(stream("pcp").as_deref(), Some("priority"));
        assert_eq!(stream("period").as_deref(), Some("traffic.interval"));
        assert_eq!(stream("interval").as_deref(), Some("traffic.interval"));
        assert_eq!(stream("colour"), None);
        assert_eq!(meant("switch", |word| word == "bridge").as_deref(), Some("bridge"));
    }

    /// No meaning is left behind when a key gets another name, and no word is there in vain.
    #[test]
    fn every_meaning_is_in_the_grammar() {
        let shapes = reference::shapes(&NETWORK);
        let mut words: BTreeSet<&str> = BTreeSet::new();
        for key in shapes.iter().flat_map(|shape| shape.keys()) {
            collect(&key.kind, &mut words);
        }
        for (synonyms, meanings) in SYNONYMS {
            for meaning in *meanings {
                let known = words.contains(meaning) || shapes.iter().any(|shape| has(shape, meaning));
                assert!(known, "`{meaning}` is neither a key nor a word");
            }
            for word in *synonyms {
                assert_eq!(spelled(word), *word);
                let helps = meanings.iter().any(|meaning| words.contains(meaning) && !words.contains(word))
                    || shapes
                        .iter()
                        .any(|shape| !has(shape, word) && meanings.iter().any(|meaning| has(shape, meaning)));
                assert!(helps, "`{word}` is a key wherever its meanings are");
            }
        }
    }

    /// The words that a value of this kind can be, and the types of its mappings.
    fn collect<'k>(kind: &'k Kind, words: &mut BTreeSet<&'k str>) {
        match kind {
            Kind::Word(all) => words.extend(*all),
            Kind::Tagged(shapes) => words.extend(shapes.iter().map(|(name, _)| *name)),
            Kind::OneOf(kinds) => kinds.iter().for_each(|kind| collect(kind, words)),
            Kind::List(_, _, kind) => collect(kind, words),
            _ => {}
        }
    }
}
