//! Members whose names look like a typing error of a known one.

/// The known name that `name` is at most two edits away from (one for names of up to five letters), ignoring case.
pub(super) fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    // No known name is longer than 30 characters, so longer ones need not be compared.
    if name.len() > 32 {
        return None;
    }
    let allowed = |known: &str| if known.len() <= 5 { 1 } else { 2 };
    known.iter().copied().map(|k| (distance(&name.to_lowercase(), k), k)).filter(|(d, k)| *d <= allowed(k)).min().map(|(_, k)| k)
}

/// Insertions, deletions and replacements between two names.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let replace = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = replace.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names() {
        let known = ["dimension_separator", "filters", "order", "shape"];
        assert_eq!(nearest("dimension_seperator", &known), Some("dimension_separator"));
        assert_eq!(nearest("filter", &known), Some("filters"));
        assert_eq!(nearest("Shape", &known), Some("shape"));
        assert_eq!(nearest("node_type", &known), None);
        assert_eq!(nearest("_nczarr_array", &known), None);
        assert_eq!(nearest(&"x".repeat(1_000_000), &known), None);
    }
}
