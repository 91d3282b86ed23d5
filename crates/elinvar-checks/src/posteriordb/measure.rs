//! One fit, compared with the reference.

use elinvar::posterior::GivenBy;
use elinvar::run::{Counts, StopReason};
use elinvar::target::Draws;
use elinvar::{Family, Plan};

use super::problem::Problem;
use super::reference::Reference;

/// Draws of q behind its means and standard deviations: their Monte Carlo error is 0.007 and 0.005 where the bounds are
/// 0.1.
const N_DRAWS: usize = 20_000;
/// Draws behind k̂ and the importance-weighted means.
const N_WEIGHTED: usize = 10_000;

/// How far the moments of one parameter are off.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Errors {
    /// |mean − reference mean| / reference sd.
    pub(crate) mean: f64,
    /// |log(sd / reference sd)|.
    pub(crate) log_sd: f64,
}

/// What a fit was like.
pub(crate) struct Fit {
    /// The family that was fitted.
    pub(crate) family: String,
    /// Errors of each parameter of the reference.
    pub(crate) errors: Vec<Errors>,
    /// The same of the approximation as it is.
    pub(crate) approximation: Vec<Errors>,
    /// Two Monte Carlo errors of the states of chains, of a mean in sds and of a log sd; nothing for other answers.
    pub(crate) noise: Errors,
    /// Where the answer comes from.
    pub(crate) given_by: &'static str,
    /// Evaluations of the fit.
    pub(crate) counts: Counts,
    /// k̂, if the draws say anything about it.
    pub(crate) pareto_k: Option<f64>,
    /// Why the fit ended.
    pub(crate) stop_reason: StopReason,
    /// Seconds it took.
    pub(crate) seconds: f64,
    /// Number of steps.
    pub(crate) steps: usize,
    /// ELBO and log normaliser from fresh draws.
    pub(crate) elbo: f64,
    /// Importance estimate of the log normaliser.
    pub(crate) log_normaliser: f64,
}

impl Fit {
    /// Fits `family` with the default plan and this seed.
    pub(crate) fn run(problem: &Problem, reference: &Reference, family: Family, seed: u64) -> Result<Self, String> {
        let plan = Plan { seed, ..Plan::default() };
        let posterior = elinvar::run::fit(&*problem.target, family, &plan).map_err(|e| e.to_string())?;
        let weighted = posterior.importance(&*problem.target, N_WEIGHTED, seed).map_err(|e| e.to_string())?;
        let weights: Vec<f64> = weighted.log_weights.iter().map(|w| w.exp()).collect();
        let errors = match (posterior.corrected(), posterior.given_by()) {
            (Some(chains), _) => compare(problem, reference, chains.draws(chains.n_states()).view(), &[])?,
            (None, GivenBy::Weights) => compare(problem, reference, weighted.draws.view(), &weights)?,
            _ => compare(problem, reference, posterior.sample_z(N_DRAWS, seed).view(), &[])?,
        };
        let noise = posterior.corrected().map_or(Errors::default(), |chains| {
            let error = 2.0 / chains.effective_states.sqrt();
            Errors { mean: error, log_sd: error / 2f64.sqrt() }
        });
        Ok(Self {
            noise,
            family: posterior.family().to_string(),
            errors,
            approximation: compare(problem, reference, posterior.sample_z(N_DRAWS, seed).view(), &[])?,
            given_by: posterior.given_by().name(),
            counts: posterior.counts(),
            pareto_k: weighted.diagnostics.pareto_k,
            stop_reason: posterior.stop_reason(),
            seconds: posterior.seconds(),
            steps: posterior.trace().len(),
            elbo: weighted.diagnostics.elbo.value,
            log_normaliser: weighted.diagnostics.log_normaliser.value,
        })
    }

    /// Whether the fit ended because nothing was left to gain.
    pub(crate) fn converged(&self) -> bool {
        self.stop_reason == StopReason::Converged
    }
}

/// Moments of draws of z, equally weighted if there are no weights, against those of the reference.
fn compare(problem: &Problem, reference: &Reference, draws: Draws<'_>, weights: &[f64]) -> Result<Vec<Errors>, String> {
    let n = reference.names.len();
    let (mut total, mut mean, mut squares) = (0.0, vec![0.0; n], vec![0.0; n]);
    let mut x = vec![0.0; n];
    for (s, z) in draws.iter().enumerate() {
        let weight = weights.get(s).copied().unwrap_or(1.0);
        if weight == 0.0 || !problem.parameters(z, &mut x) {
            continue;
        }
        total += weight;
        for ((mean, squares), x) in mean.iter_mut().zip(&mut squares).zip(&x) {
            let step = x - *mean;
            *mean += step * weight / total;
            *squares += weight * step * (x - *mean);
        }
    }
    if total == 0.0 {
        return Err("no draw has parameters".to_owned());
    }
    Ok((0..n)
        .map(|i| {
            let sd = (squares[i] / total).sqrt();
            Errors {
                mean: (mean[i] - reference.mean[i]).abs() / reference.sd[i],
                log_sd: (sd / reference.sd[i]).ln().abs(),
            }
        })
        .collect())
}
