#![cfg(feature = "parallel")]

use elinvar::model::Activation;
use elinvar::target::{Answer, Ask, Contraction, Covariance, Draws, Rows, Target, Want};

use crate::registered::{logistic, network, poisson, three_classes};
use crate::subjects::numbers;

/// log p, gradients and contractions inside a pool.
fn in_pool(threads: usize, target: &dyn Target, rows: Rows<'_>, covariance: Covariance) -> Vec<f64> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let (d, n_draws) = (target.dim(), 8);
        let (z, weights) = (numbers(d * n_draws, 1), numbers(2 * n_draws, 2));
        let mut out = Answer::new(d, n_draws).with_curvature(covariance, 2);
        let want = Want::Hessian(Contraction::shared(&weights, n_draws));
        target.evaluate(&Ask { draws: Draws::new(d, &z), rows, want }, &mut out).unwrap();
        [out.log_p(), out.grads(), out.curvature()].concat()
    })
}

#[test]
fn the_number_of_threads_does_not_change_a_bit() {
    let n = 20_000;
    let subset: Vec<u32> = (0..n as u32).filter(|i| i % 5 != 0).collect();
    let (logistic, poisson) = (logistic(n, 20), poisson(n, 7));
    for target in [&logistic as &dyn Target, &poisson] {
        // 2¹⁹ products N·d·S are the threshold of the models.
        assert!(subset.len() * target.dim() * 8 > 1 << 19);
        for rows in [Rows::All, Rows::Subset(&subset)] {
            for covariance in [Covariance::Full, Covariance::Diagonal] {
                let one = in_pool(1, target, rows, covariance);
                assert!(one.iter().all(|v| v.is_finite()));
                for _ in 0..5 {
                    assert_eq!(one, in_pool(2, target, rows, covariance));
                }
            }
        }
    }
}

#[test]
fn a_network_gives_the_same_bits_on_any_number_of_threads() {
    let models = [network(3000, 5, &[20], Activation::Relu), three_classes(2000, 5, &[12, 8], Activation::Tanh)];
    for model in &models {
        let d = model.dim();
        assert!(2000 * d * 9 > 1 << 19, "the draws are evaluated in groups");
        let z = numbers(9 * d, 3);
        let in_pool = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut out = Answer::new(d, 9);
                model.evaluate(&Ask::all(Draws::new(d, &z), Want::Gradients), &mut out).unwrap();
                [out.log_p(), out.grads()].concat()
            })
        };
        let one = in_pool(1);
        assert!(one.iter().all(|v| v.is_finite()));
        for _ in 0..5 {
            assert_eq!(one, in_pool(2));
        }
        for (s, z) in z.chunks_exact(d).enumerate() {
            let mut alone = Answer::new(d, 1);
            model.evaluate(&Ask::all(Draws::new(d, z), Want::Gradients), &mut alone).unwrap();
            assert_eq!((alone.log_p()[0], alone.grads()), (one[s], &one[9 + s * d..9 + (s + 1) * d]));
        }
    }
}
