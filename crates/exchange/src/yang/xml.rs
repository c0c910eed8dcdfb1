//! A tree of instance data in XML (RFC 7950): a member is an element, in the namespace of its module, and an entry of a list an element each.

use std::fmt::Write as _;

use serde_json::Value;

use crate::xml::escaped;

/// Modules and their namespaces.
const MODULES: [(&str, &str); 18] = [
    ("ietf-interfaces", "urn:ietf:params:xml:ns:yang:ietf-interfaces"),
    ("iana-if-type", "urn:ietf:params:xml:ns:yang:iana-if-type"),
    ("ieee802-dot1q-types", "urn:ieee:std:802.1Q:yang:ieee802-dot1q-types"),
    ("ieee802-dot1q-bridge", "urn:ieee:std:802.1Q:yang:ieee802-dot1q-bridge"),
    ("ieee802-dot1q-cbsa-bridge", "urn:ieee:std:802.1Q:yang:ieee802-dot1q-cbsa-bridge"),
    ("ieee802-dot1q-sched", "urn:ieee:std:802.1Q:yang:ieee802-dot1q-sched"),
    ("ieee802-dot1q-sched-bridge", "urn:ieee:std:802.1Q:yang:ieee802-dot1q-sched-bridge"),
    ("ieee802-dot1q-preemption-bridge", "urn:ieee:std:802.1Q:yang:ieee802-dot1q-preemption-bridge"),
    ("ieee802-dot1q-psfp", "urn:ieee:std:802.1Q:yang:ieee802-dot1q-psfp"),
    ("ieee802-dot1q-psfp-bridge", "urn:ieee:std:802.1Q:yang:ieee802-dot1q-psfp-bridge"),
    ("ieee802-dot1q-ats-bridge", "urn:ieee:std:802.1Q:yang:ieee802-dot1q-ats-bridge"),
    ("ieee802-dot1cb-stream-identification", "urn:ieee:std:802.1Q:yang:ieee802-dot1cb-stream-identification"),
    (
        "ieee802-dot1cb-stream-identification-types",
        "urn:ieee:std:802.1Q:yang:ieee802-dot1cb-stream-identification-types",
    ),
    ("ieee802-dot1cb-mask-and-match", "urn:ieee:std:802.1CB:yang:ieee802-dot1cb-mask-and-match"),
    ("ieee802-dot1cb-frer", "urn:ieee:std:802.1Q:yang:ieee802-dot1cb-frer"),
    ("ieee1588-ptp-tt", "urn:ieee:std:1588:yang:ieee1588-ptp-tt"),
    ("ieee802-dot1as-gptp", "urn:ieee:std:802.1AS:yang:ieee802-dot1as-gptp"),
    ("ieee802-dot1q-cnc-config", "urn:ieee:std:802.1Q:yang:ieee802-dot1q-cnc-config"),
];

/// Leaves whose values are identities, with the name of their module.
const IDENTITIES: [&str; 4] = ["type", "bridge-type", "operation-name", "transmission-selection-algorithm"];

/// The document.
pub(super) fn text(tree: &Value) -> String {
    let mut text = String::new();
    members(tree, 0, &mut text);
    text
}

fn members(tree: &Value, depth: usize, text: &mut String) {
    for (name, value) in tree.as_object().into_iter().flatten() {
        match value {
            Value::Array(entries) => {
                entries.iter().for_each(|entry| element(name, entry, depth, text));
            }
            one => element(name, one, depth, text),
        }
    }
}

fn element(name: &str, value: &Value, depth: usize, text: &mut String) {
    let indent = "  ".repeat(depth);
    let (module, local) = name.split_once(':').map_or((None, name), |(module, local)| (Some(module), local));
    let _ = write!(text, "{indent}<{local}");
    if let Some(module) = module {
        let _ = write!(text, " xmlns=\"{}\"", namespace(module));
    }
    let content = match value {
        Value::Null => {
            text.push_str("/>\n");
            return;
        }
        Value::Object(_) => {
            text.push_str(">\n");
            members(value, depth + 1, text);
            let _ = writeln!(text, "{indent}</{local}>");
            return;
        }
        Value::String(identity) if IDENTITIES.contains(&local) => {
            let (module, identity) = identity.split_once(':').expect("an identity has its module");
            let _ = write!(text, " xmlns:of=\"{}\"", namespace(module));
            format!("of:{identity}")
        }
        Value::String(words) => escaped(words),
        other => other.to_string(),
    };
    let _ = writeln!(text, ">{content}</{local}>");
}

fn namespace(module: &str) -> &'static str {
    MODULES.iter().find(|(name, _)| *name == module).map(|(_, namespace)| *namespace).expect("a known module")
}
