//! The fits: every family, rule, source of curvature, sampling and kind of target at least once.

use elinvar::component::ComponentKind;
use elinvar::estimate::{Curvature, MixingWeights, Sampling, ShapeEstimator};
use elinvar::family::{Kind, MatrixUpdate};
use elinvar::law::Law;
use elinvar::model::Parametrisation;
use elinvar::random::Noise;
use elinvar::rule::{AdamLike, BiasCorrection, EuclideanAdam, Root, Rule, StepSize};
use elinvar::run::Stop;
use elinvar::{Family, Plan};

use super::targets::{self, Boxed};

/// How a fit comes about.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Way {
    /// In one call.
    Straight,
    /// From the approximation that a few steps have reached.
    From,
    /// Interrupted again and again, and resumed from its journal.
    Interrupted,
}

/// A fit.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) target: fn() -> Boxed,
    pub(super) family: Family,
    pub(super) plan: Plan,
    pub(super) way: Way,
}

fn case(name: impl Into<String>, target: fn() -> Boxed, family: Family, plan: Plan) -> Case {
    Case { name: name.into(), target, family, plan, way: Way::Straight }
}

const VALID: &str = "the constants are valid";

/// A plan of at most so many steps.
fn steps(max_steps: u64) -> Plan {
    Plan { stop: Stop { max_steps, ..Stop::default() }, ..Plan::default() }
}

/// A plan of at most about so many gradients.
fn evaluations(max_evaluations: u64) -> Plan {
    Plan { stop: Stop { max_evaluations, ..Stop::default() }, ..Plan::default() }
}

