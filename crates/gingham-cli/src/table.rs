//! Columns that line up.

use std::io::{self, Write};

use crate::render::style::{DIM, NAME};

/// Labels on the left, what they say on the right; further lines of one label are put below each other.
#[derive(Debug, Default)]
pub struct Facts(Vec<(String, String)>);

impl Facts {
    /// No facts yet.
    pub fn new() -> Self {
        Facts::default()
    }
    /// Adds a fact.
    pub fn add(&mut self, label: impl Into<String>, what: impl Into<String>) -> &mut Self {
        self.0.push((label.into(), what.into()));
        self
    }
    /// Prints them with two spaces between the columns.
    pub fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let width = self.0.iter().map(|(l, _)| l.chars().count()).max().unwrap_or(0);
        for (label, what) in &self.0 {
            let gap = " ".repeat(width - label.chars().count());
            for (i, line) in what.lines().enumerate() {
                match i {
                    0 => writeln!(out, "{DIM}{label}{DIM:#}{gap}  {line}")?,
                    _ => writeln!(out, "{}  {line}", " ".repeat(width))?,
                }
            }
        }
        Ok(())
    }
}

/// Where a column's text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A table with a head.
#[derive(Debug)]
pub struct Table {
    head: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns. Columns without any title are printed without a head.
    pub fn new(head: &[(&str, Align)]) -> Self {
        Table { head: head.iter().map(|(t, a)| (t.to_string(), *a)).collect(), rows: Vec::new() }
    }
    /// Adds a row; cells that are missing stay empty.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) -> &mut Self {
        self.rows.push(cells.into_iter().collect());
        self
    }
    /// Prints it with two spaces between the columns and none at the end of a line.
    pub fn print(&self, out: &mut dyn Write, indent: &str) -> io::Result<()> {
        let mut widths: Vec<usize> = self.head.iter().map(|(t, _)| t.chars().count()).collect();
        for row in &self.rows {
            // Behind the last cell of a row that is short of some nothing has to line up: it may be as long as it likes.
            let measured = if row.len() < self.head.len() { row.len().saturating_sub(1) } else { row.len() };
            for (width, cell) in widths.iter_mut().zip(&row[..measured]) {
                *width = (*width).max(cell.chars().count());
            }
        }
        if self.head.iter().any(|(t, _)| !t.is_empty()) {
            let titles: Vec<String> = self.head.iter().map(|(t, _)| t.clone()).collect();
            writeln!(out, "{indent}{DIM}{}{DIM:#}", self.line(&titles, &widths))?;
        }
        for row in &self.rows {
            let line = self.line(row, &widths);
            match row.first().filter(|f| self.head.first().is_some_and(|(_, a)| *a == Align::Left) && line.starts_with(f.as_str())) {
                Some(first) => writeln!(out, "{indent}{NAME}{first}{NAME:#}{}", &line[first.len()..])?,
                None => writeln!(out, "{indent}{line}")?,
            }
        }
        Ok(())
    }
    fn line(&self, cells: &[String], widths: &[usize]) -> String {
        let mut line = String::new();
        for (i, ((_, align), &width)) in self.head.iter().zip(widths).enumerate() {
            let cell = cells.get(i).map_or("", String::as_str);
            let gap = " ".repeat(width - cell.chars().count().min(width));
            if i > 0 {
                line.push_str("  ");
            }
            match align {
                Align::Left => line.extend([cell, &gap]),
                Align::Right => line.extend([gap.as_str(), cell]),
            }
        }
        line.trim_end().to_string()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn plain(print: impl Fn(&mut dyn Write) -> io::Result<()>) -> String {
        let mut out = anstream::StripStream::new(Vec::new());
        print(&mut out).unwrap();
        String::from_utf8(out.into_inner()).unwrap()
    }

    #[test]
    fn facts_line_up() {
        let mut facts = Facts::new();
        facts.add("shape", "3 x 4").add("data type", "int32").add("grid", "a\nb");
        assert_eq!(plain(|o| facts.print(o)), "shape      3 x 4\ndata type  int32\ngrid       a\n           b\n");
    }

    #[test]
    fn tables_line_up_and_end_without_spaces() {
        let mut table = Table::new(&[("what", Align::Left), ("n", Align::Right), ("note", Align::Left)]);
        table.row(["a".into(), "1,000".into(), "x".into()]).row(["long".into(), "5".into()]);
        assert_eq!(plain(|o| table.print(o, "")), "what      n  note\na     1,000  x\nlong      5\n");
    }

    #[test]
    fn a_sentence_at_the_end_of_a_row_does_not_widen_its_column() {
        let mut table = Table::new(&[("", Align::Left), ("", Align::Left), ("", Align::Left)]);
        table.row(["a".into(), "int8".into(), "3".into()]).row(["bad".into(), "cannot be opened: no".into()]);
        assert_eq!(plain(|o| table.print(o, "")), "a    int8  3\nbad  cannot be opened: no\n");
    }
}
