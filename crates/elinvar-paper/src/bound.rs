//! The bound of any member of a family from independent draws.

use elinvar::Error;
use elinvar::family::Approximation;
use elinvar::internals::family::Stepping;
use elinvar::internals::family::{DrawPlan, NoiseKey};
use elinvar::random::Purpose;
use elinvar::target::{Answer, Ask, Target, Want};

/// Draws that are held at once.
const CHUNK: usize = 4_096;

/// What draws say about a member.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bound {
    /// E_q[log p − log q].
    pub(crate) elbo: f64,
    /// Its standard error.
    pub(crate) mcse: f64,
    /// log E_q[p/q], the log normaliser by importance sampling.
    pub(crate) log_normaliser: f64,
    /// Its standard error, the relative one of the mean of p/q.
    pub(crate) log_normaliser_se: f64,
}

/// The bound from about `n` independent draws; the same seed gives the same noise to every member of a family.
pub(crate) fn bound(q: &Approximation, target: &dyn Target, n: usize, seed: u64) -> Result<Bound, Error> {
    let plan = DrawPlan::independent(CHUNK.min(n).div_ceil(q.n_components()));
    let mut estimator = q.estimator(&plan);
    let mut batch = estimator.batch(q);
    let mut evaluations = Answer::new(q.dim(), batch.draws.len());
    let about = target.about();
    let mut ratios = Vec::with_capacity(n + CHUNK);
    for chunk in 0.. {
        estimator.draw(q, NoiseKey { seed, purpose: Purpose::Diagnostics, step: chunk }, &mut batch);
        let want = if about.offers.values { Want::Values } else { Want::Gradients };
        target.evaluate(&Ask::all(batch.draws.view(), want), &mut evaluations)?;
        let log_p = &evaluations.log_p()[..batch.n];
        let draws = log_p.iter().zip(&batch.log_q).enumerate();
        ratios.extend(draws.map(|(s, (p, q))| p + about.prior.log_density(batch.draws.get(s)) - q));
        if ratios.len() >= n {
            break;
        }
    }
    ratios.retain(|ratio| ratio.is_finite());
    Ok(summary(&ratios))
}

fn summary(ratios: &[f64]) -> Bound {
    let n = ratios.len() as f64;
    let elbo = ratios.iter().sum::<f64>() / n;
    let variance = ratios.iter().map(|ratio| (ratio - elbo).powi(2)).sum::<f64>() / (n - 1.0);
    let largest = ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mean = ratios.iter().map(|ratio| (ratio - largest).exp()).sum::<f64>() / n;
    let spread = ratios.iter().map(|ratio| ((ratio - largest).exp() - mean).powi(2)).sum::<f64>() / (n - 1.0);
    Bound {
        elbo,
        mcse: (variance / n).sqrt(),
        log_normaliser: largest + mean.ln(),
        log_normaliser_se: (spread / n).sqrt() / mean,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elinvar::Family;
    use elinvar::family::Approximation;
    use elinvar::model::GaussianMixture;

    #[test]
    fn the_bound_of_a_gaussian_in_a_gaussian_is_the_known_one() {
        let target = GaussianMixture::isotropic(3, vec![0.5, 0.0, 0.0]).unwrap();
        let block = (vec![0.0; 3], vec![1.0; 3]);
        let family = Family::gaussian().diagonal();
        let state = Approximation::from_parts(family, 3, vec![block], vec![0.0]);
        let q = state.unwrap();
        // log p − log q = ½z₁ − ⅛ under q = N(0, I): mean −⅛, sd ½. Five standard errors: a false alarm in a million.
        let found = bound(&q, &target, 40_000, 3).unwrap();
        assert!((found.elbo + 0.125).abs() < 5.0 * found.mcse, "{found:?}");
        assert!((found.mcse - 0.5 / 40_000f64.sqrt()).abs() < 1e-4, "{found:?}");
        assert!(found.log_normaliser.abs() < 5.0 * found.log_normaliser_se, "{found:?}");
    }
}
