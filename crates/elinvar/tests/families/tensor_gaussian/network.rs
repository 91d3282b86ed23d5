//! A network with a matrix-variate Gaussian for each layer.

use std::ops::ControlFlow;

use elinvar::estimate::Curvature;
use elinvar::model::{Activation, Architecture, DesignMatrix, NeuralNetwork};
use elinvar::run::Stop;
use elinvar::run::start_at_guess;
use elinvar::{Family, Plan, Posterior};

use crate::subjects::numbers;

fn network() -> NeuralNetwork {
    let (n, d) = (80, 3);
    let (x, noise) = (numbers(n * d, 31), numbers(n, 32));
    let y = x.chunks_exact(d).zip(noise).map(|(x, e)| (2.0 * x[0]).sin() + x[1] * x[2] + 0.1 * e).collect();
    let names = (1..=d).map(|j| format!("x{j}")).collect();
    let architecture = Architecture { hidden: vec![4], activation: Activation::Tanh };
    NeuralNetwork::regression(DesignMatrix::new(x, d, names).unwrap(), y, architecture, 1.0).unwrap()
}

fn fitted(model: &NeuralNetwork, family: Family, curvature: Curvature) -> (Posterior, f64) {
    let plan = Plan { curvature, stop: Stop { max_steps: 300, ..Stop::default() }, ..Plan::default() };
    let start = start_at_guess(model, family, 3).unwrap();
    let mut posterior = elinvar::run::fit_from(model, start, &plan, &mut |_| ControlFlow::Continue(())).unwrap();
    let elbo = posterior.diagnose(model, 2000, 1).unwrap().elbo.value;
    (posterior, elbo)
}

/// Layer by layer, by gradients of single items, Gauss–Newton matrices and without either: better than independent
/// coordinates.
#[test]
fn layers_of_a_network() {
    let model = network();
    let (_, diagonal) = fitted(&model, Family::gaussian().diagonal(), Curvature::GaussNewton);
    let family = Family::layers(&model.layout()).unwrap();
    assert!(start_at_guess(&model, Family::matrix(2, 2).unwrap(), 3).is_err());
    for curvature in [Curvature::GaussNewton, Curvature::ItemGradients, Curvature::Stein { control_variate: true }] {
        let (posterior, elbo) = fitted(&model, family, curvature);
        println!("{curvature}: {elbo:.2}, diagonal {diagonal:.2}, {} steps", posterior.trace().len());
        assert!(elbo > diagonal, "{curvature}: {elbo}, diagonal {diagonal}");
    }
}
