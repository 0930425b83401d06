//! JSON documents, read strictly and kept in order.
//!
//! Stands between a document's bytes and [`serde_json::Value`]: refuses duplicated members, a byte order mark and
//! text that is not UTF-8; bounded in depth; in v2 documents (only there) the bare tokens `NaN`, `Infinity` and
//! `-Infinity` that old writers left are read as the strings of that name.

pub use serde_json::{Map, Number, Value};

/// How deep lists and objects may nest. Zarr's own documents need fewer than 20 levels; the rest is for attributes.
pub const MAX_DEPTH: usize = 128;

/// Why a text is not a JSON document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// Not UTF-8.
    #[error("the document is not UTF-8")]
    NotUtf8,
    /// Not JSON; the parser's own words with line and column.
    #[error("the document is not JSON: {0}")]
    Syntax(String),
    /// The top level is not an object.
    #[error("the document is not a JSON object")]
    NotAnObject,
}

/// An object that was read, and the bare number tokens that were met on the way.
#[derive(Debug, Clone, PartialEq)]
pub struct Read {
    /// The object.
    pub object: Map<String, Value>,
    /// Where bare tokens stood, as `NaN at line 3 column 12`; at most eight are listed.
    pub bare_tokens: Vec<String>,
}

/// Reads a JSON object. `bare_numbers` allows the tokens `NaN`, `Infinity`, `-Infinity` (v2 documents).
///
/// ```
/// let document = gingham_core::json::parse_object(br#"{"fill_value": NaN}"#, true).unwrap();
/// assert_eq!(document["fill_value"], "NaN");
/// assert!(gingham_core::json::parse_object(br#"{"a": 1, "a": 2}"#, false).is_err());
/// ```
pub fn parse_object(text: &[u8], bare_numbers: bool) -> Result<Map<String, Value>, JsonError> {
    read_object(text, bare_numbers).map(|read| read.object)
}

/// Like [`parse_object`], and says which bare tokens it met.
pub fn read_object(text: &[u8], bare_numbers: bool) -> Result<Read, JsonError> {
    let text = std::str::from_utf8(text).map_err(|_| JsonError::NotUtf8)?;
    let mut parser = Parser { text, at: 0, bare_numbers, bare_tokens: Vec::new() };
    if text.starts_with('\u{feff}') {
        return Err(JsonError::Syntax("it begins with a byte order mark".into()));
    }
    parser.skip_space();
    let value = parser.value(0)?;
    parser.skip_space();
    if parser.at < text.len() {
        return Err(parser.error("something follows the end of the document"));
    }
    match value {
        Value::Object(object) => Ok(Read { object, bare_tokens: parser.bare_tokens }),
        _ => Err(JsonError::NotAnObject),
    }
}

/// Writes a document as Zarr tools do: two spaces of indentation, members in order, a newline at the end is not added.
pub fn to_text(value: &Value) -> String {
    format!("{value:#}")
}

/// A member's name or an index as one step of a JSON pointer, with its slash (RFC 6901).
pub fn pointer_step(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}

