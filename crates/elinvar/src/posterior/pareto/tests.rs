use super::*;
use crate::random::Purpose;

fn log_ratios(n: usize, kind: u32) -> Vec<f64> {
    (0..n)
        .map(|i| {
            let u = ((i as f64 + 0.5) * 0.6180339887498949).fract();
            match kind {
                0 => -0.6 * (-u).ln_1p() + 0.2 * u * u,
                1 => -1.3 * (-u).ln_1p() - 3.0 * u,
                2 => 2.0 * u - u * u,
                3 if i % 7 == 0 => f64::NEG_INFINITY,
                3 => (40.0 * u).floor() / 8.0,
                _ => 40.0 * u.powi(8),
            }
        })
        .collect()
}

struct Reference {
    n: usize,
    kind: u32,
    k: f64,
    tail: usize,
    ess: f64,
    top: f64,
    first: f64,
    log_mean: f64,
    error: f64,
}

fn close(a: f64, b: f64, what: &str) {
    assert!(a == b || (a - b).abs() < 1e-10 * b.abs().max(1.0), "{what}: {a} instead of {b}");
}

#[test]
fn agrees_with_arviz() {
    // arviz 0.23.4, psislw(x, reff=1, normalize=True), and numpy for the last two.
    let references = [
        Reference {
            n: 25,
            kind: 0,
            k: 0.41502743190461033,
            tail: 5,
            ess: 15.629527666734901,
            top: -1.8850748314493828,
            first: -3.783232796173249,
            log_mean: 0.817928962633028,
            error: 0.1579012467090675,
        },
        Reference {
            n: 100,
            kind: 0,
            k: 0.5425282410405495,
            tail: 20,
            ess: 38.40015590818022,
            top: -2.2419068774752953,
            first: -5.325326103795382,
            log_mean: 0.987857099111515,
            error: 0.1421624785255537,
        },
        Reference {
            n: 1000,
            kind: 0,
            k: 0.6266456637973212,
            tail: 95,
            ess: 201.27457301108882,
            top: -3.079614548235105,
            first: -7.683203052720458,
            log_mean: 1.0392223256424389,
            error: 0.0784916895556042,
        },
        Reference {
            n: 1000,
            kind: 1,
            k: 1.2351305732226654,
            tail: 95,
            ess: 8.335348548709085,
            top: -1.1126367419347585,
            first: -8.184255718029732,
            log_mean: 1.4888425255867288,
            error: 0.6191830395416491,
        },
        Reference {
            n: 400,
            kind: 2,
            k: -1.417660192202989,
            tail: 60,
            ess: 372.8819500555906,
            top: -5.698944916064823,
            first: -6.17639782510909,
            log_mean: 0.7074067898704882,
            error: 0.013497204597521711,
        },
        Reference {
            n: 500,
            kind: 3,
            k: -1.1107842618262054,
            tail: 63,
            ess: 162.91883091586024,
            top: -4.5333569058874135,
            first: f64::NEG_INFINITY,
            log_mean: 3.1599970334207583,
            error: 0.06289076223146091,
        },
        Reference {
            n: 300,
            kind: 4,
            k: 7.891191961081359,
            tail: 52,
            ess: 2.085487699298484,
            top: -0.7144730973933019,
            first: -40.02958485827077,
            log_mean: 34.22101404071998,
            error: 0.6314903738412503,
        },
    ];
    for r in references {
        let x = log_ratios(r.n, r.kind);
        let smoothed = pareto_smooth(&x).unwrap();
        close(smoothed.pareto_k.unwrap(), r.k, "k");
        assert_eq!(smoothed.tail_len, r.tail);
        close(smoothed.effective_sample_size, r.ess, "effective sample size");
        close(smoothed.log_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max), r.top, "largest log weight");
        close(smoothed.log_weights[0], r.first, "first log weight");
        close(smoothed.log_weights.iter().map(|w| w.exp()).sum(), 1.0, "sum of weights");
        let z = log_mean_exp(&x).unwrap();
        close(z.value, r.log_mean, "log mean");
        close(z.standard_error, r.error, "standard error");
    }
}

#[test]
fn a_constant_in_the_ratios_does_not_matter() {
    // On a lattice adding an integer is exact, so the results are the same bit by bit.
    let x: Vec<f64> = log_ratios(700, 0).iter().map(|x| (x * 1e6).round() / f64::from(1 << 20)).collect();
    let shifted: Vec<f64> = x.iter().map(|x| x - 12_345.0).collect();
    assert_eq!(pareto_smooth(&x).unwrap(), pareto_smooth(&shifted).unwrap());
    let (a, b) = (log_mean_exp(&x).unwrap(), log_mean_exp(&shifted).unwrap());
    assert_eq!(a.standard_error, b.standard_error);
    close(a.value, b.value + 12_345.0, "log mean");
}

#[test]
fn recovers_the_shape_of_pareto_ratios() {
    const N: usize = 200_000;
    for (step, k) in [0.1, 0.5, 0.9].into_iter().enumerate() {
        let mut stream = Stream::open(31, Purpose::Diagnostics, step as u64, 0);
        let x: Vec<f64> = (0..N).map(|_| ((-k * stream.uniform().ln()).exp_m1() / k).ln()).collect();
        let smoothed = pareto_smooth(&x).unwrap();
        // The maximum-likelihood estimate from m excesses has standard deviation (1 + k)/√m; |z| < 4.5, false alarm
        // 7e-6.
        let m = smoothed.tail_len as f64;
        let z = (smoothed.pareto_k.unwrap() - (m * k + 5.0) / (m + 10.0)) * m.sqrt() / (1.0 + k);
        assert!(z.abs() < 4.5, "k = {k}: estimate {:?}, z = {z}", smoothed.pareto_k);
        // Excesses over u have the scale 1 + k u, estimated with standard deviation √(2(1 + k)/m) of it; |z| < 4.5.
        let tail = smoothed.tail.unwrap();
        let largest = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        assert_eq!(x.iter().filter(|x| **x - largest > tail.log_cutoff).count(), tail.len);
        let scale = 1.0 + k * (tail.log_cutoff + largest).exp();
        let z = (tail.scale * largest.exp() / scale - 1.0) * (m / (2.0 * (1.0 + k))).sqrt();
        assert!(z.abs() < 4.5, "k = {k}: scale {scale}, z = {z}");
    }
}

