//! `transpose`: axes in another order (format.md 3.2).
//!
//! ```text
//!   decoded A, shape s ── encode ──▶ encoded B, B.shape[i] = s[order[i]], B[..j_i..] = A with axis order[i] at j_i
//! ```
//!
//! The copy works on 1, 2, 4, 8 and 16 byte lanes in square tiles, so that both sides stay in the cache.

use gingham_core::Shape;
use gingham_core::dtype::{Elements, Variable};
use smallvec::SmallVec;

use super::checked::{self, Way};
use crate::{ArrayToArray, CodecFault, Rep, Result};

const NAME: &str = "transpose";

/// `transpose` with its `order`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transpose {
    order: Vec<usize>,
    inverse: Vec<usize>,
}

impl Transpose {
    /// A permutation of the axes `0..order.len()`.
    pub fn new(order: &[usize]) -> Result<Self> {
        let mut inverse = vec![usize::MAX; order.len()];
        for (i, &axis) in order.iter().enumerate() {
            match inverse.get_mut(axis) {
                Some(place) if *place == usize::MAX => *place = i,
                _ => {
                    return Err(CodecFault::unsupported(
                        NAME,
                        format!("order {order:?} is not a permutation of the axes 0 to {}", order.len().saturating_sub(1)),
                    ));
                }
            }
        }
        Ok(Transpose { order: order.to_vec(), inverse })
    }

    fn shape_behind(&self, input: &Rep) -> Result<Shape> {
        if input.shape.len() != self.order.len() {
            return Err(CodecFault::unsupported(
                NAME,
                format!("order {:?} is for {} axes, the array has {}", self.order, self.order.len(), input.shape.len()),
            ));
        }
        Ok(self.order.iter().map(|&a| input.shape[a]).collect())
    }

    fn apply(&self, way: Way, rep: &Rep, order: &[usize], elements: Elements) -> Result<Elements> {
        match elements {
            Elements::Fixed(bytes) => {
                checked::check_len(NAME, way, rep, bytes.len())?;
                let mut out = vec![0; bytes.len()];
                permute(&bytes, &rep.shape, order, checked::size_of(NAME, rep)?, &mut out);
                Ok(Elements::Fixed(out))
            }
            Elements::Variable(ref v) => {
                checked::variable(NAME, way, rep, &elements)?;
                Ok(Elements::Variable(permute_variable(v, &rep.shape, order)))
            }
        }
    }
}

impl ArrayToArray for Transpose {
    fn encoded(&self, input: &Rep) -> Result<Rep> {
        Ok(Rep { data_type: input.data_type.clone(), shape: self.shape_behind(input)?, fill: input.fill.clone() })
    }

    fn encode(&self, input: &Rep, elements: Elements) -> Result<Elements> {
        self.shape_behind(input)?;
        self.apply(Way::Encode, input, &self.order, elements)
    }

    fn decode(&self, input: &Rep, elements: Elements) -> Result<Elements> {
        let behind = self.encoded(input)?;
        self.apply(Way::Decode, &behind, &self.inverse, elements)
    }

    fn permutation(&self) -> Option<&[usize]> {
        Some(&self.order)
    }
}

/// One axis of the copy: how often, and how far each side moves (in elements).
#[derive(Debug, Clone, Copy)]
struct Step {
    n: usize,
    from: usize,
    to: usize,
}

/// Copies the C-order array `bytes` of `shape` to `out` with its axes in the given order: axis i of `out` is axis `order[i]` of `bytes`.
/// Both hold as many items of `item_size` bytes as `shape` says; `order` is a permutation of its axes.
///
/// ```
/// let mut out = [0; 6];
/// gingham_codec::codecs::transpose::permute(&[0, 1, 2, 3, 4, 5], &[2, 3], &[1, 0], 1, &mut out);
/// assert_eq!(out, [0, 3, 1, 4, 2, 5]);
/// ```
pub fn permute(bytes: &[u8], shape: &[u64], order: &[usize], item_size: usize, out: &mut [u8]) {
    let count = shape.iter().product::<u64>() as usize;
    if count == 0 || item_size == 0 {
        return;
    }
    let mut steps = merged_steps(shape, order);
    // An innermost axis that stays innermost is one longer item.
    let mut item = item_size;
    if let Some(last) = steps.last().copied()
        && last.from == 1
        && last.to == 1
    {
        item *= last.n;
        steps.pop();
        for s in &mut steps {
            s.from /= last.n;
            s.to /= last.n;
        }
    }
    match item {
        1 => permute_lanes::<1>(bytes, &steps, out),
        2 => permute_lanes::<2>(bytes, &steps, out),
        4 => permute_lanes::<4>(bytes, &steps, out),
        8 => permute_lanes::<8>(bytes, &steps, out),
        12 => permute_lanes::<12>(bytes, &steps, out),
        16 => permute_lanes::<16>(bytes, &steps, out),
        _ => for_each_tile(&steps, &mut |tile: Tile| {
            tile.each(|from, to| out[to * item..][..item].copy_from_slice(&bytes[from * item..][..item]));
        }),
    }
}

