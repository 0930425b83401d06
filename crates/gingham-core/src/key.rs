//! Chunk key encodings: which key a chunk has below its array (Zarr v3 core, and the registered extensions).

mod template;

use crate::Shape;
use crate::extension::{Config, Extension, Fault};
use crate::json::Value;
use serde_json::json;
use template::Pattern;

/// How a chunk's grid index becomes its key.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum KeyEncoding {
    /// `c/0/1`; the separator is `/` or `.`.
    Default { separator: char },
    /// `0.1`; the separator is `.` or `/`. A 0-d array's key is `0`.
    V2 { separator: char },
    /// `zarrs.default_suffix` and `suffix`: another encoding's key with text behind it.
    Suffix { base: Box<KeyEncoding>, suffix: String, name: SuffixName },
    /// `prefix`: another encoding's key with text before it.
    Prefix { base: Box<KeyEncoding>, prefix: String },
    /// `fanout`: groups of digits as folders, at most `max_children` each.
    Fanout { max_children: u64 },
    /// `template`: a pattern of `{0}`, `{-1}`, `{*}`, each with an optional zero-padded width.
    Template { template: String, separator: Option<String> },
}

/// Under which of its two names a suffix encoding was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SuffixName {
    /// `suffix`
    Suffix,
    /// `zarrs.default_suffix`
    ZarrsDefaultSuffix,
}

/// Why a key encoding is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct KeyEncodingError {
    /// A sentence.
    pub what: String,
    /// JSON pointer below the encoding's own value, `""` for the whole.
    pub pointer: String,
    /// What to do about it, where that is known.
    pub hint: Option<String>,
}

impl From<Fault> for KeyEncodingError {
    fn from(fault: Fault) -> Self {
        KeyEncodingError { what: fault.what, pointer: fault.pointer, hint: fault.hint }
    }
}

/// The names that are read.
pub(crate) const NAMES: [&str; 8] = ["default", "v2", "suffix", "zarrs.default_suffix", "prefix", "fanout", "template", "generic"];

const NOUN: &str = "chunk key encoding";

