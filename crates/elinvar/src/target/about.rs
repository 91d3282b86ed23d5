//! What a target says about itself before it is asked for a number.

use super::{Prior, Support, Transforms};
use crate::Error;
use crate::random::{Purpose, Stream};

/// Everything that a fit must know of a target besides its values, as plain data.
///
/// Whoever wraps a target changes what is different and keeps the rest:
///
/// ```
/// use elinvar::research::target::{About, Prior, Target, from_fn};
///
/// let target = from_fn(2, |z, grad| {
///     grad.iter_mut().zip(z).for_each(|(g, z)| *g = -z);
///     -0.5 * (z[0] * z[0] + z[1] * z[1])
/// });
/// let about = About { names: vec!["a".into(), "b".into()], ..target.about() };
/// assert_eq!((about.dim, about.prior), (2, Prior::None));
/// ```
#[derive(Clone, Debug)]
pub struct About {
    /// Number of coordinates of z.
    pub dim: usize,
    /// Names of the coordinates of z.
    pub names: Vec<String>,
    /// Names of the numbers on the scale of the transforms.
    pub parameters: Vec<String>,
    /// The map from z to the scale on which results are reported.
    pub transforms: Transforms,
    /// Where z lives. The families on ℝᵈ need every coordinate to be [`Support::Real`]; those of
    /// [`component`](crate::component) need the support of their components.
    pub support: Support,
    /// The part of log p that is declared instead of evaluated.
    pub prior: Prior,
    /// Number of data items, if the target is a sum over items that can be subsampled.
    pub n_rows: Option<usize>,
    /// What can be asked for.
    pub offers: Offers,
    /// Where a fit may begin without a search.
    pub guess: Option<Guess>,
    /// Whether fits hold the derivatives against differences.
    pub derivatives: Derivatives,
    /// Whether what is evaluated, log p without the declared prior, is known to be concave: then no fit looks for
    /// further modes, unless the prior may make some.
    pub concavity: Concavity,
    /// Working memory, which a run reserves before its first step.
    pub room: Room,
}

/// Whether a log density is concave in the coordinates z, that is, on the unconstrained scale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Concavity {
    /// Nobody knows: a verdict of trust looks for further modes, which takes 256 to 16 384 evaluations.
    #[default]
    Unknown,
    /// It is, so that there is one mode at most. Nothing checks this.
    Concave,
}

/// Where the derivatives of a target come from, and so whether they can be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derivatives {
    /// Written by somebody: fits hold them against differences at a few draws, at their start and at their end, which
    /// takes some thirty evaluations.
    Written,
    /// Known to be those of the log density, by construction or by tests; fits spend no evaluations on them.
    Known,
}

/// What a target takes of [`Scratch`](super::Scratch) for one batch, at most, in numbers. What is not said here is
/// taken when it is needed, so that nothing but the first step allocates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Room {
    /// Whatever is asked.
    pub once: usize,
    /// For each draw.
    pub per_draw: usize,
    /// Where second derivatives are summed.
    pub of_sums: usize,
    /// For each entry of these sums.
    pub per_entry: usize,
}

impl Room {
    /// The memory for this number of draws and of entries of the sums of second derivatives.
    pub(crate) fn of(self, n_draws: usize, n_entries: usize) -> usize {
        let sums = if n_entries > 0 { self.of_sums + self.per_entry * n_entries } else { 0 };
        self.once + self.per_draw * n_draws + sums
    }
}

/// What a target can answer besides its log density.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offers {
    /// ∇log p.
    pub gradient: bool,
    /// log p without its gradient, for less.
    pub values: bool,
    /// Contracted Hessians.
    pub hessian: bool,
    /// A positive semi-definite stand-in for −∇²log p: JᵀHJ with J the Jacobian of the model's outputs and H the
    /// curvature of the loss.
    pub gauss_newton: bool,
    /// Gradients of single items.
    pub item_gradients: bool,
    /// [Expectations under a Gaussian](super::Want::GaussianExpectation), asked for only where there are Hessians. A
    /// target around another that moves z has none.
    pub gaussian_expectation: bool,
}

