//! Pareto-smoothed importance sampling: how far an approximation is from its target, seen through log p − log q.
//!
//! A. Vehtari, D. Simpson, A. Gelman, Y. Yao, J. Gabry, Pareto smoothed importance sampling, JMLR 25 (2024); the fit of
//! the generalised Pareto distribution is that of J. Zhang and M. A. Stephens, Technometrics 51 (2009).

use crate::Error;
use crate::random::Stream;
use crate::special::order;

/// Fewer draws than this say nothing about the tail of the ratios.
const MIN_DRAWS: usize = 25;
/// A fit needs at least this many ratios above the cutoff.
const MIN_TAIL: usize = 5;
/// Log ratios that all lie within this distance make equal weights; what is left of a tail may be rounding of log p.
const ROUNDING: f64 = 1e-8;

/// Importance weights whose largest values were replaced by the quantiles of a fitted generalised Pareto distribution.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Smoothed {
    /// Logarithms of the weights, which sum to one, in the order of the draws.
    pub log_weights: Vec<f64>,
    /// k̂, the estimated shape of the tail: ratios have finite moments up to order 1/k.
    ///
    /// `None`: it cannot be estimated, because there are fewer than 25 draws, or fewer than 5 of them above the cutoff
    /// because the largest ratios are tied. 0: all log ratios are equal within 1e-8, so that there is no tail at all.
    /// +∞: fewer than 5 draws have a weight that is not negligible beside the largest. (The Python package arviz says
    /// +∞ in all three cases.) The weights are not smoothed in these cases.
    pub pareto_k: Option<f64>,
    /// The distribution that was fitted to the tail; `None` where the weights are not smoothed.
    pub tail: Option<ParetoTail>,
    /// Number of draws whose weights were smoothed.
    pub tail_len: usize,
    /// 1 / Σ w², the number of draws from the target that are worth as much.
    pub effective_sample_size: f64,
}

/// A generalised Pareto distribution of what the largest ratios exceed a cutoff by, in units of the largest ratio r of
/// all.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ParetoTail {
    /// Its shape k̂.
    pub shape: f64,
    /// Its scale σ: a share (1 + k̂ x/σ)^(−1/k̂) of the ratios above the cutoff exceeds it by x r or more.
    pub scale: f64,
    /// Logarithm of the cutoff over r.
    pub log_cutoff: f64,
    /// Number of ratios above the cutoff.
    pub len: usize,
}

/// The largest k̂ with which estimates from n draws can be trusted: min(1 − 1/log₁₀ n, 0.7).
pub fn pareto_k_threshold(n: usize) -> f64 {
    (1.0 - 1.0 / (n as f64).log10()).min(0.7)
}

/// Normalised importance weights from log ratios log p(z) − log q(z), up to a constant, with a smoothed tail.
///
/// A ratio of −∞ is a draw of weight zero.
///
/// ```
/// use elinvar::research::posterior::pareto_smooth;
///
/// let log_ratios: Vec<f64> = (0..1000).map(|i| (f64::from(i) * 0.7).sin()).collect();
/// let smoothed = pareto_smooth(&log_ratios)?;
/// assert!(smoothed.pareto_k.is_some_and(|k| k < 0.5));
/// # Ok::<(), elinvar::Error>(())
/// ```
///
/// # Errors
/// [`Error::Domain`] if a ratio is NaN or +∞ or all are −∞; [`Error::Shape`] if there is none.
pub fn pareto_smooth(log_ratios: &[f64]) -> Result<Smoothed, Error> {
    let largest = largest(log_ratios)?;
    let n = log_ratios.len();
    let mut x: Vec<f64> = log_ratios.iter().map(|r| r - largest).collect();
    let smallest = x.iter().copied().fold(0.0, f64::min);
    let (pareto_k, tail) = if n < MIN_DRAWS {
        (None, None)
    } else if -smallest <= ROUNDING {
        (Some(0.0), None)
    } else {
        smooth_tail(&mut x)
    };
    let log_total = x.iter().map(|x| x.exp()).sum::<f64>().ln();
    x.iter_mut().for_each(|x| *x -= log_total);
    let effective_sample_size = 1.0 / x.iter().map(|x| (2.0 * x).exp()).sum::<f64>();
    let tail_len = tail.map_or(0, |tail: ParetoTail| tail.len);
    Ok(Smoothed { log_weights: x, pareto_k, tail, tail_len, effective_sample_size })
}

