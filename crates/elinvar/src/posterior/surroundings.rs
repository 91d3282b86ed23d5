//! The last look before an answer is trusted: at modes far away that nothing else has met (mathematics §13.1).

use super::{Posterior, limits};
use crate::Error;
use crate::chains::{Corrected, Doubt};
use crate::evaluate::Evaluator;
use crate::linalg::axpy;
use crate::linalg::cholesky::{self, Workspace};
use crate::record::{Estimate, ModeRecord, Scan};
use crate::search::{Mode, Scanned, Surroundings, metric_of_covariance, scan};
use crate::target::fault::shown;
use crate::target::{About, DrawBuffer, Support};
use crate::tuning::scan as tuning;
use crate::tuning::search::DIFFERENCED_COORDINATES;

/// States from which the log evidence is taken where no bridge gave it.
const FEW_STATES: usize = 64;

impl Posterior {
    /// Looks all around an answer, and remembers what was seen. Nothing where nobody can look: there is no gradient to
    /// climb by, or the density has an edge, or the covariance is none; and nothing where there is one mode for sure.
    fn look_around(
        &mut self,
        evaluator: &mut Evaluator<'_>,
        centre: &[f64],
        covariance: &[f64],
        seed: u64,
    ) -> Result<Option<Scanned>, Error> {
        let about = evaluator.about();
        let can_look = about.offers.gradient && about.support == Support::Real;
        if about.is_log_concave() {
            self.record.scan = Some(Scan { places: 0, reach: 0.0, climbs: 0, finest: None });
            return Ok(None);
        }
        if !can_look || !centre.iter().chain(covariance).all(|v| v.is_finite()) {
            return Ok(None);
        }
        let places = tuning::places(about);
        let scanned = scan(evaluator, Surroundings { centre, covariance, places, seed })?;
        self.record.scan = scanned.as_ref().map(|scanned| Scan {
            places,
            reach: tuning::REACH,
            climbs: scanned.climbs,
            finest: tuning::finest(centre.len(), places),
        });
        Ok(scanned)
    }

    /// Looks around what importance weights are about to confirm; modes that it finds are then among those known.
    pub(super) fn look_around_weights(&mut self, evaluator: &mut Evaluator<'_>, seed: u64) -> Result<(), Error> {
        let q = self.approximation();
        let (mean, covariance) = (q.mean(), q.covariance());
        if let Some(scanned) = self.look_around(evaluator, &mean, &covariance, seed)? {
            for mode in scanned.modes {
                let known = self.record.agreement.modes.len();
                self.record.agreement.join_modes(&[mode.record()]);
                if self.record.agreement.modes.len() > known {
                    self.elsewhere.push(mode);
                }
            }
        }
        Ok(())
    }

    /// The modes that the last look around has found and the answer leaves out.
    pub(crate) fn take_elsewhere(&mut self) -> Vec<Mode> {
        std::mem::take(&mut self.elsewhere)
    }

    /// Looks around an answer of chains that nothing speaks against, and adds what does then.
    pub(super) fn look_around_chains(
        &mut self,
        evaluator: &mut Evaluator<'_>,
        corrected: &mut Corrected,
        log_evidence: Option<Estimate>,
        seed: u64,
    ) -> Result<(), Error> {
        let states = corrected.draws(corrected.n_states());
        let moments = Moments::of(&states);
        let covariance = match states.len() > 4 * self.dim() {
            true => moments.covariance.clone(),
            false => self.approximation().covariance(),
        };
        let Some(mut scanned) = self.look_around(evaluator, &moments.mean, &covariance, seed)? else { return Ok(()) };
        if !is_measured(evaluator.about())
            && let Some(metric) = metric_of_covariance(self.dim(), &covariance)
        {
            // The mass of such a mode is a guess, and the top of a skewed law is far from its mean in some coordinate.
            let within = surely_within(self.dim());
            scanned.modes.retain(|mode| metric.square_distance(&mode.centre, &moments.mean) > within);
        }
        if scanned.infinite > 0 {
            let of = self.record.scan.as_ref().map_or(0, |scan| scan.places as u64);
            corrected.doubts.push(Doubt::Faults { count: scanned.infinite, of });
        }
        if scanned.modes.is_empty() {
            return Ok(());
        }
        let log_mass = match log_evidence {
            Some(known) => known.value,
            None => moments.log_mass(&evaluator.values(&corrected.draws(FEW_STATES))?),
        };
        let masses: Vec<f64> = scanned.modes.iter().map(|mode| (mode.log_mass - log_mass).exp()).collect();
        let total = 1.0 + masses.iter().sum::<f64>();
        let missed: Vec<(f64, &Mode)> = masses
            .iter()
            .map(|mass| mass / total)
            .zip(&scanned.modes)
            .filter(|(share, mode)| share_of_states(&states, mode) < tuning::MET * share)
            .collect();
        if moments.are_moved_by(&missed)
            && let Some((share, mode)) = missed.iter().max_by(|a, b| a.0.total_cmp(&b.0))
        {
            let distance = moments.distance(&mode.centre);
            corrected.doubts.push(Doubt::OtherMode { distance, share: *share, place: shown(&mode.centre) });
            let records: Vec<ModeRecord> = missed.iter().map(|(_, mode)| mode.record()).collect();
            self.record.agreement.join_modes(&records);
            self.elsewhere = missed.iter().map(|(_, mode)| (*mode).clone()).collect();
        }
        Ok(())
    }
}

