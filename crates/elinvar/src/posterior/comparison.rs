//! The bounds of several fits of one target, with the errors of their differences.

use super::{Diagnostics, Estimate, Posterior};
use crate::Error;
use crate::target::Target;

/// What several fits of the same target reach, in the order in which they were given.
///
/// Every fit contributes n draws, and every bound is estimated from the draws of all: a draw z counts for the fit k
/// with the weight w_k(z) = q_k(z) / Σ_j q_j(z), so that ELBO_k = c_k + (1/n) Σ_s Σ_j w_k(z_js) (log p(z_js) − log
/// q_k(z_js) − c_k), where c_k is the mean over the fit's own draws. (The weights have mean one, so that c_k changes
/// the noise alone.) Fits that are close to each other are thus compared at the same points, whatever their families,
/// and most of the noise of their difference cancels; fits that have nothing in common are left with their own draws.
/// The draws of all fits come from the same seed; the inner sums over j are independent for different s whether or not
/// the draws of different fits are, so that their standard deviation is the honest error.
///
/// The weights are the balance heuristic of E. Veach and L. J. Guibas, Optimally combining sampling techniques for
/// Monte Carlo rendering, SIGGRAPH (1995); the term with c_k is the control variate of A. Owen and Y. Zhou, Safe and
/// effective importance sampling, JASA 95 (2000).
///
/// [`compare`] makes it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Comparison {
    /// The ELBO of each fit.
    pub elbo: Vec<Estimate>,
    /// The fit with the largest ELBO.
    pub best: usize,
    /// The ELBO of each fit less that of the best one, with the error of the difference itself.
    pub difference: Vec<Estimate>,
    /// What the draws of each fit say about it alone.
    pub diagnostics: Vec<Diagnostics>,
}

impl std::fmt::Display for Comparison {
    /// A line for each fit, in their order: its ELBO, and by how much it is below the best.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (k, (elbo, difference)) in self.elbo.iter().zip(&self.difference).enumerate() {
            let below = if k == self.best { "the best".into() } else { format!("{difference} from the best") };
            writeln!(f, "fit {}: ELBO {elbo}, {below}", k + 1)?;
        }
        Ok(())
    }
}

/// Compares fits of `target` by `n` draws of each.
///
/// ```
/// use elinvar::model::Banana;
/// use elinvar::compare;
/// use elinvar::{Family, Plan};
///
/// let target = Banana::default();
/// let fits = [Family::gaussian(), Family::mog(3)].map(|family| elinvar::Fit::new(&target).family(family).run());
/// let [gaussian, mixture] = fits;
/// let comparison = compare(&target, &[&gaussian?, &mixture?], 2_000, 1)?;
/// println!("{comparison}");
/// assert_eq!(comparison.best, 1);
/// assert!(comparison.difference[0].value < -4.0 * comparison.difference[0].mcse);
/// # Ok::<(), elinvar::Error>(())
/// ```
///
/// # Errors
/// As [`Posterior::importance`]; [`Error::Shape`] if there is no fit.
pub fn compare(target: &dyn Target, posteriors: &[&Posterior], n: usize, seed: u64) -> Result<Comparison, Error> {
    if posteriors.is_empty() {
        return Err(Error::Shape { what: "fits to compare", expected: 1, found: 0 });
    }
    let n_fits = posteriors.len();
    let mut diagnostics = Vec::with_capacity(n_fits);
    // Σ_j w_k and Σ_j w_k (log p − log q_k), for each fit k and draw s.
    let mut weights = vec![vec![0.0; n]; n_fits];
    let mut ratios = vec![vec![0.0; n]; n_fits];
    let mut log_q = vec![0.0; n_fits];
    for (j, posterior) in posteriors.iter().enumerate() {
        let drawn = posterior.importance(target, n, seed)?;
        for (s, z) in drawn.draws.view().iter().enumerate() {
            let log_p = drawn.log_p[s];
            if !log_p.is_finite() {
                continue;
            }
            for (k, (log_q, other)) in log_q.iter_mut().zip(posteriors).enumerate() {
                *log_q = if k == j { drawn.log_q[s] } else { other.log_density_z(z) };
            }
            let largest = log_q.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let total = log_q.iter().map(|q| (q - largest).exp()).sum::<f64>();
            for (k, log_q) in log_q.iter().enumerate() {
                let weight = (log_q - largest).exp() / total;
                if weight > 0.0 {
                    weights[k][s] += weight;
                    ratios[k][s] += weight * (log_p - log_q);
                }
            }
        }
        diagnostics.push(drawn.diagnostics);
    }

    let centres: Vec<f64> = diagnostics.iter().map(|d| d.elbo.value).collect();
    let terms: Vec<Vec<f64>> = (0..n_fits)
        .map(|k| ratios[k].iter().zip(&weights[k]).map(|(ratio, weight)| ratio - centres[k] * weight).collect())
        .collect();
    let elbo: Vec<Estimate> = terms
        .iter()
        .zip(&centres)
        .map(|(terms, centre)| {
            let (mean, mcse) = mean(terms.iter().copied(), n);
            Estimate::new(centre + mean, mcse)
        })
        .collect();
    let best = (0..n_fits).max_by(|a, b| elbo[*a].value.total_cmp(&elbo[*b].value)).unwrap_or(0);
    let difference = (0..n_fits)
        .map(|k| {
            let (_, mcse) = mean(terms[k].iter().zip(&terms[best]).map(|(own, best)| own - best), n);
            Estimate::new(elbo[k].value - elbo[best].value, mcse)
        })
        .collect();
    Ok(Comparison { elbo, best, difference, diagnostics })
}

/// The mean of n terms and its standard error.
fn mean(terms: impl Iterator<Item = f64> + Clone, n: usize) -> (f64, f64) {
    let count = n as f64;
    let mean = terms.clone().sum::<f64>() / count;
    let squares = terms.map(|term| (term - mean) * (term - mean)).sum::<f64>();
    (mean, (squares / (count * (count - 1.0))).sqrt())
}

#[cfg(test)]
mod tests;
