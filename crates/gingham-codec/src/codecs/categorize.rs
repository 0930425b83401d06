//! numcodecs' `categorize`: strings as their place in a list of labels, 0 for all others (format.md 5.7).

use std::collections::HashMap;

use gingham_core::dtype::{DataType, Elements, TypeStr, Variable};

use super::checked::{self, Way};
use super::filter;
use super::numbers::{self, Kind, Number, Scalar, with_number};
use crate::{ArrayToArray, CodecFault, Rep, Result};

const NAME: &str = "numcodecs.categorize";

/// `categorize` with its labels and the integer type of the codes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Categorize {
    labels: Vec<String>,
    astype: Kind,
    stored: TypeStr,
}

impl Categorize {
    /// Codes are 1-based positions in `labels`, stored as `astype`.
    pub fn new(labels: &[String], astype: &TypeStr) -> Result<Self> {
        let kind = filter::kind_of(NAME, "astype", astype)?;
        let last = Scalar::UInt(labels.len() as u64);
        if kind.is_float() || kind == Kind::Bool || !with_number!(kind, T => <T as Number>::holds(last)) {
            return Err(CodecFault::unsupported(NAME, format!("{} labels cannot be counted in {}", labels.len(), astype.data_type)));
        }
        Ok(Categorize { labels: labels.to_vec(), astype: kind, stored: astype.clone() })
    }

    fn code(&self, codes: &HashMap<&str, u64>, text: &str) -> Vec<u8> {
        let code = codes.get(text).copied().unwrap_or(0);
        code.to_le_bytes()[..self.astype.width()].to_vec()
    }

    /// The first of equal labels has the code.
    fn codes(&self) -> HashMap<&str, u64> {
        let mut codes = HashMap::new();
        for (i, label) in self.labels.iter().enumerate() {
            codes.entry(label.as_str()).or_insert(i as u64 + 1);
        }
        codes
    }

    /// The label of a code; `None` where there is none.
    fn label(&self, code: &[u8]) -> Option<&str> {
        let number = match with_number!(self.astype, T => <T as Number>::load(code).scalar()) {
            Scalar::Int(i) => usize::try_from(i).ok()?,
            Scalar::UInt(u) => usize::try_from(u).ok()?,
            Scalar::Float(_) => return None,
        };
        if number == 0 { Some("") } else { self.labels.get(number - 1).map(String::as_str) }
    }
}

/// A fixed-length UTF-32 element as text, without its padding; `None` where a unit is no code point.
fn utf32(element: &[u8]) -> Option<String> {
    let units = element.as_chunks::<4>().0.iter().map(|c| u32::from_le_bytes(*c));
    let text: Option<String> = units.map(char::from_u32).collect();
    text.map(|t| t.trim_end_matches('\0').to_string())
}

impl ArrayToArray for Categorize {
    fn encoded(&self, input: &Rep) -> Result<Rep> {
        let fill = match input.data_type {
            DataType::String => std::str::from_utf8(input.fill.as_bytes()).map(str::to_string).ok(),
            DataType::FixedUtf32(_) => utf32(input.fill.as_bytes()),
            _ => return Err(CodecFault::unsupported(NAME, format!("takes strings, not {}", input.data_type))),
        };
        Ok(filter::behind(input, &self.stored, fill.map(|text| self.code(&self.codes(), &text))))
    }

    fn encode(&self, input: &Rep, elements: Elements) -> Result<Elements> {
        self.encoded(input)?;
        let codes = self.codes();
        let mut out = Vec::with_capacity(input.count() * self.astype.width());
        let bad = |i| CodecFault::value(NAME, format!("element {i} is not Unicode text"));
        if let DataType::FixedUtf32(n) = input.data_type {
            let bytes = checked::fixed(NAME, Way::Encode, input, elements)?;
            for (i, element) in bytes.chunks_exact((n * 4).max(1)).enumerate() {
                out.extend(self.code(&codes, &utf32(element).ok_or_else(|| bad(i))?));
            }
        } else {
            let v = checked::variable(NAME, Way::Encode, input, &elements)?;
            for i in 0..v.len() {
                out.extend(self.code(&codes, std::str::from_utf8(v.get(i)).map_err(|_| bad(i))?));
            }
        }
        Ok(Elements::Fixed(out))
    }

