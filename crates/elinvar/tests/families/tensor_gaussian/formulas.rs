//! The family against formulas written out with dense matrices.

use crate::state::Stated;
use elinvar::block::Scale;
use elinvar::estimate::Curvature;
use elinvar::family::{Approximation, MatrixUpdate};
use elinvar::internals::family::Gradient;
use elinvar::internals::family::Stepping;
use elinvar::internals::family::{Batch, DrawPlan, NoiseKey, Scratch, Seen, StepRequest};
use elinvar::random::{Noise, Purpose};
use elinvar::rule::Rule;
use elinvar::target::{Answer, Covariance, Prior};
use elinvar::theory::Multilinear;

use super::example::{SOURCES, divergence, member, times, transposed};
use crate::members::differences::close;
use crate::subjects::numbers;

fn plan(curvature: Curvature, n_draws: usize) -> DrawPlan {
    DrawPlan { noise: Noise::QuasiMonteCarlo, curvature, ..DrawPlan::independent(n_draws) }
}

/// A batch with made-up gradients of log p (and of its items), and the dense matrix that its curvature stands for.
fn evaluated(q: &Approximation, curvature: Curvature, prior: &Prior) -> (Gradient, Batch, Answer, Vec<f64>) {
    const N: usize = 4;
    const ITEMS: usize = 5;
    let d = q.dim();
    let plan = plan(curvature, N);
    let mut work = q.estimator(&plan);
    let mut batch = work.batch(q);
    work.draw(q, NoiseKey { seed: 5, purpose: Purpose::Draws, step: 0 }, &mut batch);
    batch.kept[1] = false;
    assert!(work.weigh(q, &batch));
    let mut evaluations = Answer::new(d, batch.draws.len());
    for s in 0..batch.draws.len() {
        evaluations.grad_mut(s).copy_from_slice(&numbers(d, 60 + s as u64));
    }
    // Minus the Hessian of log p, or what stands for it, averaged over the three draws that are kept.
    let mut dense = vec![0.0; d * d];
    let mut add = |c: f64, x: &[f64], y: &[f64]| {
        (0..d * d).for_each(|k| dense[k] += 0.5 * c * (x[k % d] * y[k / d] + y[k % d] * x[k / d]));
    };
    let mut contracted = vec![
        0.0;
        if matches!(curvature, Curvature::Hessian | Curvature::ItemGradients) {
            q.curvature_len(curvature)
        } else {
            0
        }
    ];
    for s in (0..N).filter(|s| *s != 1) {
        let third = 1.0 / 3.0;
        match curvature {
            Curvature::Hessian => {
                let (x, y) = (numbers(d, 90 + s as u64), numbers(d, 95 + s as u64));
                add(third, &x, &y);
            }
            Curvature::ItemGradients => {
                let items = numbers(d * ITEMS, 70 + s as u64);
                work.add_item_gradients(q, s, &items, &mut contracted);
                items.chunks_exact(d).for_each(|item| add(third, item, item));
            }
            Curvature::GradientOuterProduct => add(third, evaluations.grad(s), evaluations.grad(s)),
            _ => {
                // P(z − w) is minus the score.
                let mut score = vec![0.0; d];
                q.score(batch.draws.get(s), &mut score);
                let centre = if curvature.to_string() == "stein" {
                    evaluations.grad(batch.centre(0)).to_vec()
                } else {
                    vec![0.0; d]
                };
                let difference: Vec<f64> = evaluations.grad(s).iter().zip(&centre).map(|(g, c)| g - c).collect();
                add(third, &score, &difference);
            }
        }
    }
    if curvature == Curvature::Hessian {
        match q.family().covariance {
            Covariance::Full => contracted.iter_mut().zip(&dense).for_each(|(c, h)| *c = -h),
            Covariance::Diagonal => (0..d).for_each(|i| contracted[i] = -dense[i * (d + 1)]),
        }
    }
    let mut gradient = q.zero_gradient();
    assert!(work.gradient(
        q,
        &Seen { evaluations: &evaluations, curvature: &contracted, prior, batch: &batch },
        0.0,
        &mut gradient
    ));
    (gradient, batch, evaluations, dense)
}

/// ∇_W of all groups.
fn locations(gradient: &Gradient) -> Vec<f64> {
    gradient.blocks.iter().flat_map(|block| block.b.clone()).collect()
}

/// G_j of all factors of all groups.
fn matrices(gradient: &Gradient) -> Vec<f64> {
    gradient.blocks.iter().flat_map(|block| block.g.clone()).collect()
}

