#![cfg(feature = "parallel")]

use elinvar::model::Activation;
use elinvar::target::{Contraction, Covariance, CurvatureMut, Draws, Evaluations, Rows, SecondOrder, Target};

use crate::registered::{logistic, network, numbers, poisson, three_classes};

/// log p, gradients and contractions inside a pool.
fn in_pool(threads: usize, target: &dyn SecondOrder, rows: Rows<'_>, covariance: Covariance) -> Vec<f64> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let (d, n_draws) = (target.dim(), 8);
        let (z, weights) = (numbers(d * n_draws, 1), numbers(2 * n_draws, 2));
        let mut out = Evaluations::new(d, n_draws);
        let mut entries = vec![0.0; 2 * covariance.n_entries(d)];
        let view = CurvatureMut::new(covariance, d, &mut entries);
        let contraction = Contraction::shared(&weights, n_draws);
        target.evaluate_and_contract(Draws::new(d, &z), rows, contraction, &mut out, view).unwrap();
        [out.log_p(), out.grads(), &entries].concat()
    })
}

#[test]
fn the_number_of_threads_does_not_change_a_bit() {
    let n = 20_000;
    let subset: Vec<u32> = (0..n as u32).filter(|i| i % 5 != 0).collect();
    let (logistic, poisson) = (logistic(n, 20), poisson(n, 7));
    for target in [&logistic as &dyn SecondOrder, &poisson] {
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
                let mut out = Evaluations::new(d, 9);
                model.evaluate(Draws::new(d, &z), Rows::All, &mut out).unwrap();
                [out.log_p(), out.grads()].concat()
            })
        };
        let one = in_pool(1);
        assert!(one.iter().all(|v| v.is_finite()));
        for _ in 0..5 {
            assert_eq!(one, in_pool(2));
        }
        for (s, z) in z.chunks_exact(d).enumerate() {
            let mut alone = Evaluations::new(d, 1);
            model.evaluate(Draws::new(d, z), Rows::All, &mut alone).unwrap();
            assert_eq!((alone.log_p()[0], alone.grads()), (one[s], &one[9 + s * d..9 + (s + 1) * d]));
        }
    }
}
