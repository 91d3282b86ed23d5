//! What importance weights say about means and standard deviations.

use serde::{Deserialize, Serialize};

use super::{Estimate, limits};
use crate::target::{DrawBuffer, Draws, Transform, Transforms};

/// How the mean and the standard deviation of one parameter change when the draws of q are weighted towards p.
///
/// Both estimates compare moments under p and under q from the same draws, so that most of their noise cancels. From
/// draws of q alone they are too small where p has mass and q has none; with the wide draws of a verdict they are not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shift {
    /// The parameter, on the constrained scale, or a coordinate of z that is transformed.
    pub name: String,
    /// (mean under p − mean under q) / sd under q.
    pub mean: Estimate,
    /// log (sd under p / sd under q).
    pub log_sd: Estimate,
    /// The coordinate of z to report instead, where a single draw has more than 5 % of the second moment, so that the
    /// parameter may have no moments; it is then not judged, but that coordinate is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead: Option<String>,
}

/// The shifts of every parameter on the constrained scale, then of every coordinate of z that is not one of them, from
/// draws and their weights towards p and towards q, each of which sum to one.
pub(super) fn shifts(
    (transforms, names, constrained_names): (&Transforms, &[String], &[String]),
    draws: &DrawBuffer,
    to_p: &[f64],
    to_q: &[f64],
) -> Vec<Shift> {
    let transformed = transformed(transforms);
    let n_parameters = transforms.n_constrained();
    let width = n_parameters + transformed.len();
    let mut pass = passes(transforms, &transformed, draws, to_p, to_q);
    // What z does not decide has the same variance under p and under q.
    let mut spare: Vec<f64> = vec![0.0; width];
    if transforms.row_space().is_some() {
        let rows = transforms.linear();
        spare.iter_mut().zip(&rows).for_each(|(spare, row)| *spare = row.as_ref().map_or(0.0, |row| row.spare));
    }

    let mut centres = vec![0.0; width];
    pass(&mut |_, q, row| centres.iter_mut().zip(row).for_each(|(centre, x)| *centre += q * x));
    let of_spare = |spare: &f64| Moments { q_variance: *spare, p_square: *spare, ..Moments::default() };
    let mut moments: Vec<Moments> = spare.iter().map(of_spare).collect();
    pass(&mut |p, q, row| {
        for ((m, x), centre) in moments.iter_mut().zip(row).zip(&centres) {
            let deviation = x - centre;
            let square = deviation * deviation;
            m.q_variance += q * square;
            m.p_mean += p * deviation;
            m.p_square += p * square;
            m.largest = m.largest.max(p * square);
        }
    });
    let mut errors = vec![(0.0, 0.0); width];
    pass(&mut |p, q, row| {
        for ((((error, m), x), centre), spare) in errors.iter_mut().zip(&moments).zip(row).zip(&centres).zip(&spare) {
            let u = (x - centre) / m.q_sd();
            let v = u - m.mean();
            let beside = spare / m.q_variance;
            let (squared_u, squared_v) = (u * u + beside, v * v + beside);
            let (mean, log_variance) = (p * v - q * u, p * (squared_v / m.ratio() - 1.0) - q * (squared_u - 1.0));
            error.0 += mean * mean;
            error.1 += 0.25 * log_variance * log_variance;
        }
    });

    let instead = coordinates(transforms);
    let coordinate = |index: usize| instead.get(index).copied().flatten().map(|i| names[i].clone());
    let all = constrained_names.iter().chain(transformed.iter().map(|i| &names[*i]));
    let found = all.zip(&moments).zip(&errors).enumerate().map(|(index, ((name, m), error))| {
        let (mean, log_sd) = if m.q_variance == 0.0 {
            // A parameter that rounding has made constant does not move.
            (Estimate { value: 0.0, mcse: 0.0 }, Estimate { value: 0.0, mcse: 0.0 })
        } else {
            (Estimate::new(m.mean(), error.0.sqrt()), Estimate::new(0.5 * m.ratio().ln(), error.1.sqrt()))
        };
        Shift { name: name.clone(), mean, log_sd, instead: coordinate(index).filter(|_| m.is_dominated()) }
    });
    found.collect()
}