/// The axes of the copy in output order, without those of length 1, neighbours that stay neighbours merged.
fn merged_steps(shape: &[u64], order: &[usize]) -> SmallVec<[Step; 8]> {
    let mut from = SmallVec::<[usize; 8]>::from_elem(1, shape.len());
    for i in (1..shape.len()).rev() {
        from[i - 1] = from[i] * shape[i] as usize;
    }
    let mut steps = SmallVec::<[Step; 8]>::new();
    for &axis in order {
        let n = shape[axis] as usize;
        if n == 1 {
            continue;
        }
        match steps.last_mut() {
            Some(s) if s.from == from[axis] * n => {
                s.n *= n;
                s.from = from[axis];
            }
            _ => steps.push(Step { n, from: from[axis], to: 0 }),
        }
    }
    let mut to = 1;
    for s in steps.iter_mut().rev() {
        s.to = to;
        to *= s.n;
    }
    steps
}

/// A rectangle of the copy: rows along the axis that is innermost in the input, columns along the one innermost in the output.
struct Tile {
    from: usize,
    to: usize,
    rows: Step,
    columns: Step,
}

impl Tile {
    /// Calls with the position of each item in input and output.
    fn each(&self, mut copy: impl FnMut(usize, usize)) {
        for r in 0..self.rows.n {
            for c in 0..self.columns.n {
                copy(self.from + r * self.rows.from + c * self.columns.from, self.to + r * self.rows.to + c * self.columns.to);
            }
        }
    }
}

/// Items along each side of a tile: 32 rows of 32 items of 8 bytes are 8 KiB, well within a first-level cache.
const SIDE: usize = 32;

/// Cuts the copy into tiles over the two axes that matter and runs over all others outside.
fn for_each_tile(steps: &[Step], visit: &mut impl FnMut(Tile)) {
    let Some(columns) = steps.last().copied() else {
        let one = Step { n: 1, from: 0, to: 0 };
        return visit(Tile { from: 0, to: 0, rows: one, columns: one });
    };
    let outer = &steps[..steps.len() - 1];
    // The axis that moves least in the input.
    let row_axis = (0..outer.len()).min_by_key(|&i| outer[i].from);
    let rows = row_axis.map_or(Step { n: 1, from: 0, to: 0 }, |i| outer[i]);
    let rest: SmallVec<[Step; 8]> = (0..outer.len()).filter(|&i| Some(i) != row_axis).map(|i| outer[i]).collect();
    let mut index = SmallVec::<[usize; 8]>::from_elem(0, rest.len());
    let (mut from, mut to) = (0, 0);
    loop {
        for r in (0..rows.n).step_by(SIDE) {
            for c in (0..columns.n).step_by(SIDE) {
                visit(Tile {
                    from: from + r * rows.from + c * columns.from,
                    to: to + r * rows.to + c * columns.to,
                    rows: Step { n: SIDE.min(rows.n - r), ..rows },
                    columns: Step { n: SIDE.min(columns.n - c), ..columns },
                });
            }
        }
        // The next position of the remaining axes, like an odometer.
        let mut axis = rest.len();
        loop {
            if axis == 0 {
                return;
            }
            axis -= 1;
            index[axis] += 1;
            from += rest[axis].from;
            to += rest[axis].to;
            if index[axis] < rest[axis].n {
                break;
            }
            from -= rest[axis].from * rest[axis].n;
            to -= rest[axis].to * rest[axis].n;
            index[axis] = 0;
        }
    }
}

/// The copy with items of `N` bytes, each one load and one store.
fn permute_lanes<const N: usize>(bytes: &[u8], steps: &[Step], out: &mut [u8]) {
    let (source, _) = bytes.as_chunks::<N>();
    let (target, _) = out.as_chunks_mut::<N>();
    for_each_tile(steps, &mut |tile: Tile| {
        for r in 0..tile.rows.n {
            // Columns are innermost in the output: contiguous.
            let row = &mut target[tile.to + r * tile.rows.to..][..tile.columns.n];
            let line = &source[tile.from + r * tile.rows.from..];
            for (d, s) in row.iter_mut().zip(line.iter().step_by(tile.columns.from.max(1))) {
                *d = *s;
            }
        }
    });
}

