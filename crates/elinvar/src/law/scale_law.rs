//! The list of laws of a random scale: which there are, as data and as one type.

use serde::{Deserialize, Serialize};

use super::{Conditional, Entropy, Forms, MixingLaw, MixingNoise, Moments, VarianceGamma};
use crate::Error;

/// A law without shift, made from its constants.
pub trait ScaleLawOf: MixingLaw + PartialEq {
    /// Names of the constants with their usual values, at most two.
    const CONSTANTS: &'static [(&'static str, f64)];

    /// The law with these constants.
    ///
    /// # Errors
    /// If one lies outside its domain.
    fn from_constants(constants: &[f64]) -> Result<Self, Error>;
    /// The constants, in the order of the list.
    fn constants(&self) -> [f64; 2];
}

/// Everything that must know all laws, made from the list of `law/mod.rs`.
macro_rules! laws {
    ($($module:ident::$type:ident,)*) => {
        /// Any law of a random scale: z | s ~ N(μ, sΣ) with E[1/s] finite (mathematics §10.6).
        ///
        /// Paper: §4.2.
        #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(try_from = "Written", into = "Written")]
        #[non_exhaustive]
        pub enum ScaleLaw {
            $(
                #[doc = concat!("[`", stringify!($type), "`](super::", stringify!($type), ").")]
                $type(super::$type),
            )*
        }

        $(impl From<super::$type> for ScaleLaw {
            fn from(law: super::$type) -> Self {
                Self::$type(law)
            }
        })*

        impl ScaleLaw {
            /// The words for all laws.
            pub const NAMES: &'static [&'static str] = &[$(super::$type::NAME),*];

            /// The law of this name; `given` replaces its usual constants by name.
            ///
            /// # Errors
            /// [`Error::Unsupported`] for a word that is no law or no constant of it, and for laws outside the theory; [`Error::Domain`]
            /// for a constant outside its domain.
            pub fn new(name: &str, given: &[(&str, f64)]) -> Result<Self, Error> {
                if name == "laplace" {
                    return Ok(VarianceGamma::new(1.0)?.into());
                }
                $(if name == super::$type::NAME {
                    let names = super::$type::CONSTANTS;
                    if let Some((other, _)) = given.iter().find(|(word, _)| names.iter().all(|(name, _)| name != word)) {
                        let list: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
                        return Err(Error::Unsupported {
                            wanted: format!("the constant {other:?} of the law `{name}`"),
                            instead: if list.is_empty() { "it has none".into() } else { format!("it has {}", list.join(" and ")) },
                        });
                    }
                    let value = |(name, usual): &(&str, f64)| {
                        given.iter().find(|(word, _)| word == name).map_or(*usual, |(_, value)| *value)
                    };
                    let constants: Vec<f64> = names.iter().map(value).collect();
                    return Ok(super::$type::from_constants(&constants)?.into());
                })*
                Err(Error::Unsupported {
                    wanted: format!("the scale law {name:?}"),
                    instead: format!("use one of {}", Self::NAMES.join(", ")),
                })
            }

            /// The word for it.
            pub fn name(&self) -> &'static str {
                match self { $(Self::$type(_) => super::$type::NAME,)* }
            }

            /// The constants with their names.
            pub fn constants(&self) -> impl Iterator<Item = (&'static str, f64)> + use<> {
                let (names, values) = match self {
                    $(Self::$type(law) => (super::$type::CONSTANTS, ScaleLawOf::constants(law)),)*
                };
                names.iter().zip(values).map(|((name, _), value)| (*name, value))
            }
        }

        macro_rules! of_law {
            ($self_:expr, $law:ident => $body:expr) => {
                match $self_ { $(ScaleLaw::$type($law) => $body,)* }
            };
        }
    };
}

scale_laws!(laws);

impl std::fmt::Display for ScaleLaw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())?;
        self.constants().try_for_each(|(name, value)| write!(f, " {name} = {value}"))
    }
}

/// [`ScaleLaw`] as files have it: the constants stand beside the name.
#[derive(Serialize, Deserialize)]
struct Written {
    name: String,
    #[serde(flatten)]
    constants: std::collections::BTreeMap<String, f64>,
}

impl TryFrom<Written> for ScaleLaw {
    type Error = Error;

    fn try_from(written: Written) -> Result<Self, Error> {
        let given: Vec<(&str, f64)> = written.constants.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        Self::new(&written.name, &given)
    }
}

impl From<ScaleLaw> for Written {
    fn from(law: ScaleLaw) -> Self {
        Self {
            name: law.name().into(),
            constants: law.constants().map(|(name, value)| (name.to_string(), value)).collect(),
        }
    }
}

impl MixingLaw for ScaleLaw {
    const NAME: &'static str = "scale_mixture";
    const SHIFTED: bool = false;

    fn parameter(&self) -> Option<f64> {
        of_law!(self, law => law.parameter())
    }

    fn sample<N: MixingNoise + ?Sized>(&self, noise: &mut N) -> f64 {
        of_law!(self, law => law.sample(noise))
    }

    fn shift(&self, _w: f64) -> f64 {
        0.0
    }

    fn scale(&self, w: f64) -> f64 {
        of_law!(self, law => law.scale(w))
    }

    fn moments(&self) -> Moments {
        of_law!(self, law => law.moments())
    }

    fn conditional(&self, forms: Forms) -> Conditional {
        of_law!(self, law => law.conditional(forms))
    }

    fn log_marginal(&self, forms: Forms) -> f64 {
        of_law!(self, law => law.log_marginal(forms))
    }

    fn entropy(&self, kappa: f64, dim: usize) -> Option<Entropy> {
        of_law!(self, law => law.entropy(kappa, dim))
    }

    fn entropy_slope(&self, _kappa: f64) -> Option<f64> {
        Some(0.0)
    }

    fn log_mixing_density(&self, w: f64) -> f64 {
        of_law!(self, law => law.log_mixing_density(w))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn laws_are_written_with_their_words_and_read_back() {
        for name in ScaleLaw::NAMES {
            let law = ScaleLaw::new(name, &[]).unwrap();
            assert_eq!(law.name(), *name);
            let text = serde_json::to_string(&law).unwrap();
            assert_eq!(serde_json::from_str::<ScaleLaw>(&text).unwrap(), law, "{text}");
        }
        let law: ScaleLaw = serde_json::from_str(r#"{"name":"variance_gamma","k":3.5}"#).unwrap();
        assert_eq!(law, VarianceGamma::new(3.5).unwrap().into());
        assert_eq!(law.to_string(), "variance_gamma k = 3.5");
    }

    #[test]
    fn what_is_no_law_gets_a_sentence() {
        let said = |name: &str, given: &[(&str, f64)]| ScaleLaw::new(name, given).unwrap_err().to_string();
        assert!(said("laplace", &[]).contains("Fisher information of μ is infinite"));
        assert!(said("cauchy", &[]).contains("use one of student_t, snig, logistic, variance_gamma"));
        assert!(said("logistic", &[("a", 1.0)]).contains("it has none"));
        assert!(said("student_t", &[("k", 1.0)]).contains("it has a"));
        assert!(said("student_t", &[("a", 0.5)]).contains("a = 0.5"));
        assert!(serde_json::from_str::<ScaleLaw>(r#"{"name":"variance_gamma","k":0.5}"#).is_err());
    }
}
