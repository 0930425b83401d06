//! Extension objects `{name, configuration, must_understand}` (Zarr v3 core, "Extension points") and the parameters in them.
//!
//! One reader for every extension point, so that a wrong parameter is refused in one voice: which object, which
//! parameter, what it may be, and what it was.

use std::ops::RangeInclusive;

use crate::json::{Map, Value, pointer_step};

/// What is wrong with an extension object, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub what: String,
    /// JSON pointer below the object.
    pub pointer: String,
    pub hint: Option<String>,
}

impl Fault {
    pub fn new(pointer: impl Into<String>, what: impl Into<String>) -> Self {
        Fault { what: what.into(), pointer: pointer.into(), hint: None }
    }
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// An extension object, or the short-hand string that stands for one.
pub(crate) struct Extension<'a> {
    pub name: &'a str,
    pub configuration: Option<&'a Map<String, Value>>,
    /// False where the document says that a reader may ignore it.
    pub must_understand: bool,
}

impl<'a> Extension<'a> {
    /// `noun` is what it is to be: `codec`, `chunk key encoding`, ….
    pub fn read(value: &'a Value, noun: &str) -> Result<Self, Fault> {
        let object = match value {
            Value::String(name) if !name.is_empty() => {
                return Ok(Extension { name, configuration: None, must_understand: true });
            }
            Value::Object(object) => object,
            _ => return Err(Fault::new("", format!("a {noun} must be an object with a name, not {}", brief(value)))),
        };
        let name = match object.get("name") {
            Some(Value::String(name)) if !name.is_empty() => name,
            Some(other) => return Err(Fault::new("/name", format!("the name of a {noun} must be a string, not {}", brief(other)))),
            None => return Err(Fault::new("", format!("a {noun} must have a name"))),
        };
        let configuration = match object.get("configuration") {
            None => None,
            Some(Value::Object(configuration)) => Some(configuration),
            Some(other) => {
                let what = format!("the configuration of {noun} \"{name}\" must be an object, not {}", brief(other));
                return Err(Fault::new("/configuration", what));
            }
        };
        let must_understand = match object.get("must_understand") {
            None => true,
            Some(Value::Bool(must)) => *must,
            Some(other) => {
                let what = format!("must_understand of {noun} \"{name}\" must be true or false, not {}", brief(other));
                return Err(Fault::new("/must_understand", what));
            }
        };
        if let Some(key) = object.keys().find(|k| !matches!(k.as_str(), "name" | "configuration" | "must_understand")) {
            return Err(Fault::new(pointer_step(key), format!("the {noun} \"{name}\" has the unknown member \"{key}\""))
                .hint("parameters belong into its \"configuration\""));
        }
        Ok(Extension { name, configuration, must_understand })
    }
}

/// The parameters of one object, read by name.
pub(crate) struct Config<'a> {
    /// `codec "zstd"`, for messages.
    owner: String,
    members: Option<&'a Map<String, Value>>,
    /// Pointer of the object that holds the members.
    pointer: &'static str,
    /// Integers may stand as decimal strings (old v2 writers).
    lenient: bool,
}

impl<'a> Config<'a> {
    /// The parameters of an extension object; any but the `known` ones are refused by name.
    pub fn of(extension: &Extension<'a>, noun: &str, known: &[&str]) -> Result<Self, Fault> {
        let owner = format!("{noun} \"{}\"", extension.name);
        Config { owner, members: extension.configuration, pointer: "/configuration", lenient: false }.knowing(known)
    }

    /// The parameters of a v2 object, which stand beside its `id`.
    pub fn of_v2(id: &str, members: &'a Map<String, Value>, known: &[&str]) -> Result<Self, Fault> {
        Config { owner: format!("codec \"{id}\""), members: Some(members), pointer: "", lenient: true }.knowing(known)
    }

