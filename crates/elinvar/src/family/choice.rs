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

/// Names of families before those that are named after a law of w.
const FIRST: [&str; 2] = ["gaussian", "mog"];

/// Names of families after those.
const LAST: [&str; 8] =
    ["rank_k", "skew_k", "emg_k", "scale_mixture", "matrix", "ef_mixture", "birnbaum_saunders", "dirichlet"];

const LISTED: &str = "it is in the list of laws";

/// A family with its constants.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "WrittenKind", into = "WrittenKind")]
#[non_exhaustive]
pub enum Kind {
    /// N(μ, Σ).
    Gaussian,
    /// Gaussian mixed over the law that it is named after: `student_t`, `skew`, `emg`, `nig` and `snig`, and a law that
    /// somebody has registered.
    Mixed {
        /// The law of w. Of a learned constant it has the present value, in a request the first.
        law: Law,
    },
    /// Gaussian whose scale is random: z | s ~ N(μ, sΣ).
    ScaleMixture {
        /// The law of s.
        law: Law,
        /// Whether every coordinate has a scale of its own; Σ is diagonal then.
        product: bool,
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
    /// Mixture of Dirichlet distributions, for shares that sum to one; there is no scale matrix.
    Dirichlet {
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
    pub const NAMES: [&'static str; FIRST.len() + Law::FAMILIES.len() + LAST.len()] = {
        let mut names = [""; FIRST.len() + Law::FAMILIES.len() + LAST.len()];
        let (laws, mut i) = (Law::FAMILIES, 0);
        while i < names.len() {
            let after = i.saturating_sub(FIRST.len());
            names[i] = if i < FIRST.len() {
                FIRST[i]
            } else if after < laws.len() {
                laws[after]
            } else {
                LAST[after - laws.len()]
            };
            i += 1;
        }
        names
    };

    fn full(kind: Kind) -> Self {
        Self { kind, covariance: Covariance::Full }
    }

    fn mixed(law: impl Into<Law>) -> Self {
        Self::full(Kind::Mixed { law: law.into() })
    }

    /// The family that is named after its law of w, such as `nig`; `given` replaces usual constants by name. Without
    /// any, a constant that a fit can find is found by it.
    ///
    /// # Errors
    /// For a word that is no such family or no constant of it, and a constant outside its domain.
    pub fn of_law(name: &str, given: &[(&str, f64)]) -> Result<Self, Error> {
        Law::of_family(name, given).map(Self::mixed)
    }

    /// N(μ, Σ).
    pub fn gaussian() -> Self {
        Self::full(Kind::Gaussian)
    }

    /// Student's t with 2a degrees of freedom, a > 1.
    pub fn student_t(a: f64) -> Self {
        Self::mixed(InverseGamma::unchecked(a))
    }

    /// Student's t whose degrees of freedom the fit finds; it begins with five.
    pub fn student_t_learned() -> Self {
        Self::of_law("student_t", &[]).expect(LISTED)
    }

    /// Skew-Gaussian.
    pub fn skew() -> Self {
        Self::mixed(HalfNormal)
    }

    /// Exponentially modified Gaussian.
    pub fn emg() -> Self {
        Self::mixed(Exponential)
    }

    /// Normal inverse-Gaussian, λ > 0.
    pub fn nig(lambda: f64) -> Self {
        Self::mixed(InverseGaussian::unchecked(lambda))
    }

    /// Symmetric scale mixture with inverse-Gaussian mixing, λ > 0.
    pub fn snig(lambda: f64) -> Self {
        Self::mixed(ReciprocalInverseGaussian::unchecked(lambda))
    }

    /// Normal inverse-Gaussian whose λ the fit finds.
    pub fn nig_learned() -> Self {
        Self::of_law("nig", &[]).expect(LISTED)
    }

    /// Symmetric scale mixture with inverse-Gaussian mixing whose λ the fit finds.
    pub fn snig_learned() -> Self {
        Self::of_law("snig", &[]).expect(LISTED)
    }

    /// The same family with a constant of its law of w that the fit finds, if it can, from the present one on.
    pub fn learned(self) -> Self {
        match self.kind {
            Kind::Mixed { law } => Self { kind: Kind::Mixed { law: law.with_learning(true) }, ..self },
            _ => self,
        }
    }

    /// Gaussian whose scale is random, with this law of the scale.
    pub fn scale_mixture(law: impl Into<Law>) -> Self {
        // The constants of a scale mixture are not learned.
        Self::full(Kind::ScaleMixture { law: law.into().with_learning(false), product: false })
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

    /// Mixture of `components` Dirichlet distributions, for a target on [`Support::Simplex`].
    pub fn dirichlet(components: usize) -> Self {
        Self { kind: Kind::Dirichlet { components }, covariance: Covariance::Diagonal }
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
            Kind::Mixed { law } => law.name(),
            Kind::ScaleMixture { .. } => "scale_mixture",
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
            Kind::Dirichlet { .. } => "dirichlet",
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
            Kind::Mixed { law } => {
                law.check()?;
                law
            }
            Kind::ScaleMixture { law, .. } => law,
            _ => PointMass.into(),
        })
    }

    /// Number of components; 1 where it is still to be found.
    pub fn n_components(&self) -> usize {
        match self.kind {
            Kind::Mog { components } | Kind::EfMixture { components, .. } | Kind::Dirichlet { components } => {
                components
            }
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
            Kind::Dirichlet { .. } => Support::Simplex,
            _ => Support::Real,
        }
    }
}

impl From<Own> for Kind {
    fn from(law: Own) -> Self {
        Self::Mixed { law: law.into() }
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
