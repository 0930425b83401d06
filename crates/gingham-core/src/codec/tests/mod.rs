#![allow(clippy::unwrap_used, clippy::expect_used)]
//! Codec objects of all spellings, and chains against types and shapes.

mod chain;
mod objects;

use super::*;
use crate::dtype::{Float, parse_v2};
use serde_json::json;

fn v3(value: Value) -> Codec {
    codec_from_v3(&value).unwrap_or_else(|error| panic!("{value}: {error:?}"))
}

fn v2(value: Value) -> Codec {
    codec_from_v2(&value, 4).unwrap_or_else(|error| panic!("{value}: {error:?}"))
}

fn chain(value: Value) -> Vec<Codec> {
    chain_from_v3(&value).unwrap_or_else(|error| panic!("{value}: {error:?}"))
}

fn typestr(text: &str) -> TypeStr {
    parse_v2(&json!(text)).unwrap()
}