/// Replaces the largest of log ratios whose maximum is 0; returns k̂ and what was fitted to them.
fn smooth_tail(x: &mut [f64]) -> (Option<f64>, Option<ParetoTail>) {
    let n = x.len();
    let wanted = (0.2 * n as f64).min(3.0 * (n as f64).sqrt()).ceil() as usize;
    let mut order: Vec<usize> = (0..n).collect();
    order::ascending(&mut order, |i| x[*i]);
    let (representable, last_of_body) = (f64::MIN_POSITIVE.ln(), x[order[n - wanted - 1]]);
    let cutoff = last_of_body.max(representable);
    let tail = &order[order.partition_point(|&i| x[i] <= cutoff)..];
    if tail.len() < MIN_TAIL {
        return ((last_of_body < representable).then_some(f64::INFINITY), None);
    }
    // e^c (e^{x−c} − 1), not eˣ − e^c: positive even where the ratios are nearly equal.
    let base = cutoff.exp();
    let excess: Vec<f64> = tail.iter().map(|&i| base * (x[i] - cutoff).exp_m1()).collect();
    let Some(fit) = GeneralisedPareto::fit(&excess) else { return (Some(f64::INFINITY), None) };
    for (rank, &i) in tail.iter().enumerate() {
        let quantile = fit.quantile((rank as f64 + 0.5) / tail.len() as f64);
        x[i] = (quantile + base).ln().min(0.0);
    }
    let tail = ParetoTail { shape: fit.k, scale: fit.sigma, log_cutoff: cutoff, len: tail.len() };
    (Some(fit.k), Some(tail))
}

/// The distribution on x > 0 with 1 − F(x) = (1 + k x/σ)^(−1/k).
#[derive(Clone, Copy, Debug)]
struct GeneralisedPareto {
    k: f64,
    sigma: f64,
}

impl GeneralisedPareto {
    /// Fits increasing positive numbers; `None` if their scale is not representable.
    ///
    /// With θ = −k/σ the profile likelihood has k(θ) = mean log(1 − θ xᵢ); θ is averaged over a fixed set of points
    /// under its likelihood and the prior of Zhang and Stephens. k̂ is then pulled towards ½ as if ten more
    /// observations said so.
    fn fit(x: &[f64]) -> Option<Self> {
        let n = x.len() as f64;
        let profile = |theta: f64| x.iter().map(|x| (-theta * x).ln_1p()).sum::<f64>() / n;
        let mean = x.iter().sum::<f64>() / n;
        // σ = −k/θ; θ = 0 is the exponential distribution.
        let scale = |theta: f64, k: f64| if theta == 0.0 { mean } else { -k / theta };
        let quartile = x[(n / 4.0 + 0.5) as usize - 1];
        let points = 30 + n.sqrt() as usize;
        let mut candidates: Vec<(f64, f64)> = (1..=points)
            .map(|j| {
                let spread = 1.0 - (points as f64 / (j as f64 - 0.5)).sqrt();
                let theta = 1.0 / x[x.len() - 1] + spread / (3.0 * quartile);
                let k = profile(theta);
                (theta, -n * (scale(theta, k).ln() + k + 1.0))
            })
            .collect();
        let top = candidates.iter().map(|c| c.1).fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = candidates.iter().map(|c| (c.1 - top).exp()).sum();
        candidates.iter_mut().for_each(|c| c.1 = (c.1 - top).exp() / total);
        // Points of negligible weight are far out: their θ would be multiplied by rounding noise.
        candidates.retain(|c| c.1 >= 10.0 * f64::EPSILON);
        let kept: f64 = candidates.iter().map(|c| c.1).sum();
        let theta = candidates.iter().map(|c| c.0 * c.1).sum::<f64>() / kept;
        let k = profile(theta);
        let sigma = scale(theta, k);
        let k = (n * k + 5.0) / (n + 10.0);
        (k.is_finite() && sigma.is_finite() && sigma > 0.0).then_some(Self { k, sigma })
    }

