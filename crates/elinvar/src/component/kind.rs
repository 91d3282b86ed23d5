//! The list of components: which there are, as data and as one type.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::{ExponentialFamily, Own, OwnMember, ParameterMatrix, Parameters};
use crate::Error;
use crate::random::MixingNoise;
use crate::target::Support;

/// Everything that must know all components, made from the list below.
macro_rules! components {
    ($($type:ident,)*) => {
        /// Which exponential family, with its constant if it has one.
        #[derive(Clone, Copy, Debug, PartialEq, Serialize)]
        #[serde(into = "Written")]
        pub struct ComponentKind {
            name: &'static str,
            constant: f64,
        }

        impl ComponentKind {
            /// The words for all components.
            pub const NAMES: &'static [&'static str] = &[$(super::$type::NAME),*];

            /// The component of this name; `constant` replaces its usual constant.
            ///
            /// # Errors
            /// [`Error::Unsupported`] for a word that is none, [`Error::Domain`] for a constant outside its domain.
            pub fn new(name: &str, constant: Option<f64>) -> Result<Self, Error> {
                $(if name == super::$type::NAME {
                    let usual = super::$type::CONSTANT;
                    let value = constant.or(usual.map(|(_, value)| value)).unwrap_or(0.0);
                    return match (usual, super::$type::standard(value)) {
                        (None, _) if constant.is_some() => Err(Error::Unsupported {
                            wanted: format!("a constant for the component `{name}`"),
                            instead: "leave it out: this component has none".into(),
                        }),
                        (_, Some(member)) => Ok(Self { name: super::$type::NAME, constant: member.constant() }),
                        (usual, None) => Err(Error::Domain {
                            parameter: usual.map_or("constant", |(name, _)| name),
                            value,
                            reason: "the component does not exist for it",
                        }),
                    };
                })*
                match (Own::named(name), constant) {
                    (Ok(own), None) => Ok(own.into()),
                    (Ok(_), Some(_)) => Err(Error::Unsupported {
                        wanted: format!("a constant for the component `{name}`"),
                        instead: "leave it out: a component of your own has none".into(),
                    }),
                    (Err(_), _) => Err(Error::Unsupported {
                        wanted: format!("the component {name:?}"),
                        instead: format!(
                            "use one of {}, or register your own with component::Own::register before it is asked for",
                            Self::NAMES.join(", ")
                        ),
                    }),
                }
            }

            /// The member with standard parameters.
            pub fn standard(&self) -> Component {
                $(if self.name == super::$type::NAME
                    && let Some(member) = super::$type::standard(self.constant)
                {
                    return Component::$type(member);
                })*
                match Own::named(self.name) {
                    Ok(own) => Component::Own(own.standard()),
                    Err(_) => unreachable!("a kind is made from the list or of a registered component"),
                }
            }

            /// The name of the constant, if the component has one.
            pub fn constant_name(&self) -> Option<&'static str> {
                $(if self.name == super::$type::NAME {
                    return super::$type::CONSTANT.map(|(name, _)| name);
                })*
                None
            }
        }

        /// A member of any component family.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Component {
            $(
                #[doc = concat!("`", stringify!($type), "` with its parameters.")]
                $type(super::$type),
            )*
            /// A member of a component that somebody has registered.
            Own(OwnMember<'static>),
        }

        /// Calls a method of the member.
        macro_rules! of_member {
            ($self_:expr, $c:ident => $body:expr) => {
                match $self_ { $(Component::$type($c) => $body,)* Component::Own($c) => $body }
            };
        }

        /// Calls a method that makes another member of the same family.
        macro_rules! remade {
            ($self_:expr, $c:ident => $body:expr) => {
                match $self_ {
                    $(Component::$type($c) => $body.map(Component::$type),)*
                    Component::Own($c) => $body.map(Component::Own),
                }
            };
        }

        impl Component {
            /// Which family.
            pub fn kind(&self) -> ComponentKind {
                match self {
                    $(Component::$type(c) => ComponentKind { name: super::$type::NAME, constant: c.constant() },)*
                    Component::Own(c) => c.own().into(),
                }
            }

            /// Where z lives.
            pub fn support(&self) -> Support {
                of_member!(self, c => c.support())
            }

            /// Number of natural parameters.
            pub fn n_free(&self) -> usize {
                of_member!(self, c => c.n_free())
            }

            /// Names of the usual parameters.
            pub fn parameter_names(&self) -> &'static [&'static str] {
                match self {
                    $(Component::$type(_) => super::$type::PARAMETERS,)*
                    Component::Own(c) => c.own().parameter_names(),
                }
            }
        }
    };
}

