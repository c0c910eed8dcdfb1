//! Text tables as spreadsheets and text editors write them: CSV (RFC 4180) and its variants.
//!
//! * The text is UTF-8 or UTF-16, with or without a byte order mark; lines end in LF, CRLF or CR.
//! * Cells are separated by commas, semicolons or tabs: by the one that occurs most in the heading, or by that of a
//!   first line `sep=;`, as Excel writes and reads it. A first line with any other separator is a fault.
//! * Blanks around a cell do not count, nor those around a quoted one. A quoted cell may hold the separator, line
//!   ends, and quotes that are doubled.
//! * Blank lines, lines that begin with `#`, rows of empty cells and empty cells behind the last column are none.
//!
//! Each fault is reported once, with its place. The caller interprets the columns.

use std::borrow::Cow;

use super::codes;
use super::faults::Faults;
use super::tree::Place;

/// A cell, without the blanks around it.
#[derive(Clone, Debug)]
pub(crate) struct Cell<'t> {
    pub(crate) place: Place,
    pub(crate) text: Cow<'t, str>,
}

/// A table: every row has as many cells as the heading.
#[derive(Debug)]
pub(crate) struct Table<'t> {
    pub(crate) heading: Vec<Cell<'t>>,
    pub(crate) rows: Vec<Vec<Cell<'t>>>,
}

/// The text of a file, without its byte order mark.
pub(crate) fn decoded(octets: Vec<u8>) -> Result<String, String> {
    let wide = |from: fn([u8; 2]) -> u16| -> Result<String, String> {
        let (units, rest) = octets[2..].as_chunks::<2>();
        let units: Vec<u16> = units.iter().map(|unit| from(*unit)).collect();
        String::from_utf16(&units)
            .ok()
            .filter(|_| rest.is_empty())
            .ok_or_else(|| "begins like UTF-16, and is not valid UTF-16".to_owned())
    };
    match octets[..] {
        [0xff, 0xfe, ..] => wide(u16::from_le_bytes),
        [0xfe, 0xff, ..] => wide(u16::from_be_bytes),
        _ => match String::from_utf8(octets) {
            Ok(mut text) => {
                if text.starts_with('\u{feff}') {
                    text.drain(..'\u{feff}'.len_utf8());
                }
                Ok(text)
            }
            Err(error) => {
                let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
                let line = valid.iter().filter(|octet| **octet == b'\n').count() + 1;
                Err(format!("is not UTF-8 from line {line} on"))
            }
        },
    }
}

/// The table in `text`; none if it has no heading that can be read.
pub(crate) fn read<'t>(source: u32, text: &'t str, faults: &mut Faults) -> Option<Table<'t>> {
    let mut reader = Reader { source, text, at: 0, separator: ',' };
    let reported = faults.errors();
    reader.find_separator(faults);
    let mut heading = reader.record(faults)?;
    if faults.errors() > reported {
        return None;
    }
    while heading.len() > 1 && heading.last().is_some_and(|cell| cell.text.is_empty()) {
        heading.pop();
    }
    let mut rows = Vec::new();
    while let Some(mut row) = reader.record(faults) {
        if row.len() > heading.len() && row[heading.len()..].iter().all(|cell| cell.text.is_empty()) {
            row.truncate(heading.len());
        }
        if row.len() == heading.len() {
            rows.push(row);
        } else {
            let message = format!("this row has {} cells, and the heading has {}", row.len(), heading.len());
            let help = "give every row the same number of cells as the heading";
            faults.error(codes::TABLE, row[0].place, message, help);
        }
    }
    Some(Table { heading, rows })
}

/// The separator in a line `sep=;`, quoted or not; none: it is no such line.
fn stated_separator(line: &str) -> Option<&str> {
    let line = line.trim_matches(' ');
    let line = line.strip_prefix('"').and_then(|line| line.strip_suffix('"')).unwrap_or(line);
    let (sep, separator) = line.split_at_checked(4)?;
    sep.eq_ignore_ascii_case("sep=").then_some(separator)
}

struct Reader<'t> {
    source: u32,
    text: &'t str,
    at: usize,
    separator: char,
}

