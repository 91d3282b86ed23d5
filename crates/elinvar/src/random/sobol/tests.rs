use super::*;
use crate::random::Purpose;
use crate::random::test_statistics::{ks_uniform, mean_is};

fn stream(step: u64) -> Stream {
    Stream::open(21, Purpose::Draws, step, 0)
}

/// n × dim uniforms, point-contiguous.
fn uniforms(sobol: &mut SobolNormals, step: u64) -> Vec<f64> {
    let (dim, n) = (sobol.dim, sobol.n);
    let mut stream = stream(step);
    let mut out = vec![0.0; dim * n];
    for j in 0..dim {
        sobol.column(j, &mut stream, |i, u| out[i * dim + j] = u);
    }
    out
}

/// Point i before scrambling, as integers.
fn plain(sobol: &SobolNormals, i: usize, j: usize) -> u64 {
    let m = sobol.digits as usize;
    let gray = i ^ (i >> 1);
    (0..m).filter(|k| gray >> k & 1 == 1).fold(0, |x, k| x ^ u64::from(sobol.directions[j * m + k]))
}

#[test]
fn points_before_scrambling_are_those_of_another_implementation() {
    // scipy.stats.qmc.Sobol(1024, scramble=False), times 64.
    let sobol = SobolNormals::new(1024, 64);
    let expected = [
        (0, [0, 32, 48, 16, 24, 56, 40, 8, 12, 44, 60, 28, 20, 52, 36, 4]),
        (5, [0, 32, 48, 16, 8, 40, 56, 24, 20, 52, 36, 4, 28, 60, 44, 12]),
        (1023, [0, 32, 48, 16, 56, 24, 8, 40, 4, 36, 52, 20, 60, 28, 12, 44]),
    ];
    for (j, points) in expected {
        assert!((0..16).all(|i| plain(&sobol, i, j) == points[i]), "dimension {j}");
    }
    // All of the first 64 points, and point 5461 of 8192, folded into one number.
    let fold = |h: u64, x: u64| (h ^ x).wrapping_mul(0x0100_0000_01b3);
    let all = (0..64 * 1024).fold(0, |h, k| fold(h, plain(&sobol, k / 1024, k % 1024)));
    assert_eq!(all, 0x462a_017b_50bb_6280);
    let sobol = SobolNormals::new(1024, 8192);
    assert_eq!((0..1024).fold(0, |h, j| fold(h, plain(&sobol, 5461, j))), 0xb99f_0c45_ec58_c1fa);
}

#[test]
fn first_values_are_those_committed() {
    let u = uniforms(&mut SobolNormals::new(1025, 3), 0);
    let some = [u[0], u[1], u[1025 + 1], u[2 * 1025 + 1023], u[2 * 1025 + 1024]];
    assert_eq!(
        some,
        [0.34992058309892127, 0.9546168228938433, 0.33174191824537547, 0.7160648107249968, 0.5234683293416883]
    );
}

#[test]
fn each_coordinate_is_stratified_and_pairs_are_nets() {
    for n in [1usize, 2, 16, 128] {
        let dim = 1030;
        let mut sobol = SobolNormals::new(dim, n);
        let u = uniforms(&mut sobol, n as u64);
        for j in 0..dim {
            let mut seen = vec![false; n];
            (0..n).for_each(|i| seen[(u[i * dim + j] * n as f64) as usize] = true);
            assert!(seen.iter().all(|&s| s), "n = {n}, coordinate {j}");
        }
        // The first two coordinates are a (0, m, 2)-net: one point in every elementary box of volume 1/n, for all
        // shapes.
        for shape in 0..=n.ilog2() {
            let (rows, columns) = (1usize << shape, n >> shape);
            let mut seen = vec![false; n];
            for i in 0..n {
                let (row, column) = (u[i * dim] * rows as f64, u[i * dim + 1] * columns as f64);
                seen[row as usize * columns + column as usize] = true;
            }
            assert!(seen.iter().all(|&s| s), "n = {n}, {rows} × {columns} boxes");
        }
    }
    // Latin-hypercube columns are stratified for every n.
    let (dim, n) = (1026, 77);
    let u = uniforms(&mut SobolNormals::new(dim, n), 0);
    for j in 1024..dim {
        let mut seen = vec![false; n];
        (0..n).for_each(|i| seen[(u[i * dim + j] * n as f64) as usize] = true);
        assert!(seen.iter().all(|&s| s));
    }
}

