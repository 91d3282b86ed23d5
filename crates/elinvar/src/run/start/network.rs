//! The start of a network, in the family that is asked for.

use crate::Error;
use crate::family::{Approximation, Family, Kind, by_factors};
use crate::model::NeuralNetwork;
use crate::random::{Purpose, Stream};
use crate::target::{Covariance, Target};

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
    pub fn start(&self, family: Family, seed: u64) -> Result<Approximation, Error> {
        family.check()?;
        if let Kind::Matrix { layout, .. } = family.kind {
            if layout.total() != self.dim() {
                let what = "coordinates of the layout of `matrix`";
                return Err(Error::Shape { what, expected: self.dim(), found: layout.total() });
            }
            let b = self.start_means(&mut Stream::open(seed, Purpose::Start, 0, 0));
            let precision = precisions(&self.start_widths(), Covariance::Diagonal);
            let blocks = by_factors(&b, &precision, layout, family.covariance);
            return Approximation::from_parts(family, self.dim(), blocks, vec![0.0]);
        }
        let by_locations = matches!(family.kind, Kind::RankK { .. } | Kind::Mog { .. }) || family.is_mean_variance();
        if !by_locations {
            return Err(Error::Unsupported {
                wanted: format!("the start of a network for `{family}`"),
                instead: "start `gaussian`, `student_t`, `skew`, `emg`, `nig`, `snig`, `scale_mixture`, `rank_k`, `matrix` or `mog` with so many components"
                    .into(),
            });
        }
        let widths = self.start_widths();
        let components = family.n_components();
        let block = |c: usize| {
            let mut stream = Stream::open(seed, Purpose::Start, 0, c as u32);
            let mut b = self.start_means(&mut stream);
            for _ in 1..family.n_columns() {
                b.extend(widths.iter().map(|width| 0.1 * width * stream.normal()));
            }
            (b, precisions(&widths, family.covariance))
        };
        let blocks = (0..components).map(block).collect();
        let log_weights = vec![-(components as f64).ln(); components];
        Approximation::from_parts(family, self.dim(), blocks, log_weights)
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
