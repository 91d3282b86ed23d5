//! The list of mixing laws: which there are, as data and as one type.

use serde::{Deserialize, Serialize};

use super::{
    Conditional, Entropy, Forms, MixingLaw, MixingNoise, Moments, Own, PathOfDraw, Role, ShapeSlopes, SkewnessOfShift,
    TwoPoint, VarianceGamma,
};
use crate::Error;

/// Everything that must know all laws, made from the list below.
macro_rules! laws {
    ($($type:ident,)*) => {
        /// Any mixing law, with its constants.
        #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(try_from = "Written", into = "Written")]
        #[non_exhaustive]
        pub enum Law {
            $(
                #[doc = concat!("`", stringify!($type), "` with its constants.")]
                $type(super::$type),
            )*
            /// A law that somebody has registered.
            Own(Own),
        }

        impl From<Own> for Law {
            fn from(law: Own) -> Self {
                Self::Own(law)
            }
        }

        $(impl From<super::$type> for Law {
            fn from(law: super::$type) -> Self {
                Self::$type(law)
            }
        })*

        /// Calls a method of the law.
        macro_rules! of_law {
            ($self_:expr, $law:ident => $body:expr) => {
                match $self_ { $(Law::$type($law) => $body,)* Law::Own($law) => $body }
            };
        }

        /// All laws, in the order of the list.
        const ALL: &[Entry] = &[$(Entry {
            name: super::$type::NAME,
            family: super::$type::FAMILY,
            constants: super::$type::CONSTANTS,
            first: super::$type::FIRST,
            is_scale: !super::$type::SHIFTED && super::$type::MIXES,
            make: |constants| Ok(super::$type::from_constants(constants)?.into()),
        },)*];

        impl Law {
            /// The word for it.
            pub fn name(&self) -> &'static str {
                match self { $(Self::$type(_) => super::$type::NAME,)* Self::Own(law) => law.name() }
            }

            /// Whether u(w) is not identically zero, that is, whether α exists.
            pub(crate) fn is_shifted(&self) -> bool {
                match self {
                    $(Self::$type(_) => super::$type::SHIFTED,)*
                    Self::Own(law) => law.role() != Role::Scale,
                }
            }

            /// Whether w is random.
            pub(crate) fn mixes(&self) -> bool {
                match self { $(Self::$type(_) => super::$type::MIXES,)* Self::Own(_) => true }
            }

            /// Whether [`Law::entropy`] is known; see [`MixingLaw::EXACT_ENTROPY`].
            pub(crate) fn has_exact_entropy(&self) -> bool {
                match self {
                    $(Self::$type(_) => super::$type::EXACT_ENTROPY,)*
                    Self::Own(law) => law.role() != Role::ShiftAndScale,
                }
            }

            /// The constants with their names.
            pub fn constants(&self) -> impl Iterator<Item = (&'static str, f64)> + use<> {
                let (names, values) = match self {
                    $(Self::$type(law) => (super::$type::CONSTANTS, MixingLaw::constants(law)),)*
                    Self::Own(_) => (&[][..], [0.0; 2]),
                };
                names.iter().zip(values).map(|((name, _), value)| (*name, value))
            }

            /// The same law with another constant, cut to where the law exists.
            pub(crate) fn with_parameter(&self, value: f64) -> Self {
                match self { $(Self::$type(law) => law.with_parameter(value).into(),)* Self::Own(_) => *self }
            }

            /// KL(this ‖ other) of two mixing laws of one kind; infinite for two kinds.
            pub(crate) fn divergence_from(&self, other: &Self) -> f64 {
                match (self, other) {
                    $((Self::$type(law), Self::$type(other)) => law.divergence_from(other),)*
                    (Self::Own(law), Self::Own(other)) if law == other => 0.0,
                    _ => f64::INFINITY,
                }
            }
        }
    };
}

/// A line of the list.
struct Entry {
    name: &'static str,
    family: Option<&'static str>,
    constants: &'static [(&'static str, f64)],
    first: Option<f64>,
    is_scale: bool,
    make: fn(&[f64]) -> Result<Law, Error>,
}

