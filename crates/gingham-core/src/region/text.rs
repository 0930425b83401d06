//! Selections as text: read and printed, each the inverse of the other.
//!
//! ```text
//!   (empty)                     everything           0:31, ..., ::-1, None, [1, 2], [True, False]   by position
//!   time=0:31, "a b"=[1, 2]     by name              vindex[[0, 1], [2, 3]]   vindex[3, 4]          points
//!   blocks[0, 1:3]              by chunk             ()   {}   mask[]                               the empty ones
//! ```
//! Points of more than one axis carry their shape: `vindex[[0, 1, 2, 3]].reshape(2, 2)`.

use std::fmt::{self, Display, Formatter};

use super::{Index, Selection, SelectionError};
use crate::Shape;
use crate::grid::clipped;

impl Selection {
    /// Reads a selection as NumPy writes it (`0:31, :, 100`, `..., None, [1, 2, 3]`, `::-1`) or by name
    /// (`time=0:31, lat=[1,2]`), points as `vindex[[0, 1], [2, 3]]` and chunks as `blocks[0, 1:3]`. The empty text is everything.
    pub fn parse(text: &str) -> Result<Self, SelectionError> {
        let mut parser = Parser { text, at: 0 };
        let selection = parser.selection()?;
        parser.space();
        if parser.at < text.len() { Err(parser.expected("the end")) } else { Ok(selection) }
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

/// What a list in brackets holds.
enum List {
    Indices(Vec<i64>),
    Mask(Vec<bool>),
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }
    fn space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }
    /// Takes a token, with the space before it.
    fn take(&mut self, token: &str) -> bool {
        self.space();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }
    /// Takes a word that is not the beginning of a longer one.
    fn take_word(&mut self, word: &str) -> bool {
        self.space();
        let rest = self.rest();
        rest.strip_prefix(word).is_some_and(|after| !after.starts_with(is_name)) && self.take(word)
    }
    fn expected(&self, what: &str) -> SelectionError {
        let place = self.text[..self.at].chars().count() + 1;
        let found = if self.rest().is_empty() { "the text ends".to_string() } else { format!("there is '{}'", clipped(self.rest())) };
        SelectionError::malformed(format!("the selection has no {what} at character {place}: {found}"))
    }
    fn need(&mut self, token: &str) -> Result<(), SelectionError> {
        if self.take(token) { Ok(()) } else { Err(self.expected(&format!("'{token}'"))) }
    }

    fn selection(&mut self) -> Result<Selection, SelectionError> {
        self.space();
        if self.rest().is_empty() {
            return Ok(Selection::All);
        }
        if self.take("vindex[") {
            return self.points();
        }
        if self.take("blocks[") {
            return Ok(Selection::Blocks(self.entries("]")?));
        }
        if self.take("(") {
            return Ok(Selection::Orthogonal(self.entries(")")?));
        }
        if self.take("{") {
            self.need("}")?;
            return Ok(Selection::Named(Vec::new()));
        }
        match self.name()? {
            Some(first) => self.named(first),
            None => Ok(Selection::Orthogonal(self.entries("")?)),
        }
    }

    /// Entries up to `close` (the end of the text where it is empty); a comma may stand behind the last.
    fn entries(&mut self, close: &str) -> Result<Vec<Index>, SelectionError> {
        let mut entries = Vec::new();
        loop {
            if self.closed(close) {
                return Ok(entries);
            }
            entries.push(self.entry()?);
            if !self.take(",") {
                return if self.closed(close) { Ok(entries) } else { Err(self.expected("','")) };
            }
        }
    }
    fn closed(&mut self, close: &str) -> bool {
        self.space();
        if close.is_empty() { self.rest().is_empty() } else { self.take(close) }
    }