#[test]
fn scrambles_are_nested_and_uniform() {
    // Points that share l digits still share them, and all 2^(2^m − 1) trees are equally likely: for m = 2 there are 8.
    let mut counts = std::collections::BTreeMap::new();
    let mut image = [0u32; 4];
    for step in 0..80_000 {
        scramble(2, &mut image, &mut stream(step));
        assert!(image[0] >> 1 == image[1] >> 1 && image[2] >> 1 == image[3] >> 1);
        *counts.entry(image).or_insert(0u32) += 1;
    }
    assert_eq!(counts.len(), 8);
    // Binomial(80 000, 1/8): |z| < 4.5 for each of 8, false alarm 6e-5.
    assert!(counts.values().all(|&c| (f64::from(c) - 10_000.0).abs() < 4.5 * 8750f64.sqrt()), "{counts:?}");
    // More than one word of flips, at a level of 256 nodes.
    let mut image = vec![0u32; 512];
    let mut flips = [0.0; 256];
    for step in 0..4000 {
        scramble(9, &mut image, &mut stream(step));
        (0..256).for_each(|p| flips[p] += f64::from(image[2 * p] & 1));
    }
    // 256 binomials, |z| < 5: false alarm 1.5e-4.
    assert!(flips.iter().all(|f| (f - 2000.0).abs() < 5.0 * 1000f64.sqrt()));
}

#[test]
fn each_point_is_uniform() {
    for (n, point) in [(8, 0), (8, 5), (7, 6), (1, 0)] {
        let mut sobol = SobolNormals::new(1026, n);
        for j in [0, 3, 1025] {
            let mut sample = Vec::new();
            for step in 0..20_000 {
                let s = &mut stream(step);
                sobol.column(j, s, |i, u| {
                    if i == point {
                        sample.push(u)
                    }
                });
            }
            ks_uniform(&mut sample);
        }
    }
}

#[test]
fn moments_of_normals_including_pairs_of_late_coordinates() {
    let (dim, n) = (1030, 12);
    let mut sobol = SobolNormals::new(dim, n);
    let mut eps = vec![0.0; dim * n];
    let pairs = [(0, 1), (2, 3), (500, 501), (1000, 1023), (1023, 1024), (1028, 1029)];
    let mut products = vec![Vec::new(); pairs.len()];
    let (mut means, mut squares) = (vec![Vec::new(); pairs.len()], vec![Vec::new(); pairs.len()]);
    for step in 0..3000 {
        sobol.fill_normal(0..dim, &mut stream(step), &mut eps);
        for (p, (a, b)) in pairs.iter().enumerate() {
            let average = |f: &dyn Fn(&[f64]) -> f64| eps.chunks(dim).map(f).sum::<f64>() / n as f64;
            products[p].push(average(&|e| e[*a] * e[*b]));
            means[p].push(average(&|e| e[*a]));
            squares[p].push(average(&|e| e[*b] * e[*b]));
        }
    }
    for p in 0..pairs.len() {
        mean_is(&products[p], 0.0, "E[ε_a ε_b]");
        mean_is(&means[p], 0.0, "E[ε_a]");
        mean_is(&squares[p], 1.0, "E[ε_b²]");
    }
}

#[test]
fn integrals_are_unbiased_with_a_fraction_of_the_variance() {
    const DIM: usize = 5;
    // E exp(Σ c_j ε_j) = exp(½ Σ c_j²).
    let c = [0.3, -0.2, 0.25, 0.1, 0.15];
    let exact = (0.5 * c.iter().map(|c| c * c).sum::<f64>()).exp();
    let integrand = |e: &[f64]| e.iter().zip(c).map(|(e, c)| e * c).sum::<f64>().exp();
    let estimates = |n: usize, quasi: bool, repeats: u64| -> Vec<f64> {
        let mut sobol = SobolNormals::new(DIM, n);
        let mut eps = vec![0.0; DIM * n];
        (0..repeats)
            .map(|step| {
                if quasi {
                    sobol.fill_normal(0..DIM, &mut stream(step), &mut eps);
                } else {
                    stream(step).fill_normal(&mut eps);
                }
                eps.chunks(DIM).map(integrand).sum::<f64>() / n as f64
            })
            .collect()
    };
    for n in [64, 50, 1] {
        mean_is(&estimates(n, true, 4000), exact, "scrambled estimate");
    }
    let variance = |x: Vec<f64>| x.iter().map(|x| (x - exact).powi(2)).sum::<f64>() / x.len() as f64;
    let ratio = variance(estimates(64, true, 200)) / variance(estimates(64, false, 200));
    assert!(ratio < 1.0 / 20.0, "variance ratio {ratio}");
}
