//! JSON in which no object has a key twice: it would be ambiguous which of the two is meant.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Any value without a doubled key.
struct Unique;

/// An error if a key occurs twice in an object of `text`, which is JSON.
pub(crate) fn check(text: &str) -> Result<(), String> {
    serde_json::from_str::<Unique>(text).map(|_| ()).map_err(|error| error.to_string())
}

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Unique {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self, A::Error> {
        let mut seen: HashSet<String> = HashSet::new();
        while let Some(key) = map.next_key::<String>()? {
            if seen.contains(&key) {
                return Err(A::Error::custom(format_args!("the key `{key}` occurs twice in one object")));
            }
            seen.insert(key);
            map.next_value::<Self>()?;
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_doubled_key_is_found_at_any_depth() {
        for good in [r#"{"a": [1, -2, 0.5, null, true, {"a": "a"}], "b": {"a": {}}}"#, "[]", "7"] {
            assert_eq!(check(good), Ok(()));
        }
        for wrong in
            [r#"{"a": 1, "a": 1}"#, r#"{"x": [{"y": {"b": 1, "a": 2, "b": 3}}]}"#, r#"{"a": 1, "\u0061": 2}"#]
        {
            assert!(check(wrong).unwrap_err().contains("occurs twice"), "{wrong}");
        }
    }
}
