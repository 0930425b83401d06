//! The `template` chunk key encoding (open proposal, format.md 9): literal text with `{i}`, `{-i}` and `{*}` in it.

use super::{literal_fault, push_number};
use crate::Shape;

/// Widest zero padding: as long as the longest name of a file.
const MAX_WIDTH: usize = 255;

/// A template taken apart.
pub(super) struct Pattern<'a> {
    pieces: Vec<Piece<'a>>,
    separator: &'a str,
}

enum Piece<'a> {
    Literal(&'a str),
    Term { which: Which, width: usize },
}

#[derive(Clone, Copy)]
enum Which {
    FromStart(usize),
    /// -1 is the last axis.
    FromEnd(usize),
    Rest,
}

/// What a pattern writes for an array of known rank: literal text and single indices by turns.
enum Step<'a> {
    Literal(&'a str),
    Index { axis: usize, width: usize },
}

impl<'a> Pattern<'a> {
    /// Takes a template apart, or says in a sentence why it cannot be one.
    pub fn read(template: &'a str, separator: Option<&'a str>) -> Result<Self, String> {
        if template.starts_with('/') || template.ends_with('/') {
            return Err(format!("the template {template:?} must not begin or end with \"/\""));
        }
        let mut pieces = Vec::new();
        let mut rest = template;
        while !rest.is_empty() {
            let literal = rest.find(['{', '}']).unwrap_or(rest.len());
            if literal > 0 {
                if let Some(why) = literal_fault(&rest[..literal]) {
                    return Err(format!("the template {template:?} must hold {why}"));
                }
                pieces.push(Piece::Literal(&rest[..literal]));
                rest = &rest[literal..];
                continue;
            }
            let term = rest.find('}').and_then(|end| Some((parse_term(rest.get(1..end)?)?, end)));
            let Some((term, end)) = term else {
                return Err(format!("the template {template:?} has a brace that begins no term such as {{0}}, {{-1}}, {{*}} or {{0:03}}"));
            };
            pieces.push(term);
            rest = &rest[end + 1..];
        }
        let rests = pieces.iter().filter(|p| matches!(p, Piece::Term { which: Which::Rest, .. })).count();
        if !pieces.iter().any(|p| matches!(p, Piece::Term { .. })) {
            return Err(format!("the template {template:?} has no term, so all chunks would have one key"));
        }
        if rests > 1 {
            return Err(format!("the template {template:?} has {{*}} more than once"));
        }
        if rests == 1 && separator.is_none() {
            return Err(format!("the template {template:?} has {{*}} and so needs a \"separator\""));
        }
        let separator = separator.unwrap_or("");
        if let Some(why) = literal_fault(separator) {
            return Err(format!("the separator {separator:?} of the template must be {why}"));
        }
        Ok(Pattern { pieces, separator })
    }

