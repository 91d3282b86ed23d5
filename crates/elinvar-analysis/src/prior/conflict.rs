//! Where the data put a coefficient into the tail of its prior.

use elinvar::Posterior;
use elinvar_data::{ColumnTransform, DesignColumn};

use super::{Prior, Priors};
use crate::number::significant;
use crate::settings::PriorLaw;

/// A posterior mean so many prior standard deviations from the prior mean is in the tail: 1 in 370 by the prior.
const TAIL: f64 = 3.0;
/// The probability of more under a normal law; that of a t is held against it.
const TAIL_PROBABILITY: f64 = 0.0027;
/// With more degrees of freedom a t is normal.
const NEARLY_NORMAL: f64 = 200.0;

/// A coefficient in the tail of its prior.
struct Far<'a> {
    name: &'a str,
    /// In scales of the prior.
    distance: f64,
    df: Option<f64>,
    is_intercept: bool,
    is_by_data: bool,
}

impl Priors {
    /// Where the posterior mean of a coefficient is in the tail of its prior, in a sentence with what to do.
    pub(crate) fn conflicts(
        &self,
        posterior: &Posterior,
        (kinds, transforms): (&[DesignColumn], &[ColumnTransform]),
        groups: usize,
    ) -> Vec<String> {
        let means = posterior.approximation().mean();
        let means = posterior.transforms().expected_coefficients(&means);
        let names = posterior.names();
        let mut far: Vec<Far<'_>> = Vec::new();
        for (k, (mean, name)) in means.iter().zip(names).enumerate().take(groups * kinds.len()) {
            let i = k % kinds.len();
            let (kind, scale) = (&kinds[i], transforms[i].scale);
            let (centre, width, df) = match self.own[i] {
                None => {
                    let (centre, sd) = self.base.of(kind);
                    (centre, sd, self.shared_df)
                }
                Some(PriorLaw::Normal { mean, sd }) => (mean * scale, sd * scale, self.shared_df),
                Some(PriorLaw::StudentT { df, mean, scale: width }) => (mean * scale, width * scale, Some(df)),
                Some(_) => continue,
            };
            let distance = (mean - centre).abs() / width;
            if is_in_tail(distance, df) {
                let is_by_data = self.own[i].is_none() && matches!(self.base, Prior::ByData { .. });
                let is_intercept = *kind == DesignColumn::Intercept;
                far.push(Far { name, distance, df, is_intercept, is_by_data });
            }
        }
        far.sort_by(|a, b| b.distance.total_cmp(&a.distance));
        let Some(worst) = far.first() else { return Vec::new() };
        let others = match far.len() {
            1 => String::new(),
            n => format!(", and {} more likewise", n - 1),
        };
        let unit = worst.df.map_or("prior standard deviations".into(), |df| {
            format!("scales of its t prior with {} degrees of freedom", significant(df))
        });
        vec![format!(
            "Prior against data: the data put {} {} {unit} from where the prior expects it{others}; {}.",
            worst.name,
            significant(worst.distance),
            remedy(worst)
        )]
    }

    /// What to do where responses are beyond what the prior expects. Defaults have a unit only where they take it from
    /// the responses.
    pub(crate) fn remedy_of_predictive(&self) -> &'static str {
        match self.base {
            Prior::ByData { .. } if !self.has_own() => UNIT,
            _ => self.remedy(),
        }
    }

    /// What to do where the prior keeps coefficients from what the data say.
    pub(crate) fn remedy(&self) -> &'static str {
        match self.base {
            Prior::ByData { .. } => "give a wider prior, such as --prior 'b ~ normal(0, S)', or --prior flat",
            Prior::Given { .. } => GIVEN,
        }
    }
}

const GIVEN: &str = "give another prior, such as --prior 'b ~ normal(0, S)', or none, which scales it to the data";

const UNIT: &str = "if the unit of the response or of an exposure is the reason, change it, or say where you expect the \
                    intercept, --prior 'intercept ~ normal(M, S)'";

fn remedy(far: &Far<'_>) -> String {
    match far {
        Far { is_by_data: false, .. } => GIVEN.into(),
        Far { is_intercept: true, .. } => UNIT.into(),
        Far { name, .. } => format!("a wider prior is --prior 'b[{name}] ~ normal(0, S)'"),
    }
}

/// Whether a number so many scales from the centre is in the tail of a normal law, or of a t.
fn is_in_tail(distance: f64, df: Option<f64>) -> bool {
    match df.filter(|df| *df < NEARLY_NORMAL) {
        None => distance > TAIL,
        Some(df) => beyond(df, distance) < TAIL_PROBABILITY,
    }
}

/// P(|T| > x) of a t: with T = √ν tan φ the density of φ is proportional to cos^{ν−1} φ. By the midpoint rule.
fn beyond(df: f64, x: f64) -> f64 {
    const POINTS: usize = 4_000;
    let end = 0.5 * std::f64::consts::PI;
    let start = (x / df.sqrt()).atan();
    let integral = |low: f64| {
        let step = (end - low) / POINTS as f64;
        (0..POINTS).map(|i| (low + (i as f64 + 0.5) * step).cos().powf(df - 1.0) * step).sum::<f64>()
    };
    integral(start) / integral(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_of_t_laws_are_those_of_tables() {
        // Two-sided probabilities: Cauchy 1 − (2/π) atan x; the 97.5 % quantile of 4 and the 99.5 % one of 30.
        let cauchy = |x: f64| 1.0 - std::f64::consts::FRAC_2_PI * x.atan();
        assert!((beyond(1.0, 5.0) - cauchy(5.0)).abs() < 1e-6);
        assert!((beyond(4.0, 2.776_445) - 0.05).abs() < 1e-5);
        assert!((beyond(30.0, 2.749_996) - 0.01).abs() < 1e-5);
        assert!(is_in_tail(3.1, None) && !is_in_tail(3.1, Some(5.0)) && is_in_tail(7.0, Some(5.0)));
        assert!(!is_in_tail(100.0, Some(1.0)) && is_in_tail(300.0, Some(1.0)));
    }
}
