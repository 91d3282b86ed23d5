//! Exact gradient and Hessian of a density written once, for any kind of number.
//!
//! `cargo run --release -p elinvar --features dual --example dual_numbers`

use elinvar::prelude::*;
use elinvar::research::target::{Dual, DualDensity, DualNum, PointwiseSecondOrder};

/// Robust location and log scale of five measurements: Student-t with 3 degrees of freedom, one outlier.
struct Robust;

impl DualDensity for Robust {
    fn dim(&self) -> usize {
        2
    }

    fn log_density<D: DualNum<Primitive = f64> + Copy>(&self, z: &[D]) -> D {
        let mut sum = z[0].powi(2) * -0.005 - z[1].powi(2) * 0.5;
        for y in [1.1, 0.8, 1.3, 0.9, 7.0] {
            let scaled = (z[0] - y) / z[1].exp();
            sum -= z[1] + (scaled.powi(2) / 3.0).ln_1p() * 2.0;
        }
        sum
    }
}

pub(crate) fn main() -> elinvar::Result {
    let target = PointwiseSecondOrder(Dual(Robust));
    let mut posterior = elinvar::Fit::new(&target).family(Family::student_t(2.0)).run()?;
    let report = posterior.diagnose(&target, 20_000, 1)?;
    let (mean, cov) = (posterior.approximation().mean(), posterior.approximation().covariance());
    println!("location {:.2} ± {:.2}, log scale {:.2} ± {:.2}", mean[0], cov[0].sqrt(), mean[1], cov[3].sqrt());
    println!("ELBO {:.3} ± {:.3}, k̂ {:.2}", report.elbo.value, report.elbo.mcse, report.pareto_k.unwrap_or(f64::NAN));
    Ok(())
}
