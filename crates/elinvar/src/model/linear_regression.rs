//! Linear regression with unknown noise.

mod curvature;
mod expectation;
mod statistics;

use curvature::Curving;

use super::glm::check_precision;
use super::rows::check_of_rows;
use super::{DesignMatrix, NoisePrior};
use crate::Error;
use crate::special::normal::HALF_LOG_TWO_PI;
use crate::target::{
    About, Answer, Ask, Derivatives, Offers, Parts, Prior, Room, Rows, Target, TargetError, Transform, Want,
};

/// y_n ~ N(x_nᵀβ, σ²) with a [`Prior`] of β and a [`NoisePrior`] of σ; z = (β, ℓ) with ℓ = log σ.
///
/// The prior of β is declared; that of ℓ, with its Jacobian, is part of the sum over rows, 1/N of it in each, so that
/// the sums over subsets add up. The data enter through XᵀX, Xᵀr and rᵀr with r = y − Xβ̂ at a fixed β̂ near the
/// least-squares solution: a full pass costs nothing that grows with N, and nothing large cancels.
///
/// With v = β − β̂, a = Xᵀr − XᵀXv and R = rᵀr − 2vᵀXᵀr + vᵀXᵀXv = Σ(y_n − x_nᵀβ)²:
/// log p = −N(ℓ + ½ log 2π) − ½e^{−2ℓ}R; gradient (e^{−2ℓ}a, e^{−2ℓ}R − N); Hessian −e^{−2ℓ} {XᵀX, 2a, 2R}.
#[derive(Clone, Debug)]
pub struct LinearRegression {
    x: DesignMatrix,
    reference: Vec<f64>,
    residuals: Vec<f64>,
    full: Vec<f64>,
    /// What log densities are multiplied by, one number per row, or empty; rows and residuals have their roots already.
    weights: Vec<f64>,
    coefficient_prior: Prior,
    noise_prior: NoisePrior,
    n_rows: usize,
    /// Rows of the whole of which this is a part, or its own.
    n_rows_of_whole: usize,
}

impl LinearRegression {
    /// The model with β ~ N(0, I/δ) for the prior precision δ and σ ~ half-Cauchy(0, 2.5).
    ///
    /// # Errors
    /// If the number of responses is not the number of rows, a response is not finite, or δ is not positive.
    pub fn new(x: DesignMatrix, y: Vec<f64>, prior_precision: f64) -> Result<Self, Error> {
        check_precision(prior_precision)?;
        let p = x.n_cols();
        let coefficient_prior = Prior::Gaussian { precision: prior_precision, leading: p };
        if y.len() != x.n_rows() {
            return Err(Error::Shape { what: "responses (one per row)", expected: x.n_rows(), found: y.len() });
        }
        if let Some(i) = y.iter().position(|v| !v.is_finite()) {
            return Err(Error::Data {
                place: format!("response of row {}", i + 1),
                problem: format!("{} is not a finite number", y[i]),
            });
        }
        let noise_prior = NoisePrior::HalfCauchy { scale: 2.5 };
        let (reference, full) = (vec![0.0; p], Vec::new());
        let (weights, n_rows) = (Vec::new(), x.n_rows());
        let n_rows_of_whole = n_rows;
        let mut model =
            Self { x, reference, residuals: y, full, weights, coefficient_prior, noise_prior, n_rows, n_rows_of_whole };
        // Twice: the second solve removes what the first lost to a large mean of y.
        for _ in 0..2 {
            model.move_reference()?;
        }
        model.full = model.statistics_of_all();
        Ok(model)
    }

    /// The same model with another scale of the half-Cauchy prior of σ.
    ///
    /// # Errors
    /// If the scale is not positive.
    pub fn with_noise_scale(self, scale: f64) -> Result<Self, Error> {
        self.with_noise_prior(NoisePrior::HalfCauchy { scale })
    }

    /// The same model with another prior of σ.
    ///
    /// # Errors
    /// If its constants are not in their domain.
    pub fn with_noise_prior(self, noise_prior: NoisePrior) -> Result<Self, Error> {
        noise_prior.check()?;
        Ok(Self { noise_prior, ..self })
    }

    /// The same model with another prior of the coefficients.
    ///
    /// # Errors
    /// As [`Prior::check`].
    pub fn with_coefficient_prior(self, coefficient_prior: Prior) -> Result<Self, Error> {
        coefficient_prior.check(self.n_coefficients())?;
        Ok(Self { coefficient_prior, ..self })
    }

