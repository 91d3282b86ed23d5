//! Draws against the density.

use elinvar::component::Component;
use elinvar::internals::law::MixingNoise;
use elinvar::internals::random::NoiseSource;
use elinvar::random::{Noise, Purpose, Stream};
use elinvar::target::Support;

use super::measure::Measure;
use super::members::ordinary_members;

/// √n times the largest distance between the distribution functions of the draws and of the density.
fn kolmogorov_smirnov(c: &Component, mut draws: Vec<f64>) -> f64 {
    let measure = Measure::of(c);
    let n = draws.len();
    if c.support() == Support::Circle {
        assert!(draws.iter().all(|z| z.abs() <= std::f64::consts::PI), "{c:?}: an angle outside (−π, π]");
    }
    for z in &mut draws {
        *z = measure.coordinate.inverse(*z);
    }
    draws.sort_by(f64::total_cmp);
    let (mut statistic, mut mass, mut next) = (0.0f64, 0.0, 0);
    for pair in measure.nodes.windows(2) {
        mass += pair[0].2;
        let middle = 0.5 * (pair[0].0 + pair[1].0);
        while next < n && draws[next] <= middle {
            next += 1;
        }
        statistic = statistic.max((next as f64 / n as f64 - mass).abs());
    }
    statistic * (n as f64).sqrt()
}

/// α = 1e−4 for each member, some fifty of them; the seed is fixed.
const CRITICAL: f64 = 2.2253;

#[test]
fn independent_draws_have_the_law() {
    for c in ordinary_members() {
        let mut stream = Stream::open(20_190_609, Purpose::Diagnostics, 0, 0);
        let draws = (0..40_000).map(|_| c.sample(&mut stream)).collect();
        let statistic = kolmogorov_smirnov(&c, draws);
        assert!(statistic < CRITICAL, "{c:?}: Kolmogorov–Smirnov {statistic}");
    }
}

/// Scrambled Sobol points: each draw has the law, and a batch is closer to it than independent draws are.
#[test]
fn quasi_random_draws_have_the_law() {
    for c in ordinary_members() {
        let n = 4096;
        let mut source = NoiseSource::new(Noise::QuasiMonteCarlo, 1, n);
        source.begin(7, Purpose::Diagnostics, 0, 0);
        let draws = (0..n).map(|s| c.sample(&mut source.mixing(s))).collect();
        let statistic = kolmogorov_smirnov(&c, draws);
        assert!(statistic < CRITICAL, "{c:?}: Kolmogorov–Smirnov {statistic}");
    }
}

/// Any noise serves, also through a reference to the trait.
#[test]
fn draws_are_a_function_of_the_noise() {
    for c in ordinary_members() {
        let mut one = Stream::open(3, Purpose::Diagnostics, 0, 0);
        let mut two = Stream::open(3, Purpose::Diagnostics, 0, 0);
        let dynamic: &mut dyn MixingNoise = &mut two;
        assert_eq!(c.sample(&mut one), c.sample(dynamic));
    }
}
