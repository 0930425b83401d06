#![allow(clippy::unwrap_used)]
use super::*;
use proptest::prelude::*;

fn encoding(value: Value) -> KeyEncoding {
    KeyEncoding::from_json(&value).unwrap()
}

fn refusal(value: Value) -> KeyEncodingError {
    KeyEncoding::from_json(&value).unwrap_err()
}

fn suffix_of(base: KeyEncoding) -> KeyEncoding {
    KeyEncoding::Suffix { base: Box::new(base), suffix: ".tiff".into(), name: SuffixName::Suffix }
}

#[test]
fn default_and_v2() {
    let default = encoding(json!({"name": "default", "configuration": {"separator": "."}}));
    assert_eq!(default.encode(&[1, 23, 45]), "c.1.23.45");
    assert_eq!(encoding(json!({"name": "default"})).encode(&[1, 23, 45]), "c/1/23/45");
    assert_eq!(encoding(json!({"name": "v2"})).encode(&[1, 23, 45]), "1.23.45");
    assert_eq!(encoding(json!({"name": "v2", "configuration": {"separator": "/"}})).encode(&[0, u64::MAX]), "0/18446744073709551615");
}

/// vz-834: a 0-d array's one chunk is `c`, in v2 `0`.
#[test]
fn vz_834_scalars() {
    let (default, v2) = (encoding(json!("default")), encoding(json!("v2")));
    assert_eq!((default.encode(&[]), v2.encode(&[])), ("c".to_string(), "0".to_string()));
    assert_eq!(default.decode("c", 0), Some(Shape::new()));
    assert_eq!(v2.decode("0", 0), Some(Shape::new()));
    assert_eq!(default.decode("c/0", 0), None);
    assert_eq!(v2.decode("1", 0), None);
}

/// zp-2029: the configuration may be absent, and the object may be its bare name.
#[test]
fn zp_2029_defaults() {
    assert_eq!(encoding(json!({"name": "default"})), KeyEncoding::Default { separator: '/' });
    assert_eq!(encoding(json!({"name": "v2"})), KeyEncoding::V2 { separator: '.' });
    assert_eq!(encoding(json!("default")), KeyEncoding::Default { separator: '/' });
    assert_eq!(encoding(json!({"name": "default", "configuration": {}})), KeyEncoding::Default { separator: '/' });
}

/// vz-1069: keys of the default encoding with a period.
#[test]
fn vz_1069_default_with_period() {
    let encoding = encoding(json!({"name": "default", "configuration": {"separator": "."}}));
    let keys: Vec<String> = [[0, 0], [0, 1], [1, 0], [1, 1]].iter().map(|c| encoding.encode(c)).collect();
    assert_eq!(keys, ["c.0.0", "c.0.1", "c.1.0", "c.1.1"]);
    assert_eq!(encoding.decode("c.1.0", 2).unwrap().as_slice(), [1, 0]);
    assert_eq!(encoding.decode("c/1/0", 2), None);
}

#[test]
fn foreign_keys_are_no_chunks() {
    let default = encoding(json!("default"));
    for key in [
        "c/01/0",
        "c/+1/0",
        "c/-1/0",
        "c/1",
        "c/1/2/3",
        "c/1/",
        "c//1/2",
        "d/1/2",
        "c/1/18446744073709551616",
        "zarr.json",
        "",
        "c/1/ 2",
        "c/1/٣",
    ] {
        assert_eq!(default.decode(key, 2), None, "{key}");
    }
    let v2 = encoding(json!("v2"));
    for key in ["1", "1.2.3", "01.2", ".1.2", "1..2", "1.2.", ".zarray", "0/1"] {
        assert_eq!(v2.decode(key, 2), None, "{key}");
    }
}