/// V of every factor of every group, with all entries.
fn factors(q: &Approximation) -> Vec<Vec<Vec<f64>>> {
    let matrix = |factor: &Scale| {
        let mut v = vec![0.0; factor.dim() * factor.dim()];
        factor.covariance_into(&mut v);
        v
    };
    q.tensors().iter().map(|group| group.factors().iter().map(matrix).collect()).collect()
}

/// G_j = (1/D₋ⱼ) Σ Π_{m≠j} V_m[k_m, l_m] H[k, l] − P_j, by sums over all pairs of entries of Z.
fn expected_g(q: &Approximation, dense: &[f64]) -> Vec<f64> {
    let dim = q.dim();
    let mut out = Vec::new();
    let mut start = 0;
    for (group, v) in q.tensors().iter().zip(factors(q)) {
        let dims: Vec<usize> = group.factors().iter().map(Scale::dim).collect();
        let index = |mut k: usize| -> Vec<usize> {
            dims.iter()
                .map(|d| {
                    let i = k % d;
                    k /= d;
                    i
                })
                .collect()
        };
        for (j, d) in dims.iter().copied().enumerate() {
            let mut a = vec![0.0; d * d];
            for k in 0..group.size() {
                for l in 0..group.size() {
                    let (ki, li) = (index(k), index(l));
                    let product: f64 =
                        (0..dims.len()).filter(|m| *m != j).map(|m| v[m][li[m] * dims[m] + ki[m]]).product();
                    a[li[j] * d + ki[j]] += product * dense[(start + l) * dim + start + k];
                }
            }
            let others = (group.size() / d) as f64;
            let p = group.factors()[j].precision();
            match q.family().covariance {
                Covariance::Full => out.extend(a.iter().zip(p).map(|(a, p)| a / others - p)),
                Covariance::Diagonal => out.extend(p.iter().enumerate().map(|(i, p)| a[i * (d + 1)] / others - p)),
            }
        }
        start += group.size();
    }
    out
}

fn gradients(covariance: Covariance, groups: &[&[usize]]) {
    let q = member(covariance, groups, MatrixUpdate::Joint, 12);
    let d = q.dim();
    for curvature in SOURCES {
        for prior in [
            Prior::None,
            Prior::Gaussian { precision: 0.7, leading: d },
            Prior::Gaussian { precision: 0.4, leading: 2 * d / 3 },
            Prior::Normal {
                mean: (0..d).map(|i| 0.2 * i as f64 - 0.5).collect(),
                precision: (0..d).map(|i| 0.3 * (i % 3) as f64).collect(),
            },
        ] {
            let label = format!("{groups:?} {:?} by {curvature}, {prior:?}", covariance);
            let (gradient, batch, evaluations, mut dense) = evaluated(&q, curvature, &prior);
            let mut w = vec![0.0; d];
            for s in (0..batch.n).filter(|s| *s != 1) {
                w.iter_mut().zip(evaluations.grad(s)).for_each(|(w, g)| *w += g / 3.0);
            }
            (0..d).for_each(|i| dense[i * (d + 1)] += prior.precision(i));
            w.iter_mut()
                .zip(q.mean())
                .enumerate()
                .for_each(|(i, (w, m))| *w -= prior.precision(i) * (m - prior.mean(i)));
            close(&format!("{label}: ∇_W"), &locations(&gradient), &w, 1e-13);
            close(&format!("{label}: G"), &matrices(&gradient), &expected_g(&q, &dense), 1e-12);
        }
    }
}

#[test]
fn gradients_are_contractions_of_dense_matrices() {
    for groups in
        [&[&[5usize][..]][..], &[&[3, 4]], &[&[2, 3, 2]], &[&[2, 2, 2, 2]], &[&[3, 2], &[4], &[1, 3]], &[&[20, 2]]]
    {
        gradients(Covariance::Full, groups);
        gradients(Covariance::Diagonal, groups);
    }
}

