//! Tables that results show all alike, in `summary.json`, on the page and in the command's output: what plug-ins observed, requests that were
//! refused, frames of protocols that were lost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tautwire_model::Network;
use tautwire_observe::{Cell, Table};
use tautwire_sim::Observation;

use crate::admission::refusal;
use crate::control_losses;
use crate::grid::{Column, TableOptions, number, render, text};
use crate::summary::Summary;

/// A table of what a mechanism observed, or of what happened to its frames and requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MechanismTable {
    /// Its name: the mechanism's, and what a row is.
    pub name: String,
    /// Its title.
    pub title: String,
    /// What a row is, in a sentence.
    pub about: String,
    /// Its columns; the name of a time ends in `_ps`.
    pub columns: Vec<TableColumn>,
    /// Its rows: a text, a number or nothing for each column.
    pub rows: Vec<Vec<TableCell>>,
}

/// A column of such a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TableColumn {
    /// Its name for programs.
    pub name: String,
    /// Its title.
    pub title: String,
}

/// A cell of such a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum TableCell {
    /// A number; of picoseconds, if its column is a time.
    Number(u64),
    /// A text.
    Text(String),
    /// Nothing.
    None(()),
}

/// The tables of a run.
pub(crate) fn summaries(network: &Network, observation: &Observation) -> Vec<MechanismTable> {
    let of_all = [refusal::requests(network, observation), control_losses::table(network, observation)];
    let tables = observation.mechanisms.tables().into_iter().chain(of_all.into_iter().flatten());
    tables.map(MechanismTable::from).collect()
}

impl From<Table> for MechanismTable {
    fn from(table: Table) -> Self {
        let column = |column: &tautwire_observe::Column| TableColumn {
            name: column.name.to_owned(),
            title: column.title.to_owned(),
        };
        let cell = |cell| match cell {
            Cell::None => TableCell::None(()),
            Cell::Text(text) => TableCell::Text(text),
            Cell::Number(number) => TableCell::Number(number),
        };
        Self {
            name: table.name.to_owned(),
            title: table.title.to_owned(),
            about: table.about.to_owned(),
            columns: table.columns.iter().map(column).collect(),
            rows: table.rows.into_iter().map(|row| row.into_iter().map(cell).collect()).collect(),
        }
    }
}

/// All of them, one below the other; empty if there are none.
#[must_use]
pub fn tables(summary: &Summary, options: TableOptions) -> String {
    shown(&summary.mechanisms, options)
}

/// Such tables, one below the other; empty if none has a row.
#[must_use]
pub fn shown(tables: &[MechanismTable], options: TableOptions) -> String {
    let rendered: Vec<String> = tables.iter().map(|table| rendered(table, options)).collect();
    rendered.into_iter().filter(|table| !table.is_empty()).collect::<Vec<_>>().join("\n")
}

fn rendered(table: &MechanismTable, options: TableOptions) -> String {
    if table.rows.is_empty() {
        return String::new();
    }
    let is_time = |column: &TableColumn| column.name.ends_with("_ps");
    let titles: Vec<String> = table
        .columns
        .iter()
        .map(|column| if is_time(column) { format!("{} ms", column.title) } else { column.title.clone() })
        .collect();
    let is_number = |place: usize| !table.rows.iter().any(|row| matches!(row[place], TableCell::Text(_)));
    // Columns that count nothing anywhere go if there is no room.
    let is_empty =
        |row: &Vec<TableCell>, place: usize| matches!(row[place], TableCell::Number(0) | TableCell::None(()));
    let expendable = |place: usize| u8::from(table.rows.iter().all(|row| is_empty(row, place)));
    let columns: Vec<Column<'_>> = (0..titles.len())
        .map(|place| {
            let (title, expendable) = (&titles[place], expendable(place));
            if is_number(place) { number(title, expendable) } else { text(title, expendable) }
        })
        .collect();
    let cell = |(column, cell): (&TableColumn, &TableCell)| match cell {
        TableCell::Number(ps) if is_time(column) => {
            format!("{}.{:03}", ps / 1_000_000_000, ps / 1_000_000 % 1_000)
        }
        TableCell::Number(number) => number.to_string(),
        TableCell::Text(text) => text.clone(),
        TableCell::None(()) => "-".to_owned(),
    };
    let rows: Vec<Vec<String>> =
        table.rows.iter().map(|row| table.columns.iter().zip(row).map(cell).collect()).collect();
    // A sentence at the end of a row is not cut short.
    let is_sentence =
        table.rows.iter().any(|row| matches!(row.last(), Some(TableCell::Text(text)) if text.contains(' ')));
    let width = if is_sentence { usize::MAX } else { options.width };
    let rendered = render(&columns, &rows, TableOptions { width, ..options });
    format!("{}: {}\n{rendered}", table.title, lower(&table.about))
}

/// A sentence that follows a title.
fn lower(sentence: &str) -> String {
    let mut signs = sentence.trim_end_matches('.').chars();
    signs.next().map_or_else(String::new, |first| first.to_lowercase().chain(signs).collect())
}
