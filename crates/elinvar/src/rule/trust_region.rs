//! How far a step goes: halved until it is admissible, shortened until its KL divergence stays within a bound.

/// A step is halved at most this often.
const HALVINGS: usize = 60;
/// Relative accuracy of the divergence of a step that a bound has shortened.
const TOLERANCE: f64 = 0.05;

/// The β that a step takes, with its divergence; `None` if it stays where it was.
///
/// `attempt` writes the state after a step β and returns its KL divergence from the present one (anything, where there is no bound),
/// or `None` if it is not admissible. The whole step is halved until it is, and shortened to the bound where there is one. The
/// last attempt is the one that is taken, so that what it has written can be accepted.
pub(crate) fn take(beta: f64, max_kl: Option<f64>, mut attempt: impl FnMut(f64) -> Option<f64>) -> Option<(f64, f64)> {
    let mut beta = beta;
    for _ in 0..HALVINGS {
        let Some(kl) = attempt(beta) else {
            beta *= 0.5;
            continue;
        };
        let Some(bound) = max_kl.filter(|bound| kl > *bound) else { return Some((beta, kl)) };
        beta = largest_step(beta, bound, TOLERANCE, &mut attempt);
        let found = attempt(beta);
        return found.filter(|_| beta > 0.0).map(|kl| (beta, kl));
    }
    None
}

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
    fn a_step_is_halved_until_it_is_admissible_and_then_shortened_to_the_bound() {
        let (mut last, mut n) = (0.0, 0);
        let mut attempt = |beta: f64| {
            (last, n) = (beta, n + 1);
            (beta < 0.3).then_some(beta * beta)
        };
        assert_eq!(take(1.0, None, &mut attempt), Some((0.25, 0.0625)));
        assert_eq!(take(1.0, Some(0.1), &mut attempt), Some((0.25, 0.0625)));
        let (beta, kl) = take(1.0, Some(0.01), &mut attempt).unwrap();
        assert!(beta == last && kl == beta * beta && (0.0095..=0.01).contains(&kl), "{beta} {kl}");
        n = 0;
        assert_eq!(
            take(1.0, None, |_| {
                n += 1;
                None
            }),
            None
        );
        assert_eq!(n, HALVINGS);
        assert_eq!(take(1.0, Some(0.0), |beta| Some(beta)), None);
    }

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
