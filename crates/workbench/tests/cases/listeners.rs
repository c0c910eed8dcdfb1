//! Verdicts, losses and their causes are those of a listener, not of its stream; for a listener that was not served nothing is proven.

use tautwire_model::network::StreamIndex;
use tautwire_workbench::{
    Bounds, Network, Observation, Options, Summary, Verdict, Verification, bounds, bounds_in_run, judge,
    served, simulate, table, verify,
};

use super::{network, text};

/// A description's answer, and what is printed of it.
struct Answer {
    network: Network,
    bounds: Bounds,
    observation: Observation,
    verification: Verification,
    summary: Summary,
}

fn answer(text: &str) -> Answer {
    let network = network(text);
    let observation = simulate(&network, &mut Options::default());
    let bounds = bounds_in_run(&network, &observation);
    let verification = verify(&network, &bounds, &observation);
    let summary = Summary::new(&network, Some(&bounds), Some(&observation));
    Answer { network, bounds, observation, verification, summary }
}

impl Answer {
    fn place(&self, stream: &str, listener: &str) -> (usize, usize) {
        let found = self.network.streams.iter().position(|one| one.name == stream).expect("a stream");
        let is_it =
            |node: &tautwire_model::network::NodeIndex| self.network.nodes[node.index()].name == listener;
        (found, self.network.streams[found].listeners.iter().position(is_it).expect("a listener"))
    }

    fn verdict(&self, stream: &str, listener: &str) -> Verdict {
        let (stream, listener) = self.place(stream, listener);
        self.verification.streams[stream].listeners[listener].verdict
    }

    fn lost(&self, stream: &str, listener: &str) -> u64 {
        let (stream, listener) = self.place(stream, listener);
        self.verification.streams[stream].listeners[listener].lost.expect("a run")
    }

    fn reason(&self, stream: &str, listener: &str) -> Option<&str> {
        let (stream, listener) = self.place(stream, listener);
        let not_served = self.summary.streams[stream].listeners[listener].not_served.as_ref();
        not_served.map(|why| why.reason.as_str())
    }

    fn code(&self, stream: &str) -> Option<u8> {
        self.summary.reservations.iter().find(|one| one.stream == stream).expect("reserved").failure_code
    }

    fn exit_code(&self) -> u8 {
        self.verification.verdict.exit_code()
    }
}

#[test]
fn a_neighbours_loss_is_not_ones_own() {
    let answer = answer(&text("loss-per-listener.yaml"));
    assert_eq!(answer.verdict("m", "good"), Verdict::Proven);
    assert_eq!(answer.verdict("m", "bad"), Verdict::Missed);
    assert_eq!(answer.lost("m", "good"), 0);
    assert!(answer.lost("m", "bad") > 1_000);
    assert_eq!(answer.exit_code(), 1);
    let rows = &answer.summary.streams[0].listeners;
    let frames = |listener: usize| rows[listener].frames.as_ref().expect("a run");
    assert_eq!((frames(0).loss_ppm, frames(0).dropped.len()), (0, 0));
    assert_eq!(frames(1).dropped.keys().collect::<Vec<_>>(), ["queue-full"]);
    assert_eq!(frames(1).lost_by_failures, 0);
    // Each listener's copies are all of those that were created.
    let created = answer.observation.streams[0].created;
    for listener in 0..2 {
        let own = frames(listener);
        let lost: u64 = own.dropped.values().sum();
        assert_eq!(own.delivered + own.in_flight + own.withheld + lost, created);
    }
    let table = table::streams(&answer.summary, table::TableOptions::default());
    let row = |listener: &str| table.lines().find(|line| line.contains(listener)).expect("a row").to_owned();
    assert!(row("good").contains(" 0 %") && row("good").ends_with("proven"), "{table}");
    assert!(!row("bad").contains(" 0 %"), "{table}");
    let losses = tautwire_workbench::listener_frames::table(&answer.summary, table::TableOptions::default());
    assert!(losses.contains("queue-full") && !losses.contains("good"), "{losses}");
}

