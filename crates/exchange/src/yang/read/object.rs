//! A document as it is read: objects of which each leaf is taken, a fault, or listed.

use serde_json::{Map, Value};

use crate::xml::Element;
use crate::{Converted, Input};

/// What is left of an object of a document, and what was wrong in it.
pub(in crate::yang) struct Object {
    pub(in crate::yang) place: String,
    left: Map<String, Value>,
    faults: Vec<String>,
    /// Lines of what was taken, but is not expressed.
    lacks: Vec<String>,
}

impl Object {
    pub(in crate::yang) fn new(place: impl Into<String>, value: Value) -> Self {
        let place = place.into();
        match value {
            Value::Object(left) => Self { place, left, faults: Vec::new(), lacks: Vec::new() },
            // An element of XML without content.
            Value::String(text) if text.is_empty() => {
                Self { place, left: Map::new(), faults: Vec::new(), lacks: Vec::new() }
            }
            _ => Self {
                faults: vec![format!("{place}: it is no object")],
                place,
                left: Map::new(),
                lacks: Vec::new(),
            },
        }
    }

    pub(in crate::yang) fn fault(&mut self, why: impl std::fmt::Display) {
        self.faults.push(format!("{}{why}", self.place));
    }

    /// Notes what was taken, but is not expressed.
    pub(in crate::yang) fn left(&mut self, what: impl std::fmt::Display) {
        self.lacks.push(format!("{}/{what}", self.place));
    }

    /// Ends an object within this one, which says what was wrong and left in it.
    pub(in crate::yang) fn absorb(&mut self, within: Self) {
        let unknown = within.left.keys().map(|key| format!("{}: `{key}`", within.place));
        self.lacks.extend(within.lacks.into_iter().chain(unknown));
        self.faults.extend(within.faults);
    }

    /// Takes a leaf or more, by its name without the module.
    pub(in crate::yang) fn take(&mut self, name: &str) -> Option<Value> {
        let is = |key: &&String| key.rsplit(':').next() == Some(name);
        let key = self.left.keys().find(is)?.clone();
        self.left.remove(&key)
    }

    pub(in crate::yang) fn object(&mut self, name: &str) -> Option<Self> {
        let place = format!("{}/{name}", self.place);
        self.take(name).map(|value| Self::new(place, value))
    }

    /// An object of a module; other modules have one of the same name.
    pub(in crate::yang) fn object_of(&mut self, module: &str, name: &str) -> Option<Self> {
        let place = format!("{}/{name}", self.place);
        let key = [format!("{module}:{name}"), name.to_owned()]
            .into_iter()
            .find(|key| self.left.contains_key(key))?;
        self.left.remove(&key).map(|value| Self::new(place, value))
    }

    pub(in crate::yang) fn list(&mut self, name: &str) -> Vec<Self> {
        let place = format!("{}/{name}", self.place);
        match self.take(name) {
            None => Vec::new(),
            Some(Value::Array(list)) => {
                let numbered = list.into_iter().enumerate();
                numbered.map(|(number, value)| Self::new(format!("{place}[{number}]"), value)).collect()
            }
            // An entry by itself, in XML.
            Some(Value::Object(one)) => vec![Self::new(format!("{place}[0]"), Value::Object(one))],
            Some(_) => {
                self.fault(format_args!("/{name}: it is no list"));
                Vec::new()
            }
        }
    }

    /// A number, which is a text if it has 64 bits, and in XML.
    pub(in crate::yang) fn number(&mut self, name: &str) -> Option<u64> {
        let value = self.take(name)?;
        let number = value.as_u64().or_else(|| value.as_str().and_then(|text| text.parse().ok()));
        if number.is_none() {
            self.fault(format_args!("/{name}: it is no whole number"));
        }
        number
    }

    /// A number that must be at most a limit.
    pub(in crate::yang) fn at_most(&mut self, name: &str, most: u64) -> Option<u64> {
        let number = self.number(name)?;
        if number > most {
            self.fault(format_args!("/{name}: {number} is above {most}"));
        }
        (number <= most).then_some(number)
    }

    pub(in crate::yang) fn bool(&mut self, name: &str) -> Option<bool> {
        match self.take(name)? {
            Value::Bool(is) => Some(is),
            Value::String(text) if text == "true" || text == "false" => Some(text == "true"),
            _ => {
                self.fault(format_args!("/{name}: `true` or `false` is expected"));
                None
            }
        }
    }

    /// A text; of the name of an identity what is behind the module.
    pub(in crate::yang) fn text(&mut self, name: &str) -> Option<String> {
        match self.take(name)? {
            Value::String(text) => Some(text.rsplit(':').next().unwrap_or("").to_owned()),
            _ => {
                self.fault(format_args!("/{name}: a text is expected"));
                None
            }
        }
    }

    /// A text as it is.
    pub(in crate::yang) fn words(&mut self, name: &str) -> Option<String> {
        match self.take(name)? {
            Value::String(text) => Some(text),
            Value::Null => Some(String::new()),
            Value::Number(number) => Some(number.to_string()),
            _ => {
                self.fault(format_args!("/{name}: a text is expected"));
                None
            }
        }
    }

