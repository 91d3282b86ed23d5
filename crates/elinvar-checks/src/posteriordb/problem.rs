//! The twelve posteriors as targets of the library.

use elinvar::model::{DesignMatrix, EightSchools, LinearRegression, NoisePrior, Parametrisation};
use elinvar::target::{Answer, Ask, Draws, PointwiseSecondOrder, Prior, Target, Want};

use super::reference::Reference;
use crate::models::{Arma11, Autoregression, GaussianProcessPoisson, OrderedMixture, Whitening};

/// How the parameters of the reference follow from a point of the target.
enum Report {
    /// They are the constrained parameters of the target, in the same order.
    Constrained,
    /// θ_j = μ + τ η_j, then μ and τ.
    Schools,
    /// ρ, α and f.
    Process {
        /// The target.
        fitted: Box<GaussianProcessPoisson>,
        /// The same in the coordinates of the check point.
        whitened: Box<PointwiseSecondOrder<GaussianProcessPoisson>>,
    },
}

/// A posterior of the collection, ready to be fitted.
pub(crate) struct Problem {
    /// The target.
    pub(crate) target: Box<dyn Target>,
    report: Report,
    /// Number of priors of positive parameters that the library normalises on the half line and the collection does
    /// not.
    half_priors: u32,
}

impl Problem {
    /// The posterior `name` with its data.
    pub(crate) fn new(name: &str, reference: &Reference) -> Result<Self, String> {
        let problem = match name {
            "eight_schools-eight_schools_noncentered" => schools(reference)?,
            "arK-arK" => {
                let order = reference.scalar("K")? as usize;
                // α, β ~ N(0, 10²).
                Self::of(Autoregression::new(&reference.list("y")?, order, 0.01).map_err(text)?, 1)
            }
            "arma-arma11" => Self::of(PointwiseSecondOrder(Arma11::new(reference.list("y")?).map_err(text)?), 1),
            "low_dim_gauss_mix-low_dim_gauss_mix" => {
                Self::of(PointwiseSecondOrder(OrderedMixture::new(reference.list("y")?).map_err(text)?), 2)
            }
            "gp_pois_regr-gp_pois_regr" => {
                let whitened = GaussianProcessPoisson::new(reference.list("x")?, reference.list("k")?).map_err(text)?;
                let fitted = whitened.clone().with_whitening(Whitening::Posterior);
                let whitened = Box::new(PointwiseSecondOrder(whitened));
                let target = Self::of(PointwiseSecondOrder(fitted.clone()), 1);
                Self { report: Report::Process { fitted: Box::new(fitted), whitened }, ..target }
            }
            _ => regression(name, reference)?,
        };
        let (found, expected) = (problem.n_parameters(), reference.names.len());
        if found == expected {
            Ok(problem)
        } else {
            Err(format!("{name} has {found} parameters instead of {expected}"))
        }
    }

    fn of(target: impl Target + 'static, half_priors: u32) -> Self {
        Self { target: Box::new(target), report: Report::Constrained, half_priors }
    }

    fn n_parameters(&self) -> usize {
        self.target.about().transforms.n_constrained()
    }

    /// The target's own names of the parameters of the reference, in their order, if it has all of them.
    pub(crate) fn names(&self) -> Option<Vec<String>> {
        matches!(self.report, Report::Constrained).then(|| self.target.about().parameters)
    }

    /// Writes the parameters of the reference at z; false where they do not exist.
    pub(crate) fn parameters(&self, z: &[f64], out: &mut [f64]) -> bool {
        match &self.report {
            Report::Constrained => self.target.about().transforms.constrain(z, out),
            Report::Schools => {
                let (mu, tau, n) = (z[0], z[1].exp(), z.len() - 2);
                out[..n].iter_mut().zip(&z[2..]).for_each(|(theta, eta)| *theta = mu + tau * eta);
                (out[n], out[n + 1]) = (mu, tau);
            }
            Report::Process { fitted, .. } => {
                (out[0], out[1]) = (z[0].exp(), z[1].exp());
                return fitted.log_rates(z, &mut out[2..]).is_ok();
            }
        }
        true
    }

