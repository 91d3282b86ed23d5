//! Figures as SVG and, with the feature `png`, as pixels: for papers and for the report of a fit, in one style.
//!
//! A [`Figure`] is made of [`Panel`]s, a panel of two [`Axis`] and layers: [`Line`]s with bands, [`Points`] with bars,
//! [`Area`]s of densities and histograms, [`Contours`] of functions and draws, [`Bars`], [`Rule`]s and [`Note`]s. Names
//! stand at the ends of lines ([`Line::label`]) or in a key above the figure ([`Line::key`]). Colours are told apart by
//! people with any common kind of colour blindness; in a page they follow its light or dark scheme ([`style`]).
//!
//! ```
//! use elinvar_figure::{Area, Axis, Colour, Contours, Dash, Figure, Line, Panel, Points, Rule};
//!
//! let steps = || (1..=50).map(f64::from);
//! let elbo = |rate: f64| steps().map(move |i| (10.0 * i, -34.0 - 20.0 * (-rate * i).exp(), 0.3));
//! let draws: Vec<f64> = (0..400).map(|i| (f64::from(i) * 0.618).sin()).collect();
//! let figure = Figure::new("Natural and ordinary gradients")
//!     .columns(2)
//!     .panel(
//!         Panel::new("Logistic regression")
//!             .x(Axis::log("evaluations"))
//!             .y(Axis::linear("ELBO, nats"))
//!             .add(Line::with_error(elbo(0.3)).label("natural"))
//!             .add(Line::with_error(elbo(0.1)).label("ordinary").dash(Dash::Dashed))
//!             .add(Rule::horizontal(-33.5, "log normaliser")),
//!     )
//!     .panel(
//!         Panel::new("A marginal")
//!             .x(Axis::linear("w₁"))
//!             .y(Axis::linear("density"))
//!             .add(Area::density(&draws, &[]).colour(Colour::Blue).key("q"))
//!             .add(Line::of_function((-2.0, 2.0), |x| (-x * x).exp()).colour(Colour::Vermilion).key("posterior")),
//!     )
//!     .panel(
//!         Panel::new("A pair")
//!             .x(Axis::linear("w₁"))
//!             .y(Axis::linear("w₂"))
//!             .add(Contours::of_density((-3.0, 3.0), (-3.0, 3.0), [0.5, 0.9], |x, y| (-x * x - y * y).exp()).filled())
//!             .add(Points::new([(0.0, 0.0), (1.0, -0.5)])),
//!     );
//! let svg = figure.svg();
//! assert!(svg.starts_with("<svg") && svg.contains("log normaliser"));
//! ```
//!
//! What is too special for layers is drawn by hand: [`frame::Frame`] has the axes, [`svg::Marks`] takes the marks, and
//! a [`svg::Drawing`] of them is written alone or into a page.

#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod escape;
pub mod estimate;
pub mod frame;
pub mod number;
#[cfg(feature = "png")]
pub mod overlap;
mod palette;
mod plot;
#[cfg(feature = "png")]
pub mod png;
pub mod scale;
pub mod series;
pub mod style;
pub mod svg;
pub mod ticks;

pub use palette::Colour;
pub use plot::{Area, Axis, Bars, Contours, Dash, Figure, Layer, Line, Marker, Note, Panel, Points, Rule, Width};
pub use svg::{Anchor, Drawing};
