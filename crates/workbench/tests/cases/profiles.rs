//! Rules of TSN profiles: each has a network that keeps it and one that breaks it, at the right line and with its source.

use std::collections::BTreeSet;

use tautwire_workbench::{PROFILES, Profile, ProfileCheck, RuleVerdict, load_text};

/// A network of 802.1BA with idle slopes that the description states.
const AUDIO: &str = "\
name: audio
network-control: none
vlans: {1: {tagged: all}}
defaults: {rate: 100 Mbit/s, traffic-class-table: stream-reservation}
gptp: {}
nodes:
  camera: {type: end-station, clock: {tolerance: 50 ppm}}
  screen: {type: end-station}
  near:
    type: bridge
    classes:
      7: {transmission-selection: credit-based, idle-slope: 20 Mbit/s}
      6: {transmission-selection: credit-based, idle-slope: 10 Mbit/s}
  far:
    type: bridge
    classes:
      7: {transmission-selection: credit-based, idle-slope: 20 Mbit/s}
      6: {transmission-selection: credit-based, idle-slope: 10 Mbit/s}
links:
  - {between: [camera, near]}
  - {between: [near, far], propagation-delay: 500 ns}
  - {between: [far, screen]}
streams:
  - {name: video, talker: camera, listeners: screen, priority: 3, payload: 500 B, traffic: {type: periodic, interval: 500 us}}
  - {name: voice, talker: camera, listeners: screen, priority: 2, payload: 500 B, traffic: {type: periodic, interval: 1 ms}}
";

/// The same by reservations.
const RESERVED: &str = "\
name: reserved
network-control: none
vlans: {1: {tagged: all}}
defaults: {rate: 100 Mbit/s, traffic-class-table: stream-reservation}
gptp: {}
stream-reservation:
  classes: [{class: A, priority: 3, interval: 125 us, delta-bandwidth: 75}]
nodes:
  camera: {type: end-station}
  screen: {type: end-station}
  near: {type: bridge, classes: {7: {transmission-selection: credit-based, idle-slope: 40 Mbit/s}}}
links:
  - {between: [camera, near]}
  - {between: [near, screen]}
streams:
  - {name: video, talker: camera, listeners: screen, vlan: 2, priority: 3, payload: 300 B, traffic: {type: periodic, interval: 125 us}, reservation: {}}
  - {name: files, talker: camera, listeners: screen, priority: 0, payload: 300 B, traffic: {type: periodic, interval: 1 ms}}
";

/// A network with a deadline: 802.1DG and 802.1DP.
const BOUNDED: &str = "\
name: bounded
vlans: {1: {tagged: all}}
defaults: {rate: 100 Mbit/s}
nodes:
  sensor: {type: end-station}
  computer: {type: end-station}
  zone: {type: bridge}
links:
  - {between: [sensor, zone]}
  - {between: [zone, computer]}
streams:
  - {name: angle, talker: sensor, listeners: computer, priority: 6, payload: 100 B, traffic: {type: periodic, interval: 1 ms}, deadline: 1 ms}
";

/// The same without a bridge.
const UNBRIDGED: &str = "\
name: unbridged
defaults: {rate: 100 Mbit/s}
nodes:
  sensor: {type: end-station}
  computer: {type: end-station}
links:
  - {between: [sensor, computer]}
streams:
  - {name: angle, talker: sensor, listeners: computer, priority: 6, payload: 100 B, traffic: {type: periodic, interval: 1 ms}, deadline: 1 ms}
";

/// A factory of 60802 with gates and frame preemption.
const FACTORY: &str = "\
name: factory
network-control: none
vlans: {1: {tagged: all}}
defaults:
  rate: 1 Gbit/s
  traffic-class-table: identity
  frame-preemption-parameters: {add-frag-size: 0, frame-preemption-status-table: {priority0: preemptable}}
lldp: {}
gptp: {}
nodes:
  plc: {type: end-station}
  drive: {type: end-station}
  cell:
    type: bridge
    gate-parameter-table:
      gate-enabled: true
      supported-list-max: 64
      admin-control-list:
        - {gate-states: [7], time-interval: 100 us}
        - {gate-states: [0, 1], time-interval: 400 us}