impl KeyEncoding {
    /// Reads the member `chunk_key_encoding` of a v3 document.
    ///
    /// ```
    /// use gingham_core::key::KeyEncoding;
    /// let encoding = KeyEncoding::from_json(&serde_json::json!({"name": "default"})).unwrap();
    /// assert_eq!(encoding.encode(&[1, 23, 45]), "c/1/23/45");
    /// assert_eq!(encoding.decode("c/1/23/45", 3).unwrap().as_slice(), [1, 23, 45]);
    /// ```
    pub fn from_json(value: &Value) -> Result<Self, KeyEncodingError> {
        Ok(read(value)?)
    }
    /// Writes it as an object with name and configuration.
    pub fn to_json(&self) -> Value {
        match self {
            KeyEncoding::Default { separator } => json!({"name": "default", "configuration": {"separator": separator}}),
            KeyEncoding::V2 { separator } => json!({"name": "v2", "configuration": {"separator": separator}}),
            KeyEncoding::Suffix { base, suffix, name: SuffixName::ZarrsDefaultSuffix } => {
                let separator = if let KeyEncoding::Default { separator } = **base { separator } else { '/' };
                json!({"name": "zarrs.default_suffix", "configuration": {"separator": separator, "suffix": suffix}})
            }
            KeyEncoding::Suffix { base, suffix, .. } => {
                json!({"name": "suffix", "configuration": {"suffix": suffix, "base_encoding": base.to_json()}})
            }
            KeyEncoding::Prefix { base, prefix } => {
                json!({"name": "prefix", "configuration": {"prefix": prefix, "base_encoding": base.to_json()}})
            }
            KeyEncoding::Fanout { max_children } => json!({"name": "fanout", "configuration": {"max_children": max_children}}),
            KeyEncoding::Template { template, separator: Some(separator) } => {
                json!({"name": "template", "configuration": {"template": template, "separator": separator}})
            }
            KeyEncoding::Template { template, separator: None } => {
                json!({"name": "template", "configuration": {"template": template}})
            }
        }
    }
    /// The key of a chunk, relative to its array.
    pub fn encode(&self, chunk: &[u64]) -> String {
        let mut key = String::with_capacity(2 + 6 * chunk.len());
        self.encode_into(chunk, &mut key);
        key
    }
    /// Appends the key of a chunk to `key`.
    pub fn encode_into(&self, chunk: &[u64], key: &mut String) {
        match self {
            KeyEncoding::Default { separator } => {
                key.push('c');
                for &index in chunk {
                    key.push(*separator);
                    push_number(key, index, 0);
                }
            }
            KeyEncoding::V2 { .. } if chunk.is_empty() => key.push('0'),
            KeyEncoding::V2 { separator } => {
                for (axis, &index) in chunk.iter().enumerate() {
                    if axis > 0 {
                        key.push(*separator);
                    }
                    push_number(key, index, 0);
                }
            }
            KeyEncoding::Suffix { base, suffix, .. } => {
                base.encode_into(chunk, key);
                key.push_str(suffix);
            }
            KeyEncoding::Prefix { base, prefix } => {
                key.push_str(prefix);
                base.encode_into(chunk, key);
            }
            KeyEncoding::Fanout { max_children } => {
                key.push('c');
                for &index in chunk {
                    push_fanout(key, index, group_digits(*max_children));
                }
            }
            KeyEncoding::Template { template, separator } => {
                if let Ok(pattern) = Pattern::read(template, separator.as_deref()) {
                    pattern.encode_into(chunk, key);
                }
            }
        }
    }
    /// The chunk of a key, or `None` for a key that this encoding never writes (leading zeros, signs, other arity).
    pub fn decode(&self, key: &str, ndim: usize) -> Option<Shape> {
        match self {
            KeyEncoding::Default { separator } => {
                let rest = key.strip_prefix('c')?;
                if ndim == 0 {
                    return rest.is_empty().then(Shape::new);
                }
                numbers(rest.strip_prefix(*separator)?, *separator, ndim)
            }
            KeyEncoding::V2 { .. } if ndim == 0 => (key == "0").then(Shape::new),
            KeyEncoding::V2 { separator } => numbers(key, *separator, ndim),
            KeyEncoding::Suffix { base, suffix, .. } => base.decode(key.strip_suffix(suffix.as_str())?, ndim),
            KeyEncoding::Prefix { base, prefix } => base.decode(key.strip_prefix(prefix.as_str())?, ndim),
            KeyEncoding::Fanout { max_children } => decode_fanout(key, ndim, group_digits(*max_children)),
            KeyEncoding::Template { template, separator } => Pattern::read(template, separator.as_deref()).ok()?.decode(key, ndim),
        }
    }
    /// Checks that the encoding can name chunks of an array with this many axes (templates).
    pub fn check_ndim(&self, ndim: usize) -> Result<(), KeyEncodingError> {
        match self {
            KeyEncoding::Template { template, separator } => {
                let pattern = Pattern::read(template, separator.as_deref()).map_err(|what| Fault::new("/configuration/template", what))?;
                Ok(pattern.check_ndim(ndim).map_err(|what| Fault::new("/configuration/template", what))?)
            }
            KeyEncoding::Suffix { base, .. } | KeyEncoding::Prefix { base, .. } => base.check_ndim(ndim).map_err(|mut error| {
                error.pointer = format!("/configuration/base_encoding{}", error.pointer);
                error
            }),
            _ => Ok(()),
        }
    }
}

fn read(value: &Value) -> Result<KeyEncoding, Fault> {
    let extension = Extension::read(value, NOUN)?;
    let config = |known: &[&str]| Config::of(&extension, NOUN, known);
    match extension.name {
        "default" => Ok(KeyEncoding::Default { separator: separator(&config(&["separator"])?, '/')? }),
        "v2" => Ok(KeyEncoding::V2 { separator: separator(&config(&["separator"])?, '.')? }),
        "zarrs.default_suffix" => {
            let config = config(&["separator", "suffix"])?;
            let base = Box::new(KeyEncoding::Default { separator: separator(&config, '/')? });
            Ok(KeyEncoding::Suffix { base, suffix: suffix(&config)?, name: SuffixName::ZarrsDefaultSuffix })
        }
        "suffix" => {
            let config = config(&["suffix", "base_encoding", "base-encoding"])?;
            Ok(KeyEncoding::Suffix { base: base(&config)?, suffix: suffix(&config)?, name: SuffixName::Suffix })
        }
        "prefix" => {
            let config = config(&["prefix", "base_encoding", "base-encoding"])?;
            Ok(KeyEncoding::Prefix { base: base(&config)?, prefix: prefix(&config)? })
        }
        "fanout" => {
            let config = config(&["max_children"])?;
            let max_children = config.integer("max_children", 100..=i64::MAX, Some(1000))?;
            Ok(KeyEncoding::Fanout { max_children: max_children.unsigned_abs() })
        }
        "template" | "generic" => {
            let config = config(&["template", "format", "separator"])?;
            let key = if config.get("format").is_some() { "format" } else { "template" };
            let template = config.text(key)?.to_string();
            let separator = config.present("separator").map(|_| config.text("separator").map(str::to_string)).transpose()?;
            Pattern::read(&template, separator.as_deref()).map_err(|what| config.fault(key, what))?;
            Ok(KeyEncoding::Template { template, separator })
        }
        name => {
            let fault = Fault::new("/name", format!("the chunk key encoding \"{name}\" is not known, so no chunk can be found"));
            Err(fault.hint("known are default, v2, suffix, zarrs.default_suffix, prefix, fanout and template"))
        }
    }
}

