//! Tests that what you bring (a law, a component, a family) can be put to before it is used: call them in tests of your
//! own.
//!
//! ```
//! use elinvar::conformance;
//! use elinvar::research::law::OwnLaw;
//!
//! /// w has the law of Weibull with the shape 3.
//! #[derive(Debug)]
//! struct Weibull;
//!
//! impl OwnLaw for Weibull {
//!     fn name(&self) -> &'static str {
//!         "weibull_3"
//!     }
//!
//!     fn log_density(&self, w: f64) -> f64 {
//!         3.0_f64.ln() + 2.0 * w.ln() - w.powi(3)
//!     }
//!
//!     fn quantile(&self, p: f64) -> f64 {
//!         (-(-p).ln_1p()).cbrt()
//!     }
//! }
//!
//! conformance::law(&Weibull)?;
//! # Ok::<(), elinvar::Error>(())
//! ```
mod component;
mod family;
mod law;

use std::fmt;

pub use component::component;
pub use family::family;
pub use law::law;

/// A rule that is not kept, and where.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Broken {
    /// The rule.
    pub rule: &'static str,
    /// What was found instead.
    pub found: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.found)
    }
}

impl std::error::Error for Broken {}

impl From<Broken> for crate::Error {
    fn from(Broken { rule, found }: Broken) -> Self {
        Self::Broken { rule, found }
    }
}

/// The first rule that is not kept.
fn broken<T>(rule: &'static str, found: String) -> Result<T, Broken> {
    Err(Broken { rule, found })
}
