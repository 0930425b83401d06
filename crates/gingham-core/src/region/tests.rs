//! Selections against NumPy's rules, by brute force. Vectors of small arrays are in `cases/selections.json`.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::*;
use crate::grid::{Axis, Grid, GridKind, Run};

fn slice(start: Option<i64>, stop: Option<i64>, step: Option<i64>) -> Index {
    Index::Slice { start, stop, step }
}

fn indices(pick: &Pick) -> Vec<u64> {
    match pick {
        Pick::List(list) => list.clone(),
        Pick::Run { start, step, len } => {
            (0..*len).map(|k| (i128::from(*start) + i128::from(*step) * i128::from(k)).try_into().unwrap()).collect()
        }
    }
}

/// What `range(len)[start:stop:step]` is, written from Python's manual: indices i = start + n*step, clipped at the ends.
fn python_slice(len: i128, start: Option<i64>, stop: Option<i64>, step: i64) -> Vec<u64> {
    let (step, wrap) = (i128::from(step), |i: i64| if i < 0 { i128::from(i) + len } else { i128::from(i) });
    let start = start.map_or(if step > 0 { 0 } else { len - 1 }, wrap);
    let stop = stop.map_or(if step > 0 { len } else { -1 }, wrap);
    let start = if step > 0 { start.max(0) } else { start.min(len - 1) };
    let mut out = Vec::new();
    let mut i = start;
    while (0..len).contains(&i) && if step > 0 { i < stop } else { i > stop } {
        out.push(i as u64);
        i += step;
    }
    out
}

#[test]
fn the_texts_of_the_manual_are_read() {
    let parse = |text| Selection::parse(text).unwrap();
    assert_eq!(parse(""), Selection::All);
    assert_eq!(parse("  "), Selection::All);
    assert_eq!(parse("0:31, :, 100"), Selection::Orthogonal(vec![slice(Some(0), Some(31), None), slice(None, None, None), Index::At(100)]));
    assert_eq!(parse("...,None,[1,2,3]"), Selection::Orthogonal(vec![Index::Ellipsis, Index::NewAxis, Index::List(vec![1, 2, 3])]));
    assert_eq!(parse("np.newaxis, newaxis"), Selection::Orthogonal(vec![Index::NewAxis, Index::NewAxis]));
    assert_eq!(parse("::-1,"), Selection::Orthogonal(vec![slice(None, None, Some(-1))]));
    assert_eq!(parse("(1, 2)"), parse("1,2"));
    assert_eq!(parse("[ True , false ]"), Selection::Orthogonal(vec![Index::Mask(vec![true, false])]));
    assert_eq!(
        parse("time=0:31, lat=[1,2]"),
        Selection::Named(vec![("time".into(), slice(Some(0), Some(31), None)), ("lat".into(), Index::List(vec![1, 2]))])
    );
    assert_eq!(parse("\"a = b\"=3"), Selection::Named(vec![("a = b".into(), Index::At(3))]));
    assert_eq!(parse("blocks[0, 1:3]"), Selection::Blocks(vec![Index::At(0), slice(Some(1), Some(3), None)]));
    let points = |coordinates: &[&[i64]], shape: &[u64]| Selection::Points {
        coordinates: coordinates.iter().map(|list| list.to_vec()).collect(),
        shape: shape.into(),
    };
    assert_eq!(parse("vindex[[0, 1], [2, -3]]"), points(&[&[0, 1], &[2, -3]], &[2]));
    assert_eq!(parse("vindex[3, 4]"), points(&[&[3], &[4]], &[]));
    assert_eq!(parse("vindex[[0,1,2,3]].reshape(2, 2)"), points(&[&[0, 1, 2, 3]], &[2, 2]));
}

