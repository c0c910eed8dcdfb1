//! A second implementation of total-flow analysis with line shaping, written for this test alone: one
//! FIFO class, trees, devices without delay, perfect clocks. In floating point and by search over all
//! corners of the arrival curves, so that it shares neither arithmetic nor algorithm with the crate.
//!
//! Source: Mifdaoui and Leydier, TFA++, 2017, with `L_max + C·t` per link; the last frame at line rate.

use std::collections::HashMap;

use tautwire_analysis::{Accuracy, StreamBounds, bounds, bounds_by};
use tautwire_generate::Dice;
use tautwire_model::Network;
use tautwire_model::network::NodeKind;

/// A tree of bridges with stations, streams of one class and one frame size each; as virtual links of
/// ARINC 664 at 100 Mbit/s, whose BAG and largest frame are their arrival curve, or as they are.
fn tree(seed: u64, virtual_links: bool) -> Network {
    let mut dice = Dice::new(seed);
    let bridges = dice.between(2, 6);
    let stations = dice.between(4, 10);
    let rate = if virtual_links { "100 Mbit/s" } else { "1 Gbit/s" };
    let mut text = format!(
        "name: tree\nnetwork-control: none\nvlans:\n  1:\n    tagged: all\ndefaults: {{rate: {rate}, device: ideal}}\nnodes:\n"
    );
    for bridge in 0..bridges {
        text += &format!("  b{bridge}: {{type: bridge}}\n");
    }
    for station in 0..stations {
        text += &format!("  e{station}: {{type: end-station}}\n");
    }
    text += "links:\n";
    for bridge in 1..bridges {
        text += &format!("  - {{between: [b{}, b{bridge}]}}\n", dice.between(0, bridge - 1));
    }
    for station in 0..stations {
        text += &format!("  - {{between: [e{station}, b{}]}}\n", dice.between(0, bridges - 1));
    }
    text += "streams:\n";
    let count = dice.between(2, 15);
    for stream in 0..count {
        let talker = dice.between(0, stations - 1);
        let listener = (talker + dice.between(1, stations - 1)) % stations;
        let payload = dice.between(46, 1_500);
        text += &format!(
            "  - {{name: f{stream}, talker: e{talker}, listeners: e{listener}, payload: {payload} B, "
        );
        text += &if virtual_links {
            let bag = 1 << dice.between(2, 7);
            // Jitter that no network of this size makes up.
            format!(
                "traffic: {{type: periodic, interval: {bag} ms}}, \
                 virtual-link: {{id: {stream}, bag: {bag} ms, policing-jitter: 3 ms}}}}\n"
            )
        } else {
            let (interval, burst) = (dice.between(300, 4_000), dice.between(1, 3));
            format!("traffic: {{type: periodic, interval: {interval} us, burst: {burst}}}}}\n")
        };
    }
    text += "run: {duration: 1 ms}\n";
    let loaded = tautwire_model::load_text("tree", &text);
    assert!(!loaded.has_errors(), "{:#?}\n{text}", loaded.diagnostics);
    loaded.network.expect("a whole network")
}

#[derive(Clone, Copy)]
struct Flow {
    rate: f64,
    burst: f64,
    frame: f64,
    /// Delay so far, least and greatest.
    least: f64,
    most: f64,
}

/// Wait in a FIFO port in seconds: the greatest over all corners of the sum of the links' curves.
fn wait(by_link: &HashMap<usize, Vec<Flow>>, at_talker: bool, line: f64, own: f64) -> f64 {
    let curve = |link: &Vec<Flow>, time: f64| {
        let promised: f64 = link.iter().map(|flow| grown(flow) + flow.rate * time).sum();
        let largest = link.iter().map(|flow| flow.frame).fold(0.0, f64::max);
        if at_talker { promised } else { promised.min(largest + line * time) }
    };
    let corners = by_link.values().map(|link| {
        let burst: f64 = link.iter().map(grown).sum();
        let rate: f64 = link.iter().map(|flow| flow.rate).sum();
        let largest = link.iter().map(|flow| flow.frame).fold(0.0, f64::max);
        ((burst - largest) / (line - rate)).max(0.0)
    });
    corners
        .chain([0.0])
        .map(|time| by_link.values().map(|link| curve(link, time)).sum::<f64>() - own - line * time)
        .fold(0.0, f64::max)
        / line
}

