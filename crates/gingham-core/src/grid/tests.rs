//! Grids against the vectors of format.md 1.5, 3.1 and public reports. Most vectors are in `cases/*.json`.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::json::Value;

fn read(chunk_shapes: Value, shape: &[u64]) -> Result<Grid, GridError> {
    grid_from_v3(&json!({"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": chunk_shapes}}), shape)
}

fn printed(grid: &Grid) -> Value {
    grid_to_v3(grid)["configuration"]["chunk_shapes"].clone()
}

#[test]
fn the_error_of_a_short_sum_reads_as_designed() {
    let error = read(json!([[[31, 11], 25]]), &[400]).unwrap_err().named(Some(&[Some("time".into())]));
    assert_eq!(error.what, "the chunk lengths of axis 0 (time) add up to 366, but the axis is 400 long");
    assert_eq!(error.hint.as_deref(), Some("add a last chunk of at least 34, or set \"shape\" to 366"));
    assert_eq!(error.pointer, "/configuration/chunk_shapes/0");
}

#[test]
fn a_name_goes_to_its_own_axis() {
    let names: Vec<Option<String>> = (0..11).map(|i| Some(format!("d{i}"))).collect();
    let error = GridError::at(1, "axis 10 and axis 1").named(Some(&names));
    assert_eq!(error.what, "axis 10 and axis 1 (d1)");
    assert_eq!(GridError::plain("axis 1").named(Some(&names)).what, "axis 1");
    assert_eq!(GridError::at(20, "axis 20").named(Some(&names)).what, "axis 20");
}

#[test]
fn a_count_of_ten_to_the_eighteen_is_one_run() {
    let grid = read(json!([[[2, 1_000_000_000_000_000_000u64]]]), &[2_000_000_000_000_000_000]).unwrap();
    let axis = &grid.axes()[0];
    assert_eq!(axis.chunk_count(), 1_000_000_000_000_000_000);
    assert_eq!(axis.runs(), [Run { length: 2, count: 1_000_000_000_000_000_000 }]);
    assert_eq!(axis.locate(1_999_999_999_999_999_999), (999_999_999_999_999_999, 1));
    assert_eq!(axis.spans(999_999_999_999_999_999..u64::MAX).count(), 1);
}

#[test]
fn counts_that_add_up_past_two_to_the_64_stay_runs() {
    let grid = read(json!([[[1, u64::MAX], [1, u64::MAX], [u64::MAX, u64::MAX], [u64::MAX, u64::MAX]]]), &[u64::MAX]).unwrap();
    let axis = &grid.axes()[0];
    assert_eq!((axis.chunk_count(), axis.listed_count(), axis.max_stored()), (u64::MAX, u64::MAX, 1));
    assert_eq!(axis.span(u64::MAX - 1), Span { start: u64::MAX - 1, logical: 1, stored: 1 });
    assert_eq!(axis.span(u64::MAX).logical, 0);
    assert_eq!(axis.listed_sum(), u128::MAX, "saturated");
    assert_eq!(axis.spans(u64::MAX - 2..u64::MAX).count(), 2);
    assert_eq!(printed(&grid), json!([[[1, u64::MAX], [1, u64::MAX], [u64::MAX, u64::MAX], [u64::MAX, u64::MAX]]]));
}

#[test]
fn nothing_panics_past_the_end() {
    for grid in [read(json!([[3, 2]]), &[4]).unwrap(), read(json!([3]), &[4]).unwrap(), read(json!([[]]), &[0]).unwrap()] {
        let axis = &grid.axes()[0];
        for i in [0, 4, 5, 6, 1 << 40, u64::MAX] {
            axis.locate(i);
            axis.finder().find(i);
            assert!(axis.span(i).logical <= axis.len());
            assert!(axis.spans(i..u64::MAX).take(3).count() <= 3);
            assert!(axis.touched(i, 0).is_empty());
        }
        assert!(!grid.contains(&[u64::MAX]) && !grid.contains(&[]) && !grid.contains(&[0, 0]));
    }
}

#[test]
fn a_grid_with_no_element_has_no_chunk_however_long_its_other_axes() {
    let grid = Grid::regular(&[1 << 40, 1 << 40, 0], &[1, 1, 0]).unwrap();
    assert_eq!(grid.chunk_count(), Some(0));
    assert_eq!(grid.regular_chunk_shape().unwrap().as_slice(), [1, 1, 1]);
    assert_eq!(grid.axes()[2].distinct_stored(), [1]);
    assert_eq!(grid.resized(&[1, 1, 2]).unwrap().chunk_counts().as_slice(), [1, 1, 2]);
}

