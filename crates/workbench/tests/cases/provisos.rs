//! Every loss has its cause: a failure that the description states, a newer message, the start of network time, a
//! host, a queue; and a row that is proven with a proviso shows it, with and without a run.

use tautwire_workbench::{
    Options, Proviso, Summary, Verdict, bounds, bounds_in_run, listener_frames, proviso, served, simulate,
    table,
};

use tautwire_workbench::table::TableOptions;

use super::network;

/// What is proven alone, and of a run.
fn both(text: &str) -> [Summary; 2] {
    let network = network(text);
    let observation = simulate(&network, &mut Options::default());
    let alone = Summary::new(&network, Some(&bounds(&network)), None);
    let proven = bounds_in_run(&network, &observation);
    [alone, Summary::new(&network, Some(&proven), Some(&observation))]
}

/// Verdict and proviso of a stream.
fn of(summary: &Summary, stream: &str) -> (Verdict, Option<Proviso>) {
    let found = summary.streams.iter().find(|one| one.name == stream).expect("a stream");
    (found.verdict.expect("bounds"), found.proviso)
}

/// The end of a stream's row of a table.
fn row(table: &str, stream: &str) -> String {
    let is_it = |line: &&str| line.split_whitespace().next() == Some(stream);
    table.lines().find(is_it).unwrap_or_else(|| panic!("no row of {stream}\n{table}")).trim_end().to_owned()
}

fn causes(summary: &Summary, stream: &str) -> String {
    row(&listener_frames::table(summary, TableOptions::default()), stream)
}

/// Slaves of TDMA behind a bridge; `x` goes from one to the other and never passes the master's cable.
fn slots(lifetime: &str, more: &str, bits: &str) -> String {
    format!(
        "name: slots\nnetwork-control: none\ndefaults: {{rate: 100 Mbit/s}}\n\
         nodes: {{m: {{type: end-station}}, s: {{type: end-station}}, z: {{type: end-station}}, b: {{type: bridge}}}}\n\
         links:\n  - {{name: masters, between: [m, b]{bits}}}\n  - {{between: [s, b]}}\n  - {{between: [z, b]}}\n\
         tdma:\n  cycle: 1 ms\n  synchronisation: opening\n{lifetime}  slots:\n    \
         - {{owner: s, offset: 300 us, length: 200 us}}\nstreams:\n  \
         - {{name: opening, talker: m, listeners: all, priority: 7, tagged: false, payload: 46 B, traffic: {{type: synchronisation}}}}\n  \
         - {{name: x, talker: s, listeners: z, priority: 5, tagged: false, payload: 200 B, \
         traffic: {{type: periodic, interval: 2 ms}}, deadline: 20 ms}}\n{more}run: {{duration: 200 ms}}\n"
    )
}

#[test]
fn what_expires_while_a_stated_failure_keeps_cycles_away_is_lost_to_that() {
    let cut = "events: [{at: 50 ms, cut-link: masters}, {at: 80 ms, mend-link: masters}]\n";
    let stated = "  lifetime: 6 ms\n";
    for text in [
        slots(stated, cut, ""),
        slots("", cut, ""),
        slots(stated, "", ", bit-error-rate: 5e-3"),
        slots(stated, "events: [{at: 100 ms, stop-node: m}]\n", ""),
    ] {
        let [alone, run] = both(&text);
        for summary in [&alone, &run] {
            assert_eq!(of(summary, "x"), (Verdict::Proven, Some(Proviso::ButForLosses)), "{text}");
        }
        let frames = run.streams.iter().find(|one| one.name == "x").expect("x").listeners[0].frames.as_ref();
        let frames = frames.expect("a run");
        assert!(frames.dropped.contains_key("expired"), "{frames:?}\n{text}");
        assert_eq!(frames.lost_by_failures, frames.dropped.values().sum::<u64>());
        assert!(causes(&run, "x").ends_with("expired (failure)"), "{}", causes(&run, "x"));
        assert!(
            proviso::table(&alone).contains("the path of TDMA cycles to s"),
            "{}",
            proviso::table(&alone)
        );
    }
}

#[test]
fn what_expires_though_nothing_fails_is_missed() {
    // Four frames at once, and a slot a millisecond: the last ones do not live that long.
    let text = slots("  lifetime: 2 ms\n", "", "").replace("interval: 2 ms", "interval: 20 ms, burst: 4");
    let [alone, run] = both(&text);
    assert_eq!(of(&alone, "x"), (Verdict::MayBeLost, None));
    assert_eq!(of(&run, "x"), (Verdict::Missed, None));
    // A failure elsewhere is not to blame.
    let elsewhere = text.replace("run: ", "events: [{at: 190 ms, stop-node: z}]\nrun: ");
    assert_eq!(of(&both(&elsewhere)[1], "x"), (Verdict::Missed, None));
}

