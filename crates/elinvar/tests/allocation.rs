//! A step allocates nothing, whatever the family and the options.
#![allow(unsafe_code, reason = "a global allocator that counts cannot be written without it")]

mod subjects;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use elinvar::chains::Correction;
use elinvar::component::ComponentKind;
use elinvar::estimate::{Curvature, MixingWeights, Sampling};
use elinvar::family::{Approximation, Family, Kind, MatrixUpdate};
use elinvar::model::Parametrisation;
use elinvar::model::{Activation, Architecture, Banana, BetaBinomial, DesignMatrix, EightSchools, NeuralNetwork};
use elinvar::random::Noise;
use elinvar::rule::{AdamLike, BiasCorrection, EuclideanAdam, Rule};
use elinvar::run::{Run, Stop, fit_observed, start, start_at_guess};
use elinvar::target::{
    About, Answer, Ask, Contraction, Covariance, Draws, Room, Target, TargetError, Want, from_fn, from_values,
};
use elinvar::{Plan, block::LogWeights};

use subjects::{GradientsOnly, families, label, logistic, numbers};

thread_local! {
    /// Allocations of this thread; tests that run beside this one have their own count.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is passed on to the system's allocator unchanged; counting touches no memory of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promise about `layout` is the one asked for here.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as above.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(f: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    f();
    ALLOCATIONS.get() - before
}

const STEPS: usize = 100;

/// Points that take long are spread over threads, which allocates, and on a slow machine any point may take long. What
/// is counted here is counted where there is one thread.
fn on_one_thread(test: impl FnOnce() + Send) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| (warm_the_thread(), test()));
}

/// Makes this thread's packing buffer of the matrix library, whose size depends on the processor's cache only: the
/// library allocates it once per thread, at the first product of more than a few rows.
fn warm_the_thread() {
    let target = logistic(50, 3);
    let mut run = Run::new(&target, start_of(&target, Family::gaussian()), &Plan::default()).unwrap();
    run.step().unwrap();
}

/// The allocations of the first 100 steps of a run, convergence checks included.
fn of_steps(target: &dyn Target, start: &Approximation, plan: &Plan) -> u64 {
    let mut run = Run::new(target, start.clone(), plan).unwrap();
    allocations(|| {
        for _ in 0..STEPS {
            run.step().unwrap();
        }
    })
}

/// The plans of every curvature, noise, sampling and mixing weight that make a difference for the family.
fn plans(family: Family, has_hessian: bool) -> Vec<Plan> {
    let curvatures = [
        Curvature::Stein { control_variate: true },
        Curvature::Stein { control_variate: false },
        Curvature::GradientOuterProduct,
        Curvature::Hessian,
    ];
    let all_samplings = [Sampling::OwnDraws, Sampling::Stratified, Sampling::Mixture];
    let all_weights = [MixingWeights::Conditional, MixingWeights::Marginal, MixingWeights::Sampled];
    let (samplings, weights) = match family.name() {
        "mog" => (&all_samplings[..], &all_weights[..1]),
        "gaussian" => (&all_samplings[..1], &all_weights[..1]),
        _ => (&all_samplings[..1], &all_weights[..]),
    };
    let mut plans = Vec::new();
    for curvature in curvatures.into_iter().take(if has_hessian { 4 } else { 3 }) {
        for noise in Noise::ALL {
            for sampling in samplings.iter().copied() {
                for weights in weights.iter().copied() {
                    plans.push(Plan { n_draws: 6, curvature, noise, sampling, weights, ..Plan::default() });
                }
            }
        }
    }
    plans
}

/// Both rules, with and without a KL bound.
fn with_rules(plan: &Plan) -> [Plan; 4] {
    let of = |rule, max_kl| Plan { rule, max_kl, ..plan.clone() };
    let (plain, retraction) = (Rule::NaturalGradient, Rule::Retraction);
    [of(plain, None), of(retraction, None), of(plain, Some(0.1)), of(retraction, Some(0.1))]
}

/// A start that is the same for all plans.
fn start_of(target: &dyn Target, family: Family) -> Approximation {
    start(target, family, &Plan::default()).unwrap().approximation
}

fn check(name: &str, target: &dyn Target, family: Family, plan: &Plan, start: &Approximation) {
    let found = of_steps(target, start, plan);
    assert_eq!(found, 0, "{name}, {}, {plan:?}: {found} allocations in {STEPS} steps", label(family));
}

/// The counter sees what it should see.
#[test]
fn an_allocation_is_counted() {
    let mut kept = Vec::new();
    assert_eq!(allocations(|| kept.push(1.0)), 1);
    assert_eq!(allocations(|| kept.reserve(1000)), 1);
    assert_eq!(allocations(|| kept.push(2.0)), 0);
}