#[test]
fn what_is_no_selection_is_refused_with_its_place() {
    for (text, says) in [
        ("1.5", "character 2"),
        ("0:1:2:3", "character 6"),
        ("a", "character 1"),
        ("0 1", "',' at character 3"),
        (",", "character 1"),
        ("0,,1", "character 3"),
        ("[0", "']'"),
        ("[0:3]", "']'"),
        ("[[0]]", "index, True or False"),
        ("[1, True]", "not both"),
        ("-", "index"),
        ("time=0, 3", "'name='"),
        ("time=", "index, slice or list"),
        ("\"open=3", "name in quotes"),
        ("99999999999999999999", "64 bits"),
        ("::0", "step"),
        ("(0", "','"),
        ("blocks[0", "','"),
        ("blocks[0] 3", "the end"),
        ("vindex[0:3]", "one list of indices"),
        ("vindex[[0], 3]", "not both"),
        ("vindex[[0, 1], [2]]", "list 1 of vindex has 1 entries"),
        ("vindex[[0, 1]].reshape(3)", "shape [3]"),
        ("vindex[[0]].reshape(-1)", "length"),
        ("…", "character 1"),
    ] {
        let error = Selection::parse(text).unwrap_err();
        assert!(error.what.contains(says), "{text}: {error}");
        assert!(!error.out_of_range && error.axis.is_none(), "{text}");
    }
    let long = Selection::parse(&"x".repeat(1_000_000)).unwrap_err();
    assert!(long.what.len() < 300, "an error is a sentence, not the text again");
    assert!(Selection::parse(&"[".repeat(1_000_000)).is_err());
    assert!(Selection::parse(&"0,".repeat(100_000)).is_ok());
}

#[test]
fn the_longest_axis_can_be_sliced() {
    let grid = Grid::regular(&[u64::MAX], &[1 << 40]).unwrap();
    let resolve = |text: &str| Selection::parse(text).unwrap().resolve(&grid, None).unwrap();
    assert_eq!(resolve(":").shape(), [u64::MAX]);
    assert_eq!(
        resolve("::-1"),
        Resolved::Product { picks: vec![Pick::Run { start: u64::MAX - 1, step: -1, len: u64::MAX }], shape: [u64::MAX].as_slice().into() }
    );
    assert_eq!(resolve("-1").as_region().unwrap().start.as_slice(), [u64::MAX - 1]);
    assert_eq!(resolve(&format!("::{}", i64::MIN)).shape(), [2]);
    assert_eq!(resolve(&format!("{}::{}", i64::MIN, i64::MAX)).shape(), [2]);
    let far = resolve(&format!("::{}", i64::MAX));
    let Resolved::Product { picks, .. } = &far else { panic!() };
    let parts: Vec<_> = picks[0].parts(&grid.axes()[0]).map(|p| (p.chunk, p.within, p.count)).collect();
    assert_eq!(parts, [(0, 0, 1), ((1 << 23) - 1, (1 << 40) - 1, 1), ((1 << 24) - 1, (1 << 40) - 2, 1)]);
}

#[test]
fn a_box_is_known_as_one() {
    let grid = Grid::regular(&[6, 4], &[2, 2]).unwrap();
    let region = |text: &str| Selection::parse(text).unwrap().resolve(&grid, None).unwrap().as_region();
    let boxed = |start: [u64; 2], shape: [u64; 2]| Some(Region { start: start.as_slice().into(), shape: shape.as_slice().into() });
    assert_eq!(region("1:3, 2"), boxed([1, 2], [2, 1]));
    assert_eq!(region("[1, 2, 3]"), boxed([1, 0], [3, 4]));
    assert_eq!(region("5:6:3, [False, True, True, False]"), boxed([5, 1], [1, 2]));
    assert_eq!(region("2:2, 4:"), boxed([2, 4], [0, 0]));
    assert_eq!(region("::2"), None);
    assert_eq!(region("[1, 1]"), None);
    assert_eq!(region("vindex[[0], [0]]"), None);
}

#[test]
fn boxes_share_what_they_share() {
    let r = |start: &[u64], shape: &[u64]| Region { start: start.into(), shape: shape.into() };
    assert_eq!(r(&[0], &[4]).intersect(&r(&[4], &[4])), None);
    assert_eq!(r(&[0], &[4]).intersect(&r(&[2], &[0])), None);
    assert_eq!(r(&[2], &[u64::MAX]).intersect(&r(&[0], &[9])), Some(r(&[2], &[7])));
    assert_eq!(r(&[], &[]).intersect(&r(&[], &[])), Some(r(&[], &[])));
    assert_eq!(r(&[0], &[4]).intersect(&r(&[], &[])), None);
    assert_eq!((r(&[0, 0, 0], &[1 << 40, 1 << 40, 0]).count(), r(&[0; 2], &[1 << 40; 2]).count()), (Some(0), None));
}