impl Entry {
    /// The law in which `given` replaces usual constants by name.
    fn with(&self, given: &[(&str, f64)]) -> Result<Law, Error> {
        if let Some((other, _)) = given.iter().find(|(word, _)| self.constants.iter().all(|(name, _)| name != word)) {
            let list: Vec<&str> = self.constants.iter().map(|(name, _)| *name).collect();
            return Err(Error::Unsupported {
                wanted: format!("the constant {other:?} of the law `{}`", self.name),
                instead: if list.is_empty() { "it has none".into() } else { format!("it has {}", list.join(" and ")) },
            });
        }
        let value = |(name, usual): &(&str, f64)| {
            given.iter().find(|(word, _)| word == name).map_or(*usual, |(_, value)| *value)
        };
        (self.make)(&self.constants.iter().map(value).collect::<Vec<f64>>())
    }
}

laws! {
    PointMass,
    InverseGamma,
    HalfNormal,
    Exponential,
    InverseGaussian,
    ReciprocalInverseGaussian,
    Logistic,
    VarianceGamma,
    GeneralisedHyperbolic,
}

/// The words of the laws that make a family of their own, in the order of the list, and as many empty ones as there are
/// others.
const WORDS: ([&str; ALL.len()], usize) = {
    let (mut words, mut n, mut i) = ([""; ALL.len()], 0, 0);
    while i < ALL.len() {
        if ALL[i].family.is_some() {
            words[n] = ALL[i].name;
            n += 1;
        }
        i += 1;
    }
    (words, n)
};

/// A law that makes a family of its own makes it under its name.
impl Law {
    /// The names of these families, in the order of the list.
    pub(crate) const FAMILIES: &'static [&'static str] = WORDS.0.split_at(WORDS.1).0;

    /// Names and usual values of the constants of a family that is named after its law.
    pub fn constants_of_family(name: &str) -> &'static [(&'static str, f64)] {
        ALL.iter().find(|law| law.family.is_some() && law.name == name).map_or(&[], |law| law.constants)
    }

    /// The law of the family of this name; `given` replaces its usual constants by name. Without any, a constant that a
    /// fit can move is moved by it.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a word that is no such family or no constant of it; [`Error::Domain`] for a constant
    /// outside its domain.
    pub(crate) fn of_family(name: &str, given: &[(&str, f64)]) -> Result<Self, Error> {
        let Some(entry) = ALL.iter().find(|law| law.family.is_some() && law.name == name) else {
            return Err(Error::Unsupported {
                wanted: format!("the family {name:?}"),
                instead: format!("of families that are named after a law, use {}", Self::FAMILIES.join(", ")),
            });
        };
        match (entry.first, entry.constants) {
            (Some(first), [(constant, _)]) if given.is_empty() => {
                Ok(entry.with(&[(*constant, first)])?.with_learning(true))
            }
            _ => entry.with(given),
        }
    }

    /// What sentences call the family, without its constants.
    pub fn family_in_words(&self) -> &'static str {
        ALL.iter().find(|law| law.name == self.name()).and_then(|law| law.family).unwrap_or(self.name())
    }

    /// Whether the constants lie in their domains.
    ///
    /// # Errors
    /// [`Error::Domain`] with the constant that does not.
    pub(crate) fn check(&self) -> Result<(), Error> {
        of_law!(self, law => check(law))
    }

    /// Whether s(w) = 1 for every w.
    pub(crate) fn keeps_scale(&self) -> bool {
        [0.5, 2.0].iter().all(|w| self.scale(*w) == 1.0)
    }

    /// The law with a constant that a fit moves, if it can, or with one that stays.
    pub(crate) fn with_learning(self, learn: bool) -> Self {
        of_law!(self, law => law.with_learning(learn).into())
    }
}

fn check<L: MixingLaw>(law: &L) -> Result<(), Error> {
    if L::CONSTANTS.is_empty() { Ok(()) } else { L::from_constants(&law.constants()).map(drop) }
}

