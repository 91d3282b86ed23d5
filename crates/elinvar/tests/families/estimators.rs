//! Every estimator of the gradient has the mean that quadrature gives.

use elinvar::estimate::{Curvature, MixingWeights, Sampling};
use elinvar::family::Approximation;
use elinvar::internals::family::Stepping;
use elinvar::internals::family::{DrawPlan, NoiseKey, Seen};
use elinvar::random::{Noise, Purpose};
use elinvar::target::{Answer, Ask, Prior, Target, Want};
use elinvar::theory::Mcef;

use crate::averages::Averages;
use crate::members::differences::{close, gradient, solve};
use crate::members::{Fineness, Member, Slopes, bent, bent_target};

/// Declared for the first coordinate only, so that the closed form of the prior has a part to leave out.
fn prior() -> Prior {
    Prior::Normal { mean: vec![0.4], precision: vec![0.7] }
}

/// ∇_B L = −E[∇h ũᵀ], ∇_Σ L = −½E[s∇²h], ∂L/∂π_c = −E_c[h] with h = log q − log p − log prior: no closed form of the
/// entropy or of the prior enters.
fn reference(q: &Approximation) -> Vec<f64> {
    let d = q.dim();
    let prior = prior();
    let (mut score, mut hessian) = (vec![0.0; d], vec![0.0; d * d]);
    let mut slopes = Slopes { location: Vec::new(), scale: Vec::new(), weights: Vec::new() };
    for (c, pi) in q.component_weights().iter().enumerate() {
        let mut location = vec![0.0; d * q.family().n_columns()];
        let (mut scale, mut weight, mut total) = (vec![0.0; d * d], 0.0, 0.0);
        for node in q.nodes(c, Fineness::COARSE) {
            let (log_p, mut first, mut second) = bent(&node.z);
            for i in 0..d {
                first[i] -= prior.precision(i) * (node.z[i] - prior.mean(i));
                second[i * d + i] -= prior.precision(i);
            }
            q.score(&node.z, &mut score);
            q.hessian(&node.z, &mut hessian);
            for (k, value) in location.iter_mut().enumerate() {
                *value += pi * node.weight * (first[k % d] - score[k % d]) * node.u[k / d];
            }
            for (k, value) in scale.iter_mut().enumerate() {
                *value += 0.5 * pi * node.weight * node.s * (second[k] - hessian[k]);
            }
            weight += node.weight * (log_p + prior.log_density(&node.z) - q.log_density(&node.z));
            total += node.weight;
        }
        assert!((total - 1.0).abs() < 1e-6, "{}: the weights sum to {total}", q.name());
        slopes.location.push(location);
        slopes.scale.push(scale);
        slopes.weights.push(weight);
    }
    q.gradient_entries(&q.gradient_of(&slopes))
}

/// The mean over 600 batches of 8 draws.
fn estimate(q: &Approximation, plan: &DrawPlan, n_values: usize) -> Averages {
    let target = bent_target(q.dim());
    let mut work = q.estimator(plan);
    let (mut batch, mut gradient) = (work.batch(q), q.zero_gradient());
    let mut evaluations = Answer::new(q.dim(), batch.draws.len());
    let mut averages = Averages::new(n_values);
    for step in 0..600 {
        work.draw(q, NoiseKey { seed: 13, purpose: Purpose::Draws, step }, &mut batch);
        assert!(work.weigh(q, &batch));
        evaluations.set_curvature(q.family().covariance, q.n_components());
        let hessian = plan.curvature == Curvature::Hessian;
        let want = if hessian { Want::Hessian(work.contraction()) } else { Want::Gradients };
        target.evaluate(&Ask::all(batch.draws.view(), want), &mut evaluations).unwrap();
        assert!(work.gradient(
            q,
            &Seen { evaluations: &evaluations, curvature: evaluations.curvature(), prior: &prior(), batch: &batch },
            0.0,
            &mut gradient
        ));
        averages.add(&q.gradient_entries(&gradient));
    }
    averages
}

/// Options I, II and III of the mixing weights, or schemes M, C and D of a mixture, each with the Hessian and with both
/// Stein forms, the default with every noise, and values alone. About 16 × 13 × 9 numbers: 1e−2 for a new seed.
fn unbiased(q: &Approximation) {
    let expected = reference(q);
    let start = DrawPlan {
        n_draws: 8,
        noise: Noise::Independent,
        sampling: Sampling::OwnDraws,
        curvature: Curvature::Hessian,
        weights: MixingWeights::Conditional,
        ..DrawPlan::independent(8)
    };
    let schemes: Vec<DrawPlan> = if q.family().name() == "mog" {
        [Sampling::Mixture, Sampling::OwnDraws, Sampling::Stratified]
            .map(|sampling| DrawPlan { sampling, ..start })
            .into()
    } else {
        [MixingWeights::Sampled, MixingWeights::Marginal, MixingWeights::Conditional]
            .map(|weights| DrawPlan { weights, ..start })
            .into()
    };
    let curvatures =
        [Curvature::Hessian, Curvature::Stein { control_variate: false }, Curvature::Stein { control_variate: true }];
    let mut plans: Vec<DrawPlan> =
        schemes.iter().flat_map(|plan| curvatures.map(|curvature| DrawPlan { curvature, ..*plan })).collect();
    plans.push(DrawPlan { noise: Noise::Antithetic, ..start });
    // With so many points of low discrepancy the mean is known ten times better than with the others.
    plans.push(DrawPlan { noise: Noise::QuasiMonteCarlo, n_draws: 128, ..start });
    // Values alone, with the mixing weights of option I.
    for plan in schemes.iter().filter(|plan| q.family().name() == "mog" || plan.weights == MixingWeights::Sampled) {
        for noise in [Noise::Independent, Noise::Antithetic] {
            plans.push(DrawPlan {
                curvature: Curvature::GradientFree,
                noise,
                weights: MixingWeights::Sampled,
                ..*plan
            });
        }
    }
    for plan in plans {
        let what = format!("{}: {}, {}, {}, {}", q.name(), plan.weights, plan.sampling, plan.curvature, plan.noise);
        estimate(q, &plan, expected.len()).compare(&what, &expected, 2e-6);
    }
}

