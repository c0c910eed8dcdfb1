//! The description of a topology: what forms without streams become.

use std::fmt::Write as _;

use tautwire_units::{BitRate, Duration};

use crate::{Converted, quoted};

/// A node.
#[derive(Default)]
pub(crate) struct Node {
    pub(crate) name: String,
    /// Whether it bridges, as far as it is known.
    pub(crate) bridges: Option<bool>,
    /// Lines of a description that are below it.
    pub(crate) settings: Vec<String>,
}

/// A cable: the node and the port at both ends.
pub(crate) struct Cable {
    pub(crate) ends: [(usize, String); 2],
    pub(crate) rate: Option<BitRate>,
    pub(crate) propagation: Option<Duration>,
    /// Other keys of a description, each with a comma before it.
    pub(crate) others: String,
}

/// What is written where no rate is known.
const RATE: BitRate = BitRate::from_bps(1_000_000_000);

/// Writes the description behind a first line, and what it says without its files.
pub(crate) fn describe(first: &str, nodes: &[Node], cables: &[Cable], converted: &mut Converted) {
    let mut text = format!("{first}\nnodes:\n");
    for (number, node) in nodes.iter().enumerate() {
        let count = cables.iter().flat_map(|cable| &cable.ends).filter(|end| end.0 == number).count();
        let bridges = node.bridges.unwrap_or(count > 1);
        let (article, kind) = if bridges { ("a", "bridge") } else { ("an", "end-station") };
        if node.bridges.is_none() {
            converted.lacks(format!(
                "{}: whether it bridges is not known; with {count} cable{} it becomes {article} {kind}",
                node.name,
                if count == 1 { "" } else { "s" }
            ));
        }
        if node.settings.is_empty() {
            let _ = writeln!(text, "  {}: {{type: {kind}}}", quoted(&node.name));
            continue;
        }
        let _ = writeln!(text, "  {}:\n    type: {kind}", quoted(&node.name));
        for line in &node.settings {
            let _ = writeln!(text, "    {line}");
        }
    }
    text.push_str(if cables.is_empty() { "links: []\n" } else { "links:\n" });
    for cable in cables {
        let ends = cable.ends.each_ref().map(|(node, port)| quoted(&format!("{}:{port}", nodes[*node].name)));
        let rate = cable.rate.unwrap_or(RATE);
        let delay =
            cable.propagation.map(|delay| format!(", propagation-delay: {delay}")).unwrap_or_default();
        let remark = if cable.rate.is_none() { "  # its rate is not known" } else { "" };
        let others = &cable.others;
        let _ = writeln!(
            text,
            "  - {{between: [{}, {}], rate: {rate}{delay}{others}}}{remark}",
            ends[0], ends[1]
        );
        if cable.rate.is_none() {
            converted.lacks(format!("{} to {}: its rate is not known; {RATE} is written", ends[0], ends[1]));
        }
    }
    converted.text = text;
}
