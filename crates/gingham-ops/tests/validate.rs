//! What validation finds in stores that are wrong on purpose, and that it finds nothing in right ones.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::Path;

use gingham::store::memory::Memory;
use gingham::store::{Bytes, Condition, Range};
use gingham::{Array, DataType, Grid, Group, NewArray, Selection, Store};
use gingham_ops::validate::{Finding, Severity, Summary, validate};

fn part(text: &str) -> Selection {
    Selection::parse(text).unwrap()
}

fn memory() -> Store {
    Store::new(Memory::new())
}

fn put(store: &Store, key: &str, bytes: impl Into<Vec<u8>>) {
    store.put(key, Bytes::from(bytes.into()), &Condition::Always).unwrap();
}

fn look(store: &Store, data: bool) -> (Vec<Finding>, Summary) {
    let mut all = Vec::new();
    let node = gingham::open(store, "", &gingham::Options::default()).unwrap();
    let summary = validate(&node, data, &mut |f| all.push(f)).unwrap();
    assert_eq!(summary.errors + summary.warnings, all.len() as u64);
    (all, summary)
}

fn rules(store: &Store, data: bool) -> Vec<(String, &'static str, Severity)> {
    let mut out: Vec<_> = look(store, data).0.into_iter().map(|f| (f.path, f.rule, f.severity)).collect();
    out.sort();
    out
}

fn warning(path: &str, rule: &'static str) -> (String, &'static str, Severity) {
    (path.into(), rule, Severity::Warning)
}

fn error(path: &str, rule: &'static str) -> (String, &'static str, Severity) {
    (path.into(), rule, Severity::Error)
}

/// A group with a plain array `a` (uint8, 4 by chunks of 2, uncompressed) and a sharded one `s`.
fn healthy() -> Store {
    let store = memory();
    Group::create(&store, "", gingham::Format::V3, Default::default()).unwrap();
    let mut new = NewArray::new(DataType::UInt8, Grid::regular(&[4], &[2]).unwrap());
    new.codecs = Some(Vec::new());
    Array::create(&store, "a", new).unwrap().write_bytes(Selection::All, &[1, 2, 3, 4]).unwrap();
    let mut new = NewArray::new(DataType::UInt8, Grid::regular(&[8], &[4]).unwrap());
    new.inner_chunks = Some(vec![2]);
    new.codecs = Some(vec![gingham::core::codec::Codec::Crc32c { location: gingham::core::codec::Location::End }]);
    Array::create(&store, "s", new).unwrap().write_bytes(part("0:4"), &[1, 2, 3, 4]).unwrap();
    store
}

#[test]
fn a_right_store_has_no_findings() {
    let (found, summary) = look(&healthy(), true);
    assert!(found.is_empty(), "{found:?}");
    assert_eq!((summary.groups, summary.arrays, summary.stored, summary.missing), (1, 2, 3, 1));
}