/// Where a fit may begin: z_i about `means[i]`, give or take `spreads[i]` between one start and the next, with the
/// width `widths[i]`.
///
/// For targets whose modes a search would not find, such as networks: climbs from zero do not leave zero, where all
/// units are alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Guess {
    /// Centres.
    pub means: Vec<f64>,
    /// Standard deviations of starts and of components around the centres; 0 is none.
    pub spreads: Vec<f64>,
    /// Standard deviations of the approximation at the start.
    pub widths: Vec<f64>,
}

impl Guess {
    /// The centre of the start that belongs to a seed.
    pub(crate) fn start(&self, seed: u64) -> Vec<f64> {
        self.drawn(&mut Stream::open(seed, Purpose::Start, 0, 0))
    }

    /// A centre drawn from a stream.
    pub(crate) fn drawn(&self, stream: &mut Stream) -> Vec<f64> {
        let place = |(mean, spread): (&f64, &f64)| if *spread > 0.0 { mean + spread * stream.normal() } else { *mean };
        self.means.iter().zip(&self.spreads).map(place).collect()
    }
}

impl About {
    /// A density on ℝᵈ with gradients and nothing else; coordinates are z1, z2, ….
    pub fn new(dim: usize) -> Self {
        let names: Vec<String> = (1..=dim).map(|i| format!("z{i}")).collect();
        Self {
            dim,
            parameters: names.clone(),
            names,
            transforms: Transforms::identity(dim),
            support: Support::Real,
            prior: Prior::None,
            n_rows: None,
            offers: Offers::GRADIENT,
            guess: None,
            derivatives: Derivatives::Written,
            concavity: Concavity::Unknown,
            room: Room::default(),
        }
    }

    /// Whether log p as a whole is known to be concave.
    pub(crate) fn is_log_concave(&self) -> bool {
        let may_add_modes = matches!(self.prior, Prior::StudentT { .. });
        self.concavity == Concavity::Concave && !may_add_modes
    }
}

impl About {
    /// Whether there are as many names as coordinates and parameters.
    ///
    /// # Errors
    /// [`Error::Shape`] with the first number that is wrong.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.dim == 0 {
            let reason = "a density needs at least one coordinate";
            return Err(Error::Domain { parameter: "dimension of the target", value: 0.0, reason });
        }
        self.transforms.check()?;
        for (what, expected, found) in [
            ("names of coordinates", self.dim, self.names.len()),
            ("coordinates under transforms", self.dim, self.transforms.dim()),
            ("names of parameters", self.transforms.n_constrained(), self.parameters.len()),
        ] {
            if expected != found {
                return Err(Error::Shape { what, expected, found });
            }
        }
        let mut known = std::collections::HashSet::with_capacity(self.parameters.len());
        match self.parameters.iter().find(|name| !known.insert(*name)) {
            Some(twice) => Err(Error::Data {
                place: format!("parameter {twice}"),
                problem: "two parameters have this name; give each its own".into(),
            }),
            None => Ok(()),
        }
    }
}

impl Offers {
    /// Gradients alone.
    pub const GRADIENT: Offers = Offers {
        gradient: true,
        values: false,
        hessian: false,
        gauss_newton: false,
        item_gradients: false,
        gaussian_expectation: false,
    };
    /// Values alone.
    pub const VALUES: Offers = Offers { gradient: false, values: true, ..Offers::GRADIENT };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prior_with_long_tails_may_add_modes_to_a_concave_likelihood() {
        let about = About { concavity: Concavity::Concave, ..About::new(2) };
        let under = |prior: Prior| About { prior, ..about.clone() }.is_log_concave();
        assert!(under(Prior::None) && under(Prior::Gaussian { precision: 1.0, leading: 2 }));
        assert!(!under(Prior::StudentT { mean: vec![0.0; 2], precision: vec![1.0; 2], a: 2.0 }));
        assert!(!About::new(2).is_log_concave());
    }
}
