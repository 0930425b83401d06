//! `gingham reference`: the pages of docs/reference, made from what the command and the tables say. A test holds the files against
//! it, so that they are never behind.

use std::fmt::Write as _;
use std::io::Write;

use clap::{Arg, Args, CommandFactory, ValueEnum};
use gingham::DataType;
use gingham::codec::table;
use gingham::core::codec::{Codec, CodecKind, codec_from_v3, codec_to_v2};
use gingham::core::dtype::{Endian, Float, TypeStr, parse_v3, to_v2};
use serde_json::{Value, json};

use crate::args::Cli;
use crate::context::Context;
use crate::error::{Failure, Result};
use crate::exit::Exit;

/// What was typed.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Which page
    page: Page,
}

/// A page of docs/reference.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Page {
    // Every command with its options.
    Command,
    // Every codec with its names.
    Codecs,
    // Every data type with its names.
    DataTypes,
}

/// Prints the page as Markdown.
pub fn run(arguments: Arguments, context: &Context) -> Result<Exit> {
    let page = match arguments.page {
        Page::Command => command_page(),
        Page::Codecs => codecs_page()?,
        Page::DataTypes => data_types_page()?,
    };
    let mut out = context.bytes();
    out.write_all(page.as_bytes())?;
    out.flush()?;
    Ok(Exit::Done)
}

/// Every command: what it does, its arguments, its options, and what stands behind its help.
fn command_page() -> String {
    let mut cli = Cli::command();
    cli.build();
    let mut page = String::from("# The command\n\nMade by `gingham reference command` from what `gingham COMMAND --help` says.\n");
    behind_help(&mut page, &cli);
    page.push_str("\n## Options of every command\n\n");
    options(&mut page, cli.get_arguments().filter(|a| a.is_global_set()));
    for command in cli.get_subcommands().filter(|c| !c.is_hide_set() && c.get_name() != "help") {
        let mut own = command.clone();
        let about = own.get_about().map(ToString::to_string).unwrap_or_default();
        let usage = own.render_usage().to_string();
        let usage = usage.trim_start_matches("Usage: ");
        // Writing to a string cannot fail.
        let _ = write!(page, "\n## {}\n\n{about}.\n\n```text\n{usage}\n```\n\n", command.get_name());
        options(&mut page, command.get_arguments().filter(|a| !a.is_global_set() && a.get_id() != "help"));
        for inner in command.get_subcommands().filter(|c| c.get_name() != "help") {
            let _ = write!(page, "\n### {} {}\n\n", command.get_name(), inner.get_name());
            options(&mut page, inner.get_arguments().filter(|a| !a.is_global_set() && a.get_id() != "help"));
        }
        behind_help(&mut page, command);
    }
    page
}

fn behind_help(page: &mut String, command: &clap::Command) {
    if let Some(text) = command.get_after_help() {
        let _ = write!(page, "\n```text\n{}\n```\n", text.to_string().trim_end());
    }
}

fn options<'a>(page: &mut String, arguments: impl Iterator<Item = &'a Arg>) {
    let mut rows = arguments.filter(|a| !a.is_hide_set()).peekable();
    if rows.peek().is_none() {
        return;
    }
    page.push_str("| | what it does |\n| --- | --- |\n");
    for argument in rows {
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        let defaults: Vec<String> = argument.get_default_values().iter().map(|v| v.to_string_lossy().into_owned()).collect();
        let told = argument.is_hide_default_value_set() || !argument.get_action().takes_values() || help.contains("[default");
        let default = if defaults.is_empty() || told { String::new() } else { format!(" [default: {}]", defaults.join(", ")) };
        let _ = writeln!(page, "| `{}` | {}{} |", cell(&name(argument)), cell(&help), cell(&default));
    }
}

