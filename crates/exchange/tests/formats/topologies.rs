//! DOT and GraphML: all nodes and cables, whatever their names are; and graphs of other programs.

use tautwire_exchange::{Converted, Input};
use tautwire_generate::Dice;

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

fn read(text: &str) -> Result<Converted, String> {
    let input = Input { name: "net".to_owned(), text: text.to_owned() };
    tautwire_exchange::import("graphml").unwrap().read(&[input], None).map_err(|faults| faults.join("\n"))
}

#[test]
fn every_topology_comes_back_from_graphml() {
    // The name of the graph is that of the network.
    let body =
        |text: &str| text.lines().filter(|line| !line.contains("<graph id")).collect::<Vec<_>>().join("\n");
    for (name, own) in networks(3) {
        let text = written("graphml", &own).text;
        let found = read(&text).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert_eq!(found.left_out, [] as [&str; 0], "{name}");
        assert_eq!(body(&written("graphml", &network(&found.text)).text), body(&text), "{name}");
    }
}

#[test]
fn graphs_of_other_programs_are_read() {
    // As networkx writes it, with attributes of a user's own; both directions are edges.
    let networkx = r#"<?xml version='1.0' encoding='utf-8'?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d3" for="edge" attr.name="weight" attr.type="long" />
  <key id="d2" for="edge" attr.name="length" attr.type="string" />
  <key id="d1" for="edge" attr.name="rate" attr.type="string" />
  <key id="d0" for="node" attr.name="type" attr.type="string" />
  <graph edgedefault="directed">
    <node id="a b"><data key="d0">Host</data></node>
    <node id="s"><data key="d0">switch</data></node>
    <node id="c"><data key="d0">thing</data></node>
    <edge source="a b" target="s"><data key="d1">100 Mbit/s</data><data key="d2">10 m</data><data key="d3">3</data></edge>
    <edge source="s" target="a b"><data key="d1">100 Mbit/s</data></edge>
    <edge source="s" target="c"><data key="d1">100</data></edge>
  </graph>
</graphml>"#;
    let found = read(networkx).unwrap();
    assert_eq!(
        found.text,
        "# Nodes and cables of a graph. Device models and streams are to be added.
nodes:
  \"a-b\": {type: end-station}
  \"s\": {type: bridge}
  \"c\": {type: end-station}
links:
  - {between: [\"a-b:p1\", \"s:p1\"], rate: 100 Mbit/s, length: 10 m}
  - {between: [\"s:p2\", \"c:p1\"], rate: 1 Gbit/s}  # its rate is not known
"
    );
    assert_eq!(
        found.left_out,
        [
            "net: edge 3 (s to c): `rate`, which is `100`: it has no unit such as Mbit/s",
            "the edge from s to c has none back; a cable has both directions",
            "net: 1 times `rate` of edges",
            "net: 1 times `type` of nodes",
            "net: 1 times `weight` of edges",
            "c: whether it bridges is not known; with 1 cable it becomes an end-station",
            "\"s:p2\" to \"c:p1\": its rate is not known; 1 Gbit/s is written",
        ]
    );
    assert_eq!(network(&found.text).links.len(), 4);
    // The Topology Zoo: identifiers are numbers, two cities may have one name, and two cables one pair of ends.
    let zoo = r#"<graphml><key attr.name="label" attr.type="string" for="node" id="d1"/>
<key attr.name="Latitude" attr.type="double" for="node" id="d2"/><key attr.name="LinkSpeedRaw" attr.type="double" for="edge" id="d3"/>
<graph edgedefault="undirected"><data key="x">1</data>
<node id="0"><data key="d1">Wien &amp; Graz</data><data key="d2">48.2</data></node><node id="1"><data key="d1">Linz</data></node>
<edge source="0" target="1"><data key="d3">155000000.0</data></edge><edge source="0" target="1"><data key="d3">10000000000</data></edge>
</graph></graphml>"#;
    let found = read(zoo).unwrap();
    assert!(found.text.contains("\"Wien---Graz\": {type: bridge}"), "{}", found.text);
    assert!(
        found.text.contains("between: [\"Wien---Graz:p2\", \"Linz:p2\"], rate: 10 Gbit/s"),
        "{}",
        found.text
    );
    let again = read(&zoo.replace("Linz", "Wien &amp; Graz")).unwrap();
    assert!(again.text.contains("  \"0\": {type: bridge}"), "{}", again.text);
    // yEd draws labels.
    let yed = r#"<graphml xmlns:y="http://www.yworks.com/xml/graphml"><key for="node" id="d6" yfiles.type="nodegraphics"/><graph edgedefault="directed">
<node id="n0"><data key="d6"><y:ShapeNode><y:Fill color="x"/><y:NodeLabel>left<y:LabelModel/></y:NodeLabel></y:ShapeNode></data></node>
<node id="n1"><data key="d6"><y:ShapeNode><y:NodeLabel>right</y:NodeLabel></y:ShapeNode></data></node>
<edge source="n0" target="n1" sourceport="out" targetport="in"/></graph></graphml>"#;
    let found = read(yed).unwrap();
    assert!(found.text.contains("between: [\"left:out\", \"right:in\"]"), "{}", found.text);
}

#[test]
fn all_faults_of_a_graph_are_found() {
    let text = r#"<graphml><key id="rate_bps"/><graph edgedefault="undirected">
<node id="a"/><node id="a"/><node id="b"/><node/>
<edge source="a" target="x"/><edge target="b"/><edge source="a" target="b"><data key="rate_bps">fast</data><data key="up">1</data></edge>
<edge source="a" target="b" sourceport="p1"/></graph></graphml>"#;
    assert_eq!(
        read(text).unwrap_err(),
        "net: two nodes `a`
net: node 4: it has no `id`
net: edge 1: there is no node `x`
net: edge 2: it has no `source`
net: edge 3 (a to b): `rate_bps` is `fast`: it must be bits per second
net: edge 3 (a to b): `up` is `1`: it must be true or false
net: edge 4 (a to b): the port `p1` of a has another edge"
    );
    assert_eq!(read("<x/>").unwrap_err(), "net: its root is `graphml` with a `graph` in it");
    assert!(read("").unwrap_err().starts_with("net: XML"));
}

/// Any text gives a description or an error.
#[test]
fn any_graph_is_read_or_refused() {
    let whole = written(
        "graphml",
        &network(
            "nodes: {a: {type: end-station}, s: {type: bridge}, b: {type: end-station}}
links: [{between: [a, s], rate: 1 Gbit/s}, {between: [s, b], rate: 100 Mbit/s}]",
        ),
    );
    let mut count = 0;
    for seed in 0..600 {
        let mut dice = Dice::new(seed);
        let mut text: Vec<char> = whole.text.chars().collect();
        for _ in 0..dice.between(1, 4) {
            let at = dice.between(0, text.len() as u64 - 1) as usize;
            let marks: Vec<char> = "<>/\"=&;ab1 ".chars().collect();
            text[at] = marks[dice.between(0, marks.len() as u64 - 1) as usize];
        }
        let text: String = text.into_iter().collect();
        if let Ok(found) = read(&text) {
            let _ = tautwire_workbench::load_text("net.yaml", &found.text);
            count += 1;
        }
    }
    assert!(count > 50, "{count}");
}
