//! Sources of INET that are no constants: formulas over time, random laws, and groups of listeners.

use tautwire_exchange::Converted;
use tautwire_model::network::Traffic;
use tautwire_workbench::{Network, Options, simulate};

use crate::common::network;
use crate::inet::{self, INI, NED, read};

/// The star network, with another value of a parameter of `urgent`, whose packets come every 300 us.
fn with(parameter: &str, value: &str) -> Converted {
    let lines = INI.lines().map(|line| match line.strip_prefix("*.urgent.app[0].source.") {
        Some(rest) if rest.starts_with(parameter) => format!("*.urgent.app[0].source.{parameter} = {value}"),
        _ => line.to_owned(),
    });
    let mut text = lines.collect::<Vec<_>>().join("\n");
    if !INI.contains(&format!("*.urgent.app[0].source.{parameter}")) {
        text.push_str(&format!("\n*.urgent.app[0].source.{parameter} = {value}"));
    }
    read(&[("star", NED), ("omnetpp", &text)]).unwrap_or_else(|why| panic!("{value}: {why}"))
}

/// The network of a description and its files.
fn saved(name: &str, found: &Converted) -> Network {
    let loaded = inet::saved(name, found);
    loaded.network.unwrap_or_else(|| panic!("{:#?}\n{}", loaded.diagnostics, found.text))
}

fn traffic<'n>(network: &'n Network, name: &str) -> &'n Traffic {
    &network.streams.iter().find(|stream| stream.name == name).unwrap().traffic
}

/// The line of `urgent` that begins with the place of a parameter.
fn listed(found: &Converted, what: &str) -> bool {
    found
        .left_out
        .iter()
        .any(|line| line.starts_with("omnetpp.ini:") && line.contains("urgent.app[0]") && line.contains(what))
}

#[test]
fn formulas_over_time_are_traces() {
    // Two sines, as in INET's own networks: each interval is that at the time of the packet before it.
    let found = with(
        "productionInterval",
        "replaceUnit(sin(dropUnit(simTime() * 100)) + sin(dropUnit(simTime() * 800)) + 5, \"ms\") / 12.5",
    );
    let network = saved("formula", &found);
    let Traffic::Replay { frames } = traffic(&network, "urgent") else { panic!("{}", found.text) };
    let mut time = 0.0_f64;
    for (at, payload) in frames {
        assert!((at.as_ps() as f64 - time * 1e12).abs() < 1_000.0, "{at} {time}");
        assert_eq!(payload.get(), 1_522 - 50 + 28);
        time += ((100.0 * time).sin() + (800.0 * time).sin() + 5.0) / 12_500.0;
    }
    assert!(frames.len() > 200 && time >= 0.12, "{} until {time}", frames.len());
    assert!(listed(&found, &format!("its {} packets until `sim-time-limit` are computed", frames.len())));
    // A run sends them all, but for what is on its way in the end.
    let run = simulate(&network, &mut Options::default());
    let number = network.streams.iter().position(|stream| stream.name == "urgent").unwrap();
    let arrived = run.streams[number].listeners[0].delay.count();
    assert!(arrived + 2 >= frames.len() as u64, "{arrived}");
    // The same bytes each time.
    let again = with(
        "productionInterval",
        "replaceUnit(sin(dropUnit(simTime() * 100)) + sin(dropUnit(simTime() * 800)) + 5, \"ms\") / 12.5",
    );
    assert_eq!(again, found);
}

#[test]
fn laws_are_those_of_a_description_or_drawn_once() {
    let found = with("productionInterval", "exponential(1ms / 2)");
    let Traffic::Poisson { mean_interval } = traffic(&network(&found.text), "urgent").clone() else {
        panic!()
    };
    assert_eq!(mean_interval.as_ps(), 500_000_000);
    let found = with("packetLength", "intuniform(100B, 200B)");
    let network_ = network(&found.text);
    let stream = network_.streams.iter().find(|stream| stream.name == "urgent").unwrap();
    assert_eq!((stream.payload_min.get(), stream.payload_max.get()), (128, 228));
    // A drawn phase: of a span of an interval as it is, of another one listed.
    for (span, is_listed) in [("uniform(1ms, 1ms + 300us)", false), ("uniform(1ms, 1.1ms)", true)] {
        let found = with("initialProductionOffset", span);
        let network = network(&found.text);
        let Traffic::Periodic { offset, drawn, .. } = traffic(&network, "urgent") else { panic!() };
        assert_eq!((offset.as_ps(), *drawn), (1_000_000_000, true));
        assert_eq!(listed(&found, "the span of the offset"), is_listed, "{:?}", found.left_out);
    }
    // What no traffic of a description is: drawn once, of the run's length.
    for (parameter, law) in [
        ("productionInterval", "truncnormal(200us, 50us)"),
        ("productionInterval", "uniform(100us, 300us)"),
        ("productionInterval", "simTime() < 60ms ? uniform(100us, 300us) : exponential(200us)"),
        ("packetLength", "int(truncnormal(400B, 50B))"),
    ] {
        let found = with(parameter, law);
        let network = saved("law", &found);
        let Traffic::Replay { frames } = traffic(&network, "urgent") else { panic!("{}", found.text) };
        assert!(listed(&found, "are drawn once"), "{:?}", found.left_out);
        let mean = frames.last().unwrap().0.as_ps() as f64 / (frames.len() - 1) as f64;
        let expected = if parameter == "packetLength" { 3e8 } else { 2e8 };
        assert!((mean - expected).abs() < 0.1 * expected, "{law}: {mean}");
        let octets: u64 = frames.iter().map(|(_, payload)| payload.get()).sum::<u64>() / frames.len() as u64;
        let expected = if parameter == "packetLength" { 428 } else { 1_500 };
        assert!(octets.abs_diff(expected) < 20, "{law}: {octets}");
    }
}

