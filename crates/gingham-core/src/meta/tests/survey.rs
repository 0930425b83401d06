//! Every document of the fixtures and the corpus opens, or is refused for a reason that is known.

use super::*;
use crate::codec::{Chain, Context, chain_from_v3_in, chain_to_v3};
use std::collections::BTreeMap;
use std::path::Path;

/// Documents that are not valid, and a word of the reason.
const REFUSED: [(&str, &str); 8] = [
    ("zero_field_count.ome.zarr/zarr.json", "control character"),
    ("colors_rgba_length.ome.zarr/zarr.json", "control character"),
    ("example_field_0.zarr3/lat/zarr.json", "comma stands before"),
    ("example_field_0.zarr3/lon/zarr.json", "comma stands before"),
    ("example_field_0.zarr3/q/zarr.json", "comma stands before"),
    ("byte_cf1.zr3/", "no member \"codecs\""),
    ("byte_cf1.zr3/", "no member \"codecs\""),
    ("storage_transformer/exists/zarr.json", "chunk-manifest-json"),
];

/// Documents that open but use something that this build does not have.
const PROBLEMS: [(&str, &str); 4] = [
    ("imagecodecs_tiff", "imagecodecs_tiff"),
    ("array_optional.zarr", "optional"),
    ("array_optional_nested.zarr", "optional"),
    ("n5_default/examples", "n5_default"),
];

/// v2 arrays that v3 cannot say.
const NO_TWIN: [(&str, &str); 4] =
    [("json2", "json"), ("imagecodecs_tiff", "not known"), ("structured_dtype", "int32[3]"), ("v2_struct", "byte orders")];

fn documents(root: &Path, names: &[&str], found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(root).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            documents(&path, names, found);
        } else if names.contains(&entry.file_name().to_string_lossy().as_ref()) {
            found.insert(path.to_string_lossy().into_owned(), std::fs::read(&path).unwrap());
        }
    }
}

fn all(names: &[&str]) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for below in ["fixtures", "corpus"] {
        if let Some(root) = shared(below) {
            documents(&root, names, &mut found);
        }
    }
    found
}

fn open(path: &str, bytes: &[u8]) -> Result<Node, MetaError> {
    let beside = |name: &str| std::fs::read(Path::new(path).with_file_name(name)).ok();
    match path.rsplit('/').next().unwrap() {
        "zarr.json" => Node::from_v3_bytes(bytes),
        ".zarray" => Array::from_v2_bytes(bytes, beside(".zattrs").as_deref()).map(Node::Array),
        _ => Group::from_v2_bytes(bytes, beside(".zattrs").as_deref()).map(Node::Group),
    }
}

fn is_expected(list: &[(&str, &str)], path: &str, what: &str) -> bool {
    list.iter().any(|(p, w)| path.contains(p) && what.contains(w))
}

#[test]
fn every_document_opens_or_is_refused_for_a_reason() {
    for (path, bytes) in all(&["zarr.json", ".zarray", ".zgroup"]) {
        let node = match open(&path, &bytes) {
            Ok(node) => node,
            Err(error) => {
                assert!(is_expected(&REFUSED, &path, &error.what), "{path}: {error:?}");
                continue;
            }
        };
        let Node::Array(array) = node else { continue };
        if let Some(problem) = array.problem() {
            assert!(is_expected(&PROBLEMS, &path, &problem.what), "{path}: {problem:?}");
            continue;
        }
        Chain::new(array.codecs()).unwrap();
        // The fill value is one element, and the documents are those that were read.
        if let Some(size) = array.data_type().size() {
            assert_eq!(array.fill_value().as_bytes().len(), size, "{path}");
        }
        let (_, document) = &array.documents()[0];
        assert_eq!(document, &Value::Object(parse_object(&bytes, true).unwrap()), "{path}");
    }
}

#[test]
fn chains_and_fill_values_survive_a_rewrite() {
    for (path, bytes) in all(&["zarr.json", ".zarray"]) {
        let Ok(Node::Array(array)) = open(&path, &bytes) else { continue };
        if array.problem().is_some() {
            continue;
        }
        let array = match to_v3(&array) {
            Ok(twin) => twin.array,
            Err(error) => {
                assert!(is_expected(&NO_TWIN, &path, &error.what), "{path}: {error:?}");
                continue;
            }
        };
        let context = Context { ndim: Some(array.grid().ndim()), itemsize: array.data_type().size().unwrap_or(1) };
        let codecs = chain_from_v3_in(&chain_to_v3(array.codecs()).unwrap(), &context).unwrap();
        assert_eq!(codecs, array.codecs(), "{path}");
        let new = |format| New {
            format,
            data_type: array.data_type().clone(),
            grid: array.grid().clone(),
            fill_value: Some(array.fill_value()),
            codecs: codecs.clone(),
            key_encoding: (format == Format::V3).then(|| array.key_encoding().clone()),
            dimension_names: array.dimension_names().map(<[_]>::to_vec),
            attributes: array.attributes().clone(),
        };
        let again = Array::create(new(Format::V3)).unwrap();
        assert_eq!(again.fill_value(), array.fill_value(), "{path}");
        assert_eq!((again.grid(), again.codecs(), again.data_type()), (array.grid(), array.codecs(), array.data_type()), "{path}");
        // Where v2 can say it, it says the same.
        if let Ok(v2) = Array::create(new(Format::V2)) {
            assert_eq!((v2.grid(), v2.data_type(), v2.fill_value()), (array.grid(), array.data_type(), array.fill_value()), "{path}");
            let text = crate::json::to_text(&v2.documents()[0].1);
            assert!(parse_object(text.as_bytes(), false).is_ok(), "{path}");
            // A codec's type string carries the stored byte order in v2 only, and Blosc's typesize is v3's only.
            let spell = |codecs: &[crate::codec::Codec]| {
                codecs.iter().map(|c| c.name().trim_start_matches("numcodecs.").to_string()).collect::<Vec<_>>()
            };
            assert_eq!(spell(to_v3(&v2).unwrap().array.codecs()), spell(array.codecs()), "{path}");
        } else if path.ends_with(".zarray") {
            panic!("{path} cannot be written as the v2 array that it is: {:?}", Array::create(new(Format::V2)).unwrap_err());
        }
    }
}

#[test]
fn every_consolidated_block_opens() {
    let mut blocks = 0;
    for (path, bytes) in all(&[".zmetadata"]) {
        let consolidated = Consolidated::from_zmetadata(&bytes).unwrap_or_else(|error| panic!("{path}: {error:?}"));
        blocks += 1;
        for (node, read) in &consolidated.nodes {
            assert!(read.is_ok(), "{path} {node}: {read:?}");
            assert!(consolidated.get(node).is_some());
        }
    }
    for (path, bytes) in all(&["zarr.json"]) {
        let Ok(Node::Group(group)) = open(&path, &bytes) else { continue };
        let Some(consolidated) = group.consolidated().unwrap_or_else(|error| panic!("{path}: {error:?}")) else { continue };
        blocks += 1;
        for (node, read) in &consolidated.nodes {
            assert!(read.is_ok(), "{path} {node}: {read:?}");
        }
    }
    assert!(blocks > 10 || shared("fixtures").is_none());
}
