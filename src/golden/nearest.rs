//! The name that was probably meant.

/// Least similarity of a suggestion: `dsv41flsh` is 0.99 like `dsv41flash`, an unrelated name stays below 0.7.
const LEAST_SIMILARITY: f64 = 0.75;

/// Up to three of `names` that look like `wanted`, the most similar first.
pub(crate) fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    const MOST: usize = 3;
    // The measure is quadratic; nobody means a name of this length.
    if wanted.len() > 256 {
        return Vec::new();
    }
    let mut rated: Vec<(f64, &str)> = names
        .map(|name| (strsim::jaro_winkler(wanted, name), name))
        .filter(|(similarity, _)| *similarity >= LEAST_SIMILARITY)
        .collect();
    rated.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(right.1)));
    rated.into_iter().take(MOST).map(|(_, name)| name.to_owned()).collect()
}
