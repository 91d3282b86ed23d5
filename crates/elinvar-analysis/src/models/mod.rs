//! The model that the settings name, over its rows.

use elinvar::model::{
    DesignMatrix, Direction, LinearRegression, LogisticRegression, NeuralNetwork, PoissonRate, PoissonRegression,
    Proportion,
};
use elinvar::target::{ColumnScale, Target};
use elinvar_data::RegressionData;

use crate::error::Failure;
use crate::job::{About, Network};
use crate::settings::{Dims, Likelihood, ModelName};

/// A model that can be fitted.
pub struct Model {
    pub target: Box<dyn Target>,
    /// How its parameters are cut into matrices, for a network.
    pub layers: Option<Dims>,
    /// The same network again, to start and to predict.
    pub network: Option<NeuralNetwork>,
}

/// The model over `data`.
pub fn model(data: RegressionData, about: &About) -> Result<Model, Failure> {
    build(data, about).map_err(|error| Failure::Model(error.to_string()))
}

fn build(data: RegressionData, about: &About) -> Result<Model, elinvar::Error> {
    let n_cols = data.n_cols();
    let plain = |target| Ok(Model { target, layers: None, network: None });
    let x = |data: RegressionData| -> Result<(DesignMatrix, Vec<f64>), elinvar::Error> {
        let matrix = DesignMatrix::new(data.features, n_cols, data.names)?;
        let scales = about.transforms.iter().map(|t| ColumnScale { shift: t.shift, scale: t.scale }).collect();
        // Weights of a network are nobody's units.
        let is_told = about.is_scaled() && about.model.is_linear();
        Ok((if is_told { matrix.with_scales(scales)? } else { matrix }, data.y))
    };
    match about.model {
        ModelName::Rate if n_cols == 1 => plain(Box::new(PoissonRate::new(data.y)?.with_exposures(&data.features)?)),
        ModelName::Rate => plain(Box::new(PoissonRate::new(data.y)?)),
        ModelName::Proportion => plain(Box::new(Proportion::new(&data.y)?)),
        ModelName::Direction => plain(Box::new(Direction::new(&data.y, about.concentration.unwrap_or(1.0))?)),
        ModelName::Logistic => {
            let (x, y) = x(data)?;
            plain(Box::new(LogisticRegression::new(x, y, about.priors.precision())?))
        }
        ModelName::Poisson => {
            let (x, y) = x(data)?;
            plain(Box::new(PoissonRegression::new(x, y, about.priors.precision())?))
        }
        ModelName::Linear => {
            let (x, y) = x(data)?;
            let model = LinearRegression::new(x, y, about.priors.precision())?
                .with_coefficient_prior(about.priors.of_columns(&about.kinds))?;
            plain(Box::new(match about.sigma_scale {
                Some(scale) => model.with_noise_scale(scale)?,
                None => model,
            }))
        }
        ModelName::Network => {
            let (x, y) = x(data)?;
            let network = network(x, y, about)?;
            let layers = network.layout().iter().map(|layer| layer.to_vec()).collect();
            let target = Box::new(network.clone());
            Ok(Model { target, layers: Some(Dims(layers)), network: Some(network) })
        }
    }
}

fn network(x: DesignMatrix, y: Vec<f64>, about: &About) -> Result<NeuralNetwork, elinvar::Error> {
    let Some(Network { architecture, likelihood }) = &about.network else {
        return NeuralNetwork::regression(x, y, elinvar::model::Architecture::default(), about.priors.precision());
    };
    let (architecture, precision) = (architecture.clone(), about.priors.precision());
    match likelihood {
        Likelihood::Gaussian => NeuralNetwork::regression(x, y, architecture, precision),
        Likelihood::Binary => NeuralNetwork::binary(x, classes(y), architecture, precision),
        Likelihood::Multiclass => {
            let n_classes = y.iter().fold(0.0_f64, |most, label| most.max(*label)) as usize + 1;
            NeuralNetwork::multiclass(x, y, n_classes, architecture, precision)
        }
    }
}

/// Classes −1 and 1 as 0 and 1.
pub fn classes(mut y: Vec<f64>) -> Vec<f64> {
    y.iter_mut().for_each(|label| *label = label.max(0.0));
    y
}
