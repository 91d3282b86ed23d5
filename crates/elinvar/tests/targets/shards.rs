//! Sums over shards: those of the whole, and the same bits wherever shards are.

use elinvar::model::{
    DesignMatrix, LinearRegression, LogisticRegression, NegativeBinomialRegression, PoissonRegression,
};
use elinvar::research::target::shards::{
    AddUp, InProcess, Request, ShardError, Shards, SumOfShards, Sums, Wanted, evaluate,
};
use elinvar::target::{Answer, Ask, Contraction, Covariance, Draws, Rows, Target, Want};
use elinvar::{Error, Family, Fit};

use crate::subjects::numbers;
use crate::tolerance;

const N: usize = 1_003;
const D: usize = 4;
/// Where the rows are cut: parts of very different length, and more of them than a power of two.
const CUTS: [usize; 8] = [0, 1, 2, 90, 400, 401, 900, N];

fn x(from: usize, to: usize) -> DesignMatrix {
    let names = (1..=D).map(|j| format!("x{j}")).collect();
    DesignMatrix::new(numbers(N * D, 31)[from * D..to * D].to_vec(), D, names).unwrap()
}

fn counts(from: usize, to: usize) -> Vec<f64> {
    numbers(N, 32)[from..to].iter().map(|u| (3.0 * (u + 1.0)).floor()).collect()
}

fn logistic(from: usize, to: usize) -> LogisticRegression {
    let labels = numbers(N, 33)[from..to].iter().map(|u| if *u > 0.2 { 1.0 } else { -1.0 }).collect();
    LogisticRegression::new(x(from, to), labels, 0.3).unwrap()
}

fn poisson(from: usize, to: usize) -> PoissonRegression {
    PoissonRegression::new(x(from, to), counts(from, to), 0.3).unwrap()
}

fn linear(from: usize, to: usize) -> LinearRegression {
    let y = numbers(N, 34)[from..to].iter().map(|u| 7.0 + 2.0 * u).collect();
    LinearRegression::new(x(from, to), y, 0.3).unwrap().as_part_of(N)
}

fn negative_binomial(from: usize, to: usize) -> NegativeBinomialRegression {
    NegativeBinomialRegression::new(x(from, to), counts(from, to), 0.3).unwrap().as_part_of(N)
}

fn parts<T: Target>(make: impl Fn(usize, usize) -> T) -> SumOfShards<InProcess<T>> {
    SumOfShards::of_parts(CUTS.windows(2).map(|cut| make(cut[0], cut[1])).collect()).unwrap()
}

/// Everything that a target is asked, one list for each request; the last number is the work.
fn answers(target: &dyn Target) -> Vec<Vec<f64>> {
    let (d, n, offers) = (target.dim(), 6, target.about().offers);
    let z: Vec<f64> = numbers(d * n, 35).iter().map(|u| 0.4 * u).collect();
    let weights = numbers(2 * n, 36);
    let covariance: Vec<f64> = (0..d * d).map(|k| if k % (d + 1) == 0 { 0.3 } else { 0.02 }).collect();
    let diagonal = vec![0.3; d];
    let mut all = Vec::new();
    let mut ask = |draws: &[f64], want: Want<'_>, kind: Covariance, n_sums: usize| {
        let mut answer = Answer::new(d, draws.len() / d);
        answer.set_curvature(kind, n_sums);
        target.evaluate(&Ask::all(Draws::new(d, draws), want), &mut answer).unwrap();
        let (log_p, grad) = match want {
            Want::Values => (answer.log_p(), &[][..]),
            Want::HessianAlone(_) => (&[][..], &[][..]),
            _ => (answer.log_p(), answer.grads()),
        };
        all.push([log_p, grad, answer.curvature(), &[answer.work() as f64]].concat());
    };
    ask(&z, Want::Values, Covariance::Full, 0);
    ask(&z, Want::Gradients, Covariance::Full, 0);
    for kind in [Covariance::Full, Covariance::Diagonal] {
        ask(&z, Want::Hessian(Contraction::shared(&weights, n)), kind, 2);
        ask(&z, Want::HessianAlone(Contraction::own(&weights[..n], n / 2)), kind, 2);
        if offers.gauss_newton {
            ask(&z, Want::GaussNewton(Contraction::shared(&weights[..n], n)), kind, 1);
        }
    }
    if offers.gaussian_expectation {
        let at = &z[..d];
        ask(at, Want::GaussianExpectation { shape: Covariance::Full, covariance: &covariance }, Covariance::Full, 1);
        let want = Want::GaussianExpectation { shape: Covariance::Diagonal, covariance: &diagonal };
        ask(at, want, Covariance::Diagonal, 1);
    }
    all
}