/// From values alone: G_j is the same contraction of Ê[(h − b)(P r rᵀP − P)], with the entropy and the prior inside h.
fn from_values(covariance: Covariance, groups: &[&[usize]]) {
    let q = member(covariance, groups, MatrixUpdate::Joint, 12);
    let (d, n) = (q.dim(), 6);
    let prior = Prior::Gaussian { precision: 0.4, leading: d - 1 };
    let plan = DrawPlan { curvature: Curvature::GradientFree, ..DrawPlan::independent(n) };
    let mut work = q.estimator(&plan);
    let mut batch = work.batch(&q);
    work.draw(&q, NoiseKey { seed: 5, purpose: Purpose::Draws, step: 0 }, &mut batch);
    batch.kept[2] = false;
    assert!(work.weigh(&q, &batch));
    let mut evaluations = Answer::new(d, n);
    evaluations.log_p_mut().copy_from_slice(&numbers(n, 61));
    evaluations.log_p_mut()[2] = f64::NAN;
    let mut gradient = q.zero_gradient();
    assert!(work.gradient(
        &q,
        &Seen { evaluations: &evaluations, curvature: &[], prior: &prior, batch: &batch },
        0.0,
        &mut gradient
    ));

    let h = |s: usize| batch.log_q[s] - evaluations.log_p()[s] - prior.log_density(batch.draws.get(s));
    let others: Vec<usize> = (0..n).filter(|s| *s != 2).collect();
    let (mut w, mut dense, mut precision) = (vec![0.0; d], vec![0.0; d * d], vec![0.0; d * d]);
    q.hessian(&q.mean(), &mut precision);
    for s in others.iter().copied() {
        // The mean of the others: draws are independent.
        let baseline = others.iter().filter(|t| **t != s).map(|t| h(*t)).sum::<f64>() / 4.0;
        let mut score = vec![0.0; d];
        q.score(batch.draws.get(s), &mut score);
        let excess = (h(s) - baseline) / 5.0;
        w.iter_mut().zip(&score).for_each(|(w, r)| *w += excess * r);
        (0..d * d).for_each(|k| dense[k] += excess * (score[k % d] * score[k / d] + precision[k]));
    }
    close(&format!("{groups:?}: ∇_W"), &locations(&gradient), &w, 1e-11);
    let entries =
        q.tensors().iter().flat_map(|group| group.factors().iter().flat_map(|factor| factor.precision().to_vec()));
    let expected: Vec<f64> = expected_g(&q, &dense).iter().zip(entries).map(|(g, p)| g + p).collect();
    close(&format!("{groups:?}: G"), &matrices(&gradient), &expected, 1e-11);
}

#[test]
fn gradients_from_values_are_contractions_too() {
    for groups in [&[&[5usize][..]][..], &[&[3, 4]], &[&[2, 3, 2]], &[&[3, 2], &[4], &[1, 3]]] {
        from_values(Covariance::Full, groups);
        from_values(Covariance::Diagonal, groups);
    }
}

/// Spec 06 §6.2–6.4 with matrices, for one matrix: GVGᵀ, GᵀUG, U⁻¹(Z − W)∇ℓᵀ, V⁻¹(Z − W)ᵀ∇ℓ and W⁺ = W − βUGV.
#[test]
fn order_two_is_the_matrix_variate_gaussian() {
    let (rows, cols, beta) = (3, 4, 0.2);
    let q = member(Covariance::Full, &[&[rows, cols]], MatrixUpdate::Blockwise, 13);
    let [u, v] = &factors(&q)[0][..] else { panic!("two factors") };
    let (u_inv, v_inv) = (q.tensors()[0].factors()[0].precision(), q.tensors()[0].factors()[1].precision());
    let symmetric =
        |a: Vec<f64>, n: usize| -> Vec<f64> { a.iter().zip(transposed(&a, n)).map(|(x, y)| 0.5 * (x + y)).collect() };
    for curvature in [Curvature::GradientOuterProduct, Curvature::Stein { control_variate: false }] {
        let (gradient, batch, evaluations, _) = evaluated(&q, curvature, &Prior::None);
        let (mut a_u, mut a_v, mut mean) = (vec![0.0; rows * rows], vec![0.0; cols * cols], vec![0.0; rows * cols]);
        for s in [0, 2, 3] {
            let g: Vec<f64> = evaluations.grad(s).iter().map(|g| -g).collect();
            let r: Vec<f64> = batch.draws.get(s).iter().zip(q.tensors()[0].w()).map(|(z, w)| z - w).collect();
            let (of_u, of_v) = if curvature == Curvature::GradientOuterProduct {
                let gv = times(&g, rows, v);
                let gu = times(&transposed(&g, rows), cols, u);
                (times(&gv, rows, &transposed(&g, rows)), times(&gu, cols, &g))
            } else {
                let one = times(&times(u_inv, rows, &r), rows, &transposed(&g, rows));
                let two = times(&times(v_inv, cols, &transposed(&r, rows)), cols, &g);
                (symmetric(one, rows), symmetric(two, cols))
            };
            a_u.iter_mut().zip(of_u).for_each(|(a, x)| *a += x / 3.0);
            a_v.iter_mut().zip(of_v).for_each(|(a, x)| *a += x / 3.0);
            mean.iter_mut().zip(&g).for_each(|(a, x)| *a += x / 3.0);
        }
        let mut new = q.clone();
        let request = StepRequest { rule: Rule::NaturalGradient, beta, mixing_beta: beta, max_kl: None };
        assert_eq!(new.advance(&gradient, request, &mut Scratch::new(&new)).smallest, beta);
        let group = &new.tensors()[0];
        let step = times(&times(u, rows, &mean), rows, v);
        let w: Vec<f64> = q.tensors()[0].w().iter().zip(step).map(|(w, s)| w - beta * s).collect();
        let mixed = |p: &[f64], a: &[f64], n: usize| -> Vec<f64> {
            p.iter().zip(a).map(|(p, a)| (1.0 - beta) * p + beta / n as f64 * a).collect()
        };
        close("W", group.w(), &w, 1e-12);
        close("U⁻¹", group.factors()[0].precision(), &mixed(u_inv, &a_u, cols), 1e-12);
        close("V⁻¹", group.factors()[1].precision(), &mixed(v_inv, &a_v, rows), 1e-12);
    }
}

