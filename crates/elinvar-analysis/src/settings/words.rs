//! Words that settings are written in.

use std::fmt;

use serde::{Serialize, Serializer};

/// What a network says about its target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Likelihood {
    /// A normal distribution with learned σ.
    #[default]
    Gaussian,
    /// Two classes.
    Binary,
    /// Classes 0, 1, 2, …
    Multiclass,
}

impl Likelihood {
    pub(super) const ALL: [Likelihood; 3] = [Likelihood::Gaussian, Likelihood::Binary, Likelihood::Multiclass];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Likelihood::Gaussian => "gaussian",
            Likelihood::Binary => "binary",
            Likelihood::Multiclass => "multiclass",
        }
    }
}

/// How many Gaussians a mixture has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Components {
    /// As many as the fit finds.
    Auto,
    /// So many.
    Number(usize),
}

/// The constant of a mixing law: half the degrees of freedom of a Student-t, λ of nig and snig.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// As the fit finds it.
    Learn,
    /// This number.
    Number(f64),
}

/// Groups of parameters, each with the lengths of its modes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dims(
    /// Lengths, by group.
    pub Vec<Vec<usize>>,
);

impl fmt::Display for Dims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let group = |lengths: &Vec<usize>| lengths.iter().map(usize::to_string).collect::<Vec<_>>().join("x");
        f.write_str(&self.0.iter().map(group).collect::<Vec<_>>().join(","))
    }
}

impl Serialize for Likelihood {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Serialize for Components {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Components::Auto => serializer.serialize_str("auto"),
            Components::Number(n) => n.serialize(serializer),
        }
    }
}

impl Serialize for Shape {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Shape::Learn => serializer.serialize_str("learn"),
            Shape::Number(a) => a.serialize(serializer),
        }
    }
}

impl Serialize for Dims {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