links:
  - {between: [plc, cell]}
  - {between: [cell, drive]}
streams:
  - {name: order, talker: plc, listeners: drive, priority: 7, payload: 100 B, traffic: {type: periodic, interval: 1 ms}, deadline: 1 ms}
";

/// More VLANs than every bridge has room for.
const NINE_VLANS: &str = "\
vlans: {1: {tagged: all}, 2: {tagged: all}, 3: {tagged: all}, 4: {tagged: all}, 5: {tagged: all}, 6: {tagged: all}, \
7: {tagged: all}, 8: {tagged: all}, 9: {tagged: all}}";

/// A stream in each of them.
const NINE_STREAMS: &str = "\
streams:
  - {name: v2, talker: plc, listeners: drive, vlan: 2, payload: 46 B, traffic: {type: periodic, interval: 10 ms}}
  - {name: v3, talker: plc, listeners: drive, vlan: 3, payload: 46 B, traffic: {type: periodic, interval: 10 ms}}
  - {name: v4, talker: plc, listeners: drive, vlan: 4, payload: 46 B, traffic: {type: periodic, interval: 10 ms}}
  - {name: v5, talker: plc, listeners: drive, vlan: 5, payload: 46 B, traffic: {type: periodic, interval: 10 ms}}
  - {name: v6, talker: plc, listeners: drive, vlan: 6, payload: 46 B, traffic: {type: periodic, interval: 10 ms}}
  - {name: v7, talker: plc, listeners: drive, vlan: 7, payload: 46 B, traffic: {type: periodic, interval: 10 ms}}
  - {name: v8, talker: plc, listeners: drive, vlan: 8, payload: 46 B, traffic: {type: periodic, interval: 10 ms}}
  - {name: v9, talker: plc, listeners: drive, vlan: 9, payload: 46 B, traffic: {type: periodic, interval: 10 ms}}
";

/// What breaks a rule: edits of a network that keeps it, and a part of the message.
struct Example {
    rule: &'static str,
    keeps: String,
    edits: Vec<(&'static str, &'static str)>,
    /// What the diagnostic says.
    says: &'static str,
    /// The text of its line.
    line: &'static str,
}

fn example(
    rule: &'static str,
    keeps: &str,
    edits: &[(&'static str, &'static str)],
    says: &'static str,
    line: &'static str,
) -> Example {
    Example { rule, keeps: keeps.to_owned(), edits: edits.to_vec(), says, line }
}

/// A line of `bridges` bridges with a stream of class A from end to end.
fn line(bridges: usize) -> String {
    let mut text = String::from(
        "name: line\nnetwork-control: none\nvlans: {1: {tagged: all}}\ngptp: {}\n\
         defaults: {rate: 1 Gbit/s, traffic-class-table: stream-reservation}\nnodes:\n  \
         talker: {type: end-station}\n  listener: {type: end-station}\n",
    );
    for bridge in 0..bridges {
        text.push_str(&format!(
            "  b{bridge}: {{type: bridge, classes: {{7: {{transmission-selection: credit-based, idle-slope: 20 Mbit/s}}}}}}\n"
        ));
    }
    text.push_str("links:\n  - {between: [talker, b0]}\n");
    for bridge in 1..bridges {
        text.push_str(&format!("  - {{between: [b{}, b{bridge}]}}\n", bridge - 1));
    }
    text.push_str(&format!("  - {{between: [b{}, listener]}}\n", bridges - 1));
    text.push_str(
        "streams:\n  - {name: video, talker: talker, listeners: listener, priority: 3, payload: 100 B, \
         traffic: {type: periodic, interval: 500 us}}\n",
    );
    text
}