/// A short joint step has the divergence ½β²gᵀF⁻¹g: the metric by which a run judges what is left is that of q.
fn metric(covariance: Covariance, groups: &[&[usize]]) {
    let q = member(covariance, groups, MatrixUpdate::Joint, 12);
    let (gradient, ..) =
        evaluated(&q, Curvature::GradientOuterProduct, &Prior::Gaussian { precision: 0.3, leading: 2 });
    let product = q.inner(&gradient, &gradient, &mut Scratch::new(&q));
    for rule in [Rule::NaturalGradient, Rule::Retraction] {
        let beta = 1e-4;
        let mut new = q.clone();
        new.advance(&gradient, StepRequest { rule, beta, mixing_beta: beta, max_kl: None }, &mut Scratch::new(&new));
        let kl = divergence(&new, &q);
        assert!(
            (kl / (0.5 * beta * beta * product) - 1.0).abs() < 2e-3,
            "{groups:?}: {kl:e}, ½β²|g|² = {:e}",
            0.5 * beta * beta * product
        );

        // The bound on the divergence is met, and nearly used up.
        let mut bounded = q.clone();
        let request = StepRequest { rule, beta: 50.0, mixing_beta: 1.0, max_kl: Some(0.02) };
        let groups = q.tensors().len() as f64;
        let taken = bounded.advance(&gradient, request, &mut Scratch::new(&bounded));
        let kl = divergence(&bounded, &q) / groups;
        assert!(taken.largest < 50.0 && kl <= 0.02 * (1.0 + 1e-9) && kl > 0.9 * 0.02, "{taken:?} {kl}");
    }
}

#[test]
fn the_metric_and_the_divergence_are_those_of_the_whole_gaussian() {
    for groups in [&[&[5usize][..]][..], &[&[3, 4]], &[&[2, 3, 2]], &[&[3, 2], &[4]]] {
        metric(Covariance::Full, groups);
        metric(Covariance::Diagonal, groups);
    }
}

