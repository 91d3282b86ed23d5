//! A mixing law that somebody else brings: its density and its quantiles, and everything else by integrals over w.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use super::integral::{Integral, Powers};
use super::{Conditional, Entropy, Forms, MixingLaw, MixingNoise, Moments, SkewnessOfShift, entropy_of_radius};
use crate::Error;
use crate::registry::{Named, Registry};
use crate::special::normal::HALF_LOG_TWO_PI;

/// What w does to z (mathematics §0.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// z | w ~ N(μ, wΣ): heavier or lighter tails.
    Scale,
    /// z | w ~ N(μ + wα, Σ): skewness, as in `skew` and `emg`.
    Shift,
    /// z | w ~ N(μ + wα, wΣ): both, as in `nig`.
    ShiftAndScale,
}

/// A law of w > 0 that is not in elinvar. With [`Own::register`] it becomes the family
/// [`Family::own`](crate::Family::own), which is fitted, evaluated, saved and loaded like any other.
///
/// Two functions suffice; what else a fit asks of a law follows from integrals over w, which cost some microseconds for
/// each draw. The density of log w has to have one peak. `elinvar::conformance::law` tries the two against each other.
/// A law whose w has no variance is taken, but its gradients have none either: draws are added until a limit ends the
/// fit, which may be long.
///
/// ```
/// use elinvar::research::law::{Own, OwnLaw};
/// use elinvar::{Family, Plan};
///
/// /// w has the law of Rayleigh, with the density w exp(−w²/2).
/// #[derive(Debug)]
/// struct Rayleigh;
///
/// impl OwnLaw for Rayleigh {
///     fn name(&self) -> &'static str {
///         "rayleigh"
///     }
///
///     fn log_density(&self, w: f64) -> f64 {
///         w.ln() - 0.5 * w * w
///     }
///
///     fn quantile(&self, p: f64) -> f64 {
///         (-2.0 * (-p).ln_1p()).sqrt()
///     }
/// }
///
/// let law = Own::register(Rayleigh)?;
/// let target = elinvar::model::Banana::default();
/// let posterior = elinvar::Fit::new(&target).family(Family::own(law)).run()?;
/// assert_eq!(posterior.family(), Family::own(law));
/// # Ok::<(), elinvar::Error>(())
/// ```
pub trait OwnLaw: fmt::Debug + Send + Sync + 'static {
    /// Its name in files; other constants are another law, and need another name.
    fn name(&self) -> &'static str;
    /// What w does to z.
    fn role(&self) -> Role {
        Role::Scale
    }
    /// log q(w) for w > 0, with its constant.
    fn log_density(&self, w: f64) -> f64;
    /// The w below which the law has the probability p, 0 < p < 1.
    fn quantile(&self, p: f64) -> f64;
}

/// A registered law: as small as a pointer.
#[derive(Clone, Copy)]
pub struct Own(&'static Registered);

/// A law, and what of it never changes.
struct Registered {
    law: Box<dyn OwnLaw>,
    role: Role,
    median: f64,
    moments: Moments,
    /// The third central moment of w.
    third: f64,
    /// The entropy for the dimension that was last asked for, where it depends on nothing else.
    entropy: Mutex<Option<(usize, f64)>>,
}

impl Named for Registered {
    fn name(&self) -> &'static str {
        self.law.name()
    }
}

static REGISTRY: Registry<Registered> = Registry::new("mixing law");

/// Largest difference of the law's total mass from one.
const MASS: f64 = 1e-6;

impl Own {
    /// Makes a law known for the rest of the program, so that files with its name can be read.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a name that is taken; [`Error::Domain`] for a density that does not integrate to one,
    /// or without the moments that its role needs: E\[w\], for a scale E[1/w], for a shift E\[w³\].
    pub fn register(law: impl OwnLaw) -> Result<Self, Error> {
        let name = law.name();
        let is_taken = super::Law::scale_names().any(|listed| listed == name);
        let make = || {
            let (role, median, found) = (law.role(), law.quantile(0.5), integral(&law)?);
            let (moments, third) = (moments(role, &found), found.central[1]);
            Ok(Registered { law: Box::new(law), role, median, moments, third, entropy: Mutex::new(None) })
        };
        REGISTRY.add(name, is_taken, make).map(Self)
    }