/// A line of which the bridge's port has such a queue.
fn line(queue: &str, bits: &str, stream: &str, more: &str) -> String {
    format!(
        "name: line\nnetwork-control: none\ndefaults: {{rate: 100 Mbit/s}}\n\
         nodes: {{a: {{type: end-station}}, w: {{type: bridge{queue}}}, z: {{type: end-station}}, y: {{type: end-station}}}}\n\
         links: [{{between: [a, w]}}, {{between: [w, z]{bits}}}, {{between: [w, y]}}]\n\
         streams:\n  - {{name: x, talker: a, listeners: z, payload: 400 B, traffic: {{type: periodic, interval: 1 ms}}, deadline: 5 ms{stream}}}\n  \
         - {{name: v, talker: a, listeners: y, payload: 100 B, traffic: {{type: periodic, interval: 1 ms}}, deadline: 5 ms}}\n\
         {more}run: {{duration: 50 ms}}\n"
    )
}

#[test]
fn what_is_all_lost_to_a_queue_is_missed_and_not_refused() {
    let meant = "allow: [\"port::queue-limit\"]\n";
    let [alone, run] = both(&line(", queue-limit: {octets: 200 B}", "", "", meant));
    assert_eq!(of(&alone, "x").0, Verdict::MayBeLost);
    assert_eq!(run.streams[0].listeners[0].frames.as_ref().expect("a run").delivered, 0);
    assert_eq!(of(&run, "x"), (Verdict::Missed, None));
    assert!(causes(&run, "x").ends_with("50 queue-full"), "{}", causes(&run, "x"));
    let rows = table::streams(&run, TableOptions::default());
    assert!(row(&rows, "x").ends_with(" missed") && row(&rows, "v").ends_with(" proven"), "{rows}");
}

#[test]
fn stated_failures_are_reported_without_a_run_as_with_one() {
    let cut = "events: [{at: 10 ms, cut-link: only}, {at: 20 ms, mend-link: only}]\n";
    let stop = "events: [{at: 10 ms, stop-node: z}]\n";
    let errs = "events: [{at: 10 ms, change-bit-error-rate: {link: only, bit-error-rate: 1e-4}}]\n";
    for (bits, more, text_of) in [
        (", bit-error-rate: 1e-5", "", "bit errors between w.p2 and z.p1"),
        (", name: only", cut, "a cut between w.p2 and z.p1"),
        (", name: only", errs, "bit errors between w.p2 and z.p1"),
        ("", stop, "a stop of z"),
    ] {
        let [alone, run] = both(&line("", bits, "", more));
        for summary in [&alone, &run] {
            assert_eq!(of(summary, "x"), (Verdict::Proven, Some(Proviso::ButForLosses)), "{more}");
            assert_eq!(of(summary, "v"), (Verdict::Proven, None), "{more}");
            let rows = table::streams(summary, TableOptions::default());
            assert!(row(&rows, "x").ends_with("proven but for losses"), "{rows}");
            assert_eq!(proviso::table(summary), format!("proven but for losses: x: {text_of}\n"));
            assert_eq!(table::outcome(summary), "2 streams: 1 proven but for losses, 1 proven");
        }
    }
}

#[test]
fn what_nothing_starts_is_not_proven_without_a_run_either() {
    let start = |at: &str| format!("events: [{{at: {at}, start-stream: x}}]\n");
    for (stream, more, starts) in [
        (", started: false", String::new(), false),
        (", started: false", start("60 ms"), false),
        (", started: false", start("10 ms"), true),
        ("", String::new(), true),
    ] {
        let [alone, run] = both(&line("", "", stream, &more));
        for summary in [&alone, &run] {
            let expected = if starts { Verdict::Proven } else { Verdict::Refused };
            assert_eq!(of(summary, "x"), (expected, None), "{more}");
            assert_eq!(expected.exit_code(), u8::from(!starts));
            let why = summary.streams[0].listeners[0].not_served.as_ref().map(|why| why.reason.as_str());
            assert_eq!(why, (!starts).then_some("never-sent"));
            assert_eq!(of(summary, "v"), (Verdict::Proven, None));
        }
        let text_of = served::table(&alone);
        assert_eq!(text_of.contains("x at z: no frame is sent"), !starts, "{text_of}");
    }
    // Nor is what answers it.
    let answer = "  - {name: r, talker: z, listeners: a, payload: 100 B, traffic: {type: response, to: x}, deadline: 9 ms}\n";
    let text = line("", "", ", started: false", "").replace("run: ", &format!("{answer}run: "));
    assert_eq!(both(&text).map(|summary| of(&summary, "r").0), [Verdict::Refused; 2]);
}

