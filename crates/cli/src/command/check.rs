//! `tautwire check`: every fault of a description.

use serde_json::json;

use super::load;
use crate::args::Check;
use crate::exit::Exit;
use crate::terminal::Terminal;
use crate::{diagnostics, output};

pub(super) fn run(arguments: &Check) -> Result<Exit, Exit> {
    let path = &arguments.input.path;
    let loaded = load(path)?;
    if arguments.input.json {
        let value = json!({
            "file": path.to_string_lossy(),
            "valid": !loaded.has_errors(),
            "diagnostics": diagnostics::json(&loaded),
        });
        output::result(&format!("{value:#}\n"))?;
    } else {
        output::note(&diagnostics::drawn(&loaded, Terminal::of_stderr()));
        let counted = diagnostics::counted(&loaded.diagnostics);
        let size = loaded.network.as_ref().map_or_else(String::new, |network| {
            let (nodes, cables) = (network.nodes.len(), network.links.len().div_ceil(2));
            let sizes = [(nodes, "node"), (cables, "link"), (network.streams.len(), "stream")];
            format!("{}; ", sizes.map(|(count, name)| plural(count, name)).join(", "))
        });
        output::result(&format!("{}: {size}{counted}\n", path.display()))?;
    }
    Ok(if loaded.has_errors() { Exit::WrongInput } else { Exit::Holds })
}

/// `1 link`, `2 links`.
fn plural(count: usize, name: &str) -> String {
    format!("{count} {name}{}", if count == 1 { "" } else { "s" })
}