#[test]
fn steps_on_a_pointwise_target_allocate_nothing_with_any_combination_of_options() {
    on_one_thread(|| {
        let target = Banana::default();
        for family in families() {
            let start = start_of(&target, family);
            for plan in plans(family, true) {
                with_rules(&plan).iter().for_each(|plan| check("banana", &target, family, plan, &start));
            }
        }
    });
}

#[test]
fn steps_on_a_model_of_counts_allocate_nothing() {
    on_one_thread(|| {
        let target = BetaBinomial::cancer_mortality();
        for family in families() {
            let start = start_of(&target, family);
            for (i, plan) in plans(family, true).iter().enumerate() {
                check("beta-binomial", &target, family, &with_rules(plan)[i % 4], &start);
            }
        }
    });
}

#[test]
fn steps_on_a_regression_allocate_nothing() {
    warm_the_thread();
    let target = logistic(341, 11);
    for family in families() {
        let start = start_of(&target, family);
        for (i, plan) in plans(family, true).iter().enumerate() {
            check("logistic", &target, family, &with_rules(plan)[i % 4], &start);
        }
    }
}

/// A target that does not say how much memory it takes.
struct Silent<T>(T);

impl<T: Target> Target for Silent<T> {
    fn about(&self) -> About {
        About { room: Room::default(), ..self.0.about() }
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        self.0.evaluate(ask, answer)
    }
}

#[test]
fn a_target_that_says_nothing_about_its_memory_takes_it_in_the_first_step() {
    warm_the_thread();
    let target = Silent(logistic(341, 11));
    let mut run = Run::new(&target, start_of(&target, Family::gaussian()), &Plan::default()).unwrap();
    let mut step = || allocations(|| _ = run.step().unwrap());
    assert_eq!(step(), 1);
    assert_eq!((0..STEPS).map(|_| step()).sum::<u64>(), 0);
}

#[test]
fn steps_on_mini_batches_allocate_nothing() {
    warm_the_thread();
    let target = logistic(341, 11);
    for family in families() {
        let start = start_of(&target, family);
        for (i, plan) in plans(family, true).into_iter().enumerate().filter(|(i, _)| i % 3 == 0) {
            let plan = Plan { minibatch: Some(50), ..with_rules(&plan)[i % 4].clone() };
            check("logistic in mini-batches", &target, family, &plan, &start);
        }
    }
}

/// Layouts of the eleven coordinates, by every rule and update.
#[test]
fn steps_of_kronecker_factors_allocate_nothing() {
    warm_the_thread();
    let target = logistic(341, 11);
    let layouts = [&[&[11usize][..]][..], &[&[3, 3], &[2]], &[&[2, 2, 2], &[1, 3]]];
    for (l, groups) in layouts.iter().enumerate() {
        let family = Family::layers(groups).unwrap();
        for family in [family, family.diagonal(), family.with_update(MatrixUpdate::PaperLiteral)] {
            let start = start_of(&target, family);
            let more = [Curvature::ItemGradients, Curvature::SquaredMean]
                .map(|curvature| Plan { curvature, ..Plan::default() });
            for (i, plan) in plans(Family::gaussian(), true).iter().chain(&more).enumerate() {
                check("logistic by layers", &target, family, &with_rules(plan)[(i + l) % 4], &start);
                let rules = [Rule::NaturalMomentum { gamma: 0.3 }, Rule::EuclideanAdam(Default::default())];
                check("logistic by layers", &target, family, &Plan { rule: rules[i % 2], ..plan.clone() }, &start);
            }
        }
    }
}

/// From 17 dimensions on products and factors are the matrix library's.
#[test]
fn steps_in_forty_dimensions_allocate_nothing() {
    warm_the_thread();
    let target = logistic(200, 40);
    for family in [Family::gaussian(), Family::skew(), Family::mog(2)] {
        let start = start_of(&target, family);
        for (i, plan) in plans(family, true).iter().enumerate() {
            check("logistic, d = 40", &target, family, &with_rules(plan)[i % 4], &start);
        }
    }
}

