//! A mixing law of your own: a family that elinvar does not have, fitted, saved and read back.
//!
//! `cargo run --release -p elinvar --example own_law`

use elinvar::conformance;
use elinvar::model::Banana;
use elinvar::prelude::*;
use elinvar::research::law::{Own, OwnLaw, Role};

/// w has the density 4w³ exp(−w⁴) and moves the mean of z: a skewness milder than that of `skew`.
#[derive(Debug)]
struct Weibull4;

impl OwnLaw for Weibull4 {
    fn name(&self) -> &'static str {
        "mean_mixture_weibull_4"
    }

    fn role(&self) -> Role {
        Role::Shift
    }

    fn log_density(&self, w: f64) -> f64 {
        4.0_f64.ln() + 3.0 * w.ln() - w.powi(4)
    }

    fn quantile(&self, p: f64) -> f64 {
        (-(-p).ln_1p()).powf(0.25)
    }
}

pub(crate) fn main() -> elinvar::Result {
    if let Err(broken) = conformance::law(&Weibull4) {
        panic!("{broken}");
    }
    let family = Family::own(Own::register(Weibull4)?);
    let model = Banana::default();
    let posterior = Fit::new(&model).family(family).run()?;
    println!("{posterior}");

    // A file holds the name of the law, which has to be registered before the file is read.
    let path = std::env::temp_dir().join(format!("elinvar-own-law-{}.fit.json", std::process::id()));
    posterior.save(&path)?;
    assert_eq!(Posterior::load(&path)?.family(), family);
    std::fs::remove_file(&path).map_err(|source| Error::Io { path, source })
}
