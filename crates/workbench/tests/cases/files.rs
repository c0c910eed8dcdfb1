//! Captures, tables and folders as people have them.

use tautwire_units::{Bytes, Duration};
use tautwire_workbench::{Loaded, load_text, simulate};

use crate::{input, network};

/// A network in which `talker` replays the file with these keys of its traffic, and streams and tables behind it.
fn replaying(file: &str, keys: &str) -> String {
    let path = input(file).display().to_string();
    format!(
        "nodes:\n  a: {{type: end-station}}\n  b: {{type: end-station}}\n  c: {{type: end-station}}\n  s: {{type: bridge}}\n\
         links:\n  - {{between: [a, s], rate: 1 Gbit/s}}\n  - {{between: [s, b], rate: 1 Gbit/s}}\n  - {{between: [s, c], rate: 1 Gbit/s}}\n\
         streams:\n  - {{name: x, talker: a, listeners: b, traffic: {{type: replay, file: \"{path}\"{keys}}}}}\n"
    )
}

/// Times and MAC client data of the frames that a file's stream replays.
fn frames(file: &str) -> Vec<(Duration, Bytes)> {
    let network = network(&replaying(file, ""));
    match &network.streams[0].traffic {
        tautwire_workbench::network::Traffic::Replay { frames } => frames.clone(),
        other => panic!("{other:?}"),
    }
}

/// The diagnostics of a description: code, name of the file, line.
fn diagnosed(loaded: &Loaded) -> Vec<(&'static str, String, usize)> {
    let of = |fault: &tautwire_workbench::Diagnostic| {
        let source = &loaded.sources[fault.source];
        let name = source.name.rsplit('/').next().unwrap_or_default().to_owned();
        (fault.code, name, source.line_and_column(fault.labels[0].span.start).0)
    };
    loaded.diagnostics.iter().map(of).collect()
}

/// A pcapng without `if_tsresol` counts microseconds: its frames of 9 ms were replayed within 9 us.
#[test]
fn a_capture_of_microseconds_is_as_long_as_it_was() {
    let micros: Vec<_> =
        frames("microseconds.pcapng").iter().map(|(at, size)| (at.as_ps() / 1_000_000, size.get())).collect();
    assert_eq!(micros, [(0, 86), (1_000, 186), (2_500, 286), (9_000, 386)]);
}

/// Linux cooked packets have a header of 16 octets of their own in place of the 14 of Ethernet.
#[test]
fn a_cooked_capture_is_replayed_as_the_frames_that_it_was() {
    let frames = frames("linux-cooked.pcap");
    let sizes: Vec<_> = frames.iter().map(|(_, size)| size.get()).collect();
    assert_eq!(sizes[..2], [86, 186]);
}

/// 60 octets of each frame were captured; 1514 were there.
#[test]
fn a_snapped_capture_is_replayed_with_its_original_lengths() {
    assert!(frames("snapped.pcap").iter().all(|(_, size)| *size == Bytes::new(1_500)));
}

/// A capture of real stations: frames of MSRP and LLDP go to group addresses of their own.
#[test]
fn what_frames_differ_in_cannot_be_taken() {
    let capture = "../../../../wire/tests/captures/msrp-two-end-stations.pcapng";
    let loaded = load_text("case", &replaying(capture, ", take: addresses"));
    assert_eq!(diagnosed(&loaded), [("trace::taken", "case".to_owned(), 11)], "{:#?}", loaded.diagnostics);
    let message = &loaded.diagnostics[0].message;
    assert!(message.contains("differ in their destination"), "{message}");
}

#[test]
fn addresses_vlan_and_priority_of_a_trace_take_the_place_of_the_streams() {
    let text = replaying("tagged.pcap", ", take: all");
    let stated = network(&text);
    let x = &stated.streams[0];
    assert_eq!(x.destination.to_string(), "01:00:5e:00:00:07");
    assert_eq!(x.source.to_string(), "02:00:00:00:00:2a");
    assert_eq!((x.vlan.number(), x.priority.number(), x.tagged), (10, 5, true));
    let observation = simulate(&stated, &mut tautwire_workbench::Options::default());
    assert_eq!(observation.streams[0].listeners[0].delivered, 2);
    // A part of it; the rest is the stream's own.
    let part = network(&replaying("tagged.pcap", ", take: [priority]"));
    assert_eq!((part.streams[0].vlan.number(), part.streams[0].priority.number()), (1, 5));
    let own = network(&replaying("tagged.pcap", ""));
    assert_eq!(own.streams[0].priority.number(), 0);
    // Frames without a tag have no priority, and `all` takes what there is.
    let untagged = network(&replaying("microseconds.pcapng", ", take: all"));
    assert!(!untagged.streams[0].tagged);
    let loaded = load_text("case", &replaying("microseconds.pcapng", ", take: priority"));
    assert_eq!(diagnosed(&loaded), [("trace::taken", "case".to_owned(), 11)]);
    // A value that is both stated and taken is reported.
    let both = text.replace("listeners: b,", "listeners: b, vlan: 7,");
    assert_eq!(diagnosed(&load_text("case", &both)), [("form::conflict", "case".to_owned(), 11)]);
}

