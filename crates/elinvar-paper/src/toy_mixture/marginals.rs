//! The one-dimensional marginals: densities, distances, and a figure of all twenty.

use elinvar::family::Approximation;
use elinvar_figure::{Area, Axis, Colour, Figure, Line, Panel};

use super::{DIM, MODES, Measured};

/// The one-dimensional marginals of a mixture: weights, means and standard deviations of the components.
pub(super) struct Marginals {
    weights: Vec<f64>,
    means: Vec<Vec<f64>>,
    sds: Vec<Vec<f64>>,
}

impl Marginals {
    pub(super) fn of(q: &Approximation) -> Self {
        let mut covariance = vec![0.0; DIM * DIM];
        let mut sds = Vec::new();
        for block in q.locations() {
            block.scale().covariance_into(&mut covariance);
            sds.push(covariance.iter().step_by(DIM + 1).map(|v| v.sqrt()).collect());
        }
        let weights = q.weights().log().iter().map(|log| log.exp()).collect();
        Self { weights, means: q.locations().iter().map(|block| block.b().to_vec()).collect(), sds }
    }

    /// The density of coordinate `i` at x.
    fn density(&self, i: usize, x: f64) -> f64 {
        let parts = self.weights.iter().zip(&self.means).zip(&self.sds);
        parts.map(|((weight, mean), sd)| weight * normal(x, mean[i], sd[i])).sum()
    }

    /// ½∫|q_i − p_i|.
    pub(super) fn distance(&self, centres: &[f64], i: usize) -> f64 {
        const STEP: f64 = 0.02;
        let points = (0..3_200).map(|k| -32.0 + STEP * f64::from(k));
        0.5 * STEP * points.map(|x| (self.density(i, x) - truth(centres, i, x)).abs()).sum::<f64>()
    }
}

fn normal(x: f64, mean: f64, sd: f64) -> f64 {
    let t = (x - mean) / sd;
    (-0.5 * t * t).exp() / (sd * std::f64::consts::TAU.sqrt())
}

/// The density of coordinate `i` of the target at x.
fn truth(centres: &[f64], i: usize, x: f64) -> f64 {
    centres.iter().skip(i).step_by(DIM).map(|u| normal(x, *u, 1.0) / MODES as f64).sum()
}

/// All twenty marginals of one fit over those of the target.
pub(super) fn figure(name: &str, stem: &str, centres: &[f64], run: &Measured) -> crate::Figure {
    let title = format!(
        "{name}: all twenty marginals of the fitted mixture over those of the target, {} of {MODES} modes found",
        run.modes
    );
    let q = Marginals::of(&run.q);
    let range = (-25.0, 25.0);
    let grid = || (0..=400).map(|k| range.0 + (range.1 - range.0) * f64::from(k) / 400.0);
    let highest = |i: usize| grid().map(|x| q.density(i, x).max(truth(centres, i, x))).fold(0.0, f64::max);
    let top = 1.05 * (0..DIM).map(highest).fold(0.0, f64::max);
    let mut figure = Figure::new(&title).columns(5).panel_size(176.0, 118.0);
    for i in 0..DIM {
        figure = figure.panel(
            Panel::new(format!("z{}", subscript(i + 1)))
                .x(Axis::linear("").range(range.0, range.1).ticks(3))
                .y(Axis::linear("").range(0.0, top).ticks(2))
                .add(Area::under(grid().map(|x| (x, truth(centres, i, x)))).colour(Colour::Grey).key("target"))
                .add(
                    Line::new(grid().map(|x| (x, q.density(i, x)))).colour(Colour::Blue).key("mixture of 20 Gaussians"),
                ),
        );
    }
    crate::Figure { stem: format!("marginals-{stem}"), title, svg: figure.svg() }
}

/// A number in small digits below the line.
fn subscript(n: usize) -> String {
    n.to_string().chars().map(|digit| char::from_u32('₀' as u32 + digit as u32 - '0' as u32).unwrap_or(digit)).collect()
}
