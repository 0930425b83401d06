//! Reading without a transposition: the axes lie in memory as they do in the chunks.
#![allow(clippy::unwrap_used)]

mod common;

use common::*;
use gingham::Region;

#[test]
fn a_box_in_stored_order_holds_the_same_elements() {
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1]] {
        for inner in [None, Some([2, 3, 2])] {
            let store = memory();
            let shape = [7u64, 10, 9];
            let transpose = json!({"name": "transpose", "configuration": {"order": order}});
            let rest = inner.map_or(json!({"name": "bytes"}), |inner| plain_shard(&order.map(|a: usize| inner[a])));
            let array = v3(&store, "a", json!({"shape": shape, "chunk_grid": regular(&[4, 6, 4]), "codecs": [transpose, rest]}));
            array.write_bytes((), &(0..630).map(|i| i as u8).collect::<Vec<_>>()).unwrap();
            for region in [Region::whole(&shape), Region { start: [1u64, 5, 2].as_slice().into(), shape: [6u64, 3, 5].as_slice().into() }] {
                let straight = array.read_bytes(&region).unwrap().1;
                let (bytes, strides) = array.read_as_stored(&region).unwrap();
                let [nz, ny, nx] = [0, 1, 2].map(|a| region.shape[a] as usize);
                for (z, y, x) in (0..nz * ny * nx).map(|i| (i / (ny * nx), i / nx % ny, i % nx)) {
                    let stored = bytes[z * strides[0] + y * strides[1] + x * strides[2]];
                    assert_eq!(stored, straight[(z * ny + y) * nx + x], "{order:?} {inner:?} {region:?}");
                }
                assert_eq!(strides[order[2]], 1, "the fastest axis of the chunks is that of the result");
            }
        }
    }
}
