//! Bayesian neural networks: fully connected layers, all weights with a normal prior.

mod architecture;
mod block;
mod curvature;
mod evaluate;
mod likelihood;
mod pass;
mod predict;
mod start;

pub use architecture::{Activation, Architecture};
pub use likelihood::{NetworkLikelihood, NetworkNoise};
pub use predict::Predictions;

use architecture::Layer;

use super::DesignMatrix;
use super::glm::check_precision;
use crate::Error;

/// A fully connected network f(x; z) with the prior z ~ N(0, I/δ) on all weights and biases (mathematics §9.1).
///
/// The weights of layer l are a (fan-in + 1) × fan-out matrix with one unit per column and the biases as its last row;
/// z stacks the columns, layer after layer, as a matrix-variate Gaussian per layer wants them. Where the noise of a
/// regression is learned, log σ is the last coordinate. Features are taken as they are: standardise them first.
///
/// ```
/// use elinvar::model::{Activation, Architecture, DesignMatrix, NeuralNetwork};
/// use elinvar::research::target::Target;
///
/// let x = DesignMatrix::new(vec![-1.0, 0.5, 2.0], 1, vec!["dose".into()])?;
/// let architecture = Architecture { hidden: vec![2], activation: Activation::Tanh };
/// let model = NeuralNetwork::regression(x, vec![0.1, 0.2, 0.9], architecture, 1.0)?;
/// assert_eq!(model.layout(), [[2, 2], [3, 1], [1, 1]]);
/// assert_eq!(model.about().names[..4], ["w1[1,1]", "b1[1]", "w1[1,2]", "b1[2]"]);
/// # Ok::<(), elinvar::Error>(())
/// ```
///
/// Paper: §6.
#[derive(Clone, Debug)]
pub struct NeuralNetwork {
    x: DesignMatrix,
    /// Responses; labels are −1 and +1 for two classes, class numbers for more.
    y: Vec<f64>,
    architecture: Architecture,
    layers: Vec<Layer>,
    likelihood: NetworkLikelihood,
    prior_precision: f64,
    dim: usize,
}

impl NeuralNetwork {
    /// The model y_n ~ N(f(x_n; z), σ²) with σ learned under a half-Cauchy(0, 1) prior.
    ///
    /// # Errors
    /// If the number of responses is not the number of rows, a response is not finite, a layer has no unit or δ is not
    /// positive.
    pub fn regression(
        x: DesignMatrix,
        y: Vec<f64>,
        architecture: Architecture,
        prior_precision: f64,
    ) -> Result<Self, Error> {
        if let Some(i) = y.iter().position(|v| !v.is_finite()) {
            return Err(Error::Data {
                place: format!("response of row {}", i + 1),
                problem: format!("{} is not a finite number", y[i]),
            });
        }
        let noise = NetworkNoise::Learned { prior: super::NoisePrior::HalfCauchy { scale: 1.0 } };
        Self::build(x, y, architecture, NetworkLikelihood::Gaussian(noise), prior_precision)
    }

    /// The model for labels 0 and 1, p(1) = σ(f(x; z)).
    ///
    /// # Errors
    /// If the number of labels is not the number of rows, a label is neither 0 nor 1, a layer has no unit or δ is not
    /// positive.
    pub fn binary(
        x: DesignMatrix,
        labels: Vec<f64>,
        architecture: Architecture,
        prior_precision: f64,
    ) -> Result<Self, Error> {
        check_classes(&labels, 2)?;
        let y = labels.into_iter().map(|label| 2.0 * label - 1.0).collect();
        Self::build(x, y, architecture, NetworkLikelihood::Bernoulli, prior_precision)
    }

    /// The model for classes 0 … `classes` − 1, p = soft-max(f(x; z)) with one output per class.
    ///
    /// # Errors
    /// If there are fewer than two classes, the number of labels is not the number of rows, a label is no class, a
    /// layer has no unit or δ is not positive.
    pub fn multiclass(
        x: DesignMatrix,
        labels: Vec<f64>,
        classes: usize,
        architecture: Architecture,
        prior_precision: f64,
    ) -> Result<Self, Error> {
        if classes < 2 {
            let reason = "a classification has at least two classes";
            return Err(Error::Domain { parameter: "classes", value: classes as f64, reason });
        }
        check_classes(&labels, classes)?;
        Self::build(x, labels, architecture, NetworkLikelihood::Categorical { classes }, prior_precision)
    }

