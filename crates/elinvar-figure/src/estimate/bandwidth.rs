//! How wide a kernel should be, also for several modes.
//!
//! Z. I. Botev, J. F. Grotowski, D. P. Kroese, Kernel density estimation via diffusion, Annals of Statistics 38 (2010):
//! the plug-in rule that does not start from a normal law, which would smooth separate modes into one.

use std::f64::consts::PI;

use super::sample::Sample;

const BINS: usize = 256;
/// The highest derivative whose norm is estimated.
const ORDER: i32 = 7;

/// Standard deviation of a Gaussian kernel for these draws.
pub fn bandwidth(sample: &Sample) -> f64 {
    let (low, high) = central(sample);
    let width = high - low;
    let n = sample.effective_len().max(2.0);
    let spread = (sample.quantile(0.75) - sample.quantile(0.25)) / 1.349;
    let rule_of_thumb = 0.9 * if spread > 0.0 { spread } else { width / 6.0 } * n.powf(-0.2);
    let squares = squared_cosine_coefficients(&histogram(sample, low, width));
    fixed_point(&squares, n).map_or(rule_of_thumb, |t| t.sqrt() * width)
}

/// A range that leaves out the far tails, a little wider than what it holds.
fn central(sample: &Sample) -> (f64, f64) {
    let (low, high) = (sample.quantile(0.002), sample.quantile(0.998));
    let (low, high) = if low < high { (low, high) } else { sample.range() };
    (low - 0.1 * (high - low), high + 0.1 * (high - low))
}

fn histogram(sample: &Sample, low: f64, width: f64) -> Vec<f64> {
    let mut bins = vec![0.0; BINS];
    for (value, weight) in sample.points() {
        let bin = (value - low) / width * BINS as f64;
        if (0.0..BINS as f64).contains(&bin) {
            bins[bin as usize] += weight;
        }
    }
    bins
}

/// (Σ_j h_j cos(π k (j + ½)/n))² for k = 1, 2, …
fn squared_cosine_coefficients(bins: &[f64]) -> Vec<f64> {
    let n = bins.len() as f64;
    let coefficient = |k: usize| -> f64 {
        bins.iter().enumerate().map(|(j, h)| h * (PI * k as f64 * (j as f64 + 0.5) / n).cos()).sum()
    };
    (1..bins.len()).map(|k| coefficient(k).powi(2)).collect()
}

/// The smallest t with t = ξ γ(t), of the paper's equation (30); the squared bandwidth on the unit interval.
fn fixed_point(squares: &[f64], n: f64) -> Option<f64> {
    const STEPS: i32 = 64;
    let excess = |t: f64| t - plug_in(t, squares, n);
    let t_at = |i: i32| 1e-9 * 10f64.powf(8.0 * f64::from(i) / f64::from(STEPS));
    let first_below = (0..STEPS).find(|i| excess(t_at(*i)) < 0.0)?;
    let above = (first_below + 1..=STEPS).find(|i| excess(t_at(*i)) >= 0.0)?;
    let (mut low, mut high) = (t_at(above - 1), t_at(above));
    for _ in 0..20 {
        let middle = 0.5 * (low + high);
        if excess(middle) < 0.0 { low = middle } else { high = middle }
    }
    Some(high)
}

/// ξ γ(t): from the norm of a high derivative at t down to that of the second, and the bandwidth that it asks for.
fn plug_in(t: f64, squares: &[f64], n: f64) -> f64 {
    let norm = |s: i32, t: f64| -> f64 {
        /// e⁻¹²⁰ makes even 255¹⁴ vanish.
        const NEGLIGIBLE: f64 = 120.0;
        let terms = squares.iter().enumerate().map(|(i, a)| (((i + 1) * (i + 1)) as f64, a));
        let terms = terms.take_while(|(k2, _)| k2 * PI * PI * t < NEGLIGIBLE);
        2.0 * PI.powi(2 * s) * terms.map(|(k2, a)| k2.powi(s) * a * (-k2 * PI * PI * t).exp()).sum::<f64>()
    };
    let mut f = norm(ORDER, t);
    for s in (2..ORDER).rev() {
        let odd: f64 = (1..=s).map(|i| f64::from(2 * i - 1)).product();
        let kernel = odd / (2.0 * PI).sqrt();
        let factor = (1.0 + 0.5f64.powf(f64::from(s) + 0.5)) / 3.0;
        f = norm(s, (2.0 * factor * kernel / (n * f)).powf(2.0 / f64::from(3 + 2 * s)));
    }
    (2.0 * n * PI.sqrt() * f).powf(-0.4)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The quantiles of a standard normal law at n midpoints, by bisection of its distribution function.
    fn normal_quantiles(n: usize) -> Vec<f64> {
        let cdf = |x: f64| {
            let m = 400;
            let step = x / f64::from(m);
            let phi = |v: f64| (-0.5 * v * v).exp() / (2.0 * PI).sqrt();
            0.5 + (0..m).map(|i| step * phi((f64::from(i) + 0.5) * step)).sum::<f64>()
        };
        let quantile = |p: f64| {
            let (mut low, mut high) = (-6.0, 6.0);
            for _ in 0..40 {
                let middle = 0.5 * (low + high);
                if cdf(middle) < p { low = middle } else { high = middle }
            }
            low
        };
        (0..n).map(|i| quantile((i as f64 + 0.5) / n as f64)).collect()
    }

    #[test]
    fn it_is_near_the_best_one_for_a_normal_law() {
        let values = normal_quantiles(1000);
        let best = 1.06 * 1000f64.powf(-0.2);
        let h = bandwidth(&Sample::new(&values, &[]).unwrap());
        assert!((0.7..1.3).contains(&(h / best)), "{h} {best}");
    }

    #[test]
    fn two_far_modes_do_not_widen_it() {
        let one = normal_quantiles(1000);
        let two: Vec<f64> = one.iter().map(|v| v - 15.0).chain(one.iter().map(|v| v + 15.0)).collect();
        let h = bandwidth(&Sample::new(&two, &[]).unwrap());
        // A rule for normal laws would say 3.
        assert!(h < 0.5, "{h}");
    }
}
