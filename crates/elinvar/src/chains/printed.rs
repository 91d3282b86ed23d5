//! The moments and quantiles of coordinates and of parameters, from states and gradients.

use super::stein::{Controls, Moments};
use super::{CorrectedNumber, Frame, Part};
use crate::linalg::{dot, products};
use crate::record::Estimate;
use crate::target::{Combination, Draws, Transforms};

/// Some steps of chains, with C ∇log p at every state.
pub(super) struct Reading<'a> {
    part: Part<'a>,
    frame: &'a Frame,
    /// C ∇log p, state after state.
    scores: &'a [f64],
    inside: Option<&'a Inside>,
}

/// States and gradients in bent coordinates, for further control variates.
pub(super) struct Inside {
    pub(super) u: Vec<f64>,
    pub(super) by_u: Vec<f64>,
    /// The components that drive bends.
    pub(super) drivers: Vec<usize>,
}

/// States for each control variate at least.
const STATES_EACH: usize = 50;
/// Control variates of bent coordinates, at most about.
const MOST_CONTROLS: usize = 12;
/// Parameters with noise beside z that are taken at a time.
const SPREAD_BLOCK: usize = 32;

/// What a parameter is a function of.
enum Function {
    /// A coordinate times a factor.
    Coordinate(usize, f64),
    /// A combination of coordinates.
    Linear(Vec<f64>),
    /// A combination of coordinates with a constant and noise of its own.
    Spread(Combination),
    /// Anything, with its gradient at the centre.
    Curved(Vec<f64>),
}

impl<'a> Reading<'a> {
    pub(super) fn new(part: Part<'a>, frame: &'a Frame, scores: &'a [f64]) -> Self {
        Self { part, frame, scores, inside: None }
    }

    /// With control variates of bent coordinates.
    pub(super) fn with(self, inside: Option<&'a Inside>) -> Self {
        Self { inside, ..self }
    }

    /// Adds φ(u)·∇log p(u) + div φ for simple φ of a component and of those that drive.
    fn bend(&self, controls: &mut Controls, own: usize) {
        let Some(Inside { u, by_u, drivers }) = self.inside else { return };
        let (d, n) = (self.frame.dim(), self.part.len());
        let mut left = (n / STATES_EACH).min(MOST_CONTROLS);
        let mut add = |component: usize, field: &dyn Fn(&[f64]) -> (f64, f64)| {
            if left > 2 {
                let points = u.chunks_exact(d).zip(by_u.chunks_exact(d));
                let column = points.map(|(u, g)| {
                    let (along, divergence) = field(u);
                    along * g[component] + divergence
                });
                controls.add(column.collect());
                left -= 1;
            }
        };
        for i in std::iter::once(own).chain(drivers.iter().copied().filter(|i| *i != own)) {
            add(i, &|_| (1.0, 0.0));
            add(i, &|u| (u[i], 1.0));
            add(i, &|u| (u[i] * u[i] - 1.0, 2.0 * u[i]));
            add(i, &|u| (u[i].powi(3) - 3.0 * u[i], 3.0 * (u[i] * u[i] - 1.0)));
            if i != own {
                add(own, &|u| (u[i], 0.0));
                add(own, &|u| (u[i] * u[own], u[i]));
            }
        }
    }

    fn column(&self, numbers: &[f64], i: usize) -> Vec<f64> {
        numbers.iter().skip(i).step_by(self.frame.dim()).copied().collect()
    }

    fn coordinate(&self, i: usize, variance: f64) -> (Vec<f64>, Controls) {
        let values = self.column(self.part.z, i);
        let mut controls = Controls::new(self.part.n, &values, self.column(self.scores, i), variance);
        self.bend(&mut controls, i);
        (values, controls)
    }

    fn along(&self, direction: &[f64]) -> (Vec<f64>, Controls) {
        let project = |numbers: &[f64]| -> Vec<f64> {
            numbers.chunks_exact(direction.len()).map(|point| dot(point, direction)).collect()
        };
        let values = project(self.part.z);
        let variance = self.frame.variance_along(direction);
        let mut controls = Controls::new(self.part.n, &values, project(self.scores), variance);
        let own = (0..direction.len()).max_by(|a, b| direction[*a].abs().total_cmp(&direction[*b].abs()));
        self.bend(&mut controls, own.unwrap_or(0));
        (values, controls)
    }