    fn build(
        x: DesignMatrix,
        y: Vec<f64>,
        architecture: Architecture,
        likelihood: NetworkLikelihood,
        prior_precision: f64,
    ) -> Result<Self, Error> {
        if y.len() != x.n_rows() {
            return Err(Error::Shape { what: "responses (one per row)", expected: x.n_rows(), found: y.len() });
        }
        check_precision(prior_precision)?;
        let layers = architecture.layers(x.n_cols(), likelihood.n_outputs())?;
        let mut model = Self { x, y, architecture, layers, likelihood, prior_precision, dim: 0 };
        model.dim = model.n_weights() + usize::from(likelihood.learned_noise().is_some());
        Ok(model)
    }

    /// The same regression with another noise.
    ///
    /// # Errors
    /// If its constants are not in their domain, or the model is a classification.
    pub fn with_noise(mut self, noise: NetworkNoise) -> Result<Self, Error> {
        noise.check()?;
        if !matches!(self.likelihood, NetworkLikelihood::Gaussian(_)) {
            return Err(Error::Unsupported {
                wanted: "a noise level for a classification".into(),
                instead: "only `NeuralNetwork::regression` has one".into(),
            });
        }
        self.likelihood = NetworkLikelihood::Gaussian(noise);
        self.dim = self.n_weights() + usize::from(self.likelihood.learned_noise().is_some());
        Ok(self)
    }

    /// The shapes of the matrices that z stacks: (fan-in + 1) × fan-out of each layer, then 1 × 1 for log σ where it is
    /// learned.
    pub fn layout(&self) -> Vec<[usize; 2]> {
        let weights = self.layers.iter().map(|layer| [layer.n_inputs(), layer.fan_out]);
        weights.chain(self.likelihood.learned_noise().map(|_| [1, 1])).collect()
    }

    /// The features.
    pub fn design(&self) -> &DesignMatrix {
        &self.x
    }

    /// The hidden layers.
    pub fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    /// What the outputs say about the responses.
    pub fn likelihood(&self) -> NetworkLikelihood {
        self.likelihood
    }

    /// Number of weights and biases.
    pub(crate) fn n_weights(&self) -> usize {
        self.layers.last().map_or(0, |layer| layer.range().end)
    }
}

fn check_classes(labels: &[f64], classes: usize) -> Result<(), Error> {
    let is_class = |label: &f64| *label >= 0.0 && *label < classes as f64 && label.fract() == 0.0;
    match labels.iter().position(|label| !is_class(label)) {
        None => Ok(()),
        Some(i) => Err(Error::Data {
            place: format!("label of row {}", i + 1),
            problem: format!("{} is not one of the classes 0 … {}", labels[i], classes - 1),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn x() -> DesignMatrix {
        DesignMatrix::new(vec![0.3, -1.2, 2.0], 1, vec!["x".into()]).unwrap()
    }

    fn small() -> Architecture {
        Architecture { hidden: vec![3, 2], activation: Activation::Tanh }
    }

    #[test]
    fn wrong_data_are_named() {
        assert!(NeuralNetwork::regression(x(), vec![1.0; 2], small(), 1.0).is_err());
        assert!(NeuralNetwork::regression(x(), vec![1.0; 3], small(), 0.0).is_err());
        let message = NeuralNetwork::regression(x(), vec![1.0, f64::NAN, 0.0], small(), 1.0).unwrap_err().to_string();
        assert!(message.contains("row 2"), "{message}");
        let message = NeuralNetwork::multiclass(x(), vec![0.0, 3.0, 1.0], 3, small(), 1.0).unwrap_err().to_string();
        assert!(message.contains("row 2") && message.contains("0 … 2"), "{message}");
        assert!(NeuralNetwork::multiclass(x(), vec![0.0; 3], 1, small(), 1.0).is_err());
        assert!(NeuralNetwork::binary(x(), vec![0.0, 0.5, 1.0], small(), 1.0).is_err());
        let empty = Architecture { hidden: vec![3, 0], ..small() };
        assert!(NeuralNetwork::binary(x(), vec![0.0, 1.0, 1.0], empty, 1.0).is_err());
        let binary = NeuralNetwork::binary(x(), vec![0.0, 1.0, 1.0], small(), 1.0).unwrap();
        let message = binary.with_noise(NetworkNoise::Fixed { precision: 1.0 }).unwrap_err().to_string();
        assert!(message.contains("regression"), "{message}");
        let regression = NeuralNetwork::regression(x(), vec![1.0; 3], small(), 1.0).unwrap();
        assert!(regression.with_noise(NetworkNoise::Fixed { precision: -1.0 }).is_err());
    }
}