fn grown(flow: &Flow) -> f64 {
    flow.burst + flow.rate * (flow.most - flow.least)
}

/// Greatest delays of all streams, seconds.
fn reference(network: &Network) -> Vec<f64> {
    let line = network.links[0].rate.as_bps() as f64;
    let mut flows: Vec<Flow> = network
        .streams
        .iter()
        .map(|stream| {
            let curve = stream.arrival.expect("periodic traffic promises");
            let frame = tautwire_model::network::wire_bits(stream.payload_max, stream.tagged).get() as f64;
            assert!(stream.hops.iter().all(|hop| hop.tagged.vlan == stream.tagged));
            Flow {
                rate: curve.rate.as_bps() as f64,
                burst: curve.burst.get() as f64,
                frame,
                least: 0.0,
                most: 0.0,
            }
        })
        .collect();
    let mut next = vec![0_usize; flows.len()];
    loop {
        // A port all of whose streams have come to it.
        let waiting = |port| {
            network.streams.iter().zip(&next).all(|(stream, next)| {
                stream.hops.iter().position(|hop| hop.port == port).is_none_or(|place| place <= *next)
            })
        };
        let open = network.streams.iter().zip(&next).filter_map(|(stream, next)| stream.hops.get(*next));
        let Some(port) = open.map(|hop| hop.port).find(|port| waiting(*port)) else { break };
        let here: Vec<usize> = (0..flows.len())
            .filter(|stream| {
                network.streams[*stream].hops.get(next[*stream]).is_some_and(|hop| hop.port == port)
            })
            .collect();
        let node = &network.nodes[network.ports[port.index()].node.index()];
        let at_talker = matches!(node.kind, NodeKind::EndStation { .. });
        let mut by_link: HashMap<usize, Vec<Flow>> = HashMap::new();
        for stream in &here {
            let before =
                next[*stream].checked_sub(1).map(|hop| network.streams[*stream].hops[hop].port.index());
            by_link.entry(before.unwrap_or(usize::MAX)).or_default().push(flows[*stream]);
        }
        let waits: Vec<f64> =
            here.iter().map(|stream| wait(&by_link, at_talker, line, flows[*stream].frame)).collect();
        for (stream, wait) in here.iter().zip(waits) {
            let flow = &mut flows[*stream];
            let sent = (flow.frame - 96.0) / line;
            flow.least += sent;
            flow.most += wait + sent;
            next[*stream] += 1;
        }
    }
    assert!(network.streams.iter().zip(&next).all(|(stream, next)| stream.hops.len() == *next), "a tree");
    flows.iter().map(|flow| flow.most).collect()
}

fn hold(virtual_links: bool) {
    for seed in 0..300 {
        let network = tree(seed, virtual_links);
        let by_frames = bounds(&network);
        let bounds = bounds_by(&network, Accuracy::Curves);
        for ((stream, bounds), expected) in
            network.streams.iter().zip(&bounds.streams).zip(reference(&network))
        {
            let got = bounds.listeners[0].delay.as_ref().expect("a bound").as_ps() as f64 * 1e-12;
            let error = (got - expected) / expected;
            assert!((-1e-9..1e-6).contains(&error), "seed {seed} {}: {got} and {expected}", stream.name);
        }
        for (curves, frames) in bounds.streams.iter().zip(&by_frames.streams) {
            let most = |bounds: &StreamBounds| bounds.listeners[0].delay.clone().expect("a bound");
            assert!(most(frames) <= most(curves), "seed {seed}: never looser");
        }
    }
}

#[test]
fn equal_to_an_independent_total_flow_analysis() {
    hold(false);
}

/// Virtual links that send a frame every BAG are bounded as in network calculus with grouping for AFDX: arrival curves
/// of (BAG, Lmax), FIFO ports, line shaping.
#[test]
fn virtual_links_equal_an_independent_total_flow_analysis() {
    hold(true);
}