#[test]
fn zjava_1_a_chunk_outside_the_grid_is_an_error() {
    let grid = Grid::regular(&[1, 1, 1, 4, 4], &[1, 1, 1, 2, 2]).unwrap();
    let read = |text: &str| Selection::parse(text).unwrap().resolve(&grid, None);
    assert_eq!(read("blocks[0, 0, 0, 1, 1]").unwrap().as_region(), Some(grid.chunk_region(&[0, 0, 0, 1, 1])));
    let error = read("blocks[0, 0, 0, 2, 0]").unwrap_err();
    assert_eq!((error.axis, error.out_of_range), (Some(3), true));
    assert!(error.what.contains("chunk 2") && error.what.contains("2 chunks"), "{error}");
}

#[test]
fn zrs_empty_nothing_is_touched_by_nothing() {
    let grid = Grid::regular(&[4, 4], &[2, 2]).unwrap();
    for (text, shape) in [("2:2, :", [0, 4]), (":, 4:4", [4, 0]), ("[], :", [0, 4]), ("[False, False, False, False]", [0, 4])] {
        let read = Selection::parse(text).unwrap().resolve(&grid, None).unwrap();
        assert_eq!(read.shape(), shape, "{text}");
        assert_eq!(crate::cost::Cost::of(&grid, &read, 8), Default::default(), "{text}");
    }
}

#[test]
fn points_are_checked_against_their_shape_and_the_array() {
    let grid = Grid::regular(&[4, 4], &[2, 2]).unwrap();
    let points = |coordinates: Vec<Vec<i64>>, shape: &[u64]| Selection::Points { coordinates, shape: shape.into() }.resolve(&grid, None);
    assert_eq!(
        points(vec![vec![-1, 0], vec![3, -4]], &[2, 1]).unwrap(),
        Resolved::Points { coordinates: vec![vec![3, 0], vec![3, 0]], shape: [2, 1].as_slice().into() }
    );
    assert!(points(vec![vec![0], vec![]], &[1]).unwrap_err().what.contains("axis 1 has 0 coordinates"));
    assert!(points(vec![vec![0], vec![0]], &[u64::MAX, u64::MAX]).is_err());
    assert!(points(vec![vec![0], vec![4]], &[1]).unwrap_err().out_of_range);
    assert_eq!(points(vec![vec![], vec![]], &[0, 7]).unwrap().shape(), [0, 7]);
}

fn axis() -> impl Strategy<Value = Axis> {
    let runs = proptest::collection::vec((1u64..6, 1u64..4).prop_map(|(length, count)| Run { length, count }), 0..6);
    let listed = (runs, any::<proptest::sample::Index>()).prop_map(|(runs, at)| {
        let sum: u64 = runs.iter().map(|r| r.length * r.count).sum();
        Axis::listed(at.index(sum as usize + 1) as u64, &runs).unwrap()
    });
    prop_oneof![listed, (0u64..40, 1u64..9).prop_map(|(len, chunk)| Axis::step(len, chunk))]
}

fn bound() -> impl Strategy<Value = Option<i64>> {
    proptest::option::of(prop_oneof![-45i64..45, Just(i64::MIN), Just(i64::MAX), any::<i64>()])
}

fn step() -> impl Strategy<Value = i64> {
    prop_oneof![-9i64..9, Just(i64::MIN), Just(i64::MAX)].prop_filter("a step is not 0", |&s| s != 0)
}

fn index() -> impl Strategy<Value = Index> {
    prop_oneof![
        any::<i64>().prop_map(Index::At),
        (bound(), bound(), proptest::option::of(step())).prop_map(|(a, b, c)| slice(a, b, c)),
        Just(Index::Ellipsis),
        Just(Index::NewAxis),
        proptest::collection::vec(any::<i64>(), 0..4).prop_map(Index::List),
        proptest::collection::vec(any::<bool>(), 0..4).prop_map(Index::Mask),
    ]
}

fn selection() -> impl Strategy<Value = Selection> {
    let one_each = prop_oneof![any::<i64>().prop_map(Index::At), (bound(), bound()).prop_map(|(a, b)| slice(a, b, None))];
    let points = (proptest::collection::vec(0u64..3, 0..3), 0usize..3).prop_flat_map(|(shape, ndim)| {
        let n = shape.iter().product::<u64>() as usize;
        proptest::collection::vec(proptest::collection::vec(any::<i64>(), n..=n), ndim..=ndim)
            .prop_map(move |coordinates| Selection::Points { coordinates, shape: shape.as_slice().into() })
    });
    prop_oneof![
        Just(Selection::All),
        proptest::collection::vec(index(), 0..5).prop_map(Selection::Orthogonal),
        proptest::collection::vec((any::<String>(), index()), 0..4).prop_map(Selection::Named),
        proptest::collection::vec(("[a-zé_0-9=\" ]{0,5}", index()), 0..4).prop_map(Selection::Named),
        points,
        proptest::collection::vec(one_each, 0..4).prop_map(Selection::Blocks),
    ]
}

