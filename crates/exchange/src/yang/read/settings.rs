//! Values by the keys that lead to them in a description, with points between the keys.

use std::fmt::{Display, Write as _};

/// Values in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::yang) struct Settings(pub(in crate::yang) Vec<(String, String)>);

impl Settings {
    pub(in crate::yang) fn add(&mut self, key: impl Into<String>, value: impl Display) {
        self.0.push((key.into(), value.to_string()));
    }

    /// Adds a value that there may be.
    pub(in crate::yang) fn maybe(&mut self, key: impl Into<String>, value: Option<impl Display>) {
        if let Some(value) = value {
            self.add(key, value);
        }
    }

    pub(in crate::yang) fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(own, _)| own == key).map(|(_, value)| value.as_str())
    }

    /// In one line of YAML.
    pub(in crate::yang) fn text(&self) -> String {
        let all: Vec<(&str, &str)> =
            self.0.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        braces(&all)
    }
}

/// Neighbours with the same first key are in one mapping.
fn braces(mut left: &[(&str, &str)]) -> String {
    let mut text = "{".to_owned();
    while let Some((key, value)) = left.first() {
        let separator = if text.len() > 1 { ", " } else { "" };
        let first = key.split('.').next().unwrap_or(key);
        let below = |key: &str| key.strip_prefix(first).is_some_and(|rest| rest.starts_with('.'));
        if !below(key) {
            let _ = write!(text, "{separator}{key}: {value}");
            left = &left[1..];
            continue;
        }
        let count = left.iter().take_while(|(key, _)| below(key)).count();
        let inner: Vec<(&str, &str)> =
            left[..count].iter().map(|(key, value)| (&key[first.len() + 1..], *value)).collect();
        let _ = write!(text, "{separator}{first}: {}", braces(&inner));
        left = &left[count..];
    }
    text + "}"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_below_one_are_in_its_mapping() {
        let mut all = Settings::default();
        assert_eq!(all.text(), "{}");
        for key in ["a", "b.c.d", "b.c.e", "b.f", "g"] {
            all.add(key, 1);
        }
        assert_eq!(all.text(), "{a: 1, b: {c: {d: 1, e: 1}, f: 1}, g: 1}");
        assert_eq!((all.get("b.c.e"), all.get("b")), (Some("1"), None));
    }
}
