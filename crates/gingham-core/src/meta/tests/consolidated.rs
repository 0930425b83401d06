//! Consolidated metadata of both formats.

use super::*;

fn group_v3() -> Value {
    json!({"zarr_format": 3, "node_type": "group"})
}

fn inline(metadata: Value) -> Value {
    json!({"kind": "inline", "must_understand": false, "metadata": metadata})
}

fn with_block(block: Value) -> Group {
    let mut document = object(group_v3());
    document.insert("consolidated_metadata".into(), block);
    Group::from_v3(document).unwrap()
}

fn paths(consolidated: &Consolidated) -> Vec<&str> {
    consolidated.nodes.iter().map(|(path, _)| path.as_str()).collect()
}

#[test]
fn zmetadata() {
    let text = json!({"metadata": {
        ".zgroup": {"zarr_format": 2}, ".zattrs": {"r": 1}, "a/.zgroup": {"zarr_format": 2, "consolidated_metadata": {"metadata": {}}},
        "a/b/.zarray": v2_document(json!({})), "a/b/.zattrs": {"_ARRAY_DIMENSIONS": ["y", "x"]},
        "both/.zarray": v2_document(json!({})), "both/.zgroup": {"zarr_format": 2}, "only/.zattrs": {}, "../x/.zgroup": {"zarr_format": 2},
        "bad/.zarray": 3, "note": {}, "/slash/.zgroup": {"zarr_format": 2}
    }, "zarr_consolidated_format": 1});
    let consolidated = Consolidated::from_zmetadata(text.to_string().as_bytes()).unwrap();
    assert_eq!(paths(&consolidated), ["", "a", "a/b", "bad", "both", "slash"]);
    let Some(Ok(Node::Array(array))) = consolidated.get("a/b") else { panic!() };
    assert_eq!(array.dimension_names().unwrap().len(), 2);
    assert!(consolidated.get("both").unwrap().is_err() && consolidated.get("bad").unwrap().is_err());
    assert_eq!(consolidated.get("").unwrap().as_ref().unwrap().attributes()["r"], 1);
    assert!(consolidated.get("nothing").is_none());
    assert_eq!(consolidated.warnings.len(), 4, "{:?}", consolidated.warnings);
    for (text, pointer) in [
        ("{}", ""),
        ("{\"zarr_consolidated_format\": 2}", "/zarr_consolidated_format"),
        ("{\"zarr_consolidated_format\": 1, \"metadata\": []}", "/metadata"),
        ("x", ""),
    ] {
        let error = Consolidated::from_zmetadata(text.as_bytes()).unwrap_err();
        assert_eq!((error.document, error.pointer.as_str()), (".zmetadata", pointer), "{text}");
    }
}

/// zp-3954: a group without members is a group.
#[test]
fn zp_3954_leaf_groups() {
    let text = json!({"zarr_consolidated_format": 1, "metadata": {"g/.zgroup": {"zarr_format": 2}, "a/.zarray": v2_document(json!({}))}});
    let consolidated = Consolidated::from_zmetadata(text.to_string().as_bytes()).unwrap();
    assert!(matches!(consolidated.get("g"), Some(Ok(Node::Group(_)))));
    assert_eq!(paths(&consolidated), ["a", "g"]);
}

#[test]
fn inline_blocks() {
    let array = Value::Object(v3_document(json!({})));
    let mut v2 = v2_document(json!({}));
    v2.insert("attributes".into(), json!({"u": "m"}));
    let block = inline(
        json!({"b": array, "/a": group_v3(), "a/v2": v2, "a/g2": {"zarr_format": 2, "attributes": {}}, "bad": {"zarr_format": 3}, "a/..": group_v3(), "": group_v3()}),
    );
    let consolidated = with_block(block).consolidated().unwrap().unwrap();
    assert_eq!(paths(&consolidated), ["a", "a/g2", "a/v2", "b", "bad"]);
    assert_eq!(consolidated.get("a/v2").unwrap().as_ref().unwrap().attributes()["u"], "m");
    assert_eq!(consolidated.get("bad").unwrap().as_ref().unwrap_err().pointer, "/metadata/bad");
    assert_eq!(consolidated.warnings.len(), 3, "{:?}", consolidated.warnings);
    let lacking = with_block(json!({"kind": "inline", "metadata": {}})).consolidated().unwrap().unwrap();
    assert!(lacking.warnings[0].contains("must_understand"));
}