#[test]
fn networks_allocate_nothing_once_they_have_their_scratch() {
    warm_the_thread();
    let (n, d) = (70, 3);
    let x = || DesignMatrix::new(numbers(n * d, 1), d, (1..=d).map(|j| format!("x{j}")).collect()).unwrap();
    let labels = || numbers(n, 2).into_iter().map(|v| (1.5 + 1.5 * v).floor()).collect();
    let layers = |activation| Architecture { hidden: vec![20, 4], activation };
    let models = [
        NeuralNetwork::regression(x(), numbers(n, 3), layers(Activation::Relu), 1.0).unwrap(),
        NeuralNetwork::multiclass(x(), labels(), 3, layers(Activation::Tanh), 1.0).unwrap(),
    ];
    for model in &models {
        let dim = model.dim();
        let z = numbers(4 * dim, 4);
        let mut out = Answer::new(dim, 4).with_curvature(Covariance::Full, 1);
        out.set_items(n);
        let weights = [0.25; 4];
        let mut once = || {
            let contraction = Contraction::shared(&weights, 4);
            for want in [Want::Gradients, Want::Values, Want::ItemGradients { draw: 0 }] {
                model.evaluate(&Ask::all(Draws::new(dim, &z), want), &mut out).unwrap();
            }
            for covariance in [Covariance::Full, Covariance::Diagonal] {
                out.set_curvature(covariance, 1);
                model.evaluate(&Ask::all(Draws::new(dim, &z), Want::GaussNewton(contraction)), &mut out).unwrap();
            }
        };
        once();
        assert_eq!(allocations(|| (0..10).for_each(|_| once())), 0);
        let start = start_at_guess(model, Family::skew().diagonal(), 1).unwrap();
        let plan = Plan { minibatch: Some(32), ..Plan::default() };
        assert_eq!(of_steps(model, &start, &plan), 0);
    }
}

#[test]
fn steps_from_values_alone_allocate_nothing() {
    warm_the_thread();
    let target = from_values(3, |z| -(z[0] * z[0] - z[1]).powi(2) - z[2].cosh() - 0.5 * z[0] * z[0]);
    // These move by gradients, and say so.
    let refused = |family: &Family| {
        subjects::is_learned(*family) || matches!(family.kind, Kind::ScaleMixture { product: true, .. })
    };
    for family in families().into_iter().filter(|family| !refused(family)) {
        let start = subjects::standard(family, 3);
        for noise in Noise::ALL {
            for sampling in [Sampling::OwnDraws, Sampling::Stratified, Sampling::Mixture] {
                let plan = Plan { noise, sampling, ..Plan::default() };
                assert_eq!(of_steps(&target, &start, &plan), 0, "{}", label(family));
            }
        }
    }
}

/// The rules with a memory, with every curvature that squares gradients.
#[test]
fn steps_with_momentum_and_running_means_allocate_nothing() {
    warm_the_thread();
    let (regression, banana) = (logistic(341, 11), Banana::default());
    let curvatures = [Curvature::Auto, Curvature::ItemGradients, Curvature::SquaredMean, Curvature::GaussNewton];
    for family in families() {
        let learned = subjects::is_learned(family);
        let product = matches!(family.kind, Kind::ScaleMixture { product: true, .. });
        let diagonal = family == family.diagonal() && !learned && !product;
        for (rule, fits) in [
            (Rule::NaturalMomentum { gamma: 0.5 }, true),
            (Rule::EuclideanAdam(EuclideanAdam::default()), true),
            (Rule::AdamLike(AdamLike::default()), diagonal),
            (Rule::AdamLike(AdamLike { bias_correction: BiasCorrection::None, ..AdamLike::default() }), diagonal),
        ] {
            if !fits {
                continue;
            }
            let start = start_of(&regression, family);
            for (curvature, minibatch) in curvatures.into_iter().flat_map(|c| [(c, None), (c, Some(100))]) {
                let plan = Plan { n_draws: 6, rule, curvature, minibatch, ..Plan::default() };
                check("logistic", &regression, family, &plan, &start);
            }
            if !matches!(rule, Rule::AdamLike(rule) if rule.bias_correction.starts_from_the_prior()) {
                let plan = Plan { n_draws: 6, rule, ..Plan::default() };
                check("banana", &banana, family, &plan, &start_of(&banana, family));
            }
        }
    }
}

