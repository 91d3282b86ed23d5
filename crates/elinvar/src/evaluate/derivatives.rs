//! Whether the derivatives of a target are those of its log density, at a handful of draws.
//!
//! Along a direction v in the scale of q, the slope at z is known from log p alone: D(h) = {log p(z + hv) − log p(z −
//! hv)}/2h, and D₀ = {4 D(h/2) − D(h)}/3 without the terms in h². How far D(h/2) is from D₀ bounds what is left of
//! them, and the fourth difference of the five values the noise in them: of rounding, of single precision, of solvers.
//! So curvature, kinks and noise make a slope unknown, not a gradient wrong. A gradient is wrong where it contradicts
//! known slopes over a range of steps, in one coordinate, at two draws.

use super::Evaluator;
use crate::Error;
use crate::target::fault::shown;
use crate::target::{Covariance, DrawBuffer, Fault};
use crate::tuning::derivatives as tuning;

/// Where to look, and along what.
pub(crate) struct Places {
    /// Points, which are draws of q.
    pub(crate) points: DrawBuffer,
    /// For each point a difference of two further draws.
    pub(crate) directions: DrawBuffer,
}

impl Places {
    /// Of 3n draws, n points and n differences.
    pub(crate) fn of(draws: &DrawBuffer) -> Self {
        let (d, n) = (draws.view().dim(), draws.len() / 3);
        let (mut points, mut directions) = (DrawBuffer::zeros(d, n), DrawBuffer::zeros(d, n));
        for s in 0..n {
            points.get_mut(s).copy_from_slice(draws.get(s));
            let ends = draws.get(n + s).iter().zip(draws.get(2 * n + s));
            directions.get_mut(s).iter_mut().zip(ends).for_each(|(v, (a, b))| *v = a - b);
        }
        Self { points, directions }
    }
}

/// A number that differences say, how far it can be trusted, and the noise that was seen in what was subtracted.
#[derive(Clone, Copy, Debug)]
struct Slope {
    value: f64,
    error: f64,
    noise: f64,
    step: f64,
}

impl Slope {
    /// From the values at 0, ±h and ±h/2, and the size of the terms of which the slope is the sum.
    fn of([middle, up, down, half_up, half_down]: [f64; 5], step: f64, terms: f64) -> Self {
        let (whole, half) = ((up - down) / (2.0 * step), (half_up - half_down) / step);
        let value = (4.0 * half - whole) / 3.0;
        let noise = (up + down + 6.0 * middle - 4.0 * (half_up + half_down)).abs();
        let rounding = tuning::ROUNDING * f64::EPSILON * up.abs().max(down.abs());
        let error = (value - half).abs() + noise.max(rounding) / step + tuning::RELATIVE * terms;
        if value.is_finite() && error.is_finite() {
            Self { value, error, noise, step }
        } else {
            // What is not finite says nothing.
            Self { value: 0.0, error: f64::MAX, noise: 0.0, step }
        }
    }

    /// With noise that was seen at a longer step, which a short one may be too short to show.
    fn with_noise(self, noise: f64) -> Self {
        Self { error: self.error.max(noise / self.step), ..self }
    }

    fn agrees(&self, given: f64) -> bool {
        (self.value - given).abs() <= self.error
    }

    /// Whether it says clearly something else.
    fn contradicts(&self, given: f64) -> bool {
        (self.value - given).abs() > tuning::CLEAR * self.error
    }
}

