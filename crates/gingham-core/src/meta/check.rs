//! Whether a chain fits an array: its element type, and every chunk shape that its grid lists.

use crate::Shape;
use crate::codec::{Codec, CodecError, check_codecs, check_written};
use crate::dtype::DataType;
use crate::grid::Grid;

/// Shapes that are tried in full; a grid with more combinations of edge lengths than this is tried axis by axis, which
/// misses nothing but products that only `reshape` depends on.
const MAX_COMBINATIONS: usize = 4096;

/// Checks a chain (in the order of encoding, up to its first unknown codec) against a grid's chunk shapes.
pub(super) fn check_chain(codecs: &[Codec], data_type: &DataType, grid: &Grid) -> Result<(), CodecError> {
    each_shape(grid, codecs.iter().any(depends_on_shape), |shape| check_codecs(codecs.iter(), data_type, shape))
}

/// The same for a chain that is to be written: see [`check_written`].
pub(super) fn check_new_chain(codecs: &[Codec], data_type: &DataType, grid: &Grid) -> Result<(), CodecError> {
    each_shape(grid, true, |shape| check_written(codecs, data_type, shape))
}

/// Calls `check` for the largest chunk shape and, where they matter, for the others.
fn each_shape(grid: &Grid, all: bool, check: impl Fn(&Shape) -> Result<(), CodecError>) -> Result<(), CodecError> {
    let lengths: Vec<Vec<u64>> = grid.axes().iter().map(|axis| axis.distinct_stored()).collect();
    // An axis without a listed chunk leaves nothing that could have a wrong shape.
    if lengths.iter().any(Vec::is_empty) {
        return Ok(());
    }
    // The largest chunk first: it is what can overflow.
    let largest: Shape = lengths.iter().filter_map(|l| l.last().copied()).collect();
    check(&largest)?;
    if !all {
        return Ok(());
    }
    match lengths.iter().try_fold(1usize, |n, l| n.checked_mul(l.len())).filter(|&n| n <= MAX_COMBINATIONS) {
        Some(count) => (0..count).try_for_each(|i| check(&combination(&lengths, i))),
        None => lengths.iter().enumerate().try_for_each(|(axis, lengths)| {
            let mut shape = largest.clone();
            lengths.iter().try_for_each(|&length| {
                shape[axis] = length;
                check(&shape)
            })
        }),
    }
}

fn depends_on_shape(codec: &Codec) -> bool {
    matches!(codec, Codec::Sharding(_) | Codec::Reshape { .. } | Codec::StoredShape { .. } | Codec::Squeeze)
}

/// The `i`th combination, counted with the last axis fastest.
fn combination(lengths: &[Vec<u64>], mut i: usize) -> Shape {
    let mut shape: Shape = lengths.iter().map(|_| 0).collect();
    for (axis, lengths) in lengths.iter().enumerate().rev() {
        shape[axis] = lengths[i % lengths.len()];
        i /= lengths.len();
    }
    shape
}
