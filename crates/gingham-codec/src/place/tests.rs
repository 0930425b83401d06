#![allow(clippy::unwrap_used, unsafe_code)]
use super::*;
use proptest::prelude::*;

/// What placing should do, element by element.
fn slowly(chunk: &[u8], shape: &[u64], part: &Part, out: &mut [u8], item: usize) {
    for (to, from) in index_pairs(part, shape) {
        out[to..to + item].copy_from_slice(&chunk[from * item..(from + 1) * item]);
    }
}

fn numbered(elements: usize, item: usize) -> Vec<u8> {
    (0..elements * item).map(|i| (i * 31 + i / 251) as u8).collect()
}

/// An output of this shape in C order, whose axis `order[i]` is axis i of the chunk.
fn strides(out: &[u64], order: &[usize], item: usize) -> SmallVec<[usize; 4]> {
    let along = |axis: usize| item * out[axis + 1..].iter().product::<u64>() as usize;
    order.iter().map(|&axis| along(axis)).collect()
}

fn orders() -> impl Strategy<Value = Vec<usize>> {
    Just(vec![0usize, 1, 2]).prop_shuffle()
}

proptest! {
    /// Every width, also those without a kernel, at shapes around a tile's edge (64 elements of one byte, 8 of eight).
    #[test]
    fn a_part_goes_to_its_place_in_any_order_of_axes(
        shape in prop::collection::vec(prop_oneof![1u64..12, 14u64..19, 30u64..36, 62u64..68], 3),
        order in orders(),
        item in prop::sample::select(vec![1usize, 2, 3, 4, 8, 16]),
        skip in prop::collection::vec(0u64..3, 3),
        steps in prop::collection::vec(prop::sample::select(vec![1i64, 1, 1, 2, -1, -3]), 3),
        at in prop::collection::vec(0u64..5, 3),
    ) {
        let mut out_shape = vec![0u64; 3];
        let mut takes = SmallVec::new();
        for a in 0..3 {
            let skip = skip[a].min(shape[a] - 1);
            let step = steps[a];
            let count = (shape[a] - skip).div_ceil(step.unsigned_abs());
            let start = if step > 0 { skip } else { shape[a] - 1 };
            takes.push(Take::Run { start, step, count, dst: at[a] });
            out_shape[order[a]] = at[a] + count + 1;
        }
        let part = Part { takes, strides: strides(&out_shape, &order, item) };
        let chunk = numbered(shape.iter().product::<u64>() as usize, item);
        let len = out_shape.iter().product::<u64>() as usize * item;
        let (mut expected, mut got) = (vec![0u8; len], vec![0u8; len]);
        slowly(&chunk, &shape, &part, &mut expected, item);
        let target = Target::fixed(&mut got, item, true);
        // SAFETY: one thread.
        let fits = unsafe { target.place(&chunk, &shape, &part) };
        prop_assert!(fits);
        prop_assert!(got == expected);

        // And back: what was placed is gathered from there.
        let mut back = vec![0u8; chunk.len()];
        prop_assert!(gather(&expected, &part, &mut back, &shape, item));
        for (from, to) in index_pairs(&part, &shape) {
            prop_assert_eq!(&back[to * item..(to + 1) * item], &expected[from..from + item]);
        }
    }
}

#[test]
fn what_would_leave_either_side_is_refused_and_nothing_is_copied() {
    for item in [1, 2, 4, 8] {
        let shape = [70u64, 70];
        let chunk = numbered(70 * 70, item);
        let part = |strides: [usize; 2]| Part {
            takes: SmallVec::from_iter([Take::span(0, 70, 0), Take::span(0, 70, 0)]),
            strides: SmallVec::from_iter(strides),
        };
        let part = part([item, 70 * item]);
        let mut out = vec![7u8; 70 * 70 * item - 1];
        // SAFETY: one thread.
        assert!(!unsafe { Target::fixed(&mut out, item, false).place(&chunk, &shape, &part) });
        assert!(out.iter().all(|&b| b == 7));
        let mut out = vec![7u8; 70 * 70 * item];
        // SAFETY: one thread.
        assert!(!unsafe { Target::fixed(&mut out, item, false).place(&chunk[1..], &shape, &part) });
        assert!(out.iter().all(|&b| b == 7));
        // SAFETY: one thread.
        assert!(unsafe { Target::fixed(&mut out, item, false).place(&chunk, &shape, &part) });
    }
}
