//! No value that a description may have makes the bounds panic, or take without end: scenarios with one value changed.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::path::PathBuf;

use tautwire_workbench::bounds;
use tautwire_workbench::load_text;

#[test]
fn bounds_of_descriptions_with_a_value_at_its_limit_are_there_or_have_a_reason() {
    let extreme = ["24 h", "10 s", "1 ps", "1 s", "1 B", "1500 B", "1 bit/s", "1000 Gbit/s", "0", "65535"];
    let scenarios = PathBuf::from("../../scenarios");
    let mut bounded = 0;
    for name in
        ["tdma", "tdma-both-stacks", "as6802-faulty", "time-triggered-shuffling", "avionics", "host-stacks"]
    {
        let path = scenarios.join(name).with_extension("yaml");
        let text = std::fs::read_to_string(&path).unwrap();
        let (mut at, mut place) = (0, 0);
        while let Some(colon) = text[at..].find(": ") {
            let start = at + colon + 2;
            let end = text[start..].find([',', '}', '\n']).map_or(text.len(), |end| start + end);
            for value in [extreme[place % 4], extreme[4 + place % 6]] {
                let changed = format!("{}{value}{}", &text[..start], &text[end..]);
                if let Some(network) = load_text(&path.to_string_lossy(), &changed).network {
                    let found = bounds(&network);
                    assert_eq!(found.streams.len(), network.streams.len());
                    bounded += 1;
                }
            }
            (at, place) = (start, place + 1);
        }
    }
    assert!(bounded > 100, "most values fit nothing, some do: {bounded}");
}
