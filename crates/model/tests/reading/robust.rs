//! No text makes the reader panic: scenarios and broken descriptions, cut short and with octets changed.

use std::path::{Path, PathBuf};

use tautwire_model::{Severity, load_text};

fn texts() -> Vec<(PathBuf, Vec<u8>)> {
    let mut texts = Vec::new();
    for folder in ["../../scenarios", "devices", "tests/broken"] {
        let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
            .collect();
        paths.sort();
        texts.extend(paths.into_iter().map(|path| {
            let text = std::fs::read(&path).expect("a file");
            (path, text)
        }));
    }
    texts
}

/// A network without an error, or an error; every span within its text.
fn hold(path: &Path, octets: &[u8]) {
    let text = String::from_utf8_lossy(octets);
    let loaded = load_text(&path.to_string_lossy(), &text);
    assert_eq!(loaded.network.is_none(), loaded.has_errors());
    for fault in &loaded.diagnostics {
        assert!(matches!(fault.severity, Severity::Warning | Severity::Error));
        let source = &loaded.sources[fault.source];
        assert!(fault.labels[0].span.start <= source.text.len(), "{}: {fault:?}", path.display());
        let _ = source.line_and_column(fault.labels[0].span.start);
    }
}

/// The number of cases, greater if the environment sets more.
fn times(cases: usize) -> usize {
    let more = std::env::var("TAUTWIRE_TIMES").ok().map(|text| text.parse::<usize>().expect("a number"));
    cases * more.unwrap_or(1)
}

#[test]
fn texts_that_are_cut_short_give_a_diagnostic() {
    for (path, text) in texts() {
        let step = (text.len() / times(8)).max(1);
        for end in (0..text.len()).step_by(step) {
            hold(&path, &text[..end]);
        }
    }
}

#[test]
fn texts_with_changed_octets_give_a_diagnostic() {
    // Numbers of a linear congruential generator (Knuth, MMIX): the same texts in every run.
    let mut state = 0x5eed_u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).expect("31 bits") % below
    };
    let likely = b" \n:,-[]{}#\"'&*0123456789abps\xff";
    for (path, text) in texts() {
        for _ in 0..times(8) {
            let mut changed = text.clone();
            for _ in 0..=next(4) {
                let at = next(changed.len());
                match next(3) {
                    0 => changed[at] = likely[next(likely.len())],
                    1 => changed.insert(at, likely[next(likely.len())]),
                    _ => {
                        changed.remove(at);
                    }
                }
            }
            hold(&path, &changed);
        }
    }
}

#[test]
fn no_value_is_too_large_for_its_diagnostic() {
    let huge = [
        "18446744073709551615 ps",
        "18446744073709551615 B",
        "18446744073709551615 bit/s",
        "9e99",
        "999999999999999999999999 s",
        "4294967295",
        "18446744073709551615",
        "100 day",
        "24 h",
        "10 s",
        "1 TB",
        "1000 GB",
        "1000 Gbit/s",
        "1 ps",
        "1 B",
        "1 bit/s",
    ];
    let folder = PathBuf::from("../../scenarios");
    let text = std::fs::read_to_string(folder.join("shaped-line.yaml")).expect("a scenario");
    let more = "  - {name: bursts, talker: b, listeners: x, payload: 100 B, traffic: {type: on-off, on: 5 ms, off: 10 ms, interval: 1 ms, offset: 1 us}}
  - {name: whole, talker: b, listeners: x, payload: 100 B, traffic: {type: file, octets: 10 kB}}
  - {name: late, talker: b, listeners: x, payload: 100 B, traffic: {type: periodic, interval: 1 ms, jitter: 10 us, burst: 2}, arrival-curve: {rate: 20 Mbit/s, burst: 2 kB}}
events:
  - {at: 5 ms, stop-stream: loop}
  - {at: 6 ms, start-stream: loop}
";
    let text = text.replace("run: {", &format!("{more}run: {{"));
    let loaded = load_text("x.yaml", &text);
    assert!(!loaded.has_errors(), "{:#?}", loaded.diagnostics);
    change_every_value(&folder.join("x.yaml"), &text, |_| &huge);
    // Protocols and mechanisms with times of their own; not every value everywhere.
    for name in [
        "tdma",
        "tdma-start-up",
        "as6802-faulty",
        "time-triggered-shuffling",
        "test-bed",
        "avionics",
        "host-stacks",
    ] {
        let path = folder.join(name).with_extension("yaml");
        let text = std::fs::read_to_string(&path).expect("a scenario");
        change_every_value(&path, &text, |place| &huge[place % 5 * 3..][..3]);
    }
}

/// Every value behind a colon, one after another, as these.
fn change_every_value<'v>(path: &Path, text: &str, values: impl Fn(usize) -> &'v [&'v str]) {
    let (mut at, mut place) = (0, 0);
    while let Some(colon) = text[at..].find(": ") {
        let start = at + colon + 2;
        let end = text[start..].find([',', '}', '\n']).map_or(text.len(), |end| start + end);
        for value in values(place) {
            let changed = format!("{}{value}{}", &text[..start], &text[end..]);
            hold(path, changed.as_bytes());
        }
        (at, place) = (start, place + 1);
    }
}
