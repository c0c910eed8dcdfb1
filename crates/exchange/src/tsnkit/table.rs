//! Tables of tsnkit: comma-separated, with a heading; links are pairs of numbers, listeners lists of them, and times nanoseconds.

use crate::Converted;

/// What a table is, by its heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Tasks,
    Topology,
    Gates,
    Offsets,
    Routes,
    Queues,
    Delays,
    Names,
}

/// The headings, in any order of columns. Older files number streams in `id`.
const HEADINGS: [(Kind, &[&str]); 8] = [
    (Kind::Tasks, &["stream", "src", "dst", "size", "period", "deadline", "jitter"]),
    (Kind::Topology, &["link", "q_num", "rate", "t_proc", "t_prop"]),
    (Kind::Gates, &["link", "queue", "start", "end", "cycle"]),
    (Kind::Offsets, &["stream", "frame", "offset"]),
    (Kind::Routes, &["stream", "link"]),
    (Kind::Queues, &["stream", "frame", "link", "queue"]),
    (Kind::Delays, &["stream", "frame", "delay"]),
    (Kind::Names, &["kind", "number", "name"]),
];

/// A table.
pub(super) struct Table {
    /// Name of its file.
    name: String,
    columns: Vec<String>,
    /// Rows with the numbers of their lines.
    rows: Vec<(usize, Vec<String>)>,
}

/// A row of a table.
#[derive(Clone, Copy)]
pub(super) struct Row<'t> {
    table: &'t Table,
    line: usize,
    cells: &'t [String],
}

impl Table {
    /// Reads a table, and what it is.
    pub(super) fn read(name: &str, text: &str, converted: &mut Converted) -> Result<(Kind, Self), String> {
        let mut rows = rows(text.trim_start_matches('\u{feff}'))
            .map_err(|line| format!("{name}, line {line}: a quotation mark without a second one"))?
            .into_iter();
        let (_, columns) = rows.next().ok_or_else(|| format!("{name}: it has no heading"))?;
        let columns: Vec<String> = columns
            .into_iter()
            .map(|column| if column == "id" { "stream".to_owned() } else { column })
            .collect();
        let is = |heading: &[&str]| {
            heading.len() == columns.len() && heading.iter().all(|name| columns.iter().any(|own| own == name))
        };
        let kind =
            HEADINGS.iter().find(|(_, heading)| is(heading)).map(|(kind, _)| *kind).ok_or_else(|| {
                let known = HEADINGS[..7].iter().map(|(_, heading)| heading.join(",")).collect::<Vec<_>>();
                format!(
                    "{name}: its heading is `{}`: tables have one of {}",
                    columns.join(","),
                    known.join("; ")
                )
            })?;
        let (rows, others): (Vec<_>, Vec<_>) = rows.partition(|(_, cells)| cells.len() == columns.len());
        for (line, cells) in others {
            converted.fault(format!(
                "{name}, line {line}: {} values for {} columns",
                cells.len(),
                columns.len()
            ));
        }
        Ok((kind, Self { name: name.to_owned(), columns, rows }))
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|(line, cells)| Row { table: self, line: *line, cells })
    }
}

/// Rows with the numbers of their lines; the line of a quotation mark without a second one.
fn rows(text: &str) -> Result<Vec<(usize, Vec<String>)>, usize> {
    let (mut found, mut cells, mut cell) = (Vec::new(), Vec::new(), String::new());
    let (mut line, mut first, mut quoted) = (1, 1, None);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, quoted) {
            ('"', Some(_)) if letters.peek() == Some(&'"') => cell.extend(letters.next()),
            ('"', Some(_)) => quoted = None,
            ('"', None) => quoted = Some(line),
            (',', None) => cells.push(std::mem::take(&mut cell).trim().to_owned()),
            ('\n', None) => {
                cells.push(std::mem::take(&mut cell).trim().to_owned());
                found.push((first, std::mem::take(&mut cells)));
                first = line + 1;
            }
            _ => cell.push(letter),
        }
        line += usize::from(letter == '\n');
    }
    if let Some(line) = quoted {
        return Err(line);
    }
    cells.push(cell.trim().to_owned());
    found.push((first, cells));
    found.retain(|(_, cells)| cells.iter().any(|cell| !cell.is_empty()));
    Ok(found)
}

