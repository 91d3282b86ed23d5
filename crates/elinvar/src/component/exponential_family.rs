//! What a finite mixture needs of its components: the trait that a component implements.

use super::{implicit, natural_gradient};
use crate::random::MixingNoise;
use crate::target::Support;

/// Natural, expectation or usual parameters, or statistics; entries from [`ExponentialFamily::N_FREE`] on are zero.
pub(crate) type Parameters = [f64; 3];
/// A matrix over [`Parameters`]; rows and columns from [`ExponentialFamily::N_FREE`] on are zero.
pub(crate) type ParameterMatrix = [[f64; 3]; 3];

/// A univariate minimal exponential family with its parameters.
///
/// Constants that are not learned (a fixed shape, say) belong to the value; every `with_…` keeps them.
///
/// Paper: §2, Definition 1, Theorem 1, eq. (1), eq. (5).
pub trait ExponentialFamily: Copy + PartialEq + Send + Sync + std::fmt::Debug {
    /// The word for it in files, commands and plots.
    const NAME: &'static str;
    /// Where z lives.
    const SUPPORT: Support;
    /// Names of the usual parameters that are learned, in the order of [`ExponentialFamily::parameters`].
    const PARAMETERS: &'static [&'static str];
    /// The constant that is not learned, if there is one: its name and usual value.
    const CONSTANT: Option<(&'static str, f64)> = None;
    /// Number of natural parameters.
    const N_FREE: usize = Self::PARAMETERS.len();

    /// Where z lives, of a member: a component that users bring has no constant for it.
    fn support(&self) -> Support {
        Self::SUPPORT
    }
    /// Number of natural parameters, likewise.
    fn n_free(&self) -> usize {
        Self::N_FREE
    }

    /// A member with this constant (ignored where there is none) and standard parameters; `None` if it is not in its
    /// domain.
    fn standard(constant: f64) -> Option<Self>;
    /// The constant; zero where there is none.
    fn constant(&self) -> f64 {
        0.0
    }
    /// The usual parameters.
    fn parameters(&self) -> Parameters;
    /// The member with these usual parameters, if they are in their domain.
    fn with_parameters(&self, parameters: Parameters) -> Option<Self>;

    /// η.
    fn natural(&self) -> Parameters;
    /// The member with natural parameters η, if they are in their domain.
    fn with_natural(&self, natural: Parameters) -> Option<Self>;
    /// m = E[t(z)].
    fn expectation(&self) -> Parameters;
    /// The member with expectation parameters m, if there is one.
    fn with_expectation(&self, expectation: Parameters) -> Option<Self>;
    /// F = ∂m/∂η.
    fn fisher(&self) -> ParameterMatrix;
    /// F⁻¹g: the natural gradient of a function whose gradient in η is g.
    ///
    /// Families whose F is close to singular for extreme parameters use its closed inverse.
    fn natural_gradient(&self, gradient: Parameters) -> Parameters {
        natural_gradient::by_cholesky(self.n_free(), &self.fisher(), gradient)
    }
    /// A(η).
    fn log_partition(&self) -> f64;
    /// t(z).
    fn statistics(&self, z: f64) -> Parameters;
    /// t′(z), by which F = E[∂z/∂η t′(z)ᵀ] can be averaged over draws; `None` where t depends on η, too.
    fn statistics_slope(&self, z: f64) -> Option<Parameters> {
        let _ = z;
        None
    }

    /// log q(z).
    fn log_density(&self, z: f64) -> f64;
    /// d log q/dz.
    fn score(&self, z: f64) -> f64;
    /// d² log q/dz².
    fn second_derivative(&self, z: f64) -> f64;
    /// E\[z\] and Var\[z\]; on the circle the mean direction and −2 log of the mean resultant length.
    fn mean_and_variance(&self) -> (f64, f64);
    /// The entropy, where it has a closed form.
    fn entropy(&self) -> Option<f64>;
    /// A draw.
    fn sample<N: MixingNoise + ?Sized>(&self, noise: &mut N) -> f64;
    /// ∂z/∂η of a draw z at fixed probability (mathematics §5 (5.1)).
    fn path_derivative(&self, z: f64) -> Parameters {
        implicit::path_derivative(self, z)
    }

    /// The member whose mean and variance (as [`ExponentialFamily::mean_and_variance`] has them) come closest to these.
    fn with_moments(&self, mean: f64, variance: f64) -> Option<Self>;

    /// Coordinates in which the parameters are free real numbers: their logarithms, where all are positive.
    fn chart(&self) -> Parameters {
        let parameters = self.parameters();
        std::array::from_fn(|i| if i < self.n_free() { parameters[i].ln() } else { 0.0 })
    }
    /// The member with these free coordinates, if they can be represented.
    fn with_chart(&self, coordinates: Parameters) -> Option<Self> {
        self.with_parameters(coordinates.map(f64::exp))
    }
    /// ∂η_i/∂chart_j.
    fn chart_jacobian(&self) -> ParameterMatrix;
}
