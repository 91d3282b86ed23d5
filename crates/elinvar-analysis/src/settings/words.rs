//! Words that settings are written in.

use std::fmt;

use serde::{Serialize, Serializer};

/// A model that can be named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelName {
    Logistic,
    Linear,
    Poisson,
    Network,
    Rate,
    Proportion,
    Direction,
}

impl ModelName {
    pub const ALL: [ModelName; 7] = [
        ModelName::Logistic,
        ModelName::Linear,
        ModelName::Poisson,
        ModelName::Network,
        ModelName::Rate,
        ModelName::Proportion,
        ModelName::Direction,
    ];

    /// The word for it in commands and files.
    pub fn name(self) -> &'static str {
        match self {
            ModelName::Logistic => "logistic",
            ModelName::Linear => "linear",
            ModelName::Poisson => "poisson",
            ModelName::Network => "network",
            ModelName::Rate => "rate",
            ModelName::Proportion => "proportion",
            ModelName::Direction => "direction",
        }
    }

    /// Whether the model has coefficients of columns, one each.
    pub fn is_linear(self) -> bool {
        matches!(self, ModelName::Logistic | ModelName::Linear | ModelName::Poisson)
    }

    /// Whether the model explains a column by others, and is not about a single column.
    pub fn is_regression(self) -> bool {
        self.is_linear() || self == ModelName::Network
    }
}

/// What a network says about its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likelihood {
    /// A normal distribution with learned σ.
    Gaussian,
    /// Two classes.
    Binary,
    /// Classes 0, 1, 2, …
    Multiclass,
}

impl Likelihood {
    pub const ALL: [Likelihood; 3] = [Likelihood::Gaussian, Likelihood::Binary, Likelihood::Multiclass];

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
    Number(usize),
}

/// Half the degrees of freedom of a Student-t.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// As the fit finds them.
    Learn,
    Number(f64),
}

/// Groups of parameters, each with the lengths of its modes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dims(pub Vec<Vec<usize>>);

impl fmt::Display for Dims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let group = |lengths: &Vec<usize>| lengths.iter().map(usize::to_string).collect::<Vec<_>>().join("x");
        f.write_str(&self.0.iter().map(group).collect::<Vec<_>>().join(","))
    }
}

impl Serialize for ModelName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
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