/// All fits.
pub(super) fn all() -> Vec<Case> {
    [
        models(),
        curvatures(),
        rules(),
        draws(),
        bent_families(),
        scale_mixtures(),
        matrices(),
        exponential_families(),
        searches(),
        user_targets(),
        ways(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Ready models with the default plan.
fn models() -> Vec<Case> {
    let gaussian = Family::gaussian();
    let schools: fn() -> Boxed = || targets::schools(Parametrisation::NonCentred);
    let centred: fn() -> Boxed = || targets::schools(Parametrisation::Centred);
    vec![
        case("logistic/gaussian", targets::logistic, gaussian, Plan::default()),
        case("logistic/gaussian_diagonal", targets::logistic, gaussian.diagonal(), Plan::default()),
        case("linear/gaussian", targets::linear, gaussian, Plan::default()),
        case("poisson/gaussian", targets::poisson, gaussian, Plan::default()),
        case("network/gaussian_diagonal", targets::network, gaussian.diagonal(), steps(150)),
        case("classes/gaussian", targets::classes, gaussian, steps(100)),
        case("banana/gaussian", targets::banana, gaussian, Plan::default()),
        case("schools/gaussian", schools, gaussian, steps(150)),
        case("schools_centred/student_t", centred, Family::student_t(3.0), steps(200)),
        case("gaussian/gaussian", || targets::gaussian(6), gaussian, Plan::default()),
        case("mixture/gaussian", targets::mixture, gaussian, steps(100)),
        case("funnel/skew", targets::funnel, Family::skew(), steps(200)),
        case("beta_binomial/gaussian", targets::beta_binomial, gaussian, steps(150)),
        case("arma/gaussian", targets::arma, gaussian, steps(150)),
        case("autoregression/gaussian", targets::autoregression, gaussian, steps(150)),
        case("process/gaussian", targets::process, gaussian, steps(150)),
        case("ordered_mixture/gaussian", targets::ordered_mixture, gaussian, steps(150)),
    ]
}

/// Each source of curvature.
fn curvatures() -> Vec<Case> {
    let of = |curvature| Plan { curvature, ..steps(100) };
    let logistic = |curvature: Curvature| {
        case(format!("logistic/gaussian/{curvature}"), targets::logistic, Family::gaussian(), of(curvature))
    };
    let mog = |curvature: Curvature| {
        case(format!("banana/mog_2/{curvature}"), targets::banana, Family::mog(2), of(curvature))
    };
    let stein = Curvature::Stein { control_variate: true };
    let values = Plan { n_draws: 64, ..of(Curvature::GradientFree) };
    vec![
        logistic(Curvature::GaussNewton),
        logistic(stein),
        logistic(Curvature::Stein { control_variate: false }),
        logistic(Curvature::ItemGradients),
        logistic(Curvature::SquaredMean),
        logistic(Curvature::GradientOuterProduct),
        mog(stein),
        mog(Curvature::GradientOuterProduct),
        case("linear/gaussian/gradient_free", targets::linear, Family::gaussian(), values.clone()),
        case("banana/skew/gradient_free", targets::banana, Family::skew(), values.clone()),
        case("banana/mog_2/gradient_free", targets::banana, Family::mog(2), values),
    ]
}

/// Each rule of updating, and the schedules of steps.
fn rules() -> Vec<Case> {
    let of = |rule, n| Plan { rule, ..steps(n) };
    let natural = of(Rule::NaturalGradient, 100);
    let decaying = StepSize::Power { initial: 0.5, delay: 10.0, exponent: 0.6 };
    let adam_like = Rule::AdamLike(AdamLike::default());
    let newton =
        AdamLike { gamma1: 0.5, gamma2: 0.9, root: Root::Newton, bias_correction: BiasCorrection::MomentumOnly };
    let vadam = AdamLike { root: Root::VadamRoot, bias_correction: BiasCorrection::DataOnly, ..AdamLike::default() };
    let constant = |beta| StepSize::Constant(beta);
    let diagonal = Family::gaussian().diagonal();
    let adam = Rule::EuclideanAdam(EuclideanAdam::default());
    vec![
        case("logistic/gaussian/natural_gradient", targets::logistic, Family::gaussian(), natural.clone()),
        case("banana/mog_3/natural_gradient", targets::banana, Family::mog(3), natural.clone()),
        case(
            "banana/mog_3/natural_gradient_power",
            targets::banana,
            Family::mog(3),
            Plan { step_size: decaying, mixing_step_size: constant(0.1), max_kl: None, ..natural.clone() },
        ),
        case(
            "logistic/nig/natural_gradient_constant",
            targets::logistic,
            Family::nig(2.0),
            Plan { step_size: constant(0.3), average: false, ..natural },
        ),
        case(
            "logistic/gaussian/natural_momentum",
            targets::logistic,
            Family::gaussian(),
            of(Rule::NaturalMomentum { gamma: 0.3 }, 40),
        ),
        case(
            "banana/mog_2/natural_momentum",
            targets::banana,
            Family::mog(2),
            of(Rule::NaturalMomentum { gamma: 0.5 }, 40),
        ),
        case(
            "logistic/gaussian_diagonal/adam_like",
            targets::logistic,
            diagonal,
            Plan { minibatch: Some(50), ..of(adam_like, 150) },
        ),
        case(
            "logistic/gaussian_diagonal/adam_like_vadam",
            targets::logistic,
            diagonal,
            Plan { curvature: Curvature::SquaredMean, step_size: constant(0.02), ..of(Rule::AdamLike(vadam), 80) },
        ),
        case(
            "logistic/student_t_diagonal/adam_like_newton",
            targets::logistic,
            Family::student_t(4.0).diagonal(),
            Plan { step_size: constant(0.1), ..of(Rule::AdamLike(newton), 80) },
        ),
        case(
            "logistic/mog_2_diagonal/adam_like",
            targets::logistic,
            Family::mog(2).diagonal(),
            Plan { minibatch: Some(50), ..of(adam_like, 150) },
        ),
        case("banana/gaussian/euclidean_adam", targets::banana, Family::gaussian(), of(adam, 150)),
        case("banana/mog_2/euclidean_adam", targets::banana, Family::mog(2), of(adam, 150)),
        case("logistic/skew/euclidean_adam", targets::logistic, Family::skew(), of(adam, 60)),
    ]
}

/// Where draws come from, and how they are weighed.
fn draws() -> Vec<Case> {
    let plan = steps(100);
    let noisy = |noise| Plan { noise, ..plan.clone() };
    let sampled = |sampling| Plan { sampling, ..plan.clone() };
    let weighed = |weights| Plan { weights, ..plan.clone() };
    let batched = |minibatch| Plan { minibatch: Some(minibatch), ..plan.clone() };
    let shaped = |shape| Plan { shape, ..plan.clone() };
    let student = Family::student_t_learned();
    vec![
        case("logistic/gaussian/independent", targets::logistic, Family::gaussian(), noisy(Noise::Independent)),
        case("logistic/emg/antithetic", targets::logistic, Family::emg(), noisy(Noise::Antithetic)),
        case("banana/mog_3/own_draws", targets::banana, Family::mog(3), sampled(Sampling::OwnDraws)),
        case("banana/mog_3/mixture", targets::banana, Family::mog(3), sampled(Sampling::Mixture)),
        case("banana/mog_3/stratified", targets::banana, Family::mog(3), sampled(Sampling::Stratified)),
        case("banana/skew/sampled", targets::banana, Family::skew(), weighed(MixingWeights::Sampled)),
        case("banana/skew/marginal", targets::banana, Family::skew(), weighed(MixingWeights::Marginal)),
        case("banana/skew/conditional", targets::banana, Family::skew(), weighed(MixingWeights::Conditional)),
        case("logistic/nig/sampled", targets::logistic, Family::nig(2.0), weighed(MixingWeights::Sampled)),
        case("logistic/nig/marginal", targets::logistic, Family::nig(2.0), weighed(MixingWeights::Marginal)),
        case("logistic/gaussian/minibatch", targets::logistic, Family::gaussian(), batched(60)),
        case("logistic/mog_2_diagonal/minibatch", targets::logistic, Family::mog(2).diagonal(), batched(60)),
        case("funnel/student_t_learned/exact", targets::funnel, student, shaped(ShapeEstimator::Exact)),
        case("funnel/student_t_learned/ratio", targets::funnel, student, shaped(ShapeEstimator::Ratio)),
        case("funnel/student_t_learned/paper_literal", targets::funnel, student, shaped(ShapeEstimator::PaperLiteral)),
    ]
}

/// The remaining families with one block, and mixtures of a fixed size.
fn bent_families() -> Vec<Case> {
    let schools: fn() -> Boxed = || targets::schools(Parametrisation::NonCentred);
    vec![
        case("logistic/student_t", targets::logistic, Family::student_t(4.0), steps(100)),
        case("poisson/skew_diagonal", targets::poisson, Family::skew().diagonal(), steps(100)),
        case("banana/emg", targets::banana, Family::emg(), steps(150)),
        case("beta_binomial/nig", targets::beta_binomial, Family::nig(1.5), steps(150)),
        case("logistic/snig", targets::logistic, Family::snig(2.0), steps(100)),
        case("schools/rank_k_2", schools, Family::rank_k(2), steps(150)),
        case("logistic/rank_k_3", targets::logistic, Family::rank_k(3), steps(100)),
        case("beta_binomial/mog_3", targets::beta_binomial, Family::mog(3), steps(150)),
        case("mixture/mog_4_diagonal", targets::mixture, Family::mog(4).diagonal(), Plan::default()),
    ]
}

/// Each law of a random scale, shared and one for each coordinate.
fn scale_mixtures() -> Vec<Case> {
    let laws: [(&str, &[(&str, f64)]); 5] = [
        ("student_t", &[("a", 3.0)]),
        ("snig", &[("lambda", 2.0)]),
        ("logistic", &[]),
        ("variance_gamma", &[("k", 2.5)]),
        ("generalised_hyperbolic", &[("p", -0.5), ("omega", 1.5)]),
    ];
    let of = |(name, constants): (&str, &[(&str, f64)])| {
        let family = Family::scale_mixture(Law::of_scale(name, constants).expect(VALID));
        [
            case(format!("logistic/scale_mixture_{name}"), targets::logistic, family, steps(15)),
            case(format!("banana/scale_mixture_{name}_product"), targets::banana, family.product(), steps(30)),
        ]
    };
    laws.into_iter().flat_map(of).collect()
}

/// Kronecker-structured Gaussians.
fn matrices() -> Vec<Case> {
    let layers = Family::layers(&targets::network_layout()).expect(VALID);
    let tensor = Family::tensor(&[2, 3, 2]).expect(VALID);
    let with = |family: Family, update| match family.kind {
        Kind::Matrix { layout, .. } => Family { kind: Kind::Matrix { layout, update }, ..family },
        _ => family,
    };
    let twelve: fn() -> Boxed = || targets::gaussian(12);
    let plan = Plan { step_size: StepSize::Constant(0.3), ..steps(100) };
    let updates = [MatrixUpdate::Joint, MatrixUpdate::Blockwise, MatrixUpdate::PaperLiteral];
    let of = |update: MatrixUpdate| {
        [
            case(format!("network/matrix/{update}"), targets::network, with(layers, update), plan.clone()),
            case(format!("gaussian/tensor_2x3x2/{update}"), twelve, with(tensor, update), plan.clone()),
        ]
    };
    let newton = Plan { curvature: Curvature::GaussNewton, minibatch: Some(20), ..steps(100) };
    let mut cases: Vec<Case> = updates.into_iter().flat_map(of).collect();
    cases.push(case("network/matrix/gauss_newton_minibatch", targets::network, layers, newton));
    cases.push(case("gaussian/tensor_2x3x2_diagonal", twelve, tensor.diagonal(), steps(100)));
    cases
}

/// Each component of finite mixtures, where its support is.
fn exponential_families() -> Vec<Case> {
    let component = |name: &str| ComponentKind::new(name, None).expect(VALID);
    let of = |target_name: &str, target: fn() -> Boxed, name: &str, k| {
        let family = Family::ef_mixture(component(name), k);
        case(format!("{target_name}/ef_mixture_{name}_{k}"), target, family, steps(100))
    };
    let positive = [
        "exponential",
        "gamma",
        "gamma_rate",
        "inverse_gamma",
        "inverse_gamma_scale",
        "weibull",
        "log_normal",
        "inverse_gaussian",
        "birnbaum_saunders_learned",
    ];
    let mut cases: Vec<Case> = positive.into_iter().map(|name| of("quadrant", targets::quadrant, name, 2)).collect();
    cases.extend([
        case("quadrant/birnbaum_saunders_2", targets::quadrant, Family::birnbaum_saunders(2), steps(100)),
        of("banana", targets::banana, "normal", 3),
        of("rate", targets::rate, "gamma", 1),
        of("proportion", targets::proportion, "beta", 2),
        of("direction", targets::direction, "von_mises", 2),
        case("shares/dirichlet_2", targets::shares, Family::dirichlet(2), steps(100)),
    ]);
    cases
}

/// Fits that choose: growth, the ladder, restarts.
fn searches() -> Vec<Case> {
    let restarted = |restarts| Plan { restarts, ..steps(150) };
    let schools: fn() -> Boxed = || targets::schools(Parametrisation::NonCentred);
    vec![
        case("mixture/mog_auto", targets::mixture, Family::mog_auto(), Plan::default()),
        case("banana/mog_auto", targets::banana, Family::mog_auto(), evaluations(400_000)),
        case("banana/mog_auto_diagonal", targets::banana, Family::mog_auto().diagonal(), evaluations(400_000)),
        case("logistic/auto", targets::logistic, Family::auto(), evaluations(400_000)),
        case("banana/auto", targets::banana, Family::auto(), evaluations(400_000)),
        case("funnel/auto_diagonal", targets::funnel, Family::auto().diagonal(), evaluations(400_000)),
        case("schools/auto", schools, Family::auto(), evaluations(400_000)),
        case("mixture/gaussian/restarts", targets::mixture, Family::gaussian(), restarted(3)),
        case("banana/mog_2/restarts", targets::banana, Family::mog(2), restarted(2)),
    ]
}

/// Targets that users write.
fn user_targets() -> Vec<Case> {
    let gaussian = Family::gaussian();
    vec![
        case("closure/gaussian", targets::closure, gaussian, Plan::default()),
        case("closure/mog_2", targets::closure, Family::mog(2), steps(100)),
        case("closures/skew", targets::closures, Family::skew(), steps(150)),
        case("values/gaussian", targets::values, gaussian, steps(200)),
        case("values/skew", targets::values, Family::skew(), steps(200)),
        case("values/mog_2", targets::values, Family::mog(2), steps(100)),
        case("not_a_number/gaussian", targets::not_a_number, gaussian, steps(150)),
        case("not_a_number/mog_2", targets::not_a_number, Family::mog(2), steps(150)),
        case("failing/gaussian", targets::failing, gaussian, steps(150)),
        case("dual/gaussian", targets::dual, gaussian, Plan::default()),
        case("shared_scale/student_t", targets::shared_scale, Family::student_t(3.0), steps(150)),
        case(
            "shared_scale/student_t_learned/minibatch",
            targets::shared_scale,
            Family::student_t_learned(),
            Plan { minibatch: Some(5), ..steps(100) },
        ),
    ]
}

/// Fits from a given start, and fits that are interrupted and resumed.
fn ways() -> Vec<Case> {
    let limited = evaluations(30_000);
    vec![
        Case { way: Way::From, ..case("banana/mog_3/from", targets::banana, Family::mog(3), steps(150)) },
        Case {
            way: Way::Interrupted,
            ..case(
                "logistic/gaussian/interrupted",
                targets::logistic,
                Family::gaussian(),
                Plan { minibatch: Some(60), ..steps(200) },
            )
        },
        Case {
            way: Way::Interrupted,
            ..case("banana/mog_auto/interrupted", targets::banana, Family::mog_auto(), limited.clone())
        },
        Case { way: Way::Interrupted, ..case("banana/auto/interrupted", targets::banana, Family::auto(), limited) },
    ]
}
