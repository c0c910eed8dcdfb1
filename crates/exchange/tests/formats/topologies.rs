//! DOT and GraphML: all nodes and cables, whatever their names are.

use crate::common::{network, networks, written};

#[test]
fn all_nodes_and_cables_are_there() {
    for (name, network) in networks(2) {
        let (nodes, cables) = (network.nodes.len(), network.links.len() / 2);
        let dot = written("dot", &network).text;
        assert_eq!((dot.matches("shape=").count(), dot.matches(" -- ").count()), (nodes, cables), "{name}");
        let graphml = written("graphml", &network).text;
        let counts = ["<node ", "<edge ", "</edge>"].map(|mark| graphml.matches(mark).count());
        assert_eq!(counts, [nodes, cables, cables], "{name}");
        let rates: u64 = network.links.iter().step_by(2).map(|link| link.rate.as_bps()).sum();
        let written_rates = graphml.split("<data key=\"rate\">").skip(1);
        let read = written_rates.map(|rest| rest.split('<').next().unwrap().parse::<u64>().unwrap());
        assert_eq!(read.sum::<u64>(), rates, "{name}");
    }
}

#[test]
fn a_topology_says_what_it_leaves_out() {
    let network = network(
        "name: 'a \"&<b>\"'
nodes: {a: {type: end-station}, b: {type: end-station}, s: {type: bridge}}
links: [{between: [a, s], rate: 1 Gbit/s}, {between: [s, b], rate: 100 Mbit/s}]
streams: [{name: x, talker: a, listeners: b, payload: 100 B, traffic: {type: periodic, interval: 1 ms}}]
gptp: {}",
    );
    for form in ["dot", "graphml"] {
        let found = written(form, &network);
        for line in ["1 stream", "VLAN 1: its members", "port s.p1: its queues and classes", "`gptp`"] {
            assert!(found.left_out.iter().any(|lacks| lacks == line), "{line}: {:?}", found.left_out);
        }
    }
    assert_eq!(
        written("dot", &network).text,
        "graph \"a \\\"&<b>\\\"\" {
  node [fontname=\"sans-serif\"];
  \"a\" [shape=ellipse];
  \"b\" [shape=ellipse];
  \"s\" [shape=box];
  \"a\" -- \"s\" [label=\"1 Gbit/s\", taillabel=\"p1\", headlabel=\"p1\"];
  \"s\" -- \"b\" [label=\"100 Mbit/s\", taillabel=\"p2\", headlabel=\"p1\"];
}
"
    );
    assert!(written("graphml", &network).text.contains("<graph id=\"a &quot;&amp;&lt;b&gt;&quot;\""));
}
