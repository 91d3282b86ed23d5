//! Reciprocal inverse-Gaussian scale mixing: the symmetric normal inverse-Gaussian law of the paper (mathematics §4.2).

use super::inverse_gaussian::{Ratios, sample_inverse_gaussian};
use super::lambda::{FIRST_LAMBDA, Lambda};
use super::{Conditional, Entropy, Forms, MixingLaw, MixingNoise, Moments, PathOfDraw, ShapeSlopes};
use crate::Error;
use crate::special::bessel_k::bessel_k;
use crate::special::implicit::inverse_gaussian_log_density;
use crate::special::radial::{symmetric_nig_entropy, symmetric_nig_log_density};

/// w ~ InvGauss(1, λ), s(w) = 1/w: z is symmetric with tails e^{−√λ|z|}, between the Gaussian and Student's t.
///
/// Paper: App. H.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReciprocalInverseGaussian {
    lambda: Lambda,
}

impl ReciprocalInverseGaussian {
    /// The law of 1/w with E\[w\] = 1 and Var(w) = 1/λ.
    ///
    /// # Errors
    /// [`Error::Domain`] unless λ is finite and positive.
    pub fn new(lambda: f64) -> Result<Self, Error> {
        Ok(Self { lambda: Lambda::fixed(lambda)? })
    }

    /// The law with any λ, as somebody asks for it.
    pub(crate) fn unchecked(lambda: f64) -> Self {
        Self { lambda: Lambda { value: lambda, learn: false } }
    }

    fn conditional_of(&self, b: f64, k: Ratios) -> Conditional {
        Conditional {
            s: (b / self.lambda.value).sqrt() * k.lower,
            inv_s: (self.lambda.value / b).sqrt() * k.upper,
            var_inv_s: self.lambda.value / b * k.turan,
            ..Conditional::default()
        }
    }
}

impl MixingLaw for ReciprocalInverseGaussian {
    const NAME: &'static str = "snig";
    const FAMILY: Option<&'static str> = Some("symmetric normal inverse-Gaussian");
    const FIRST: Option<f64> = Some(FIRST_LAMBDA);
    const CONSTANTS: &'static [(&'static str, f64)] = &[("lambda", 2.0)];

    fn from_constants(constants: &[f64]) -> Result<Self, Error> {
        Self::new(constants[0])
    }

    fn constants(&self) -> [f64; 2] {
        [self.lambda.value, 0.0]
    }

    fn sample<N: MixingNoise + ?Sized>(&self, noise: &mut N) -> f64 {
        sample_inverse_gaussian(self.lambda.value, noise)
    }

    fn scale(&self, w: f64) -> f64 {
        1.0 / w
    }

    fn moments(&self) -> Moments {
        Moments::of_scale(1.0 + 1.0 / self.lambda.value, 1.0)
    }

    /// w | z ~ GIG((d−1)/2, Q + λ, λ).
    fn conditional(&self, forms: Forms) -> Conditional {
        let b = forms.q + self.lambda.value;
        let k = bessel_k(0.5 * (forms.dim as f64 - 1.0), (self.lambda.value * b).sqrt());
        self.conditional_of(b, Ratios { lower: k.ratio, upper: k.upper_ratio, turan: k.turan() })
    }

    fn conditional_by_bounds(&self, forms: Forms) -> Conditional {
        if forms.dim == 1 {
            return self.conditional(forms);
        }
        let b = forms.q + self.lambda.value;
        self.conditional_of(b, Ratios::by_bounds(0.5 * (forms.dim as f64 - 1.0), (self.lambda.value * b).sqrt()))
    }

    fn log_marginal(&self, forms: Forms) -> f64 {
        symmetric_nig_log_density(forms.dim, self.lambda.value, forms.q)
    }

    /// The value is the radial integral χ_d(λ), a constant that takes 0.05 to 1 ms: keep it rather than ask for it at
    /// every step.
    fn entropy(&self, _kappa: f64, dim: usize) -> Option<Entropy> {
        Some(Entropy::of_scale(symmetric_nig_entropy(dim, self.lambda.value)))
    }

    fn log_mixing_density(&self, w: f64) -> f64 {
        inverse_gaussian_log_density(1.0, self.lambda.value, w)
    }

    fn lambda(&self) -> Option<Lambda> {
        Some(self.lambda)
    }

    fn with_learning(self, learn: bool) -> Self {
        Self { lambda: Lambda { learn, ..self.lambda } }
    }

    fn with_parameter(&self, value: f64) -> Self {
        Self { lambda: self.lambda.with(value) }
    }

    /// −∂_λ w/(2w) (z − μ).
    fn path_of_draw(&self, w: f64, dw: f64) -> PathOfDraw {
        PathOfDraw { offset: -0.5 * dw / w, shift: 0.0 }
    }

    fn shape_slopes(&self, _dim: usize) -> Option<ShapeSlopes> {
        Some(ShapeSlopes {
            fisher: self.lambda.fisher(),
            entropy: None,
            s: -1.0 / (self.lambda.value * self.lambda.value),
        })
    }
}
