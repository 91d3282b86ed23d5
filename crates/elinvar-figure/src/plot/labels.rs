//! Names at the ends of lines, moved apart.

/// Places as near as possible (in squares) to where they should be, in their order, at least `gap` from each other and
/// between the two ends, as far as there is room.
pub(crate) fn spread(wanted: &[f64], gap: f64, (low, high): (f64, f64)) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|a, b| wanted[*a].total_cmp(&wanted[*b]).then(a.cmp(b)));
    // Less i gaps, the places must only rise: neighbours that would fall are given their mean.
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    for (i, k) in order.iter().enumerate() {
        let mut block = (wanted[*k] - gap * i as f64, 1);
        while let Some((mean, n)) = blocks.last().copied().filter(|(mean, _)| *mean > block.0) {
            block = ((mean * n as f64 + block.0 * block.1 as f64) / (n + block.1) as f64, n + block.1);
            blocks.pop();
        }
        blocks.push(block);
    }
    let last = (high - gap * wanted.len().saturating_sub(1) as f64).max(low);
    let means = blocks.iter().flat_map(|(mean, n)| std::iter::repeat_n(mean.clamp(low, last), *n));
    let mut places = vec![0.0; wanted.len()];
    for ((i, k), mean) in order.iter().enumerate().zip(means) {
        places[*k] = mean + gap * i as f64;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_have_room_stay_and_others_part_evenly() {
        assert_eq!(spread(&[10.0, 50.0, 30.0], 12.0, (0.0, 100.0)), [10.0, 50.0, 30.0]);
        assert_eq!(spread(&[50.0, 50.0, 50.0], 10.0, (0.0, 100.0)), [40.0, 50.0, 60.0]);
        assert_eq!(spread(&[99.0, 99.0], 10.0, (0.0, 100.0)), [90.0, 100.0]);
        assert_eq!(spread(&[], 10.0, (0.0, 100.0)), [] as [f64; 0]);
        assert_eq!(spread(&[-5.0, 2.0], 10.0, (0.0, 100.0)), [0.0, 10.0]);
    }
}