    /// A dimension's name and the `=` behind it, or nothing.
    fn name(&mut self) -> Result<Option<String>, SelectionError> {
        self.space();
        let before = self.at;
        let name = if self.rest().starts_with('"') {
            self.quoted()?
        } else {
            let rest = self.rest();
            let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
            self.at += end;
            rest[..end].to_string()
        };
        if self.at > before && self.take("=") {
            return Ok(Some(name));
        }
        self.at = before;
        Ok(None)
    }
    fn quoted(&mut self) -> Result<String, SelectionError> {
        let mut escaped = false;
        for (i, c) in self.rest().char_indices().skip(1) {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => {
                    let Ok(name) = serde_json::from_str::<String>(&self.rest()[..=i]) else { break };
                    self.at += i + 1;
                    return Ok(name);
                }
                _ => {}
            }
        }
        Err(self.expected("name in quotes"))
    }
    fn named(&mut self, first: String) -> Result<Selection, SelectionError> {
        let mut entries = vec![(first, self.entry()?)];
        while self.take(",") {
            if self.closed("") {
                break;
            }
            let Some(name) = self.name()? else { return Err(self.expected("'name='")) };
            entries.push((name, self.entry()?));
        }
        Ok(Selection::Named(entries))
    }

    fn entry(&mut self) -> Result<Index, SelectionError> {
        if self.take("...") {
            return Ok(Index::Ellipsis);
        }
        if self.take_word("None") || self.take_word("newaxis") || self.take_word("np.newaxis") {
            return Ok(Index::NewAxis);
        }
        if self.take("mask[") {
            self.need("]")?;
            return Ok(Index::Mask(Vec::new()));
        }
        if self.take("[") {
            return Ok(match self.list()? {
                List::Indices(list) => Index::List(list),
                List::Mask(mask) => Index::Mask(mask),
            });
        }
        let start = self.integer()?;
        if !self.take(":") {
            return start.map(Index::At).ok_or_else(|| self.expected("index, slice or list"));
        }
        let stop = self.integer()?;
        let step = if self.take(":") { self.integer()? } else { None };
        if step == Some(0) {
            return Err(SelectionError::malformed("the step of a slice is 0"));
        }
        Ok(Index::Slice { start, stop, step })
    }

    /// Indices, or `True` and `False`, behind an open bracket.
    fn list(&mut self) -> Result<List, SelectionError> {
        let (mut indices, mut mask) = (Vec::new(), Vec::new());
        while !self.take("]") {
            if self.take_word("True") || self.take_word("true") {
                mask.push(true);
            } else if self.take_word("False") || self.take_word("false") {
                mask.push(false);
            } else {
                let index = self.integer()?;
                indices.push(index.ok_or_else(|| self.expected("index, True or False"))?);
            }
            if !self.take(",") {
                self.need("]")?;
                break;
            }
        }
        match (indices.is_empty(), mask.is_empty()) {
            (false, false) => Err(SelectionError::malformed("a list holds indices or True and False, not both")),
            (true, false) => Ok(List::Mask(mask)),
            _ => Ok(List::Indices(indices)),
        }
    }

    /// An integer, or nothing.
    fn integer(&mut self) -> Result<Option<i64>, SelectionError> {
        self.space();
        let rest = self.rest();
        let sign = usize::from(rest.starts_with(['-', '+']));
        let digits = rest[sign..].find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len() - sign);
        if digits == 0 {
            return if sign == 1 { Err(self.expected("index")) } else { Ok(None) };
        }
        let text = &rest[..sign + digits];
        let Ok(number) = text.parse() else {
            return Err(SelectionError::malformed(format!("the index {} does not fit 64 bits", clipped(text))));
        };
        self.at += text.len();
        Ok(Some(number))
    }

    /// Lists of coordinates, or one point, behind `vindex[`.
    fn points(&mut self) -> Result<Selection, SelectionError> {
        let (mut coordinates, mut single) = (Vec::new(), Vec::new());
        for entry in self.entries("]")? {
            match entry {
                Index::At(i) => single.push(i),
                Index::List(list) => coordinates.push(list),
                _ => return Err(SelectionError::malformed("vindex takes one list of indices per axis, or one index per axis")),
            }
        }
        let mut shape = Shape::new();
        match (coordinates.first(), single.is_empty()) {
            (Some(_), false) => return Err(SelectionError::malformed("vindex takes lists or indices, not both: give every axis a list")),
            (Some(first), true) => shape.push(first.len() as u64),
            (None, _) => coordinates = single.into_iter().map(|i| vec![i]).collect(),
        }
        if self.take(".reshape(") {
            shape = Shape::new();
            while !self.take(")") {
                let length = self.integer()?.and_then(|n| u64::try_from(n).ok());
                shape.push(length.ok_or_else(|| self.expected("length"))?);
                if !self.take(",") {
                    self.need(")")?;
                    break;
                }
            }
        }
        let count = super::product(&shape);
        if let Some(wrong) = coordinates.iter().position(|list| count != Some(list.len() as u64)) {
            let (found, shape) = (coordinates[wrong].len(), shape.as_slice());
            return Err(SelectionError::malformed(format!(
                "list {wrong} of vindex has {found} entries, but the points have shape {shape:?}"
            )));
        }
        Ok(Selection::Points { coordinates, shape })
    }
}

