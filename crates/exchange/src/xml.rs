//! Texts in XML 1.0.

use std::fmt::Write as _;

/// A text of XML, in quotes too. Characters that XML 1.0 has no way to write become U+FFFD.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\t' | '\n' | '\r' => {
                let _ = write!(escaped, "&#{};", u32::from(letter));
            }
            '\0'..'\u{20}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

/// An element.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Element {
    pub(crate) name: String,
    pub(crate) attributes: Vec<(String, String)>,
    pub(crate) children: Vec<Self>,
    /// The texts in it, one after the other, without those in its children.
    pub(crate) text: String,
    /// The line in which it begins.
    pub(crate) line: usize,
}

/// How deep elements may be in each other.
const DEPTH: usize = 64;

impl Element {
    /// The value of an attribute.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.attributes.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// Its name without the prefix of a namespace.
    pub(crate) fn local(&self) -> &str {
        self.name.rsplit(':').next().unwrap_or("")
    }

    /// Reads a document. Document types are refused, since they could define entities.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let mut open: Vec<Self> = Vec::new();
        let mut root = None;
        let mut rest = text;
        // The line up to an octet.
        let (mut line, mut counted) = (1, 0);
        while let Some(at) = rest.find('<') {
            let here = text.len() - rest.len() + at;
            line += text[counted..here].matches('\n').count();
            counted = here;
            let wrong = |what: &str| format!("XML, line {line}: {what}");
            let tag = &rest[at + 1..];
            if let Some(own) = open.last_mut() {
                own.text.push_str(&unescaped(&rest[..at]));
            }
            let skipped = [("!--", "-->"), ("?", "?>"), ("![CDATA[", "]]>")]
                .into_iter()
                .find(|(begin, _)| tag.starts_with(begin));
            if let Some((begin, end)) = skipped {
                let length =
                    tag[begin.len()..].find(end).ok_or_else(|| wrong("a comment without its end"))?;
                if let Some(own) = open.last_mut().filter(|_| begin.contains("CDATA")) {
                    own.text.push_str(&tag[begin.len()..begin.len() + length]);
                }
                rest = &tag[begin.len() + length + end.len()..];
                continue;
            }
            if root.is_some() || tag.starts_with('!') {
                return Err(wrong("one element is expected, without a document type"));
            }
            // The end of the tag, which may be in quotes.
            let mut quote = None;
            let length = tag.find(|letter: char| {
                match (letter, quote) {
                    ('"' | '\'', None) => quote = Some(letter),
                    (_, Some(own)) if own == letter => quote = None,
                    _ => {}
                }
                letter == '>' && quote.is_none()
            });
            let length = length.ok_or_else(|| wrong("a tag without its end"))?;
            let (inner, after) = (&tag[..length], &tag[length + 1..]);
            if let Some(name) = inner.strip_prefix('/') {
                let ended = open.pop().filter(|ended| ended.name == name.trim());
                let ended = ended.ok_or_else(|| wrong("the end of an element that is not open"))?;
                match open.last_mut() {
                    Some(parent) => parent.children.push(ended),
                    None => root = Some(ended),
                }
            } else {
                let (inner, is_empty) = inner.strip_suffix('/').map_or((inner, false), |inner| (inner, true));
                let mut element = Self::tag(inner).ok_or_else(|| wrong("a tag is `<name key=\"value\">`"))?;
                element.line = line;
                if !is_empty {
                    if open.len() == DEPTH {
                        return Err(wrong("too many elements in each other"));
                    }
                    open.push(element);
                } else if let Some(parent) = open.last_mut() {
                    parent.children.push(element);
                } else {
                    root = Some(element);
                }
            }
            rest = after;
        }
        root.filter(|_| open.is_empty()).ok_or_else(|| "XML: an element without its end".to_owned())
    }

    /// The name and the attributes of a tag.
    fn tag(inner: &str) -> Option<Self> {
        let end = inner.find(char::is_whitespace).unwrap_or(inner.len());
        let mut element = Self { name: inner[..end].to_owned(), ..Self::default() };
        let mut rest = inner[end..].trim_start();
        while !rest.is_empty() {
            let (key, value) = rest.split_once('=')?;
            let value = value.trim_start();
            let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
            let (value, after) = value[1..].split_once(quote)?;
            element.attributes.push((key.trim().to_owned(), unescaped(value)));
            rest = after.trim_start();
        }
        (!element.name.is_empty()).then_some(element)
    }
}

/// A text without the entities that XML itself has; others stay as they are.
fn unescaped(text: &str) -> String {
    let mut found = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        found.push_str(&rest[..at]);
        let entity = rest[at + 1..].split(';').next().filter(|name| rest.len() > at + 1 + name.len());
        let letter = entity.and_then(|name| match name {
            "lt" => Some('<'),
            "gt" => Some('>'),
            "quot" => Some('"'),
            "apos" => Some('\''),
            "amp" => Some('&'),
            _ => {
                let number = name.strip_prefix('#')?;
                let hexadecimal = number.strip_prefix('x').map(|digits| u32::from_str_radix(digits, 16));
                char::from_u32(hexadecimal.unwrap_or_else(|| number.parse()).ok()?)
            }
        });
        match letter.zip(entity) {
            Some((letter, entity)) => {
                found.push(letter);
                rest = &rest[at + entity.len() + 2..];
            }
            None => {
                found.push('&');
                rest = &rest[at + 1..];
            }
        }
    }
    found + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_read() {
        let text = "<?xml version=\"1.0\"?>\n<!-- <x> -->\n<a b='1 > 0' c = \"&lt;&amp;gt;\"><d/>te&#x78;t&#10;<d e=\"\"></d><![CDATA[<&lt;]]>&no;</a>\n";
        let read = Element::read(text).expect("a document");
        assert_eq!((read.name.as_str(), read.get("b"), read.get("c")), ("a", Some("1 > 0"), Some("<&gt;")));
        assert_eq!((read.children.len(), read.text.as_str()), (2, "text\n<&lt;&no;"));
        assert_eq!(read.children[1].get("e"), Some(""));
        for text in
            ["", "<a>", "<a></b>", "<a b></a>", "<a/><b/>", "<!DOCTYPE a><a/>", "<a", "</a>", "<a b=\"/>"]
        {
            assert!(Element::read(text).is_err(), "{text}");
        }
        assert!(Element::read(&"<a>".repeat(100)).is_err());
    }

    #[test]
    fn a_name_is_a_text_and_no_mark_up() {
        assert_eq!(escaped("<a \"b\" & 'c'>\n\u{1}"), "&lt;a &quot;b&quot; &amp; 'c'&gt;&#10;\u{fffd}");
    }
}
