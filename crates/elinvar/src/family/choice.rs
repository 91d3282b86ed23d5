//! Which family to fit: the same words in code, commands, files and plots.

use serde::{Deserialize, Serialize};

use super::written::WrittenKind;
use super::{Layout, MatrixUpdate};
use crate::Error;
use crate::component::ComponentKind;
use crate::law::{
    Exponential, HalfNormal, InverseGamma, InverseGaussian, Law, Own, PointMass, ReciprocalInverseGaussian,
};
use crate::target::{Covariance, Support};

/// Where a learned λ begins: the kurtosis of nig is that of a Student-t with 8 degrees of freedom.
const FIRST_LAMBDA: f64 = 2.0;

/// A family with its constants.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "WrittenKind", into = "WrittenKind")]
#[non_exhaustive]
pub enum Kind {
    /// N(μ, Σ).
    Gaussian,
    /// Student's t with 2a degrees of freedom.
    StudentT {
        /// a > 1; of a learned shape the present one, in a request the first.
        a: f64,
        /// Whether the fit moves a.
        learn: bool,
    },
    /// Skew-Gaussian.
    Skew,
    /// Exponentially modified Gaussian.
    Emg,
    /// Normal inverse-Gaussian.
    Nig {
        /// λ > 0; of a learned one the present, in a request the first.
        lambda: f64,
        /// Whether the fit moves λ.
        learn: bool,
    },
    /// Symmetric scale mixture with inverse-Gaussian mixing.
    Snig {
        /// λ > 0; of a learned one the present, in a request the first.
        lambda: f64,
        /// Whether the fit moves λ.
        learn: bool,
    },
    /// Gaussian whose scale is random: z | s ~ N(μ, sΣ).
    ScaleMixture {
        /// The law of s.
        law: Law,
        /// Whether every coordinate has a scale of its own; Σ is diagonal then.
        product: bool,
    },
    /// Gaussian mixed over a law that somebody has registered.
    Own {
        /// The law of w.
        law: Own,
    },
    /// A family that somebody has registered.
    OwnFamily {
        /// Which one.
        family: super::Own,
    },
    /// Gaussian with covariance Σ + AAᵀ.
    RankK {
        /// Number of columns of A.
        rank: usize,
    },
    /// Gaussian with several columns, each along a half-normal number of its own: skew in as many directions.
    SkewK {
        /// Number of columns of A, at most three.
        directions: usize,
    },
    /// The same with exponential numbers.
    EmgK {
        /// Number of columns of A, at most three.
        directions: usize,
    },
    /// Matrix- or tensor-variate Gaussian, or a product of several.
    Matrix {
        /// How z is cut into tensors.
        layout: Layout,
        /// How the factors move.
        update: MatrixUpdate,
    },
    /// Mixture of Gaussians.
    Mog {
        /// K.
        components: usize,
    },
    /// Mixture of as many Gaussians as the target needs: a request, which a fit answers with a [`Kind::Mog`].
    MogAuto,
    /// Mixture of products of univariate exponential families; its scale matrix is diagonal in any case.
    EfMixture {
        /// Which exponential family.
        component: ComponentKind,
        /// Another one for every second component, on the same support.
        other: Option<ComponentKind>,
        /// K.
        components: usize,
    },
    /// The ladder gaussian → student_t / skew → mog: a request, which a fit answers with one of these.
    Auto,
}

/// What to fit: a kind of distribution and the shape of its scale matrix.
///
/// ```
/// use elinvar::model::Banana;
/// use elinvar::prelude::*;
///
/// let model = Banana::default();
/// for family in [Family::gaussian().diagonal(), Family::skew(), Family::mog(3)] {
///     let posterior = Fit::new(&model).family(family).run()?;
///     println!("{family:10} {}", posterior.diagnostics().expect("a fit is judged").elbo.value);
/// }
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Family {
    /// Which distribution.
    #[serde(flatten)]
    pub kind: Kind,
    /// Full or diagonal scale matrix.
    pub covariance: Covariance,
}

impl Family {
    /// Every family's name, in the order of the documentation.
    pub const NAMES: [&'static str; 14] = [
        "gaussian",
        "mog",
        "student_t",
        "skew",
        "emg",
        "nig",
        "snig",
        "rank_k",
        "skew_k",
        "emg_k",
        "scale_mixture",
        "matrix",
        "ef_mixture",
        "birnbaum_saunders",
    ];

    fn full(kind: Kind) -> Self {
        Self { kind, covariance: Covariance::Full }
    }

    /// N(μ, Σ).
    pub fn gaussian() -> Self {
        Self::full(Kind::Gaussian)
    }

    /// Student's t with 2a degrees of freedom, a > 1.
    pub fn student_t(a: f64) -> Self {
        Self::full(Kind::StudentT { a, learn: false })
    }

    /// Student's t whose degrees of freedom the fit finds; it begins with five.
    pub fn student_t_learned() -> Self {
        Self::full(Kind::StudentT { a: 2.5, learn: true })
    }