#[test]
fn what_is_no_packet_is_left_out_with_its_line() {
    for (parameter, value, why) in [
        ("productionInterval", "sin(dropUnit(simTime())) * 1us - 1us", "below zero"),
        ("productionInterval", "sin(simTime()) * 1us", "`dropUnit` takes it off"),
        ("productionInterval", "lookup(1)", "the function `lookup` is not known"),
        ("productionInterval", "0s", "out of range"),
        ("productionInterval", "0s * sin(1)", "more than 1000000 packets"),
        ("packetLength", "intuniform(2000B, 3000B)", "a trace has 1 to 1472"),
        ("packetLength", "uniform(1, 2)", "its unit is another one"),
        ("packetLength", "100B + 1b", "no whole number of octets"),
        ("initialProductionOffset", "exponential(1ms)", "its offset is no constant"),
        ("initialProductionOffset", "sin(1) * 1ms", "its offset is no constant"),
    ] {
        let found = with(parameter, value);
        assert!(listed(&found, why), "{value}: {:#?}", found.left_out);
        assert!(!found.text.contains("urgent\", talker"), "{value}");
        network(&found.text);
    }
    let endless = INI.replace("sim-time-limit = 120ms", "").replace("interval = 300us", "x");
    let endless = endless.replace("productionInterval = 300us", "productionInterval = uniform(1us, 2ms)");
    let found = read(&[("star", NED), ("omnetpp", &endless)]).unwrap();
    assert!(listed(&found, "without `sim-time-limit` they have no end"), "{:#?}", found.left_out);
}

#[test]
fn groups_have_the_listeners_that_join_them() {
    let joined = |node: &str, port: u64| {
        format!(
            "*.{node}.numApps = 2\n*.{node}.app[1].typename = \"UdpSinkApp\"\n*.{node}.app[1].io.localPort = {port}\n\
            *.{node}.app[1].io.multicastAddresses = [\"224.0.0.42\"]\n"
        )
    };
    let group = "*.urgent.app[0].io.destAddress = \"224.0.0.42\"\n";
    let all = |more: &str| {
        // The first line that matches counts.
        let text = INI.replace("[General]\n", &format!("[General]\n{group}{more}"));
        read(&[("star", NED), ("omnetpp", &text)])
    };
    // Its own frames are none for the talker; who joins at another port gets them, too.
    let found = all(&(joined("bulk", 7_003) + &joined("slow", 7_003) + &joined("urgent", 7_003))).unwrap();
    assert!(
        found.text.contains("name: \"urgent\", talker: \"urgent\", listeners: [\"bulk\", \"slow\"]"),
        "{}",
        found.text
    );
    assert!(
        !found.left_out.iter().any(|line| line.contains(" = ") || line.contains("224")),
        "{:#?}",
        found.left_out
    );
    let network = network(&found.text);
    let run = simulate(&network, &mut Options::default());
    let number = network.streams.iter().position(|stream| stream.name == "urgent").unwrap();
    assert!(run.streams[number].listeners.iter().all(|listener| listener.delay.count() > 390));
    let found = all(&(joined("bulk", 7_003) + &joined("slow", 9))).unwrap();
    let lines: Vec<&String> = found.left_out.iter().filter(|line| line.contains("224")).collect();
    assert!(
        lines.len() == 1 && lines[0].contains("slow has joined 224.0.0.42, but not at the port"),
        "{lines:?}"
    );
    let found = all("").unwrap();
    assert!(listed(&found, "no other node has joined the group 224.0.0.42"), "{:#?}", found.left_out);
    let why = all(&joined("bulk", 1).replace("224.0.0.42", "10.0.0.1")).unwrap_err();
    assert!(why.contains("omnetpp.ini:6: a group has an IPv4 address"), "{why}");
}
