//! What skewness in several directions gains over skewness in one, and what it costs.

use elinvar::run::StopReason;
use elinvar::target::Target;
use elinvar::{Family, Plan};

use crate::arguments::{number, options};
use crate::families::label;
use crate::gradients_only::GradientsOnly;
use crate::page::{Table, publish};
use crate::problems::Problem;
use crate::problems::mixed::{Law, mixed};
use crate::threads;

/// Draws that a bound is estimated from.
const DRAWS: usize = 50_000;

fn problems() -> Vec<Problem> {
    let skewed = [Law::LogGamma { a: 0.8 }, Law::LogGamma { a: 1.2 }];
    let wide: Vec<Law> = skewed.into_iter().chain([Law::Normal; 8]).collect();
    vec![
        mixed("two log-gammas, d = 2", &skewed, 3.0),
        mixed("two log-gammas and eight normals, d = 10", &wide, 3.0),
        mixed("three log-gammas, d = 3", &[Law::LogGamma { a: 1.0 }; 3], 3.0),
    ]
}

fn families(dim: usize) -> Vec<Family> {
    let two = [Family::gaussian(), Family::skew(), Family::skew_k(2), Family::emg(), Family::emg_k(2)];
    two.into_iter().chain((dim == 3).then_some(Family::skew_k(3))).collect()
}

struct Reached {
    divergence: f64,
    mcse: f64,
    gradients: u64,
    hessians: u64,
    converged: bool,
}

fn fit(target: &dyn Target, log_normaliser: f64, family: Family, seed: u64, draws: usize) -> Result<Reached, String> {
    let posterior = elinvar::run::fit(target, family, &Plan { seed, ..Plan::default() }).map_err(|e| e.to_string())?;
    let elbo = posterior.importance(target, draws, 1_000).map_err(|e| e.to_string())?.diagnostics.elbo;
    let counts = posterior.counts();
    Ok(Reached {
        divergence: log_normaliser - elbo.value,
        mcse: elbo.mcse,
        gradients: counts.gradient,
        hessians: counts.hessian,
        converged: posterior.stop_reason() == StopReason::Converged,
    })
}

fn rows(table: &mut Table, problem: &Problem, seeds: usize, draws: usize) -> Result<(), String> {
    let log_normaliser = problem.log_normaliser.ok_or("a problem with a known normaliser is wanted")?;
    let whole = problem.target.as_ref();
    let bare = GradientsOnly(whole);
    for (arm, target) in [("Hessians", whole), ("gradients", &bare as &dyn Target)] {
        for family in families(whole.dim()) {
            let fits = threads::for_each(seeds, |i| fit(target, log_normaliser, family, 1 + i as u64, draws));
            let fits = fits.into_iter().collect::<Result<Vec<Reached>, String>>()?;
            let range = |f: &dyn Fn(&Reached) -> u64| {
                let values = fits.iter().map(f);
                format!("{} – {}", values.clone().min().unwrap_or(0), values.max().unwrap_or(0))
            };
            let divergences = fits.iter().map(|fit| fit.divergence);
            let (low, high) = (divergences.clone().fold(f64::MAX, f64::min), divergences.fold(f64::MIN, f64::max));
            let mcse = fits.iter().map(|fit| fit.mcse).fold(0.0, f64::max);
            table.push([
                problem.name.clone(),
                arm.into(),
                label(family),
                format!("{low:.4} – {high:.4} ± {mcse:.4}"),
                range(&|fit| fit.gradients),
                range(&|fit| fit.hessians),
                format!("{} of {seeds}", fits.iter().filter(|fit| fit.converged).count()),
            ]);
        }
    }
    Ok(())
}

const INTRODUCTION: &str = "# Skewness in several directions

Independent log-gamma variables (and normal ones), mixed by a matrix, are skewed in as many directions. KL(q‖p) in
nats of default fits, lowest and highest of the seeds with the largest Monte Carlo error, and what the fits have cost,
the search for a start included. One direction ([skew](families/skew.md), [emg](families/emg.md)) takes a part of the
skewness, several ([skew_k](families/skew_k.md), [emg_k](families/emg_k.md)) take more. *Gradients*: the target gives
no Hessians. One Hessian counts as one evaluation here, as one gradient does.

Written by `cargo xtask directions`.

";

/// `directions [--seeds N] [--draws N] [--only TEXT] [--write FILE]`
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let [seeds, draws, only, write] = options(arguments, ["--seeds", "--draws", "--only", "--write"])?;
    let (seeds, draws) = (number("--seeds", seeds.as_ref(), 3)?, number("--draws", draws.as_ref(), DRAWS)?);
    let names = ["target", "arm", "family", "KL", "gradients", "Hessians", "converged"];
    let mut table = Table::new(names);
    for problem in problems() {
        if only.as_ref().is_none_or(|text| problem.name.contains(text.as_str())) {
            rows(&mut table, &problem, seeds, draws)?;
        }
    }
    publish(&format!("{INTRODUCTION}{}", table.markdown()), write.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two directions end below one by far more than the error: 0.1 nats and more against 0.005.
    #[test]
    fn two_directions_are_nearer_than_one() {
        let problem = &problems()[0];
        let log_normaliser = problem.log_normaliser.unwrap();
        let of = |family| fit(problem.target.as_ref(), log_normaliser, family, 1, 20_000).unwrap();
        for (one, two) in [(Family::skew(), Family::skew_k(2)), (Family::emg(), Family::emg_k(2))] {
            let (one, two) = (of(one), of(two));
            assert!(two.divergence < one.divergence - 0.03, "{} against {}", two.divergence, one.divergence);
        }
    }
}