/// A line whose stream `x` has these keys, for runs of 50 ms.
fn starting(stream: &str, more: &str) -> [(Verdict, Option<String>); 2] {
    let text = line("", "", "", more).replace(
        ", traffic: {type: periodic, interval: 1 ms}, deadline: 5 ms}\n  - {name: v",
        &format!(", {stream}, deadline: 5 ms}}\n  - {{name: v"),
    );
    assert!(text.contains(stream), "{text}");
    both(&text).map(|summary| {
        let row = &summary.streams[0];
        (row.verdict.expect("bounds"), row.listeners[0].not_served.as_ref().map(|why| why.reason.clone()))
    })
}

#[test]
fn a_stream_whose_first_frame_is_behind_the_end_of_the_run_is_not_proven() {
    let periodic = |offset: &str| format!("traffic: {{type: periodic, interval: 1 ms, offset: {offset}}}");
    let change = |at: &str, offset: &str| {
        format!(
            "events: [{{at: {at}, change-traffic: {{stream: x, traffic: {{type: periodic, interval: 1 ms, offset: {offset}}}}}}}]\n"
        )
    };
    let start = |at: &str| format!("events: [{{at: {at}, start-stream: x}}]\n");
    for (stream, more, sends) in [
        (periodic("60 ms"), String::new(), false),
        (periodic("49 ms"), String::new(), true),
        ("traffic: {type: constant-rate, rate: 1 Mbit/s, offset: 51 ms}".to_owned(), String::new(), false),
        (
            "traffic: {type: on-off, interval: 1 ms, on: 2 ms, off: 2 ms, offset: 1 s}".to_owned(),
            String::new(),
            false,
        ),
        (
            "traffic: {type: greedy, offset: 1 s}, arrival-curve: {rate: 8 Mbit/s, burst: 10000 bit}".to_owned(),
            String::new(),
            false,
        ),
        (
            "traffic: {type: file, octets: 4000 B, at: 51 ms}, arrival-curve: {rate: 8 Mbit/s, burst: 50000 bit}"
                .to_owned(),
            String::new(),
            false,
        ),
        // An event starts it in time, but its offset counts from there.
        (format!("{}, started: false", periodic("20 ms")), start("40 ms"), false),
        (format!("{}, started: false", periodic("20 ms")), start("20 ms"), true),
        // What the talker changes to comes in time, or not any more.
        (periodic("60 ms"), change("10 ms", "0 s"), true),
        (periodic("60 ms"), change("10 ms", "41 ms"), false),
        // An event that stops it stops nothing.
        (periodic("60 ms"), "events: [{at: 40 ms, stop-stream: x}]\n".to_owned(), false),
        (
            format!("{}, started: false", periodic("0 s")),
            "events: [{at: 40 ms, stop-node: a}]\n".to_owned(),
            false,
        ),
    ] {
        let expected =
            if sends { (Verdict::Proven, None) } else { (Verdict::Refused, Some("never-sent".to_owned())) };
        assert_eq!(starting(&stream, &more), [expected.clone(), expected], "{stream} {more}");
    }
}

#[test]
fn what_a_receiving_host_loses_is_named_with_its_listener() {
    let text = "name: host\nnetwork-control: none\ndefaults: {rate: 100 Mbit/s}\n\
        hosts:\n  pc:\n    threads:\n      worker: {service: 2 ms}\n    stacks:\n      main: {thread: worker, socket-buffer: 2000 B}\n\
        nodes: {a: {type: end-station}, z: {type: end-station, host: pc}}\nlinks: [{between: [a, z]}]\n\
        streams: [{name: x, talker: a, listeners: z, payload: 400 B, traffic: {type: periodic, interval: 1 ms}, deadline: 5 ms}]\n\
        run: {duration: 50 ms}\n";
    let [_, run] = both(text);
    let frames = run.streams[0].listeners[0].frames.as_ref().expect("a run");
    let lost = frames.dropped_in_host["socket-buffer-full"];
    assert!(lost > 10 && frames.dropped.is_empty(), "{frames:?}");
    assert_eq!(of(&run, "x"), (Verdict::Missed, None));
    let text_of = causes(&run, "x");
    assert!(text_of.ends_with(&format!("{lost} socket-buffer-full (in the host)")), "{text_of}");
    assert!(frames.loss_ppm > 200_000, "{text_of}");
}