/// `-s, --select <TEXT>`, `<LOCATION>`.
fn name(argument: &Arg) -> String {
    let value = || argument.get_value_names().map_or(argument.get_id().to_string().to_uppercase(), |names| names[0].to_string());
    let Some(long) = argument.get_long() else { return format!("<{}>", value()) };
    let short = argument.get_short().map_or(String::new(), |c| format!("-{c}, "));
    match argument.get_action().takes_values() {
        true => format!("{short}--{long} <{}>", value()),
        false => format!("{short}--{long}"),
    }
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// One of each codec, as v3 writes it. `gingham_codec::table` is where a codec gets its code.
fn codecs() -> Vec<Value> {
    let f4 = json!({"dtype": "<f4"});
    let with = |name: &str, configuration: Value| json!({"name": name, "configuration": configuration});
    let bare = |name: &str| with(name, json!({}));
    vec![
        with("transpose", json!({"order": [1, 0]})),
        with("reshape", json!({"shape": [-1]})),
        bare("zarrs.squeeze"),
        with("gingham.stored_shape", json!({"shape": [4]})),
        with("bitround", json!({"keepbits": 10})),
        with("numcodecs.bitround", json!({"keepbits": 10})),
        with("cast_value", json!({"data_type": "uint8"})),
        with("scale_offset", json!({"offset": 0, "scale": 2})),
        with("numcodecs.delta", f4.clone()),
        with("numcodecs.fixedscaleoffset", json!({"offset": 0, "scale": 2, "dtype": "<f4"})),
        with("numcodecs.quantize", json!({"digits": 2, "dtype": "<f4"})),
        with("numcodecs.astype", json!({"encode_dtype": "<f4", "decode_dtype": "<f8"})),
        bare("numcodecs.packbits"),
        with("numcodecs.categorize", json!({"labels": ["a"], "dtype": "|O"})),
        with("bytes", json!({"endian": "little"})),
        with(
            "sharding_indexed",
            json!({"chunk_shape": [1], "codecs": [{"name": "bytes"}], "index_codecs": [with("bytes", json!({"endian": "little"}))]}),
        ),
        bare("packbits"),
        bare("vlen-utf8"),
        bare("vlen-bytes"),
        with("numcodecs.vlen-array", f4),
        bare("numcodecs.json2"),
        bare("numcodecs.msgpack2"),
        with("zfp", json!({"mode": "reversible"})),
        bare("numcodecs.pcodec"),
        with("numcodecs.zfpy", json!({"mode": 4, "tolerance": -1})),
        with("blosc", json!({"cname": "zstd", "clevel": 5, "shuffle": "noshuffle"})),
        with("gzip", json!({"level": 5})),
        with("zstd", json!({"level": 3, "checksum": false})),
        bare("numcodecs.zlib"),
        bare("numcodecs.bz2"),
        bare("numcodecs.lz4"),
        bare("numcodecs.lzma"),
        bare("numcodecs.shuffle"),
        bare("numcodecs.base64"),
        bare("crc32c"),
        bare("numcodecs.crc32"),
        bare("numcodecs.adler32"),
        bare("numcodecs.fletcher32"),
        bare("numcodecs.jenkins_lookup3"),
    ]
}

fn codecs_page() -> Result<String> {
    let mut page = String::from(
        "# Codecs\n\nMade by `gingham reference codecs`. Every codec here is read and written; others are shown by `info` by their \
         name and refused when data is asked for. Names of numcodecs are also read without `numcodecs.`, and so are those of zarrs' \
         documents before they were registered. Format 2 has no array to bytes codecs of its own: `bytes` is its data type's byte order.\n",
    );
    for kind in [CodecKind::ArrayToArray, CodecKind::ArrayToBytes, CodecKind::BytesToBytes] {
        let _ = write!(page, "\n## {}\n\n| in format 3 | in format 2 |\n| --- | --- |\n", heading(kind));
        for value in codecs() {
            let codec = codec_from_v3(&value).map_err(|e| Failure::bad_data(format!("{value}: {e}")))?;
            if codec.kind() != Some(kind) {
                continue;
            }
            built(&codec)?;
            let v2 = codec_to_v2(&codec).ok().and_then(|v| v.get("id")?.as_str().map(|id| format!("`{id}`")));
            let _ = writeln!(page, "| `{}` | {} |", codec.name(), v2.unwrap_or_else(|| words(&codec).into()));
        }
    }
    Ok(page)
}

fn heading(kind: CodecKind) -> &'static str {
    match kind {
        CodecKind::ArrayToArray => "Array to array",
        CodecKind::ArrayToBytes => "Array to bytes",
        CodecKind::BytesToBytes => "Bytes to bytes",
    }
}