/// A step with momentum differs from one without by βγ/β times the last move, in every block, whatever the update.
#[test]
fn momentum_adds_the_last_move() {
    let groups: &[&[usize]] = &[&[2, 3], &[3]];
    for update in [MatrixUpdate::Joint, MatrixUpdate::Blockwise] {
        let q = member(Covariance::Full, groups, update, 12);
        let (gradient, ..) = evaluated(&q, Curvature::GradientOuterProduct, &Prior::None);
        let request = StepRequest { rule: Rule::NaturalGradient, beta: 0.05, mixing_beta: 0.05, max_kl: None };
        let mut before = q.clone();
        // Some way back, in another balance.
        before.advance(&gradient, StepRequest { beta: 0.02, ..request }, &mut Scratch::new(&before));
        let mut state = before.state();
        state.blocks[0].precision[..4].iter_mut().for_each(|p| *p *= 7.0);
        state.blocks[0].precision[4..].iter_mut().for_each(|p| *p /= 7.0);
        let unbalanced = Approximation::from_state(&state).unwrap();
        let mut plain = q.clone();
        assert_eq!(plain.advance(&gradient, request, &mut Scratch::new(&plain)).smallest, 0.05);
        let ratio = 0.3 / 0.05;
        for before in [&before, &unbalanced] {
            let mut with = gradient.clone();
            q.add_momentum(before, ratio, &mut Scratch::new(&q), &mut with);
            let mut moved = q.clone();
            assert_eq!(moved.advance(&with, request, &mut Scratch::new(&moved)).smallest, 0.05);
            let last: Vec<f64> = q.mean().iter().zip(before.mean()).map(|(a, b)| 0.3 * (a - b)).collect();
            let found: Vec<f64> = moved.mean().iter().zip(plain.mean()).map(|(a, b)| a - b).collect();
            close(&format!("{update}: W"), &found, &last, 1e-10);
            for k in [1, 2, 4] {
                // The last move of a factor in the balance of q; for the first group that of `before` differs by a few
                // hundredths.
                let difference = |a: &Approximation, b: &Approximation| -> Vec<f64> {
                    a.natural_block(k).iter().zip(b.natural_block(k)).map(|(a, b)| a - b).collect()
                };
                if k == 4 {
                    let expected: Vec<f64> = difference(&q, before).iter().map(|v| 0.3 * v).collect();
                    close(&format!("{update}: P"), &difference(&moved, &plain), &expected, 1e-10);
                }
            }
            // What counts of a group is the product of its factors: to first order its move is the last one times 0.3.
            let log_det = |q: &Approximation| -2.0 * q.entropy().unwrap();
            let (found, expected) = (log_det(&moved) - log_det(&plain), 0.3 * (log_det(&q) - log_det(before)));
            assert!((found / expected - 1.0).abs() < 0.2, "{update}: {found} {expected}");
        }
    }
}

/// Draws have the covariance V_K ⊗ … ⊗ V_1: 4.5 standard errors for 3 noises, 2 shapes and 42 + 20 numbers, 1e−3 for a
/// new seed.
#[test]
fn draws_have_the_kronecker_covariance() {
    for groups in [&[&[2usize, 3][..]][..], &[&[2, 1, 2], &[1]]] {
        let q = member(Covariance::Full, groups, MatrixUpdate::Joint, 40);
        let (d, mean, cov) = (q.dim(), q.mean(), q.covariance());
        // The dense covariance is the Kronecker product of the factors.
        let v = factors(&q);
        let entry = |k: usize, l: usize| {
            let (mut k, mut l) = (k, l);
            let dims = q.tensors()[0].factors().iter().map(Scale::dim);
            dims.zip(&v[0])
                .map(|(n, v)| {
                    let e = v[l % n * n + k % n];
                    k /= n;
                    l /= n;
                    e
                })
                .product::<f64>()
        };
        let size = q.tensors()[0].size();
        (0..size).for_each(|k| (0..size).for_each(|l| assert!((cov[l * d + k] - entry(k, l)).abs() < 1e-12)));
        for noise in Noise::ALL {
            let plan = DrawPlan { noise, ..plan(Curvature::Hessian, 16) };
            let mut work = q.estimator(&plan);
            let mut batch = work.batch(&q);
            let n = 2000;
            let (mut sum, mut squares) = (vec![0.0; d + d * d], vec![0.0; d + d * d]);
            for step in 0..n {
                work.draw(&q, NoiseKey { seed: 17, purpose: Purpose::Sample, step }, &mut batch);
                let mut of_batch = vec![0.0; d + d * d];
                for s in 0..batch.n {
                    let z = batch.draws.get(s);
                    assert!((batch.log_q[s] - q.log_density(z)).abs() < 1e-11 * (1.0 + batch.log_q[s].abs()));
                    let r: Vec<f64> = z.iter().zip(&mean).map(|(z, m)| z - m).collect();
                    (0..d).for_each(|i| of_batch[i] += r[i] / 16.0);
                    (0..d * d).for_each(|k| of_batch[d + k] += r[k % d] * r[k / d] / 16.0);
                }
                of_batch.iter().enumerate().for_each(|(k, v)| (sum[k], squares[k]) = (sum[k] + v, squares[k] + v * v));
            }
            for (k, expected) in std::iter::repeat_n(0.0, d).chain(cov.iter().copied()).enumerate() {
                let average = sum[k] / n as f64;
                let error = ((squares[k] / n as f64 - average * average) / n as f64).max(0.0).sqrt();
                assert!(
                    (average - expected).abs() < 4.5 * error + 1e-12,
                    "{groups:?} {noise}: {average} ± {error}, {expected}"
                );
            }
        }
    }
}