components! {
    Exponential,
    Gamma,
    GammaRate,
    InverseGamma,
    InverseGammaScale,
    Weibull,
    Normal,
    LogNormal,
    InverseGaussian,
    BirnbaumSaunders,
    BirnbaumSaundersLearned,
    Beta,
    VonMises,
}

impl From<Own> for ComponentKind {
    fn from(own: Own) -> Self {
        Self { name: own.name(), constant: 0.0 }
    }
}

impl ComponentKind {
    /// The word for it.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The constant, if the component has one.
    pub fn constant(&self) -> Option<f64> {
        self.constant_name().map(|_| self.constant)
    }
}

/// [`ComponentKind`] as files have it.
#[derive(Serialize, Deserialize)]
struct Written {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    constant: Option<f64>,
}

// Not derived: the derived form would borrow the name from the text for ever.
impl<'de> Deserialize<'de> for ComponentKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Written::deserialize(deserializer)?;
        Self::new(&written.name, written.constant).map_err(D::Error::custom)
    }
}

impl From<ComponentKind> for Written {
    fn from(kind: ComponentKind) -> Self {
        Self { name: kind.name.into(), constant: kind.constant() }
    }
}

/// The methods of [`ExponentialFamily`], by the member's family.
macro_rules! forward {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*) -> $out:ty;)*) => {
        impl Component {
            $($(#[$doc])*
            pub fn $name(&self $(, $argument: $type)*) -> $out {
                of_member!(self, c => c.$name($($argument),*))
            })*
        }
    };
}

macro_rules! forward_remade {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*);)*) => {
        impl Component {
            $($(#[$doc])*
            pub fn $name(&self $(, $argument: $type)*) -> Option<Self> {
                remade!(self, c => c.$name($($argument),*))
            })*
        }
    };
}

forward! {
    /// The usual parameters.
    parameters() -> Parameters;
    /// η.
    natural() -> Parameters;
    /// m = E[t(z)].
    expectation() -> Parameters;
    /// F = ∂m/∂η.
    fisher() -> ParameterMatrix;
    /// F⁻¹g.
    natural_gradient(gradient: Parameters) -> Parameters;
    /// A(η).
    log_partition() -> f64;
    /// t(z).
    statistics(z: f64) -> Parameters;
    /// t′(z); `None` where t depends on η, too.
    statistics_slope(z: f64) -> Option<Parameters>;
    /// log q(z).
    log_density(z: f64) -> f64;
    /// d log q/dz.
    score(z: f64) -> f64;
    /// d² log q/dz².
    second_derivative(z: f64) -> f64;
    /// E\[z\] and Var\[z\]; on the circle the mean direction and −2 log of the mean resultant length.
    mean_and_variance() -> (f64, f64);
    /// The entropy, where it has a closed form.
    entropy() -> Option<f64>;
    /// ∂z/∂η of a draw z.
    path_derivative(z: f64) -> Parameters;
    /// Free coordinates.
    chart() -> Parameters;
    /// ∂η_i/∂chart_j.
    chart_jacobian() -> ParameterMatrix;
}

forward_remade! {
    /// The member with these usual parameters.
    with_parameters(parameters: Parameters);
    /// The member with natural parameters η.
    with_natural(natural: Parameters);
    /// The member with expectation parameters m.
    with_expectation(expectation: Parameters);
    /// The member with about these moments.
    with_moments(mean: f64, variance: f64);
    /// The member with these free coordinates.
    with_chart(coordinates: Parameters);
}

impl Component {
    /// A draw.
    pub fn sample<N: MixingNoise + ?Sized>(&self, noise: &mut N) -> f64 {
        of_member!(self, c => c.sample(noise))
    }

    /// [`super::implicit::path_derivative`]: ∂z/∂η by quadrature, whatever formula the component has.
    pub(crate) fn implicit_derivative(&self, z: f64) -> Parameters {
        of_member!(self, c => super::implicit::path_derivative(c, z))
    }
}