fn agree(name: &str, whole: &dyn Target, parts: &dyn Target) {
    let (one, other) = (whole.about(), parts.about());
    assert_eq!((one.names, one.prior, one.n_rows), (other.names, other.prior, other.n_rows), "{name}");
    for (k, (a, b)) in answers(whole).iter().zip(answers(parts)).enumerate() {
        let size = a.iter().fold(1.0, |most: f64, v| most.max(v.abs()));
        // The work of narrow laws depends on how rows are grouped.
        let (work, sums) = (a.len() - 1, a.iter().zip(&b).take(a.len() - 1));
        assert_eq!(a.len(), b.len(), "{name}, request {k}");
        assert!(b[work] <= 1.3 * a[work] + 2.0 && a[work] <= 1.3 * b[work] + 2.0, "{name}: {} {}", a[work], b[work]);
        for (a, b) in sums {
            assert!((a - b).abs() <= 10.0 * tolerance::EXACT * size, "{name}, request {k}: {a} and {b}");
        }
    }
}

#[test]
fn shards_add_up_to_the_model_over_all_rows() {
    agree("logistic", &logistic(0, N), &parts(logistic));
    agree("poisson", &poisson(0, N), &parts(poisson));
    agree("linear", &linear(0, N), &parts(linear));
    agree("negative binomial", &negative_binomial(0, N), &parts(negative_binomial));
}

/// The same shards behind bytes, which answer in an order of their own.
struct Elsewhere<T> {
    parts: InProcess<T>,
    order: Vec<usize>,
}

impl<T: Target> Shards for Elsewhere<T> {
    fn len(&self) -> usize {
        self.order.len()
    }

    fn ask(&self, request: &Request, sums: &mut AddUp) -> Result<(), ShardError> {
        let request = Request::from_bytes(&request.to_bytes()).unwrap();
        for &k in &self.order {
            let answer = evaluate(&self.parts.parts()[k], &request).unwrap();
            sums.add(k, Sums::from_bytes(&answer.to_bytes()).unwrap())?;
        }
        Ok(())
    }
}

fn elsewhere(order: [usize; 7]) -> SumOfShards<Elsewhere<LogisticRegression>> {
    let here = parts(logistic);
    let about = here.about();
    SumOfShards::new(Elsewhere { parts: here.shards().clone(), order: order.to_vec() }, about, N)
}

fn bits(lists: Vec<Vec<f64>>) -> Vec<u64> {
    lists.concat().iter().map(|v| v.to_bits()).collect()
}

#[test]
fn neither_the_order_of_answers_nor_bytes_change_a_bit() {
    let here = bits(answers(&parts(logistic)));
    for order in [[0, 1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1, 0], [3, 6, 0, 5, 1, 4, 2], [2, 4, 1, 5, 0, 6, 3]] {
        assert_eq!(here, bits(answers(&elsewhere(order))), "{order:?}");
    }
}

#[cfg(feature = "parallel")]
#[test]
fn the_number_of_threads_does_not_change_a_bit_of_shards() {
    let sum = parts(negative_binomial);
    let in_pool = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| bits(answers(&sum)))
    };
    let one = in_pool(1);
    for threads in [2, 4, 2, 4] {
        assert_eq!(one, in_pool(threads));
    }
}

#[test]
fn a_fit_is_the_same_bits_wherever_its_shards_are() {
    let fitted = |target: &dyn Target, family: Family| {
        let posterior = Fit::new(target).family(family).run().unwrap();
        let q = posterior.approximation();
        let numbers = [q.mean().to_vec(), q.covariance(), vec![posterior.diagnostics().map_or(0.0, |d| d.elbo.value)]];
        (bits(numbers.to_vec()), posterior.counts(), posterior.stop_reason())
    };
    for family in [Family::auto(), Family::mog(2)] {
        let here = fitted(&parts(logistic), family);
        assert_eq!(here, fitted(&elsewhere([5, 2, 6, 0, 3, 1, 4]), family), "{}", family.name());
    }
    // And the answer is that of the rows in one piece, up to rounding.
    let means = |target: &dyn Target| Fit::new(target).family(Family::gaussian()).run().unwrap().approximation().mean();
    let (one, many) = (means(&logistic(0, N)), means(&parts(logistic)));
    assert!(one.iter().zip(many.iter()).all(|(a, b)| (a - b).abs() < 1e-6), "{one:?} {many:?}");
}

