//! From a path or URL to the node that lies there.

use std::path::Path;

use gingham::store::{self, Store};
use gingham::{Array, Entry, Format, Group, Node};

use crate::context::Context;
use crate::error::{Failure, Result};
use crate::nearby;
use crate::words;

/// Opens what lies at a location. Where nothing does, the error says what could have been meant.
pub fn node(context: &Context, location: &str) -> Result<Node> {
    check(location)?;
    let options = context.store_options(location);
    let opened = match within_file(location) {
        Some((file, path)) => gingham::open(&store::open_with(file, &options)?, path, &context.array),
        None => gingham::open_url(location, &options, &context.array).map(|(_, node)| node),
    };
    opened.map_err(|error| match (error.kind() == gingham::Kind::NotFound).then(|| nearby::hint(location)).flatten() {
        Some(hint) => Failure::from(error).instead_hint(hint),
        None => Failure::from(error),
    })
}

/// Opens what lies at a location in order to change it: from the hierarchy around it where that keeps consolidated metadata of
/// the node, so that it follows the change.
pub fn changed_node(context: &Context, location: &str) -> Result<Node> {
    check(location)?;
    let options = context.store_options(location);
    let above = match within_file(location) {
        Some(_) => None,
        None => gingham::consolidated_above(location, &options)?.into_iter().find(|above| above.lists),
    };
    match above {
        Some(above) => Ok(gingham::open(&above.store, &above.path, &context.array)?),
        None => node(context, location),
    }
}

/// A path that goes on behind a file, as in `archive.zip/group/array`: the file, and the node's path in it.
fn within_file(location: &str) -> Option<(&str, &str)> {
    if location.contains("://") {
        return None;
    }
    let (file, rest) = location.match_indices('/').map(|(i, _)| location.split_at(i)).find(|(file, _)| Path::new(file).is_file())?;
    let path = rest.trim_matches('/');
    (!path.is_empty()).then_some((file, path))
}

/// Opens an array; for a group the error names the arrays that could have been meant.
pub fn array(context: &Context, location: &str) -> Result<Array> {
    array_of(node(context, location)?, location)
}

/// [`array`], in order to change it: see [`changed_node`].
pub fn changed_array(context: &Context, location: &str) -> Result<Array> {
    array_of(changed_node(context, location)?, location)
}

fn array_of(node: Node, location: &str) -> Result<Array> {
    match node {
        Node::Array(array) => Ok(array),
        Node::Group(group) => {
            let failure = Failure::usage(format!("{location} is a group; this needs an array"));
            let names: Vec<String> = group.children().unwrap_or_default().into_iter().filter_map(array_name).take(9).collect();
            Err(match words::some_of(&names, 8) {
                Some(list) => failure.hint(format!("name one of its arrays: {list}")),
                None => failure.hint(format!("see what is in it with: gingham tree {location}")),
            })
        }
    }
}

fn array_name(entry: Entry) -> Option<String> {
    matches!(entry.node, Ok(Node::Array(_))).then_some(entry.relative)
}

/// Opens the store for a location that need not exist yet, and the path in it: below a group with consolidated metadata of the
/// same format the store is that group's, so that the new node gets into it.
pub fn target(context: &Context, location: &str, format: Format) -> Result<(Store, String)> {
    check(location)?;
    let options = context.store_options(location);
    let above = gingham::consolidated_above(location, &options)?.into_iter().find(|above| above.format == format);
    match above {
        Some(above) => Ok((above.store, above.path)),
        None => Ok((store::open_with(location, &options)?, String::new())),
    }
}

/// Brings consolidated metadata above a location up to date with what was written there.
pub fn consolidate_above(context: &Context, location: &str, format: Format) -> Result<()> {
    let all = gingham::consolidated_above(location, &context.store_options(location))?;
    // From the inside out: the outer ones hold the documents of the inner ones.
    for above in all.into_iter().rev().filter(|above| above.format == format) {
        let options = gingham::Options { format: Some(format), ..gingham::Options::default() };
        Group::open_with(&above.store, "", &options)?.consolidate()?;
    }
    Ok(())
}

/// Opens the store that a conversion writes: as [`target`], but a path that ends in `.zip` becomes an archive. One that is there
/// is only replaced where that was asked for.
pub fn conversion_target(context: &Context, location: &str, overwrite: bool) -> Result<Store> {
    check(location)?;
    if !overwrite && std::path::Path::new(location).is_file() {
        let error = gingham::Error::new(gingham::Kind::Exists, "there is a file already").at(|p| p.store = Some(location.into()));
        return Err(Failure::from(error).instead_hint("--overwrite replaces it"));
    }
    Ok(store::create_with(location, &context.store_options(location))?)
}

fn check(location: &str) -> Result<()> {
    if location.trim().is_empty() {
        return Err(Failure::usage("the location is empty").hint("name a path or a URL"));
    }
    Ok(())
}

/// A node and all below it: itself first.
pub fn walk(node: Node) -> Result<Vec<Entry>> {
    match node {
        Node::Array(array) => {
            let path = array.path().to_string();
            Ok(vec![Entry { path, relative: String::new(), node: Ok(Node::Array(array)) }])
        }
        Node::Group(group) => Ok(group.walk()?),
    }
}

/// What is odd about a group but does not keep it from being read.
pub fn warn_of(context: &Context, group: &Group) {
    for warning in group.warnings() {
        context.warn(warning);
    }
}