    /// The steps for `ndim` axes, or why the template does not fit them.
    fn steps(&self, ndim: usize) -> Result<Vec<Step<'a>>, String> {
        let mut named = vec![false; ndim];
        for piece in &self.pieces {
            let Piece::Term { which, .. } = piece else { continue };
            let Some(axis) = which.axis(ndim) else { continue };
            let axis = axis.ok_or_else(|| format!("the template names an axis that an array with {ndim} axes does not have"))?;
            if std::mem::replace(&mut named[axis], true) {
                return Err(format!("the template names axis {axis} twice"));
            }
        }
        let rest: Vec<usize> = (0..ndim).filter(|&axis| !named[axis]).collect();
        let mut steps = Vec::new();
        let mut rest_is_named = false;
        for piece in &self.pieces {
            match piece {
                Piece::Literal(text) => steps.push(Step::Literal(text)),
                Piece::Term { which: Which::Rest, width } => {
                    rest_is_named = true;
                    for (i, &axis) in rest.iter().enumerate() {
                        if i > 0 {
                            steps.push(Step::Literal(self.separator));
                        }
                        steps.push(Step::Index { axis, width: *width });
                    }
                }
                Piece::Term { which, width } => {
                    if let Some(Some(axis)) = which.axis(ndim) {
                        steps.push(Step::Index { axis, width: *width });
                    }
                }
            }
        }
        match (rest.first(), rest_is_named) {
            (Some(axis), false) => Err(format!("the template does not name axis {axis} of {ndim}, so chunks would share keys")),
            (None, true) => Err(format!("the template's {{*}} stands for no axis: all {ndim} have terms of their own")),
            _ => Ok(steps),
        }
    }

    /// Checks that every axis is named once and that no two indices run into one another.
    pub fn check_ndim(&self, ndim: usize) -> Result<(), String> {
        let mut open = false;
        for step in self.steps(ndim)? {
            match step {
                Step::Literal(text) => open &= text.bytes().all(|b| b.is_ascii_digit()),
                Step::Index { axis, .. } if open => {
                    return Err(format!(
                        "the index of axis {axis} follows another one without a character between that is no digit, so chunks would share keys"
                    ));
                }
                Step::Index { .. } => open = true,
            }
        }
        Ok(())
    }

    /// Appends the key; an array of a rank that [`Pattern::check_ndim`] refuses gets the literal text alone.
    pub fn encode_into(&self, chunk: &[u64], key: &mut String) {
        for step in self.steps(chunk.len()).unwrap_or_default() {
            match step {
                Step::Literal(text) => key.push_str(text),
                Step::Index { axis, width } => push_number(key, chunk[axis], width),
            }
        }
    }

    pub fn decode(&self, key: &str, ndim: usize) -> Option<Shape> {
        self.check_ndim(ndim).ok()?;
        let steps = self.steps(ndim).ok()?;
        let mut chunk: Shape = (0..ndim).map(|_| 0).collect();
        let mut rest = key;
        for (i, step) in steps.iter().enumerate() {
            match step {
                Step::Literal(text) => rest = rest.strip_prefix(text)?,
                Step::Index { axis, width } => {
                    let run = rest.bytes().take_while(u8::is_ascii_digit).count();
                    // Digits that the following text begins with belong to it.
                    let literal: String = steps[i + 1..].iter().map_while(Step::literal).collect();
                    let length = run.checked_sub(literal.bytes().take_while(u8::is_ascii_digit).count())?;
                    let digits = &rest[..length];
                    let padded = length == *width || (length > *width && (length == 1 || !digits.starts_with('0')));
                    if length == 0 || !padded {
                        return None;
                    }
                    chunk[*axis] = digits.parse().ok()?;
                    rest = &rest[length..];
                }
            }
        }
        rest.is_empty().then_some(chunk)
    }
}

impl<'a> Step<'a> {
    fn literal(&self) -> Option<&'a str> {
        match self {
            Step::Literal(text) => Some(text),
            Step::Index { .. } => None,
        }
    }
}

impl Which {
    /// The axis, `Some(None)` where there is none such, `None` for `{*}`.
    fn axis(self, ndim: usize) -> Option<Option<usize>> {
        match self {
            Which::FromStart(i) => Some((i < ndim).then_some(i)),
            Which::FromEnd(i) => Some(ndim.checked_sub(i).filter(|&axis| axis < ndim)),
            Which::Rest => None,
        }
    }
}

/// What stands between the braces: `*`, `i` or `-i`, and `:0w` behind it.
fn parse_term(text: &str) -> Option<Piece<'static>> {
    let (which, width) = match text.split_once(":0") {
        Some((which, width)) => (which, digits(width).filter(|&w| w <= MAX_WIDTH)?),
        None => (text, 0),
    };
    let which = match which.strip_prefix('-') {
        _ if which == "*" => Which::Rest,
        Some(from_end) => match digits(from_end)? {
            0 => Which::FromStart(0),
            i => Which::FromEnd(i),
        },
        None => Which::FromStart(digits(which)?),
    };
    Some(Piece::Term { which, width })
}

fn digits(text: &str) -> Option<usize> {
    if text.bytes().all(|b| b.is_ascii_digit()) { text.parse().ok() } else { None }
}