    /// Texts of a list of leaves.
    pub(in crate::yang) fn leaves(&mut self, name: &str) -> Vec<String> {
        let all = match self.take(name) {
            None => Vec::new(),
            Some(Value::Array(list)) => list,
            Some(one) => vec![one],
        };
        let text = |value: &Value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        let found: Vec<String> = all.iter().filter_map(text).collect();
        if found.len() < all.len() {
            self.fault(format_args!("/{name}: texts are expected"));
        }
        found
    }

    /// The names of what is left.
    pub(in crate::yang) fn names(&self) -> Vec<String> {
        self.left.keys().cloned().collect()
    }

    /// One of some words.
    pub(in crate::yang) fn word(&mut self, name: &str, words: &[&'static str]) -> Option<&'static str> {
        let text = self.text(name)?;
        let found = words.iter().copied().find(|word| *word == text);
        if found.is_none() {
            self.fault(format_args!("/{name}: `{text}`: it must be {}", words.join(" or ")));
        }
        found
    }

    /// Numbers of the eight priorities; none if there are none.
    pub(in crate::yang) fn by_priority(&mut self, most: u64) -> Option<[u64; 8]> {
        let before = self.faults.len();
        let mut found = [0; 8];
        let mut count = 0;
        for (priority, own) in found.iter_mut().enumerate() {
            if let Some(number) = self.at_most(&format!("priority{priority}"), most) {
                *own = number;
                count += 1;
            }
        }
        if count > 0 && count < 8 && self.faults.len() == before {
            self.fault(": some of the eight priorities");
        }
        (count == 8).then_some(found)
    }

    /// Lists what nobody took, and notes what was wrong.
    pub(in crate::yang) fn end(self, converted: &mut Converted) {
        for fault in self.faults {
            converted.fault(fault);
        }
        for line in self.lacks {
            converted.lacks(line);
        }
        for key in self.left.keys() {
            converted.lacks(format!("{}: `{key}`", self.place));
        }
    }
}

/// The tree of a document in XML, as JSON has it: texts for all leaves, and lists for elements of one name. An element whose namespace differs from
/// that around it has the name of its module before its own: namespaces of the modules end with it.
fn tree<'e>(element: &'e Element, around: &[(&'e str, &'e str)]) -> Value {
    if element.children.is_empty() {
        return Value::String(element.text.trim().to_owned());
    }
    let mut found = Map::new();
    for child in &element.children {
        let mut scope = around.to_vec();
        let stated = child.attributes.iter().filter_map(|(key, namespace)| {
            let prefix = key.strip_prefix("xmlns:").or_else(|| (key == "xmlns").then_some(""))?;
            Some((prefix, namespace.as_str()))
        });
        scope.extend(stated);
        let prefix = child.name.split_once(':').map_or("", |(prefix, _)| prefix);
        let module = |scope: &[(&'e str, &'e str)], prefix: &str| {
            let own = scope.iter().rev().find(|(own, _)| *own == prefix);
            own.map_or("", |(_, namespace)| namespace.rsplit([':', '/']).next().unwrap_or(""))
        };
        let own = module(&scope, prefix);
        // What is below has the same module without a prefix.
        let parent = module(around, "");
        if !prefix.is_empty() {
            let namespace = scope.iter().rev().find(|(own, _)| *own == prefix).map_or("", |own| own.1);
            scope.push(("", namespace));
        }
        let name = if own == parent { child.local().to_owned() } else { format!("{own}:{}", child.local()) };
        let value = tree(child, &scope);
        match found.get_mut(&name) {
            None => {
                found.insert(name, value);
            }
            Some(Value::Array(list)) => list.push(value),
            Some(one) => {
                let first = one.take();
                *one = Value::Array(vec![first, value]);
            }
        }
    }
    Value::Object(found)
}

/// The data of a document, without what is around it: a message of NETCONF, or the wrapper of RFC 9195.
pub(in crate::yang) fn document(input: &Input) -> Result<Object, String> {
    let name = &input.name;
    let text = input.text.trim_start_matches('\u{feff}').trim_start();
    let mut value = if text.starts_with('<') {
        // A document of several elements has no root of its own.
        let body = match text.strip_prefix("<?") {
            Some(rest) => rest.split_once("?>").map_or("", |(_, body)| body),
            None => text,
        };
        let all = Element::read(&format!("<all>{body}</all>")).map_err(|why| format!("{name}: {why}"))?;
        tree(&all, &[])
    } else {
        serde_json::from_str(text).map_err(|error| format!("{name}: no JSON: {error}"))?
    };
    const AROUND: [&str; 5] = ["rpc-reply", "data", "config", "instance-data-set", "content-data"];
    while let Value::Object(members) = &mut value {
        let inner =
            members.iter_mut().find(|(key, _)| AROUND.contains(&key.rsplit(':').next().unwrap_or("")));
        match inner {
            Some((_, inner)) => value = inner.take(),
            None => break,
        }
    }
    Ok(Object::new(name.clone(), value))
}
