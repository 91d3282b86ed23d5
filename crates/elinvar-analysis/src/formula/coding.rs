//! How categories enter each term, so that no column repeats what others span.
//!
//! A category with k levels spans k indicators; of these a term adds what the terms before it do not span. Beside an
//! intercept the first level of a category has no column, and so it is in an interaction whose other factors stand for
//! themselves; the first category of a formula without intercept has all. This gives R's coding wherever that has full
//! rank, and one of full rank where R's has not.

use std::collections::{HashMap, HashSet};

/// How a factor of a term is coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    /// As its numbers.
    Number,
    /// An indicator for each level.
    AllLevels,
    /// An indicator for each level but the reference.
    AgainstReference,
}

/// Factors with their codings, whose products are columns.
pub(super) type Coded = Vec<(usize, Coding)>;

/// What each term becomes: products of factors, one or several.
///
/// `terms` have ascending positions of factors, `is_category` says which factors are categories.
pub(super) fn code(terms: &[Vec<usize>], intercept: bool, is_category: &[bool]) -> Vec<Vec<Coded>> {
    // For each set of factors of numbers: which sets of categories, each without its reference, are spanned.
    let mut spanned: HashMap<Vec<usize>, HashSet<Vec<usize>>> = HashMap::new();
    if intercept {
        spanned.entry(Vec::new()).or_default().insert(Vec::new());
    }
    terms
        .iter()
        .map(|term| {
            let (categories, numbers): (Vec<usize>, Vec<usize>) = term.iter().partition(|i| is_category[**i]);
            let known = spanned.entry(numbers).or_default();
            let new: Vec<Coded> = subsets(&categories)
                .into_iter()
                .filter(|subset| known.insert(subset.clone()))
                .map(|subset| subset.into_iter().map(|i| (i, Coding::AgainstReference)).collect())
                .collect();
            let coding = |coded: &Coded, i: usize| match is_category[i] {
                false => Some((i, Coding::Number)),
                true => coded.iter().find(|(j, _)| *j == i).copied(),
            };
            merged(new).iter().map(|coded| term.iter().filter_map(|i| coding(coded, *i)).collect()).collect()
        })
        .collect()
}

/// All subsets, the smaller ones first.
fn subsets(of: &[usize]) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = (0..1usize << of.len())
        .map(|mask| of.iter().enumerate().filter(|(k, _)| mask >> k & 1 == 1).map(|(_, i)| *i).collect())
        .collect();
    all.sort();
    all.sort_by_key(Vec::len);
    all
}

/// A product and the same product with a category more, against its reference, are the product with all its levels.
fn merged(mut products: Vec<Coded>) -> Vec<Coded> {
    'again: loop {
        for short in 0..products.len() {
            for long in short + 1..products.len() {
                if let Some(added) = added(&products[short], &products[long]) {
                    products[long][added].1 = Coding::AllLevels;
                    products.remove(short);
                    continue 'again;
                }
            }
        }
        return products;
    }
}

/// The position of the one category that `long` has besides those of `short`, coded alike, if that is the difference.
fn added(short: &Coded, long: &Coded) -> Option<usize> {
    if long.len() != short.len() + 1 || !short.iter().all(|factor| long.contains(factor)) {
        return None;
    }
    long.iter().position(|factor| !short.contains(factor)).filter(|at| long[*at].1 == Coding::AgainstReference)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Coding::{AgainstReference, AllLevels, Number};

    #[test]
    fn a_full_product_of_two_beside_an_intercept_is_cut_into_two() {
        let coded = code(&[vec![0, 1]], true, &[true, true]);
        assert_eq!(coded, [vec![vec![(1, AgainstReference)], vec![(0, AgainstReference), (1, AllLevels)]]]);
        assert_eq!(code(&[vec![0, 1]], false, &[true, true]), [vec![vec![(0, AllLevels), (1, AllLevels)]]]);
    }

    #[test]
    fn numbers_by_category_depend_on_the_numbers_alone() {
        // x, then x by a category: slopes are compared; without x, each level has its slope.
        let coded = code(&[vec![0], vec![0, 1]], true, &[false, true]);
        assert_eq!(coded[1], [vec![(0, Number), (1, AgainstReference)]]);
        assert_eq!(code(&[vec![0, 1]], true, &[false, true])[0], [vec![(0, Number), (1, AllLevels)]]);
    }

    #[test]
    fn the_first_category_without_an_intercept_has_all_levels() {
        let coded = code(&[vec![0], vec![1], vec![2]], false, &[false, true, true]);
        assert_eq!(coded[1], [vec![(1, AllLevels)]]);
        assert_eq!(coded[2], [vec![(2, AgainstReference)]]);
    }
}
