//! The report of a fit: one self-contained HTML page, and its figures as SVG and PNG.
//!
//! [`Content`] is plain data; [`html`] makes the page of it, [`figure()`] one figure as SVG, and `png` (with the
//! feature of that name) the same as pixels. Nothing is read from anywhere else: no network, no font, no file.
//!
//! ```
//! use elinvar_report::{Content, Parameter, Summary, Verdict, html};
//!
//! let summary = Summary { mean: 1.2, sd: 0.3, q5: 0.7, q95: 1.7 };
//! let content = Content {
//!     title: "Logistic regression on credit.csv".into(),
//!     verdict: Verdict::Trust,
//!     reason: "Converged, and importance weights confirm every mean and sd.".into(),
//!     parameters: vec![Parameter { name: "slope <1>".into(), summary, ..Parameter::default() }],
//!     ..Content::default()
//! };
//! let page = html(&content);
//! assert!(page.starts_with("<!doctype html>") && page.contains("slope &lt;1&gt;"));
//! ```

#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod content;
mod figure;
mod page;
#[cfg(feature = "png")]
mod png;
mod shape;

pub use content::{
    CalibrationBin, Content, Correction, Draws, Estimate, Headline, MarginalLaw, Metric, ModelCheck, Parameter,
    ParetoFit, Residual, Rung, Stage, Statistic, Summary, Tail, Test, TraceRow, Verdict,
};
pub use figure::{FigureName, UnknownFigure, figure};
pub use page::html;
#[cfg(feature = "png")]
pub use png::{PngError, png};