    /// Skew-Gaussian.
    pub fn skew() -> Self {
        Self::full(Kind::Skew)
    }

    /// Exponentially modified Gaussian.
    pub fn emg() -> Self {
        Self::full(Kind::Emg)
    }

    /// Normal inverse-Gaussian, λ > 0.
    pub fn nig(lambda: f64) -> Self {
        Self::full(Kind::Nig { lambda, learn: false })
    }

    /// Symmetric scale mixture with inverse-Gaussian mixing, λ > 0.
    pub fn snig(lambda: f64) -> Self {
        Self::full(Kind::Snig { lambda, learn: false })
    }

    /// Normal inverse-Gaussian whose λ the fit finds.
    pub fn nig_learned() -> Self {
        Self::full(Kind::Nig { lambda: FIRST_LAMBDA, learn: true })
    }

    /// Symmetric scale mixture with inverse-Gaussian mixing whose λ the fit finds.
    pub fn snig_learned() -> Self {
        Self::full(Kind::Snig { lambda: FIRST_LAMBDA, learn: true })
    }

    /// Gaussian whose scale is random, with this law of the scale.
    pub fn scale_mixture(law: impl Into<Law>) -> Self {
        let law = match law.into() {
            // The constants of a scale mixture are not learned.
            Law::InverseGamma(law) => InverseGamma::of_prior(law.shape()).into(),
            Law::ReciprocalInverseGaussian(law) => law.held().into(),
            law => law,
        };
        Self::full(Kind::ScaleMixture { law, product: false })
    }

    /// What you have registered: a Gaussian mixed over a [law of your own](crate::law::OwnLaw), as a scale, a shift or
    /// both, or a [family of your own](crate::family::OwnFamily).
    pub fn own(brought: impl Into<Kind>) -> Self {
        Self::full(brought.into())
    }

    /// The same scale mixture with independent coordinates, each with a scale of its own; other families stay as they
    /// are.
    pub fn product(self) -> Self {
        match self.kind {
            Kind::ScaleMixture { law, .. } => {
                Self { kind: Kind::ScaleMixture { law, product: true }, covariance: Covariance::Diagonal }
            }
            _ => self,
        }
    }

    /// Gaussian with covariance Σ + AAᵀ, A of `rank` columns; the scale matrix Σ is diagonal unless made full.
    pub fn rank_k(rank: usize) -> Self {
        Self { kind: Kind::RankK { rank }, covariance: Covariance::Diagonal }
    }

    /// z = μ + A|n| + noise with as many independent |n| as A has columns: skew in up to three directions.
    pub fn skew_k(directions: usize) -> Self {
        Self::full(Kind::SkewK { directions })
    }

    /// z = μ + A w + noise with independent exponential w: exponentially modified in up to three directions.
    pub fn emg_k(directions: usize) -> Self {
        Self::full(Kind::EmgK { directions })
    }

    /// Matrix-variate Gaussian over a `rows` × `cols` matrix, stacked column by column: covariance V ⊗ U.
    ///
    /// # Errors
    /// As [`Layout::new`].
    pub fn matrix(rows: usize, cols: usize) -> Result<Self, Error> {
        Self::layers(&[[rows, cols]])
    }

    /// Tensor-variate Gaussian over a tensor with these lengths of modes, the first one fastest: covariance V_K ⊗ … ⊗
    /// V_1.
    ///
    /// # Errors
    /// As [`Layout::new`].
    pub fn tensor(lengths: &[usize]) -> Result<Self, Error> {
        Self::layers(&[lengths])
    }

    /// Independent tensor-variate Gaussians over groups of consecutive coordinates, such as the layers of a network.
    ///
    /// # Errors
    /// As [`Layout::new`].
    pub fn layers<G: AsRef<[usize]>>(groups: &[G]) -> Result<Self, Error> {
        Ok(Self::full(Kind::Matrix { layout: Layout::new(groups)?, update: MatrixUpdate::default() }))
    }

    /// The same family with another update of its factors, if it has any.
    pub fn with_update(self, update: MatrixUpdate) -> Self {
        let kind = match self.kind {
            Kind::Matrix { layout, .. } => Kind::Matrix { layout, update },
            other => other,
        };
        Self { kind, ..self }
    }

    /// Mixture of `components` Gaussians.
    pub fn mog(components: usize) -> Self {
        Self::full(Kind::Mog { components })
    }

    /// Mixture of `components` products over the coordinates of members of one exponential family: one of
    /// [`ComponentKind::new`], or [your own](crate::component::OwnComponent).
    pub fn ef_mixture(component: impl Into<ComponentKind>, components: usize) -> Self {
        let kind = Kind::EfMixture { component: component.into(), other: None, components };
        Self { kind, covariance: Covariance::Diagonal }
    }