/// Two bridges in line; `near` is at the first, `far` at the second.
fn line(events: &str) -> String {
    format!(
        "name: line\nnetwork-control: none\ndefaults: {{rate: 100 Mbit/s}}\nnodes:\n  \
         {{x: {{type: end-station}}, near: {{type: end-station}}, far: {{type: end-station}}, \
         s1: {{type: bridge}}, s2: {{type: bridge}}}}\nlinks:\n  - {{between: [x, s1]}}\n  \
         - {{between: [near, s1]}}\n  - {{name: trunk, between: [s1, s2]}}\n  - {{between: [far, s2]}}\n\
         streams:\n  - {{name: m, talker: x, listeners: [near, far], priority: 5, payload: 100 B, \
         traffic: {{type: periodic, interval: 1 ms, offset: 2 ms}}, deadline: 5 ms}}\n\
         run: {{duration: 50 ms}}\nevents:\n  - {{at: 49 ms, stop-stream: m}}\n{events}"
    )
}

#[test]
fn a_link_that_fails_behind_one_listener_is_that_listeners_loss() {
    let answer = answer(&line("  - {at: 20 ms, cut-link: trunk}\n  - {at: 30 ms, mend-link: trunk}\n"));
    assert_eq!((answer.lost("m", "near"), answer.verdict("m", "near")), (0, Verdict::Proven));
    assert!((9..=11).contains(&answer.lost("m", "far")));
    // The failure is stated: the verdict is apart from it, and is not shown as if nothing had been lost.
    assert_eq!((answer.verdict("m", "far"), answer.exit_code()), (Verdict::Proven, 0));
    let frames = answer.summary.streams[0].listeners[1].frames.as_ref().expect("a run");
    assert_eq!(frames.lost_by_failures, answer.lost("m", "far"));
    let table = table::streams(&answer.summary, table::TableOptions::default());
    assert!(
        table.lines().any(|line| line.contains("far") && line.ends_with("proven but for losses")),
        "{table}"
    );
    assert!(table.lines().any(|line| line.contains("near") && line.ends_with(" proven")), "{table}");
    assert!(table::outcome(&answer.summary).ends_with("1 proven but for losses"));
}

#[test]
fn a_branch_that_is_deaf_from_the_start_is_a_stated_failure() {
    for event in ["cut-link: trunk", "stop-node: s2", "stop-node: far"] {
        let answer = answer(&line(&format!("  - {{at: 0 s, {event}}}\n")));
        assert_eq!(answer.verdict("m", "near"), Verdict::Proven, "{event}");
        assert_eq!((answer.lost("m", "near"), answer.reason("m", "far")), (0, None), "{event}");
        assert_eq!((answer.verdict("m", "far"), answer.exit_code()), (Verdict::Proven, 0), "{event}");
        assert!(answer.lost("m", "far") > 40, "{event}");
    }
}

#[test]
fn a_talker_that_the_description_stops_keeps_its_verdict_and_one_that_never_starts_does_not() {
    let bare = line("").replace("  - {at: 49 ms, stop-stream: m}\n", "  - {at: 49 ms, stop-node: near}\n");
    for (event, of_m) in [
        ("  - {at: 1 ms, stop-stream: m}\n", None),
        ("  - {at: 1 ms, stop-node: x}\n", None),
        ("", Some("offset: 2 ms")),
        ("", Some("payload: 100 B")),
    ] {
        let text = match of_m {
            Some(key @ "offset: 2 ms") => bare.replace(key, "offset: 1 s"),
            Some(key) => bare.replace(key, "payload: 100 B, started: false"),
            None => format!("{bare}{event}"),
        };
        let answer = answer(&text);
        assert_eq!(answer.observation.streams[0].delivered, 0);
        let expected = if of_m.is_some() { Verdict::Refused } else { Verdict::Proven };
        for listener in ["near", "far"] {
            assert_eq!(answer.verdict("m", listener), expected, "{event} {of_m:?}");
            assert_eq!(answer.reason("m", listener), of_m.map(|_| "never-sent"));
        }
        assert_eq!(answer.exit_code(), u8::from(of_m.is_some()));
        // The verdict of a run alone is the same.
        let alone = judge(&answer.network, None, Some(&answer.observation)).verdict;
        assert_eq!(alone >= Verdict::Missed, of_m.is_some());
    }
}

#[test]
fn frames_of_which_none_comes_are_not_proven() {
    // The run ends while the first is on its way.
    let text = line("").replace("49 ms", "2001 us").replace("duration: 50 ms", "duration: 2002 us");
    let text = text.replace("offset: 2 ms", "offset: 2 ms, burst: 1");
    let answer = answer(&text);
    assert_eq!(answer.observation.streams[0].created, 1);
    assert_eq!((answer.verdict("m", "near"), answer.exit_code()), (Verdict::NotProven, 1));
    assert_eq!(answer.reason("m", "far"), Some("nothing-delivered"));
}