#[test]
fn tables_of_spreadsheets_are_read_as_plain_ones() {
    for file in ["trace-semicolons.csv", "trace-blanks.csv", "trace-tabs.txt", "trace-wide.txt"] {
        assert_eq!(
            frames(file),
            [(Duration::ZERO, Bytes::new(100)), (Duration::from_us(250), Bytes::new(1_500))],
            "{file}"
        );
    }
    for file in ["streams-semicolons.csv", "streams-blanks.csv", "streams-tabs.txt"] {
        let text =
            replaying("trace-tabs.txt", "") + &format!("stream-tables: [\"{}\"]\n", input(file).display());
        let network = network(&text);
        let names: Vec<_> = network.streams.iter().map(|stream| stream.name.as_str()).collect();
        assert_eq!(names, ["x", "one", "two"], "{file}");
        assert_eq!(network.streams[1].listeners.len(), 2, "{file}");
        assert_eq!(network.streams[2].deadline, Some(Duration::from_ms(2)), "{file}");
    }
}

/// All faults of a trace were reported as one, at the description, without a line.
#[test]
fn each_fault_of_a_table_is_diagnosed_with_its_file_and_line() {
    let loaded = load_text("case", &replaying("trace-faulty.csv", ""));
    let file = || "trace-faulty.csv".to_owned();
    assert_eq!(
        diagnosed(&loaded),
        [("value::unit-missing", file(), 2), ("text::table", file(), 4), ("value::number", file(), 5)],
        "{:#?}",
        loaded.diagnostics
    );
}

/// A tag of which nothing but its type was captured was taken for one of VLAN 1 and priority 0.
#[test]
fn what_was_not_captured_cannot_be_taken() {
    for (file, take, part) in [
        ("cut-tag.pcap", "all", "frame 1 was captured without its tag"),
        ("cut-tag.pcap", "priority", "frame 1 was captured without its tag"),
        ("cut-addresses.pcap", "all", "frame 1 was captured without its addresses"),
        ("cut-addresses.pcap", "addresses", "frame 1 was captured without its addresses"),
        ("cut-addresses.pcap", "vlan", "frame 1 was captured without its tag"),
    ] {
        let loaded = load_text("case", &replaying(file, &format!(", take: {take}")));
        assert_eq!(diagnosed(&loaded), [("trace::taken", "case".to_owned(), 11)], "{file} {take}");
        let message = &loaded.diagnostics[0].message;
        assert!(message.contains(part), "{file} {take}: {message}");
    }
    // What is there is taken, and without `take` the frames are replayed.
    let part = network(&replaying("cut-tag.pcap", ", take: addresses"));
    assert_eq!(part.streams[0].source.to_string(), "02:00:00:00:00:01");
    assert!(network(&replaying("cut-addresses.pcap", "")).streams[0].payload_min > Bytes::ZERO);
}

/// A named pipe as a trace or a table was waited for, for ever.
#[cfg(unix)]
#[test]
fn a_pipe_is_no_file_of_a_description() {
    let folder = std::env::temp_dir().join(format!("tautwire-pipe-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let pipe = folder.join("trace.csv");
    let _ = std::fs::remove_file(&pipe);
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs");
    assert!(made.success());
    let path = pipe.display().to_string();
    let replayed = replaying(&path, "");
    let tables = replaying("trace-tabs.txt", "") + &format!("stream-tables: [\"{path}\"]\n");
    for text in [replayed, tables] {
        let loaded = load_text("case", &text);
        let diagnosed: Vec<_> = loaded.diagnostics.iter().map(|fault| fault.message.as_str()).collect();
        assert!(diagnosed.iter().any(|diagnosed| diagnosed.contains("not a regular file")), "{diagnosed:?}");
    }
    std::fs::remove_dir_all(&folder).expect("ours");
}

/// Messages and remedies of a description's faults.
fn messages(text: &str) -> Vec<String> {
    let loaded = load_text("case", text);
    let messages = |fault: &tautwire_workbench::Diagnostic| {
        format!("{}; {}", fault.message, fault.help.as_deref().unwrap_or_default())
    };
    loaded.diagnostics.iter().map(messages).collect()
}

#[test]
fn faults_count_as_people_do() {
    let text = |listeners: &str, traffic: &str| {
        format!(
            "defaults: {{rate: 10 Mbit/s}}\nnodes: {{a: {{type: end-station}}, b: {{type: end-station}}}}\nlinks: [{{between: [a, b]}}]\n\
             streams: [{{name: x, talker: a, listeners: {listeners}, payload: 100 B, traffic: {{type: periodic, interval: {traffic}}}}}]\n"
        )
    };
    let burst = messages(&text("b", "1 ms, burst: 1000000"));
    assert!(burst.iter().any(|one| one.contains("makes 1000000 frames every 1 ms")), "{burst:?}");
    let none = messages(&text("[]", "1 ms"));
    assert!(
        none.iter().any(|one| one.ends_with("the list has 0 elements; write 1 element at least")),
        "{none:?}"
    );
    let greek = load_text("case", &text("b", "500 \u{3bc}s"));
    assert!(!greek.has_errors(), "{:#?}", greek.diagnostics);
}
