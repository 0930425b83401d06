//! Values as CSV: a 1-D array as one column, a 2-D one as rows, more axes as index columns beside the value.

use std::io::Write;

use gingham::core::dtype::{Spelling, format_element};
use gingham::{DataType, Elements};
use serde_json::Value;

use crate::error::Result;
use crate::values;

/// Writes a read as CSV piece by piece.
pub struct Sheet<W: Write> {
    out: W,
    shape: Vec<u64>,
    /// The next element's index.
    at: Vec<u64>,
}

impl<W: Write> Sheet<W> {
    /// Begins. `names` are the titles of the index columns, one per axis of `shape`.
    pub fn begin(mut out: W, shape: &[u64], names: &[String], data_type: &DataType) -> Result<Self> {
        let members: Option<Vec<String>> = match data_type {
            DataType::Struct(fields) => Some(fields.iter().map(|f| quoted(&f.name)).collect()),
            _ => None,
        };
        if shape.len() > 2 {
            let titles: Vec<String> = names.iter().map(|n| quoted(n)).chain(members.unwrap_or_else(|| vec!["value".into()])).collect();
            writeln!(out, "{}", titles.join(","))?;
        } else if let Some(members) = members.filter(|_| shape.len() < 2) {
            writeln!(out, "{}", members.join(","))?;
        }
        Ok(Sheet { out, at: vec![0; shape.len()], shape: shape.to_vec() })
    }
    /// Adds elements.
    pub fn add(&mut self, elements: &Elements, data_type: &DataType, count: usize) -> Result<()> {
        values::each(elements, data_type, count, |element| {
            let value = format_element(data_type, element, Spelling::Plain);
            let cell = match (&value, self.shape.len()) {
                (Value::Array(members), n) if n != 2 && matches!(data_type, DataType::Struct(_)) => {
                    members.iter().map(|m| cell(m, &DataType::Bool)).collect::<Vec<_>>().join(",")
                }
                _ => cell(&value, data_type),
            };
            self.put(&cell)
        })
    }
    fn put(&mut self, cell: &str) -> Result<()> {
        let n = self.shape.len();
        if n > 2 {
            for i in &self.at {
                write!(self.out, "{i},")?;
            }
        }
        let end = if n == 2 && self.at[1] + 1 < self.shape[1] { "," } else { "\n" };
        write!(self.out, "{cell}{end}")?;
        for i in (0..n).rev() {
            self.at[i] += 1;
            if self.at[i] < self.shape[i] {
                break;
            }
            self.at[i] = 0;
        }
        Ok(())
    }
    /// Ends it.
    pub fn end(mut self) -> Result<()> {
        Ok(self.out.flush()?)
    }
}

/// One value: text quoted where it must be, complex numbers as `1.5-2j`, nested values as their JSON.
fn cell(value: &Value, data_type: &DataType) -> String {
    match (value, data_type) {
        (Value::String(s), _) => quoted(s),
        (Value::Array(parts), DataType::Complex(_)) if parts.len() == 2 => {
            let part = |v: &Value| v.as_str().map_or_else(|| v.to_string(), |s| s.replace("Infinity", "inf").replace("NaN", "nan"));
            let (re, im) = (part(&parts[0]), part(&parts[1]));
            if im.starts_with('-') { format!("{re}{im}j") } else { format!("{re}+{im}j") }
        }
        (Value::Array(_) | Value::Object(_), _) => quoted(&value.to_string()),
        _ => value.to_string(),
    }
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) || text.starts_with(' ') || text.ends_with(' ') {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_string()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("say \"x\""), "\"say \"\"x\"\"\"");
        assert_eq!(quoted("plain"), "plain");
        let complex = DataType::Complex(gingham::core::dtype::Float::F32);
        assert_eq!(cell(&serde_json::json!([1.5, -2.0]), &complex), "1.5-2.0j");
        assert_eq!(cell(&serde_json::json!(["NaN", "Infinity"]), &complex), "nan+infj");
        assert_eq!(cell(&serde_json::json!([1, [2, 3]]), &DataType::Bool), "\"[1,[2,3]]\"");
    }

    fn sheet(shape: &[u64], cells: &[&str]) -> String {
        let mut out = Vec::new();
        let names: Vec<String> = (0..shape.len()).map(|i| format!("axis {i}")).collect();
        let mut sheet = Sheet::begin(&mut out, shape, &names, &DataType::UInt8).unwrap();
        cells.iter().for_each(|c| sheet.put(c).unwrap());
        sheet.end().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_rank_decides_the_layout() {
        assert_eq!(sheet(&[], &["5"]), "5\n");
        assert_eq!(sheet(&[3], &["1", "2", "3"]), "1\n2\n3\n");
        assert_eq!(sheet(&[2, 2], &["1", "2", "3", "4"]), "1,2\n3,4\n");
        assert_eq!(sheet(&[1, 1, 2], &["7", "8"]), "axis 0,axis 1,axis 2,value\n0,0,0,7\n0,0,1,8\n");
    }
}