    /// The moments of every coordinate of z.
    pub(super) fn coordinates(&self) -> Vec<Moments> {
        let variances = self.frame.variances();
        let moments = variances.iter().enumerate().map(|(i, variance)| {
            let (values, controls) = self.coordinate(i, *variance);
            controls.moments(&values)
        });
        moments.collect()
    }

    /// What every parameter on the scale that is printed is a function of.
    fn functions(&self, transforms: &Transforms) -> Vec<Function> {
        let d = self.frame.dim();
        let (mut centre, mut x) = (vec![0.0; d], vec![0.0; transforms.n_constrained()]);
        let n = self.part.len() as f64;
        for z in self.part.z.chunks_exact(d) {
            centre.iter_mut().zip(z).for_each(|(sum, z)| *sum += z / n);
        }
        transforms.expect(&centre, &mut x);
        let mut linear = transforms.linear();
        let mut functions: Vec<Function> = Vec::with_capacity(linear.len());
        let lifted = linear.iter_mut().take(transforms.n_lifted().1);
        functions.extend(lifted.filter_map(Option::take).map(Function::Spread));
        for block in transforms.blocks() {
            let (rows, columns) = (block.x.len(), block.z.len());
            let mut jacobian = vec![0.0; rows * columns];
            block.transform.jacobian(&centre[block.z.clone()], &x[block.x.clone()], &mut jacobian);
            for (row, k) in block.x.clone().enumerate() {
                functions.push(match linear[k].as_ref().map_or(&[][..], |row| &row.terms) {
                    [] => {
                        let mut direction = vec![0.0; d];
                        for (j, i) in block.z.clone().enumerate() {
                            direction[i] = jacobian[j * rows + row];
                        }
                        Function::Curved(direction)
                    }
                    [(i, factor)] => Function::Coordinate(*i, *factor),
                    several => {
                        let mut direction = vec![0.0; d];
                        several.iter().for_each(|(i, factor)| direction[*i] += factor);
                        Function::Linear(direction)
                    }
                });
            }
        }
        functions
    }

    /// Calls `visit` with the index of every parameter that has values of its own, these and their controls; those with
    /// noise beside z have none.
    fn each_own(&self, transforms: &Transforms, mut visit: impl FnMut(usize, &[f64], &Controls)) -> Vec<Function> {
        let functions = self.functions(transforms);
        let width = transforms.n_constrained();
        let mut x = Vec::new();
        if functions.iter().any(|function| matches!(function, Function::Curved(_))) {
            x.resize(self.part.len() * width, 0.0);
            transforms.constrain_all(Draws::new(self.frame.dim(), self.part.z), &mut x);
        }
        for (k, function) in functions.iter().enumerate() {
            match function {
                Function::Coordinate(..) | Function::Spread(_) => {}
                Function::Linear(direction) => {
                    let (values, controls) = self.along(direction);
                    visit(k, &values, &controls);
                }
                Function::Curved(direction) => {
                    let values: Vec<f64> = x.iter().skip(k).step_by(width).copied().collect();
                    visit(k, &values, &self.along(direction).1);
                }
            }
        }
        functions
    }