    fn knowing(self, known: &[&str]) -> Result<Self, Fault> {
        let is_id = |key: &str| self.pointer.is_empty() && key == "id";
        let unknown = self.members.into_iter().flat_map(|m| m.keys()).find(|k| !known.contains(&k.as_str()) && !is_id(k));
        match unknown {
            None => Ok(self),
            Some(key) if known.is_empty() => Err(self.fault(key, format!("{} takes no parameters, but has \"{key}\"", self.owner))),
            Some(key) => Err(self.fault(key, format!("{} has no parameter \"{key}\"; it has {}", self.owner, known.join(", ")))),
        }
    }

    /// Everything but the `id`, as it stands.
    pub fn to_value(&self) -> Value {
        Value::Object(self.members.into_iter().flatten().filter(|(k, _)| *k != "id").map(|(k, v)| (k.clone(), v.clone())).collect())
    }

    pub fn pointer_of(&self, key: &str) -> String {
        format!("{}{}", self.pointer, pointer_step(key))
    }

    pub fn fault(&self, key: &str, what: impl Into<String>) -> Fault {
        Fault::new(self.pointer_of(key), what)
    }

    /// "`key` of codec "x" must be …, not …".
    pub fn wrong(&self, key: &str, right: &str, value: &Value) -> Fault {
        self.fault(key, format!("\"{key}\" of {} must be {right}, not {}", self.owner, brief(value)))
    }

    pub fn missing(&self, key: &str) -> Fault {
        Fault::new(self.pointer, format!("{} needs \"{key}\"", self.owner))
    }

    /// The member as it stands.
    pub fn get(&self, key: &str) -> Option<&'a Value> {
        self.members.and_then(|m| m.get(key))
    }

    /// The member unless it is null.
    pub fn present(&self, key: &str) -> Option<&'a Value> {
        self.get(key).filter(|v| !v.is_null())
    }

    pub fn required(&self, key: &str) -> Result<&'a Value, Fault> {
        self.get(key).ok_or_else(|| self.missing(key))
    }

    pub fn integer(&self, key: &str, range: RangeInclusive<i64>, default: Option<i64>) -> Result<i64, Fault> {
        let Some(value) = self.get(key) else { return default.ok_or_else(|| self.missing(key)) };
        let number = match value {
            Value::String(text) if self.lenient => text.parse().ok(),
            _ => value.as_i64(),
        };
        number.filter(|n| range.contains(n)).ok_or_else(|| {
            let fault = self.wrong(key, &format!("an integer from {} to {}", range.start(), range.end()), value);
            if value.is_string() { fault.hint("write it as a number, without quotes") } else { fault }
        })
    }

    /// An integer, or `None` where it is absent or null.
    pub fn optional_integer(&self, key: &str, range: RangeInclusive<i64>) -> Result<Option<i64>, Fault> {
        if self.present(key).is_none() {
            return Ok(None);
        }
        self.integer(key, range, None).map(Some)
    }

    pub fn number(&self, key: &str) -> Result<f64, Fault> {
        let value = self.required(key)?;
        value.as_f64().filter(|x| x.is_finite()).ok_or_else(|| self.wrong(key, "a number", value))
    }

    pub fn boolean(&self, key: &str, default: bool) -> Result<bool, Fault> {
        match self.get(key) {
            None => Ok(default),
            Some(Value::Bool(b)) => Ok(*b),
            Some(other) => Err(self.wrong(key, "true or false", other)),
        }
    }

    pub fn text(&self, key: &str) -> Result<&'a str, Fault> {
        let value = self.required(key)?;
        value.as_str().ok_or_else(|| self.wrong(key, "a string", value))
    }

    /// One of some named values.
    pub fn choice<T: Copy>(&self, key: &str, choices: &[(&str, T)], default: Option<T>) -> Result<T, Fault> {
        let Some(value) = self.get(key) else { return default.ok_or_else(|| self.missing(key)) };
        let found = value.as_str().and_then(|text| choices.iter().find(|(name, _)| *name == text));
        found.map(|(_, choice)| *choice).ok_or_else(|| {
            let names: Vec<String> = choices.iter().map(|(name, _)| format!("\"{name}\"")).collect();
            self.wrong(key, &format!("one of {}", names.join(", ")), value)
        })
    }

    pub fn list(&self, key: &str) -> Result<&'a [Value], Fault> {
        let value = self.required(key)?;
        value.as_array().map(Vec::as_slice).ok_or_else(|| self.wrong(key, "a list", value))
    }

    /// A list of integers of at least `least`.
    pub fn lengths(&self, key: &str, least: u64) -> Result<crate::Shape, Fault> {
        let read = |(i, value): (usize, &Value)| {
            value.as_u64().filter(|&n| n >= least).ok_or_else(|| {
                let what = format!("entry {i} of \"{key}\" of {} must be an integer of at least {least}, not {}", self.owner, brief(value));
                Fault::new(format!("{}/{i}", self.pointer_of(key)), what)
            })
        };
        self.list(key)?.iter().enumerate().map(read).collect()
    }
}