/// What stands for it in format 2, which has no such codec.
fn words(codec: &Codec) -> &'static str {
    match codec {
        Codec::Transpose { .. } => "order F, where it reverses the axes",
        Codec::Bytes(_) => "the byte order of the data type",
        _ => "–",
    }
}

/// A codec without code is not for this page.
fn built(codec: &Codec) -> Result<()> {
    let made = match codec.kind() {
        _ if matches!(codec, Codec::Sharding(_)) => return Ok(()),
        Some(CodecKind::ArrayToArray) => table::array_to_array(codec).map(|_| ()),
        Some(CodecKind::ArrayToBytes) => table::array_to_bytes(codec).map(|_| ()),
        _ => table::bytes_to_bytes(codec).map(|_| ()),
    };
    made.map_err(|e| Failure::bad_data(e.to_string()))
}

/// One of each data type, as v3 writes it.
fn data_types() -> Vec<Value> {
    let with = |name: &str, configuration: Value| json!({"name": name, "configuration": configuration});
    let integers = [2, 4, 8, 16, 32, 64];
    let mut all = vec![json!("bool")];
    all.extend(integers.map(|bits| json!(format!("int{bits}"))));
    all.extend(integers.map(|bits| json!(format!("uint{bits}"))));
    all.extend(Float::ALL.iter().map(|f| json!(f.name())));
    all.extend([json!("complex64"), json!("complex128")]);
    all.extend(Float::ALL.iter().filter(|f| !matches!(f, Float::F32 | Float::F64)).map(|f| json!(format!("complex_{}", f.name()))));
    all.push(with("raw_bytes", json!({"length_bytes": 4})));
    all.push(with("null_terminated_bytes", json!({"length_bytes": 4})));
    all.push(with("fixed_length_utf32", json!({"length_bytes": 16})));
    all.push(with("numpy.datetime64", json!({"unit": "ns", "scale_factor": 1})));
    all.push(with("numpy.timedelta64", json!({"unit": "ns", "scale_factor": 1})));
    all.push(with("struct", json!({"fields": [{"name": "a", "data_type": "int32"}, {"name": "b", "data_type": "float64"}]})));
    all.extend([json!("string"), json!("bytes")]);
    all
}

fn data_types_page() -> Result<String> {
    let mut page = String::from(
        "# Data types\n\nMade by `gingham reference data-types`. `--dtype` takes the names of both formats, and numpy's. Opaque bytes are \
         read as `r<bits>`, too. Types that are \
         not here are shown by `info` by their name and refused when data is asked for.\n\n\
         | in format 3 | in format 2 | bytes of an element |\n| --- | --- | --- |\n",
    );
    for value in data_types() {
        let data_type = parse_v3(&value).map_err(|e| Failure::bad_data(format!("{value}: {e}")))?;
        // Not every complex number of a small float exists.
        if matches!(data_type, DataType::Unknown { .. }) {
            continue;
        }
        let size = data_type.size().map_or("any number".into(), |n| n.to_string());
        let _ = writeln!(page, "| `{}` | {} | {size} |", cell(&spelled(&value)), v2_name(&data_type));
    }
    Ok(page)
}

fn spelled(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

fn v2_name(data_type: &DataType) -> String {
    if matches!(data_type, DataType::String | DataType::Bytes) {
        return "`\\|O` with a codec that says what the objects are".into();
    }
    match to_v2(&TypeStr::new(data_type.clone(), Endian::Little)) {
        Ok(Value::String(text)) if text.starts_with(['<', '>', '|']) => format!("`{}`", cell(&text)),
        Ok(list @ Value::Array(_)) => format!("`{}`", cell(&list.to_string())),
        _ => "–".into(),
    }
}