/// zrs-cmnull: null is no block, and a kind that may be ignored is; a rewrite drops the null.
#[test]
fn zrs_cmnull() {
    let mut group = with_block(json!(null));
    assert!(group.consolidated().unwrap().is_none());
    assert!(with_block(json!({})).consolidated().unwrap().is_none());
    assert!(with_block(json!({"kind": "other", "must_understand": false})).consolidated().unwrap().is_none());
    assert!(with_block(inline(json!({}))).consolidated().unwrap().is_some());
    group.set_attributes(object(json!({"a": 1})));
    assert!(!group.document().contains_key("consolidated_metadata"));
    for (block, pointer) in [
        (json!({"kind": "other"}), "/consolidated_metadata/kind"),
        (json!({"kind": "inline", "must_understand": true, "metadata": {}}), "/consolidated_metadata/must_understand"),
        (json!({"kind": "inline", "must_understand": false}), "/consolidated_metadata"),
        (json!(5), "/consolidated_metadata"),
    ] {
        assert_eq!(with_block(block.clone()).consolidated().unwrap_err().pointer, pointer, "{block}");
    }
}

/// zp-2921: a child's own summary is neither believed nor written again.
#[test]
fn zp_2921_stale_summaries_of_children() {
    let mut foo = object(group_v3());
    foo.insert("consolidated_metadata".into(), inline(json!({})));
    let stale = {
        let mut g = object(group_v3());
        g.insert("consolidated_metadata".into(), inline(json!({"x": group_v3()})));
        g
    };
    let block = inline(json!({"foo": foo, "foo/bar": stale, "foo/bar/spam": group_v3()}));
    let consolidated = with_block(block).consolidated().unwrap().unwrap();
    assert_eq!(paths(&consolidated), ["foo", "foo/bar", "foo/bar/spam"]);
    assert_eq!(consolidated.warnings.len(), 1, "{:?}", consolidated.warnings);
    for (path, node) in &consolidated.nodes {
        let Ok(Node::Group(group)) = node else { panic!("{path}") };
        assert!(group.consolidated().unwrap().is_none(), "{path}");
    }
    let nodes = [("foo".to_string(), Node::from_v3(foo_with_block()).unwrap())];
    assert_eq!(consolidate_v3(&nodes)["metadata"]["foo"], group_v3());
}

fn foo_with_block() -> Map<String, Value> {
    let mut foo = object(group_v3());
    foo.insert("consolidated_metadata".into(), inline(json!({"old": group_v3()})));
    foo
}

/// zp-2990: an embedded document equals the node's own.
#[test]
fn zp_2990_embedded_documents_are_equal() {
    let time = Array::from_v2(v2_document(json!({"dtype": "<f8", "fill_value": "NaN"})), Some(object(json!({"u": 1})))).unwrap();
    let own = time.documents();
    let nodes = [(String::new(), Node::Group(Group::create(Format::V2, Map::new()))), ("t/time".to_string(), Node::Array(time))];
    let block = consolidate_v2(&nodes);
    assert_eq!(block["metadata"]["t/time/.zarray"], own[0].1);
    assert_eq!(block["metadata"]["t/time/.zattrs"], own[1].1);
    assert_eq!(block["metadata"][".zgroup"], json!({"zarr_format": 2}));
    let again = Consolidated::from_zmetadata(crate::json::to_text(&block).as_bytes()).unwrap();
    assert_eq!((paths(&again), again.warnings.len()), (vec!["", "t/time"], 0));

    let array = Array::from_v3(v3_document(json!({"data_type": "float32", "fill_value": "NaN"}))).unwrap();
    let document = array.documents()[0].1.clone();
    let group = || Node::Group(Group::create(Format::V3, Map::new()));
    let nodes = [
        ("b/c".to_string(), Node::Array(array)),
        ("b".to_string(), group()),
        (String::new(), group()),
        ("a/z".to_string(), group()),
        ("a".to_string(), group()),
    ];
    let block = consolidate_v3(&nodes);
    assert_eq!(block["metadata"].as_object().unwrap().keys().collect::<Vec<_>>(), ["a", "b", "a/z", "b/c"]);
    assert_eq!(block["metadata"]["b/c"], document);
    let mut root = Group::create(Format::V3, Map::new());
    root.set_consolidated(Some(Value::Object(block)));
    let read = root.consolidated().unwrap().unwrap();
    assert_eq!((paths(&read), read.warnings.len()), (vec!["a", "a/z", "b", "b/c"], 0));
    root.set_consolidated(None);
    assert!(root.consolidated().unwrap().is_none());
}

#[test]
fn v2_nodes_in_a_v3_block() {
    let array = Array::from_v2(v2_document(json!({})), Some(object(json!({"u": 1})))).unwrap();
    let block = Value::Object(consolidate_v3(&[("old".to_string(), Node::Array(array))]));
    let read = Consolidated::from_v3_block(&block).unwrap();
    let Some(Ok(Node::Array(array))) = read.get("old") else { panic!() };
    assert_eq!((array.format(), &array.attributes()["u"]), (Format::V2, &json!(1)));
    assert!(!array.document().contains_key("attributes"));
}