#[test]
fn a_late_listener_is_not_its_neighbours_fault() {
    let answer = answer(&line("").replace("deadline: 5 ms", "deadline: 30 us"));
    assert_eq!(answer.verdict("m", "near"), Verdict::Proven);
    assert_eq!(answer.verdict("m", "far"), Verdict::Missed);
}

#[test]
fn a_learned_way_that_is_full_is_a_loss_where_it_is_full() {
    let answer = answer(
        "name: learned\nallow: [port::overload]\nnetwork-control: none\n\
         defaults: {rate: 100 Mbit/s, queue-limit: {frames: 4}}\n\
         nodes: {x: {type: end-station}, y: {type: end-station}, a: {type: end-station}, b: {type: end-station}, \
         s: {type: bridge}}\n\
         links: [{between: [x, s]}, {between: [y, s]}, {between: [a, s]}, {between: [b, s], rate: 10 Mbit/s}]\n\
         streams:\n  \
         - {name: up, talker: b, listeners: x, priority: 5, payload: 46 B, traffic: {type: periodic, interval: 1 ms}}\n  \
         - {name: to-a, talker: x, listeners: a, priority: 5, route: learned, payload: 500 B, \
         traffic: {type: periodic, interval: 500 us}, deadline: 10 ms}\n  \
         - {name: to-b, talker: y, listeners: b, priority: 5, payload: 1400 B, \
         traffic: {type: periodic, interval: 500 us}, deadline: 10 ms}\nrun: {duration: 100 ms}\n",
    );
    // It is flooded to b, whose line is full of frames for b: no listener loses anything.
    assert_eq!(answer.lost("to-a", "a"), 0);
    assert_ne!(answer.verdict("to-a", "a"), Verdict::Missed);
    assert!(answer.lost("to-b", "b") > 10);
    assert_eq!(answer.verdict("to-b", "b"), Verdict::Missed);
}

#[test]
fn of_two_copies_one_may_be_lost() {
    let path = "../../scenarios/avionics.yaml";
    let text = std::fs::read_to_string(path).expect("a scenario");
    let network = network(&text);
    let mut observation = simulate(&network, &mut Options::default());
    let bounds = bounds(&network);
    let redundant = network
        .streams
        .iter()
        .position(|stream| stream.virtual_link.is_some_and(|link| link.skew_max.is_some()));
    let stream = redundant.expect("a redundant virtual link");
    for (lost, expected) in [(0, Verdict::Proven), (1, Verdict::Missed)] {
        let seen = &mut observation.streams[stream].listeners[0];
        seen.dropped.push((tautwire_sim::DropReason::QueueFull, 1));
        seen.lost = Some(lost);
        let verification = verify(&network, &bounds, &observation);
        assert_eq!(verification.streams[stream].listeners[0].verdict, expected, "{lost} of its frames");
    }
}

#[test]
fn a_refused_stream_is_not_proven() {
    let answer = answer(&text("reservation-refused.yaml"));
    assert_eq!((answer.verdict("a4", "l"), answer.reason("a4", "l")), (Verdict::Refused, Some("refused")));
    assert_eq!((answer.code("a4"), answer.exit_code()), (Some(1), 1));
    for served in ["a1", "a2", "a3", "b1"] {
        assert_eq!(
            (answer.verdict(served, "l"), answer.code(served)),
            (Verdict::NoRequirement, None),
            "{served}"
        );
    }
}

/// A talker and two listeners, one of which is behind a line that has not the bandwidth.
fn narrow(asks: &str) -> String {
    format!(
        "name: narrow\nallow: [port::overload]\n\
         defaults: {{rate: 100 Mbit/s, traffic-class-table: stream-reservation}}\n\
         nodes: {{t: {{type: end-station}}, wide: {{type: end-station}}, tight: {{type: end-station}}, \
         sw: {{type: bridge}}}}\n\
         links: [{{between: [t, sw]}}, {{between: [wide, sw]}}, {{between: [tight, sw], rate: 10 Mbit/s}}]\n\
         stream-reservation: {{shaping: reserved}}\nstreams:\n  \
         - {{name: m, talker: t, listeners: [wide, tight], priority: 3, payload: 200 B, \
         traffic: {{type: periodic, interval: 125 us}}, deadline: 2 ms, \
         reservation: {{advertise-at: 0 s{asks}}}}}\nrun: {{duration: 3 s}}\n"
    )
}

