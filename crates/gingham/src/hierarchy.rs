//! The hierarchy that a location lies in: a node that is named by its own path is described above it too, where a group keeps
//! consolidated metadata.
//!
//! ```text
//!   data.zarr/zarr.json ── consolidated_metadata { "group/t2m": … } ◄── must follow
//!   data.zarr/group/t2m/zarr.json ◄── changed by its own path
//! ```

use gingham_core::meta::{Consolidated, Format, Group, Node};
use gingham_core::path::NodePath;
use gingham_store::{Range, Store};

use crate::error::Result;
use crate::group::zmetadata;
use crate::{Options, open};

/// Groups above a location that are looked at: no hierarchy is deeper, see [`crate::Group::walk`].
const MOST: usize = 64;

/// A group above a location, with consolidated metadata.
#[derive(Debug, Clone)]
pub struct Above {
    /// The group's store: the group is its root.
    pub store: Store,
    /// The location's path in it.
    pub path: String,
    /// Format of the consolidated metadata.
    pub format: Format,
    /// True where it describes the node at the location.
    pub lists: bool,
}

/// The groups above a location that keep consolidated metadata, the outermost first. Parents are looked at as long as they are
/// groups. One that cannot be read or is not valid is none: the location itself may be all that a user is allowed to see.
///
/// A change that is made through one of these stores brings the consolidated metadata up to date.
pub fn consolidated_above(location: &str, options: &gingham_store::Options) -> Result<Vec<Above>> {
    let mut found = Vec::new();
    for (store, path) in gingham_store::above(location, options)?.take(MOST) {
        let v3 = group_v3(&store);
        let blocks = [
            (Format::V3, v3.as_ref().and_then(|group| group.consolidated().ok().flatten())),
            (Format::V2, zmetadata(&store, &NodePath::root()).ok().flatten()),
        ];
        let is_group = v3.is_some() || blocks[1].1.is_some() || matches!(store.get(".zgroup", Range::All), Ok(Some(_)));
        if !is_group {
            break;
        }
        let above = |(format, block): (Format, Option<Consolidated>)| {
            let lists = block?.get(&path).is_some();
            Some(Above { store: store.clone(), path: path.clone(), format, lists })
        };
        found.extend(blocks.into_iter().filter_map(above));
    }
    found.reverse();
    Ok(found)
}

fn group_v3(store: &Store) -> Option<Group> {
    let options = Options { format: Some(Format::V3), ..Options::default() };
    match open::document(store, &NodePath::root(), &options) {
        Ok(Some(Node::Group(group))) => Some(group),
        _ => None,
    }
}