#[test]
fn degenerate_ratios() {
    let equal = pareto_smooth(&[3.0; 100]).unwrap();
    assert_eq!((equal.pareto_k, equal.tail_len), (Some(0.0), 0));
    close(equal.effective_sample_size, 100.0, "effective sample size");
    let rounding: Vec<f64> = (0..100).map(|i| -1e4 + 1e-12 * f64::from(i % 11)).collect();
    assert_eq!(pareto_smooth(&rounding).unwrap().pareto_k, Some(0.0));
    // One part in 10⁶ of spread is a tail like any other.
    let narrow: Vec<f64> = log_ratios(1000, 0).iter().map(|x| 1e-6 * x).collect();
    assert!(pareto_smooth(&narrow).unwrap().pareto_k.unwrap() < 0.5);

    let few = pareto_smooth(&log_ratios(24, 0)).unwrap();
    assert_eq!((few.pareto_k, few.tail_len), (None, 0));
    let tied: Vec<f64> = (0..100).map(|i| f64::from(i % 2)).collect();
    assert_eq!(pareto_smooth(&tied).unwrap().pareto_k, None);
    let dominated: Vec<f64> = (0..100).map(|i| 1000.0 * f64::from(i)).collect();
    let dominated = pareto_smooth(&dominated).unwrap();
    assert_eq!(dominated.pareto_k, Some(f64::INFINITY));
    close(dominated.effective_sample_size, 1.0, "effective sample size");

    for bad in [vec![], vec![0.0, f64::NAN], vec![f64::INFINITY, 0.0], vec![f64::NEG_INFINITY; 30]] {
        assert!(pareto_smooth(&bad).is_err() && log_mean_exp(&bad).is_err(), "{bad:?}");
    }
    assert_eq!(log_mean_exp(&[2.0]).unwrap(), LogMeanExp { value: 2.0, standard_error: f64::INFINITY });
    close(pareto_k_threshold(100), 0.5, "threshold");
    close(pareto_k_threshold(4000), 0.7, "threshold");
}

#[test]
fn the_standard_error_of_log_z_covers() {
    // ratios exp(σε − σ²/2), log Z = 0: the z-scores of 2000 estimates have mean square 1 up to the skewness of the
    // ratio.
    const N: usize = 2000;
    let sigma = 0.3;
    let mut sum = 0.0;
    for step in 0..2000 {
        let mut stream = Stream::open(32, Purpose::Diagnostics, step, 0);
        let x: Vec<f64> = (0..N).map(|_| sigma * stream.normal() - 0.5 * sigma * sigma).collect();
        let estimate = log_mean_exp(&x).unwrap();
        sum += (estimate.value / estimate.standard_error).powi(2);
    }
    // χ² with 2000 degrees of freedom: standard deviation of the mean square 0.032, |z| < 4.5.
    assert!((sum / 2000.0 - 1.0).abs() < 4.5 * 0.0317, "mean square {}", sum / 2000.0);
}

#[test]
fn resampling_follows_the_weights() {
    let weights = [0.1, 0.0, 0.45, 0.3, 0.15];
    let log_weights = weights.map(f64::ln);
    const N: usize = 7;
    const REPEATS: u64 = 20_000;
    let mut counts = [0.0; 5];
    let mut pairs = [[0.0; 5]; 5];
    for step in 0..REPEATS {
        let mut stream = Stream::open(33, Purpose::Sample, step, 0);
        let chosen = resample(&log_weights, N, &mut stream);
        assert_eq!(chosen.len(), N);
        for (i, w) in weights.iter().enumerate() {
            let times = chosen.iter().filter(|&&c| c == i).count() as f64;
            assert!((times - N as f64 * w).abs() < 1.0);
            counts[i] += times;
        }
        let distinct = resample_distinct(&log_weights, 2, &mut stream);
        pairs[distinct[0]][distinct[1]] += 1.0;
    }
    let n = REPEATS as f64;
    for i in 0..5 {
        // A count varies by at most ½ around its mean in each repeat; |z| < 4.5, false alarm 7e-6 for each.
        assert!((counts[i] / n - N as f64 * weights[i]).abs() < 4.5 * 0.5 / n.sqrt());
        for j in 0..5 {
            let p = if i == j { 0.0 } else { weights[i] * weights[j] / (1.0 - weights[i]) };
            assert!((pairs[i][j] - n * p).abs() <= 4.5 * (n * p * (1.0 - p)).sqrt(), "{i}, {j}: {}", pairs[i][j]);
        }
    }
    let stream = &mut Stream::open(33, Purpose::Sample, 0, 1);
    assert_eq!(resample_distinct(&log_weights, 10, stream).len(), 4);
    assert!(resample(&[f64::NEG_INFINITY; 3], 2, stream).is_empty());
    assert_eq!(resample(&[-1000.0, 0.0, f64::NEG_INFINITY], 3, stream), [1, 1, 1]);
}