impl Law {
    /// The words for the laws of a random scale without shift: z | s ~ N(μ, sΣ) with E[1/s] finite (mathematics §10.6).
    ///
    /// Paper: §4.2.
    pub fn scale_names() -> impl Iterator<Item = &'static str> {
        ALL.iter().filter(|law| law.is_scale).map(|law| law.name)
    }

    /// The law of a random scale of this name; `given` replaces its usual constants by name.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a word that is no such law or no constant of it, and for laws outside the theory;
    /// [`Error::Domain`] for a constant outside its domain.
    pub fn of_scale(name: &str, given: &[(&str, f64)]) -> Result<Self, Error> {
        if name == "laplace" {
            return Ok(VarianceGamma::new(1.0)?.into());
        }
        let Some(law) = ALL.iter().find(|law| law.is_scale && law.name == name) else {
            if let Ok(own) = Own::named(name) {
                return Ok(own.into());
            }
            return Err(Error::Unsupported {
                wanted: format!("the scale law {name:?}"),
                instead: format!("use one of {}", Self::scale_names().collect::<Vec<_>>().join(", ")),
            });
        };
        law.with(given)
    }

    /// Whether it is a law of a random scale without shift.
    pub(crate) fn is_scale(&self) -> bool {
        self.mixes() && !self.is_shifted()
    }

    /// A draw of w.
    pub(crate) fn sample<N: MixingNoise + ?Sized>(&self, noise: &mut N) -> f64 {
        of_law!(self, law => law.sample(noise))
    }
}

/// What every draw of a batch asks: the law is matched once, and the loop is its own.
impl Law {
    /// u(w) and s(w) of each draw.
    pub(crate) fn write_shifts_and_scales(&self, w: &[f64], u: &mut [f64], s: &mut [f64]) {
        of_law!(self, law => {
            for ((w, u), s) in w.iter().zip(u).zip(s) {
                (*u, *s) = (law.shift(*w), law.scale(*w));
            }
        });
    }

    /// [`Law::log_marginal`] of each draw.
    pub(crate) fn write_log_marginals(&self, forms: &[Forms], out: &mut [f64]) {
        of_law!(self, law => out.iter_mut().zip(forms).for_each(|(out, forms)| *out = law.log_marginal(*forms)));
    }

    /// [`MixingLaw::conditional`] of each draw, or [`MixingLaw::conditional_by_bounds`].
    pub(crate) fn write_conditionals(&self, forms: &[Forms], by_bounds: bool, out: &mut [Conditional]) {
        of_law!(self, law => out.iter_mut().zip(forms).for_each(|(out, forms)| {
            *out = if by_bounds { law.conditional_by_bounds(*forms) } else { law.conditional(*forms) };
        }));
    }
}