#[test]
fn every_listed_length_counts_for_codecs_and_only_real_chunks_for_buffers() {
    let grid = read(json!([[3, 2, 5, [4, 3]], 7]), &[4, 0]).unwrap();
    assert_eq!(grid.axes()[0].distinct_stored(), [2, 3, 4, 5]);
    assert_eq!(grid.axes()[0].max_stored(), 3);
    assert_eq!((grid.axes()[1].distinct_stored(), grid.axes()[1].max_stored()), (vec![7], 0));
    assert_eq!(grid.regular_chunk_shape(), None);
}

#[test]
fn stored_lengths_are_kept_apart_from_listed_ones() {
    let run = |length, count| Run { length, count };
    let axis = Axis::padded(1100, &[run(200, 2), run(150, 1), run(200, 2), run(150, 1)], &[run(200, 6)]).unwrap();
    assert_eq!(axis.span(2), Span { start: 400, logical: 150, stored: 200 });
    assert_eq!((axis.as_step(), axis.is_padded(), axis.stored_sum(1..4)), (None, true, 600));
    let grid = Grid::new(vec![axis], GridKind::Rectilinear);
    assert_eq!(grid_to_v3(&grid)["configuration"]["encoded_chunk_shapes"], json!([[[200, 6]]]));
    assert_eq!(grid_from_v3(&grid_to_v3(&grid), &[1100]).unwrap(), grid);
    let bare = grid.without_padding();
    assert_eq!((bare.is_padded(), printed(&bare)), (false, json!([[200, 200, 150, 200, 200, 150]])));
    assert!(Axis::padded(4, &[run(4, 1)], &[run(2, 2)]).is_err());
    assert!(Axis::padded(4, &[run(4, 1)], &[run(3, 1)]).unwrap_err().what.contains("4 long but stored as 3"));
    let step = read(json!([4]), &[9]).unwrap();
    assert_eq!((step.axes()[0].as_step(), Axis::padded_step(9, 4, 6).as_step()), (Some(4), None));
}

#[test]
fn a_created_list_is_written_with_pairs_where_shorter_and_stays_rectilinear() {
    let run = |length, count| Run { length, count };
    let specs = [AxisSpec::List(vec![run(31, 7), run(31, 5)]), AxisSpec::Step(103), AxisSpec::List(vec![run(2, 2)])];
    let grid = Grid::from_chunk_lists(&specs, &[372, 721, 4]).unwrap();
    assert_eq!(printed(&grid), json!([[[31, 12]], 103, [2, 2]]));
    assert_eq!(grid.kind(), GridKind::Rectilinear);
    assert_eq!(Grid::from_chunk_lists(&[AxisSpec::Step(4)], &[9]).unwrap().kind(), GridKind::Regular);
    assert!(Grid::from_chunk_lists(&[AxisSpec::List(vec![run(0, 1)])], &[0]).unwrap_err().what.contains("axis 0"));
    assert!(Grid::from_chunk_lists(&[AxisSpec::Step(0), AxisSpec::List(vec![])], &[3, 0]).is_err());
}

#[test]
fn users_write_chunks_in_one_line() {
    let grid = parse_chunks("64,256, 256", &[100, 512, 512]).unwrap();
    assert_eq!((grid.kind(), grid.regular_chunk_shape().unwrap().as_slice()), (GridKind::Regular, &[64, 256, 256][..]));
    assert_eq!(parse_chunks("[64,256,256]", &[100, 512, 512]).unwrap(), grid);
    let grid = parse_chunks("[[31,29,[31,2],30],25,35]", &[152, 100, 70]).unwrap();
    assert_eq!(printed(&grid), json!([[31, 29, [31, 2], 30], 25, 35]));
    assert_eq!(parse_chunks("[31,29,[31,2],30],25,35", &[152, 100, 70]).unwrap(), grid);
    assert_eq!(parse_chunks("", &[]).unwrap().ndim(), 0);
    assert_eq!(parse_chunks("5", &[9]).unwrap().chunk_count(), Some(2));
    for (text, shape, says) in [
        ("64", &[4u64, 4][..], "1 entry, but the array has 2 axes"),
        ("0", &[4], "axis 0 is 0"),
        ("-3", &[4], "-3"),
        ("4.5", &[4], "4.5"),
        ("a", &[4], "'a' is not a list"),
        ("[[3]]", &[4], "add up to 3, but the axis is 4 long"),
        ("4]", &[4], "not a list"),
        ("[[[[[1]]]]]", &[4], "entry 0"),
    ] {
        let error = parse_chunks(text, shape).unwrap_err();
        assert!(error.what.contains(says), "{text}: {error}");
        assert!(error.hint.is_some() || text == "64", "{text}");
    }
    assert!(parse_chunks(&"[".repeat(100_000), &[4]).is_err());
}

