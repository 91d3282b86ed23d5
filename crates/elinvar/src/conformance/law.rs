//! What a mixing law is held to.

use super::{Broken, broken};
use crate::law::{OwnLaw, problem_of};

/// Nodes and weights of the rule of Gauss and Legendre with five points on (−1, 1).
const GAUSS: [(f64, f64); 5] = [
    (-0.906_179_845_938_664, 0.236_926_885_056_189_1),
    (-0.538_469_310_105_683_1, 0.478_628_670_499_366_5),
    (0.0, 0.568_888_888_888_888_9),
    (0.538_469_310_105_683_1, 0.478_628_670_499_366_5),
    (0.906_179_845_938_664, 0.236_926_885_056_189_1),
];
/// Largest difference between a probability and the integral of the density.
const PROBABILITY: f64 = 1e-6;

/// Whether density and quantiles of a mixing law belong together, and whether it can be a mixing law.
///
/// # Errors
/// [`Broken`], with the first rule that is not kept: the density is finite where the law has mass and integrates to
/// one, the moments that its role needs exist, quantiles rise and are those of the density, and the density of log w
/// has one peak.
pub fn law(law: &dyn OwnLaw) -> Result<(), Broken> {
    if law.name().is_empty() || law.name().trim() != law.name() {
        return broken("a law has a name without blanks around it", format!("{:?}", law.name()));
    }
    let n = 400;
    let levels: Vec<f64> = (1..n).map(|k| f64::from(k) / f64::from(n)).collect();
    let quantiles: Vec<f64> = levels.iter().map(|p| law.quantile(*p)).collect();
    if let Some(k) = quantiles.iter().position(|w| !(*w > 0.0 && w.is_finite())) {
        return broken("quantiles are positive and finite", format!("{} at {}", quantiles[k], levels[k]));
    }
    if let Some(k) = quantiles.windows(2).position(|pair| pair[0] >= pair[1]) {
        let found = format!("{} at {}, {} at {}", quantiles[k], levels[k], quantiles[k + 1], levels[k + 1]);
        return broken("quantiles rise with the probability", found);
    }
    if let Some(w) = quantiles.iter().find(|w| !law.log_density(**w).is_finite()) {
        return broken("the density is finite where there is mass", format!("log {} at {w}", law.log_density(*w)));
    }
    if let Some(problem) = problem_of(law) {
        return broken("the density integrates to one, and has the moments that its role needs", problem);
    }
    for (pair, level) in quantiles.windows(2).zip(&levels) {
        let between = integral(law, pair[0].ln(), pair[1].ln());
        let expected = 1.0 / f64::from(n);
        if (between - expected).abs() > PROBABILITY {
            let found = format!("{between} instead of {expected} between those of {level} and the next");
            return broken("quantiles are those of the density", found);
        }
    }
    let heights: Vec<f64> = quantiles.iter().map(|w| law.log_density(*w) + w.ln()).collect();
    let top = heights.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(k, _)| k);
    let rises = |pair: &[f64]| pair[1] - pair[0] > 1e-9;
    let (before, after) = (&heights[..=top], &heights[top..]);
    if before.windows(2).any(|pair| rises(&[pair[1], pair[0]])) || after.windows(2).any(rises) {
        return broken("the density of log w has one peak", format!("not one, beside that at w = {}", quantiles[top]));
    }
    Ok(())
}

/// ∫ q(w) dw between e^low and e^high.
fn integral(law: &dyn OwnLaw, low: f64, high: f64) -> f64 {
    let (middle, half) = (0.5 * (low + high), 0.5 * (high - low));
    let at = |tau: f64| (law.log_density(tau.exp()) + tau).exp();
    half * GAUSS.iter().map(|(x, weight)| weight * at(middle + half * x)).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::Role;

    /// A Weibull law of shape 2 that may be wrong in one way.
    #[derive(Debug, Default)]
    struct Law {
        mass: f64,
        level: f64,
        ripple: f64,
        sign: f64,
    }

    impl OwnLaw for Law {
        fn name(&self) -> &'static str {
            "tried"
        }
        fn role(&self) -> Role {
            Role::Scale
        }
        fn log_density(&self, w: f64) -> f64 {
            self.mass + w.ln() - 0.5 * w * w + self.ripple * (30.0 * w).cos()
        }
        fn quantile(&self, p: f64) -> f64 {
            (1.0 - 2.0 * self.sign) * (-2.0 * (-(p * (1.0 - self.level))).ln_1p()).sqrt()
        }
    }

    #[test]
    fn a_law_is_held_to_every_rule() {
        assert_eq!(law(&Law::default()), Ok(()));
        let rule = |tried: Law| law(&tried).unwrap_err().rule;
        assert!(rule(Law { mass: 1e-3, ..Law::default() }).contains("integrates to one"));
        assert!(rule(Law { level: 1e-2, ..Law::default() }).contains("those of the density"));
        assert!(rule(Law { sign: 1.0, ..Law::default() }).contains("positive"));
        // A ripple changes the mass by little, and the peaks by much.
        let rippled = law(&Law { ripple: 0.3, ..Law::default() }).unwrap_err().to_string();
        assert!(rippled.contains("one peak") || rippled.contains("integrates"), "{rippled}");
    }
}