#[test]
fn one_listener_of_two_is_refused() {
    let answer = answer(&narrow(""));
    assert_eq!((answer.verdict("m", "wide"), answer.reason("m", "wide")), (Verdict::Proven, None));
    assert_eq!(
        (answer.verdict("m", "tight"), answer.reason("m", "tight")),
        (Verdict::Refused, Some("refused"))
    );
    assert_eq!((answer.lost("m", "wide"), answer.lost("m", "tight")), (0, 0));
    assert!(answer.code("m").is_some());
}

#[test]
fn a_failure_code_is_shown_only_where_somebody_asked() {
    // Its failure is declared to the tight listener, which has no request yet.
    let asks = answer(&narrow(", attach-at: [0 s, 10 s]"));
    assert_eq!((asks.verdict("m", "wide"), asks.code("m")), (Verdict::Proven, None));
    assert_eq!(
        (asks.verdict("m", "tight"), asks.reason("m", "tight")),
        (Verdict::Refused, Some("nothing-delivered"))
    );
    // Without a run its request is known to be behind the end.
    let alone = judge(&asks.network, Some(&bounds(&asks.network)), None);
    let why = alone.streams[0].listeners[1].not_served;
    assert_eq!(
        (alone.streams[0].listeners[1].verdict, why),
        (Verdict::Refused, Some(served::NotServed::SentLater))
    );
    // One that ended its request received an answer before, and keeps its verdict: the description ends it.
    let left = answer(&narrow(", detach-at: [never, 2 s]"));
    assert!(left.code("m").is_some());
    assert_eq!((left.verdict("m", "tight"), left.reason("m", "tight")), (Verdict::Proven, None));
}

#[test]
fn a_stream_that_gives_way_later_is_refused() {
    let path = "../../scenarios/reserved-emergency.yaml";
    let answer = answer(&std::fs::read_to_string(path).expect("a scenario"));
    // The emergency call goes to the desk alone, and there it preempted the conference, permanently or for a time.
    let (stream, desk) = answer.place("conference", "desk");
    assert!(answer.observation.streams[stream].listeners[desk].delivered > 0);
    assert_eq!(
        (answer.verdict("conference", "desk"), answer.code("conference")),
        (Verdict::Refused, Some(6))
    );
    assert_eq!(answer.verdict("conference", "screen"), Verdict::Proven);
}

fn harts_scenario(name: &str) -> String {
    let path = format!("../../scenarios/{name}.yaml");
    std::fs::read_to_string(path).expect("a scenario")
}

#[test]
fn what_an_acmaster_refuses_is_not_counted_as_granted() {
    let text = harts_scenario("harts-admission");
    let with = answer(&text);
    let is_of_late = |line: &&str| line.contains("stream: late,") || line.contains("name: late,");
    let without: String =
        text.lines().filter(|line| !is_of_late(line)).map(|line| format!("{line}\n")).collect();
    let without = answer(&without);
    // The policer of `f4` has no tolerance for a picosecond of its talker's clock: what it may discard is another matter.
    for stream in ["f2", "f3", "f6"] {
        assert_eq!(with.verdict(stream, "n2"), Verdict::Proven, "{stream}");
    }
    // The talker of these requests nothing else: its port sends the same messages in both.
    for stream in ["f3", "f4"] {
        let bound = |answer: &Answer| {
            let (stream, listener) = answer.place(stream, "n2");
            answer.bounds.streams[stream].listeners[listener].delay.clone().ok()
        };
        assert_eq!(bound(&with), bound(&without), "{stream}");
    }
    let (late, listener) = with.place("late", "n2");
    assert!(with.bounds.streams[late].listeners[listener].delay.is_err());
    assert!(with.bounds.streams[late].hops.iter().all(|hop| hop.delay.is_err()));
    assert_eq!((with.verdict("late", "n2"), with.exit_code()), (Verdict::Refused, 1));
    let table = table::streams(&with.summary, table::TableOptions::default());
    let row = table.lines().find(|line| line.starts_with("late")).expect("a row");
    assert!(!row.contains("unbounded") && row.ends_with("refused"), "{table}");
}

