//! Where entries of a JSON text are: a reader of values knows no lines.

/// The lines at which the elements of a list begin that the outermost object has under a key.
pub(super) fn lines(text: &str, key: &str) -> Vec<usize> {
    let (mut found, mut line, mut depth) = (Vec::new(), 1, 0_i32);
    // The last string at the outermost depth, and whether the list is open.
    let (mut name, mut is_in, mut is_awaited) = (None, false, false);
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        if letter == '\n' {
            line += 1;
        }
        if is_in && depth == 2 && is_awaited && !letter.is_whitespace() && letter != ']' {
            found.push(line);
            is_awaited = false;
        }
        match letter {
            '"' => {
                let mut is_escaped = false;
                let mut end = at + 1;
                for (place, letter) in letters.by_ref() {
                    end = place;
                    match letter {
                        '"' if !is_escaped => break,
                        '\n' => line += 1,
                        _ => {}
                    }
                    is_escaped = letter == '\\' && !is_escaped;
                }
                if depth == 1 {
                    name = text.get(at + 1..end);
                }
            }
            '{' | '[' => {
                depth += 1;
                if depth == 2 && letter == '[' && name == Some(key) {
                    (is_in, is_awaited) = (true, true);
                }
            }
            '}' | ']' => {
                depth -= 1;
                is_in &= depth > 1;
            }
            ',' if is_in && depth == 2 => is_awaited = true,
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn elements_of_a_list_have_their_lines() {
        let text = "{\"a\": {\"list\": [1]},\n \"list\": [\n  {\"x\": [1,\n 2], \"y\": \"]},\\\"\"}, {},\n\n  [3, 4],\n  \"s\"\n],\n \"b\": [7]}";
        assert_eq!(lines(text, "list"), [3, 4, 6, 7]);
        assert_eq!((lines(text, "b"), lines(text, "a"), lines("", "a")), (vec![9], vec![], vec![]));
    }
}
