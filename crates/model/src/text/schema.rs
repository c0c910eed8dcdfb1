//! The grammar as JSON Schema (draft 2020-12), for editors.
//!
//! It contains what the tables define of the form. Only `check` knows which keys exclude each other, which values are
//! too large or too fine, and the faults of names and routes.

use serde_json::{Map, Value, json};

use tautwire_units::{BitRate, Bits, Bytes, Duration, Quantity};

use super::shape::{Kind, Shape};

/// The identifier of the schema: no place on any network.
const ID: &str = "urn:tautwire:schema:description";

/// Characters of a name: letters and digits of any language, and `_ . / -`. Written as the excluded characters,
/// because not every validator's expressions know classes of letters (`\p{L}`).
const NAME: &str = r"[^\x00-\x2c\x3a-\x40\x5b-\x5e\x60\x7b-\xa0]+";

/// The schema of a description.
pub(crate) fn schema(root: &'static Shape) -> Value {
    let mut definitions = Map::new();
    let root = object(root, None, &mut definitions);
    let mut schema = Map::new();
    schema.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("$id".to_owned(), json!(ID));
    schema.insert("title".to_owned(), json!("Tautwire: description of a network"));
    schema.extend(root.as_object().cloned().unwrap_or_default());
    definitions.sort_keys();
    schema.insert("$defs".to_owned(), Value::Object(definitions));
    Value::Object(schema)
}

/// `a shared buffer` as `shared-buffer`.
fn definition_name(shape: &Shape) -> String {
    let name = shape.name;
    let name = ["a ", "an ", "the "].iter().find_map(|article| name.strip_prefix(article)).unwrap_or(name);
    name.replace([' ', '/'], "-")
}

fn object(shape: &'static Shape, tag: Option<&str>, definitions: &mut Map<String, Value>) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    if let Some(tag) = tag {
        properties.insert("type".to_owned(), json!({ "const": tag }));
        required.push("type");
    }
    for key in shape.keys() {
        let mut value = kind(&key.kind, definitions);
        if let Value::Object(value) = &mut value {
            let range = key.range.words().map_or_else(String::new, |words| format!(" Values: {words}."));
            value.insert("description".to_owned(), json!(format!("{}{range}", key.about)));
            if let Some(default) = key.default {
                value.insert("default".to_owned(), typed(&key.kind, default));
            }
        }
        properties.insert(key.name.to_owned(), value);
        if key.required {
            required.push(key.name);
        }
    }
    let mut object = Map::new();
    object.insert("description".to_owned(), json!(shape.about));
    let empty_allowed = required.is_empty() && tag.is_none();
    object.insert("type".to_owned(), if empty_allowed { json!(["object", "null"]) } else { json!("object") });
    object.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        object.insert("required".to_owned(), json!(required));
    }
    object.insert("additionalProperties".to_owned(), json!(false));
    Value::Object(object)
}

/// A default as a value of a description: a number, a flag, or a text.
fn typed(kind: &Kind, text: &str) -> Value {
    match kind {
        Kind::Integer(..) => text.parse::<u64>().map_or_else(|_| json!(text), |number| json!(number)),
        Kind::Chance => text.parse::<f64>().map_or_else(|_| json!(text), |number| json!(number)),
        Kind::Flag => json!(text == "true"),
        _ => json!(text),
    }
}

/// A reference to the definition of `shape`, which is made when it is first needed.
fn defined(shape: &'static Shape, tag: Option<&str>, definitions: &mut Map<String, Value>) -> Value {
    let name = definition_name(shape);
    if !definitions.contains_key(&name) {
        definitions.insert(name.clone(), Value::Null);
        let value = object(shape, tag, definitions);
        definitions.insert(name.clone(), value);
    }
    json!({ "$ref": format!("#/$defs/{name}") })
}

fn quantity<Q: Quantity>(sign: &str) -> Value {
    quantity_with::<Q>(sign, "")
}