    /// The registered law of this name.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if there is none.
    pub fn named(name: &str) -> Result<Self, Error> {
        REGISTRY.named(name).map(Self)
    }

    /// The law's name.
    pub fn name(self) -> &'static str {
        self.0.law.name()
    }

    /// What w does to z.
    pub fn role(self) -> Role {
        self.0.role
    }

    /// The integral of q(w) N(z | w) over w, but for the factor (2π)^{−d/2} and, without a scale, e^{−Q/2}.
    fn given(self, forms: Forms) -> Integral {
        let Forms { dim, q, l, kappa } = forms;
        let (law, half) = (&*self.0.law, 0.5 * dim as f64);
        let powers = match self.0.role {
            Role::Shift => Powers { down: 0.0, up: 2.0 },
            _ => Powers { down: 2.0, up: 1.0 },
        };
        match self.0.role {
            Role::Scale => Integral::new(self.0.median, powers, |w| law.log_density(w) - half * w.ln() - 0.5 * q / w),
            Role::Shift => Integral::new(self.0.median, powers, |w| law.log_density(w) + w * l - 0.5 * w * w * kappa),
            Role::ShiftAndScale => Integral::new(self.0.median, powers, |w| {
                law.log_density(w) - half * w.ln() - 0.5 * (q / w - 2.0 * l + w * kappa)
            }),
        }
    }
}

/// Why this cannot be a mixing law, if it cannot.
pub(crate) fn problem_of(law: &dyn OwnLaw) -> Option<String> {
    integral(law).err().map(|error| error.to_string())
}

/// The integral over the law alone, with the moments that its role needs.
fn integral(law: &dyn OwnLaw) -> Result<Integral, Error> {
    let domain = |parameter, value, reason| Error::Domain { parameter, value, reason };
    let median = law.quantile(0.5);
    if !(median > 0.0 && median.is_finite()) {
        return Err(domain("median of the law", median, "w has to be positive and finite"));
    }
    let powers = match law.role() {
        Role::Scale => Powers { down: 1.0, up: 1.0 },
        Role::Shift => Powers { down: 0.0, up: 3.0 },
        Role::ShiftAndScale => Powers { down: 1.0, up: 2.0 },
    };
    let found = Integral::new(median, powers, |w| law.log_density(w));
    let mass = found.log_total.exp();
    if mass.is_nan() || (mass - 1.0).abs() > MASS {
        return Err(domain("total mass of the law", mass, "exp(log_density) has to integrate to one over w > 0"));
    }
    if !found.is_finite {
        return Err(domain("mean of the law", found.mean, "a moment that the role of w needs does not exist"));
    }
    Ok(found)
}

fn moments(role: Role, of: &Integral) -> Moments {
    let (mean, square) = (of.mean, of.central[0] + of.mean * of.mean);
    match role {
        Role::Scale => Moments::of_scale(mean, of.mean_inverse),
        Role::Shift => Moments { u: mean, uu: square, s: 1.0, inv_s: 1.0, u_inv_s: mean, uu_inv_s: square },
        Role::ShiftAndScale => {
            Moments { u: mean, uu: square, s: mean, inv_s: of.mean_inverse, u_inv_s: 1.0, uu_inv_s: mean }
        }
    }
}

impl fmt::Debug for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.law.fmt(f)
    }
}

impl PartialEq for Own {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl MixingLaw for Own {
    const NAME: &'static str = "own";

    fn from_constants(_: &[f64]) -> Result<Self, Error> {
        Self::named(Self::NAME)
    }

    fn sample<N: MixingNoise + ?Sized>(&self, noise: &mut N) -> f64 {
        self.0.law.quantile(noise.uniform())
    }

    fn shift(&self, w: f64) -> f64 {
        if self.0.role == Role::Scale { 0.0 } else { w }
    }

    fn scale(&self, w: f64) -> f64 {
        if self.0.role == Role::Shift { 1.0 } else { w }
    }

    fn moments(&self) -> Moments {
        self.0.moments
    }

