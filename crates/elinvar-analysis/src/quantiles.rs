//! Quantiles of draws, weighted or not, and the probabilities that are asked for.

/// Probabilities of the quantiles that are shown unless others are asked for.
pub(crate) const USUAL: [f64; 3] = [0.025, 0.5, 0.975];

/// Values in their order, each with its share of the weight before its middle.
pub(crate) struct Ordered {
    values: Vec<f64>,
    /// (W₁ + … + W_{i−1} + ½ W_i)/W; empty for equal weights, where it is (i − ½)/n.
    places: Vec<f64>,
}

impl Ordered {
    /// Of values with equal weights, in any order.
    pub(crate) fn new(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        Self { values, places: Vec::new() }
    }

    /// Of values with these weights.
    pub(crate) fn weighted(values: &[f64], weights: &[f64]) -> Self {
        let mut pairs: Vec<(f64, f64)> = values.iter().copied().zip(weights.iter().copied()).collect();
        pairs.retain(|(_, weight)| *weight > 0.0);
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let total: f64 = pairs.iter().map(|(_, weight)| weight).sum();
        let mut before = 0.0;
        let place = |(_, weight): &(f64, f64)| {
            let middle = (before + 0.5 * weight) / total;
            before += weight;
            middle
        };
        let places = pairs.iter().map(place).collect();
        Self { values: pairs.into_iter().map(|(value, _)| value).collect(), places }
    }

    fn place(&self, i: usize) -> f64 {
        self.places.get(i).copied().unwrap_or((i as f64 + 0.5) / self.values.len() as f64)
    }

    /// The quantile of probability p: linear between the places of two values, the first or the last value beyond.
    pub(crate) fn at(&self, p: f64) -> f64 {
        let n = self.values.len();
        let above = if self.places.is_empty() {
            ((p * n as f64 + 0.5).floor().max(0.0) as usize).min(n)
        } else {
            self.places.partition_point(|place| *place < p)
        };
        if above == 0 || above == n {
            return self.values.get(above.min(n.saturating_sub(1))).copied().unwrap_or(f64::NAN);
        }
        let (low, high) = (self.place(above - 1), self.place(above));
        let share = (p - low) / (high - low);
        (1.0 - share) * self.values[above - 1] + share * self.values[above]
    }
}

/// `q2.5` for 0.025.
pub(crate) fn name(p: f64) -> String {
    format!("q{}", percent(p))
}

/// `2.5` for 0.025.
pub(crate) fn percent(p: f64) -> String {
    // Six digits: 0.975 · 100 is not a short number.
    let rounded: f64 = format!("{:.4}", 100.0 * p).parse().unwrap_or(100.0 * p);
    rounded.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_a_grid_are_known() {
        let values: Vec<f64> = (0..1_000).map(|i| (f64::from(i) + 0.5) / 1_000.0).collect();
        let shuffled: Vec<f64> = (0..1_000).map(|i| values[(i * 617) % 1_000]).collect();
        let ordered = Ordered::new(shuffled.clone());
        for p in [0.001, 0.025, 0.5, 0.7134, 0.975] {
            assert!((ordered.at(p) - p).abs() < 1e-12, "{p}: {}", ordered.at(p));
            let equal = Ordered::weighted(&shuffled, &[0.3; 1_000]);
            assert!((equal.at(p) - p).abs() < 1e-12, "{p}");
            // Weights 2x: the distribution function is x².
            let weights: Vec<f64> = shuffled.iter().map(|x| 2.0 * x).collect();
            assert!((Ordered::weighted(&shuffled, &weights).at(p) - p.sqrt()).abs() < 2e-3, "{p}");
        }
        assert_eq!((ordered.at(0.0), ordered.at(1.0)), (values[0], values[999]));
        assert_eq!(Ordered::new(vec![3.0]).at(0.2), 3.0);
    }

    #[test]
    fn names_are_short() {
        assert_eq!(USUAL.map(name), ["q2.5", "q50", "q97.5"]);
        assert_eq!([percent(0.07), percent(0.999)], ["7", "99.9"]);
    }
}