/// The same with a text after the number.
fn quantity_with<Q: Quantity>(sign: &str, behind: &str) -> Value {
    // The micro sign, or the Greek letter that looks like it.
    let unit = |unit: &str| unit.replace('/', "\\/").replace('µ', "[µ\u{3bc}]");
    let units: Vec<String> = Q::UNITS.iter().map(|(name, _)| unit(name)).collect();
    let pattern = format!(r"^\s*{sign}[0-9][0-9_]*(\.[0-9_]+)?{behind}\s*({})\s*$", units.join("|"));
    json!({ "type": "string", "pattern": pattern, "examples": [Q::EXAMPLE] })
}

fn pattern(pattern: &str, example: &str) -> Value {
    json!({ "type": "string", "pattern": pattern, "examples": [example] })
}

fn kind(of: &'static Kind, definitions: &mut Map<String, Value>) -> Value {
    match of {
        Kind::Text => json!({ "type": ["string", "number", "boolean"] }),
        Kind::Name => json!({ "type": ["string", "integer"], "pattern": format!("^{NAME}$") }),
        Kind::Reference => {
            json!({ "type": ["string", "integer"], "pattern": format!("^{NAME}(:{NAME})?$") })
        }
        Kind::Duration => quantity::<Duration>(""),
        Kind::Period => quantity_with::<Duration>("", "(/[0-9]+)?"),
        Kind::SignedDuration => quantity::<Duration>("[+-]?"),
        Kind::Rate => quantity::<BitRate>(""),
        Kind::Octets => quantity::<Bytes>(""),
        Kind::Bits => quantity::<Bits>(""),
        Kind::Deviation => pattern(r"^[0-9][0-9.]*([eE][+-]?[0-9]+)?\s*(ppm|ppb)$", "100 ppm"),
        Kind::SignedDeviation => pattern(r"^[+-]?[0-9][0-9.]*([eE][+-]?[0-9]+)?\s*(ppm|ppb)$", "-20 ppm"),
        Kind::Chance => json!({ "type": ["number", "string"], "minimum": 0, "maximum": 1 }),
        Kind::Length => pattern(r"^[0-9][0-9.]*\s*(cm|m|km)$", "5 m"),
        Kind::Flag => json!({ "enum": [true, false, "on", "off", "yes", "no"] }),
        Kind::Integer(min, max) => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Kind::Word(words) => json!({ "enum": words }),
        Kind::MacAddress => pattern("^[0-9a-fA-F]{2}([:-][0-9a-fA-F]{2}){5}$", "02:00:00:00:00:01"),
        Kind::Ipv4Address => {
            json!({ "type": "string", "format": "ipv4" , "pattern": r"^((25[0-5]|2[0-4]\d|1?\d?\d)(\.|$)){4}$" })
        }
        Kind::Object(shape) => defined(shape, None, definitions),
        Kind::Tagged(shapes) => {
            let variants: Vec<Value> =
                shapes.iter().map(|(tag, shape)| defined(shape, Some(tag), definitions)).collect();
            json!({ "oneOf": variants })
        }
        Kind::Names(inner) => json!({
            "type": ["object", "null"],
            "propertyNames": { "pattern": format!("^{NAME}$") },
            "additionalProperties": kind(inner, definitions),
        }),
        Kind::Numbers(min, max, inner) => {
            let keys: Value = if *max <= 7 {
                json!({ "pattern": format!("^[{min}-{max}]$") })
            } else {
                json!({ "pattern": "^[1-9][0-9]{0,3}$" })
            };
            json!({
                "type": ["object", "null"],
                "propertyNames": keys,
                "additionalProperties": kind(inner, definitions),
            })
        }
        Kind::List(min, max, inner) => {
            let mut list = Map::new();
            list.insert("type".to_owned(), if *min == 0 { json!(["array", "null"]) } else { json!("array") });
            list.insert("items".to_owned(), kind(inner, definitions));
            if *min > 0 {
                list.insert("minItems".to_owned(), json!(min));
            }
            if *max < usize::MAX {
                list.insert("maxItems".to_owned(), json!(max));
            }
            Value::Object(list)
        }
        Kind::OneOf(kinds) => {
            let variants: Vec<Value> = kinds.iter().map(|of| kind(of, definitions)).collect();
            json!({ "anyOf": variants })
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::text::faults::Faults;
    use crate::text::tree::{self, Node};

    fn of_kernel() -> Value {
        crate::grammar::Grammar::kernel().schema()
    }

    fn root() -> PathBuf {
        PathBuf::from("../..")
    }

    /// A tree as JSON, scalars as YAML's core schema takes them.
    fn as_json(node: &Node<'_>) -> Value {
        match &node.value {
            tree::Value::Nothing => Value::Null,
            tree::Value::List(items) => items.iter().map(as_json).collect(),
            tree::Value::Map(entries) => Value::Object(
                entries.iter().map(|(key, node)| (key.text.to_string(), as_json(node))).collect(),
            ),
            tree::Value::Scalar(text) => match &**text {
                "true" => json!(true),
                "false" => json!(false),
                text => match (text.parse::<i64>(), text.parse::<f64>()) {
                    (Ok(number), _) => json!(number),
                    (_, Ok(number)) => json!(number),
                    _ => json!(text),
                },
            },
        }
    }

    fn yaml_of(folder: &Path) -> Vec<(String, Value)> {
        let mut files: Vec<(String, Value)> = std::fs::read_dir(folder)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
            .filter_map(|path| {
                let text = std::fs::read_to_string(&path).ok()?;
                let mut faults = Faults::default();
                let value = as_json(&tree::read(0, &text, &mut faults));
                let first = text.lines().next().unwrap_or_default();
                (faults.errors() == 0).then(|| (format!("{} {first}", path.display()), value))
            })
            .collect();
        files.sort_by(|one, other| one.0.cmp(&other.0));
        files
    }

    #[test]
    fn the_schema_and_the_grammar_agree_on_the_broken_descriptions() {
        let validator = jsonschema::validator_for(&of_kernel()).expect("a schema");
        // What a schema cannot express: ranges of quantities, which are texts, and which keys are optional without another.
        let beyond = [
            "too-fine",
            "too-large",
            "of-no-time",
            "buffer-without-cells",
            "datagram-beyond-udp",
            "empty-file",
            "header-beyond-any-frame",
            "huge-frame",
            "interrupts-without-time",
            "link-too",
            "no-interval",
            "no-rate",
            "short-frame",
            "large-configuration",
            "cycle-of-a-minute",
            "endless-run",
            "group-address",
            "missing-payload",
            "missing-traffic.",
            "missing-rate",
        ];
        for (name, value) in yaml_of(&root().join("crates/model/tests/broken")) {
            let of_form = [
                "form::unknown-key",
                "form::not-supported",
                "form::missing-key",
                "form::kind",
                "form::count",
                "value::",
            ];
            let is_form = of_form.iter().any(|code| name.contains(code));
            let beyond = name.contains(".csv") || beyond.iter().any(|file| name.contains(file));
            assert_eq!(validator.is_valid(&value), !is_form || beyond, "{name}");
        }
    }

    #[test]
    fn expressions_are_such_as_every_validator_knows() {
        let schema = of_kernel();
        assert!(!schema.to_string().contains(r"\\p{"), "Python's `re` has no classes of letters");
        assert_eq!(schema["$id"], ID);
        let name = regex_of(&schema["properties"]["nodes"]["propertyNames"]);
        for (text, holds) in [
            ("zone-1", true),
            ("Straße_7", true),
            ("a b", false),
            ("a:b", false),
            ("a,b", false),
            ("", false),
        ] {
            assert_eq!(name.is_valid(&json!(text)), holds, "{text}");
        }
    }

    fn regex_of(schema: &Value) -> jsonschema::Validator {
        jsonschema::validator_for(schema).expect("a schema")
    }
}