    /// The same model in which the log density of row n is multiplied by weight_n ≥ 0: the density of √w times its
    /// residual, w times the logarithm of σ.
    ///
    /// # Errors
    /// If there is not one for each row, one is negative, or there are weights already.
    pub fn with_weights(mut self, weights: Vec<f64>) -> Result<Self, Error> {
        check_of_rows("weights (one per row)", &weights, self.x.n_rows(), 0.0)?;
        if !self.weights.is_empty() {
            let (parameter, value, reason) = ("weights", f64::NAN, "they are given once");
            return Err(Error::Domain { parameter, value, reason });
        }
        let roots: Vec<f64> = weights.iter().map(|weight| weight.sqrt()).collect();
        self.x.scale_rows(&roots);
        self.residuals.iter_mut().zip(&roots).for_each(|(residual, root)| *residual *= root);
        self.move_reference()?;
        self.full = self.statistics_of_all();
        Ok(Self { weights, ..self })
    }

    /// The same model as a part of one with so many rows: its rows hold their share of the prior of σ, so that the
    /// parts add up to the whole.
    pub fn as_part_of(self, n_rows: usize) -> Self {
        Self { n_rows_of_whole: n_rows, ..self }
    }

    /// The same model without its rows: what is left are the sums over them that the log density is a function of, so
    /// that mini-batches cannot be taken any more.
    pub fn without_rows(self) -> Self {
        Self { x: self.x.without_rows(), residuals: Vec::new(), ..self }
    }

    /// The features, times the roots of the weights if there are any.
    pub fn design(&self) -> &DesignMatrix {
        &self.x
    }

    fn n_coefficients(&self) -> usize {
        self.x.n_cols()
    }

    /// The number of rows of the selection, or the sum of their weights, and its share of the priors that are not
    /// declared.
    fn share(&self, rows: Rows<'_>) -> (f64, f64) {
        let n = rows.len(self.n_rows) as f64;
        let share = n / self.n_rows_of_whole as f64;
        if self.weights.is_empty() {
            return (n, share);
        }
        let total = match rows {
            Rows::Subset(indices) => indices.iter().map(|i| self.weights[*i as usize]).sum(),
            _ => self.weights.iter().sum(),
        };
        (total, share)
    }
}

impl Target for LinearRegression {
    fn about(&self) -> About {
        let with = |names: &[String], last: &str| names.iter().cloned().chain([last.to_owned()]).collect();
        About {
            names: with(self.x.names(), "log_sigma"),
            parameters: with(self.x.table_names(), "sigma"),
            transforms: self.x.transforms(1, [Transform::Log]),
            prior: self.coefficient_prior.clone(),
            n_rows: Some(self.n_rows),
            offers: Offers {
                values: true,
                hessian: true,
                gauss_newton: true,
                gaussian_expectation: true,
                ..Offers::GRADIENT
            },
            derivatives: Derivatives::Known,
            room: Room { once: self.memory_len(), ..Room::default() },
            ..About::new(self.n_coefficients() + 1)
        }
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        if matches!(ask.rows, Rows::Subset(_)) && self.x.n_rows() < self.n_rows {
            return Err(TargetError::fatal("the rows were given up; leave the mini-batch out"));
        }
        if let Want::GaussianExpectation { shape, covariance } = ask.want {
            self.expect(ask.rows, ask.draws.get(0), (shape, covariance), answer.parts_mut());
            return Ok(());
        }
        let p = self.n_coefficients();
        let (n, share) = self.share(ask.rows);
        let Parts { log_p, grad, mut curvature, scratch, .. } = answer.parts_mut();
        let (statistics, deviation) = self.statistics(ask.rows, scratch.take(self.memory_len()));
        for (s, ((z, log_p), grad)) in ask.draws.iter().zip(log_p).zip(grad.chunks_exact_mut(p + 1)).enumerate() {
            let squares = self.scores(z, statistics, deviation);
            let noise = self.noise_prior.log_density(z[p]);
            *log_p = log_normals(n, z[p], squares) + share * noise[0];
            if matches!(ask.want, Want::Values) {
                continue;
            }
            let prec = (-2.0 * z[p]).exp();
            grad[..p].iter_mut().zip(&deviation[p..]).for_each(|(g, a)| *g = prec * a);
            grad[p] = prec * squares - n + share * noise[1];
            let (sums, squares, cross) = match ask.want {
                Want::Hessian(sums) | Want::HessianAlone(sums) => (sums, squares, 2.0),
                Want::GaussNewton(sums) => (sums, n / prec, 0.0),
                _ => continue,
            };
            let at = Curving { prec, squares, cross, noise: noise[2], share };
            for (k, weight) in sums.of_draw(s).filter(|(_, weight)| *weight != 0.0) {
                let kind = curvature.covariance();
                at.add(weight, &statistics[..p * p], &deviation[p..], kind, curvature.entries_mut(k));
            }
        }
        Ok(())
    }
}

