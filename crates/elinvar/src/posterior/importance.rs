//! What log p − log q at draws of q says: the bound, the normaliser, the gap between them and the tail of the ratios.

use super::{Smoothed, log_mean_exp, pareto_smooth};
use crate::Error;
use crate::record::Estimate;

/// Largest k̂ that is written: files know no infinity, and any k above one means the same.
const LARGEST_K: f64 = 99.0;

/// Draws of q in strata of the same size (one, if they are independent) with their ratios.
pub(crate) struct Importance {
    /// log p − log q; −∞ where log p is not finite.
    pub(crate) ratios: Vec<f64>,
    /// What a draw counts in an average over q: those of a stratum share what it has of q, but for those at which log
    /// p is not finite.
    pub(crate) weights: Vec<f64>,
    /// Number of draws at which log p is finite.
    pub(crate) n_kept: usize,
    /// Their share of q.
    kept_share: f64,
    /// The evidence lower bound, of the draws that count.
    pub(crate) elbo: Estimate,
    /// The importance estimate of log Z; a draw at which log p is not finite is one of importance zero.
    pub(crate) log_normaliser: Estimate,
    /// The weights that turn the draws into draws of p, their tail smoothed.
    pub(crate) smoothed: Smoothed,
}

impl Importance {
    /// Of draws of strata that have these shares of q, one stratum after the other.
    ///
    /// # Errors
    /// [`Error::Domain`] if log p is finite at no draw.
    pub(crate) fn of(log_p: &[f64], log_q: &[f64], shares: &[f64]) -> Result<Self, Error> {
        let (n, k) = (log_p.len(), shares.len());
        let ratio = |(p, q): (&f64, &f64)| if p.is_finite() { p - q } else { f64::NEG_INFINITY };
        let ratios: Vec<f64> = log_p.iter().zip(log_q).map(ratio).collect();
        let (mut elbo, mut variance, mut n_kept, mut kept_share) = (0.0, 0.0, 0, 0.0);
        let mut weights = Vec::with_capacity(n);
        // log p/q times what the stratum has of q over what it has of the draws.
        let mut scaled = Vec::with_capacity(n);
        for (own, share) in ratios.chunks_exact(n / k).zip(shares) {
            let finite = || own.iter().copied().filter(|r| r.is_finite());
            let kept = finite().count();
            let count = kept as f64;
            let mean = finite().sum::<f64>() / count;
            let square = finite().map(|r| (r - mean) * (r - mean)).sum::<f64>() / (count - 1.0);
            elbo += share * mean;
            variance += share * share * square / count;
            n_kept += kept;
            kept_share += share * count / own.len() as f64;
            weights.extend(own.iter().map(|r| if r.is_finite() { share / count } else { 0.0 }));
            scaled.extend(own.iter().map(|r| r + (k as f64 * share).ln()));
        }
        let smoothed = pareto_smooth(&scaled)?;
        let normaliser = log_mean_exp(&scaled)?;
        // A stratum in which nothing counts has no bound, and one draw no error: 0/0 in both places.
        let elbo =
            if elbo.is_nan() { Estimate::new(-f64::MAX, f64::MAX) } else { Estimate::new(elbo, variance.sqrt()) };
        let log_normaliser = Estimate::new(normaliser.value, normaliser.standard_error);
        Ok(Self { ratios, weights, n_kept, kept_share, elbo, log_normaliser, smoothed })
    }

    /// k̂ of the ratios, as files can hold it.
    pub(crate) fn pareto_k(&self) -> Option<f64> {
        self.smoothed.pareto_k.map(|k| k.min(LARGEST_K))
    }