#[test]
fn a_listener_that_an_acmaster_refuses_is_no_part_of_the_stream() {
    let answer = answer(&harts_scenario("harts-consumers"));
    for served in ["near", "spare", "late-comer"] {
        assert_eq!((answer.verdict("view", served), answer.reason("view", served)), (Verdict::Proven, None));
    }
    assert_eq!(
        (answer.verdict("view", "remote"), answer.reason("view", "remote")),
        (Verdict::Refused, Some("refused"))
    );
    // It would be late for requests at any time: without a run it has no bound, either.
    let alone = bounds(&answer.network);
    let (stream, remote) = answer.place("view", "remote");
    assert!(alone.streams[stream].listeners[remote].delay.is_err());
    let verdicts = judge(&answer.network, Some(&alone), None);
    assert_eq!(verdicts.streams[stream].listeners[remote].verdict, Verdict::Refused);
    assert_eq!(verdicts.streams[stream].listeners[0].verdict, Verdict::Proven);
}

#[test]
fn what_was_granted_first_is_counted() {
    // `f4` is released in the run: it was sent, and delayed the others.
    let answer = answer(&harts_scenario("harts-admission"));
    let (f4, _) = answer.place("f4", "n2");
    assert!(answer.bounds.streams[f4].listeners[0].delay.is_ok());
    let streams: Vec<StreamIndex> = (0..answer.network.streams.len()).map(StreamIndex::at).collect();
    let without_f4: Vec<StreamIndex> = streams.into_iter().filter(|stream| stream.index() != f4).collect();
    let fewer = tautwire_analysis::bounds(&answer.network.with_only(&without_f4));
    let (f6, _) = answer.place("f6", "n2");
    let place = without_f4.iter().position(|stream| stream.index() == f6).expect("kept");
    let more = answer.bounds.streams[f6].listeners[0].delay.clone().expect("a bound");
    assert!(fewer.streams[place].listeners[0].delay.clone().expect("a bound") < more);
}

#[test]
fn bounds_alone_leave_out_what_is_sure_to_be_refused() {
    // `late` is requested when the others are certainly granted.
    let network = network(&harts_scenario("harts-admission"));
    let found = bounds(&network);
    let proven = |name: &str| {
        let place = network.streams.iter().position(|stream| stream.name == name).expect("a stream");
        let verdicts = judge(&network, Some(&found), None);
        verdicts.streams[place].verdict
    };
    assert_eq!(proven("late"), Verdict::Refused);
    assert!(["f2", "f3", "f5", "f6"].iter().all(|name| proven(name) == Verdict::Proven));
    // If requested at the same time, any of them may be refused instead.
    let together =
        harts_scenario("harts-admission").replace("stream: late, at: 100 ms", "stream: late, at: 5 ms");
    let network = super::network(&together);
    let found = bounds(&network);
    let late = network.streams.iter().position(|stream| stream.name == "late").expect("a stream");
    assert_eq!(judge(&network, Some(&found), None).streams[late].verdict, Verdict::NotProven);
}

#[test]
fn a_phase_is_drawn_for_each_seed_and_bounds_do_not_see_it() {
    let text = |phase: &str| {
        format!(
            "name: phases\nnetwork-control: none\ndefaults: {{rate: 100 Mbit/s}}\n\
             nodes: {{a: {{type: end-station}}, b: {{type: end-station}}}}\nlinks: [{{between: [a, b]}}]\nstreams:\n  \
             - {{name: s, talker: a, listeners: b, payload: 100 B, \
             traffic: {{type: periodic, interval: 1 ms, offset: 2 ms{phase}}}}}\nrun: {{duration: 20 ms}}\n"
        )
    };
    let first = |phase: &str, seed: u64| {
        let network = network(&text(phase));
        let observation = simulate(&network, &mut Options { seed: Some(seed), ..Options::default() });
        let seen = &observation.streams[0];
        // All frames come later by the same time.
        assert_eq!(seen.listeners[0].interval.min(), seen.listeners[0].interval.max());
        assert!((18..=19).contains(&seen.created), "{}", seen.created);
        seen.listeners[0].worst.expect("a frame").created
    };
    let ms = tautwire_units::Duration::from_ms;
    assert_eq!([1, 2, 3].map(|seed| first("", seed)), [ms(2); 3]);
    let drawn = [1, 2, 3, 4].map(|seed| first(", phase: random", seed));
    assert!(drawn.iter().all(|at| (ms(2)..ms(3)).contains(at)), "{drawn:?}");
    assert!(drawn.windows(2).all(|pair| pair[0] != pair[1]), "{drawn:?}");
    assert_eq!(drawn[0], first(", phase: random", 1), "the same seed, the same phase");
    assert_eq!(bounds(&network(&text(""))), bounds(&network(&text(", phase: random"))));
}
