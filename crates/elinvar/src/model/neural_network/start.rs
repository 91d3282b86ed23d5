//! Where a fit of a network begins: climbs to a mode from zero do not leave zero, where all units are alike.

use super::{NetworkLikelihood, NeuralNetwork};
use crate::Error;
use crate::family::{AnyApproximation, BlockState, Family, Kind, State, by_factors};
use crate::random::{Purpose, Stream};
use crate::target::Covariance;

/// Standard deviation of a weight at the start, relative to the spread of the means of its layer.
const RELATIVE_WIDTH: f64 = 0.1;

impl NeuralNetwork {
    /// A start for [`fit_from`](crate::fit_from): the means of weights are normal with variance c/fan-in (c = 2 for rectified
    /// units, 1 for tanh and outputs), biases begin at zero, and every coordinate is narrow beside its layer.
    ///
    /// The bias of a regression's output begins at the mean of the responses, log σ at the logarithm of their standard deviation.
    /// Columns besides the means (α, A) are normal and as small as the widths; components of a mixture have means of their own;
    /// `matrix` with the layout of [`NeuralNetwork::layout`] has a matrix-variate Gaussian for each layer.
    ///
    /// # Errors
    /// For a family that is not made of locations and scales of its own, and for the requests `auto`.
    pub fn start(&self, family: Family, seed: u64) -> Result<AnyApproximation, Error> {
        family.check()?;
        if let Kind::Matrix { layout, .. } = family.kind {
            if layout.total() != self.dim {
                let what = "coordinates of the layout of `matrix`";
                return Err(Error::Shape { what, expected: self.dim, found: layout.total() });
            }
            let b = self.means(&mut Stream::open(seed, Purpose::Start, 0, 0));
            let gaussian = BlockState { b, precision: precisions(&self.widths(), Covariance::Diagonal) };
            let blocks = by_factors(&gaussian, Covariance::Diagonal, layout, family.covariance);
            return AnyApproximation::from_state(&State { family, dim: self.dim, blocks, log_weights: vec![0.0] });
        }
        let by_locations = matches!(
            family.kind,
            Kind::Gaussian
                | Kind::StudentT { .. }
                | Kind::Skew
                | Kind::Emg
                | Kind::Nig { .. }
                | Kind::Snig { .. }
                | Kind::RankK { .. }
                | Kind::Mog { .. }
        );
        if !by_locations {
            return Err(Error::Unsupported {
                wanted: format!("the start of a network for `{family}`"),
                instead: "start `gaussian`, `student_t`, `skew`, `emg`, `nig`, `snig`, `rank_k`, `matrix` or `mog` with so many components"
                    .into(),
            });
        }
        let widths = self.widths();
        let components = family.n_components();
        let block = |c: usize| {
            let mut stream = Stream::open(seed, Purpose::Start, 0, c as u32);
            let mut b = self.means(&mut stream);
            for _ in 1..family.n_columns() {
                b.extend(widths.iter().map(|width| 0.1 * width * stream.normal()));
            }
            BlockState { b, precision: precisions(&widths, family.covariance) }
        };
        let blocks = (0..components).map(block).collect();
        let log_weights = vec![-(components as f64).ln(); components];
        AnyApproximation::from_state(&State { family, dim: self.dim, blocks, log_weights })
    }

    /// The spread of the means of each layer's weights.
    fn spread(&self, l: usize) -> f64 {
        let last = l + 1 == self.layers.len();
        let gain = if last { 1.0 } else { self.architecture.activation.gain() };
        // The prior has the last word where it is narrower.
        (gain / self.layers[l].fan_in as f64).min(1.0 / self.prior_precision).sqrt()
    }

    fn widths(&self) -> Vec<f64> {
        let mut widths = vec![RELATIVE_WIDTH; self.dim];
        for (l, layer) in self.layers.iter().enumerate() {
            widths[layer.range()].fill(RELATIVE_WIDTH * self.spread(l));
        }
        widths
    }

    fn means(&self, stream: &mut Stream) -> Vec<f64> {
        let mut means = vec![0.0; self.dim];
        for (l, layer) in self.layers.iter().enumerate() {
            let spread = self.spread(l);
            for unit in means[layer.range()].chunks_exact_mut(layer.n_inputs()) {
                unit[..layer.fan_in].iter_mut().for_each(|weight| *weight = spread * stream.normal());
            }
        }
        if let NetworkLikelihood::Gaussian(_) = self.likelihood {
            let n = self.y.len() as f64;
            let mean = self.y.iter().sum::<f64>() / n;
            means[self.n_weights() - 1] = mean;
            if self.likelihood.learned_noise().is_some() {
                let variance = self.y.iter().map(|y| (y - mean) * (y - mean)).sum::<f64>() / n;
                // Responses that are all alike say nothing about a scale.
                means[self.dim - 1] = if variance > 0.0 { 0.5 * variance.ln() } else { 0.0 };
            }
        }
        means
    }
}

fn precisions(widths: &[f64], covariance: Covariance) -> Vec<f64> {
    let diagonal = widths.iter().map(|width| 1.0 / (width * width));
    match covariance {
        Covariance::Diagonal => diagonal.collect(),
        Covariance::Full => {
            let mut matrix = vec![0.0; widths.len() * widths.len()];
            matrix.iter_mut().step_by(widths.len() + 1).zip(diagonal).for_each(|(entry, p)| *entry = p);
            matrix
        }
    }
}