fn examples() -> Vec<Example> {
    let longer = |rule, keeps: usize, breaks: usize, says, at: &'static str| {
        let broken: &'static str = Box::leak(line(breaks).into_boxed_str());
        let kept: &'static str = Box::leak(line(keeps).into_boxed_str());
        example(rule, kept, &[(kept, broken)], says, at)
    };
    let processing = ("gptp: {}", "gptp: {bridges: {processing: 12 ms}}");
    vec![
        example(
            "802.1BA::link",
            AUDIO,
            &[("[near, far]", "[near, far], rate: 50 Mbit/s")],
            "near.p2 and far.p1 has 50 Mbit/s",
            "[near, far]",
        ),
        example(
            "802.1BA::class-priority",
            AUDIO,
            &[("priority: 2", "priority: 5"), ("6: {", "3: {")],
            "`voice` has priority 5",
            "name: voice",
        ),
        example(
            "802.1BA::class-priority",
            RESERVED,
            &[
                ("priority: 3, interval", "priority: 4, interval"),
                ("priority: 3, payload", "priority: 4, payload"),
            ],
            "SR class A has priority 4",
            "classes: [{class: A",
        ),
        example(
            "802.1BA::credit-based",
            AUDIO,
            &[(
                "6: {transmission-selection: credit-based, idle-slope: 10 Mbit/s}",
                "6: {transmission-selection: strict-priority}",
            )],
            "class 6 of near.p2, which carries `voice`, is of strict priority",
            "classes:",
        ),
        example(
            "802.1BA::measurement-interval",
            RESERVED,
            &[("interval: 125 us, delta", "interval: 250 us, delta")],
            "SR class A is measured in 250 us",
            "classes: [{class: A",
        ),
        example(
            "802.1BA::reserved-share",
            AUDIO,
            &[("idle-slope: 20 Mbit/s", "idle-slope: 70 Mbit/s")],
            "the idle slopes of near.p1 are 80 Mbit/s of 100 Mbit/s",
            "classes:",
        ),
        example(
            "802.1BA::reserved-share",
            RESERVED,
            &[("delta-bandwidth: 75", "delta-bandwidth: 80")],
            "SR classes may use 80 %",
            "classes: [{class: A",
        ),
        example(
            "802.1BA::reserved-alone",
            RESERVED,
            &[("priority: 0", "priority: 3")],
            "`files` has priority 3 without a reservation",
            "name: files",
        ),
        longer("802.1BA::path-links", 6, 7, "the path of `video` has 8 links", "name: video"),
        example(
            "802.1BA::latency-a",
            AUDIO,
            &[
                ("idle-slope: 20 Mbit/s", "idle-slope: 1 Mbit/s"),
                ("interval: 500 us", "interval: 50 ms, burst: 3"),
            ],
            "the bound of the delay of `video` is",
            "name: video",
        ),
        example(
            "802.1BA::latency-b",
            AUDIO,
            &[
                ("idle-slope: 10 Mbit/s", "idle-slope: 100 kbit/s"),
                ("interval: 1 ms", "interval: 500 ms, burst: 3"),
            ],
            "the bound of the delay of `voice` is",
            "name: voice",
        ),
        example("802.1BA::gptp", AUDIO, &[("gptp: {}\n", "")], "no gPTP", "nodes:"),
        example(
            "802.1BA::gptp-domain",
            AUDIO,
            &[("gptp: {}", "gptp: {nodes: {screen: {domain: 1}}}")],
            "far.p2 and screen.p1 of a link are in the gPTP domains 0 and 1",
            "[far, screen]",
        ),
        example(
            "802.1BA::link-delay",
            AUDIO,
            &[("500 ns", "900 ns")],
            "the mean delay of the link of near.p2 and far.p1 is up to 900 ns",
            "[near, far]",
        ),
        example(
            "802.1BA::residence-time",
            AUDIO,
            &[processing],
            "residence time of `near` is up to 12 ms",
            "gptp:",
        ),
        example(
            "802.1BA::turnaround-time",
            AUDIO,
            &[("gptp: {}", "gptp: {end-stations: {processing: {min: 1 ms, max: 11 ms}}}")],
            "peer delay request of `camera` is up to 11 ms",
            "gptp:",
        ),
        example(
            "802.1BA::clock-tolerance",
            AUDIO,
            &[("50 ppm", "150 ppm")],
            "the clock of `camera` deviates by up to 150.000 ppm",
            "camera:",
        ),
        example(
            "802.1BA::stamp-step",
            AUDIO,
            &[("gptp: {}", "gptp: {bridges: {stamp-quantum: 80 ns}}")],
            "the stamps of `near` have steps of 80 ns",
            "gptp:",
        ),
        longer(
            "802.1BA::synchronised-links",
            6,
            7,
            "`talker` and `listener` are 8 links apart",
            "listener: {type",
        ),
        example("802.1DG::bridged", BOUNDED, &[(BOUNDED, UNBRIDGED)], "no bridge", "nodes:"),
        example(
            "802.1DG::bounded-latency",
            BOUNDED,
            &[("{type: periodic, interval: 1 ms}", "{type: poisson, mean-interval: 1 ms}")],
            "the delay of `angle` has no bound: stream angle has no arrival curve",
            "name: angle",
        ),
        example("802.1DP::bridged", BOUNDED, &[(BOUNDED, UNBRIDGED)], "no bridge", "nodes:"),
        example(
            "802.1DP::deterministic",
            BOUNDED,
            &[("{type: periodic, interval: 1 ms}", "{type: poisson, mean-interval: 1 ms}")],
            "the delay of `angle` has no bound",
            "name: angle",
        ),
        example(
            "60802::link",
            FACTORY,
            &[("[cell, drive]", "[cell, drive], rate: 25 Gbit/s")],
            "cell.p2 and drive.p1 has 25 Gbit/s",
            "[cell, drive]",
        ),
        example(
            "60802::queues",
            FACTORY,
            &[("traffic-class-table: identity", "traffic-class-table: [0, 1, 1, 1, 1, 1, 7, 7]")],
            "cell.p1 has 3 traffic classes",
            "cell:",
        ),
        example(
            "60802::queues-preemption",
            FACTORY,
            &[("traffic-class-table: identity", "traffic-class-table: [0, 1, 2, 3, 4, 5, 7, 7]")],
            "cell.p1 has 7 traffic classes",
            "cell:",
        ),
        example(
            "60802::fragments",
            FACTORY,
            &[("add-frag-size: 0", "add-frag-size: 1")],
            "plc.p1 sends no fragment below 128 octets",
            "plc:",
        ),
        example(
            "60802::control-list",
            FACTORY,
            &[("supported-list-max: 64", "supported-list-max: 32")],
            "cell.p1 has room for 32 entries at 1 Gbit/s",
            "gate-parameter-table:",
        ),
        example(
            "60802::working-clock",
            FACTORY,
            &[("cell:\n    type: bridge", "cell:\n    type: bridge\n    clock: {tolerance: 100 ppm}")],
            "the gates of cell.p1 follow the clock of `cell`, which nothing synchronises",
            "clock: {tolerance",
        ),
        example(
            "60802::vlans",
            FACTORY,
            &[("vlans: {1: {tagged: all}}", NINE_VLANS), ("streams:\n", NINE_STREAMS)],
            "streams use 9 VLANs",
            "vlans:",
        ),
        example(
            "60802::topology-discovery",
            FACTORY,
            &[("lldp: {}\n", "")],
            "no topology discovery",
            "nodes:",
        ),
        longer(
            "60802::synchronised-links",
            99,
            100,
            "`talker` and `listener` are 101 links apart",
            "listener: {type",
        ),
    ]
}