#[test]
fn a_shard_that_fails_is_named() {
    let request = Request { dim: D, draws: vec![0.1; D], wanted: Wanted::Gradients };
    let answer = || evaluate(&logistic(0, 90), &request).unwrap();
    let mut sums = AddUp::new(3, &request);
    sums.add(1, answer()).unwrap();
    assert!(matches!(sums.add(1, answer()), Err(ShardError::Unexpected { shard: 1, .. })));
    assert!(matches!(sums.add(3, answer()), Err(ShardError::Unexpected { shard: 3, .. })));
    let short = Sums { grad: vec![0.0; 3], ..answer() };
    let error = sums.add(2, short).unwrap_err();
    let sentence = "shard 2 answered 3 numbers in gradients instead of 4; all shards must be parts of one model";
    assert_eq!(error.to_string(), sentence);
    let mut sums = AddUp::new(3, &request);
    sums.add(0, answer()).unwrap();
    sums.add(2, answer()).unwrap();
    assert_eq!(sums.total(), Err(ShardError::Missing { shard: 1 }));

    struct Broken;
    impl Shards for Broken {
        fn len(&self) -> usize {
            2
        }
        fn ask(&self, _: &Request, _: &mut AddUp) -> Result<(), ShardError> {
            Err(ShardError::Failed { shard: 1, problem: "the file part-1.csv has changed; fit again".into() })
        }
    }
    let broken = SumOfShards::new(Broken, logistic(0, 90).about(), 90);
    let error = elinvar::fit(&broken).unwrap_err();
    assert!(matches!(error, Error::Target { .. }));
    assert!(error.to_string().contains("shard 1: the file part-1.csv has changed; fit again"), "{error}");
}

#[test]
fn parts_of_different_models_and_mini_batches_are_refused() {
    let other = LogisticRegression::new(x(0, 50), vec![1.0; 50], 0.4).unwrap();
    let error = SumOfShards::of_parts(vec![logistic(0, 50), other]).unwrap_err().to_string();
    assert_eq!(error, "shard 1: its prior is not that of shard 0; all shards must be parts of one model");
    assert!(SumOfShards::<InProcess<LogisticRegression>>::of_parts(Vec::new()).is_err());
    let (sum, mut answer) = (parts(logistic), Answer::new(D, 1));
    let ask = Ask { draws: Draws::new(D, &[0.0; D]), rows: Rows::Subset(&[1, 2]), want: Want::Values };
    let error = sum.evaluate(&ask, &mut answer).unwrap_err();
    assert!(!error.recoverable && error.message.contains("mini-batch"), "{error}");
}

#[test]
fn damaged_bytes_are_refused_and_infinities_kept() {
    let wanted = Wanted::GaussianExpectation { covariance: Covariance::Diagonal, entries: vec![1.0; D] };
    let request = Request { dim: D, draws: vec![f64::MIN_POSITIVE; D], wanted };
    let bytes = request.to_bytes();
    assert_eq!(Request::from_bytes(&bytes).unwrap(), request);
    for end in 0..bytes.len() {
        assert!(Request::from_bytes(&bytes[..end]).is_err(), "{end}");
    }
    let short = Request {
        wanted: Wanted::GaussianExpectation { covariance: Covariance::Full, entries: vec![1.0; D] },
        ..request
    };
    assert!(Request::from_bytes(&short.to_bytes()).is_err());
    let sums = Sums { log_p: vec![f64::NEG_INFINITY], grad: vec![-0.0, f64::NAN], ..Sums::default() };
    let again = Sums::from_bytes(&sums.to_bytes()).unwrap();
    assert_eq!(bits(vec![again.log_p, again.grad]), bits(vec![sums.log_p, sums.grad]));
    assert!(Sums::from_bytes(&bytes).is_err());
}