impl Evaluator<'_> {
    /// Looks for answers that cannot belong together: first values, then gradients, then Hessians.
    ///
    /// # Errors
    /// A fatal error of the target; [`Error::Interrupted`].
    pub(crate) fn look_for_faults(&mut self, places: &Places) -> Result<Option<Fault>, Error> {
        let found = match self.look_at_values(places)? {
            None if self.about.offers.gradient => match self.look_at_gradients(places)? {
                None if self.about.offers.hessian => self.look_at_hessians(places)?,
                found => found,
            },
            found => found,
        };
        // Points beyond an edge were nobody's draws.
        self.asker.counts.dropped = 0;
        Ok(found)
    }

    /// The first point, asked twice by itself and once with its gradient.
    fn look_at_values(&mut self, places: &Places) -> Result<Option<Fault>, Error> {
        let mut first = DrawBuffer::zeros(self.dim(), 1);
        first.get_mut(0).copy_from_slice(places.points.get(0));
        let (one, two) = (self.values(&first)?[0], self.values(&first)?[0]);
        // Two numbers that are not finite are as good as the same.
        let differ = |a: f64, b: f64, within: f64| {
            a.is_finite() != b.is_finite() || (a - b).abs() > within * (1.0 + a.abs().max(b.abs()))
        };
        let point = || shown(first.get(0));
        if differ(one, two, tuning::SAME) {
            let difference = if one.is_finite() && two.is_finite() { (one - two).abs() } else { f64::MAX };
            return Ok(Some(Fault::Noise { difference, point: point() }));
        }
        if self.about.offers.gradient && self.about.offers.values {
            let with_gradient = self.gradients(first.view())?.0[0];
            if differ(one, with_gradient, tuning::SAME_VALUE) {
                return Ok(Some(Fault::Value {
                    alone: format!("{one:.6}"),
                    with_gradient: format!("{with_gradient:.6}"),
                    point: point(),
                }));
            }
        }
        Ok(None)
    }

    fn look_at_gradients(&mut self, places: &Places) -> Result<Option<Fault>, Error> {
        let d = self.dim();
        let (log_p, gradients) = self.gradients(places.points.view())?;
        let gradient = |s: usize| &gradients[s * d..(s + 1) * d];
        let usable = |s: &usize| log_p[*s].is_finite() && gradient(*s).iter().all(|g| g.is_finite());
        let usable: Vec<usize> = (0..places.points.len()).filter(usable).collect();
        for s in &usable {
            let (z, v) = (places.points.get(*s), places.directions.get(*s));
            if !self.gradient_is_wrong(z, v, gradient(*s))? {
                continue;
            }
            let i = self.wrong_coordinate(z, v, gradient(*s))?;
            let mut confirmed = Vec::new();
            for t in std::iter::once(s).chain(usable.iter().filter(|t| *t != s)) {
                let mut along = vec![0.0; d];
                along[i] = places.directions.get(*t)[i];
                if self.gradient_is_wrong(places.points.get(*t), &along, gradient(*t))? {
                    confirmed.push(*t);
                }
            }
            if confirmed.len() < 2 {
                continue;
            }
            let t = confirmed[0];
            let mut along = vec![0.0; d];
            along[i] = places.directions.get(t)[i];
            let slope = self.slope(places.points.get(t), &along, gradient(t), first_step(d))?;
            return Ok(Some(Fault::Gradient {
                name: self.about.names[i].clone(),
                given: gradient(t)[i],
                difference: slope.value / along[i],
                point: shown(places.points.get(t)),
            }));
        }
        Ok(None)
    }

    /// Whether differences along v contradict the gradient over a range of steps.
    fn gradient_is_wrong(&mut self, z: &[f64], v: &[f64], gradient: &[f64]) -> Result<bool, Error> {
        let given = along(gradient, v);
        let first = first_step(z.len());
        if self.slope(z, v, gradient, first)?.agrees(given) {
            return Ok(false);
        }
        is_contradicted(first, given, |step| self.slope(z, v, gradient, step))
    }

    /// The slope of log p at z along v, by differences.
    fn slope(&mut self, z: &[f64], v: &[f64], gradient: &[f64], step: f64) -> Result<Slope, Error> {
        let log_p = self.values(&five_points(z, v, step))?;
        let terms: f64 = gradient.iter().zip(v).map(|(g, v)| (g * v).abs()).sum();
        Ok(Slope::of(std::array::from_fn(|k| log_p[k]), step, terms))
    }

    /// The coordinate in which the gradient at z is wrong most, by halving the set of those that v moves.
    fn wrong_coordinate(&mut self, z: &[f64], v: &[f64], gradient: &[f64]) -> Result<usize, Error> {
        let step = first_step(z.len());
        worst_by_halves(v, |part| Ok((self.slope(z, part, gradient, step)?.value - along(gradient, part)).abs()))
    }

    fn look_at_hessians(&mut self, places: &Places) -> Result<Option<Fault>, Error> {
        let d = self.dim();
        if d > tuning::MOST_COORDINATES_OF_A_HESSIAN {
            return Ok(None);
        }
        let mut seen: Vec<(usize, Vec<f64>)> = Vec::new();
        for s in 0..places.points.len().min(2) {
            let z = places.points.get(s);
            if let Some(mut hessian) = self.curvature_at(Covariance::Full, z)? {
                hessian.iter_mut().for_each(|h| *h = -*h);
                seen.push((s, hessian));
            }
        }
        for (s, hessian) in &seen {
            let (z, v) = (places.points.get(*s), places.directions.get(*s));
            let Some(row) = self.wrong_row(z, v, hessian)? else { continue };
            let column = self.wrong_column(z, v, row, hessian)?;
            let mut confirmed = Vec::new();
            for (t, hessian) in &seen {
                let part = restricted(places.directions.get(*t), column..column + 1);
                if self.row_is_wrong(places.points.get(*t), &part, row, hessian)? {
                    confirmed.push((*t, hessian[column * d + row]));
                }
            }
            if confirmed.len() < 2 {
                continue;
            }
            let (t, given) = confirmed[0];
            let (z, part) = (places.points.get(t), restricted(places.directions.get(t), column..column + 1));
            let difference = self.slopes_of_gradient(z, &part, &seen[0].1, first_step(d))?[row].value / part[column];
            let (row, column) = (self.about.names[row].clone(), self.about.names[column].clone());
            return Ok(Some(Fault::Hessian { row, column, given, difference, point: shown(z) }));
        }
        Ok(None)
    }

    /// The row of the Hessian at z that differences along v contradict most clearly, if any.
    fn wrong_row(&mut self, z: &[f64], v: &[f64], hessian: &[f64]) -> Result<Option<usize>, Error> {
        let slopes = self.slopes_of_gradient(z, v, hessian, first_step(z.len()))?;
        let excess = |i: usize| (slopes[i].value - row_along(hessian, i, v)).abs() / slopes[i].error;
        let row = (0..z.len()).max_by(|a, b| excess(*a).total_cmp(&excess(*b))).filter(|row| excess(*row) > 1.0);
        let Some(row) = row else { return Ok(None) };
        Ok(self.row_is_wrong(z, v, row, hessian)?.then_some(row))
    }

    fn row_is_wrong(&mut self, z: &[f64], v: &[f64], row: usize, hessian: &[f64]) -> Result<bool, Error> {
        let given = row_along(hessian, row, v);
        is_contradicted(first_step(z.len()), given, |step| Ok(self.slopes_of_gradient(z, v, hessian, step)?[row]))
    }

    /// The slopes of every coordinate of ∇log p at z along v, by differences.
    fn slopes_of_gradient(&mut self, z: &[f64], v: &[f64], hessian: &[f64], step: f64) -> Result<Vec<Slope>, Error> {
        let d = z.len();
        let (_, gradients) = self.gradients(five_points(z, v, step).view())?;
        let slope = |i: usize| {
            let terms: f64 = (0..d).map(|j| (hessian[j * d + i] * v[j]).abs()).sum();
            Slope::of(std::array::from_fn(|k| gradients[k * d + i]), step, terms)
        };
        Ok((0..d).map(slope).collect())
    }

    /// The coordinate along which the row is wrong most, by halving.
    fn wrong_column(&mut self, z: &[f64], v: &[f64], row: usize, hessian: &[f64]) -> Result<usize, Error> {
        let step = first_step(z.len());
        worst_by_halves(v, |part| {
            let slope = self.slopes_of_gradient(z, part, hessian, step)?[row];
            Ok((slope.value - row_along(hessian, row, part)).abs())
        })
    }
}