/// Mixtures of exponential families of every kind, on a target with their support.
#[test]
fn steps_of_mixtures_of_exponential_families_allocate_nothing() {
    warm_the_thread();
    for (name, k) in ComponentKind::NAMES.iter().chain(&["dirichlet"]).flat_map(|name| [(name, 1), (name, 2)]) {
        let start = match ComponentKind::new(name, None) {
            Ok(kind) => Approximation::ef_mixture(LogWeights::uniform(k), vec![kind.standard(); 2 * k]).unwrap(),
            Err(_) => Approximation::dirichlet(LogWeights::uniform(k), vec![vec![2.0, 3.0]; k]).unwrap(),
        };
        let target = from_fn(2, |z, grad| {
            grad.iter_mut().zip(z).for_each(|(g, z)| *g = z.cos() - z);
            z.iter().map(|z| z.sin() - 0.5 * z * z).sum()
        });
        let target = target.on(start.support());
        for noise in Noise::ALL {
            for sampling in [Sampling::OwnDraws, Sampling::Stratified, Sampling::Mixture] {
                let plan = Plan { n_draws: 6, noise, sampling, ..Plan::default() };
                let own = [
                    Rule::Retraction,
                    Rule::NaturalGradient,
                    Rule::NaturalMomentum { gamma: 0.5 },
                    Rule::EuclideanAdam(EuclideanAdam::default()),
                ];
                let check = |rule| check(name, &target, start.family(), &Plan { rule, ..plan.clone() }, &start);
                own.into_iter().for_each(check);
            }
        }
    }
}

/// The allocations of each step of a fit by least change after the third, as its observer sees them: none, but for the
/// list of steps, which doubles.
#[test]
fn steps_by_least_change_do_not_allocate() {
    warm_the_thread();
    let few = from_fn(5, |z, grad| {
        grad.iter_mut().zip(z).for_each(|(g, z)| *g = -2.0 * z);
        -z.iter().map(|z| z * z).sum::<f64>()
    });
    let target = logistic(120, 40);
    let many = GradientsOnly(&target);
    let full = Family::gaussian();
    for (target, family) in [(&few as &dyn Target, full), (&many, full), (&few, full.diagonal())] {
        // It never converges, and draws no more than at first.
        let stop = Stop { remaining_nats: 0.0, max_steps: 24, ..Stop::default() };
        let plan = Plan { n_draws: 82, max_draws: 82, curvature: Curvature::LeastChange, stop, ..Plan::default() };
        let (mut seen, mut last, mut n_draws) = (Vec::with_capacity(64), 0, 0);
        let posterior = fit_observed(target, family, &plan, &mut |step| {
            seen.push((step.index, step.n_draws == n_draws, ALLOCATIONS.get() - last));
            (n_draws, last) = (step.n_draws, ALLOCATIONS.get());
            ControlFlow::Continue(())
        });
        assert_eq!(posterior.unwrap().trace().len(), seen.len());
        for (index, same, allocations) in seen.into_iter().skip(3) {
            let doubled = index.is_power_of_two();
            assert!(!same || allocations <= u64::from(doubled), "{allocations} allocations in step {index}");
        }
    }
}

/// A target that notes between which leaps of chains something was allocated.
struct Watched<'a> {
    inner: &'a dyn Target,
    last: AtomicU64,
    calls: AtomicU64,
    after_an_allocation: AtomicU64,
}

impl Target for Watched<'_> {
    fn about(&self) -> About {
        self.inner.about()
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        if ask.draws.len() != Correction::default().chains {
            // Not a leap of the chains that answer: searches and looks may allocate.
            return self.inner.evaluate(ask, answer);
        }
        let now = ALLOCATIONS.get();
        self.calls.fetch_add(1, Ordering::Relaxed);
        let allocated = now != self.last.load(Ordering::Relaxed);
        self.after_an_allocation.fetch_add(u64::from(allocated), Ordering::Relaxed);
        let result = self.inner.evaluate(ask, answer);
        self.last.store(ALLOCATIONS.get(), Ordering::Relaxed);
        result
    }
}

/// Chains allocate between rounds, never between the leaps of one.
#[test]
fn leaps_of_chains_allocate_nothing() {
    warm_the_thread();
    // Chains go on for long where tails are heavy; in a hierarchy they have coordinates of its scale.
    let (schools, regression) = (EightSchools::new(Parametrisation::NonCentred), logistic(80, 20));
    let heavy = subjects::heavy_tails(5.0, 10);
    for (inner, least, most) in [(&heavy as &dyn Target, 80, 40), (&schools, 12, 4), (&regression, 20, 10)] {
        let zero = || AtomicU64::new(0);
        let target = Watched { inner, last: zero(), calls: zero(), after_an_allocation: zero() };
        let mut posterior = elinvar::run::fit(inner, Family::gaussian(), &Plan::default()).unwrap();
        let settings = Correction { max_gradients: 40_000, ..Correction::default() };
        posterior.correct(&target, &settings).unwrap();
        let (calls, after) = (target.calls.into_inner(), target.after_an_allocation.into_inner());
        println!("{after} of {calls} leaps after an allocation");
        assert!(calls > least && after <= most, "{after} of {calls} leaps after an allocation");
    }
}
