//! The HTML report: one file with everything in it, made from a run folder alone.
//!
//! The page (`page.html`, built from `web/` by `make web` and committed) has one empty data block; the results go into
//! it as JSON. It needs no network and no server.

use serde::Serialize;

use crate::histogram::DelayHistogram;
use crate::manifest::Manifest;
use crate::run_folder::RunFolder;
use crate::summary::Summary;
use crate::topology::{NetworkDocument, shown_description};

/// The page as it was built, with an empty data block.
const PAGE: &str = include_str!("page.html");
/// The block, up to its contents.
const BLOCK: &str = r#"<script id="tautwire-data" type="application/json">"#;
/// Most steps that are drawn of a histogram.
const STEPS_MAX: usize = 400;
/// Most histograms in a page; streams beyond have the numbers alone.
const HISTOGRAMS_MAX: usize = 5_000;

#[derive(Serialize)]
struct PageData<'a> {
    manifest: &'a Manifest,
    summary: &'a Summary,
    network: &'a NetworkDocument,
    histograms: Vec<DelayHistogram>,
}

/// The report of a run folder.
///
/// # Panics
/// If the committed page has no data block, which its test excludes.
#[must_use]
pub fn html(run: &RunFolder) -> String {
    let network =
        NetworkDocument { description: shown_description(&run.network.description), ..run.network.clone() };
    let histograms =
        run.histograms.iter().take(HISTOGRAMS_MAX).map(|histogram| histogram.coarsened(STEPS_MAX)).collect();
    let data = PageData { manifest: &run.manifest, summary: &run.summary, network: &network, histograms };
    let data = serde_json::to_string(&data).expect("it has string keys only");
    let start = PAGE.find(BLOCK).expect("the page has a data block") + BLOCK.len();
    let end = start + PAGE[start..].find("</script>").expect("the block ends");
    format!("{}{}{}", &PAGE[..start], escape(&data), &PAGE[end..])
}

/// JSON that cannot end or disturb the block that contains it: `<` occurs in strings alone.
fn escape(json: &str) -> String {
    json.replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn the_report_holds_its_data_and_nothing_escapes() {
        let (network, bounds, observation) = fixture::line();
        let name = "</script><script>alert(1)</script>".to_owned();
        let network = network.altered(|parts| parts.streams[0].name = name);
        let run = RunFolder {
            manifest: Manifest::new("line", "", Some(1), &[]),
            summary: Summary::new(&network, Some(&bounds), Some(&observation)),
            network: NetworkDocument::new(&network, "name: <!--<script>"),
            histograms: crate::histogram::of_observation(&observation),
        };
        let report = html(&run);
        assert!(!report.contains("<script>alert"));
        let start = report.find(BLOCK).expect("the block") + BLOCK.len();
        let end = start + report[start..].find("</script>").expect("its end");
        let data: serde_json::Value = serde_json::from_str(&report[start..end]).expect("JSON");
        assert_eq!(data["summary"]["streams"][0]["name"], network.streams[0].name.as_str());
        assert_eq!(data["network"]["description"], "name: <!--<script>");
        assert_eq!(report.matches(BLOCK).count(), 1);
    }

    #[test]
    fn the_page_is_built_from_the_sources_of_the_tree() {
        let web = std::path::Path::new("../../web");
        let entries = std::fs::read_dir(web.join("src")).expect("the sources of the page");
        let mut files: Vec<_> = entries
            .map(|entry| format!("src/{}", entry.expect("an entry").file_name().to_string_lossy()))
            .chain(["index.html", "package-lock.json", "vite.config.ts"].map(str::to_owned))
            .collect();
        files.sort();
        let mut text = Vec::new();
        for file in files {
            text.extend(format!("{file}\n").into_bytes());
            text.extend(std::fs::read(web.join(file)).expect("a source"));
        }
        let mark = format!(r#"<meta name="tautwire-sources" content="{}">"#, crate::sha256(&text));
        assert!(PAGE.contains(&mark), "the page is old: make web");
    }

    #[test]
    fn the_page_asks_for_nothing() {
        for needed in ["<script src=", "<link rel=\"stylesheet\" href=", "<link rel=\"modulepreload\""] {
            assert!(!PAGE.contains(needed), "{needed}");
        }
    }
}
