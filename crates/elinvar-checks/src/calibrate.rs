//! Whether the verdict of a fit agrees with the truth.

use elinvar::{Family, Plan, Posterior};

use crate::arguments::{number, options};
use crate::families::label;
use crate::page::{Table, publish};
use crate::pairs::{Pairs, all};
use crate::problems::Problem;
use crate::threads;
use crate::truth::Errors;

/// Draws that a verdict rests on.
const JUDGED_BY: usize = 4_000;

/// What a fit says of itself, and what is true.
struct Judged {
    converged: bool,
    k_hat: Option<f64>,
    k_threshold: f64,
    gap: f64,
    effective: f64,
    dropped: f64,
    shift_mean: f64,
    shift_sd: f64,
    gradients: u64,
    seconds: f64,
    errors: Option<Errors>,
}

fn shifts(
    posterior: &Posterior,
    problem: &Problem,
    seed: u64,
) -> Result<(elinvar::posterior::Diagnostics, f64, f64), String> {
    let weighted = posterior.importance(problem.target.as_ref(), JUDGED_BY, seed).map_err(|e| e.to_string())?;
    let d = posterior.dim();
    let n = weighted.draws.len() as f64;
    let (mut worst_mean, mut worst_sd) = (0.0f64, 0.0f64);
    for i in 0..d {
        let (mut q, mut p) = ([0.0; 2], [0.0; 2]);
        for (z, w) in weighted.draws.view().iter().zip(&weighted.log_weights) {
            let w = w.exp();
            q[0] += z[i] / n;
            p[0] += z[i] * w;
        }
        for (z, w) in weighted.draws.view().iter().zip(&weighted.log_weights) {
            q[1] += (z[i] - q[0]).powi(2) / n;
            p[1] += (z[i] - p[0]).powi(2) * w.exp();
        }
        worst_mean = worst_mean.max((p[0] - q[0]).abs() / q[1].sqrt());
        worst_sd = worst_sd.max((0.5 * (p[1] / q[1]).ln()).abs());
    }
    Ok((weighted.diagnostics, worst_mean, worst_sd))
}

fn judge(problem: &Problem, family: Family, seed: u64) -> Result<Judged, String> {
    let plan = Plan { seed, ..Plan::default() };
    let posterior = elinvar::fit(problem.target.as_ref(), family, &plan).map_err(|e| e.to_string())?;
    let errors = problem.moments.as_ref().map(|truth| Errors::of(&posterior, truth));
    let (diagnostics, shift_mean, shift_sd) = shifts(&posterior, problem, 7_000 + seed)?;
    Ok(Judged {
        converged: posterior.converged(),
        k_hat: diagnostics.pareto_k,
        k_threshold: diagnostics.pareto_k_threshold,
        gap: diagnostics.log_normaliser.value - diagnostics.elbo.value,
        effective: diagnostics.effective_sample_size / JUDGED_BY as f64,
        dropped: diagnostics.dropped as f64 / JUDGED_BY as f64,
        shift_mean,
        shift_sd,
        gradients: posterior.counts().gradient,
        seconds: posterior.seconds(),
        errors,
    })
}

fn raw(pairs: &[Pairs], seeds: usize) -> String {
    let mut out = String::from(
        "problem\tfamily\tseed\tconv\tkhat\tkthr\tgap\tess\tdropped\tshift_mean\tshift_sd\tgrads\tsec\terr_mean\tsd_ratio\tgood\n",
    );
    for Pairs { problem, families } in pairs {
        for family in families {
            let fits = threads::for_each(seeds, |i| judge(problem, *family, 1 + i as u64));
            for (i, fit) in fits.iter().enumerate() {
                let head = format!("{}\t{}\t{}", problem.name, label(*family), i + 1);
                let line = match fit {
                    Ok(f) => {
                        let (m, r, g) =
                            f.errors.map_or((f64::NAN, f64::NAN, false), |e| (e.mean, e.sd_ratio, e.good()));
                        format!(
                            "{head}\t{}\t{:.2}\t{:.2}\t{:.3}\t{:.3}\t{:.2}\t{:.3}\t{:.3}\t{}\t{:.2}\t{m:.3}\t{r:.3}\t{g}",
                            f.converged,
                            f.k_hat.unwrap_or(9.0),
                            f.k_threshold,
                            f.gap,
                            f.effective,
                            f.dropped,
                            f.shift_mean,
                            f.shift_sd,
                            f.gradients,
                            f.seconds
                        )
                    }
                    Err(e) => format!("{head}\terror: {e}"),
                };
                eprintln!("{line}");
                out += &line;
                out.push('\n');
            }
        }
    }
    out
}

/// `calibrate`
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let [seeds, only, write] = options(arguments, ["--seeds", "--only", "--write"])?;
    let seeds = number("--seeds", seeds.as_ref(), 2)?;
    let mut pairs = all();
    if let Some(text) = only {
        pairs.retain(|pairs| pairs.problem.name.contains(&text));
    }
    let _ = Table::new(["a"]);
    publish(&raw(&pairs, seeds), write.as_ref())
}
