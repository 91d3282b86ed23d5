//! The log evidence by a bridge between draws of the approximation and states of chains.

use crate::record::Estimate;

/// Iterations, which settle geometrically.
const MOST_ITERATIONS: usize = 1_000;
/// Nats by which the last of them may move.
const SETTLED: f64 = 1e-10;

/// log ∫ p from log p − log q at draws of q and at states of chains on p, of which the latter are worth `effective`
/// independent ones.
///
/// With l = p/q and shares s of both kinds of draws, Z = E_q[l/(s₁l + s₂Z)] / E_p[1/(s₁l + s₂Z)], which is solved by
/// iteration. Both averages are of bounded functions, so that no single draw decides, and what q and p have in common
/// is enough: importance weights need q to cover p. The estimator of X.-L. Meng and W. H. Wong, Simulating ratios of
/// normalizing constants via a simple identity: a theoretical exploration, Statistica Sinica 6 (1996); the error is
/// that of the two averages by the delta method.
pub(super) fn log_evidence(of_q: &[f64], of_p: &[f64], effective: f64) -> Option<Estimate> {
    let finite = |ratios: &[f64]| ratios.iter().copied().filter(|r| r.is_finite()).collect::<Vec<f64>>();
    let (n_q, of_q, of_p) = (of_q.len() as f64, finite(of_q), finite(of_p));
    if of_q.len() < 2 || of_p.len() < 2 {
        return None;
    }
    let worth = effective.clamp(1.0, of_p.len() as f64);
    let (p_share, q_share) = (worth / (worth + n_q), n_q / (worth + n_q));
    let mut sorted = of_p.clone();
    sorted.sort_by(f64::total_cmp);
    // Ratios are taken relative to a middle one.
    let middle = sorted[sorted.len() / 2];
    // l/(s₁l + s₂z) and 1/(s₁l + s₂z), without overflow.
    let upper = |r: f64, log_z: f64| 1.0 / (p_share + q_share * (log_z - (r - middle)).exp());
    let lower = |r: f64, log_z: f64| 1.0 / (p_share * (r - middle).exp() + q_share * log_z.exp());
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (mut log_z, mut is_settled) = (0.0, false);
    for _ in 0..MOST_ITERATIONS {
        // A draw of q outside the domain counts with l = 0.
        let above = of_q.iter().map(|r| upper(*r, log_z)).sum::<f64>() / n_q;
        let below = mean(&of_p.iter().map(|r| lower(*r, log_z)).collect::<Vec<f64>>());
        let next = (above / below).ln();
        if !next.is_finite() {
            return None;
        }
        let moved = (next - log_z).abs();
        log_z = next;
        is_settled = moved < SETTLED;
        if is_settled {
            break;
        }
    }
    // Where q and p have nothing in common each step moves a little, from wherever it began.
    if !is_settled {
        return None;
    }
    let relative = |values: &[f64], n: f64| {
        let mean = values.iter().sum::<f64>() / n;
        let square = values.iter().map(|v| v * v).sum::<f64>() / n;
        (square / (mean * mean) - 1.0).max(0.0)
    };
    let above: Vec<f64> = of_q.iter().map(|r| upper(*r, log_z)).collect();
    let below: Vec<f64> = of_p.iter().map(|r| lower(*r, log_z)).collect();
    let variance = relative(&above, n_q) / n_q + relative(&below, of_p.len() as f64) / worth;
    Some(Estimate::new(middle + log_z, variance.sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};

    /// p = N(0, I) and q = N(3, I) in 100 dimensions, 30 standard deviations apart: there is no bridge.
    #[test]
    fn what_has_nothing_in_common_has_no_evidence() {
        let mut stream = Stream::open(6, Purpose::Sample, 0, 0);
        // With t the coordinate along the line between the centres: log p − log q = 450 − 30 t.
        let mut ratios =
            |centre: f64| -> Vec<f64> { (0..1_000).map(|_| 450.0 - 30.0 * (centre + stream.normal())).collect() };
        let (of_q, of_p) = (ratios(30.0), ratios(0.0));
        assert_eq!(log_evidence(&of_q, &of_p, 1_000.0), None);
        let (of_q, of_p): (Vec<f64>, Vec<f64>) =
            (of_q.iter().map(|r| r / 30.0 + 14.5).collect(), of_p.iter().map(|r| r / 30.0 - 14.5).collect());
        assert!(log_evidence(&of_q, &of_p, 1_000.0).is_some());
    }

    /// p = e⁵ N(0, I) and q = N(0, 1.1² I) in 100 dimensions: importance weights keep few draws, the bridge holds.
    #[test]
    fn a_wider_gaussian_in_many_dimensions_has_the_evidence_of_the_narrow_one() {
        const D: usize = 100;
        let mut stream = Stream::open(5, Purpose::Sample, 0, 0);
        let mut normal = vec![0.0; D];
        let mut ratios = |width: f64, n: usize| -> Vec<f64> {
            (0..n)
                .map(|_| {
                    stream.fill_normal(&mut normal);
                    let square: f64 = normal.iter().map(|x| (width * x).powi(2)).sum();
                    5.0 - 0.5 * square + 0.5 * square / 1.21 + D as f64 * 1.1_f64.ln()
                })
                .collect()
        };
        let (of_q, of_p) = (ratios(1.1, 1_000), ratios(1.0, 1_000));
        let found = log_evidence(&of_q, &of_p, 1_000.0).unwrap();
        // False alarms: 7e-6.
        assert!((found.value - 5.0).abs() < 4.5 * found.mcse && found.mcse < 0.1, "{found:?}");
        // States that are worth less have larger errors.
        assert!(log_evidence(&of_q, &of_p, 50.0).unwrap().mcse > found.mcse);
        // Draws outside the domain have no part in it.
        let mut half = of_q.clone();
        half[..500].fill(f64::NEG_INFINITY);
        let lost = log_evidence(&half, &of_p, 1_000.0).unwrap().value;
        assert!((lost - found.value + std::f64::consts::LN_2).abs() < 0.2, "{lost} {found:?}");
        assert!(log_evidence(&[f64::NAN; 9], &of_p, 9.0).is_none());
    }
}