    fn conditional(&self, forms: Forms) -> Conditional {
        let found = self.given(forms);
        let (mean, inverse) = (found.mean, found.mean_inverse);
        match self.0.role {
            Role::Scale => Conditional::of_scale(mean, inverse, found.variance_inverse),
            Role::Shift => Conditional {
                u: mean,
                s: 1.0,
                inv_s: 1.0,
                u_inv_s: mean,
                var_u_inv_s: found.central[0],
                ..Conditional::default()
            },
            Role::ShiftAndScale => Conditional {
                u: mean,
                s: mean,
                inv_s: inverse,
                u_inv_s: 1.0,
                var_inv_s: found.variance_inverse,
                ..Conditional::default()
            },
        }
    }

    fn log_marginal(&self, forms: Forms) -> f64 {
        let of_distance = if self.0.role == Role::Shift { 0.5 * forms.q } else { 0.0 };
        self.given(forms).log_total - of_distance - forms.dim as f64 * HALF_LOG_TWO_PI
    }

    fn entropy(&self, kappa: f64, dim: usize) -> Option<Entropy> {
        match self.0.role {
            Role::Scale => {
                let mut kept = self.0.entropy.lock().unwrap_or_else(PoisonError::into_inner);
                let value = match *kept {
                    Some((known, value)) if known == dim => value,
                    _ => entropy_of_radius(self, dim),
                };
                *kept = Some((dim, value));
                Some(Entropy::of_scale(value))
            }
            Role::Shift => Some(self.entropy_of_shift(kappa, dim)),
            Role::ShiftAndScale => None,
        }
    }

    fn entropy_slope(&self, kappa: f64) -> Option<f64> {
        Some(self.entropy(kappa, 1)?.slope)
    }

    fn log_mixing_density(&self, w: f64) -> f64 {
        self.0.law.log_density(w)
    }

    fn in_words(&self, _: fn(f64) -> String) -> String {
        self.name().to_owned()
    }

    /// Along α, z has the third cumulant c₃|α|³ of a shift; where w is a scale, too, 3 Var(w)|α| + c₃|α|³, of which the
    /// first is more for a small α.
    fn skewness_of_shift(&self, third: f64) -> Option<SkewnessOfShift> {
        let Moments { u, uu, .. } = self.0.moments;
        let (mean, variance) = (u, uu - u * u);
        match self.0.role {
            Role::Scale => None,
            Role::Shift => Some(SkewnessOfShift { mean, variance, length: (third / self.0.third).cbrt() }),
            Role::ShiftAndScale => Some(SkewnessOfShift { mean, variance, length: third / (3.0 * variance) }),
        }
    }
}

impl Own {
    /// x = w√κ + ε along α, and d − 1 standard normal coordinates: H = H(x) + (d − 1) ½ log 2πe, and e(κ) =
    /// E[Var(w | x)].
    fn entropy_of_shift(self, kappa: f64, dim: usize) -> Entropy {
        /// The density of x is at least as smooth as that of ε.
        const STEP: f64 = 0.3;
        let root = kappa.sqrt();
        let start = self.0.median * root;
        let at = |x: f64| {
            let found = self.given(Forms { dim: 1, q: x * x, l: x * root, kappa });
            let log_p = found.log_total - 0.5 * x * x - HALF_LOG_TWO_PI;
            (log_p, found.central[0])
        };
        let (mut value, mut slope) = (0.0, 0.0);
        let mut add = |x: f64| {
            let (log_p, variance) = at(x);
            let p = log_p.exp();
            value -= p * log_p;
            slope += p * variance;
            log_p
        };
        add(start);
        for direction in [-STEP, STEP] {
            for j in 1..100_000 {
                if add(start + direction * f64::from(j)) < -42.0 {
                    break;
                }
            }
        }
        let others = (dim as f64 - 1.0) * (HALF_LOG_TWO_PI + 0.5);
        Entropy { value: value * STEP + others, slope: slope * STEP }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Exponential, HalfNormal, InverseGamma, InverseGaussian};
    use super::*;

    /// A law of elinvar, known by its density alone.
    #[derive(Debug)]
    struct Copied<L>(L, &'static str, Role);

    impl<L: MixingLaw + 'static> OwnLaw for Copied<L> {
        fn name(&self) -> &'static str {
            self.1
        }

