//! Generated regressions. A linear one has an exact answer; for the others it is by importance sampling from a t law
//! around a fit with Hessians or, in many dimensions, the mean of corrections with other seeds.

use elinvar::chains::Correction;
use elinvar::posterior::log_density_at;
use elinvar::random::{Purpose, Stream};
use elinvar::target::{DrawBuffer, Target};
use elinvar::{Family, Plan};

use super::classes::Size;
use super::posed::{Posed, between, log_between, one_of};
use crate::problems::regressions::{generated_linear, generated_logistic, generated_poisson};
use crate::problems::{Moments, Problem};

/// Draws of the importance sampling: with half of them effective, a mean is known to 0.007 sd.
const DRAWS: usize = 40_000;
/// Up to so many coordinates it is worth it.
const MOST_WEIGHED: usize = 10;
/// Degrees of freedom of the proposal.
const DEGREES: f64 = 5.0;
/// Corrections whose mean stands for the truth beyond, each with so many gradients at most.
const CORRECTIONS: u64 = 6;

pub(super) fn linear(stream: &mut Stream) -> Posed {
    let columns = one_of(stream, &[2, 3, 5, 10, 20]);
    let rows = (columns as f64 * log_between(stream, 1.5, 10.0)).ceil() as usize + 3;
    let seed = 1_000 + u64::from(stream.below(1 << 30));
    Posed::rescaled(generated_linear(rows, columns, seed), stream)
}

pub(super) fn logistic(stream: &mut Stream, size: Size) -> Posed {
    let usual = [2, 3, 5, 10, 20, 50, 100];
    let dim = one_of(stream, if size == Size::Large { &[200, 500] } else { &usual });
    let rows = (dim as f64 * log_between(stream, 2.0, 20.0)).ceil() as usize;
    let rows = rows.min(5 * dim.max(100));
    let precision = log_between(stream, 0.1, 2.0);
    let target = generated_logistic(rows, dim, precision, 1_000 + u64::from(stream.below(1 << 30)));
    known(format!("logistic d = {dim}, {rows} rows, precision {precision:.2}"), target, stream)
}

pub(super) fn poisson(stream: &mut Stream) -> Posed {
    let dim = one_of(stream, &[2, 3, 5, 10, 20]);
    let rows = (dim as f64 * log_between(stream, 2.0, 10.0)).ceil() as usize;
    let level = between(stream, -1.0, 2.0);
    let target = generated_poisson(rows, dim, level, 1_000 + u64::from(stream.below(1 << 30)));
    known(format!("Poisson d = {dim}, {rows} rows, level {level:.1}"), target, stream)
}

fn known(name: String, target: impl Target + 'static, stream: &mut Stream) -> Posed {
    let moments = if target.dim() <= MOST_WEIGHED { weighed(&target) } else { corrected(&target) };
    let problem = Problem { name, target: Box::new(target), log_normaliser: None, moments: Some(moments) };
    Posed::rescaled(problem, stream)
}

/// Means of z and z² under weights p/t, with a multivariate t law around a Gaussian fit.
fn weighed(target: &dyn Target) -> Moments {
    let d = target.dim();
    let fit = elinvar::run::fit(target, Family::gaussian(), &Plan::default()).expect("a regression can be fitted");
    let (centre, covariance) = (fit.approximation().mean(), fit.approximation().covariance());
    let factor = cholesky(d, &covariance);
    let mut stream = Stream::open(1, Purpose::Sample, 3, 0);
    let mut draws = DrawBuffer::zeros(d, DRAWS);
    let (mut log_t, mut noise) = (Vec::with_capacity(DRAWS), vec![0.0; d]);
    for s in 0..DRAWS {
        stream.fill_normal(&mut noise);
        let stretch = (0.5 * DEGREES / stream.gamma(0.5 * DEGREES)).sqrt();
        let square: f64 = noise.iter().map(|v| v * v * stretch * stretch).sum();
        let z = draws.get_mut(s);
        for i in 0..d {
            z[i] = centre[i] + stretch * (0..=i).map(|j| factor[j * d + i] * noise[j]).sum::<f64>();
        }
        log_t.push(-0.5 * (DEGREES + d as f64) * (square / DEGREES).ln_1p());
    }
    let (log_p, _) = log_density_at(target, &draws).expect("a regression can be evaluated");
    let top = log_p.iter().zip(&log_t).map(|(p, t)| p - t).fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = log_p.iter().zip(&log_t).map(|(p, t)| (p - t - top).exp()).collect();
    let total: f64 = weights.iter().sum();
    let effective = total * total / weights.iter().map(|w| w * w).sum::<f64>();
    assert!(effective > 0.1 * DRAWS as f64, "importance sampling leaves {effective} of {DRAWS} draws");
    let average = |f: &dyn Fn(&[f64]) -> f64| {
        let terms = weights.iter().enumerate().map(|(s, w)| w * f(draws.get(s)));
        terms.sum::<f64>() / total
    };
    let mean: Vec<f64> = (0..d).map(|i| average(&|z| z[i])).collect();
    let sd = (0..d).map(|i| average(&|z| (z[i] - mean[i]).powi(2)).sqrt()).collect();
    Moments { mean, sd }
}

/// The mean of corrections with seeds of their own, of fits with Hessians.
fn corrected(target: &dyn Target) -> Moments {
    let d = target.dim();
    let mut moments = Moments { mean: vec![0.0; d], sd: vec![0.0; d] };
    for i in 0..CORRECTIONS {
        let seed = 50_000 + i;
        let mut fit = elinvar::run::fit(target, Family::gaussian(), &Plan { seed, ..Plan::default() })
            .expect("a regression can be fitted");
        let answer = fit.correct(target, &Correction { seed, ..Correction::default() }).expect("and corrected");
        for (j, number) in answer.coordinates.iter().enumerate() {
            moments.mean[j] += number.mean.value / CORRECTIONS as f64;
            moments.sd[j] += number.sd.value / CORRECTIONS as f64;
        }
    }
    moments
}

/// The lower factor of a positive definite matrix, column by column.
fn cholesky(dim: usize, matrix: &[f64]) -> Vec<f64> {
    let mut factor = vec![0.0; dim * dim];
    for j in 0..dim {
        for i in j..dim {
            let inner: f64 = (0..j).map(|k| factor[k * dim + i] * factor[k * dim + j]).sum();
            let left = matrix[j * dim + i] - inner;
            factor[j * dim + i] = if i == j { left.sqrt() } else { left / factor[j * dim + j] };
        }
    }
    factor
}
