//! The list that `json2` and `msgpack2` store: nested items, then their dtype, then their shape (format.md 2.5).
//!
//! ```text
//!   shape [2, 2]:  [[a, b], [c, d], "|O", [2, 2]]     (the shape is missing in chunks of the older `json` and `msgpack`)
//! ```
//!
//! An element of [`DataType::Json`] is an item as compact JSON text, so the string a is `"a"` with its quotes. For every other
//! type an element is what the item means in that type: for [`DataType::String`] the text itself.

use gingham_core::dtype::{DataType, Elements, Endian, Spelling, TypeStr, Variable, format_element, parse_element, to_v2};
use gingham_core::json::Value;

use super::checked::{self, Way};
use crate::{CodecFault, Rep, Result};

/// The elements of a stored list.
pub(crate) fn from_list(codec: &str, input: &Rep, list: Value) -> Result<Elements> {
    let corrupt = |what: String| CodecFault::corrupt(codec, what);
    let Value::Array(mut items) = list else {
        return Err(corrupt("the chunk is not a list".into()));
    };
    let lengths = match items.pop() {
        Some(Value::Array(shape)) if !items.is_empty() => {
            items.pop();
            let lengths: Option<Vec<u64>> = shape.iter().map(Value::as_u64).collect();
            lengths.ok_or_else(|| corrupt(format!("the last item is {}, not a shape", Value::Array(shape))))?
        }
        // The forerunners `json` and `msgpack` end with the dtype; several axes are nested as they are in the chunk.
        Some(Value::String(_)) if input.shape.first() == Some(&(items.len() as u64)) => input.shape.to_vec(),
        Some(Value::String(_)) => vec![items.len() as u64],
        _ => return Err(corrupt("the list does not end with a dtype and a shape".into())),
    };
    let count = lengths.iter().try_fold(1u64, |p, &n| p.checked_mul(n));
    if count != Some(input.count() as u64) {
        return Err(corrupt(format!("holds an array of shape {lengths:?}, expected {} elements", input.count())));
    }
    // Lists keep the axes in the array's own order, so another shape of as many elements may be a transposed one.
    if lengths.len() > 1 && input.shape.len() > 1 && lengths[..] != input.shape[..] {
        return Err(corrupt(format!("holds an array of shape {lengths:?}, expected {:?}", input.shape.as_slice())));
    }
    let mut flat = Vec::new();
    if lengths.is_empty() {
        flat = items;
    } else {
        flatten(codec, items, &lengths, &mut flat)?;
    }
    if flat.len() != input.count() {
        return Err(corrupt(format!("holds {} items, expected {}", flat.len(), input.count())));
    }
    gather(codec, input, flat)
}

fn flatten(codec: &str, items: Vec<Value>, lengths: &[u64], flat: &mut Vec<Value>) -> Result<()> {
    let Some((&length, inner)) = lengths.split_first() else { return Ok(()) };
    if items.len() as u64 != length {
        return Err(CodecFault::corrupt(codec, format!("a list has {} items, the shape says {length}", items.len())));
    }
    if inner.is_empty() {
        flat.extend(items);
        return Ok(());
    }
    for item in items {
        match item {
            Value::Array(items) => flatten(codec, items, inner, flat)?,
            other => return Err(CodecFault::corrupt(codec, format!("{other} stands where the shape {lengths:?} asks for a list"))),
        }
    }
    Ok(())
}

fn gather(codec: &str, input: &Rep, items: Vec<Value>) -> Result<Elements> {
    let one = |i: usize, item: &Value| match (&input.data_type, item) {
        (DataType::Json, item) => Ok(item.to_string().into_bytes()),
        (DataType::String, Value::String(text)) => Ok(text.clone().into_bytes()),
        (data_type, item) => {
            parse_element(data_type, item).map_err(|e| CodecFault::corrupt(codec, format!("item {i}, {item}, is not a {data_type}: {e}")))
        }
    };
    let mut all = Variable::new();
    for (i, item) in items.iter().enumerate() {
        all.push(&one(i, item)?);
    }
    Ok(if input.data_type.size().is_some() { Elements::Fixed(all.data) } else { Elements::Variable(all) })
}

/// The list to store.
pub(crate) fn to_list(codec: &str, input: &Rep, elements: &Elements) -> Result<Value> {
    let one = |i: usize, element: &[u8]| match input.data_type {
        DataType::Json => serde_json::from_slice(element).map_err(|e| CodecFault::value(codec, format!("element {i} is not JSON: {e}"))),
        DataType::String => {
            std::str::from_utf8(element).map(Value::from).map_err(|_| CodecFault::value(codec, format!("element {i} is not UTF-8")))
        }
        _ => Ok(format_element(&input.data_type, element, Spelling::Plain)),
    };
    let mut items = Vec::with_capacity(input.count());
    match input.data_type.size() {
        Some(size) => {
            let bytes = checked::fixed_ref(codec, Way::Encode, input, elements)?;
            for (i, element) in bytes.chunks_exact(size.max(1)).enumerate() {
                items.push(one(i, element)?);
            }
        }
        None => {
            let v = checked::variable(codec, Way::Encode, input, elements)?;
            for i in 0..v.len() {
                items.push(one(i, v.get(i))?);
            }
        }
    }
    let mut list = nest(items, &input.shape);
    list.push(dtype(codec, &input.data_type)?);
    list.push(Value::from(input.shape.to_vec()));
    Ok(Value::Array(list))
}