/// A character of a name that needs no quotes.
fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

impl Display for Selection {
    /// As NumPy writes it; `parse(print(x)) == x`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Selection::All => Ok(()),
            Selection::Orthogonal(entries) if entries.is_empty() => f.write_str("()"),
            Selection::Orthogonal(entries) => commas(f, entries, |f, entry| entry.fmt(f)),
            Selection::Named(entries) if entries.is_empty() => f.write_str("{}"),
            Selection::Named(entries) => commas(f, entries, |f, (name, entry)| {
                if !name.is_empty() && name.chars().all(is_name) {
                    f.write_str(name)?
                } else {
                    write!(f, "{}", crate::json::Value::from(name.as_str()))?
                }
                write!(f, "={entry}")
            }),
            Selection::Blocks(entries) => {
                f.write_str("blocks[")?;
                commas(f, entries, |f, entry| entry.fmt(f))?;
                f.write_str("]")
            }
            Selection::Points { coordinates, shape } => points_fmt(f, coordinates, shape),
        }
    }
}

fn points_fmt(f: &mut Formatter<'_>, coordinates: &[Vec<i64>], shape: &Shape) -> fmt::Result {
    f.write_str("vindex[")?;
    if shape.is_empty() {
        commas(f, coordinates, |f, list| commas(f, list, |f, i| i.fmt(f)))?;
        return f.write_str("]");
    }
    commas(f, coordinates, |f, list| bracketed(f, list, |f, i| i.fmt(f)))?;
    f.write_str("]")?;
    if coordinates.is_empty() || shape.len() != 1 {
        f.write_str(".reshape(")?;
        commas(f, shape, |f, n| n.fmt(f))?;
        f.write_str(")")?;
    }
    Ok(())
}

impl Display for Index {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Index::At(i) => i.fmt(f),
            Index::Ellipsis => f.write_str("..."),
            Index::NewAxis => f.write_str("None"),
            Index::List(list) => bracketed(f, list, |f, i| i.fmt(f)),
            Index::Mask(mask) if mask.is_empty() => f.write_str("mask[]"),
            Index::Mask(mask) => bracketed(f, mask, |f, take| f.write_str(if *take { "True" } else { "False" })),
            Index::Slice { start, stop, step } => {
                start.map_or(Ok(()), |n| n.fmt(f))?;
                f.write_str(":")?;
                stop.map_or(Ok(()), |n| n.fmt(f))?;
                step.map_or(Ok(()), |n| write!(f, ":{n}"))
            }
        }
    }
}

fn bracketed<T>(f: &mut Formatter<'_>, items: &[T], one: impl Fn(&mut Formatter<'_>, &T) -> fmt::Result) -> fmt::Result {
    f.write_str("[")?;
    commas(f, items, one)?;
    f.write_str("]")
}

fn commas<T>(f: &mut Formatter<'_>, items: &[T], one: impl Fn(&mut Formatter<'_>, &T) -> fmt::Result) -> fmt::Result {
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            f.write_str(", ")?;
        }
        one(f, item)?;
    }
    Ok(())
}
