//! The Birnbaum–Saunders distribution whose weight p is learned (mathematics §5.4).
//!
//! How the items of [`ExponentialFamily`] are to be read is said for [`super::BirnbaumSaunders`]. The third statistic
//! is I\[w = 0\]; z does not say what w was, so that `statistics` has its expectation given z there. F is that of the
//! joint law and block diagonal (mathematics §0.4): m₁ and m₂ do move with p, but the natural gradient for (μ, v) is
//! taken at fixed p and that for p at fixed (μ, v). The log partition function is that of w plus the average of that of
//! z given w; its gradient is m in η₁, η₂ at fixed p.

use super::{BirnbaumSaunders, ExponentialFamily, ParameterMatrix, Parameters};
use crate::random::MixingNoise;
use crate::special::implicit::birnbaum_saunders_weight_derivative;
use crate::special::logistic::{log1p_exp, sigmoid};
use crate::target::Support;

/// {p + (1−p) z/μ} InvGauss(z | μ, v); t = (z, 1/z, I\[w = 0\]), η = (−v/2μ², −v/2, log{p/(1−p)}).
///
/// Paper: App. C.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BirnbaumSaundersLearned {
    law: BirnbaumSaunders,
    /// log{p/(1−p)}.
    log_odds: f64,
}

impl BirnbaumSaundersLearned {
    /// The distribution with these parameters, if 0 < p < 1 and μ and v are positive and finite.
    pub(crate) fn new(mu: f64, v: f64, p: f64) -> Option<Self> {
        let law = BirnbaumSaunders::new(p, mu, v)?;
        let log_odds = p.ln() - (-p).ln_1p();
        log_odds.is_finite().then_some(Self { law, log_odds })
    }

    fn from_log_odds(mu: f64, v: f64, log_odds: f64) -> Option<Self> {
        // Beyond ±30 the law cannot be told from that of one label.
        let law = BirnbaumSaunders::with_weights(sigmoid(log_odds), sigmoid(-log_odds), mu, v)?;
        (log_odds.abs() < 30.0).then_some(Self { law, log_odds })
    }

    /// Var(I\[w = 0\]) = p(1−p).
    fn variance_of_w(&self) -> f64 {
        sigmoid(self.log_odds) * sigmoid(-self.log_odds)
    }

    fn with_law(&self, law: Option<BirnbaumSaunders>) -> Option<Self> {
        Some(Self { law: law?, log_odds: self.log_odds })
    }
}

impl ExponentialFamily for BirnbaumSaundersLearned {
    const NAME: &'static str = "birnbaum_saunders_learned";
    const SUPPORT: Support = Support::Positive;
    const PARAMETERS: &'static [&'static str] = &["mu", "v", "log_odds"];

    fn standard(_constant: f64) -> Option<Self> {
        Self::new(1.0, 1.0, 0.5)
    }

    fn parameters(&self) -> Parameters {
        // Not p itself: near 1 it has lost the digits of 1 − p.
        [self.law.mu(), self.law.v(), self.log_odds]
    }

    fn with_parameters(&self, parameters: Parameters) -> Option<Self> {
        Self::from_log_odds(parameters[0], parameters[1], parameters[2])
    }

    fn natural(&self) -> Parameters {
        let [first, second, _] = self.law.natural();
        [first, second, self.log_odds]
    }

    fn with_natural(&self, natural: Parameters) -> Option<Self> {
        let [mu, v, _] = self.law.with_natural(natural)?.parameters();
        Self::from_log_odds(mu, v, natural[2])
    }

    fn expectation(&self) -> Parameters {
        let [first, second, _] = self.law.expectation();
        [first, second, self.law.p()]
    }

    fn with_expectation(&self, expectation: Parameters) -> Option<Self> {
        let weighted = Self::new(1.0, 1.0, expectation[2])?;
        weighted.with_law(weighted.law.with_expectation(expectation))
    }

    fn fisher(&self) -> ParameterMatrix {
        let mut fisher = self.law.fisher();
        fisher[2][2] = self.variance_of_w();
        fisher
    }

    fn natural_gradient(&self, gradient: Parameters) -> Parameters {
        let [first, second, _] = self.law.natural_gradient(gradient);
        [first, second, gradient[2] / self.variance_of_w()]
    }

    fn log_partition(&self) -> f64 {
        self.law.log_partition() + log1p_exp(self.log_odds)
    }

    fn statistics(&self, z: f64) -> Parameters {
        [z, 1.0 / z, self.law.p() / self.law.tilt(z)]
    }

    fn log_density(&self, z: f64) -> f64 {
        self.law.log_density(z)
    }

    fn score(&self, z: f64) -> f64 {
        self.law.score(z)
    }

    fn second_derivative(&self, z: f64) -> f64 {
        self.law.second_derivative(z)
    }

    fn mean_and_variance(&self) -> (f64, f64) {
        self.law.mean_and_variance()
    }

    fn entropy(&self) -> Option<f64> {
        None
    }

    fn sample<N: MixingNoise + ?Sized>(&self, noise: &mut N) -> f64 {
        self.law.sample(noise)
    }

    /// ∂z/∂p = −{Q₀(z) − Q₁(z)}/q(z) with the distribution functions of z given w.
    fn path_derivative(&self, z: f64) -> Parameters {
        let [first, second, _] = self.law.path_derivative(z);
        let by_p = birnbaum_saunders_weight_derivative(self.law.mu(), self.law.v(), z) / self.law.tilt(z);
        [first, second, self.variance_of_w() * by_p]
    }

    /// Keeps p.
    fn with_moments(&self, mean: f64, variance: f64) -> Option<Self> {
        self.with_law(self.law.with_moments(mean, variance))
    }

    fn chart(&self) -> Parameters {
        let [mu, v, _] = self.law.chart();
        [mu, v, self.log_odds]
    }

    fn with_chart(&self, coordinates: Parameters) -> Option<Self> {
        Self::from_log_odds(coordinates[0].exp(), coordinates[1].exp(), coordinates[2])
    }

    fn chart_jacobian(&self) -> ParameterMatrix {
        let mut jacobian = self.law.chart_jacobian();
        jacobian[2][2] = 1.0;
        jacobian
    }
}