#[test]
fn zp_4272_append_keeps_old_chunks_and_the_name() {
    let grid = parse_chunks("[[10,10,4]]", &[24]).unwrap();
    let after = grid.appended(0, 5).unwrap();
    assert_eq!((after.kind(), printed(&after)), (GridKind::Rectilinear, json!([[10, 10, 4, 5]])));
    for c in 0..3 {
        assert_eq!(after.axes()[0].span(c), grid.axes()[0].span(c));
    }
}

#[test]
fn zp_4218_lengths_may_add_up_to_more_than_the_axis() {
    let grid = read(json!([[5, 10, 10]]), &[25]).unwrap();
    let shrunk = grid.resized(&[18]).unwrap();
    assert_eq!(printed(&shrunk), json!([[5, 10, 10]]));
    assert_eq!(shrunk.axes()[0].span(2), Span { start: 15, logical: 3, stored: 10 });
    assert_eq!(grid.resized(&[14]).unwrap().chunk_counts().as_slice(), [2]);
}

#[test]
fn zjl_332_an_overhanging_chunk_is_stored_whole() {
    let grid = read(json!([2, [2, 3]]), &[5, 5]).unwrap();
    assert_eq!(grid.chunk_shape(&[2, 1]).as_slice(), [2, 3]);
    assert_eq!(grid.chunk_region(&[2, 1]).shape.as_slice(), [1, 3]);
    assert_eq!(grid.chunk_shape(&[2, 0]).as_slice(), [2, 2]);
}

#[test]
fn twenty_thousand_appends_stay_one_entry() {
    let mut grid = parse_chunks("[[24]]", &[24]).unwrap();
    for _ in 0..20_000 {
        grid = grid.appended(0, 24).unwrap();
    }
    assert_eq!(printed(&grid), json!([[[24, 20_001]]]));
}

#[test]
fn one_chunk_of_a_regular_grid_longer_than_its_array() {
    // zjl-256
    let grid = Grid::regular(&[5], &[100]).unwrap();
    assert_eq!((grid.chunk_counts().as_slice(), grid.chunk_shape(&[0]).as_slice()), (&[1][..], &[100][..]));
}

#[test]
fn the_grids_of_other_writers_are_read_and_printed_as_they_stood() {
    let shared = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let mut folders = vec![shared.join("fixtures"), shared.join("corpus")];
    let (mut seen, mut lists) = (0, 0);
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.map(|entry| entry.unwrap()) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else if entry.file_name() == "zarr.json" {
                let Ok(Value::Object(document)) = serde_json::from_slice(&std::fs::read(entry.path()).unwrap()) else { continue };
                let (Some(value), Some(shape)) = (document.get("chunk_grid"), document.get("shape")) else { continue };
                let shape: Vec<u64> = serde_json::from_value(shape.clone()).unwrap();
                let grid = grid_from_v3(value, &shape).unwrap_or_else(|e| panic!("{}: {e}", entry.path().display()));
                assert_eq!(&grid_to_v3(&grid), value, "{}", entry.path().display());
                seen += 1;
                lists += usize::from(grid.kind() == GridKind::Rectilinear);
            }
        }
    }
    if seen == 0 {
        return eprintln!("skipped: {} has no stores", shared.display());
    }
    assert!(seen > 100 && lists >= 12, "{seen} arrays, {lists} of them rectilinear");
}

/// A list and a length that it reaches, by up to a few chunks more.
fn list() -> impl Strategy<Value = (Vec<Value>, Vec<u64>, u64)> {
    let item = (1u64..6, proptest::option::of(1u64..5));
    (proptest::collection::vec(item, 0..8), any::<proptest::sample::Index>()).prop_map(|(items, at)| {
        let lengths: Vec<u64> = items.iter().flat_map(|&(v, n)| vec![v; n.unwrap_or(1) as usize]).collect();
        let json = items.iter().map(|&(v, n)| n.map_or(json!(v), |n| json!([v, n]))).collect();
        let len = at.index(lengths.iter().sum::<u64>() as usize + 1) as u64;
        (json, lengths, len)
    })
}

