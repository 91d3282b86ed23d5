//! The bound of a Gaussian with independent coordinates over a few fixed draws, as a height to climb: its entropy keeps
//! an ascent out of spikes.

use super::lbfgs::Height;
use super::probe::Probe;
use crate::Error;
use crate::evaluate::Point;

/// Logarithms of standard deviations stay within this.
const WIDEST: f64 = 30.0;

/// The height over (centre, log standard deviations), 2d coordinates.
pub(super) struct Spread<'p, 't> {
    probe: &'p mut Probe<'t>,
    /// Draws of N(0, I), one after the other; mirrored.
    draws: &'p [f64],
}

impl<'p, 't> Spread<'p, 't> {
    pub(super) fn new(probe: &'p mut Probe<'t>, draws: &'p [f64]) -> Self {
        Self { probe, draws }
    }
}

/// Standard deviations from their logarithms.
pub(super) fn widths(log_widths: &[f64]) -> Vec<f64> {
    log_widths.iter().map(|w| w.clamp(-WIDEST, WIDEST).exp()).collect()
}

impl Height for Spread<'_, '_> {
    fn dim(&self) -> usize {
        2 * self.probe.dim()
    }

    fn point(&mut self, z: Vec<f64>) -> Result<Option<Point>, Error> {
        let d = self.probe.dim();
        if !z.iter().all(|v| v.is_finite()) {
            return Ok(None);
        }
        let (centre, log_widths) = z.split_at(d);
        let widths = widths(log_widths);
        let n = (self.draws.len() / d) as f64;
        let mut gradient = vec![0.0; 2 * d];
        gradient[d..].fill(1.0);
        let mut height: f64 = log_widths.iter().sum();
        for e in self.draws.chunks_exact(d) {
            let x = (0..d).map(|i| centre[i] + widths[i] * e[i]).collect();
            let Some(point) = self.probe.point(x)? else { return Ok(None) };
            height += point.log_p / n;
            for i in 0..d {
                gradient[i] += point.gradient[i] / n;
                gradient[d + i] += point.gradient[i] * e[i] * widths[i] / n;
            }
        }
        Ok(Some(Point { z, log_p: height, gradient }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::Evaluator;
    use crate::model::Banana;

    #[test]
    fn the_slope_is_that_of_the_height() {
        let banana = Banana::default();
        let mut probe = Probe::new(Evaluator::new(&banana, None));
        let draws = [0.3, -1.2, -0.3, 1.2];
        let mut spread = Spread::new(&mut probe, &draws);
        let at = vec![0.4, -0.2, -0.7, 0.1];
        let here = spread.point(at.clone()).unwrap().unwrap();
        for i in 0..4 {
            let mut height = |sign: f64| {
                let mut z = at.clone();
                z[i] += sign * 1e-5;
                spread.point(z).unwrap().unwrap().log_p
            };
            let slope = (height(1.0) - height(-1.0)) / 2e-5;
            assert!((slope - here.gradient[i]).abs() < 1e-6 * (1.0 + slope.abs()));
        }
    }
}
