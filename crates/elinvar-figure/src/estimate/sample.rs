//! Weighted draws of one parameter, in order.

/// Finite values with weights that sum to one, smallest first.
#[derive(Clone, Debug)]
pub struct Sample {
    points: Vec<(f64, f64)>,
}

impl Sample {
    /// Values with weights, which are equal where there is no slice of the same length; `None` if fewer than two
    /// different ones are finite.
    pub fn new(values: &[f64], weights: &[f64]) -> Option<Self> {
        let weight = |i: usize| if weights.len() == values.len() { weights[i] } else { 1.0 };
        let mut points: Vec<(f64, f64)> = values
            .iter()
            .enumerate()
            .map(|(i, value)| (*value, weight(i)))
            .filter(|(value, weight)| value.is_finite() && weight.is_finite() && *weight > 0.0)
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let total: f64 = points.iter().map(|(_, weight)| weight).sum();
        points.iter_mut().for_each(|(_, weight)| *weight /= total);
        (points.first()?.0 < points.last()?.0).then_some(Self { points })
    }

    /// Values and weights, smallest value first.
    pub fn points(&self) -> &[(f64, f64)] {
        &self.points
    }

    /// Smallest and largest value.
    pub fn range(&self) -> (f64, f64) {
        (self.points[0].0, self.points[self.points.len() - 1].0)
    }

    /// 1 / Σ w², where equal values count as one: resampled draws repeat.
    pub fn effective_len(&self) -> f64 {
        let mut sum = 0.0;
        for run in self.points.chunk_by(|a, b| a.0 == b.0) {
            let weight: f64 = run.iter().map(|(_, weight)| weight).sum();
            sum += weight * weight;
        }
        1.0 / sum
    }

    /// The value below which a share `p` of the weight lies.
    pub fn quantile(&self, p: f64) -> f64 {
        let mut below = 0.0;
        for (value, weight) in &self.points {
            below += weight;
            if below >= p {
                return *value;
            }
        }
        self.range().1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_count_and_ties_are_one() {
        let sample = Sample::new(&[3.0, 1.0, f64::NAN, 2.0], &[2.0, 1.0, 5.0, 1.0]).unwrap();
        assert_eq!(sample.range(), (1.0, 3.0));
        assert_eq!([sample.quantile(0.25), sample.quantile(0.5), sample.quantile(0.51)], [1.0, 2.0, 3.0]);
        let resampled = Sample::new(&[1.0, 1.0, 2.0, 2.0], &[]).unwrap();
        assert!((resampled.effective_len() - 2.0).abs() < 1e-12);
        assert!(Sample::new(&[1.0, 1.0], &[]).is_none());
    }
}
