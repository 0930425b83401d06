//! Shapes and chunk grids as people type them.

use gingham::Grid;

use crate::error::{Failure, Result};

/// Reads `366,721,1440`, `366x721x1440`, `[366, 721, 1440]` or `()`: a length per axis.
pub fn shape(text: &str) -> Result<Vec<u64>> {
    let inner = text.trim().trim_start_matches(['[', '(']).trim_end_matches([']', ')']).trim();
    if inner.is_empty() {
        return Ok(Vec::new());
    }
    let wrong = |part: &str| {
        Failure::usage(format!("\"{part}\" is not a length")).hint("write a shape as 366,721,1440; the shape of a scalar is ()")
    };
    inner.trim_end_matches(',').split([',', 'x']).map(|p| p.trim().parse().map_err(|_| wrong(p.trim()))).collect()
}

/// Reads a chunk grid: a chunk shape, or lists of lengths with runs as `[[31,29,[31,2],30],25,35]`.
pub fn grid(text: &str, shape: &[u64], option: &str) -> Result<Grid> {
    gingham::core::grid::parse_chunks(text, shape).map_err(|e| {
        let failure = Failure::usage(format!("{option}: {e}"));
        match e.hint {
            Some(hint) => failure.hint(hint),
            None => failure.hint(format!("write {option} as 64,256,256, or as a list of lengths per axis: [[31,29,[31,2],30],25,35]")),
        }
    })
}

/// A chunk shape of about 1 MiB for an array that was given none: long axes are halved until a chunk fits.
pub fn default_chunks(shape: &[u64], itemsize: usize) -> Vec<u64> {
    const TARGET: u128 = 1 << 20;
    let mut chunks: Vec<u64> = shape.iter().map(|&l| l.max(1)).collect();
    let size = |c: &[u64]| c.iter().fold(itemsize.max(1) as u128, |n, &l| n.saturating_mul(l.into()));
    while size(&chunks) > TARGET {
        let Some(longest) = chunks.iter_mut().max() else { break };
        if *longest == 1 {
            break;
        }
        *longest = longest.div_ceil(2);
    }
    chunks
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn shapes_are_read_in_every_usual_spelling() {
        for text in ["3,4,5", "3x4x5", "[3, 4, 5]", "(3, 4, 5)", " 3 , 4 , 5, "] {
            assert_eq!(shape(text).unwrap(), [3, 4, 5], "{text}");
        }
        assert!(shape("()").unwrap().is_empty());
        assert_eq!(shape("(7,)").unwrap(), [7]);
        for bad in ["a", "3,-4", "3,,4", "18446744073709551616", "1.5"] {
            assert!(shape(bad).unwrap_err().what().contains("is not a length"), "{bad}");
        }
    }

    #[test]
    fn default_chunks_are_about_a_mebibyte() {
        assert_eq!(default_chunks(&[10], 4), [10]);
        assert!(default_chunks(&[], 4).is_empty());
        assert_eq!(default_chunks(&[0, 5], 4), [1, 5]);
        let c = default_chunks(&[10_000, 10_000], 4);
        let size: u64 = c.iter().product::<u64>() * 4;
        assert!((512 << 10..=1 << 20).contains(&size), "{c:?}");
        assert_eq!(default_chunks(&[u64::MAX; 9], 8).len(), 9);
    }
}