fn separator(config: &Config, default: char) -> Result<char, Fault> {
    config.choice("separator", &[("/", '/'), (".", '.')], Some(default))
}

fn base(config: &Config) -> Result<Box<KeyEncoding>, Fault> {
    let key = if config.get("base-encoding").is_some() { "base-encoding" } else { "base_encoding" };
    let mut fault = match read(config.required(key)?) {
        Ok(base) => return Ok(Box::new(base)),
        Err(fault) => fault,
    };
    fault.pointer = format!("{}{}", config.pointer_of(key), fault.pointer);
    Err(fault)
}

fn suffix(config: &Config) -> Result<String, Fault> {
    let suffix = config.text("suffix")?;
    let refuse = |why: &str| Err(config.wrong("suffix", why, &Value::from(suffix)));
    match literal_fault(suffix) {
        Some(why) => refuse(why),
        None if suffix.ends_with('/') => refuse("text that does not end with \"/\""),
        None if suffix.starts_with(|c: char| c.is_ascii_digit()) => refuse("text that does not begin with a digit"),
        None => Ok(suffix.to_string()),
    }
}

fn prefix(config: &Config) -> Result<String, Fault> {
    let prefix = config.text("prefix")?;
    let refuse = |why: &str| Err(config.wrong("prefix", why, &Value::from(prefix)));
    match literal_fault(prefix) {
        Some(why) => refuse(why),
        None if prefix.is_empty() || prefix.starts_with('/') => refuse("text that is not empty and does not begin with \"/\""),
        None => Ok(prefix.to_string()),
    }
}

/// What literal text of a key must be, where `text` is not that.
fn literal_fault(text: &str) -> Option<&'static str> {
    let forbidden = ["..", "\\", "\0", "//", "zarr.json"].iter().any(|bad| text.contains(bad));
    forbidden.then_some("text without \"..\", \"//\", a backslash, NUL or \"zarr.json\"")
}

/// Appends a number in decimal, zero-padded to `width`.
fn push_number(key: &mut String, number: u64, width: usize) {
    let mut digits = [b'0'; 20];
    let mut first = digits.len();
    let mut rest = number;
    while rest > 0 || first == digits.len() {
        first -= 1;
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    let length = digits.len() - first;
    key.extend(std::iter::repeat_n('0', width.saturating_sub(length)));
    key.extend(digits[first..].iter().map(|&d| d as char));
}

/// A number in decimal as [`push_number`] writes it with width 0.
fn number(text: &str) -> Option<u64> {
    let canonical = text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    if canonical { text.parse().ok() } else { None }
}

fn numbers(text: &str, separator: char, ndim: usize) -> Option<Shape> {
    let mut chunk = Shape::new();
    for part in text.split(separator) {
        if chunk.len() == ndim {
            return None;
        }
        chunk.push(number(part)?);
    }
    (chunk.len() == ndim).then_some(chunk)
}

/// Digits per folder name: those of the largest number below `max_children`, itself floored to a power of ten.
fn group_digits(max_children: u64) -> usize {
    max_children.max(10).ilog10() as usize
}

/// `/<groups - 1>/<group>/…`, the groups zero-padded.
fn push_fanout(key: &mut String, index: u64, digits: usize) {
    let mut text = String::new();
    push_number(&mut text, index, 0);
    let groups = text.len().div_ceil(digits);
    let padded = format!("{text:0>width$}", width = groups * digits);
    key.push('/');
    push_number(key, groups as u64 - 1, 0);
    for group in 0..groups {
        key.push('/');
        key.push_str(&padded[group * digits..(group + 1) * digits]);
    }
}

fn decode_fanout(key: &str, ndim: usize, digits: usize) -> Option<Shape> {
    let mut parts = key.split('/');
    if parts.next() != Some("c") {
        return None;
    }
    let mut chunk = Shape::new();
    while let Some(count) = parts.next() {
        // 20 digits hold every u64, so more than 19 further groups never occur.
        let groups = number(count).filter(|&n| n < 20)? + 1;
        let mut text = String::new();
        for _ in 0..groups {
            let group = parts.next().filter(|g| g.len() == digits && g.bytes().all(|b| b.is_ascii_digit()))?;
            if text.is_empty() && groups > 1 && group.bytes().all(|b| b == b'0') {
                return None;
            }
            text.push_str(group);
        }
        chunk.push(text.parse().ok()?);
    }
    (chunk.len() == ndim).then_some(chunk)
}

#[cfg(test)]
mod tests;
