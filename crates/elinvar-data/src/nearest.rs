//! The nearest of several names, for "did you mean".

/// The candidate with the smallest edit distance to `wanted`, if it is near enough to be a likely slip of the hand.
pub fn nearest<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = folded(wanted);
    let limit = if wanted.len() < 2 { 0 } else { (wanted.len() / 3).max(1) };
    candidates
        .into_iter()
        .map(|name| (distance(&wanted, &folded(name)), name))
        .filter(|&(d, _)| d <= limit)
        .min_by_key(|&(d, _)| d)
        .map(|(_, name)| name)
}

/// Lower case, and with `-`, `_` and spaces alike: these are never what a user means to tell apart.
fn folded(name: &str) -> Vec<char> {
    name.trim().chars().flat_map(char::to_lowercase).map(|c| if c == '-' || c == ' ' { '_' } else { c }).collect()
}

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
fn distance(a: &[char], b: &[char]) -> usize {
    let width = b.len() + 1;
    let mut before: Vec<usize> = vec![0; width];
    let mut above: Vec<usize> = (0..width).collect();
    let mut row: Vec<usize> = vec![0; width];
    for i in 1..=a.len() {
        row[0] = i;
        for j in 1..=b.len() {
            let replaced = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        std::mem::swap(&mut before, &mut above);
        std::mem::swap(&mut above, &mut row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(a: &str, b: &str) -> usize {
        distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>())
    }

    #[test]
    fn distances_of_known_pairs() {
        assert_eq!(between("", "abc"), 3);
        assert_eq!(between("kitten", "sitting"), 3);
        assert_eq!(between("credti", "credit"), 1);
        assert_eq!(between("größe", "grosse"), 3);
        assert_eq!(between("same", "same"), 0);
    }

    #[test]
    fn suggests_a_slip_and_nothing_far() {
        assert_eq!(nearest("incom", ["age", "income"]), Some("income"));
        assert_eq!(nearest("Home Value", ["home_value"]), Some("home_value"));
        assert_eq!(nearest("y", ["x", "income"]), None);
        assert_eq!(nearest("y", ["x", "Y"]), Some("Y"));
        assert_eq!(nearest("outcome", ["age", "x12"]), None);
    }
}
