//! Forwarding: defaults of VLANs and learning, cut-through, full queues.

use tautwire_workbench::network_control;

use super::{answer, codes, network, text};

/// The greatest bound and the greatest delay of a stream at its first listener, in picoseconds.
fn greatest(text: &str, stream: usize) -> (u64, u64) {
    let (_, bounds, seen, found) = answer(text);
    assert!(found.contradictions.is_empty(), "{:#?}\n{text}", found.contradictions);
    let bound = bounds.streams[stream].listeners[0].delay.as_ref().expect("a bound").as_ps();
    let delay = seen.streams[stream].listeners[0].delay.max().expect("frames came").as_ps();
    (bound, delay)
}

/// Two stations and a bridge, or two, with further keys.
fn line(bridges: usize, more: &str, streams: &str) -> String {
    let mut text =
        format!("name: line\n{more}defaults: {{rate: 100 Mbit/s, traffic-class-table: identity}}\nnodes:\n");
    text.push_str("  a: {type: end-station}\n  b: {type: end-station}\n");
    let mut links = String::from("links:\n");
    let mut last = "a".to_owned();
    for bridge in 1..=bridges {
        text.push_str(&format!("  s{bridge}: {{type: bridge}}\n"));
        links.push_str(&format!("  - {{between: ['{last}', 's{bridge}:in']}}\n"));
        last = format!("s{bridge}:out");
    }
    links.push_str(&format!("  - {{between: ['{last}', b]}}\n"));
    format!("{text}{links}streams:\n{streams}run: {{duration: 20 ms}}\n")
}

const STREAM: &str = "  - {name: x, talker: a, listeners: b, priority: 5, payload: 100 B, traffic: {type: periodic, interval: 1 ms}}\n";

#[test]
fn only_frames_that_somebody_sends_are_counted() {
    let alone = line(0, "", STREAM);
    let (bound, delay) = greatest(&alone, 0);
    assert_eq!(bound, delay, "alone on a cable");
    let none = "network control: none; `network-control` adds frames of protocols";
    assert_eq!(network_control::line(&network(&alone)), none);
    let stated = line(0, "network-control: {}\n", STREAM);
    assert_eq!(greatest(&stated, 0).0 - bound, 98_338_339, "9 824 bit, and what comes meanwhile");
    assert!(network_control::line(&network(&stated)).contains("9824 bit at 100 kbit/s"));
}

#[test]
fn protocols_of_the_description_count_as_they_send() {
    let gptp = line(1, "gptp: {}\n", STREAM);
    let (bound, delay) = greatest(&gptp, 0);
    let (without, _) = greatest(&line(1, "", STREAM), 0);
    assert!(bound > without && bound >= delay, "{bound} {without} {delay}");
    assert!(network_control::line(&network(&gptp)).starts_with("network control: gptp;"));
    assert_eq!(greatest(&line(1, "gptp: {}\nnetwork-control: none\n", STREAM), 0).0, bound);
}

/// Octets of the frames of a stream on its links, destination to FCS.
fn lengths(text: &str) -> Vec<u64> {
    let network = network(text);
    let stream = &network.streams[0];
    stream
        .hops
        .iter()
        .map(|hop| {
            stream.payload_max.get().max(if hop.tagged.vlan { 42 } else { 46 })
                + if hop.tagged.vlan { 22 } else { 18 }
        })
        .collect()
}

#[test]
fn a_default_bridge_sends_untagged_frames() {
    let description = text("untagged-default.yaml");
    assert!(network(&description).streams[0].hops.iter().all(|hop| !hop.tagged.vlan));
    let (bound, delay) = greatest(&description, 0);
    // Two links, each 64 octets and a preamble of 8.
    assert_eq!((bound, delay), (2 * 72 * 80_000, 2 * 72 * 80_000));
    // A tag ends at the first bridge, too.
    let tagged = line(1, "", STREAM);
    assert_eq!(lengths(&tagged), [122, 118]);
    assert_eq!(greatest(&tagged, 0).1, (122 + 8 + 118 + 8) * 80_000);
    assert_eq!(lengths(&line(1, "vlans: {1: {tagged: all}}\n", STREAM)), [122, 122]);
    assert_eq!(lengths(&line(1, "vlans: {1: {tagged: trunks}}\n", STREAM)), [122, 118]);
    assert_eq!(lengths(&line(1, "vlans: {1: {tagged: s1}}\n", STREAM)), [122, 122]);
    assert_eq!(lengths(&line(1, "vlans: {1: {}}\n", STREAM)), [122, 118]);
}

