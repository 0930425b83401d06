//! Why a grid is refused.

/// Why a grid is refused. Every variant names the axis.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct GridError {
    /// A sentence: which axis, which element, what would be right.
    pub what: String,
    /// JSON pointer below the grid's own value, `""` for the whole.
    pub pointer: String,
    /// The axis concerned.
    pub axis: Option<usize>,
    /// What to do about it, where that is known.
    pub hint: Option<String>,
}

impl GridError {
    /// The same error with the axis' name behind its number: `axis 0 (time)`.
    pub fn named(mut self, names: Option<&[Option<String>]>) -> Self {
        if let Some(axis) = self.axis
            && let Some(name) = names.and_then(|names| names.get(axis)).and_then(Option::as_deref)
        {
            let number = format!("axis {axis}");
            let digit_follows = |end: usize| self.what[end..].starts_with(|c: char| c.is_ascii_digit());
            let found = self.what.match_indices(&number).map(|(at, _)| at + number.len()).find(|&end| !digit_follows(end));
            if let Some(end) = found {
                self.what.insert_str(end, &format!(" ({name})"));
            }
        }
        self
    }
    pub(super) fn plain(what: impl Into<String>) -> Self {
        GridError { what: what.into(), pointer: String::new(), axis: None, hint: None }
    }
    pub(super) fn at(axis: usize, what: impl Into<String>) -> Self {
        GridError { axis: Some(axis), ..Self::plain(what) }
    }
    pub(super) fn below(mut self, pointer: impl Into<String>) -> Self {
        self.pointer = pointer.into();
        self
    }
    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
    /// The lengths do not reach the axis' end.
    pub(super) fn short(axis: Option<usize>, sum: u128, len: u64) -> Self {
        let of = axis.map_or(String::new(), |axis| format!(" of axis {axis}"));
        let what = format!("the chunk lengths{of} add up to {sum}, but the axis is {len} long");
        let gap = u128::from(len).saturating_sub(sum);
        let hint = format!("add a last chunk of at least {gap}, or set \"shape\" to {sum}");
        GridError { axis, ..Self::plain(what) }.hint(hint)
    }
    /// An error of an axis that did not know its number.
    pub(super) fn on_axis(mut self, axis: usize) -> Self {
        self.axis = Some(axis);
        self.what = match self.what.strip_prefix("the chunk lengths add up") {
            Some(rest) => format!("the chunk lengths of axis {axis} add up{rest}"),
            None => format!("axis {axis}: {}", self.what),
        };
        self
    }
}

/// A text from a document or a user, short enough for a sentence.
pub(crate) fn clipped(text: &str) -> String {
    const MOST: usize = 80;
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_string(),
    }
}
