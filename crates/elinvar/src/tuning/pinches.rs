//! Coordinates of laws that are Gaussian given a scale.

/// Dimensions up to which a scale is looked for. Not tuned.
pub(crate) const MOST_DIMENSIONS: usize = 60;
/// States that a fit rests on at most: so many for each coordinate, and so many more. Not tuned.
pub(crate) const STATES_EACH: usize = 6;
pub(crate) const STATES: usize = 120;
/// States more than coefficients that a fit asks for. Not tuned.
pub(crate) const SPARE: usize = 4;
/// Coordinates that are tried as drivers, those with which curvature changes most. Not tuned.
pub(crate) const TRIED: usize = 4;
/// Sizes of κ that are tried first, in standard deviations of the driver, and by how much each may be off. Not tuned.
pub(crate) const KAPPAS: [f64; 6] = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2];
pub(crate) const BRACKET: f64 = 1.7;
/// Golden sections: the bracket shrinks to a share of 10⁻⁸. Not tuned.
pub(crate) const SECTIONS: usize = 40;
/// What may be left of gradients after the coarse search. Not tuned.
pub(crate) const NEAR: f64 = 0.3;
/// What is left of gradients by a precision that does not depend on the driver, for the driver to be a scale at all.
/// A product of a law with a long tail and nine normals has none; in coordinates that followed that law, the error of
/// its standard deviation was told as 5.5 % where 19 % were wrong, and the answer was trusted. Not tuned.
pub(crate) const INDEPENDENT: f64 = 1e-3;
/// Times as much that may be left with fewer terms, and what is rounding. Not tuned.
pub(crate) const ENOUGH: f64 = 2.0;
pub(crate) const ROUNDING: f64 = 1e-9;
/// Ridge of the regression, per diagonal entry. Not tuned.
pub(crate) const RIDGE: f64 = 1e-12;
/// Share of the largest eigenvalue of a term below which an eigenvalue is rounding. Not tuned.
pub(crate) const NOTHING: f64 = 1e-6;
/// States that an answer in such coordinates rests on at least. Their means and standard deviations are known from a
/// few hundred; the mean of τ = e^z, computed from 512 states of eight schools, was off by up to 0.09 standard
/// deviations and its standard deviation by up to 19 % (seven seeds).
pub(crate) const STATES_OF_AN_ANSWER: f64 = 2_048.0;
/// Standard errors of a mean over independent states that are to be within what means are asked for. Not tuned.
pub(crate) const ERRORS_WITHIN: f64 = 2.5;
/// Nats of e^{κt} beyond the states as far as which the map is that of the fit, and places at which that is tried. Not
/// tuned.
pub(crate) const BEYOND: f64 = 16.0;
pub(crate) const ENDS: usize = 16;
/// Share of a diagonal entry that a pivot of a precision has at least. Not tuned.
pub(crate) const PIVOT: f64 = 1e-10;
/// How far the gradients of the other components may be from those of N(0, I) at states and along the law of the scale,
/// for the coordinates to be taken and for an answer in them to be believed. Measured: 10⁻⁸ and less where the law is
/// Gaussian given the scale. With 0.05, as for bends, three terms passed for a parabola, and of six bananas one was
/// answered wrongly and trusted.
pub(crate) const EXACT: f64 = 1e-3;
pub(crate) const ROUGH: f64 = 0.01;
/// Places on the line along a scale at which its law is asked for, and how often at most, closer together each time;
/// nats by which a density must fall at both
/// ends, and by which it has fallen where there is nothing left; the share of its mass that no state may have been near
/// to; and how far the gradients of the other components may be from those of N(0, I) there. Not tuned.
pub(crate) const PLACES: usize = 65;
pub(crate) const CLOSER: usize = 4;
pub(crate) const FALL: f64 = 8.0;
pub(crate) const NOTHING_LEFT: f64 = 30.0;
pub(crate) const MATTERS: f64 = 12.0;
pub(crate) const UNSEEN: f64 = 0.01;