/// What is called with the weights and the numbers of a draw.
type Visit<'v> = dyn FnMut(f64, f64, &[f64]) + 'v;

/// Calls what it is given with the weights and the numbers of every draw that has any: parameters, expected where z
/// does not decide them, and the coordinates that are listed.
fn passes<'a>(
    transforms: &'a Transforms,
    listed: &'a [usize],
    draws: &'a DrawBuffer,
    to_p: &'a [f64],
    to_q: &'a [f64],
) -> impl FnMut(&mut Visit<'_>) + 'a {
    /// Draws that are mapped at a time, where that is a product of matrices.
    const BLOCK: usize = 64;
    let n_parameters = transforms.n_constrained();
    let (d, n) = (draws.view().dim(), draws.len());
    let block = if transforms.row_space().is_some() { BLOCK } else { 1 };
    let mut x = vec![0.0; block * n_parameters];
    let mut row = vec![0.0; n_parameters + listed.len()];
    move |accumulate| {
        for start in (0..n).step_by(block) {
            let all = start..n.min(start + block);
            // Far out, where nothing has weight, a parameter may not be finite.
            if all.clone().all(|s| to_p[s] == 0.0 && to_q[s] == 0.0) {
                continue;
            }
            let x = &mut x[..all.len() * n_parameters];
            let points = Draws::new(d, &draws.view().as_slice()[all.start * d..all.end * d]);
            transforms.expect_all(points, x);
            for (s, x) in all.zip(x.chunks_exact(n_parameters)).filter(|(s, _)| to_p[*s] != 0.0 || to_q[*s] != 0.0) {
                let (parameters, rest) = row.split_at_mut(n_parameters);
                parameters.copy_from_slice(x);
                rest.iter_mut().zip(listed).for_each(|(value, i)| *value = draws.get(s)[*i]);
                accumulate(to_p[s], to_q[s], &row);
            }
        }
    }
}

/// Sums over draws, of deviations from the mean under q.
#[derive(Clone, Default)]
struct Moments {
    q_variance: f64,
    p_mean: f64,
    p_square: f64,
    /// The largest term of `p_square`.
    largest: f64,
}

impl Moments {
    fn q_sd(&self) -> f64 {
        self.q_variance.sqrt()
    }

    /// The mean under p in standard deviations of q.
    fn mean(&self) -> f64 {
        self.p_mean / self.q_sd()
    }

    /// Whether one draw has so much of the second moment under p that there may be none.
    fn is_dominated(&self) -> bool {
        self.largest.is_nan() || self.largest > limits::LARGEST_DRAW * self.p_square || !self.p_square.is_finite()
    }

    /// Variance under p over variance under q.
    fn ratio(&self) -> f64 {
        (self.p_square / self.q_variance - self.mean() * self.mean()).max(f64::MIN_POSITIVE)
    }
}

/// The coordinates of z that are not parameters themselves.
fn transformed(transforms: &Transforms) -> Vec<usize> {
    let directions = 0..transforms.n_lifted().0;
    let others = transforms.blocks().filter(|block| block.transform != Transform::Identity);
    directions.chain(others.flat_map(|block| block.z)).collect()
}

/// For every parameter on the constrained scale the coordinate of z that it is a function of, if it is one that is not
/// bounded and not the coordinate itself.
fn coordinates(transforms: &Transforms) -> Vec<Option<usize>> {
    let mut found = vec![None; transforms.n_lifted().1];
    for block in transforms.blocks() {
        let is_single = block.transform != Transform::Identity && block.z.len() == 1 && block.x.len() == 1;
        found.extend(block.x.map(|_| is_single.then_some(block.z.start)));
    }
    found
}