/// The network of an example that breaks its rule.
fn broken(example: &Example) -> String {
    let mut text = example.keeps.clone();
    for (right, wrong) in &example.edits {
        assert!(text.contains(right), "{}: `{right}`", example.rule);
        text = text.replace(right, wrong);
    }
    text
}

fn checked(rule: &str, text: &str) -> (ProfileCheck, tautwire_workbench::Loaded) {
    let profile = Profile::named(rule.split("::").next().expect("a name")).expect("a profile");
    let mut loaded = load_text("net.yaml", text);
    assert!(!loaded.has_errors(), "{rule}: {:#?}\n{text}", loaded.diagnostics);
    let checked = ProfileCheck::of(profile, &mut loaded).expect("a network");
    (checked, loaded)
}

fn verdict(checked: &ProfileCheck, rule: &str) -> RuleVerdict {
    checked.rows.iter().find(|row| row.rule.id == rule).expect("a rule").verdict
}

#[test]
fn every_rule_has_a_network_that_keeps_it_and_one_that_breaks_it() {
    for example in examples() {
        let (kept, _) = checked(example.rule, &example.keeps);
        assert_eq!(verdict(&kept, example.rule), RuleVerdict::Kept, "{}", example.rule);
        let text = broken(&example);
        let (broken, loaded) = checked(example.rule, &text);
        assert_eq!(verdict(&broken, example.rule), RuleVerdict::Broken, "{}\n{text}", example.rule);
        assert!(loaded.has_errors());
        let row = broken.rows.iter().find(|row| row.rule.id == example.rule).expect("a rule");
        let found = row.breaches.iter().find(|breach| breach.message.contains(example.says));
        let messages: Vec<_> = row.breaches.iter().map(|breach| &breach.message).collect();
        let found = found.unwrap_or_else(|| panic!("{}: {messages:#?}", example.rule));
        let help = found.help.as_deref().expect("a remedy");
        assert!(help.contains(row.rule.says) && help.contains(row.rule.source.text), "{help}");
        let (number, _) = loaded.sources[0].line_and_column(found.labels[0].span.start);
        let line = text.lines().nth(number - 1).expect("a line");
        assert!(line.contains(example.line), "{}: line {number} is `{line}`", example.rule);
        assert!(loaded.diagnostics.contains(found), "a breach is a fault of the description");
    }
}