    /// F⁻¹(p).
    fn quantile(&self, p: f64) -> f64 {
        let exponential = -(-p).ln_1p();
        if self.k.abs() < f64::EPSILON {
            self.sigma * exponential
        } else {
            self.sigma * (self.k * exponential).exp_m1() / self.k
        }
    }
}

/// An estimate of log E exp x with its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LogMeanExp {
    /// log (1/n) Σ exp xᵢ.
    pub value: f64,
    /// Its standard error by the delta method, sd(eˣ) / (√n mean(eˣ)); infinite for a single draw.
    ///
    /// If the tail of eˣ is heavy (k̂ above ½) the true error is larger than this says.
    pub standard_error: f64,
}

/// Estimates log Z = log E_q[p/q] from the log ratios log p(z) − log q(z) of draws from q, without smoothing.
///
/// # Errors
/// As [`pareto_smooth`].
pub(crate) fn log_mean_exp(log_ratios: &[f64]) -> Result<LogMeanExp, Error> {
    let largest = largest(log_ratios)?;
    let n = log_ratios.len() as f64;
    let ratios = || log_ratios.iter().map(|r| (r - largest).exp());
    let mean = ratios().sum::<f64>() / n;
    let standard_error = if log_ratios.len() == 1 {
        f64::INFINITY
    } else {
        (ratios().map(|r| (r - mean).powi(2)).sum::<f64>() / (n * (n - 1.0))).sqrt() / mean
    };
    Ok(LogMeanExp { value: largest + mean.ln(), standard_error })
}

/// Draws n indices with the given normalised log weights by systematic resampling, in increasing order.
///
/// Index i appears ⌊n wᵢ⌋ or ⌈n wᵢ⌉ times, on average n wᵢ times.
pub fn resample(log_weights: &[f64], n: usize, stream: &mut Stream) -> Vec<usize> {
    let weights = || log_weights.iter().map(|w| w.exp()).enumerate().filter(|(_, w)| *w > 0.0);
    let total: f64 = weights().map(|(_, w)| w).sum();
    let mut rest = weights();
    let Some((mut index, mut reached)) = rest.next() else { return Vec::new() };
    let offset = stream.uniform();
    let mut chosen = Vec::with_capacity(n);
    for i in 0..n {
        let place = (i as f64 + offset) / n as f64 * total;
        while place >= reached {
            // Rounding may leave the last place above the last sum.
            let Some((next, w)) = rest.next() else { break };
            index = next;
            reached += w;
        }
        chosen.push(index);
    }
    chosen
}

/// Draws n different indices, one after the other with probabilities proportional to the weights of those left.
///
/// All indices of positive weight if there are fewer than n. With heavy tails this keeps one draw from being repeated
/// many times, at the price of a bias.
pub fn resample_distinct(log_weights: &[f64], n: usize, stream: &mut Stream) -> Vec<usize> {
    // The order of log w + Gumbel noise is that of successive sampling.
    let mut keys: Vec<(f64, usize)> = log_weights
        .iter()
        .map(|w| w - (-stream.uniform().ln()).ln())
        .enumerate()
        .filter(|(_, key)| *key > f64::NEG_INFINITY)
        .map(|(i, key)| (key, i))
        .collect();
    order::descending(&mut keys, |item| item.0);
    keys.into_iter().take(n).map(|(_, i)| i).collect()
}

/// The largest of log ratios that are finite or −∞, with at least one finite.
fn largest(log_ratios: &[f64]) -> Result<f64, Error> {
    if log_ratios.is_empty() {
        return Err(Error::Shape { what: "log ratios", expected: 1, found: 0 });
    }
    let wrong = |value, reason| Err(Error::Domain { parameter: "log ratio", value, reason });
    if let Some(&bad) = log_ratios.iter().find(|r| r.is_nan() || **r == f64::INFINITY) {
        return wrong(bad, "it must be finite, or −∞ for a draw of weight zero");
    }
    let largest = log_ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY { wrong(largest, "at least one must be finite") } else { Ok(largest) }
}

#[cfg(test)]
mod tests;