/// A time-triggered link of a period of 2 ms.
fn timed(synchronised: &str, interval: &str, link: &str) -> String {
    format!(
        "name: timed\nnetwork-control: none\n\
         time-triggered: {{precision: 2 us, integration-cycle: 2 ms{synchronised}}}\n\
         defaults: {{rate: 100 Mbit/s}}\n\
         nodes: {{a: {{type: end-station}}, z: {{type: end-station}}, b: {{type: bridge}}}}\n\
         links: [{{between: [a, b]}}, {{between: [b, z]}}]\n\
         streams: [{{name: x, talker: a, listeners: z, payload: 100 B, traffic: {{type: periodic, {interval}}}, \
         time-triggered: {{id: 1, period: 2 ms, offset: 200 us, points: [{{at: b, offset: 400 us}}]{link}}}, deadline: 10 ms}}]\n\
         run: {{duration: 400 ms}}\n"
    )
}

#[test]
fn messages_that_come_faster_than_their_link_sends_are_reported() {
    for (interval, link, newest) in [
        ("interval: 1 ms", "", true),
        ("interval: 5 ms, burst: 2", "", true),
        ("interval: 2500 us, jitter: 600 us", "", true),
        ("interval: 2500 us, jitter: 400 us", "", false),
        ("interval: 2 ms, offset: 50 us", ", release: locked", false),
        ("interval: 2 ms, offset: 50 us, jitter: 300 us", ", release: locked", true),
    ] {
        let [alone, run] = both(&timed("", interval, link));
        let proviso = newest.then_some(Proviso::ForTheNewest);
        for summary in [&alone, &run] {
            assert_eq!(of(summary, "x"), (Verdict::Proven, proviso), "{interval}");
            let rows = table::streams(summary, TableOptions::default());
            let word = if newest { "proven for the newest" } else { "  proven" };
            assert!(row(&rows, "x").ends_with(word), "{rows}");
            let text_of = proviso::table(summary);
            assert_eq!(text_of.contains("x: a buffer for one message, at which "), newest, "{text_of}");
        }
        let frames = run.streams[0].listeners[0].frames.as_ref().expect("a run");
        let replaced = frames.dropped.get("overwritten").copied().unwrap_or(0);
        assert!(newest || replaced == 0, "{interval}: {replaced}");
        if interval.starts_with("interval: 1 ms") {
            assert!(replaced > 150, "{replaced}");
            assert!(causes(&run, "x").ends_with(&format!("{replaced} overwritten")), "{}", causes(&run, "x"));
        }
    }
}

#[test]
fn what_is_lost_before_there_is_network_time_is_no_failure() {
    let made = ", synchronisation: {masters: [a, z], compression-masters: b, max-transmission-delay: 500 us}";
    let [alone, run] = both(&timed(made, "interval: 5 ms", ""));
    for summary in [&alone, &run] {
        assert_eq!(of(summary, "x"), (Verdict::Proven, Some(Proviso::OnceSynchronised)));
        let rows = table::streams(summary, TableOptions::default());
        assert!(row(&rows, "x").ends_with("proven once synchronised"), "{rows}");
        let text_of = proviso::table(summary);
        assert!(
            text_of.starts_with("proven once synchronised: x: all nodes have network time after"),
            "{text_of}"
        );
    }
    let frames = run.streams[0].listeners[0].frames.as_ref().expect("a run");
    assert!(frames.dropped["unsynchronised"] > 0 && frames.lost_by_failures == 0, "{frames:?}");
    assert!(causes(&run, "x").ends_with("unsynchronised (start-up)"), "{}", causes(&run, "x"));
    // What begins later loses nothing to the start.
    let [alone, run] = both(&timed(made, "interval: 5 ms, offset: 200 ms", ""));
    assert_eq!([of(&alone, "x"), of(&run, "x")], [(Verdict::Proven, None); 2]);
    // A cut that takes network time is a failure.
    let cut = "events: [{at: 200 ms, cut-link: far}, {at: 300 ms, mend-link: far}]\nrun: ";
    let text = timed(made, "interval: 5 ms", "").replace("{between: [b, z]}", "{name: far, between: [b, z]}");
    let [alone, run] = both(&text.replace("run: ", cut));
    for summary in [&alone, &run] {
        assert_eq!(of(summary, "x"), (Verdict::Proven, Some(Proviso::ButForLosses)));
    }
    assert!(causes(&run, "x").contains("unsynchronised (failure)"), "{}", causes(&run, "x"));
}
