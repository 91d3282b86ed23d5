//! Sorting by numbers, for which the sort of the standard library is compiled once, whatever is sorted.

/// Sorts by a number of each item, the smallest first; items with the same number stay in the order they had.
pub(crate) fn ascending<T>(items: &mut [T], number: impl Fn(&T) -> f64) {
    let mut numbers = Vec::with_capacity(items.len());
    for (i, item) in items.iter().enumerate() {
        numbers.push((number(item), i));
    }
    let mut places = places(numbers);
    for i in 0..items.len() {
        while places[i] != i {
            let to = places[i];
            items.swap(i, to);
            places.swap(i, to);
        }
    }
}

/// The same with the largest first.
pub(crate) fn descending<T>(items: &mut [T], number: impl Fn(&T) -> f64) {
    // A change of sign reverses the total order, that of zeros and of what is not a number, too.
    ascending(items, |item| -number(item));
}

/// The place that each item goes to, by its number.
fn places(mut numbers: Vec<(f64, usize)>) -> Vec<usize> {
    numbers.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut places = vec![0; numbers.len()];
    for (to, (_, from)) in numbers.iter().enumerate() {
        places[*from] = to;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the sort of the standard library, with ties, signed zeros, infinities and what is not a number.
    #[test]
    fn the_order_is_that_of_a_stable_sort() {
        let odd = [0.0, -0.0, f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.0];
        for n in [0_usize, 1, 2, 7, 60, 300] {
            let made = |i: usize| if i % 5 == 3 { odd[i % 7] } else { ((i * i * 37) % 11) as f64 - 5.0 };
            let items: Vec<(f64, usize)> = (0..n).map(|i| (made(i), i)).collect();
            let bits = |items: &[(f64, usize)]| items.iter().map(|item| (item.0.to_bits(), item.1)).collect::<Vec<_>>();
            let (mut ours, mut theirs) = (items.clone(), items.clone());
            ascending(&mut ours, |item| item.0);
            theirs.sort_by(|a, b| a.0.total_cmp(&b.0));
            assert_eq!(bits(&ours), bits(&theirs));
            let (mut ours, mut theirs) = (items.clone(), items);
            descending(&mut ours, |item| item.0);
            theirs.sort_by(|a, b| b.0.total_cmp(&a.0));
            assert_eq!(bits(&ours), bits(&theirs));
        }
    }
}