#[test]
fn other_vlans_are_tagged_unless_they_are_a_ports_own() {
    let ten = STREAM.replace("priority: 5", "vlan: 10, priority: 5");
    assert_eq!(lengths(&line(2, "", &ten)), [122, 122, 122]);
    assert_eq!(lengths(&line(2, "vlans: {10: {}}\n", &ten)), [122, 122, 122]);
    let own = line(2, "", &ten).replace("defaults: {", "defaults: {pvid: 10, ");
    assert_eq!(lengths(&own), [122, 118, 118]);
    // Stream reservation needs tags.
    let reserved = STREAM.replace("priority: 5", "priority: 3, reservation: {}");
    let described = line(1, "stream-reservation: {}\n", &reserved).replace("identity", "stream-reservation");
    assert_eq!(lengths(&described), [122, 122]);
    // VLAN 1 alone is no list of all VLANs.
    assert_eq!(lengths(&line(2, "vlans: {1: {tagged: all}}\n", &ten)), [122, 122, 122]);
    // If a VLAN lists one kind of ports, the others are of the other kind.
    assert_eq!(lengths(&line(2, "vlans: {10: {untagged: 's2:out'}}\n", &ten)), [122, 122, 118]);
    assert_eq!(lengths(&line(2, "vlans: {1: {tagged: 's1:out'}}\n", STREAM)), [122, 122, 118]);
}

#[test]
fn a_priority_that_is_lost_with_its_tag_is_diagnosed() {
    let lost = line(2, "", STREAM);
    assert_eq!(codes(&lost), ["vlan::priority-lost"]);
    let hops: Vec<u8> = network(&lost).streams[0].hops.iter().map(|hop| hop.class.number()).collect();
    assert_eq!(hops, [5, 5, 0], "that of the port's default priority");
    for kept in
        ["vlans: {1: {tagged: trunks}}\n", "vlans: {1: {tagged: all}}\n", "vlans: {1: {tagged: 's1:out'}}\n"]
    {
        let text = line(2, kept, STREAM);
        assert!(codes(&text).is_empty(), "{kept}");
        assert!(network(&text).streams[0].hops.iter().all(|hop| hop.class.number() == 5));
    }
    assert!(codes(&lost.replace("defaults: {", "defaults: {default-priority: 5, ")).is_empty());
    assert!(codes(&line(1, "", STREAM)).is_empty(), "the last link needs no priority");
    assert!(codes(&line(2, "", &STREAM.replace("priority: 5", "tagged: false, priority: 5"))).is_empty());
}

/// A stream with a learned route, and a third station that gets what is flooded.
fn learned(bridge: &str, more: &str) -> String {
    format!(
        "name: learned
defaults: {{rate: 100 Mbit/s}}
nodes: {{a: {{type: end-station}}, b: {{type: end-station}}, c: {{type: end-station}}, s: {{type: bridge{bridge}}}}}
links: [{{between: [a, s]}}, {{between: [b, s]}}, {{between: [c, s]}}]
streams:
  - {{name: x, talker: a, listeners: b, route: learned, payload: 100 B, traffic: {{type: periodic, interval: 1 ms, offset: 500 us}}}}
{more}run: {{duration: 20 ms}}
"
    )
}

#[test]
fn bridges_learn_unless_learning_is_off() {
    let answer_of =
        "  - {name: y, talker: b, listeners: a, payload: 100 B, traffic: {type: periodic, interval: 1 ms}}\n";
    let flooded = |text: &str| answer(text).2.streams[0].consumed;
    let taught = learned("", answer_of);
    assert!(codes(&taught).is_empty());
    assert_eq!(flooded(&taught), 0, "the bridge has heard of b");
    let off = learned(", learning: off", answer_of);
    assert_eq!(codes(&off), ["vlan::flooding"]);
    assert_eq!(flooded(&off), 20);
    let silent = learned("", "");
    assert_eq!(codes(&silent), ["vlan::flooding"]);
    assert_eq!(flooded(&silent), 20);
    // Of another VLAN nothing is learned.
    assert_eq!(
        codes(&learned("", &answer_of.replace("listeners", "vlan: 7, listeners"))),
        ["vlan::flooding"]
    );
    // A group address is never learned.
    assert_eq!(codes(&taught.replace("listeners: b", "listeners: [b, c]")), ["vlan::flooding"]);
    // A static route is no flood, whoever is silent.
    assert!(codes(&silent.replace("route: learned, ", "")).is_empty());
}