        fn role(&self) -> Role {
            self.2
        }

        fn log_density(&self, w: f64) -> f64 {
            self.0.log_mixing_density(w)
        }

        /// Draws are not asked for here.
        fn quantile(&self, p: f64) -> f64 {
            2.0 * p
        }
    }

    fn near(found: f64, truth: f64, what: &str) {
        assert!((found - truth).abs() <= 1e-9 * truth.abs().max(1.0), "{what}: {found} instead of {truth}");
    }

    /// Whatever is asked of the law is what its closed forms say.
    fn agree<L: MixingLaw + 'static>(law: L, name: &'static str, role: Role) {
        let own = Own::register(Copied(law, name, role)).unwrap();
        let (a, b) = (own.moments(), law.moments());
        for (k, (found, truth)) in
            [(a.u, b.u), (a.uu, b.uu), (a.s, b.s), (a.inv_s, b.inv_s), (a.u_inv_s, b.u_inv_s), (a.uu_inv_s, b.uu_inv_s)]
                .into_iter()
                .enumerate()
        {
            near(found, truth, &format!("{name}, moment {k}"));
        }
        for dim in [1, 2, 30] {
            for (q, cosine, kappa) in [(0.3, 0.5, 0.4), (4.0, -0.9, 1.0), (60.0, 0.99, 9.0), (25.0, 0.1, 1e-3)] {
                let kappa: f64 = if role == Role::Scale { 0.0 } else { kappa };
                let forms = Forms { dim, q, l: cosine * (q * kappa).sqrt(), kappa };
                let what = format!("{name}, {forms:?}");
                near(own.log_marginal(forms), law.log_marginal(forms), &what);
                let (a, b) = (own.conditional(forms), law.conditional(forms));
                for (found, truth) in [
                    (a.u, b.u),
                    (a.s, b.s),
                    (a.inv_s, b.inv_s),
                    (a.u_inv_s, b.u_inv_s),
                    (a.var_inv_s, b.var_inv_s),
                    (a.var_u_inv_s, b.var_u_inv_s),
                ] {
                    near(found, truth, &what);
                }
                let entropies = (own.entropy(kappa, dim), law.entropy(kappa, dim));
                if let (Some(found), Some(truth)) = entropies {
                    near(found.value, truth.value, &what);
                    near(found.slope, truth.slope, &what);
                }
                assert_eq!(entropies.0.is_some(), entropies.1.is_some(), "{what}");
            }
        }
        let third = 0.2;
        match (own.skewness_of_shift(third), law.skewness_of_shift(third)) {
            (Some(found), Some(truth)) => {
                near(found.mean, truth.mean, name);
                near(found.variance, truth.variance, name);
                near(found.length, truth.length, name);
            }
            (found, truth) => assert_eq!(found, truth),
        }
    }

    #[test]
    fn laws_of_elinvar_from_their_densities_alone() {
        agree(HalfNormal, "copy of skew", Role::Shift);
        agree(Exponential, "copy of emg", Role::Shift);
        agree(InverseGaussian::new(1.7).unwrap(), "copy of nig", Role::ShiftAndScale);
        agree(InverseGamma::new(3.0).unwrap(), "copy of student_t", Role::Scale);
    }

    #[test]
    fn what_is_no_law_is_refused() {
        #[derive(Debug)]
        struct Wrong(&'static str, f64, f64);
        impl OwnLaw for Wrong {
            fn name(&self) -> &'static str {
                self.0
            }
            fn log_density(&self, w: f64) -> f64 {
                self.1 - self.2 * w.ln_1p() - 1e-3 / w
            }
            fn quantile(&self, p: f64) -> f64 {
                p
            }
        }
        let said = |law| Own::register(law).unwrap_err().to_string();
        assert!(said(Wrong("twice", 1.0, 4.0)).contains("integrate to one"));
        assert!(said(Wrong("student_t", 1.0, 4.0)).contains("name of its own"));
        assert!(Own::named("nobody").unwrap_err().to_string().contains("Own::register"));
    }
}
