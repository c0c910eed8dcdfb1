//! The HTML report: one file with everything in it, made from a run folder alone.
//!
//! The page (`page.html`, built from `web/` by `make web` and committed) has one empty data block; the results go into
//! it as JSON. It needs no network and no server. The pages of a server are the same page with other data: [`Page`].

use std::sync::OnceLock;

use serde::Serialize;

use crate::difference::SideBySide;
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
    /// Whether it comes from a server that has more pages.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    served: bool,
}

/// What a server shows besides reports; `V`: JSON as the page knows it.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "page", content = "shown", rename_all = "kebab-case")]
pub enum Page<V> {
    /// The runs that there are.
    Index(V),
    /// Two runs side by side.
    Comparison(Box<SideBySide>),
    /// A run that goes on.
    Live(V),
    /// Why something is not shown.
    Fault(V),
}

/// The report of a run folder.
///
/// # Panics
/// If the committed page has no data block, which its test excludes.
#[must_use]
pub fn html(run: &RunFolder) -> String {
    report(run, false)
}

/// The report of a run folder as a page of a server.
///
/// # Panics
/// If the committed page has no data block, which its test excludes.
#[must_use]
pub fn served_html(run: &RunFolder) -> String {
    report(run, true)
}

/// A page of a server.
///
/// # Panics
/// If the committed page has no data block, which its test excludes.
#[must_use]
pub fn page<V: Serialize>(shown: &Page<V>) -> String {
    with_data(shown)
}

/// What a browser lets such a page do (Content Security Policy, level 3): run its own script, by its digest, and ask its own server for
/// data. Text that got into a page as markup, by whatever fault, would neither run nor load anything.
///
/// # Panics
/// If the committed page has no script, which its test excludes.
#[must_use]
pub fn content_security_policy() -> &'static str {
    static POLICY: OnceLock<String> = OnceLock::new();
    POLICY.get_or_init(|| {
        let digest = |of: &str| format!("'sha256-{}'", base64(&crate::sha256::digest(inline(of).as_bytes())));
        format!(
            "default-src 'none'; script-src {}; style-src {}; img-src data:; connect-src 'self'; base-uri 'none'; \
             form-action 'self'; frame-ancestors 'none'",
            digest("<script type=\"module\""),
            digest("<style"),
        )
    })
}

/// The text in the element of the page that begins so.
fn inline(begin: &str) -> &'static str {
    let start = PAGE.find(begin).expect("the page has its script and its style within");
    let start = start + PAGE[start..].find('>').expect("its tag ends") + 1;
    let name = begin.trim_start_matches('<').split(' ').next().unwrap_or_default();
    let end = start + PAGE[start..].find(&format!("</{name}>")).expect("the element ends");
    &PAGE[start..end]
}

/// Base64 (RFC 4648, section 4).
fn base64(octets: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in octets.chunks(3) {
        let bits =
            (0..3).fold(0_usize, |bits, at| bits << 8 | usize::from(three.get(at).copied().unwrap_or(0)));
        for at in 0..4 {
            let digit = char::from(DIGITS[bits >> (18 - 6 * at) & 63]);
            text.push(if at <= three.len() { digit } else { '=' });
        }
    }
    text
}

fn report(run: &RunFolder, served: bool) -> String {
    let network =
        NetworkDocument { description: shown_description(&run.network.description), ..run.network.clone() };
    let histograms =
        run.histograms.iter().take(HISTOGRAMS_MAX).map(|histogram| histogram.coarsened(STEPS_MAX)).collect();
    with_data(&PageData {
        manifest: &run.manifest,
        summary: &run.summary,
        network: &network,
        histograms,
        served,
    })
}

fn with_data(data: &impl Serialize) -> String {
    let data = serde_json::to_string(data).expect("it has string keys only");
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
        assert!(!report.contains("\"served\"") && served_html(&run).contains("\"served\":true"));
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
    fn a_browser_runs_the_script_of_the_page_alone() {
        for (octets, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(base64(octets.as_bytes()), text);
        }
        // One script that runs and one style, so that the policy covers them.
        assert_eq!((PAGE.matches("<script").count(), PAGE.matches("<style").count()), (2, 1));
        assert!(inline("<script type=\"module\"").len() > 10_000 && inline("<style").contains(".top"));
        let policy = content_security_policy();
        assert!(!policy.contains("unsafe") && policy.matches("'sha256-").count() == 2, "{policy}");
        // A digest of 32 octets.
        assert!(policy.split("'sha256-").skip(1).all(|rest| rest.find('\'') == Some(44)), "{policy}");
    }

    #[test]
    fn the_page_asks_for_nothing() {
        for needed in ["<script src=", "<link rel=\"stylesheet\" href=", "<link rel=\"modulepreload\""] {
            assert!(!PAGE.contains(needed), "{needed}");
        }
    }
}
