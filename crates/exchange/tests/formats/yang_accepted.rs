//! Documents of YANG in both forms say the same, and the published modules take them, where they are at hand.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use tautwire_exchange::Text;

use crate::common::{network, networks, written};
use crate::yang::documents;

/// Leaves of JSON with their paths, without modules.
fn leaves(path: &str, value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                leaves(&format!("{path}/{}", name.rsplit(':').next().unwrap()), value, found);
            }
        }
        Value::Array(entries) if *entries == [Value::Null] => found.push(format!("{path}=")),
        Value::Array(entries) => entries.iter().for_each(|entry| leaves(path, entry, found)),
        Value::String(words) => found.push(format!("{path}={}", words.rsplit(':').next().unwrap())),
        other => found.push(format!("{path}={other}")),
    }
}

/// Leaves of XML with their paths.
fn elements(text: &str) -> Vec<String> {
    let (mut path, mut found, mut is_open) = (Vec::new(), Vec::new(), false);
    for part in text.split('<').skip(1) {
        let (tag, content) = part.split_once('>').unwrap();
        if tag.starts_with('/') {
            path.pop().unwrap();
            is_open = false;
            continue;
        }
        path.push(tag.split([' ', '/']).next().unwrap());
        let place = path.iter().map(|name| format!("/{name}")).collect::<String>();
        if tag.ends_with('/') {
            path.pop();
            found.push(format!("{place}="));
        } else if !content.trim().is_empty() {
            found.push(format!("{place}={}", content.rsplit(':').next().unwrap()));
        }
        is_open = !tag.ends_with('/');
    }
    assert!(path.is_empty() && !is_open);
    found
}

#[test]
fn xml_holds_what_json_holds() {
    for (name, network) in networks(2) {
        let xml = documents("yang-xml", &network);
        for (json, xml) in documents("yang", &network).into_iter().zip(xml) {
            assert_eq!(json.converted.left_out, xml.converted.left_out);
            let mut found = Vec::new();
            leaves("", &serde_json::from_str(&json.converted.text).unwrap(), &mut found);
            assert_eq!(elements(&xml.converted.text), found, "{name}");
        }
    }
}

/// The published modules, and yanglint, which reads documents by them.
struct Modules {
    folders: Vec<PathBuf>,
    /// Documents, and modules that are mended.
    scratch: PathBuf,
}

/// The module that yanglint of libyang 2.1 does not load: it has no regular expression with so many repetitions.
const MASK_AND_MATCH: &str = "ieee802-dot1cb-mask-and-match";
const PATTERN: &str = "pattern '[0-9a-fA-F]{2}(-[0-9a-fA-F]{2}){1,1983}';";
/// The same language: a pair of digits, and 1 to 1983 further ones with three letters each.
const MENDED: &str = "length \"5..5951\"; pattern '[0-9a-fA-F]{2}(-[0-9a-fA-F]{2})+';";

impl Modules {
    /// Where `TAUTWIRE_YANG` names their folders (as in a `PATH`) and yanglint is installed.
    fn find(name: &str) -> Option<Self> {
        let stated = std::env::var_os("TAUTWIRE_YANG")?;
        let folders: Vec<PathBuf> = std::env::split_paths(&stated).collect();
        let scratch = std::env::temp_dir().join(format!("tautwire-yang-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&scratch).unwrap();
        let modules = Self { folders, scratch };
        let text = std::fs::read_to_string(modules.file(MASK_AND_MATCH)).unwrap();
        assert_eq!(text.matches(PATTERN).count(), 1, "{MASK_AND_MATCH} is another revision");
        let mended = modules.scratch.join(format!("{MASK_AND_MATCH}.yang"));
        std::fs::write(mended, text.replace(PATTERN, MENDED)).unwrap();
        Some(modules)
    }

    /// The file of a module: a mended one, else the published one.
    fn file(&self, module: &str) -> PathBuf {
        let folders = std::iter::once(&self.scratch).chain(&self.folders);
        let mut files = folders.map(|folder| folder.join(format!("{module}.yang")));
        files
            .find(|file| file.exists())
            .unwrap_or_else(|| panic!("TAUTWIRE_YANG has no {module}.yang in any of its folders"))
    }

    /// What yanglint says against a document, of the modules alone: whatever is loaded may demand its data.
    fn refused(&self, name: &str, text: &str, modules: &[&str]) -> Option<String> {
        let document = self.scratch.join(name);
        std::fs::write(&document, text).unwrap();
        let mut yanglint = Command::new("yanglint");
        for folder in &self.folders {
            yanglint.arg("-p").arg(folder);
        }
        yanglint.args(["-e", "-t", "config"]).args(modules.iter().map(|module| self.file(module)));
        let ended = yanglint.arg(&document).output().unwrap();
        (!ended.status.success()).then(|| String::from_utf8_lossy(&ended.stderr).into_owned())
    }
}

impl Drop for Modules {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.scratch);
    }
}

