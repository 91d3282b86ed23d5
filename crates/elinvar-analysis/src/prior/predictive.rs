//! Whether responses drawn from the prior alone could be as the given ones.

use elinvar::model::NoisePrior;
use elinvar::random::{Purpose, Stream};
use elinvar::target::{DrawBuffer, Transforms};
use elinvar_data::{ColumnTransform, DesignColumn};

use super::{Priors, Tail};
use crate::model_check::chosen_rows;
use crate::number::significant;
use crate::response::{Regression, Values};
use crate::settings::PriorLaw;

/// Draws of the prior.
pub(crate) const DRAWS: usize = 512;
/// Rows that responses are drawn for.
const MOST_ROWS: usize = 1_024;

impl Priors {
    /// Draws the coefficients into `out`, on the columns of the fit; false where one has a flat prior, of which there
    /// are no draws.
    pub(crate) fn draw(
        &self,
        kinds: &[DesignColumn],
        transforms: &[ColumnTransform],
        stream: &mut Stream,
        out: &mut [f64],
    ) -> bool {
        let shared = self.shared_df.map_or(1.0, |df| t_factor(df, stream));
        let tails = self.tails(transforms);
        for (i, kind) in kinds.iter().enumerate() {
            let tail = tails.iter().find(|tail| tail.coordinate == i);
            out[i] = match (tail, self.own[i]) {
                (Some(Tail { df, mean, scale, .. }), _) => mean + scale * t_factor(*df, stream) * stream.normal(),
                (None, Some(PriorLaw::Normal { .. }) | None) => {
                    let (mean, sd) = self.moments(i, kind, transforms[i].scale);
                    mean + sd * shared * stream.normal()
                }
                (None, Some(_)) => return false,
            };
        }
        true
    }
}

/// √w for w ~ InverseGamma(ν/2, ν/2): what a normal variable is multiplied by to be a t.
fn t_factor(df: f64, stream: &mut Stream) -> f64 {
    (0.5 * df / stream.gamma(0.5 * df)).sqrt()
}

/// Draws a positive parameter; `None` where its prior is flat.
pub(crate) fn draw_positive(prior: &NoisePrior, stream: &mut Stream) -> Option<f64> {
    Some(match *prior {
        NoisePrior::HalfCauchy { scale } => scale * t_factor(1.0, stream) * stream.normal().abs(),
        NoisePrior::HalfNormal { scale } => scale * stream.normal().abs(),
        NoisePrior::HalfStudentT { degrees_of_freedom, scale } => {
            scale * t_factor(degrees_of_freedom, stream) * stream.normal().abs()
        }
        NoisePrior::Exponential { rate } => -stream.uniform().ln() / rate,
        NoisePrior::Gamma { shape, rate } => stream.gamma(shape) / rate,
        _ => return None,
    })
}

/// A sentence where the mean of the responses is beyond that of every table drawn from the prior, or their standard
/// deviation above it. A prior that expects more variation than there is leaves room and is none.
pub(crate) fn far_from_data(
    regression: &Regression<'_>,
    transforms: &Transforms,
    seed: u64,
    remedy: &str,
    mut draw: impl FnMut(&mut Stream, &mut [f64]) -> bool,
    dim: usize,
) -> Option<String> {
    if matches!(regression.response.values(), Values::Classes(n) if n > 2) {
        return None;
    }
    let rows = chosen_rows(regression.n_rows(), MOST_ROWS, seed);
    let n = rows.len() as f64;
    let observed: Vec<f64> = rows.iter().map(|i| regression.observed(*i)).collect();
    let mean_of = |values: &[f64]| values.iter().sum::<f64>() / n;
    let square_of = |values: &[f64], mean: f64| values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
    let mean = mean_of(&observed);
    let sd = square_of(&observed, mean).sqrt();
    let mut z = DrawBuffer::zeros(dim, 1);
    let mut expected = vec![0.0; rows.len()];
    let (mut lowest, mut highest, mut widest) = (f64::INFINITY, f64::NEG_INFINITY, 0.0_f64);
    for s in 0..DRAWS {
        let mut stream = Stream::open(seed, Purpose::Responses, s as u64, 3);
        if !draw(&mut stream, z.get_mut(0)) {
            return None;
        }
        let mut around = 0.0;
        regression.under(z.get(0), transforms, &rows, |place, _, given| {
            expected[place] = regression.response.mean(given);
            around += regression.response.variance(given) / n;
        });
        let now = mean_of(&expected);
        let spread = (square_of(&expected, now) + around).sqrt();
        // What overflows is large, and what is not a number says nothing.
        let error = if spread.is_nan() { f64::INFINITY } else { spread / n.sqrt() };
        lowest = lowest.min(now - error);
        highest = highest.max(now + error);
        widest = widest.max(if spread.is_nan() { f64::INFINITY } else { spread });
    }
    let prior = format!("in {DRAWS} tables drawn from the prior alone");
    if mean < lowest || mean > highest {
        return Some(format!(
            "Prior against data: the mean of the responses, {}, is not between {} and {}, where it is {prior}; {remedy}.",
            significant(mean),
            significant(lowest),
            significant(highest)
        ));
    }
    // The spread of two classes follows from their mean, and that of few rows is known to 1/√(2n).
    let is_of_classes = matches!(regression.response.values(), Values::Classes(_));
    let widest = widest * (1.0 + 3.0 / (2.0 * n).sqrt());
    (!is_of_classes && sd > widest).then(|| {
        format!(
            "Prior against data: the standard deviation of the responses, {}, is larger than {}, the most that it is {prior}; \
             {remedy}.",
            significant(sd),
            significant(widest)
        )
    })
}
