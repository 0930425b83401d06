//! Documents, objects and selections for tests, in few words.
#![allow(clippy::unwrap_used, dead_code)]

use std::sync::Arc;

use gingham::store::wrap::{Count, Counts};
use gingham::store::{Bytes, Condition, Range};
use gingham::{Array, Elements, Selection, Store};
pub use serde_json::{Value, json};

pub fn memory() -> Store {
    Store::open("memory:").unwrap()
}

/// A memory store and what is asked of it.
pub fn counted() -> (Store, Arc<Counts>) {
    let count = Count::new(memory());
    let counts = count.counts();
    (Store::new(count), counts)
}

pub fn put(store: &Store, key: &str, bytes: impl AsRef<[u8]>) {
    store.put(key, Bytes::copy_from_slice(bytes.as_ref()), &Condition::Always).unwrap();
}

pub fn get(store: &Store, key: &str) -> Option<Vec<u8>> {
    store.get(key, Range::All).unwrap().map(|b| b.to_vec())
}

/// A document as strict JSON.
pub fn document(store: &Store, key: &str) -> Value {
    serde_json::from_slice(&get(store, key).unwrap_or_else(|| panic!("{key} is absent"))).unwrap()
}

pub fn keys(store: &Store) -> Vec<String> {
    store.list("").unwrap().into_iter().map(|(key, _)| key).collect()
}

fn changed(mut document: Value, changes: Value) -> Value {
    for (key, value) in changes.as_object().unwrap() {
        document[key] = value.clone();
    }
    document
}

/// A v3 array of 4 x 4 bytes in chunks of 2 x 2, uncompressed, with some members replaced.
pub fn v3_document(changes: Value) -> Value {
    changed(
        json!({
            "zarr_format": 3, "node_type": "array", "shape": [4, 4], "data_type": "uint8",
            "chunk_grid": regular(&[2, 2]), "chunk_key_encoding": {"name": "default"},
            "fill_value": 0, "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "attributes": {}
        }),
        changes,
    )
}

/// A v2 array of 4 x 4 bytes in chunks of 2 x 2, uncompressed, with some members replaced.
pub fn v2_document(changes: Value) -> Value {
    changed(
        json!({
            "zarr_format": 2, "shape": [4, 4], "chunks": [2, 2], "dtype": "|u1", "fill_value": 0, "order": "C",
            "filters": null, "compressor": null
        }),
        changes,
    )
}

pub fn regular(shape: &[u64]) -> Value {
    json!({"name": "regular", "configuration": {"chunk_shape": shape}})
}

pub fn rectilinear(chunk_shapes: Value) -> Value {
    json!({"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": chunk_shapes}})
}

pub fn little() -> Value {
    json!({"name": "bytes", "configuration": {"endian": "little"}})
}

pub fn big() -> Value {
    json!({"name": "bytes", "configuration": {"endian": "big"}})
}

pub fn shard(inner: &[u64], codecs: Value, index_codecs: Value, location: &str) -> Value {
    json!({"name": "sharding_indexed", "configuration": {
        "chunk_shape": inner, "codecs": codecs, "index_codecs": index_codecs, "index_location": location
    }})
}

/// A shard of uncompressed chunks whose index has a checksum, at the end.
pub fn plain_shard(inner: &[u64]) -> Value {
    shard(inner, json!([little()]), json!([little(), "crc32c"]), "end")
}

/// Puts a v3 document at `path` and opens it.
pub fn v3(store: &Store, path: &str, changes: Value) -> Array {
    put(store, &format!("{path}/zarr.json"), v3_document(changes).to_string());
    Array::open(store, path).unwrap()
}

/// Puts a v2 document at `path` and opens it.
pub fn v2(store: &Store, path: &str, changes: Value) -> Array {
    put(store, &format!("{path}/.zarray"), v2_document(changes).to_string());
    Array::open(store, path).unwrap()
}

pub fn select(text: &str) -> Selection {
    Selection::parse(text).unwrap()
}

/// Shape and bytes of a selection.
pub fn read(array: &Array, selection: &str) -> (Vec<u64>, Vec<u8>) {
    match array.read_elements(select(selection)).unwrap() {
        (shape, Elements::Fixed(bytes)) => (shape, bytes),
        (_, other) => panic!("elements vary in length: {other:?}"),
    }
}

/// Bytes of everything.
pub fn all(array: &Array) -> Vec<u8> {
    read(array, "").1
}

/// The numbers of a selection.
pub fn numbers<const N: usize>(bytes: &[u8]) -> Vec<i64> {
    let wide = |b: &[u8]| {
        let negative = b[N - 1] & 0x80 != 0;
        let mut out = if negative { [0xff; 8] } else { [0; 8] };
        out[..N].copy_from_slice(b);
        i64::from_le_bytes(out)
    };
    bytes.chunks_exact(N).map(wide).collect()
}

/// Numbers as little-endian elements of `N` bytes.
pub fn elements<const N: usize>(values: impl IntoIterator<Item = i64>) -> Vec<u8> {
    values.into_iter().flat_map(|v| v.to_le_bytes()[..N].to_vec()).collect()
}

/// 0, 1, … as bytes.
pub fn count_up(n: u8) -> Vec<u8> {
    (0..n).collect()
}

/// The elements of variable length, as text.
pub fn texts(elements: &Elements) -> Vec<String> {
    let values = elements.as_variable().unwrap();
    (0..values.len()).map(|i| String::from_utf8(values.get(i).to_vec()).unwrap()).collect()
}

pub fn gzip() -> Value {
    json!({"name": "gzip", "configuration": {"level": 1}})
}