/// What in a document of a bridge is of which module.
const MARKS: [(&str, &str); 13] = [
    ("", "iana-if-type@2014-05-08"),
    ("", "ieee802-dot1q-types"),
    ("", "ieee802-dot1q-bridge"),
    ("cbsa-bridge:", "ieee802-dot1q-cbsa-bridge"),
    ("sched-bridge:", "ieee802-dot1q-sched"),
    ("sched-bridge:", "ieee802-dot1q-sched-bridge"),
    ("preemption-bridge:", "ieee802-dot1q-preemption-bridge"),
    ("psfp-bridge:", "ieee802-dot1q-psfp"),
    ("psfp-bridge:", "ieee802-dot1q-psfp-bridge"),
    ("ats-bridge:", "ieee802-dot1q-ats-bridge"),
    ("stream-identification:", "ieee802-dot1cb-stream-identification"),
    ("mask-and-match:", MASK_AND_MATCH),
    ("dot1cb-frer:", "ieee802-dot1cb-frer"),
];

/// The modules of a document in JSON.
fn modules_of(json: &str) -> Vec<&'static str> {
    MARKS.iter().filter(|(mark, _)| json.contains(mark)).map(|(_, module)| *module).collect()
}

#[test]
fn published_modules_take_the_documents() {
    let Some(modules) = Modules::find("bridges") else { return };
    let mut masked = 0;
    for (name, network) in networks(1).into_iter().chain([("masked".to_owned(), network(MASKED))]) {
        let xml = documents("yang-xml", &network);
        for (json, xml) in documents("yang", &network).into_iter().zip(xml) {
            let used = modules_of(&json.converted.text);
            masked += usize::from(used.contains(&MASK_AND_MATCH));
            for text in [&json, &xml] {
                let file = text.file.as_ref().unwrap();
                let refused = modules.refused(file, &text.converted.text, &used);
                assert_eq!(refused, None, "{name} {file}");
            }
        }
    }
    assert!(masked > 0, "no document has mask and match");
}

#[test]
fn published_modules_take_requests_for_streams() {
    let Some(modules) = Modules::find("requests") else { return };
    for (name, network) in networks(1) {
        for (form, file) in [("uni", "requests.json"), ("uni-xml", "requests.xml")] {
            let text = written(form, &network).text;
            assert_eq!(modules.refused(file, &text, &["ieee802-dot1q-cnc-config"]), None, "{name}");
        }
    }
}

#[test]
fn published_modules_take_gptp() {
    let Some(modules) = Modules::find("gptp") else { return };
    let used = ["iana-if-type@2014-05-08", "ieee1588-ptp-tt", "ieee802-dot1as-gptp"];
    let mut count = 0;
    for (name, network) in networks(1).into_iter().filter(|(_, network)| network.gptp.is_some()) {
        for form in ["gptp", "gptp-xml"] {
            for text in documents(form, &network) {
                let file = text.file.as_ref().unwrap().replace('/', "-");
                assert_eq!(modules.refused(&file, &text.converted.text, &used), None, "{name} {file}");
                count += 1;
            }
        }
    }
    assert!(count > 10, "{count}");
}

/// A stream that is known by octets of its data.
const MASKED: &str = r#"
name: masked
vlans: {1: {tagged: all}}
nodes:
  a: {type: end-station}
  b: {type: end-station}
  s: {type: bridge, stream-filters: {max-stream-filter-instances: 4, stream-filter-instance-table: {1: {stream-handle: x, max-sdu-size: 1500 B}}}}
links: [{between: [a, s], rate: 1 Gbit/s}, {between: [s, b], rate: 100 Mbit/s}]
streams:
  - {name: x, talker: a, listeners: b, payload: 100 B, udp: {source: 10.0.0.1, destination: 10.0.0.2, source-port: 5000, destination-port: 5001},
     traffic: {type: periodic, interval: 1 ms}, identification: {type: mask-and-match-stream-identification, msdu-mask: "ffff000000000000000000ff"}}
"#;

/// What is no mask of the published module is none of the mended one, and what it does not know is refused.
#[test]
fn modules_refuse_what_is_wrong() {
    let Some(modules) = Modules::find("wrong") else { return };
    let [text]: [Text; 1] = documents("yang", &network(MASKED)).try_into().unwrap();
    let (json, used) = (&text.converted.text, modules_of(&text.converted.text));
    let mask = json.split("\"msdu-mask\": \"").nth(1).unwrap().split('"').next().unwrap();
    let longest = vec!["FF"; 1_984].join("-");
    for (other, is_taken) in [
        ("FF-00", true),
        (&*longest, true),
        (&*format!("{longest}-FF"), false),
        ("FF", false),
        ("FF-", false),
        ("FF-0", false),
        ("FF:00", false),
        ("", false),
    ] {
        let changed =
            json.replacen(&format!("\"msdu-mask\": \"{mask}\""), &format!("\"msdu-mask\": \"{other}\""), 1);
        assert!(changed != *json || other == mask);
        let refused = modules.refused("changed.json", &changed, &used);
        assert_eq!(refused.is_none(), is_taken, "{} letters: {refused:?}", other.len());
    }
    let changed = json.replacen("\"pvid\"", "\"colour\"", 1);
    assert!(modules.refused("changed.json", &changed, &used).is_some());
}
