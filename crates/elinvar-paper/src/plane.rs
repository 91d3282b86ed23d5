//! Posteriors of two parameters, exactly: by the trapezium rule on a grid that holds all of their mass.

use elinvar::family::Approximation;
use elinvar::target::{Answer, Ask, DrawBuffer, Draws, Target, Want};

use crate::Error;

/// log p at a point, unnormalised; for figures, NaN where the target cannot be evaluated.
pub(crate) fn log_density(target: &dyn Target, z: [f64; 2]) -> f64 {
    let mut out = Answer::new(2, 1);
    match target.evaluate(&Ask::all(Draws::new(2, &z), Want::Gradients), &mut out) {
        Ok(()) => out.log_p()[0] + target.about().prior.log_density(&z),
        Err(_) => f64::NAN,
    }
}

/// Values of log p on a grid and what follows from them.
pub(crate) struct Plane {
    low: [f64; 2],
    step: [f64; 2],
    n: usize,
    log_p: Vec<f64>,
    /// log ∫p.
    pub(crate) log_normaliser: f64,
}

impl Plane {
    /// The target, unnormalised, on n × n points; the box must hold its mass and that of its approximations.
    pub(crate) fn of(target: &dyn Target, low: [f64; 2], high: [f64; 2], n: usize) -> Result<Self, Error> {
        let step = [0, 1].map(|i| (high[i] - low[i]) / (n - 1) as f64);
        let (mut draws, mut out) = (DrawBuffer::zeros(2, n), Answer::new(2, n));
        let prior = target.about().prior;
        let mut log_p = Vec::with_capacity(n * n);
        for i in 0..n {
            for j in 0..n {
                draws.get_mut(j).copy_from_slice(&[low[0] + step[0] * i as f64, low[1] + step[1] * j as f64]);
            }
            target.evaluate(&Ask::all(draws.view(), Want::Gradients), &mut out).map_err(elinvar::Error::from)?;
            log_p.extend(draws.view().iter().zip(out.log_p()).map(|(z, value)| value + prior.log_density(z)));
        }
        let largest = log_p.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = log_p.iter().map(|value| (value - largest).exp()).sum();
        let log_normaliser = largest + (total * step[0] * step[1]).ln();
        Ok(Self { low, step, n, log_p, log_normaliser })
    }

    fn points(&self) -> impl Iterator<Item = ([f64; 2], f64)> {
        self.log_p.iter().enumerate().map(|(e, log_p)| {
            let (i, j) = ((e / self.n) as f64, (e % self.n) as f64);
            ([self.low[0] + self.step[0] * i, self.low[1] + self.step[1] * j], *log_p)
        })
    }

    /// The lower bound of the log normaliser that q gives, E_q[log p − log q]; q must lie in the box.
    pub(crate) fn elbo(&self, q: &Approximation) -> f64 {
        self.elbo_within(q).expect("the box holds the approximation")
    }

    /// The same, if the box holds all but a thousandth of q.
    pub(crate) fn elbo_within(&self, q: &Approximation) -> Option<f64> {
        let (mut sum, mut mass) = (0.0, 0.0);
        for (z, log_p) in self.points() {
            let log_q = q.log_density(&z);
            // What is that rare adds nothing.
            if log_q > -80.0 {
                sum += log_q.exp() * (log_p - log_q);
                mass += log_q.exp();
            }
        }
        let is_inside = (mass * self.step[0] * self.step[1] - 1.0).abs() < 1e-3;
        is_inside.then_some(sum / mass)
    }

    /// KL(q‖p).
    pub(crate) fn kl(&self, q: &Approximation) -> f64 {
        self.log_normaliser - self.elbo(q)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elinvar::Family;
    use elinvar::family::Approximation;
    use elinvar::model::GaussianMixture;

    fn gaussian(mean: [f64; 2], precision: f64) -> Approximation {
        let block = (mean.to_vec(), vec![precision, 0.0, 0.0, precision]);
        let state = Approximation::from_parts(Family::gaussian(), 2, vec![block], vec![0.0]);
        state.unwrap()
    }

    #[test]
    fn a_divergence_between_gaussians_is_the_known_one() {
        let target = GaussianMixture::isotropic(2, vec![0.5, -1.0]).unwrap();
        let plane = Plane::of(&target, [-12.0; 2], [12.0; 2], 241).unwrap();
        assert!(plane.log_normaliser.abs() < 1e-12);
        let q = gaussian([0.0, 0.0], 2.0);
        // ½(tr Σ + |μ|² − d − log|Σ|) with Σ = ½I.
        let expected = 0.5 * (1.0 + 1.25 - 2.0 + 2.0 * 2f64.ln());
        assert!((plane.kl(&q) - expected).abs() < 1e-9, "{}", plane.kl(&q));
    }
}