/// The log density of n residuals with sum of squares R and log σ = ℓ.
fn log_normals(n: f64, log_sigma: f64, squares: f64) -> f64 {
    -n * (log_sigma + HALF_LOG_TWO_PI) - 0.5 * (-2.0 * log_sigma).exp() * squares
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::dot;
    use crate::target::Draws;

    #[test]
    fn the_sufficient_statistics_agree_with_the_rows_even_far_from_zero() {
        let n = 500;
        let rows: Vec<f64> = (0..n).flat_map(|i| [1.0, (i as f64 * 0.7).sin(), (i as f64 * 1.3).cos()]).collect();
        let y: Vec<f64> = (0..n).map(|i| 1e6 + 3.0 * rows[3 * i + 1] + (i as f64 * 2.1).sin()).collect();
        let x = DesignMatrix::new(rows.clone(), 3, vec!["a".into(), "b".into(), "c".into()]).unwrap();
        let model = LinearRegression::new(x, y.clone(), 1.0).unwrap();
        let z = [1e6 + 0.1, 2.9, -0.2, 0.3];
        let mut out = Answer::new(4, 1);
        model.evaluate(&Ask::all(Draws::new(4, &z), Want::Gradients), &mut out).unwrap();
        let sigma = 0.3f64.exp();
        let mut expected = NoisePrior::HalfCauchy { scale: 2.5 }.log_density(0.3)[0];
        for i in 0..n {
            let t = (y[i] - dot(&rows[3 * i..3 * i + 3], &z[..3])) / sigma;
            expected -= 0.5 * (t * t + std::f64::consts::TAU.ln()) + 0.3;
        }
        assert!((out.log_p()[0] - expected).abs() < 1e-9 * expected.abs(), "{} {expected}", out.log_p()[0]);
        assert_eq!(model.about().parameters[3], "sigma");
    }

    #[test]
    fn priors_enter_the_density() {
        let x =
            DesignMatrix::new(vec![1.0, 3951.0, 1.0, 3953.0, 1.0, 3958.0], 2, vec!["a".into(), "b".into()]).unwrap();
        let y = vec![4.1, 5.2, 4.4];
        let z = [-60.0, 0.016, -0.2];
        let flat = LinearRegression::new(x, y.clone(), 1.0)
            .and_then(|m| m.with_noise_prior(NoisePrior::Flat))
            .and_then(|m| m.with_coefficient_prior(Prior::None))
            .unwrap();
        let value = |model: &LinearRegression| {
            let mut out = Answer::new(3, 1);
            model.evaluate(&Ask::all(Draws::new(3, &z), Want::Gradients), &mut out).unwrap();
            out.log_p()[0] + model.about().prior.log_density(&z)
        };
        let density = |t: f64, mean: f64, sd: f64| {
            ((-(t - mean).powi(2) / (2.0 * sd * sd)).exp() / (sd * std::f64::consts::TAU.sqrt())).ln()
        };
        let sigma = (-0.2f64).exp();
        let likelihood: f64 =
            [3951.0, 3953.0, 3958.0].iter().zip(&y).map(|(x, y)| density(*y, -60.0 + 0.016 * x, sigma)).sum();
        assert!((value(&flat) - (likelihood - 0.2)).abs() < 1e-9 * likelihood.abs());

        let prior = Prior::normal(vec![9.0, 0.1], &[100.0, 0.03]);
        let informed = flat.clone().with_coefficient_prior(prior).unwrap();
        let informed = informed.with_noise_prior(NoisePrior::HalfNormal { scale: 10.0 }).unwrap();
        let terms = density(-60.0, 9.0, 100.0) + density(0.016, 0.1, 0.03) + (2f64).ln() + density(sigma, 0.0, 10.0);
        assert!((value(&informed) - value(&flat) - terms).abs() < 1e-9);

        let long = Prior::normal(vec![0.0; 3], &[1.0; 3]);
        assert!(flat.clone().with_coefficient_prior(long).is_err());
        let zero = Prior::normal(vec![0.0; 2], &[1.0, 0.0]);
        assert!(flat.with_coefficient_prior(zero).is_err());
    }

    #[test]
    fn collinear_columns_are_accepted() {
        let rows = (0..20).flat_map(|i| [f64::from(i), 2.0 * f64::from(i)]).collect();
        let x = DesignMatrix::new(rows, 2, vec!["a".into(), "b".into()]).unwrap();
        assert!(LinearRegression::new(x, vec![1.0; 20], 1.0).is_ok());
    }
}