#[test]
fn no_rule_is_without_an_example() {
    let with: BTreeSet<_> = examples().iter().map(|example| example.rule).collect();
    let all = PROFILES.iter().flat_map(|profile| profile.rules);
    let (loaded, mut ids) = (load_text("net.yaml", BOUNDED), BTreeSet::new());
    for rule in all {
        assert!(ids.insert(rule.id), "two rules are {}", rule.id);
        assert!(!rule.says.is_empty() && !rule.source.text.is_empty(), "{}", rule.id);
        let (checked, _) = checked(rule.id, &loaded.sources[0].text);
        let is_unknown = verdict(&checked, rule.id) == RuleVerdict::Unknown;
        assert_eq!(with.contains(rule.id), !is_unknown, "{}", rule.id);
    }
    assert!(with.is_subset(&ids));
}

#[test]
fn networks_without_the_parts_of_a_rule_have_nothing_to_keep() {
    let (audio, _) = checked("802.1BA", BOUNDED);
    for rule in ["802.1BA::credit-based", "802.1BA::latency-a", "802.1BA::residence-time"] {
        assert_eq!(verdict(&audio, rule), RuleVerdict::NotApplicable, "{rule}");
    }
    let (factory, _) = checked("60802", BOUNDED);
    for rule in ["60802::fragments", "60802::control-list", "60802::working-clock"] {
        assert_eq!(verdict(&factory, rule), RuleVerdict::NotApplicable, "{rule}");
    }
    let mut faulty = load_text("net.yaml", "nodes: 3");
    let before = faulty.diagnostics.len();
    assert!(ProfileCheck::of(PROFILES[0], &mut faulty).is_none(), "a description with errors has no network");
    assert_eq!(faulty.diagnostics.len(), before);
}

/// The networks that the profiles' own mechanisms were made for.
#[test]
fn a_network_that_keeps_all_has_no_fault() {
    for (profile, text) in
        [("802.1BA", AUDIO), ("802.1BA", RESERVED), ("802.1DG", BOUNDED), ("60802", FACTORY)]
    {
        let (checked, loaded) = checked(profile, text);
        let broken: Vec<_> =
            checked.rows.iter().flat_map(|row| &row.breaches).map(|one| &one.message).collect();
        assert!(broken.is_empty() && !loaded.has_errors(), "{profile}: {broken:#?}");
    }
}