/// The coordinate of v to which most of an error belongs, by halving the set of those that it may belong to.
fn worst_by_halves(v: &[f64], mut error_of: impl FnMut(&[f64]) -> Result<f64, Error>) -> Result<usize, Error> {
    let (mut low, mut high) = (0, v.len());
    while high - low > 1 {
        let middle = low.midpoint(high);
        let [lower, upper] = [low..middle, middle..high].map(|range| restricted(v, range));
        if error_of(&lower)? >= error_of(&upper)? { high = middle } else { low = middle }
    }
    Ok(low)
}

/// The step in units of v, a difference of two draws, whose length is √2d standard deviations.
fn first_step(dim: usize) -> f64 {
    tuning::STEP / (dim as f64).sqrt()
}

/// Whether three steps in a row, each so many times the next, contradict what was given.
fn is_contradicted(first: f64, given: f64, mut slope: impl FnMut(f64) -> Result<Slope, Error>) -> Result<bool, Error> {
    let (mut in_a_row, mut noise) = (0, 0.0);
    for k in -1..=2 {
        let seen = slope(first * tuning::RATIO.powi(-k))?;
        // The first step shows the noise, unless all of its values are the same: then the one before it does.
        if k == -1 || k == 0 && seen.noise > 0.0 {
            noise = seen.noise;
        }
        in_a_row = if seen.with_noise(noise).contradicts(given) { in_a_row + 1 } else { 0 };
        if in_a_row == 3 {
            return Ok(true);
        }
        // The last step could not make it three.
        if k == 1 && in_a_row < 2 {
            return Ok(false);
        }
    }
    Ok(false)
}

/// z, z ± hv and z ± hv/2.
fn five_points(z: &[f64], v: &[f64], step: f64) -> DrawBuffer {
    let mut points = DrawBuffer::zeros(z.len(), 5);
    for (k, h) in [0.0, step, -step, 0.5 * step, -0.5 * step].into_iter().enumerate() {
        points.get_mut(k).iter_mut().zip(z.iter().zip(v)).for_each(|(to, (z, v))| *to = z + h * v);
    }
    points
}

/// v with all other coordinates set to zero.
fn restricted(v: &[f64], range: std::ops::Range<usize>) -> Vec<f64> {
    v.iter().enumerate().map(|(i, v)| if range.contains(&i) { *v } else { 0.0 }).collect()
}

fn along(gradient: &[f64], v: &[f64]) -> f64 {
    gradient.iter().zip(v).map(|(g, v)| g * v).sum()
}

/// Row i of H times v.
fn row_along(hessian: &[f64], i: usize, v: &[f64]) -> f64 {
    let d = v.len();
    (0..d).map(|j| hessian[j * d + i] * v[j]).sum()
}
