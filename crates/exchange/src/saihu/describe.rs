//! The description of a network of Saihu.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use tautwire_units::{BitRate, Duration};

use super::{Found, LEAST, OVERHEAD, Place};
use crate::{Converted, quoted, valid};

/// MAC client data of the largest frame that ports take unless they say otherwise, and what a tagged frame has in addition.
const MTU: u64 = 1_500;
const TAGGED: u64 = 22;

pub(super) fn describe(found: &Found, converted: &mut Converted) -> Result<(), String> {
    let mut names = BTreeSet::new();
    if let Some(twice) = found.stations.iter().chain(&found.bridges).find(|name| !names.insert(*name)) {
        return Err(format!("two nodes have the name `{twice}`"));
    }
    let mut flows = BTreeSet::new();
    if let Some(twice) =
        found.flows.iter().map(|flow| valid(&flow.name)).find(|name| !flows.insert(name.clone()))
    {
        return Err(format!("two flows have the name `{twice}`"));
    }
    let mut ports = BTreeSet::new();
    if let Some((node, port)) =
        found.cables.iter().flat_map(|cable| &cable.ends).find(|end| !ports.insert(*end))
    {
        return Err(format!("two cables are at the port {port} of {node}"));
    }
    let mut streams = String::new();
    let mut largest = 0;
    for flow in &found.flows {
        let name = valid(&flow.name);
        // Without a size, the burst is one packet.
        let bits = flow.packet.unwrap_or_else(|| {
            let one = flow.burst.clamp(8 * LEAST, 8 * (MTU + TAGGED + OVERHEAD));
            converted.lacks(format!("flow {name}: its packets have no size; {one} bits are written"));
            one
        });
        let octets = bits.div_ceil(8);
        if octets < LEAST {
            converted.lacks(format!(
                "flow {name}: packets of {octets} octets; the shortest frame takes {LEAST} of the line"
            ));
        }
        let octets = octets.max(LEAST) - OVERHEAD;
        if octets > 65_535 {
            return Err(format!("flow {name}: packets of {bits} bits; a frame has 65535 octets at most"));
        }
        let least = 8 * (octets + OVERHEAD);
        if flow.burst < least {
            converted.lacks(format!(
                "flow {name}: a burst of {} bits; a packet's {least} are written",
                flow.burst
            ));
        }
        if flow.rate == 0 {
            return Err(format!("flow {name}: its rate is 0"));
        }
        largest = largest.max(octets - TAGGED);
        let listeners: Vec<String> = flow.listeners.iter().map(|name| quoted(name)).collect();
        let route: Vec<String> = flow.route.iter().map(place).collect();
        let _ = writeln!(
            streams,
            "  - {{name: {}, talker: {}, listeners: [{}], frame: {octets} B, traffic: {{type: greedy}}, arrival-curve: {{rate: {}, burst: {} bit}}, route: [{}]}}",
            quoted(&name),
            quoted(&flow.talker),
            listeners.join(", "),
            BitRate::from_bps(flow.rate),
            flow.burst.max(least),
            route.join(", ")
        );
    }
    let text = &mut converted.text;
    text.push_str("# A network of Saihu: servers are ports, their latency is the greatest delay behind them. Packets are all that a frame takes of the line.\n");
    text.push_str("network-control: none\nallow: [port::overload]\nvlans: {1: {tagged: all}}\n");
    if largest > MTU {
        let _ = writeln!(text, "defaults: {{mtu: {largest} B}}");
    }
    text.push_str(if names.is_empty() { "nodes: {}\n" } else { "nodes:\n" });
    for (kind, nodes) in [("end-station", &found.stations), ("bridge", &found.bridges)] {
        for node in nodes {
            let _ = writeln!(text, "  {}: {{type: {kind}}}", quoted(node));
        }
    }
    text.push_str(if found.cables.is_empty() { "links: []\n" } else { "links:\n" });
    for cable in &found.cables {
        let [from, to] = cable.ends.each_ref().map(place);
        if !(10_000_000..=100_000_000_000).contains(&cable.rate) {
            return Err(format!(
                "{from}: a rate of {}: lines have 10 Mbit/s to 100 Gbit/s",
                BitRate::from_bps(cable.rate)
            ));
        }
        let _ = write!(text, "  - {{between: [{from}, {to}], rate: {}", BitRate::from_bps(cable.rate));
        for (way, latency) in ["forward", "backward"].into_iter().zip(cable.latencies) {
            if latency > 86_400_000_000_000_000 {
                return Err(format!("{from}: a latency of more than a day"));
            }
            if latency > 0 {
                let _ =
                    write!(text, ", {way}: {{phy-delay: {{min: 0 s, max: {}}}}}", Duration::from_ps(latency));
            }
        }
        text.push_str("}\n");
    }
    if !streams.is_empty() {
        text.push_str("streams:\n");
    }
    text.push_str(&streams);
    Ok(())
}

fn place((node, port): &Place) -> String {
    quoted(&format!("{node}:{port}"))
}
