//! Density of one parameter from its draws.

use std::f64::consts::PI;

use super::sample::Sample;

/// A density on equally spaced points.
#[derive(Clone, Debug, PartialEq)]
pub struct Density {
    /// The first point.
    pub low: f64,
    /// The last point.
    pub high: f64,
    /// Its values.
    pub values: Vec<f64>,
}

impl Density {
    /// The points and values.
    pub fn points(&self) -> impl Iterator<Item = (f64, f64)> {
        let step = (self.high - self.low) / (self.values.len() - 1) as f64;
        self.values.iter().enumerate().map(move |(i, y)| (self.low + step * i as f64, *y))
    }

    /// The largest value.
    pub fn peak(&self) -> f64 {
        self.values.iter().copied().fold(0.0, f64::max)
    }
}

/// Kernel density estimate between `low` and `high`, mass beyond a bound folded back.
pub fn density(
    sample: &Sample,
    bandwidth: f64,
    (low, high): (f64, f64),
    bounds: (Option<f64>, Option<f64>),
    len: usize,
) -> Density {
    let step = (high - low) / (len - 1) as f64;
    // Narrower than the grid would fall between its points.
    let h = bandwidth.max(0.5 * step);
    let mut values = vec![0.0; len];
    for (value, weight) in sample.points() {
        add_kernel(&mut values, (value - low) / step, h / step, *weight / step);
        for bound in [bounds.0, bounds.1].into_iter().flatten() {
            add_kernel(&mut values, (2.0 * bound - value - low) / step, h / step, *weight / step);
        }
    }
    for (i, y) in values.iter_mut().enumerate() {
        let x = low + step * i as f64;
        let slack = 1e-9 * step;
        if bounds.0.is_some_and(|bound| x < bound - slack) || bounds.1.is_some_and(|bound| x > bound + slack) {
            *y = 0.0;
        }
    }
    Density { low, high, values }
}

/// Adds a Gaussian of weight `weight` at `centre`, in units of the grid.
fn add_kernel(values: &mut [f64], centre: f64, h: f64, weight: f64) {
    const REACH: f64 = 4.5;
    let first = (centre - REACH * h).ceil().max(0.0);
    let last = (centre + REACH * h).floor().min(values.len() as f64 - 1.0);
    if last < first {
        return;
    }
    let factor = weight / (h * (2.0 * PI).sqrt());
    for (i, value) in values.iter_mut().enumerate().take(last as usize + 1).skip(first as usize) {
        let u = (i as f64 - centre) / h;
        *value += factor * (-0.5 * u * u).exp();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mass(density: &Density) -> f64 {
        let step = (density.high - density.low) / (density.values.len() - 1) as f64;
        let ends = 0.5 * (density.values[0] + density.values[density.values.len() - 1]);
        step * (density.values.iter().sum::<f64>() - ends)
    }

    #[test]
    fn it_is_the_kernel_itself_for_a_single_place() {
        let sample = Sample::new(&[0.0, 1e-9], &[]).unwrap();
        let density = density(&sample, 0.5, (-3.0, 3.0), (None, None), 601);
        for (x, y) in density.points() {
            let expected = (-2.0 * x * x).exp() / (0.5 * (2.0 * PI).sqrt());
            assert!((y - expected).abs() < 1e-4, "{x}: {y} {expected}");
        }
        assert!((mass(&density) - 1.0).abs() < 1e-4);
    }

    #[test]
    fn no_mass_is_lost_at_a_bound() {
        let values: Vec<f64> = (0..1000).map(|i| -(1.0 - (f64::from(i) + 0.5) / 1000.0).ln()).collect();
        let sample = Sample::new(&values, &[]).unwrap();
        let bounded = density(&sample, 0.2, (0.0, 12.0), (Some(0.0), None), 1201);
        assert!((mass(&bounded) - 1.0).abs() < 1e-3, "{}", mass(&bounded));
        let open = density(&sample, 0.2, (0.0, 12.0), (None, None), 1201);
        assert!(mass(&open) < 0.95);
    }
}
