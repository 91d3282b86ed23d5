//! Autoregression of any order.

use elinvar::Error;
use elinvar::model::{DesignMatrix, LinearRegression};
use elinvar::target::{About, Answer, Ask, Target, TargetError};

/// y_t ~ N(α + Σ_k β_k y_{t−k}, σ²) for t > K, given the first K values; z = (α, β₁, …, β_K, log σ).
///
/// The linear regression of y_t on its past, so that a full pass costs nothing that grows with the length of the
/// series.
#[derive(Clone, Debug)]
pub(crate) struct Autoregression {
    regression: LinearRegression,
}

impl Autoregression {
    /// The model of order K for a series, with α, β ~ N(0, I/δ) and σ ~ half-Cauchy(0, 2.5).
    ///
    /// # Errors
    /// If the order is zero, the series is not longer than K or not finite, or δ is not positive.
    pub(crate) fn new(series: &[f64], order: usize, prior_precision: f64) -> Result<Self, Error> {
        if order == 0 {
            return Err(Error::Domain {
                parameter: "order",
                value: 0.0,
                reason: "an autoregression looks back at least 1",
            });
        }
        if series.len() <= order {
            return Err(Error::Shape { what: "values of the series", expected: order + 1, found: series.len() });
        }
        if let Some(t) = series.iter().position(|v| !v.is_finite()) {
            return Err(Error::Data {
                place: format!("value {} of the series", t + 1),
                problem: format!("{} is not a finite number", series[t]),
            });
        }
        let past = series.windows(order + 1);
        let rows = past.flat_map(|window| std::iter::once(1.0).chain(window[..order].iter().rev().copied())).collect();
        let names = std::iter::once("alpha".to_owned()).chain((1..=order).map(|k| format!("beta{k}"))).collect();
        let x = DesignMatrix::new(rows, order + 1, names)?;
        Ok(Self { regression: LinearRegression::new(x, series[order..].to_vec(), prior_precision)? })
    }
}

impl Target for Autoregression {
    fn about(&self) -> About {
        self.regression.about()
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        self.regression.evaluate(ask, answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elinvar::target::{Draws, Want};

    #[test]
    fn the_density_is_the_product_of_one_step_predictions() {
        let series: Vec<f64> =
            (0..40).map(|t| (0.37 * f64::from(t)).sin() + 0.3 * (1.9 * f64::from(t)).cos()).collect();
        let model = Autoregression::new(&series, 3, 0.01).unwrap();
        let z = [0.1, 0.8, -0.3, 0.2, -0.5];
        let (about, mut out) = (model.about(), Answer::new(5, 1));
        model.evaluate(&Ask::all(Draws::new(5, &z), Want::Gradients), &mut out).unwrap();
        let sigma = z[4].exp();
        let normal = |t: f64, sd: f64| -0.5 * (t / sd).powi(2) - (sd * std::f64::consts::TAU.sqrt()).ln();
        let mut expected = (2.0 / (std::f64::consts::PI * 2.5 * (1.0 + (sigma / 2.5).powi(2)))).ln() + z[4];
        expected += z[..4].iter().map(|v| normal(*v, 10.0)).sum::<f64>();
        for t in 3..40 {
            let prediction = z[0] + z[1] * series[t - 1] + z[2] * series[t - 2] + z[3] * series[t - 3];
            expected += normal(series[t] - prediction, sigma);
        }
        let found = out.log_p()[0] + about.prior.log_density(&z);
        assert!((found - expected).abs() < 1e-10 * expected.abs(), "{found} {expected}");
        assert_eq!(about.parameters, ["alpha", "beta1", "beta2", "beta3", "sigma"]);
    }

    #[test]
    fn a_series_must_be_longer_than_the_order() {
        assert!(Autoregression::new(&[1.0, 2.0], 2, 1.0).is_err());
        assert!(Autoregression::new(&[1.0, 2.0], 0, 1.0).is_err());
        let problem = Autoregression::new(&[1.0, f64::NAN, 2.0], 1, 1.0).unwrap_err();
        assert!(problem.to_string().contains("value 2"));
    }
}