    /// The same with components of two exponential families in turn: the first, third, … of the one and the second,
    /// fourth, … of the other.
    pub fn ef_mixture_of_two(
        component: impl Into<ComponentKind>,
        other: impl Into<ComponentKind>,
        components: usize,
    ) -> Self {
        let component = component.into();
        let other = Some(other.into()).filter(|other| *other != component);
        Self { kind: Kind::EfMixture { component, other, components }, covariance: Covariance::Diagonal }
    }

    /// Mixture of `components` products of Birnbaum–Saunders laws (fatigue lives) with equal halves; other weights of
    /// the halves, and learned ones, are components of [`Family::ef_mixture`].
    pub fn birnbaum_saunders(components: usize) -> Self {
        let component = ComponentKind::new("birnbaum_saunders", None).expect("it is in the list of components");
        Self::ef_mixture(component, components)
    }

    /// Mixture of Gaussians, their number found by the fit.
    pub fn mog_auto() -> Self {
        Self::full(Kind::MogAuto)
    }

    /// Whichever of gaussian, student_t, skew and mog it takes.
    pub fn auto() -> Self {
        Self::full(Kind::Auto)
    }

    /// The same family with the given scale matrix.
    pub fn with_covariance(self, covariance: Covariance) -> Self {
        Self { covariance, ..self }
    }

    /// The same family with a diagonal scale matrix.
    pub fn diagonal(self) -> Self {
        self.with_covariance(Covariance::Diagonal)
    }

    /// The family's name.
    pub fn name(&self) -> &'static str {
        match self.kind {
            Kind::Gaussian => "gaussian",
            Kind::StudentT { .. } => "student_t",
            Kind::Skew => "skew",
            Kind::Emg => "emg",
            Kind::Nig { .. } => "nig",
            Kind::Snig { .. } => "snig",
            Kind::ScaleMixture { .. } => "scale_mixture",
            Kind::Own { law } => law.name(),
            Kind::OwnFamily { family } => family.name(),
            Kind::RankK { .. } => "rank_k",
            Kind::SkewK { .. } => "skew_k",
            Kind::EmgK { .. } => "emg_k",
            Kind::Matrix { .. } => "matrix",
            Kind::Mog { .. } | Kind::MogAuto => "mog",
            Kind::EfMixture { component, other: None, .. } if component.name().starts_with("birnbaum_saunders") => {
                "birnbaum_saunders"
            }
            Kind::EfMixture { .. } => "ef_mixture",
            Kind::Auto => "auto",
        }
    }

    /// Columns of B: 1 for μ, plus those of α or A.
    pub fn n_columns(&self) -> usize {
        match self.kind {
            Kind::RankK { rank: n } | Kind::SkewK { directions: n } | Kind::EmgK { directions: n } => {
                n.saturating_add(1)
            }
            _ if self.is_shifted() => 2,
            _ => 1,
        }
    }

    /// The law of w given which z is Gaussian; a point mass where the family has no such law.
    ///
    /// # Errors
    /// [`Error::Domain`] for a constant outside its domain.
    pub fn law(&self) -> Result<Law, Error> {
        Ok(match self.kind {
            Kind::StudentT { a, learn: false } => InverseGamma::new(a)?.into(),
            Kind::StudentT { a, learn: true } => InverseGamma::learned(a)?.into(),
            Kind::Skew => HalfNormal.into(),
            Kind::Emg => Exponential.into(),
            Kind::Nig { lambda, learn: false } => InverseGaussian::new(lambda)?.into(),
            Kind::Nig { lambda, learn: true } => InverseGaussian::new(lambda)?.learned().into(),
            Kind::Snig { lambda, learn: false } => ReciprocalInverseGaussian::new(lambda)?.into(),
            Kind::Snig { lambda, learn: true } => ReciprocalInverseGaussian::new(lambda)?.learned().into(),
            Kind::ScaleMixture { law, .. } => law,
            Kind::Own { law } => law.into(),
            _ => PointMass.into(),
        })
    }

    /// Number of components; 1 where it is still to be found.
    pub fn n_components(&self) -> usize {
        match self.kind {
            Kind::Mog { components } | Kind::EfMixture { components, .. } => components,
            _ => 1,
        }
    }

    /// The exponential family of component `c`, where it is a mixture of such.
    pub fn component(&self, c: usize) -> Option<ComponentKind> {
        match self.kind {
            Kind::EfMixture { component, other, .. } => Some(other.filter(|_| c % 2 == 1).unwrap_or(component)),
            _ => None,
        }
    }

    /// Where its members live.
    pub fn support(&self) -> Support {
        match self.kind {
            Kind::EfMixture { component, .. } => component.standard().support(),
            _ => Support::Real,
        }
    }
}

impl From<Own> for Kind {
    fn from(law: Own) -> Self {
        Self::Own { law }
    }
}

impl From<super::Own> for Kind {
    fn from(family: super::Own) -> Self {
        Self::OwnFamily { family }
    }
}

impl std::fmt::Display for Family {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}