    fn decode(&self, input: &Rep, elements: Elements) -> Result<Elements> {
        let bytes = checked::fixed(NAME, Way::Decode, &self.encoded(input)?, elements)?;
        let texts = bytes.chunks_exact(self.astype.width()).enumerate().map(|(i, code)| {
            self.label(code).ok_or_else(|| {
                let number = numbers::show(code, self.astype, 0);
                CodecFault::corrupt(NAME, format!("element {i} has code {number}, there are {} labels", self.labels.len()))
            })
        });
        if let DataType::FixedUtf32(n) = input.data_type {
            let mut out = Vec::with_capacity(input.count() * n * 4);
            for text in texts {
                let units = text?.chars().map(u32::from).chain(std::iter::repeat(0)).take(n);
                out.extend(units.flat_map(u32::to_le_bytes));
            }
            return Ok(Elements::Fixed(out));
        }
        let mut out = Variable::new();
        for text in texts {
            out.push(text?.as_bytes());
        }
        Ok(Elements::Variable(out))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use gingham_core::Shape;
    use gingham_core::dtype::{Endian, FillValue};

    fn codec(labels: &[&str], astype: DataType) -> Result<Categorize> {
        let labels: Vec<String> = labels.iter().map(|s| s.to_string()).collect();
        Categorize::new(&labels, &TypeStr { data_type: astype, order: vec![Endian::Little] })
    }

    fn strings(v: &[&str]) -> Elements {
        let mut out = Variable::new();
        v.iter().for_each(|s| out.push(s.as_bytes()));
        Elements::Variable(out)
    }

    #[test]
    fn codes_start_at_one() {
        let c = codec(&["a", "b"], DataType::UInt8).unwrap();
        let r = Rep { data_type: DataType::String, shape: Shape::from_slice(&[3]), fill: FillValue::new("b") };
        let stored = c.encode(&r, strings(&["b", "z", "a"])).unwrap();
        assert_eq!(stored, Elements::Fixed(vec![2, 0, 1]));
        assert_eq!(c.decode(&r, stored).unwrap(), strings(&["b", "", "a"]));
        assert_eq!(c.encoded(&r).unwrap().fill.as_bytes(), [2]);
        assert!(c.decode(&r, Elements::Fixed(vec![3, 0, 0])).unwrap_err().what.contains("code 3, there are 2 labels"));
        assert!(c.decode(&r, Elements::Fixed(vec![0, 0])).is_err());
    }

    #[test]
    fn fixed_length_strings() {
        let c = codec(&["é", "long"], DataType::Int16).unwrap();
        let r = Rep { data_type: DataType::FixedUtf32(2), shape: Shape::from_slice(&[1]), fill: FillValue::new([0; 8]) };
        let e = Elements::Fixed(vec![0xe9, 0, 0, 0, 0, 0, 0, 0]);
        let stored = c.encode(&r, e.clone()).unwrap();
        assert_eq!(stored, Elements::Fixed(vec![1, 0]));
        assert_eq!(c.decode(&r, stored).unwrap(), e);
        assert_eq!(c.decode(&r, Elements::Fixed(vec![2, 0])).unwrap(), Elements::Fixed(vec![b'l', 0, 0, 0, b'o', 0, 0, 0]));
        assert!(c.encode(&r, Elements::Fixed(vec![0xff; 8])).is_err());
    }

    #[test]
    fn labels_must_be_countable() {
        let many: Vec<String> = (0..300).map(|i| i.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(codec(&many, DataType::UInt8).is_err());
        assert!(codec(&many, DataType::UInt16).is_ok());
        assert!(codec(&["a"], DataType::Bool).is_err());
        let r = Rep { data_type: DataType::Int8, shape: Shape::new(), fill: FillValue::new([0]) };
        assert!(codec(&["a"], DataType::UInt8).unwrap().encoded(&r).is_err());
    }
}