    /// The log joint density of the collection: no Jacobian, no factor 2 of half-line priors.
    ///
    /// `point` holds the parameters of the reference, for the Gaussian process with f̃ in the place of f.
    pub(crate) fn log_joint(&self, point: &[f64]) -> Result<f64, String> {
        let transforms = self.target.about().transforms;
        let (mut x, mut volume) = (point.to_vec(), 0.0);
        if let Report::Schools = self.report {
            let n = point.len() - 2;
            let (mu, tau) = (point[n], point[n + 1]);
            (x[0], x[1]) = (mu, tau);
            x[2..].iter_mut().zip(point).for_each(|(eta, theta)| *eta = (theta - mu) / tau);
            volume = n as f64 * tau.ln();
        }
        let target: &dyn Target = match &self.report {
            Report::Process { whitened, .. } => &**whitened,
            _ => &*self.target,
        };
        let d = target.dim();
        let mut z = vec![0.0; d];
        transforms.unconstrain(&x, &mut z).map_err(text)?;
        let mut out = Answer::new(d, 1);
        target.evaluate(&Ask::all(Draws::new(d, &z), Want::Gradients), &mut out).map_err(|e| e.to_string())?;
        let log_p = out.log_p()[0] + target.about().prior.log_density(&z);
        Ok(log_p - transforms.log_jacobian(&z) - volume - f64::from(self.half_priors) * std::f64::consts::LN_2)
    }
}

fn text(error: elinvar::Error) -> String {
    error.to_string()
}

fn schools(reference: &Reference) -> Result<Problem, String> {
    let known = EightSchools::data();
    if reference.list("y")? != known.0 || reference.list("sigma")? != known.1 {
        return Err("the eight schools of the collection are not those of the library".to_owned());
    }
    let target = EightSchools::new(Parametrisation::NonCentred);
    Ok(Problem { report: Report::Schools, ..Problem::of(target, 1) })
}

/// The linear regressions: columns, response, priors.
fn regression(name: &str, reference: &Reference) -> Result<Problem, String> {
    let list = |field: &str| reference.list(field);
    let log = |values: Vec<f64>| values.into_iter().map(f64::ln).collect::<Vec<f64>>();
    let flat = (Prior::None, NoisePrior::Flat, 0);
    let (columns, y, (coefficients, noise, half_priors)) = match name {
        "kidiq-kidscore_momiq" => {
            let noise = NoisePrior::HalfCauchy { scale: 2.5 };
            (vec![list("mom_iq")?], list("kid_score")?, (Prior::None, noise, 1))
        }
        "earnings-earn_height" => (vec![list("height")?], list("earn")?, flat),
        "earnings-logearn_height_male" => (vec![list("height")?, list("male")?], log(list("earn")?), flat),
        "nes1980-nes" => {
            let age = list("age_discrete")?;
            let in_group = |group: f64| age.iter().map(|a| f64::from(u8::from(*a == group))).collect();
            let mut columns = vec![list("real_ideo")?, list("race_adj")?, in_group(2.0), in_group(3.0), in_group(4.0)];
            columns.extend([list("educ1")?, list("gender")?, list("income")?]);
            (columns, list("partyid7")?, flat)
        }
        "mesquite-mesquite" => {
            let fields = ["diam1", "diam2", "canopy_height", "total_height", "density", "group"];
            (fields.iter().map(|field| list(field)).collect::<Result<_, _>>()?, list("weight")?, flat)
        }
        "kilpisjarvi_mod-kilpisjarvi" => {
            let mean = vec![reference.scalar("pmualpha")?, reference.scalar("pmubeta")?];
            let sd = vec![reference.scalar("psalpha")?, reference.scalar("psbeta")?];
            (vec![list("x")?], list("y")?, (Prior::normal(mean, &sd), NoisePrior::Flat, 0))
        }
        "sblri-blr" => {
            let d = reference.scalar("D")? as usize;
            let x = DesignMatrix::new(reference.rows("X")?, d, names(d)).map_err(text)?;
            // β ~ N(0, 10²).
            let model = LinearRegression::new(x, list("y")?, 0.01).map_err(text)?;
            let noise = NoisePrior::HalfNormal { scale: 10.0 };
            return Ok(Problem::of(model.with_noise_prior(noise).map_err(text)?, 1));
        }
        _ => return Err(format!("there is no posterior {name}")),
    };
    let rows = (0..y.len()).flat_map(|i| std::iter::once(1.0).chain(columns.iter().map(move |column| column[i])));
    let d = columns.len() + 1;
    let x = DesignMatrix::new(rows.collect(), d, names(d)).map_err(text)?;
    let model = LinearRegression::new(x, y, 1.0)
        .and_then(|model| model.with_coefficient_prior(coefficients))
        .and_then(|model| model.with_noise_prior(noise))
        .map_err(text)?;
    Ok(Problem::of(model, half_priors))
}

fn names(d: usize) -> Vec<String> {
    (1..=d).map(|j| format!("beta{j}")).collect()
}