impl<'t> Reader<'t> {
    /// Reads what cells are apart by, from a line `sep=;` or from the heading.
    fn find_separator(&mut self, faults: &mut Faults) {
        self.skip_to_record();
        let rest = &self.text[self.at..];
        let line = rest.split(['\n', '\r']).next().unwrap_or_default();
        if let Some(stated) = stated_separator(line) {
            match stated {
                ";" | "," | "\t" => self.separator = stated.chars().next().unwrap_or(','),
                _ => {
                    let separator =
                        if stated.is_empty() { "nothing".to_owned() } else { format!("`{stated}`") };
                    let message =
                        format!("{separator} cannot separate cells: commas, semicolons and tabs can");
                    let help = "write `sep=;` (or `,`, or a tab) alone on the line, or remove the line";
                    faults.error(codes::TABLE, self.place(self.at, self.at + line.len()), message, help);
                }
            }
            self.at += line.len();
            return;
        }
        let count = |wanted: char| {
            let mut quoted = false;
            line.chars()
                .filter(|found| {
                    quoted ^= *found == '"';
                    !quoted && *found == wanted
                })
                .count()
        };
        self.separator =
            [',', ';', '\t'].into_iter().rev().max_by_key(|wanted| count(*wanted)).unwrap_or(',');
    }

    /// Passes over blank lines and remarks.
    fn skip_to_record(&mut self) {
        while self.at < self.text.len() {
            let rest = &self.text[self.at..];
            let line = rest.find(['\n', '\r']).map_or(rest, |end| &rest[..end]);
            if !line.trim().is_empty() && !line.trim_start().starts_with('#') {
                return;
            }
            self.at += line.len() + usize::from(line.len() < rest.len());
        }
    }