proptest! {
    #[test]
    fn a_list_is_its_lengths_one_by_one((items, lengths, len) in list(), a in 0u64..40, b in 0u64..40) {
        let grid = read(json!([items.clone()]), &[len]).unwrap();
        prop_assert_eq!(printed(&grid), json!([items]));
        let axis = &grid.axes()[0];
        let (mut start, mut spans) = (0, Vec::new());
        for &length in &lengths {
            spans.push(Span { start, logical: length.min(len.saturating_sub(start)), stored: length });
            start += length;
        }
        prop_assert_eq!(axis.listed_count(), lengths.len() as u64);
        prop_assert_eq!(axis.chunk_count(), spans.iter().filter(|s| s.start < len).count() as u64);
        prop_assert_eq!(axis.max_stored(), spans.iter().filter(|s| s.start < len).map(|s| s.stored).max().unwrap_or(0));
        let numbered: Vec<_> = (0u64..).zip(spans.iter().copied()).collect();
        prop_assert_eq!(axis.spans(0..u64::MAX).collect::<Vec<_>>(), numbered.clone());
        let (from, to) = (a as usize % (spans.len() + 1), b as usize % (spans.len() + 1));
        prop_assert_eq!(axis.spans(from as u64..to as u64).collect::<Vec<_>>(), numbered.get(from..to).unwrap_or(&[]).to_vec());
        let stored: u64 = spans.get(from..to).unwrap_or(&[]).iter().map(|s| s.stored).sum();
        prop_assert_eq!(axis.stored_sum(from as u64..to as u64), u128::from(stored));
        let mut finder = axis.finder();
        for i in (0..len).chain((0..len).rev().step_by(3)) {
            let c = spans.iter().rposition(|s| s.start <= i).unwrap();
            prop_assert_eq!(axis.locate(i), (c as u64, i - spans[c].start));
            prop_assert_eq!(finder.find(i), (c as u64, i - spans[c].start, spans[c]));
            prop_assert_eq!(axis.span(c as u64), spans[c]);
            let end = i + 1 + a % (len - i);
            let last = spans.iter().rposition(|s| s.start < end).unwrap();
            prop_assert_eq!(axis.touched(i, end), c as u64..last as u64 + 1);
        }
    }

    #[test]
    fn a_change_moves_no_chunk_that_holds_data((items, _, len) in list(), batches in proptest::collection::vec(0u64..12, 1..5), other in 0u64..60) {
        let mut grid = read(json!([items]), &[len]).unwrap();
        for batch in batches {
            let after = grid.appended(0, batch).unwrap();
            let (old, new) = (&grid.axes()[0], &after.axes()[0]);
            prop_assert_eq!(new.len(), old.len() + batch);
            for c in 0..old.chunk_count() {
                prop_assert_eq!((old.span(c).start, old.span(c).stored), (new.span(c).start, new.span(c).stored));
            }
            prop_assert!(new.listed_count() <= old.listed_count().max(old.chunk_count() + 1));
            prop_assert!(new.listed_sum() == old.listed_sum() || new.listed_sum() == u128::from(new.len()));
            prop_assert_eq!(&grid_from_v3(&grid_to_v3(&after), &after.shape()).unwrap(), &after);
            let resized = after.resized(&[other]).unwrap();
            prop_assert_eq!(resized.axes()[0].spans(0..new.listed_count()).map(|(c, s)| (c, s.start, s.stored)).collect::<Vec<_>>(),
                new.spans(0..new.listed_count()).map(|(c, s)| (c, s.start, s.stored)).collect::<Vec<_>>());
            prop_assert_eq!(grid_from_v3(&grid_to_v3(&resized), &[other]).unwrap(), resized);
            grid = after;
        }
    }

    #[test]
    fn a_step_is_a_list_of_equal_lengths(len in 0u64..50, chunk in 1u64..9, stored in 0u64..3) {
        let step = Axis::padded_step(len, chunk, chunk + stored);
        let n = step.chunk_count();
        let run = |length| if n == 0 { vec![] } else { vec![Run { length, count: n }] };
        let list = Axis::padded(len, &run(chunk), &run(chunk + stored)).unwrap();
        prop_assert_eq!((step.runs(), step.stored_runs(), step.max_stored(), step.listed_sum()), (list.runs(), list.stored_runs(), list.max_stored(), list.listed_sum()));
        prop_assert_eq!(step.spans(0..n).collect::<Vec<_>>(), list.spans(0..n).collect::<Vec<_>>());
        prop_assert_eq!(step.stored_sum(0..n), list.stored_sum(0..n));
    }

    #[test]
    fn no_document_makes_it_panic(text in r#"[\[\],0-9.e\-"a{}: ]{0,40}"#, len in 0u64..20) {
        if let Ok(value) = serde_json::from_str::<Value>(&text) {
            let _ = grid_from_v3(&value, &[len]);
            let _ = read(value.clone(), &[len]);
            let _ = read(json!([value]), &[len]);
        }
        let _ = parse_chunks(&text, &[len]);
    }
}
