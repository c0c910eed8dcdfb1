//! A table of text: as wide as its contents and no wider than a limit.
//!
//! The least important columns are removed first, then texts are cut short; rows that do not fit are counted below the table.

use std::fmt::Write;

/// Limits of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableOptions {
    /// Most columns of characters.
    pub width: usize,
    /// Most rows; what is left out is counted below the table.
    pub rows: usize,
}

impl Default for TableOptions {
    fn default() -> Self {
        Self { width: 120, rows: usize::MAX }
    }
}

/// One column.
#[derive(Clone, Copy)]
pub(crate) struct Column<'t> {
    title: &'t str,
    is_text: bool,
    /// The column with the greatest number goes first if there is no room; 0 stays.
    expendable: u8,
}

/// A column of texts, to the left.
pub(crate) const fn text(title: &str, expendable: u8) -> Column<'_> {
    Column { title, is_text: true, expendable }
}

/// A column of numbers, to the right.
pub(crate) const fn number(title: &str, expendable: u8) -> Column<'_> {
    Column { title, is_text: false, expendable }
}

/// Narrowest that a text is cut to.
const TEXT_MIN: usize = 8;

/// The rows below their titles, the first ones if there are too many; nothing without rows.
pub(crate) fn render(columns: &[Column<'_>], rows: &[Vec<String>], options: TableOptions) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let left_out = rows.len().saturating_sub(options.rows);
    let mut table = lines(columns, &rows[..rows.len() - left_out], options.width);
    if left_out > 0 {
        writeln!(table, "… and {left_out} more").expect("a string can be written");
    }
    table
}

fn lines(columns: &[Column<'_>], rows: &[Vec<String>], width: usize) -> String {
    let mut widths: Vec<usize> = columns
        .iter()
        .enumerate()
        .map(|(index, column)| {
            let cells = rows.iter().map(|row| row[index].chars().count());
            cells.chain([column.title.chars().count()]).max().unwrap_or_default()
        })
        .collect();
    let mut shown: Vec<usize> = (0..columns.len()).collect();
    let total = |shown: &[usize], widths: &[usize]| {
        shown.iter().map(|index| widths[*index] + 2).sum::<usize>().saturating_sub(2)
    };
    while total(&shown, &widths) > width {
        let Some(place) = (0..shown.len())
            .filter(|place| columns[shown[*place]].expendable > 0)
            .max_by_key(|place| columns[shown[*place]].expendable)
        else {
            break;
        };
        shown.remove(place);
    }
    while total(&shown, &widths) > width {
        let Some(widest) = shown
            .iter()
            .copied()
            .filter(|index| columns[*index].is_text && widths[*index] > TEXT_MIN)
            .max_by_key(|index| widths[*index])
        else {
            break;
        };
        widths[widest] -= 1;
    }
    let mut table = String::new();
    let titles: Vec<_> = columns.iter().map(|column| column.title.to_owned()).collect();
    write_row(&mut table, columns, &shown, &widths, &titles);
    let rules: Vec<_> = widths.iter().map(|width| "─".repeat(*width)).collect();
    write_row(&mut table, columns, &shown, &widths, &rules);
    for row in rows {
        write_row(&mut table, columns, &shown, &widths, row);
    }
    table
}

fn write_row(table: &mut String, columns: &[Column<'_>], shown: &[usize], widths: &[usize], row: &[String]) {
    let mut line = String::new();
    for index in shown {
        let (width, cell) = (widths[*index], cut(&row[*index], widths[*index]));
        let padding = " ".repeat(width - cell.chars().count());
        if !line.is_empty() {
            line.push_str("  ");
        }
        if columns[*index].is_text {
            line.push_str(&cell);
            line.push_str(&padding);
        } else {
            line.push_str(&padding);
            line.push_str(&cell);
        }
    }
    table.push_str(line.trim_end());
    table.push('\n');
}

/// At most `width` characters of a cell, with an ellipsis for the rest.
fn cut(cell: &str, width: usize) -> String {
    if cell.chars().count() <= width {
        return cell.to_owned();
    }
    cell.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}