    /// The numbers of parameters with noise beside z: moments along their directions, with what the noise adds, and
    /// quantiles of draws that have it.
    fn spread(
        &self,
        transforms: &Transforms,
        functions: &[Function],
        names: &[String],
        largest: f64,
    ) -> Vec<CorrectedNumber> {
        let (d, n, n_spread) = (self.frame.dim(), self.part.len(), transforms.n_lifted().1);
        let mut drawn = vec![0.0; n * transforms.n_constrained()];
        transforms.constrain_all(Draws::new(d, self.part.z), &mut drawn);
        let mut numbers = Vec::with_capacity(n_spread);
        let (mut along, mut scores) = (vec![0.0; n * SPREAD_BLOCK], vec![0.0; n * SPREAD_BLOCK]);
        for block in functions[..n_spread].chunks(SPREAD_BLOCK) {
            let mut directions = vec![0.0; block.len() * d];
            let rows = block.iter().filter_map(|function| match function {
                Function::Spread(row) => Some(row),
                _ => None,
            });
            for (direction, row) in directions.chunks_exact_mut(d).zip(rows.clone()) {
                row.terms.iter().for_each(|(i, factor)| direction[*i] += factor);
            }
            let (along, scores) = (&mut along[..n * block.len()], &mut scores[..n * block.len()]);
            products::rows_times(self.part.z, d, &directions, along);
            products::rows_times(self.scores, d, &directions, scores);
            let columns = along.chunks_exact(n).zip(scores.chunks_exact(n));
            for ((row, direction), (values, scores)) in rows.zip(directions.chunks_exact(d)).zip(columns) {
                let variance = self.frame.variance_along(direction);
                let controls = Controls::new(self.part.n, values, scores.to_vec(), variance);
                let k = numbers.len();
                let with_noise: Vec<f64> = drawn.iter().skip(k).step_by(transforms.n_constrained()).copied().collect();
                let moments = controls.moments(values).beside(row.constant, row.spare);
                numbers.push(number(&names[k], moments, &with_noise, &controls, largest));
            }
        }
        numbers
    }

    /// The moments of every parameter that is not a coordinate times a factor and has no noise beside z, with its index.
    pub(super) fn parameters(&self, transforms: &Transforms) -> Vec<(usize, Moments)> {
        let mut own = Vec::new();
        self.each_own(transforms, |k, values, controls| own.push((k, controls.moments(values))));
        own
    }

    /// Coordinates and parameters with quantiles, under their names.
    pub(super) fn numbers(
        &self,
        transforms: &Transforms,
        names: &[String],
        parameter_names: &[String],
        largest: f64,
    ) -> (Vec<CorrectedNumber>, Vec<CorrectedNumber>) {
        let variances = self.frame.variances();
        let coordinates: Vec<CorrectedNumber> = names
            .iter()
            .enumerate()
            .map(|(i, name)| {
                let (values, controls) = self.coordinate(i, variances[i]);
                CorrectedNumber { judged: true, ..number(name, controls.moments(&values), &values, &controls, largest) }
            })
            .collect();
        let mut own: Vec<Option<CorrectedNumber>> = vec![None; parameter_names.len()];
        let functions = self.each_own(transforms, |k, values, controls| {
            own[k] = Some(number(&parameter_names[k], controls.moments(values), values, controls, largest));
        });
        let spread = self.spread(transforms, &functions, parameter_names, largest);
        own.iter_mut().zip(spread).for_each(|(own, number)| *own = Some(number));
        let parameters = functions.iter().zip(own).zip(parameter_names).map(|((function, own), name)| {
            own.unwrap_or_else(|| match function {
                Function::Coordinate(i, factor) => scaled(&coordinates[*i], *factor, name),
                _ => scaled(&coordinates[0], 0.0, name),
            })
        });
        let parameters = parameters.collect();
        (coordinates, parameters)
    }
}

fn number(name: &str, moments: Moments, values: &[f64], controls: &Controls, largest: f64) -> CorrectedNumber {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let quantile = |p: f64| {
        let (value, error) = controls.quantile(values, &sorted, p);
        Estimate::new(value, error)
    };
    CorrectedNumber {
        name: name.into(),
        mean: Estimate::new(moments.mean, moments.sd * moments.mean_error),
        sd: Estimate::new(moments.sd, moments.sd * moments.log_sd_error),
        q5: quantile(0.05),
        q50: quantile(0.5),
        q95: quantile(0.95),
        judged: moments.largest <= largest,
    }
}

/// A number times a factor.
fn scaled(number: &CorrectedNumber, factor: f64, name: &str) -> CorrectedNumber {
    let times = |e: Estimate, factor: f64| Estimate::new(factor * e.value, factor.abs() * e.mcse);
    let (q5, q95) = if factor < 0.0 { (number.q95, number.q5) } else { (number.q5, number.q95) };
    CorrectedNumber {
        name: name.into(),
        mean: times(number.mean, factor),
        sd: times(number.sd, factor.abs()),
        q5: times(q5, factor),
        q50: times(number.q50, factor),
        q95: times(q95, factor),
        judged: number.judged,
    }
}