#[test]
fn a_lone_frame_that_is_cut_through_has_the_bound_of_its_delay() {
    let lone = text("cut-through-lone.yaml");
    let (bound, delay) = greatest(&lone, 0);
    assert_eq!((bound, delay), (10_534_000, 10_534_000));
    for header in ["64 B", "500 B", "1246 B", "2000 B"] {
        let text = lone.replace("cut-through-header: 14 B", &format!("cut-through-header: {header}"));
        let (bound, delay) = greatest(&text, 0);
        assert_eq!(bound, delay, "{header}");
    }
    let drifting = lone.replace("defaults: {", "defaults: {clock: {tolerance: 100 ppm}, ");
    let (bound, delay) = greatest(&drifting, 0);
    assert!(bound < delay + 20_000, "{bound} {delay}");
    let slow = lone.replace("{between: [s2, b], ", "{between: [s2, b], rate: 100 Mbit/s, ");
    let (bound, delay) = greatest(&slow, 0);
    assert_eq!(bound, delay, "the last bridge waits for the whole frame");
}

/// What cuts through is never bounded worse than what is stored, whatever is in its way.
#[test]
fn cutting_through_costs_nothing() {
    let others = "  - {name: y, talker: c, listeners: b, tagged: false, payload: 46 B, traffic: {type: periodic, interval: 300 us, burst: 3}}
  - {name: z, talker: c, listeners: b, priority: 6, payload: 700 B, traffic: {type: periodic, interval: 500 us}}
";
    let lone = text("cut-through-lone.yaml")
        .replace("nodes:\n", "nodes:\n  c: {type: end-station}\n")
        .replace("links:\n", "links:\n  - {between: [c, s1], length: 3 m}\n")
        .replace("network-control", &format!("{others}network-control"));
    let variants = [
        lone.clone(),
        lone.replace("payload: 1228 B", "payload: {min: 46 B, max: 1500 B}"),
        lone.replace("defaults: {", "defaults: {clock: {tolerance: 100 ppm}, "),
        lone.replace("14 B}", "64 B, stages: [{name: f, position: processing, latency: {min: 300 ns, max: 500 ns}, occupancy: 100 ns}]}"),
        lone.replace("14 B}", "64 B, classes: {1: {transmission-selection: credit-based, idle-slope: 400 Mbit/s}}}"),
        lone.replace("14 B}", "14 B, cut-through-frames: strict-priority-to-one-port}"),
        lone.replace("length: 10 m}", "length: 10 m, phy-delay: {min: 200 ns, max: 500 ns}}"),
    ];
    for text in variants {
        for stream in 0..3 {
            let cut = greatest(&text, stream).0;
            let stored =
                greatest(&text.replace("switching: cut-through", "switching: store-and-forward"), stream).0;
            assert!(cut <= stored, "{cut} above {stored}, stream {stream}\n{text}");
        }
    }
}

