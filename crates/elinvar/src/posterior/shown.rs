//! A posterior in a terminal: the verdict and the table of its parameters.

use std::fmt;

use super::{Answer, GivenBy, Posterior};
use crate::chains::{CorrectedMode, CorrectedNumber};
use crate::record::Estimate;

/// Draws for quantiles of an approximation that nobody has corrected.
const DRAWS: usize = 10_000;

/// A number with as many decimals as its error, or a hundredth of its standard deviation, allows.
fn decimals(estimate: Estimate, sd: f64) -> usize {
    let error = if estimate.mcse.is_finite() && estimate.mcse > 0.0 { estimate.mcse } else { 0.01 * sd };
    if error > 0.0 && error.is_finite() { (1.0 - error.log10().floor()).clamp(0.0, 12.0) as usize } else { 4 }
}

fn width_of_names(parameters: &[CorrectedNumber]) -> usize {
    parameters.iter().map(|row| row.name.chars().count()).max().unwrap_or(0).max("parameter".len())
}

impl fmt::Display for Posterior {
    /// The verdict, if there is one, and means, standard deviations and quantiles on the natural scale.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(judgement) = self.judgement() {
            writeln!(f, "{judgement}")?;
        }
        let answer = self.summary(DRAWS, self.plan().seed);
        let by = match answer.given_by {
            GivenBy::Approximation => "the approximation",
            GivenBy::Weights => "importance weights",
            GivenBy::Chains => "chains",
        };
        write!(f, "{} by {by}\n{answer}", self.family())?;
        self.write_modes(f)
    }
}

impl fmt::Display for Answer {
    /// Means, standard deviations and quantiles on the natural scale, a line for each parameter.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = width_of_names(&self.parameters);
        writeln!(f, "{:width$} {:>12} {:>12} {:>12} {:>12}", "parameter", "mean", "sd", "5 %", "95 %")?;
        for row in &self.parameters {
            let cell = |estimate: Estimate| format!("{:.*}", decimals(estimate, row.sd.value), estimate.value);
            let [mean, sd, q5, q95] = [row.mean, row.sd, row.q5, row.q95].map(cell);
            writeln!(f, "{:width$} {mean:>12} {sd:>12} {q5:>12} {q95:>12}", row.name)?;
        }
        Ok(())
    }
}

impl Posterior {
    /// Where there are several modes, the share of each and the means and standard deviations within it.
    fn write_modes(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Modes that are shown.
        const MOST: usize = 4;
        let modes = self.modes();
        let Some(first) = modes.first() else { return Ok(()) };
        let width = width_of_names(&first.parameters);
        let shown = &modes[..modes.len().min(MOST)];
        let more = modes.len() - shown.len();
        let head = shown.iter().map(|mode| mode.share_in_percent());
        writeln!(f, "{:width$}{}", "mode", head.map(|share| format!(" {share:>21}")).collect::<String>())?;
        for (k, row) in first.parameters.iter().enumerate() {
            let cell = |mode: &&CorrectedMode| {
                let Some(number) = mode.parameters.get(k) else { return String::new() };
                let places = decimals(number.mean, number.sd.value);
                let cell = format!("{:.places$} (sd {:.places$})", number.mean.value, number.sd.value);
                format!(" {cell:>21}")
            };
            writeln!(f, "{:width$}{}", row.name, shown.iter().map(cell).collect::<String>())?;
        }
        if more > 0 {
            writeln!(f, "and {more} modes more, with smaller shares")?;
        }
        Ok(())
    }
}
