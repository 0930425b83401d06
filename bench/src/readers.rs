//! The two readers, each called the way its documentation shows, on an array that is open already.

use std::path::Path;
use std::sync::Arc;

use gingham::core::dtype::Elements;
use gingham::{Array, Region, Store};
use zarrs::array::{ArrayBytes, ArraySubset};
use zarrs::filesystem::FilesystemStore;

type Failure = Box<dyn std::error::Error>;

/// Reads a box: its elements in C order.
pub type Read = Box<dyn Fn(&Region) -> Result<Vec<u8>, Failure>>;

pub fn gingham(dir: &Path) -> Result<Read, Failure> {
    let array = Array::open(&Store::open(&dir.to_string_lossy())?, "")?;
    Ok(Box::new(move |region| match array.read_elements(region)?.1 {
        Elements::Fixed(bytes) => Ok(bytes),
        Elements::Variable(_) => Err("elements of fixed size were expected".into()),
    }))
}

pub fn zarrs(dir: &Path) -> Result<Read, Failure> {
    let array = zarrs::array::Array::open(Arc::new(FilesystemStore::new(dir)?), "/")?;
    Ok(Box::new(move |region| {
        let subset = ArraySubset::new_with_start_shape(region.start.to_vec(), region.shape.to_vec())?;
        match array.retrieve_array_subset::<ArrayBytes>(&subset)? {
            ArrayBytes::Fixed(bytes) => Ok(bytes.into_owned()),
            _ => Err("elements of fixed size were expected".into()),
        }
    }))
}