#[test]
fn refusals_point_at_the_cause() {
    let error = refusal(json!({"name": "default", "configuration": {"separator": "-"}}));
    assert_eq!(error.pointer, "/configuration/separator");
    assert_eq!(error.what, "\"separator\" of chunk key encoding \"default\" must be one of \"/\", \".\", not \"-\"");
    assert_eq!(refusal(json!({"name": "default", "configuration": {"sep": "/"}})).pointer, "/configuration/sep");
    assert!(refusal(json!({"name": "hilbert"})).what.contains("\"hilbert\""));
    assert_eq!(refusal(json!(null)).pointer, "");
    assert_eq!(
        refusal(
            json!({"name": "prefix", "configuration": {"prefix": "x/", "base_encoding": {"name": "v2", "configuration": {"separator": 1}}}})
        )
        .pointer,
        "/configuration/base_encoding/configuration/separator"
    );
}

#[test]
fn suffix_and_prefix() {
    let suffix = encoding(json!({"name": "suffix", "configuration": {"suffix": ".tiff", "base-encoding": {"name": "default"}}}));
    assert_eq!(suffix.encode(&[1, 2]), "c/1/2.tiff");
    assert_eq!(suffix.decode("c/1/2.tiff", 2).unwrap().as_slice(), [1, 2]);
    assert_eq!(suffix.decode("c/1/2", 2), None);
    let zarrs = encoding(json!({"name": "zarrs.default_suffix", "configuration": {"separator": ".", "suffix": ".tif"}}));
    assert_eq!(zarrs.encode(&[1, 2]), "c.1.2.tif");
    let prefix = encoding(json!({"name": "prefix", "configuration": {"prefix": "x/", "base_encoding": "v2"}}));
    assert_eq!(prefix.encode(&[0, 0, 0]), "x/0.0.0");
    assert_eq!(prefix.decode("x/0.0.1", 3).unwrap().as_slice(), [0, 0, 1]);
    for bad in ["", "/x", "a/../b", "a//b", "a\\b", "x\0", "zarr.json/"] {
        let error = refusal(json!({"name": "prefix", "configuration": {"prefix": bad, "base_encoding": "v2"}}));
        assert_eq!(error.pointer, "/configuration/prefix", "{bad:?}");
    }
    for bad in ["/", "0", "x/..", "a//b"] {
        let error = refusal(json!({"name": "suffix", "configuration": {"suffix": bad, "base_encoding": "v2"}}));
        assert_eq!(error.pointer, "/configuration/suffix", "{bad:?}");
    }
}

#[test]
fn fanout() {
    let fanout = encoding(json!({"name": "fanout"}));
    assert_eq!(fanout.encode(&[1234, 5, 0, 6_789_012]), "c/1/001/234/0/005/0/000/2/006/789/012");
    assert_eq!(fanout.encode(&[0]), "c/0/000");
    assert_eq!(fanout.encode(&[]), "c");
    for key in ["c/0/1234", "c/1/000/234", "c/0/12", "c/1/001", "c/00/000", "c/0/000/0", "c/9/999", "c/6/999/999/999/999/999/999/999"] {
        assert_eq!(fanout.decode(key, 1), None, "{key}");
    }
    assert_eq!(encoding(json!({"name": "fanout", "configuration": {"max_children": 5000}})).encode(&[1234]), "c/1/001/234");
    assert_eq!(encoding(json!({"name": "fanout", "configuration": {"max_children": 100}})).encode(&[1234]), "c/1/12/34");
    assert_eq!(refusal(json!({"name": "fanout", "configuration": {"max_children": 99}})).pointer, "/configuration/max_children");
}

#[test]
fn template_vectors() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/fixtures/template_examples.tsv");
    let Ok(text) = std::fs::read_to_string(path) else { return eprintln!("skipped: no {path}") };
    let mut count = 0;
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [template, separator, chunk, key] = fields[..] else { panic!("{line}") };
        let chunk: Vec<u64> = chunk.split(',').map(|n| n.parse().unwrap()).collect();
        let encoding = encoding(json!({"name": "template", "configuration": {"format": template, "separator": separator}}));
        encoding.check_ndim(3).unwrap();
        assert_eq!(encoding.encode(&chunk), key);
        assert_eq!(encoding.decode(key, 3).unwrap().as_slice(), chunk);
        count += 1;
    }
    assert_eq!(count, 8);
}