    /// The next record without a fault and with a cell that is not empty.
    fn record(&mut self, faults: &mut Faults) -> Option<Vec<Cell<'t>>> {
        loop {
            self.skip_to_record();
            if self.at >= self.text.len() {
                return None;
            }
            let reported = faults.errors();
            let mut record = Vec::new();
            loop {
                record.push(self.cell(faults));
                match self.text[self.at..].chars().next() {
                    Some(next) if next == self.separator => self.at += 1,
                    _ => break,
                }
            }
            if faults.errors() == reported && record.iter().any(|cell| !cell.text.is_empty()) {
                return Some(record);
            }
        }
    }

    fn place(&self, start: usize, end: usize) -> Place {
        let number = |octet: usize| u32::try_from(octet).unwrap_or(u32::MAX);
        Place { source: self.source, start: number(start), end: number(end) }
    }

    /// The position of the separator or of the end of the line, from `from` on.
    fn end_of_plain(&self, from: usize) -> usize {
        self.text[from..].find([self.separator, '\n', '\r']).map_or(self.text.len(), |end| from + end)
    }

    /// The cell that begins here; after it comes a separator, the end of the line or that of the text.
    fn cell(&mut self, faults: &mut Faults) -> Cell<'t> {
        let end = self.end_of_plain(self.at);
        let plain = &self.text[self.at..end];
        let start = self.at + (plain.len() - plain.trim_start().len());
        if self.text[start..].starts_with('"') {
            return self.quoted(start, faults);
        }
        self.at = end;
        let trimmed = plain.trim();
        Cell { place: self.place(start, start + trimmed.len()), text: Cow::Borrowed(trimmed) }
    }

    /// The quoted cell that begins at `start`.
    fn quoted(&mut self, start: usize, faults: &mut Faults) -> Cell<'t> {
        let mut content = String::new();
        let mut at = start + 1;
        loop {
            let Some(quote) = self.text[at..].find('"') else {
                let help = "close the quote, or double a quote that is part of the cell";
                let message = "this quote is not closed".to_owned();
                faults.error(codes::TABLE, self.place(start, start + 1), message, help);
                self.at = self.text.len();
                break;
            };
            content.push_str(&self.text[at..at + quote]);
            at += quote + 1;
            if self.text[at..].starts_with('"') {
                content.push('"');
                at += 1;
                continue;
            }
            self.at = self.end_of_plain(at);
            if !self.text[at..self.at].trim().is_empty() {
                let message = "text follows a closed quote".to_owned();
                let help = "double the quotes that are part of the cell";
                faults.error(codes::TABLE, self.place(at, self.at), message, help);
            }
            break;
        }
        Cell { place: self.place(start, self.at), text: Cow::Owned(content.trim().to_owned()) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cells(text: &str) -> (Vec<Vec<String>>, Vec<String>) {
        let mut faults = Faults::default();
        let table = read(0, text, &mut faults);
        let messages = faults.into_sorted().into_iter().map(|fault| fault.message).collect();
        let row = |row: Vec<Cell<'_>>| row.into_iter().map(|cell| cell.text.into_owned()).collect();
        let all = table.map(|table| std::iter::once(table.heading).chain(table.rows).map(row).collect());
        (all.unwrap_or_default(), messages)
    }

    #[test]
    fn all_forms_of_one_table_are_the_same() {
        let plain = cells("a,b,c\n1 us,x y,\n\"2,5\",\"say \"\"no\"\"\",z\n");
        assert_eq!(plain.1, Vec::<String>::new());
        assert_eq!(plain.0[2], ["2,5", "say \"no\"", "z"]);
        for other in [
            "a, b, c\n1 us, x y, \n \"2,5\" , \"say \"\"no\"\"\", z\n",
            "a;b;c\r\n1 us;x y;\r\n2,5;\"say \"\"no\"\"\";z\r\n",
            "a\tb\tc\r1 us\tx y\t\r2,5\t\"say \"\"no\"\"\"\tz",
            "sep=;\na;b;c;;\n\n# remark, with; all\t\n1 us;x y;;;\n;;\n2,5;\"say \"\"no\"\"\";z\n",
        ] {
            assert_eq!(cells(other), plain, "{other:?}");
        }
    }

    #[test]
    fn a_line_that_states_the_separator_is_used_or_reported() {
        let plain = cells("a,b\n1,2\n");
        for other in
            ["sep=;\r\na;b\r\n1;2", "\"sep=;\"\na;b\n1;2", "SEP=\t\na\tb\n1\t2", "# x\n sep=, \na,b\n1,2"]
        {
            assert_eq!(cells(other), plain, "{other:?}");
        }
        for other in ["sep=|\na|b\n", "sep=\na;b\n", "sep=;;\na;b\n"] {
            assert_eq!(cells(other).1.len(), 1, "{other:?}");
        }
    }

    #[test]
    fn each_fault_is_reported_once() {
        let (rows, faults) = cells("a,b\n1\n2,3\n\"x\" y,2\n4,5,6\n7,\"open\n8,9\n");
        assert_eq!(rows, [["a", "b"], ["2", "3"]]);
        assert_eq!(
            faults,
            [
                "this row has 1 cells, and the heading has 2",
                "text follows a closed quote",
                "this row has 3 cells, and the heading has 2",
                "this quote is not closed"
            ]
        );
        assert_eq!(cells("\"a\n1\n").1.len(), 1);
        assert_eq!(cells(""), (Vec::new(), Vec::new()));
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(text in "[a,;\t\r\n\"# ä\u{feff}\u{a0}=sep1]{0,60}") {
            let mut faults = Faults::default();
            if let Some(table) = read(0, &text, &mut faults) {
                prop_assert!(table.rows.iter().all(|row| row.len() == table.heading.len()));
                for cell in table.rows.iter().flatten() {
                    let place = cell.place.start as usize..cell.place.end as usize;
                    prop_assert!(text.get(place).is_some());
                }
            }
        }
    }

    #[test]
    fn texts_are_decoded_by_their_marks() {
        let wide = |mark: u16, to: fn(u16) -> [u8; 2]| -> Vec<u8> {
            std::iter::once(mark).chain("ä;b\n".encode_utf16()).flat_map(to).collect()
        };
        for octets in [
            "ä;b\n".into(),
            "\u{feff}ä;b\n".into(),
            wide(0xfeff, u16::to_le_bytes),
            wide(0xfeff, u16::to_be_bytes),
        ] {
            assert_eq!(decoded(octets), Ok("ä;b\n".to_owned()));
        }
        assert_eq!(decoded(vec![b'\n', 0xe4]), Err("is not UTF-8 from line 2 on".to_owned()));
        assert!(decoded(vec![0xff, 0xfe, 0x00]).is_err());
        assert!(decoded(vec![0xff, 0xfe, 0x00, 0xd8]).is_err());
    }
}