/// A value for a message: short ones as they are, long ones cut, lists and objects by their kind.
pub(crate) fn brief(value: &Value) -> String {
    match value {
        Value::Array(list) if list.len() > 8 => format!("a list of {}", list.len()),
        Value::Object(object) => format!("an object of {} members", object.len()),
        _ => {
            let text = value.to_string();
            match text.char_indices().nth(60) {
                Some((cut, _)) => format!("{}…", &text[..cut]),
                None => text,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    fn fault(value: Value) -> Fault {
        Extension::read(&value, "codec").err().unwrap()
    }

    #[test]
    fn extension_objects() {
        let value = json!({"name": "x", "configuration": {"a": 1}, "must_understand": false});
        let read = Extension::read(&value, "codec").unwrap();
        assert_eq!((read.name, read.must_understand, read.configuration.unwrap().len()), ("x", false, 1));
        let short = json!("bytes");
        assert!(Extension::read(&short, "codec").unwrap().configuration.is_none());
    }

    #[test]
    fn malformed_extension_objects_are_refused_where_they_are_wrong() {
        assert_eq!(fault(json!(3)).what, "a codec must be an object with a name, not 3");
        assert_eq!(fault(json!("")).pointer, "");
        assert_eq!(fault(json!({})).what, "a codec must have a name");
        assert_eq!(fault(json!({"name": 1})).pointer, "/name");
        assert_eq!(fault(json!({"name": "x", "configuration": []})).pointer, "/configuration");
        assert_eq!(fault(json!({"name": "x", "must_understand": 0})).pointer, "/must_understand");
        let stray = fault(json!({"name": "gzip", "level": 5}));
        assert_eq!((stray.pointer.as_str(), stray.hint.is_some()), ("/level", true));
    }

    #[test]
    fn parameters_name_their_owner_and_range() {
        let value = json!({"name": "gzip", "configuration": {"level": 12}});
        let read = Extension::read(&value, "codec").unwrap();
        let config = Config::of(&read, "codec", &["level"]).unwrap();
        let fault = config.integer("level", 0..=9, None).unwrap_err();
        assert_eq!(fault.what, "\"level\" of codec \"gzip\" must be an integer from 0 to 9, not 12");
        assert_eq!(fault.pointer, "/configuration/level");
        let fault = Config::of(&read, "codec", &[]).err().unwrap();
        assert_eq!(fault.what, "codec \"gzip\" takes no parameters, but has \"level\"");
        let fault = Config::of(&read, "codec", &["lvl"]).err().unwrap();
        assert_eq!(fault.what, "codec \"gzip\" has no parameter \"level\"; it has lvl");
    }

    #[test]
    fn long_values_are_cut() {
        assert_eq!(brief(&json!("é".repeat(100))).chars().count(), 61);
        assert_eq!(brief(&json!(vec![0; 100])), "a list of 100");
    }
}