#[test]
fn templates_that_do_not_fit() {
    let check = |template: &str, ndim| {
        let value = json!({"name": "template", "configuration": {"template": template, "separator": "/"}});
        KeyEncoding::from_json(&value).and_then(|e| e.check_ndim(ndim))
    };
    for (template, ndim) in
        [("{0}/{1}", 3), ("{0}/{*}", 1), ("{*}", 0), ("{3}", 1), ("{0}/{-2}", 2), ("{-3}/{*}", 2), ("{0}{1}", 2), ("{0}7{1}", 2)]
    {
        assert!(check(template, ndim).is_err(), "{template} {ndim}");
    }
    for (template, ndim) in [("{0}/{1}", 2), ("{*}", 1), ("{-1}/{*}", 4), ("a{0}7", 1), ("{-0}/{1}", 2)] {
        assert!(check(template, ndim).is_ok(), "{template} {ndim}");
    }
    for template in [
        "",
        "abc",
        "{",
        "}",
        "{x}",
        "{*}/{*}",
        "/{0}",
        "{0}/",
        "a/../{0}",
        "{0:3}",
        "{0:0}",
        "{0:099999999}",
        "{+1}",
        "{99999999999999999999999}",
    ] {
        let value = json!({"name": "template", "configuration": {"template": template, "separator": "/"}});
        assert!(KeyEncoding::from_json(&value).is_err(), "{template}");
    }
    assert!(KeyEncoding::from_json(&json!({"name": "template", "configuration": {"template": "{*}"}})).is_err());
}

fn any_encoding() -> impl Strategy<Value = KeyEncoding> {
    let separator = prop_oneof![Just('/'), Just('.')];
    let leaf = prop_oneof![
        separator.clone().prop_map(|separator| KeyEncoding::Default { separator }),
        separator.prop_map(|separator| KeyEncoding::V2 { separator }),
        (100u64..1_000_000).prop_map(|max_children| KeyEncoding::Fanout { max_children }),
        prop_oneof![Just("{-1:03}/1{*}7"), Just("x{*:02}"), Just("{*}_{0}")]
            .prop_map(|t| KeyEncoding::Template { template: t.into(), separator: Some("-0".into()) }),
    ];
    leaf.prop_recursive(2, 4, 1, |base| {
        prop_oneof![
            base.clone().prop_map(suffix_of),
            base.prop_map(|base| KeyEncoding::Prefix { base: Box::new(base), prefix: "p1/".into() }),
        ]
    })
}

proptest! {
    #[test]
    fn decode_is_the_inverse_of_encode(encoding in any_encoding(), chunk in prop::collection::vec(prop_oneof![0u64..12, any::<u64>()], 2..5)) {
        prop_assert!(encoding.check_ndim(chunk.len()).is_ok());
        let key = encoding.encode(&chunk);
        prop_assert!(!key.starts_with('/') && !key.ends_with('/') && !key.contains("//"));
        prop_assert_eq!(encoding.decode(&key, chunk.len()).map(|c| c.to_vec()), Some(chunk));
    }

    #[test]
    fn a_key_that_decodes_is_the_chunks_key(encoding in any_encoding(), key in "[cpx0-3/._-]{0,12}") {
        if let Some(chunk) = encoding.decode(&key, 2) {
            prop_assert_eq!(encoding.encode(&chunk), key);
        }
    }

    #[test]
    fn json_round_trip(encoding in any_encoding()) {
        prop_assert_eq!(KeyEncoding::from_json(&encoding.to_json()).unwrap(), encoding);
    }
}
