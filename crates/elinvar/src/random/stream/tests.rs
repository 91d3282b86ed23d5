use super::*;
use crate::random::test_statistics::ks_uniform;

const PURPOSES: [Purpose; 6] =
    [Purpose::Start, Purpose::Draws, Purpose::Minibatch, Purpose::Diagnostics, Purpose::Sample, Purpose::Chains];

#[test]
fn first_values_are_those_committed() {
    let open = || Stream::open(1, Purpose::Draws, 2, 3);
    // From a separate implementation of the cipher.
    assert_eq!(open().next_u64(), 16_555_025_256_833_877_612);
    assert_eq!(open().uniform(), 0.8974497174505843);
    assert_eq!(open().normal(), 1.3306166078078767);
    assert_eq!(open().gamma(2.5), 4.774740211946012);
    assert_eq!(open().gamma(0.5), 3.210301243440521);
    assert_eq!(open().below(1000), 254);
    let (mut indices, mut out) = ((0..10).collect::<Vec<u32>>(), [0u32; 4]);
    open().sample_without_replacement(&mut indices, &mut out);
    assert_eq!(out, [2, 9, 7, 1]);
    open().shuffle(&mut indices);
    assert_eq!(indices, [0, 4, 1, 9, 7, 3, 6, 5, 8, 2]);
}

#[test]
fn streams_of_different_arguments_differ() {
    let mut first = Vec::new();
    let few = [0u64, 1, 2, 3, 255, 256, 65_535, 65_536, u64::from(u32::MAX), 1 << 32, 1 << 63, u64::MAX];
    for purpose in PURPOSES {
        for block in 0..40 {
            first.extend((0..10_000).map(|step| Stream::open(0, purpose, step, block).next_u64()));
        }
        for seed in [1, 2, 3, 1 << 32, u64::MAX] {
            for step in few {
                for block in few.iter().filter_map(|&b| u32::try_from(b).ok()) {
                    for lane in 0..3 {
                        first.push(Stream::open_lane(seed, purpose, step, block, lane).next_u64());
                    }
                }
            }
        }
    }
    let total = first.len();
    assert!(total > 2_000_000);
    first.sort_unstable();
    first.dedup();
    // Two of 2·10⁶ random 64-bit words are equal with probability 1e-7.
    assert_eq!(first.len(), total);
}

#[test]
fn uniforms_are_uniform_within_and_across_streams() {
    let mut within: Vec<f64> = {
        let mut stream = Stream::open(3, Purpose::Sample, 0, 0);
        (0..100_000).map(|_| stream.uniform()).collect()
    };
    ks_uniform(&mut within);
    let mut across: Vec<f64> = (0..100_000).map(|step| Stream::open(3, Purpose::Sample, step, 0).uniform()).collect();
    ks_uniform(&mut across);
    let mut over_blocks: Vec<f64> = (0..100_000).map(|b| Stream::open(3, Purpose::Sample, 0, b).uniform()).collect();
    ks_uniform(&mut over_blocks);
    assert_eq!(open_unit(0), f64::EPSILON / 2.0);
    assert_eq!(open_unit((1 << 52) - 1), 1.0 - f64::EPSILON / 2.0);
}

#[test]
fn normal_and_gamma_have_their_first_moments() {
    const N: usize = 200_000;
    let mut stream = Stream::open(4, Purpose::Sample, 0, 0);
    let mut x = vec![0.0; N];
    stream.fill_normal(&mut x);
    let root_n = (N as f64).sqrt();
    let mean = |f: &dyn Fn(f64) -> f64, x: &[f64]| x.iter().map(|&v| f(v)).sum::<f64>() / N as f64;
    // |z| < 4.5 each: false alarm 7e-6. The variance of ε² is 2; of a Gamma(a) variable a.
    assert!((mean(&|v| v, &x) * root_n).abs() < 4.5);
    assert!(((mean(&|v| v * v, &x) - 1.0) * root_n / 2f64.sqrt()).abs() < 4.5);
    for shape in [0.3, 1.0, 4.5] {
        x.fill_with(|| stream.gamma(shape));
        assert!(((mean(&|v| v, &x) - shape) * root_n / shape.sqrt()).abs() < 4.5, "shape {shape}");
    }
    for lambda in [0.3, 7.0, 400.0] {
        x.fill_with(|| stream.poisson(lambda));
        assert!(((mean(&|v| v, &x) - lambda) * root_n / lambda.sqrt()).abs() < 4.5, "mean {lambda}");
        x.fill_with(|| stream.binomial(20, 0.3));
        assert!(((mean(&|v| v, &x) - 6.0) * root_n / 4.2f64.sqrt()).abs() < 4.5);
    }
    assert_eq!((stream.poisson(0.0), stream.poisson(1e300), stream.binomial(7, 1.0)), (0.0, 1e300, 7.0));
    assert!(stream.poisson(-1.0).is_nan() && stream.poisson(f64::NAN).is_nan() && stream.binomial(3, 1.5).is_nan());
    assert!(stream.gamma(0.0).is_nan() && stream.gamma(f64::NAN).is_nan());
}

#[test]
fn minibatches_are_distinct_uniform_and_leave_the_indices_in_order() {
    const N: usize = 12;
    const REPEATS: usize = 60_000;
    let mut indices: Vec<u32> = (0..N as u32).collect();
    let mut pairs = vec![0u32; N * N];
    for step in 0..REPEATS as u64 {
        let mut out = [0u32; 5];
        Stream::open(5, Purpose::Minibatch, step, 0).sample_without_replacement(&mut indices, &mut out);
        assert!(indices.iter().enumerate().all(|(i, &v)| i == v as usize));
        assert!((1..5).all(|i| !out[..i].contains(&out[i])));
        pairs[out[0] as usize * N + out[4] as usize] += 1;
    }
    // Each ordered pair at places 0 and 4 has probability 1/132; Σ (O − E)²/E is χ² with 131 degrees of freedom, whose
    // z-score by Wilson and Hilferty is below 4.5 (false alarm 3e-6).
    let expected = REPEATS as f64 / (N * (N - 1)) as f64;
    let chi2: f64 =
        (0..N * N).filter(|i| i / N != i % N).map(|i| (f64::from(pairs[i]) - expected).powi(2) / expected).sum();
    let nu = 131.0;
    let z = ((chi2 / nu).cbrt() - (1.0 - 2.0 / (9.0 * nu))) / (2.0f64 / (9.0 * nu)).sqrt();
    assert!(z < 4.5, "chi² = {chi2}");

    let mut all = [0u32; N];
    Stream::open(5, Purpose::Minibatch, 0, 0).sample_without_replacement(&mut indices, &mut all);
    all.sort_unstable();
    assert!(all.iter().enumerate().all(|(i, &v)| i == v as usize));
}