/// A burst of nine frames into a queue of three.
fn crowded(discard: &str, class: &str) -> String {
    format!(
        "name: crowded
defaults: {{rate: 100 Mbit/s, traffic-class-table: identity, queue-limit: {{frames: 3{discard}}}, classes: {{5: {{{class}}}}}}}
nodes: {{a: {{type: end-station, queue-limit: {{frames: 100}}, classes: {{5: {{transmission-selection: credit-based, idle-slope: 900 Mbit/s}}}}}}, b: {{type: end-station}}, s: {{type: bridge}}}}
links: [{{between: [a, s], rate: 1 Gbit/s}}, {{between: [s, b]}}]
allow: [\"port::overload\", \"class::overload\"]
streams:
  - {{name: x, talker: a, listeners: b, priority: 5, payload: 200 B, traffic: {{type: periodic, interval: 10 ms, burst: 9}}, shaper: {{committed-information-rate: 50 Mbit/s, committed-burst-size: 5000 B}}}}
run: {{duration: 9 ms}}
"
    )
}

#[test]
fn a_full_queue_loses_its_newest_or_its_oldest() {
    for class in
        ["", "transmission-selection: ats", "transmission-selection: credit-based, idle-slope: 40 Mbit/s"]
    {
        let came = |discard: &str| {
            let (_, _, seen, found) = answer(&crowded(discard, class));
            assert!(found.contradictions.is_empty(), "{:#?}", found.contradictions);
            let stream = &seen.streams[0];
            assert_eq!(stream.delivered + stream.dropped.iter().map(|(_, count)| count).sum::<u64>(), 9);
            let worst = stream.listeners[0].worst.expect("frames came");
            (stream.delivered, worst.number, stream.listeners[0].delay.max().expect("frames came"))
        };
        let (newest, oldest) = (came(""), came(", discard: oldest"));
        assert_eq!(came(", discard: newest"), newest);
        assert_eq!(newest.0, oldest.0, "as many are lost, {class}");
        assert_eq!(oldest.1, 8, "the last one comes, {class}");
        assert!(newest.1 < 8, "the last one is lost, {class}");
    }
}

#[test]
fn a_frame_that_is_padded_when_its_tag_goes_is_within_its_bound() {
    for (frame, octets) in [("68 B", 42), ("88 B", 40), ("90 B", 45), ("1500 B", 10)] {
        greatest(
            &format!(
                "name: padded
devices: {{dv: {{switching: cut-through}}}}
defaults: {{rate: 1 Gbit/s, device: dv}}
nodes: {{e1: {{type: end-station}}, e2: {{type: end-station}}, b0: {{type: bridge}}}}
links: [{{between: [e1, b0]}}, {{between: [e2, b0]}}]
streams: [{{name: s0, talker: e2, listeners: e1, frame: {frame}, traffic: {{type: file, octets: {octets} B}}}}]
"
            ),
            0,
        );
    }
}

#[test]
fn frames_keep_their_order_behind_a_phy_whose_delay_varies() {
    for delay in ["1 us", "3 us", "20 us"] {
        let text = format!(
            "name: phy
defaults: {{rate: 1 Gbit/s}}
devices: {{sw: {{switching: cut-through}}}}
nodes: {{N: {{type: end-station}}, B: {{type: bridge, device: sw}}, L: {{type: end-station}}}}
links: [{{between: [N, B], phy-delay: {{min: 0 s, max: {delay}}}}}, {{between: [B, L]}}]
streams: [{{name: s, talker: N, listeners: L, payload: {{min: 46 B, max: 1500 B}}, traffic: {{type: periodic, interval: 1 ms, burst: 3}}}}]
run: {{duration: 1 s}}
"
        );
        greatest(&text, 0);
    }
}

/// Stages up to the queues see a frame as it came: where the bridge adds the tag, four octets shorter than it leaves.
#[test]
fn a_stage_sees_the_tag_that_was_there_when_the_frame_came() {
    for name in ["tag-added-tdma.yaml", "tag-added-harts.yaml"] {
        let added = text(name);
        let stripped = added.replace("tagged: all", "untagged: all").replace("tagged: false", "tagged: true");
        let host = "defaults: {host: h, rate";
        let received = format!("{stripped}hosts: {{h: {{receive: {{per-octet: 8 ns}}}}}}\n");
        for text in [received.replace("defaults: {rate", host), added, stripped] {
            let (_, bounds, seen, found) = answer(&text);
            assert!(found.contradictions.is_empty(), "{:#?}\n{text}", found.contradictions);
            assert!(bounds.streams[0].listeners[0].delay.is_ok() || name.contains("harts"), "{text}");
            assert!(seen.streams[0].listeners[0].delay.count() > 0, "{text}");
        }
    }
}

/// Streams whose route was not found were reported to go to a group address, or never to be learned.
#[test]
fn flooding_is_not_diagnosed_of_streams_without_a_route() {
    let diagnosed = codes(&text("loop-of-bridges.yaml"));
    assert!(!diagnosed.contains(&"vlan::flooding"), "{diagnosed:?}");
    assert!(!diagnosed.is_empty());
}