struct Parser<'a> {
    text: &'a str,
    /// Byte offset; always at a character boundary.
    at: usize,
    bare_numbers: bool,
    bare_tokens: Vec<String>,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn place(&self, at: usize) -> String {
        let before = &self.text[..at];
        let line = before.bytes().filter(|&b| b == b'\n').count() + 1;
        let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
        format!("line {line} column {column}")
    }

    fn error(&self, what: &str) -> JsonError {
        JsonError::Syntax(format!("{what} at {}", self.place(self.at)))
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// The value at the cursor; `depth` lists and objects are open around it.
    fn value(&mut self, depth: usize) -> Result<Value, JsonError> {
        match self.peek() {
            None => Err(self.error("the document ends where a value was expected")),
            Some(b'{' | b'[') if depth == MAX_DEPTH => Err(self.error(&format!("lists and objects nest deeper than {MAX_DEPTH} levels"))),
            Some(b'{') => self.object(depth + 1),
            Some(b'[') => self.list(depth + 1),
            Some(b'"') => self.string().map(Value::String),
            Some(b'-' | b'0'..=b'9') if !self.rest().starts_with("-I") => self.number(),
            Some(_) => self.word(),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, JsonError> {
        let mut object = Map::new();
        self.at += 1;
        self.skip_space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Value::Object(object));
        }
        loop {
            if self.peek() != Some(b'"') {
                return Err(self.error("a member's name in double quotes was expected"));
            }
            let start = self.at;
            let name = self.string()?;
            if object.contains_key(&name) {
                self.at = start;
                return Err(self.error(&format!("the member {name:?} stands twice, the second time")));
            }
            self.skip_space();
            if self.peek() != Some(b':') {
                return Err(self.error(&format!("a colon was expected behind {name:?}")));
            }
            self.at += 1;
            self.skip_space();
            let value = self.value(depth)?;
            object.insert(name, value);
            if self.ends_with(b'}')? {
                return Ok(Value::Object(object));
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value, JsonError> {
        let mut list = Vec::new();
        self.at += 1;
        self.skip_space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Value::Array(list));
        }
        loop {
            list.push(self.value(depth)?);
            if self.ends_with(b']')? {
                return Ok(Value::Array(list));
            }
        }
    }

    /// Behind an item: true at the closing bracket, false behind a comma that an item follows.
    fn ends_with(&mut self, close: u8) -> Result<bool, JsonError> {
        self.skip_space();
        match self.peek() {
            Some(b) if b == close => {
                self.at += 1;
                Ok(true)
            }
            Some(b',') => {
                let comma = self.at;
                self.at += 1;
                self.skip_space();
                if self.peek() == Some(close) {
                    self.at = comma;
                    return Err(self.error(&format!("a comma stands before the closing {:?}", close as char)));
                }
                Ok(false)
            }
            Some(_) => Err(self.error(&format!("a comma or {:?} was expected", close as char))),
            None => Err(self.error(&format!("the document ends where a comma or {:?} was expected", close as char))),
        }
    }

    /// `true`, `false`, `null`, and where they are allowed the bare numbers.
    fn word(&mut self) -> Result<Value, JsonError> {
        for (word, value) in [("true", Value::Bool(true)), ("false", Value::Bool(false)), ("null", Value::Null)] {
            if self.takes_word(word) {
                return Ok(value);
            }
        }
        for word in ["NaN", "Infinity", "-Infinity"] {
            let start = self.at;
            if self.takes_word(word) {
                if !self.bare_numbers {
                    self.at = start;
                    return Err(self.error(&format!("the bare token {word} (only \"{word}\" in quotes is JSON)")));
                }
                if self.bare_tokens.len() < 8 {
                    self.bare_tokens.push(format!("{word} at {}", self.place(start)));
                }
                return Ok(Value::String(word.into()));
            }
        }
        Err(self.error("a value was expected"))
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let rest = self.rest();
        let taken = rest.starts_with(word) && !rest[word.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
        if taken {
            self.at += word.len();
        }
        taken
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at - start
    }

    /// A number by JSON's grammar. Integers of 64 bits stay exact and `-0.0` keeps its sign.
    fn number(&mut self) -> Result<Value, JsonError> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        let leading_zero = self.peek() == Some(b'0');
        let whole = self.digits();
        if whole == 0 || (leading_zero && whole > 1) {
            return Err(self.error("a number without leading zeros was expected"));
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            if self.digits() == 0 {
                return Err(self.error("a digit was expected behind the decimal point"));
            }
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            if self.digits() == 0 {
                return Err(self.error("a digit was expected in the exponent"));
            }
        }
        let token = &self.text[start..self.at];
        token.parse::<Number>().map(Value::Number).map_err(|_| {
            JsonError::Syntax(format!("the number {} is too large at {}", token.get(..24).unwrap_or(token), self.place(start)))
        })
    }

    fn string(&mut self) -> Result<String, JsonError> {
        let mut out = String::new();
        self.at += 1;
        loop {
            let plain = self.rest().find(|c: char| c == '"' || c == '\\' || c < ' ').unwrap_or(self.rest().len());
            out.push_str(&self.text[self.at..self.at + plain]);
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => out.push(self.escape()?),
                Some(_) => return Err(self.error("a control character stands unescaped in a string")),
                None => return Err(self.error("the document ends inside a string")),
            }
        }
    }

    /// A backslash and what follows it; a pair of surrogates gives one character.
    fn escape(&mut self) -> Result<char, JsonError> {
        let start = self.at;
        self.at += 1;
        let Some(letter) = self.peek() else { return Err(self.error("the document ends inside a string")) };
        self.at += 1;
        Ok(match letter {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let mut code = self.hex4();
                if let Some(high @ 0xd800..=0xdbff) = code {
                    code = self
                        .rest()
                        .starts_with("\\u")
                        .then(|| self.at += 2)
                        .and_then(|()| self.hex4())
                        .and_then(|low| (0xdc00..=0xdfff).contains(&low).then(|| 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)));
                }
                match code.and_then(char::from_u32) {
                    Some(c) => c,
                    None => {
                        self.at = start;
                        return Err(self.error("an escape \\u that is no character"));
                    }
                }
            }
            _ => {
                self.at = start;
                return Err(self.error("an unknown escape in a string"));
            }
        })
    }

    fn hex4(&mut self) -> Option<u32> {
        let digits = self.rest().get(..4)?;
        if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        let code = u32::from_str_radix(digits, 16).ok();
        self.at += 4;
        code
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    fn refused(text: &str) -> String {
        parse_object(text.as_bytes(), false).unwrap_err().to_string()
    }

    #[test]
    fn members_stay_in_order_and_numbers_exact() {
        let text = r#"{"z":18446744073709551615,"a":-9223372036854775808,"m":-0.0,"f":0.1,"t":9007199254740993}"#;
        let object = parse_object(text.as_bytes(), false).unwrap();
        assert_eq!(object.keys().collect::<Vec<_>>(), ["z", "a", "m", "f", "t"]);
        assert_eq!(object["z"].as_u64(), Some(u64::MAX));
        assert_eq!(object["a"].as_i64(), Some(i64::MIN));
        assert!(object["m"].as_f64().unwrap().is_sign_negative());
        assert_eq!(object["t"].as_u64(), Some(9_007_199_254_740_993));
        assert_eq!(serde_json::to_string(&object).unwrap(), text);
    }

    /// What a user's attributes hold keeps its digits, beyond what a float can say too.
    #[test]
    fn numbers_keep_their_text() {
        let text = r#"{"a":1.50,"b":1e+5,"c":123456789012345678901234567890,"d":1e+400,"e":-0}"#;
        assert_eq!(serde_json::to_string(&parse_object(text.as_bytes(), false).unwrap()).unwrap(), text);
    }

    #[test]
    fn hostile_texts_are_refused_with_their_place() {
        assert!(refused("{\"a\":1,\n \"a\":2}").contains("\"a\" stands twice"), "{}", refused("{\"a\":1,\n \"a\":2}"));
        assert!(refused("{\"a\":1,\n \"a\":2}").contains("line 2 column 2"));
        assert!(refused("\u{feff}{}").contains("byte order mark"));
        assert!(refused("{\"a\": 1,}").contains("comma stands before the closing '}'"));
        assert!(refused("{\"a\": NaN}").contains("bare token NaN"));
        assert!(refused("{\"a\": -Infinity}").contains("bare token -Infinity"));
        for text in
            ["", "{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":01}", "{\"a\":1.}", "{\"a\":.5}", "{\"a\":1e}", "{\"a\":+1}", "{'a':1}"]
        {
            assert!(parse_object(text.as_bytes(), true).is_err(), "{text}");
        }
        for text in [
            "{\"a\":\"\t\"}",
            "{\"a\":\"\\x\"}",
            "{\"a\":\"\\ud800\"}",
            "{\"a\":\"\\ud800\\u0041\"}",
            "{} {}",
            "{\"a\":nulll}",
            "{\"a\":\"\\u00é\"}",
        ] {
            assert!(parse_object(text.as_bytes(), true).is_err(), "{text}");
        }
        assert_eq!(parse_object(b"{\"a\":\"\xff\"}", true), Err(JsonError::NotUtf8));
        assert_eq!(parse_object(b"[1]", true), Err(JsonError::NotAnObject));
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |n: usize| format!("{{\"a\":{}1{}}}", "[".repeat(n), "]".repeat(n));
        assert!(parse_object(nested(MAX_DEPTH - 1).as_bytes(), false).is_ok());
        assert!(refused(&nested(MAX_DEPTH)).contains("deeper than 128"));
        assert!(parse_object(nested(1_000_000).as_bytes(), false).is_err());
    }

    /// zp-412, zp-2741: bare tokens of old writers become the strings that JSON has for them.
    #[test]
    fn zp_412_bare_tokens_in_v2_only() {
        let read = read_object(b"{\"att1\": NaN,\n\"missing_value\": -Infinity, \"x\": [Infinity]}", true).unwrap();
        assert_eq!(read.object["att1"], "NaN");
        assert_eq!(read.object["missing_value"], "-Infinity");
        assert_eq!(read.object["x"][0], "Infinity");
        assert_eq!(read.bare_tokens[0], "NaN at line 1 column 10");
        assert_eq!(read.bare_tokens.len(), 3);
        assert!(parse_object(b"{\"a\": NaNa}", true).is_err());
    }

    #[test]
    fn escapes() {
        let object = parse_object(br#"{"a":"\u00e9\ud83d\ude00\n\/\"\\\b\f\r\t"}"#, false).unwrap();
        assert_eq!(object["a"], "é😀\n/\"\\\u{8}\u{c}\r\t");
    }

    #[test]
    fn pointers_escape() {
        assert_eq!(pointer_step("a/b~c"), "/a~1b~0c");
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_filter_map("finite", |f| Number::from_f64(f).map(Value::Number)),
            any::<String>().prop_map(Value::String),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
                prop::collection::vec((any::<String>(), inner), 0..4).prop_map(|m| Value::Object(m.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn parse_is_the_inverse_of_print(value in any_json()) {
            let object: Map<String, Value> = [("v".to_string(), value)].into_iter().collect();
            let text = to_text(&Value::Object(object.clone()));
            prop_assert_eq!(parse_object(text.as_bytes(), false).unwrap(), object);
        }

        #[test]
        fn never_panics(text in any::<Vec<u8>>(), bare in any::<bool>()) {
            let _ = parse_object(&text, bare);
        }

        #[test]
        fn near_json_never_panics(text in "[\\[\\]{}\",:0-9eE.+\\-a-zNI\\\\u ]{0,40}") {
            let ours = parse_object(text.as_bytes(), false).is_ok();
            let theirs = serde_json::from_str::<Map<String, Value>>(&text).is_ok();
            prop_assert!(!ours || theirs, "{} was read though it is not JSON", text);
        }
    }
}