proptest! {
    #[test]
    fn what_is_printed_is_read_as_the_same(selection in selection()) {
        let text = selection.to_string();
        prop_assert_eq!(Selection::parse(&text), Ok(selection), "{}", text);
    }

    #[test]
    fn no_text_makes_it_panic(text in r#"[\[\](){}:,.=0-9\-+ TrueFalsNoévindexblock"\\]{0,30}"#) {
        if let Ok(selection) = Selection::parse(&text) {
            prop_assert_eq!(Selection::parse(&selection.to_string()), Ok(selection.clone()), "{}", text);
            let grid = Grid::regular(&[7, 0, 3], &[2, 1, 5]).unwrap();
            let _ = selection.resolve(&grid, Some(&[Some("T".into()), None, Some("T".into())]));
        }
    }

    #[test]
    fn a_slice_is_pythons(axis in axis(), start in bound(), stop in bound(), step in step()) {
        let grid = Grid::new(vec![axis.clone()], GridKind::Rectilinear);
        let read = Selection::Orthogonal(vec![slice(start, stop, Some(step))]).resolve(&grid, None).unwrap();
        let Resolved::Product { picks, .. } = &read else { panic!() };
        let expected = python_slice(axis.len().into(), start, stop, step);
        prop_assert_eq!(read.shape(), [expected.len() as u64]);
        prop_assert_eq!(indices(&picks[0]), expected);
    }

    #[test]
    fn parts_cover_the_picks_once_and_costs_count_their_chunks(
        axis in axis(), list in proptest::collection::vec(any::<proptest::sample::Index>(), 0..12),
        bounds in (bound(), bound(), step()), as_list in any::<bool>(),
    ) {
        let grid = Grid::new(vec![axis.clone()], GridKind::Rectilinear);
        let entry = if as_list && !axis.is_empty() {
            Index::List(list.iter().map(|i| i.index(axis.len() as usize) as i64).collect())
        } else {
            slice(bounds.0, bounds.1, Some(bounds.2))
        };
        let read = Selection::Orthogonal(vec![entry]).resolve(&grid, None).unwrap();
        let Resolved::Product { picks, .. } = &read else { panic!() };
        let (wanted, mut got) = (indices(&picks[0]), Vec::new());
        for part in picks[0].parts(&axis) {
            prop_assert_eq!(part.out, got.len() as u64);
            prop_assert_eq!(part.span, axis.span(part.chunk));
            for k in 0..part.count as i64 {
                let within = part.within as i64 + k * part.step;
                prop_assert!((0..part.span.logical as i64).contains(&within));
                got.push(part.span.start + within as u64);
            }
        }
        prop_assert_eq!(&got, &wanted);
        let mut chunks: Vec<u64> = wanted.iter().map(|&i| axis.locate(i).0).collect();
        chunks.sort_unstable();
        chunks.dedup();
        if let Pick::Run { .. } = picks[0] {
            prop_assert_eq!(picks[0].parts(&axis).count(), chunks.len(), "a run meets a chunk once");
        }
        let cost = crate::cost::Cost::of(&grid, &read, 4);
        prop_assert_eq!(cost.chunks, chunks.len() as u64);
        prop_assert_eq!(cost.wanted, wanted.len() as u64 * 4);
        prop_assert_eq!(cost.decoded, chunks.iter().map(|&c| axis.span(c).stored).sum::<u64>() * 4);
    }

    #[test]
    fn blocks_are_their_chunks(axis in axis(), start in bound(), stop in bound()) {
        let grid = Grid::new(vec![axis.clone()], GridKind::Rectilinear);
        let read = Selection::Blocks(vec![slice(start, stop, None)]).resolve(&grid, None).unwrap();
        let chunks = python_slice(axis.chunk_count().into(), start, stop, 1);
        let expected: Vec<u64> = chunks.iter().map(|&c| axis.span(c)).flat_map(|s| s.start..s.start + s.logical).collect();
        let Resolved::Product { picks, .. } = &read else { panic!() };
        prop_assert_eq!(indices(&picks[0]), expected);
    }
}