/// [`permute`] for variable-length elements.
pub fn permute_variable(elements: &Variable, shape: &[u64], order: &[usize]) -> Variable {
    let mut place = vec![0usize; elements.len()];
    let steps = merged_steps(shape, order);
    if !place.is_empty() {
        for_each_tile(&steps, &mut |tile: Tile| tile.each(|from, to| place[to] = from));
    }
    let mut out = Variable { offsets: Vec::with_capacity(elements.offsets.len()), data: Vec::with_capacity(elements.data.len()) };
    out.offsets.push(0);
    for from in place {
        out.push(elements.get(from));
    }
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use gingham_core::dtype::{DataType, FillValue};
    use proptest::prelude::*;

    fn rep(data_type: DataType, shape: &[u64], size: usize) -> Rep {
        Rep { data_type, shape: Shape::from_slice(shape), fill: FillValue::new(vec![0; size]) }
    }

    fn slow(bytes: &[u8], shape: &[u64], order: &[usize], item: usize) -> Vec<u8> {
        let to_shape: Vec<usize> = order.iter().map(|&a| shape[a] as usize).collect();
        let mut out = vec![0; bytes.len()];
        for to in 0..bytes.len() / item {
            let mut index = vec![0; shape.len()];
            let mut rest = to;
            for i in (0..to_shape.len()).rev() {
                index[order[i]] = rest % to_shape[i];
                rest /= to_shape[i];
            }
            let from = index.iter().zip(shape).fold(0, |at, (&i, &n)| at * n as usize + i);
            out[to * item..][..item].copy_from_slice(&bytes[from * item..][..item]);
        }
        out
    }

    #[test]
    fn six_by_ten() {
        let bytes: Vec<u8> = (0..60i32).flat_map(i32::to_le_bytes).collect();
        let mut out = vec![0; 240];
        permute(&bytes, &[6, 10], &[1, 0], 4, &mut out);
        let got: Vec<i32> = out.chunks(4).map(|b| i32::from_le_bytes(b.try_into().unwrap())).collect();
        assert_eq!(&got[..4], [0, 10, 20, 30]);
        assert_eq!(got[6], 1);
    }

    #[test]
    fn zrs_transpose_order_that_is_not_its_own_inverse() {
        let t = Transpose::new(&[2, 0, 1]).unwrap();
        let r = rep(DataType::UInt8, &[2, 3, 4], 1);
        assert_eq!(t.encoded(&r).unwrap().shape.as_slice(), [4, 2, 3]);
        let a: Vec<u8> = (0..24).collect();
        let Elements::Fixed(stored) = t.encode(&r, Elements::Fixed(a.clone())).unwrap() else { panic!() };
        for k in 0..4 {
            for i in 0..2 {
                for j in 0..3 {
                    assert_eq!(stored[(k * 2 + i) * 3 + j], a[(i * 3 + j) * 4 + k]);
                }
            }
        }
        assert_eq!(t.decode(&r, Elements::Fixed(stored)).unwrap(), Elements::Fixed(a));
    }

    #[test]
    fn zrs_transpose_strings() {
        let mut v = Variable::new();
        for s in ["a", "bb", "", "d", "eee", "f"] {
            v.push(s.as_bytes());
        }
        let t = Transpose::new(&[1, 0]).unwrap();
        let r = Rep { data_type: DataType::String, shape: Shape::from_slice(&[2, 3]), fill: FillValue::new("") };
        let stored = t.encode(&r, Elements::Variable(v.clone())).unwrap();
        let texts: Vec<_> = (0..6).map(|i| String::from_utf8(stored.as_variable().unwrap().get(i).to_vec()).unwrap()).collect();
        assert_eq!(texts, ["a", "d", "bb", "eee", "", "f"]);
        assert_eq!(t.decode(&r, stored).unwrap(), Elements::Variable(v));
    }

    #[test]
    fn scalars_and_empty_arrays() {
        let t = Transpose::new(&[]).unwrap();
        assert_eq!(t.encode(&rep(DataType::UInt8, &[], 1), Elements::Fixed(vec![7])).unwrap(), Elements::Fixed(vec![7]));
        let t = Transpose::new(&[1, 0]).unwrap();
        assert_eq!(t.encode(&rep(DataType::UInt8, &[0, 3], 1), Elements::Fixed(vec![])).unwrap(), Elements::Fixed(vec![]));
        let none = Elements::Variable(Variable::new());
        let r = Rep { data_type: DataType::String, shape: Shape::from_slice(&[0, 3]), fill: FillValue::new("") };
        assert_eq!(t.encode(&r, none.clone()).unwrap(), none);
    }

    #[test]
    fn what_is_no_permutation_is_refused() {
        for order in [&[0usize, 0][..], &[1], &[0, 2]] {
            assert!(Transpose::new(order).is_err(), "{order:?}");
        }
        let t = Transpose::new(&[1, 0]).unwrap();
        assert!(t.encoded(&rep(DataType::UInt8, &[2], 1)).is_err());
        assert!(t.decode(&rep(DataType::UInt8, &[2, 2], 1), Elements::Fixed(vec![0; 3])).is_err());
    }

    proptest! {
        #[test]
        fn equals_the_slow_way(
            (shape, order) in prop::collection::vec(1u64..40, 0..4)
                .prop_flat_map(|s| { let n = s.len(); (Just(s), Just((0..n).collect::<Vec<_>>()).prop_shuffle()) }),
            item in prop::sample::select(vec![1usize, 2, 3, 4, 5, 8, 12, 16, 20]),
        ) {
            let n = shape.iter().product::<u64>() as usize;
            let bytes: Vec<u8> = (0..n * item).map(|i| (i * 31 + i / 251) as u8).collect();
            let mut out = vec![0; bytes.len()];
            permute(&bytes, &shape, &order, item, &mut out);
            prop_assert_eq!(out, slow(&bytes, &shape, &order, item));
        }
    }
}
