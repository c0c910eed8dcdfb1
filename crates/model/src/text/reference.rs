//! The grammar as a page for people: `docs/guide/description.md`.

use std::fmt::Write as _;

use super::shape::{Key, Kind, Shape};

const OPENING: &str = "# Reference of the description

This page is made from the grammar that `tautwire check` holds descriptions against, and a test keeps it so. `docs/schema/tautwire.schema.json` says the same to an editor: with the YAML extension of VS Code, write `# yaml-language-server: $schema=PATH` in the first line. `first-network.md` is the way in.

**Units** stand in the text: `125 us`, `100 Mbit/s`, `1500 B`, `100 ppm`, `5 m`. A bare number is a fault.

| quantity | units |
|---|---|
| duration | ps, ns, us (µs), ms, s, min, h; at most 24 h |
| bit rate | bit/s, kbit/s, Mbit/s, Gbit/s (also bps, kbps, Mbps, Gbps), powers of 1000 |
| size in octets | B, kB, MB, GB; KiB, MiB, GiB |
| size in bits | bit, kbit, Mbit; B, kB, MB; KiB, MiB |
| deviation | ppm, ppb; an integral number of ppb, below 100000 ppm |
| length | cm, m, km; 5 ns a metre |

**Sizes.** There is no key `size`. `payload` is MAC client data, before padding; `frame` counts from destination address to FCS, tag included: payload and 18 octets, 22 with a tag, at least 64. The wire adds 20 octets a frame (preamble, start delimiter, least gap).

**Defaults.** What a port does not say its node says, then the device model of its node, then `defaults`, then this page. Of `classes` and `queue-limit`, every key is looked for on its own.

**References.** `node` or `node:port` for ports; links by their `name`, or by `node:port` at one of their ends.

**Faults.** All are reported at once, each with its line and a remedy. A fault that is meant, such as an overloaded link in an experiment, becomes a warning by `allow: [port::overload]`.

";

/// The page of a root and of codes with what they mean.
pub(crate) fn reference(root: &'static Shape, codes: &[(&str, &str)]) -> String {
    let mut page = OPENING.to_owned();
    for shape in shapes(root) {
        section(&mut page, shape);
    }
    let _ = writeln!(page, "## Faults\n\n| code | meaning |\n|---|---|");
    for (code, meaning) in codes {
        let _ = writeln!(page, "| `{code}` |{meaning} |");
    }
    page
}

/// All shapes in the order in which they are first named.
pub(crate) fn shapes(root: &'static Shape) -> Vec<&'static Shape> {
    let mut shapes = Vec::new();
    collect(root, &mut shapes);
    shapes
}

fn collect(shape: &'static Shape, shapes: &mut Vec<&'static Shape>) {
    if shapes.iter().any(|known| std::ptr::eq(*known, shape)) {
        return;
    }
    shapes.push(shape);
    for key in shape.keys() {
        collect_kind(&key.kind, shapes);
    }
}

fn collect_kind(kind: &'static Kind, shapes: &mut Vec<&'static Shape>) {
    match kind {
        Kind::Object(shape) => collect(shape, shapes),
        Kind::Tagged(variants) => variants.iter().for_each(|(_, shape)| collect(shape, shapes)),
        Kind::Names(inner) | Kind::Numbers(_, _, inner) | Kind::List(_, _, inner) => {
            collect_kind(inner, shapes);
        }
        Kind::OneOf(kinds) => kinds.iter().for_each(|kind| collect_kind(kind, shapes)),
        _ => {}
    }
}

fn title(shape: &Shape) -> &'static str {
    ["a ", "an ", "the "].iter().find_map(|article| shape.name.strip_prefix(article)).unwrap_or(shape.name)
}

fn section(page: &mut String, shape: &'static Shape) {
    let heading = title(shape);
    let _ = writeln!(page, "## {}{}\n\n{}\n", heading[..1].to_uppercase(), &heading[1..], shape.about);
    if shape.keys().next().is_none() {
        return;
    }
    let _ = writeln!(page, "| key | value | default | meaning |\n|---|---|---|---|");
    for Key { name, kind, required, default, range, about } in shape.keys() {
        let default = match (required, default) {
            (true, _) => "required".to_owned(),
            (false, Some(default)) => format!("`{default}`"),
            (false, None) => String::new(),
        };
        let range = range.words().map_or_else(String::new, |words| format!(", {words}"));
        let _ = writeln!(page, "| `{name}` | {}{range} | {default} | {about} |", value(kind));
    }
    page.push('\n');
}

/// The kind of a key's value, with a link to the section of a mapping.
fn value(kind: &Kind) -> String {
    match kind {
        Kind::Object(shape) => format!("[{}](#{})", title(shape), anchor(shape)),
        Kind::Tagged(variants) => {
            let links: Vec<String> =
                variants.iter().map(|(tag, shape)| format!("[`{tag}`](#{})", anchor(shape))).collect();
            format!("a mapping with `type`: {}", links.join(", "))
        }
        Kind::Names(inner) => format!("by name: {}", value(inner)),
        Kind::Numbers(min, max, inner) => format!("by number, {min} to {max}: {}", value(inner)),
        Kind::List(_, _, inner) => format!("list: {}", value(inner)),
        Kind::OneOf(kinds) => kinds.iter().map(value).collect::<Vec<_>>().join(", or "),
        scalar => scalar.describe(),
    }
}

fn anchor(shape: &Shape) -> String {
    let kept = |c: char| c.is_alphanumeric() || c == ' ' || c == '-';
    title(shape).to_lowercase().chars().filter(|c| kept(*c)).collect::<String>().replace(' ', "-")
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_link_of_the_reference_leads_to_a_heading() {
        let page = crate::grammar::Grammar::kernel().reference();
        for link in page.split("](#").skip(1) {
            let anchor = &link[..link.find(')').expect("a closed link")];
            let found = page
                .lines()
                .filter_map(|line| line.strip_prefix("## "))
                .any(|heading| heading.to_lowercase().replace(['/', '\''], "").replace(' ', "-") == anchor);
            assert!(found, "{anchor}");
        }
    }
}