/// The methods of [`MixingLaw`], by the kind of law.
macro_rules! forward {
    ($($(#[$doc:meta])* $visible:vis fn $name:ident($($argument:ident: $type:ty),*) -> $out:ty;)*) => {
        impl Law {
            $($(#[$doc])*
            $visible fn $name(&self $(, $argument: $type)*) -> $out {
                of_law!(self, law => law.$name($($argument),*))
            })*
        }
    };
}

forward! {
    /// The free constant of the law (a or λ), if it has one.
    pub fn parameter() -> Option<f64>;
    /// u(w).
    pub(crate) fn shift(w: f64) -> f64;
    /// s(w).
    pub(crate) fn scale(w: f64) -> f64;
    /// Moments of the law.
    pub(crate) fn moments() -> Moments;
    /// Moments of w given z.
    pub(crate) fn conditional(forms: Forms) -> Conditional;
    /// The paper's two-point form of g_α, where it differs from E[u | z].
    pub(crate) fn two_point(forms: Forms) -> Option<TwoPoint>;
    /// log q(z) − ½ log|P|.
    pub(crate) fn log_marginal(forms: Forms) -> f64;
    /// The entropy, where it is known.
    pub(crate) fn entropy(kappa: f64, dim: usize) -> Option<Entropy>;
    /// e(κ) alone, where the entropy is known.
    pub(crate) fn entropy_slope(kappa: f64) -> Option<f64>;
    /// log q(w); zero for a point mass.
    pub(crate) fn log_mixing_density(w: f64) -> f64;
    /// The shift with this third cumulant of z along it; none for a law without shift.
    pub(crate) fn skewness_of_shift(third: f64) -> Option<SkewnessOfShift>;
    /// Whether a fit moves the constant of the law.
    pub fn is_learned() -> bool;
    /// The family in a sentence; `number` writes its constants.
    pub fn in_words(number: fn(f64) -> String) -> String;
    /// The constant after a step β along its natural gradient.
    pub(crate) fn moved_parameter(natural_gradient: f64, beta: f64) -> f64;
    /// The infimum of the constant.
    pub(crate) fn lowest_parameter() -> f64;
    /// ∂w/∂a of a draw at fixed probability.
    pub(crate) fn path_derivative(w: f64) -> f64;
    /// How z moves with the constant where w moves by `dw`.
    pub(crate) fn path_of_draw(w: f64, dw: f64) -> PathOfDraw;
    /// ∂ log q(w)/∂a.
    pub(crate) fn shape_score(w: f64) -> f64;
    /// ∂t(w)/∂w ∂w/∂a of the statistic t whose natural parameter the constant is.
    pub(crate) fn sampled_fisher(w: f64, path_derivative: f64) -> f64;
    /// Information about the constant and slopes in it.
    pub(crate) fn shape_slopes(dim: usize) -> Option<ShapeSlopes>;
    /// What z says about the constant once the size of Σ is fitted, too.
    pub(crate) fn marginal_fisher(dim: usize) -> Option<f64>;
}

impl std::fmt::Display for Law {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())?;
        self.constants().try_for_each(|(name, value)| write!(f, " {name} = {value}"))
    }
}

/// [`Law`] as files have it: the constants stand beside the name.
#[derive(Serialize, Deserialize)]
struct Written {
    name: String,
    #[serde(flatten)]
    constants: std::collections::BTreeMap<String, f64>,
}

impl TryFrom<Written> for Law {
    type Error = Error;

    fn try_from(written: Written) -> Result<Self, Error> {
        let given: Vec<(&str, f64)> = written.constants.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        Self::of_scale(&written.name, &given)
    }
}

impl From<Law> for Written {
    fn from(law: Law) -> Self {
        Self {
            name: law.name().into(),
            constants: law.constants().map(|(name, value)| (name.to_string(), value)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scale_laws_are_written_with_their_words_and_read_back() {
        for name in Law::scale_names() {
            let law = Law::of_scale(name, &[]).unwrap();
            assert_eq!(law.name(), name);
            let text = serde_json::to_string(&law).unwrap();
            assert_eq!(serde_json::from_str::<Law>(&text).unwrap(), law, "{text}");
        }
        let law: Law = serde_json::from_str(r#"{"name":"variance_gamma","k":3.5}"#).unwrap();
        assert_eq!(law, VarianceGamma::new(3.5).unwrap().into());
        assert_eq!(law.to_string(), "variance_gamma k = 3.5");
    }

    #[test]
    fn a_law_that_makes_a_family_says_all_that_is_asked_of_it() {
        assert_eq!(Law::FAMILIES, ["student_t", "skew", "emg", "nig", "snig"]);
        for name in Law::FAMILIES {
            let usual = Law::of_family(name, Law::constants_of_family(name)).unwrap();
            assert!(usual.check().is_ok() && !usual.is_learned(), "{name}");
            let first = Law::of_family(name, &[]).unwrap();
            assert_eq!(first.is_learned(), first.constants().count() == 1, "{name}");
            assert_eq!(first.with_learning(false).with_learning(true), first, "{name}");
            assert!(usual.in_words(|v| v.to_string()).starts_with(usual.family_in_words()), "{name}");
        }
        let words = |name: &str| Law::of_family(name, &[]).unwrap().in_words(|v| v.to_string());
        assert_eq!(words("skew"), "skew-Gaussian");
        assert_eq!(words("student_t"), "Student-t with 5 degrees of freedom (learned)");
        assert_eq!(words("snig"), "symmetric normal inverse-Gaussian (λ = 2, learned)");
        assert!(Law::of_family("logistic", &[]).is_err() && Law::of_family("nig", &[("a", 1.0)]).is_err());
        let keeps = |name: &str| Law::of_family(name, &[]).unwrap().keeps_scale();
        assert_eq!(["skew", "emg", "nig", "snig"].map(keeps), [true, true, false, false]);
    }

    #[test]
    fn what_is_no_scale_law_gets_a_sentence() {
        let said = |name: &str, given: &[(&str, f64)]| Law::of_scale(name, given).unwrap_err().to_string();
        assert!(said("laplace", &[]).contains("Fisher information of μ is infinite"));
        assert!(said("cauchy", &[]).contains("use one of student_t, snig, logistic, variance_gamma"));
        assert!(said("skew", &[]).contains("use one of student_t"));
        assert!(said("logistic", &[("a", 1.0)]).contains("it has none"));
        assert!(said("student_t", &[("k", 1.0)]).contains("it has a"));
        assert!(said("student_t", &[("a", 0.5)]).contains("a = 0.5"));
        assert!(serde_json::from_str::<Law>(r#"{"name":"variance_gamma","k":0.5}"#).is_err());
    }
}