    /// log Z minus the bound, both of the draws that count, with the error of the difference.
    pub(crate) fn gap(&self) -> Estimate {
        let elbo = self.elbo.value;
        let log_z = self.log_normaliser.value - self.kept_share.ln();
        let draws = self.ratios.iter().zip(&self.weights).filter(|(_, w)| **w > 0.0);
        let squares = draws.map(|(r, w)| {
            let influence = (r - log_z).exp_m1() - (r - elbo);
            (w * influence).powi(2)
        });
        Estimate::new(log_z - elbo, squares.sum::<f64>().sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};

    fn normals(n: usize) -> Vec<f64> {
        let mut x = vec![0.0; n];
        Stream::open(1, Purpose::Sample, 0, 0).fill_normal(&mut x);
        x
    }

    /// p = e⁻³ N(0, 1) and q = N(½, 1): log p/q is −3 + ⅛ − z/2, the bound −3 − ⅛, the gap ⅛.
    #[test]
    fn a_shifted_gaussian_has_its_bound_and_its_normaliser() {
        let n = 20_000;
        let log_p: Vec<f64> = normals(n).iter().map(|x| -3.0 - 0.5 * (x + 0.5).powi(2)).collect();
        let log_q: Vec<f64> = normals(n).iter().map(|x| -0.5 * x * x).collect();
        let all = Importance::of(&log_p, &log_q, &[1.0]).unwrap();
        for (found, truth) in [(all.elbo, -3.125), (all.log_normaliser, -3.0), (all.gap(), 0.125)] {
            // False alarms: 7e-6 each.
            assert!((found.value - truth).abs() < 4.5 * found.mcse && found.mcse < 0.01, "{found:?}, {truth}");
        }
        // The error of a difference is smaller than that of its parts.
        assert!(all.gap().mcse < all.elbo.mcse, "{:?}", all.gap());
        assert!(all.n_kept == n && (all.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(all.pareto_k().unwrap() < 0.5);
    }

    /// Strata with the shares of the draws say what the draws say without strata.
    #[test]
    fn equal_strata_change_nothing_but_the_error_of_the_bound() {
        let log_p: Vec<f64> = normals(400).iter().enumerate().map(|(s, x)| x + (s / 200) as f64).collect();
        let log_q = vec![0.0; 400];
        let one = Importance::of(&log_p, &log_q, &[1.0]).unwrap();
        let two = Importance::of(&log_p, &log_q, &[0.5; 2]).unwrap();
        assert!((one.elbo.value - two.elbo.value).abs() < 1e-12 && two.elbo.mcse < one.elbo.mcse);
        assert_eq!((one.log_normaliser, one.pareto_k()), (two.log_normaliser, two.pareto_k()));
        // A share of 0.9 for the first: Σ share mean exp, directly.
        let uneven = Importance::of(&log_p, &log_q, &[0.9, 0.1]).unwrap();
        let mean = |part: &[f64]| part.iter().map(|x| x.exp()).sum::<f64>() / 200.0;
        let direct = 0.9 * mean(&log_p[..200]) + 0.1 * mean(&log_p[200..]);
        assert!((uneven.log_normaliser.value - direct.ln()).abs() < 1e-12);
    }

    /// What is dropped has no importance, is no part of the bound, and is no gap.
    #[test]
    fn dropped_draws_are_counted_once() {
        let mut log_p = vec![2.0; 100];
        log_p[..50].fill(f64::NAN);
        let half = Importance::of(&log_p, &[0.0; 100], &[1.0]).unwrap();
        assert!((half.log_normaliser.value - (2.0 - std::f64::consts::LN_2)).abs() < 1e-12);
        assert_eq!((half.elbo.value, half.n_kept, half.weights[0]), (2.0, 50, 0.0));
        assert!(half.gap().value.abs() < 1e-12 && half.gap().mcse < 1e-12, "{:?}", half.gap());
        let lost = Importance::of(&log_p, &[0.0; 100], &[0.5; 2]).unwrap();
        assert_eq!(lost.elbo, Estimate { value: -f64::MAX, mcse: f64::MAX });
        assert!(Importance::of(&[f64::NAN; 4], &[0.0; 4], &[1.0]).is_err());
    }
}