#[test]
fn every_estimator_has_the_mean_of_the_exact_gradient() {
    every_member!(unbiased(2, 360));
}

/// Where the target is q itself, h is constant, and so values alone say without noise that nothing is left to gain.
fn silent_at_the_target(q: &Approximation) {
    for noise in Noise::ALL {
        let plan = DrawPlan { noise, curvature: Curvature::GradientFree, ..DrawPlan::independent(8) };
        let mut work = q.estimator(&plan);
        let (mut batch, mut gradient) = (work.batch(q), q.zero_gradient());
        work.draw(q, NoiseKey { seed: 17, purpose: Purpose::Draws, step: 0 }, &mut batch);
        assert!(work.weigh(q, &batch));
        let mut evaluations = Answer::new(q.dim(), batch.draws.len());
        for (log_p, z) in evaluations.log_p_mut().iter_mut().zip(batch.draws.view().iter()) {
            *log_p = q.log_density(z) + 3.0;
        }
        assert!(work.gradient(
            q,
            &Seen { evaluations: &evaluations, curvature: &[], prior: &Prior::None, batch: &batch },
            -3.0,
            &mut gradient
        ));
        let entries = q.gradient_entries(&gradient);
        assert!(entries.iter().all(|v| v.abs() < 1e-12), "{}, {noise}: {entries:?}", q.name());
    }
}

#[test]
fn values_of_the_approximation_itself_give_a_gradient_of_zero() {
    every_member!(silent_at_the_target(2, 380));
}

/// What is added in closed form is the exact natural gradient of E[log prior] and of the entropy: with a target that is
/// zero everywhere nothing else is left of the gradient, whatever the draws are.
fn closed_forms(q: &Approximation) {
    let plan = DrawPlan { weights: MixingWeights::Conditional, ..DrawPlan::independent(4) };
    let mut work = q.estimator(&plan);
    let mut batch = work.batch(q);
    work.draw(q, NoiseKey { seed: 14, purpose: Purpose::Draws, step: 0 }, &mut batch);
    assert!(work.weigh(q, &batch));
    let evaluations = Answer::new(q.dim(), batch.draws.len());
    let curvature = vec![0.0; q.family().covariance.n_entries(q.dim()) * q.n_components()];
    let mut direction = |prior: &Prior| {
        let mut gradient = q.zero_gradient();
        work.weigh(q, &batch);
        assert!(work.gradient(
            q,
            &Seen { evaluations: &evaluations, curvature: &curvature, prior, batch: &batch },
            0.0,
            &mut gradient
        ));
        q.natural_gradient(&gradient)
    };
    let eta = q.natural();
    let fisher: Vec<Vec<f64>> = q.fisher().chunks_exact(eta.len()).map(<[f64]>::to_vec).collect();
    let exact = |value: &dyn Fn(&Approximation) -> f64| {
        solve(&fisher, &gradient(&eta, |eta| value(&q.with_natural(eta).unwrap())))
    };

    let without = direction(&Prior::None);
    // The weights of a mixture see the prior through the draws, not in closed form.
    let n = eta.len() - q.n_mixing();
    let shared = Prior::Gaussian { precision: 0.7, leading: 1 };
    let (mean, precision) = ([-0.6, 5.0, 1.3], [0.8, 0.0, 2.1]);
    let of_all = Prior::Normal { mean: mean[..q.dim()].to_vec(), precision: precision[..q.dim()].to_vec() };
    for prior in [prior(), shared, of_all] {
        let found: Vec<f64> = direction(&prior).iter().zip(&without).map(|(with, without)| with - without).collect();
        let expected = exact(&|q| q.expected_log_prior(&prior));
        close(&format!("{}: {prior:?}", q.name()), &found[..n], &expected[..n], 1e-8);
    }
    if q.entropy().is_some() {
        close(&format!("{}: entropy", q.name()), &without, &exact(&|q| q.entropy().unwrap()), 1e-8);
    }
}

#[test]
fn closed_forms_are_the_gradients_of_the_closed_values() {
    for dim in 1..=3 {
        every_member!(closed_forms(dim, 370 + dim as u64));
    }
}