/// Whether climbs measure the whole curvature at their ends.
fn is_measured(about: &About) -> bool {
    about.offers.hessian || about.dim <= DIFFERENCED_COORDINATES
}

/// The squared distance from its centre that draws of a Gaussian are within.
fn surely_within(dim: usize) -> f64 {
    let d = dim as f64;
    d + 3.0 * (2.0 * d).sqrt()
}

/// Share of the states that are within what a Gaussian at the mode would surely reach.
fn share_of_states(states: &DrawBuffer, mode: &Mode) -> f64 {
    let within = surely_within(states.view().dim());
    let near = states.view().iter().filter(|z| mode.metric.square_distance(z, &mode.centre) < within);
    near.count() as f64 / states.len().max(1) as f64
}

/// Mean and covariance of states.
struct Moments {
    mean: Vec<f64>,
    covariance: Vec<f64>,
}

impl Moments {
    fn of(states: &DrawBuffer) -> Self {
        let (d, n) = (states.view().dim(), states.len() as f64);
        let mut mean = vec![0.0; d];
        for z in states.view().iter() {
            mean.iter_mut().zip(z).for_each(|(m, z)| *m += z / n);
        }
        let mut covariance = vec![0.0; d * d];
        let mut centred = vec![0.0; d];
        for z in states.view().iter() {
            centred.iter_mut().zip(z.iter().zip(&mean)).for_each(|(c, (z, m))| *c = z - m);
            for (j, column) in covariance.chunks_exact_mut(d).enumerate() {
                axpy(centred[j] / n, &centred, column);
            }
        }
        Self { mean, covariance }
    }

    fn variance(&self, i: usize) -> f64 {
        self.covariance[i * (self.mean.len() + 1)]
    }

    /// In standard deviations of the coordinate in which a place is farthest.
    fn distance(&self, place: &[f64]) -> f64 {
        let away = place.iter().zip(&self.mean).enumerate();
        away.map(|(i, (z, m))| (z - m).abs() / self.variance(i).sqrt()).fold(0.0, f64::max)
    }

    /// log ∫ p as if the states were those of a Gaussian.
    fn log_mass(&self, log_p: &[f64]) -> f64 {
        let d = self.mean.len();
        let finite: Vec<f64> = log_p.iter().copied().filter(|l| l.is_finite()).collect();
        let mean = finite.iter().sum::<f64>() / finite.len().max(1) as f64;
        let mut factor = vec![0.0; d * d];
        let mut workspace = Workspace::new(d);
        let log_det = match cholesky::factor(d, &self.covariance, &mut factor, &mut workspace) {
            Ok(()) => cholesky::log_det(d, &factor),
            Err(_) => 0.0,
        };
        mean + 0.5 * (log_det + d as f64 * (1.0 + std::f64::consts::TAU.ln()))
    }

    /// Whether a mean or a standard deviation moves by a good part of what a verdict allows once these modes, each with
    /// its share, are added.
    fn are_moved_by(&self, modes: &[(f64, &Mode)]) -> bool {
        let rest = 1.0 - modes.iter().map(|(share, _)| share).sum::<f64>();
        (0..self.mean.len()).any(|i| {
            let (mut first, mut second) = (0.0, rest * self.variance(i));
            for (share, mode) in modes {
                let away = mode.centre[i] - self.mean[i];
                let mut column = vec![0.0; self.mean.len()];
                column[i] = 1.0;
                mode.metric.solve(&mut column);
                first += share * away;
                second += share * (away * away + column[i]);
            }
            let variance = second - first * first;
            let log_sd = 0.5 * (variance / self.variance(i)).ln();
            first.abs() > tuning::MATTERS * limits::MEAN * variance.sqrt()
                || log_sd.abs() > tuning::MATTERS * limits::LOG_SD
        })
    }
}
