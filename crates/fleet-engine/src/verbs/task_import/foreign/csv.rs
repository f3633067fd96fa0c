//! Comma-separated values: quoted fields may have commas, line ends and doubled quotes.

use std::collections::BTreeMap;

/// The records of a text, with the header.
pub(super) fn records(text: &str) -> Vec<Vec<String>> {
    let (mut records, mut record, mut field) = (Vec::new(), Vec::new(), String::new());
    let mut chars = text.trim_start_matches('\u{feff}').chars().peekable();
    let mut is_quoted = false;
    while let Some(c) = chars.next() {
        match (c, is_quoted) {
            ('"', true) if chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            ('"', _) => is_quoted = !is_quoted,
            (',', false) => record.push(std::mem::take(&mut field)),
            ('\r', false) => {}
            ('\n', false) => {
                record.push(std::mem::take(&mut field));
                records.push(std::mem::take(&mut record));
            }
            (c, _) => field.push(c),
        }
    }
    if !field.is_empty() || !record.is_empty() {
        record.push(field);
        records.push(record);
    }
    records.retain(|record| record.iter().any(|field| !field.is_empty()));
    records
}

/// A record by the names of its columns.
#[derive(Debug, Clone, Default)]
pub(super) struct CsvRow(BTreeMap<String, String>);

impl CsvRow {
    /// Empty if there is no such column.
    pub(super) fn get(&self, column: &str) -> String {
        self.0.get(column).cloned().unwrap_or_default()
    }

    /// Values that are separated by commas in one field.
    pub(super) fn list(&self, column: &str) -> Vec<String> {
        let parts = self.get(column);
        parts.split(',').map(str::trim).filter(|part| !part.is_empty()).map(ToOwned::to_owned).collect()
    }
}

pub(super) fn table(text: &str) -> Result<Vec<CsvRow>, String> {
    let mut records = records(text).into_iter();
    let header = records.next().ok_or("the file is empty")?;
    let mut rows = Vec::new();
    for (at, record) in records.enumerate() {
        if record.len() > header.len() {
            return Err(format!("record {}: more fields than the header has", at + 1));
        }
        rows.push(CsvRow(header.iter().cloned().zip(record).collect()));
    }
    Ok(rows)
}
