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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_text_and_no_mark_up() {
        assert_eq!(escaped("<a \"b\" & 'c'>\n\u{1}"), "&lt;a &quot;b&quot; &amp; 'c'&gt;&#10;\u{fffd}");
    }
}