impl<'t> Row<'t> {
    /// A fault of this row.
    pub(super) fn fault(self, what: impl std::fmt::Display) -> String {
        format!("{}: {what}", self.place())
    }

    /// Its file and line.
    pub(super) fn place(self) -> String {
        format!("{}, line {}", self.table.name, self.line)
    }

    pub(super) fn text(self, column: &str) -> &'t str {
        let at = self.table.columns.iter().position(|name| name == column);
        &self.cells[at.expect("the heading has the columns of its kind")]
    }

    fn wrong(self, column: &str, what: &str) -> String {
        self.fault(format_args!("`{column}` is `{}`: it must be {what}", self.text(column)))
    }

    /// A number.
    pub(super) fn number(self, column: &str) -> Result<u64, String> {
        scaled(self.text(column), 0).ok_or_else(|| self.wrong(column, "a whole number"))
    }

    /// A time in nanoseconds, at most a day, as picoseconds.
    pub(super) fn time(self, column: &str) -> Result<u64, String> {
        let found = scaled(self.text(column), 3).filter(|ps| *ps <= super::DAY);
        found.ok_or_else(|| self.wrong(column, "nanoseconds, at most a day"))
    }

    /// A rate in bits per nanosecond, as bits per second.
    pub(super) fn rate(self) -> Result<u64, String> {
        let range = 10_000_000..=100_000_000_000;
        let found = scaled(self.text("rate"), 9).filter(|rate| range.contains(rate));
        found.ok_or_else(|| self.wrong("rate", "bits per nanosecond, from 0.01 to 100"))
    }

    /// A link: two numbers in brackets.
    pub(super) fn link(self) -> Result<(u64, u64), String> {
        let inner = self.text("link").strip_prefix('(').and_then(|text| text.strip_suffix(')'));
        let ends = inner.and_then(|text| text.split_once(','));
        let ends = ends.and_then(|(from, to)| Some((from.trim().parse().ok()?, to.trim().parse().ok()?)));
        ends.ok_or_else(|| self.wrong("link", "two numbers of nodes, such as (2, 0)"))
    }

    /// Numbers in square brackets; or one without them.
    pub(super) fn numbers(self, column: &str) -> Result<Vec<u64>, String> {
        let text = self.text(column);
        let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
        let found: Result<Vec<u64>, _> = inner.split(',').map(|number| number.trim().parse()).collect();
        found.map_err(|_| self.wrong(column, "numbers of nodes, such as [3]"))
    }
}

/// A decimal number times a power of ten, if that is whole.
fn scaled(text: &str, digits: usize) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let fraction = fraction.trim_end_matches('0');
    let is_number = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(fraction) || fraction.len() > digits {
        return None;
    }
    format!("{whole}{fraction:0<digits$}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        for (text, digits, expected) in [
            ("2000", 3, Some(2_000_000)),
            ("2000.0", 0, Some(2_000)),
            ("0.1", 9, Some(100_000_000)),
            ("1.2345", 3, None),
            ("-1", 3, None),
            ("1e3", 3, None),
            ("", 0, None),
            (".5", 3, None),
        ] {
            assert_eq!(scaled(text, digits), expected, "{text}");
        }
    }

    #[test]
    fn cells_may_have_commas_and_quotation_marks() {
        let found = rows("a,b\r\n\"(1, 2)\",\"x \"\"y\"\"\"\n\n3, 4 ").unwrap();
        let cells = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            found,
            [(1, cells(&["a", "b"])), (2, cells(&["(1, 2)", "x \"y\""])), (4, cells(&["3", "4"]))]
        );
        assert_eq!(rows("a\n\"b\nc"), Err(2));
    }
}