/// Cuts items in C order into lists of lists.
fn nest(mut items: Vec<Value>, shape: &[u64]) -> Vec<Value> {
    let Some((_, inner)) = shape.split_first() else { return items };
    for (axis, &length) in inner.iter().enumerate().rev() {
        let lists = shape[..=axis].iter().product::<u64>() as usize;
        let mut rest = items.into_iter();
        items = (0..lists).map(|_| Value::Array(rest.by_ref().take(length as usize).collect())).collect();
    }
    items
}

fn dtype(codec: &str, data_type: &DataType) -> Result<Value> {
    if data_type.is_variable() {
        return Ok(Value::from("|O"));
    }
    let typestr = TypeStr { data_type: data_type.clone(), order: vec![Endian::Little] };
    to_v2(&typestr).map_err(|e| CodecFault::unsupported(codec, format!("{data_type} has no v2 dtype: {e}")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use gingham_core::Shape;
    use gingham_core::dtype::FillValue;
    use serde_json::json;

    fn rep(data_type: DataType, shape: &[u64]) -> Rep {
        Rep { data_type, shape: Shape::from_slice(shape), fill: FillValue::new("null") }
    }

    fn texts(e: &Elements) -> Vec<String> {
        let v = e.as_variable().unwrap();
        (0..v.len()).map(|i| String::from_utf8(v.get(i).to_vec()).unwrap()).collect()
    }

    #[test]
    fn objects_in_one_and_two_axes() {
        let list = json!(["a", {"b": [1, 2.5]}, "|O", [2]]);
        let r = rep(DataType::Json, &[2]);
        let e = from_list("x", &r, list.clone()).unwrap();
        assert_eq!(texts(&e), ["\"a\"", "{\"b\":[1,2.5]}"]);
        assert_eq!(to_list("x", &r, &e).unwrap(), list);

        // Items that are lists themselves: the shape says where the array ends.
        let list = json!([[["q"], 1], [null, true], "|O", [2, 2]]);
        let r = rep(DataType::Json, &[2, 2]);
        let e = from_list("x", &r, list.clone()).unwrap();
        assert_eq!(texts(&e), ["[\"q\"]", "1", "null", "true"]);
        assert_eq!(to_list("x", &r, &e).unwrap(), list);

        let list = json!([7, "|O", []]);
        let r = rep(DataType::Json, &[]);
        let e = from_list("x", &r, list.clone()).unwrap();
        assert_eq!(texts(&e), ["7"]);
        assert_eq!(to_list("x", &r, &e).unwrap(), list);

        let forerunner = from_list("x", &rep(DataType::Json, &[2, 1]), json!([["a"], ["b"], "|O"])).unwrap();
        assert_eq!(texts(&forerunner), ["\"a\"", "\"b\""]);

        let list = json!([[], [], "|O", [2, 0]]);
        let r = rep(DataType::Json, &[2, 0]);
        let e = from_list("x", &r, list.clone()).unwrap();
        assert_eq!(to_list("x", &r, &e).unwrap(), list);
    }

    #[test]
    fn other_types_are_read_as_what_they_are() {
        let r = rep(DataType::String, &[2]);
        let list = json!(["a", "b", "|O", [2]]);
        let e = from_list("x", &r, list.clone()).unwrap();
        assert_eq!(texts(&e), ["a", "b"]);
        assert_eq!(to_list("x", &r, &e).unwrap(), list);
        assert!(from_list("x", &r, json!(["a", 1, "|O", [2]])).is_err());
        let r = rep(DataType::Int32, &[2]);
        let list = json!([1, -2, "<i4", [2]]);
        let e = from_list("x", &r, list.clone()).unwrap();
        assert_eq!(e, Elements::Fixed([1i32, -2].iter().flat_map(|x| x.to_le_bytes()).collect()));
        assert_eq!(to_list("x", &r, &e).unwrap(), list);
    }

    #[test]
    fn a_transposed_shape_is_not_taken_for_the_chunk() {
        let list = json!([[1, 2, 3], [4, 5, 6], "|O", [2, 3]]);
        assert!(from_list("x", &rep(DataType::Json, &[3, 2]), list.clone()).unwrap_err().what.contains("expected [3, 2]"));
        assert_eq!(texts(&from_list("x", &rep(DataType::Json, &[6]), list).unwrap()).len(), 6);
    }

    #[test]
    fn lists_that_do_not_add_up() {
        let r = rep(DataType::Json, &[2]);
        for list in [
            json!({}),
            json!([]),
            json!([1]),
            json!([1, 2]),
            json!([1, 2, 3, "|O"]),
            json!([1, "|O", [2]]),
            json!([1, 2, 3, "|O", [2]]),
            json!([1, 2, "|O", [3]]),
            json!([1, 2, "|O", [-2]]),
            json!([1, 2, "|O", 2]),
            json!([1, 2, "|O", [1, 2]]),
            json!([1, 2, "|O", [18446744073709551615u64, 2]]),
            json!(["|O", [2]]),
            json!(["|O", []]),
        ] {
            let e = from_list("x", &r, list.clone()).unwrap_err();
            assert_eq!(e.kind, crate::FaultKind::Corrupt, "{list}");
        }
    }
}
