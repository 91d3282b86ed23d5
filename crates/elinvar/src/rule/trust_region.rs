//! The largest step whose KL divergence from the old state stays within a bound.

/// The largest β ≤ `beta_max` with `kl(β) ≤ epsilon`, to the relative accuracy `tolerance` in the divergence.
///
/// `kl` returns `None` where the step leaves the domain, which counts as too far. Along a natural-gradient step the divergence
/// increases strictly with β (mathematics §10.3) and grows like β² at first, so the search interpolates log KL linearly in log β
/// inside a bracket. The result is on the admissible side. Returns 0 if no admissible step was found.
pub fn largest_step(beta_max: f64, epsilon: f64, tolerance: f64, mut kl: impl FnMut(f64) -> Option<f64>) -> f64 {
    const TRIES: usize = 200;
    let first = kl(beta_max);
    if first.is_some_and(|value| value <= epsilon) {
        return beta_max;
    }
    let (mut high, mut kl_high) = (beta_max, first);
    let (mut low, mut kl_low) = (0.0, 0.0);
    for round in 0..TRIES {
        let middle = match (low > 0.0, kl_high) {
            // Every third round halves the bracket, so that a bad interpolation cannot stall it.
            (true, Some(kl_high)) if kl_low > 0.0 && round % 3 != 2 => {
                let slope = (kl_high / kl_low).ln() / (high / low).ln();
                (low * (epsilon * (1.0 - 0.5 * tolerance) / kl_low).powf(1.0 / slope)).clamp(low, high)
            }
            (true, _) => (low * high).sqrt(),
            (false, Some(kl_high)) => high * (epsilon / kl_high).sqrt().clamp(0.01, 0.9),
            (false, None) => 0.5 * high,
        };
        if !(middle > low && middle < high) {
            break;
        }
        match kl(middle) {
            Some(value) if value <= epsilon => {
                (low, kl_low) = (middle, value);
                if value >= epsilon * (1.0 - tolerance) {
                    break;
                }
            }
            outcome => (high, kl_high) = (middle, outcome),
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_boundary_of_a_quadratic_divergence() {
        let beta = largest_step(1.0, 0.01, 1e-12, |b| Some(0.5 * b * b));
        assert!((beta - 0.02f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn treats_the_end_of_the_domain_as_too_far() {
        let beta = largest_step(10.0, 1e9, 1e-9, |b| (b < 0.3).then_some(b * b));
        assert!(beta < 0.3 && beta > 0.29);
    }

    #[test]
    fn takes_the_whole_step_where_it_may() {
        assert_eq!(largest_step(0.25, 1.0, 1e-3, Some), 0.25);
        assert_eq!(largest_step(0.25, 1.0, 1e-3, |_| None), 0.0);
    }
}