#[test]
fn all_findings_are_reported_not_the_first() {
    let store = healthy();
    put(&store, "a/c/0", [1, 2, 3]);
    put(&store, "a/c/7", [1, 2]);
    put(&store, "a/c.1", [1, 2]);
    put(&store, "a/notes.txt", [0]);
    put(&store, "README", [0]);
    put(&store, "bad/zarr.json", *b"{");
    put(&store, "bad/c/0", [0]);
    put(&store, "a/inner/zarr.json", *br#"{"zarr_format":3,"node_type":"group"}"#);
    put(&store, "a/.zarray", *b"{}");
    assert_eq!(
        rules(&store, true),
        [
            warning("", "foreign-key"),
            warning("a", "both-formats"),
            error("a", "chunk-size"),
            warning("a", "foreign-key"),
            warning("a", "orphan-key"),
            warning("a", "other-separator"),
            error("a/inner", "node-in-array"),
            error("bad", "document"),
        ]
        .into_iter()
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect::<Vec<_>>()
    );
}

#[test]
fn damage_is_found_by_size_or_by_decoding() {
    let store = healthy();
    put(&store, "a/c/1", []);
    let shard = store.get("s/c/0", Range::All).unwrap().unwrap().to_vec();
    put(&store, "s/c/1", shard[..10].to_vec());
    assert_eq!(rules(&store, false), [error("a", "chunk-size"), error("s", "torn-shard")]);

    let mut flipped = shard.clone();
    flipped[0] ^= 1;
    flipped[6] ^= 1;
    put(&store, "s/c/1", flipped);
    // Both chunks of the shard are named.
    assert_eq!(rules(&store, true), [error("a", "chunk-size"), error("s", "checksum"), error("s", "checksum")]);

    let mut index = shard.clone();
    let last = index.len() - 1;
    index[last] ^= 1;
    put(&store, "s/c/1", index);
    assert_eq!(rules(&store, true), [error("a", "chunk-size"), error("s", "checksum")]);

    // Bytes before the index that no chunk owns: legal, and worth a word.
    let mut slack = shard[..shard.len() - 36].to_vec();
    slack.extend([0; 5]);
    slack.extend(&shard[shard.len() - 36..]);
    put(&store, "s/c/1", slack);
    assert_eq!(rules(&store, true), [error("a", "chunk-size"), warning("s", "shard-slack")]);
}

#[test]
fn n5z_14_nested_keys_that_the_document_does_not_explain() {
    let store = memory();
    let document =
        br#"{"zarr_format":2,"shape":[4,4],"chunks":[2,2],"dtype":"<i2","compressor":null,"fill_value":0,"order":"C","filters":null}"#;
    put(&store, ".zarray", *document);
    for key in ["0/0", "0/1", "1/0", "1/1"] {
        put(&store, key, [0; 8]);
    }
    let (found, summary) = look(&store, false);
    assert_eq!(found.iter().map(|f| (f.rule, f.severity)).collect::<Vec<_>>(), [("other-separator", Severity::Error)]);
    assert!(found[0].what.contains("4 stored chunks"), "{}", found[0].what);
    assert_eq!(summary.missing, 4);
}

#[test]
fn ic_962_a_consolidated_block_that_lacks_a_member() {
    let store = healthy();
    Group::open(&store, "").unwrap().consolidate().unwrap();
    assert!(look(&store, false).0.is_empty());
    store.delete_prefix("s").unwrap();
    put(&store, "late/zarr.json", *br#"{"zarr_format":3,"node_type":"group"}"#);
    let stale: Vec<String> = look(&store, false).0.into_iter().filter(|f| f.rule == "stale-consolidated").map(|f| f.what).collect();
    assert!(stale.iter().any(|w| w.contains("/late")) && stale.iter().any(|w| w.contains("/s ")), "{stale:?}");
}

#[test]
fn v2_places_that_are_two_things() {
    let store = memory();
    put(&store, ".zgroup", *br#"{"zarr_format":2}"#);
    put(&store, "x/.zgroup", *br#"{"zarr_format":2}"#);
    let document = br#"{"zarr_format":2,"shape":[4],"chunks":[2],"dtype":"|u1","compressor":{"id":"nonesuch"},"fill_value":0,"order":"C","filters":null}"#;
    put(&store, "x/.zarray", *document);
    let found = rules(&store, true);
    assert!(found.contains(&error("x", "both-kinds")) && found.contains(&error("x", "unsupported")), "{found:?}");
}

#[test]
fn nothing_in_the_generated_fixtures_makes_it_panic() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures/generated");
    let Ok(stores) = std::fs::read_dir(&root) else {
        eprintln!("skipped: no fixtures at {}", root.display());
        return;
    };
    let mut seen = 0;
    for place in stores.flatten().filter(|e| e.path().is_dir()) {
        let Ok(store) = Store::open(&place.path().to_string_lossy()) else { continue };
        if let Ok(node) = gingham::open(&store, "", &gingham::Options::default()) {
            let mut errors = Vec::new();
            let looked = validate(&node, true, &mut |f| {
                if f.severity == Severity::Error {
                    errors.push(format!("{}: {}", f.rule, f.what));
                }
            });
            assert!(looked.is_ok(), "{place:?}");
            if !errors.is_empty() {
                eprintln!("{}: {errors:?}", place.file_name().to_string_lossy());
            }
            seen += 1;
        }
    }
    assert!(seen > 50, "{seen}");
}

/// A stored archive by hand: local headers, directory, end. `zip_of(&[("a", b"x"), ("a", b"y")])` has one name twice.
fn zip_of(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in entries {
        let offset = out.len() as u32;
        let mut middle = Vec::new();
        middle.extend([20, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        middle.extend(crc32(bytes).to_le_bytes());
        middle.extend((bytes.len() as u32).to_le_bytes());
        middle.extend((bytes.len() as u32).to_le_bytes());
        middle.extend((name.len() as u16).to_le_bytes());
        middle.extend([0, 0]);
        out.extend(b"PK\x03\x04");
        out.extend(&middle);
        out.extend(name.as_bytes());
        out.extend(*bytes);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&middle);
        directory.extend([0; 10]);
        directory.extend(offset.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let at = out.len() as u32;
    out.extend(&directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend((entries.len() as u16).to_le_bytes().repeat(2));
    out.extend((directory.len() as u32).to_le_bytes());
    out.extend(at.to_le_bytes());
    out.extend([0, 0]);
    out
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, &b| (0..8).fold(crc ^ u32::from(b), |c, _| if c & 1 == 1 { (c >> 1) ^ 0xedb8_8320 } else { c >> 1 }))
}

#[test]
fn zp_3580_names_that_an_archive_has_twice() {
    let document = |shape: u64| {
        format!(
            r#"{{"zarr_format":3,"node_type":"array","shape":[{shape}],"data_type":"uint8","chunk_grid":{{"name":"regular","configuration":{{"chunk_shape":[4]}}}},"chunk_key_encoding":{{"name":"default","configuration":{{"separator":"/"}}}},"fill_value":0,"codecs":[{{"name":"bytes"}}]}}"#
        )
    };
    let (first, second) = (document(2), document(4));
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("twice.zip");
    let entries: [(&str, &[u8]); 4] =
        [("zarr.json", first.as_bytes()), ("c/0", &[1; 4]), ("zarr.json", second.as_bytes()), ("c/0", &[2; 4])];
    std::fs::write(&place, zip_of(&entries)).unwrap();
    let store = Store::open(place.to_str().unwrap()).unwrap();
    let doubled: Vec<_> = look(&store, true).0.into_iter().map(|f| (f.rule, f.key.unwrap_or_default())).collect();
    assert_eq!(doubled, [("duplicate-key", "c/0".to_string()), ("duplicate-key", "zarr.json".to_string())]);
    assert_eq!(Array::open(&store, "").unwrap().shape(), [4]);
}
