//! A model some of whose coefficients have Student-t priors of their own, which are no part of what is declared.

use elinvar::target::{About, Answer, Ask, Covariance, Offers, Target, TargetError, Want};

use super::Model;
use super::around::Around;
use crate::prior::Tail;

/// The model with Σ log t(z_i) added to its log density, 1/N of it in each row.
pub(super) struct WithTails {
    inner: Box<dyn Model>,
    tails: Vec<Tail>,
}

impl WithTails {
    /// The model with these tails, or as it is if there are none.
    pub(super) fn where_given(inner: Box<dyn Model>, tails: Vec<Tail>) -> Box<dyn Model> {
        if tails.is_empty() { inner } else { Box::new(Self { inner, tails }) }
    }
}

/// log density of a scaled t at z, and its first two derivatives.
fn log_t(tail: &Tail, z: f64) -> [f64; 3] {
    let Tail { df, mean, scale, .. } = *tail;
    let r = (z - mean) / scale;
    let u = 1.0 / (df + r * r);
    let normaliser = libm::lgamma(0.5 * (df + 1.0)) - libm::lgamma(0.5 * df) - 0.5 * (std::f64::consts::PI * df).ln();
    let value = normaliser - scale.ln() - 0.5 * (df + 1.0) * (r * r / df).ln_1p();
    [value, -(df + 1.0) * r * u / scale, (df + 1.0) * (r * r - df) * u * u / (scale * scale)]
}

impl Target for WithTails {
    fn about(&self) -> About {
        let about = self.inner.target().about();
        let offers = Offers { gaussian_expectation: false, item_gradients: false, ..about.offers };
        About { offers, ..about }
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        self.inner.target().evaluate(ask, answer)?;
        let about = self.inner.target().about();
        let share = about.n_rows.map_or(1.0, |n| ask.rows.len(n) as f64 / n as f64);
        let (contraction, d) = (ask.contraction(), ask.draws.dim());
        let mut parts = answer.parts_mut();
        for (s, z) in ask.draws.iter().enumerate() {
            for tail in &self.tails {
                let [value, slope, curvature] = log_t(tail, z[tail.coordinate]);
                parts.log_p[s] += share * value;
                if !matches!(ask.want, Want::Values) {
                    parts.grad[s * d + tail.coordinate] += share * slope;
                }
                let Some(contraction) = contraction else { continue };
                let shape = parts.curvature.covariance();
                let stride = if shape == Covariance::Full { d + 1 } else { 1 };
                let entries = parts.curvature.as_mut_slice();
                for (k, weight) in contraction.of_draw(s).filter(|(_, weight)| *weight != 0.0) {
                    entries[k * shape.n_entries(d) + stride * tail.coordinate] += weight * share * curvature;
                }
            }
        }
        Ok(())
    }
}

impl Around for WithTails {
    fn inner(&self) -> &dyn Model {
        &*self.inner
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_density_has_mass_one_and_its_derivatives_are_differences() {
        let tail = Tail { coordinate: 0, df: 4.0, mean: 1.0, scale: 0.5 };
        let (step, h) = (0.01, 1e-5);
        let mass: f64 = (-200_000..200_000).map(|i| log_t(&tail, f64::from(i) * step)[0].exp() * step).sum();
        assert!((mass - 1.0).abs() < 1e-9, "{mass}");
        for z in [-2.0, 0.9, 3.0] {
            let [_, slope, curvature] = log_t(&tail, z);
            let [low, high] = [z - h, z + h].map(|z| log_t(&tail, z));
            assert!(((high[0] - low[0]) / (2.0 * h) - slope).abs() < 1e-8);
            assert!(((high[1] - low[1]) / (2.0 * h) - curvature).abs() < 1e-7);
        }
    }
}
