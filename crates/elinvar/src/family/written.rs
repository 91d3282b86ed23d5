//! How families and their members are written in files: `mog` has a number of components or the word `auto`, a mixture
//! of exponential families names its component by a word or, with a constant, by a table.

use serde::{Deserialize, Serialize};

use super::layout::size;
use super::{Approximation, Blocks, Family, Kind, Layout, MatrixUpdate};
use crate::Error;
use crate::block::{Location, LogWeights, Natural, OwnParameters, Scale, Tensor};
use crate::component::ComponentKind;
use crate::law::{Law, Own};
use crate::target::{Covariance, Shape};

/// [`Kind`] as files have it.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum WrittenKind {
    Gaussian,
    StudentT {
        a: f64,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        learn: bool,
    },
    Skew,
    Emg,
    Nig {
        lambda: f64,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        learn: bool,
    },
    Snig {
        lambda: f64,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        learn: bool,
    },
    ScaleMixture {
        law: Law,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        product: bool,
    },
    Own {
        law: String,
    },
    OwnFamily {
        family: String,
    },
    RankK {
        rank: usize,
    },
    SkewK {
        directions: usize,
    },
    EmgK {
        directions: usize,
    },
    Mog {
        components: Components,
    },
    EfMixture {
        component: Component,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        other: Option<Component>,
        #[serde(default = "one")]
        components: usize,
    },
    BirnbaumSaunders {
        #[serde(default = "one")]
        components: usize,
    },
    Matrix {
        layout: Layout,
        #[serde(default)]
        update: MatrixUpdate,
    },
    Auto,
}

fn one() -> usize {
    1
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Component {
    Word(String),
    WithConstant { name: String, constant: Option<f64> },
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Components {
    Number(usize),
    Word(Auto),
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Auto {
    Auto,
}

impl Component {
    fn read(self) -> Result<ComponentKind, Error> {
        match self {
            Self::Word(name) => ComponentKind::new(&name, None),
            Self::WithConstant { name, constant } => ComponentKind::new(&name, constant),
        }
    }

    fn write(kind: ComponentKind) -> Self {
        let word = kind.name();
        if ComponentKind::new(word, None).is_ok_and(|usual| usual == kind) {
            return Self::Word(word.into());
        }
        Self::WithConstant { name: word.into(), constant: kind.constant() }
    }
}

impl TryFrom<WrittenKind> for Kind {
    type Error = Error;

    fn try_from(written: WrittenKind) -> Result<Self, Error> {
        Ok(match written {
            WrittenKind::Auto => Kind::Auto,
            WrittenKind::Gaussian => Kind::Gaussian,
            WrittenKind::StudentT { a, learn } => Kind::StudentT { a, learn },
            WrittenKind::Skew => Kind::Skew,
            WrittenKind::Emg => Kind::Emg,
            WrittenKind::Nig { lambda, learn } => Kind::Nig { lambda, learn },
            WrittenKind::Snig { lambda, learn } => Kind::Snig { lambda, learn },
            WrittenKind::ScaleMixture { law, product } => Kind::ScaleMixture { law, product },
            WrittenKind::Own { law } => Kind::Own { law: Own::named(&law)? },
            WrittenKind::OwnFamily { family } => Kind::OwnFamily { family: super::Own::named(&family)? },
            WrittenKind::RankK { rank } => Kind::RankK { rank },
            WrittenKind::SkewK { directions } => Kind::SkewK { directions },
            WrittenKind::EmgK { directions } => Kind::EmgK { directions },
            WrittenKind::Matrix { layout, update } => Kind::Matrix { layout, update },
            WrittenKind::Mog { components: Components::Number(components) } => Kind::Mog { components },
            WrittenKind::Mog { components: Components::Word(Auto::Auto) } => Kind::MogAuto,
            WrittenKind::EfMixture { component, other, components } => {
                let other = other.map(Component::read).transpose()?;
                Kind::EfMixture { component: component.read()?, other, components }
            }
            WrittenKind::BirnbaumSaunders { components } => {
                let component = ComponentKind::new("birnbaum_saunders", None)?;
                Kind::EfMixture { component, other: None, components }
            }
        })
    }
}

impl From<Kind> for WrittenKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Auto => WrittenKind::Auto,
            Kind::Gaussian => WrittenKind::Gaussian,
            Kind::StudentT { a, learn } => WrittenKind::StudentT { a, learn },
            Kind::Skew => WrittenKind::Skew,
            Kind::Emg => WrittenKind::Emg,
            Kind::Nig { lambda, learn } => WrittenKind::Nig { lambda, learn },
            Kind::Snig { lambda, learn } => WrittenKind::Snig { lambda, learn },
            Kind::ScaleMixture { law, product } => WrittenKind::ScaleMixture { law, product },
            Kind::Own { law } => WrittenKind::Own { law: law.name().into() },
            Kind::OwnFamily { family } => WrittenKind::OwnFamily { family: family.name().into() },
            Kind::RankK { rank } => WrittenKind::RankK { rank },
            Kind::SkewK { directions } => WrittenKind::SkewK { directions },
            Kind::EmgK { directions } => WrittenKind::EmgK { directions },
            Kind::Matrix { layout, update } => WrittenKind::Matrix { layout, update },
            Kind::Mog { components } => WrittenKind::Mog { components: Components::Number(components) },
            Kind::EfMixture { component, other, components } => match (Component::write(component), other) {
                (Component::Word(word), None) if word == "birnbaum_saunders" => {
                    WrittenKind::BirnbaumSaunders { components }
                }
                (component, other) => {
                    WrittenKind::EfMixture { component, other: other.map(Component::write), components }
                }
            },
            Kind::MogAuto => WrittenKind::Mog { components: Components::Word(Auto::Auto) },
        }
    }
}

/// [`Approximation`] as files have it.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Written {
    family: Family,
    dim: usize,
    blocks: Vec<WrittenBlock>,
    /// log π, normalised; a single 0 for a family with one component.
    log_weights: Vec<f64>,
}

/// B and P of one block; for `matrix`, W and the precision factors of one group, one after the other; for a family
/// without them, its own parameters.
#[derive(Clone, Serialize, Deserialize)]
struct WrittenBlock {
    /// The columns of B one after the other: μ, then α or the columns of A. For an exponential-family component its
    /// usual parameters, coordinate after coordinate.
    b: Vec<f64>,
    /// The precision: d² numbers when full, d when diagonal, none where there is no matrix.
    precision: Vec<f64>,
}

impl From<Approximation> for Written {
    fn from(q: Approximation) -> Self {
        let blocks = q.parts().into_iter().map(|(b, precision)| WrittenBlock { b, precision }).collect();
        Self { family: q.family, dim: q.dim(), blocks, log_weights: q.weights.log().to_vec() }
    }
}

fn of_location(block: &Location) -> (Vec<f64>, Vec<f64>) {
    (block.b().to_vec(), block.scale().precision().to_vec())
}

fn of_natural(block: &Natural) -> (Vec<f64>, Vec<f64>) {
    let parameters =
        block.coordinates().iter().flat_map(|member| member.parameters().into_iter().take(member.n_free()));
    (parameters.collect(), Vec::new())
}

fn of_tensor(block: &Tensor) -> (Vec<f64>, Vec<f64>) {
    let precision = block.factors().iter().flat_map(|factor| factor.precision().iter().copied()).collect();
    (block.w().to_vec(), precision)
}

impl TryFrom<Written> for Approximation {
    type Error = Error;

    fn try_from(written: Written) -> Result<Self, Error> {
        let Written { family, dim, blocks, log_weights } = written;
        let blocks = blocks.into_iter().map(|block| (block.b, block.precision)).collect();
        Self::from_parts(family, dim, blocks, log_weights)
    }
}

impl Approximation {
    /// The numbers of each block, as [`Approximation::from_parts`] takes them.
    pub fn parts(&self) -> Vec<(Vec<f64>, Vec<f64>)> {
        match &self.blocks {
            Blocks::Location(blocks) => blocks.iter().map(of_location).collect(),
            Blocks::Natural(blocks) => blocks.iter().map(of_natural).collect(),
            Blocks::Tensor(blocks) => blocks.iter().map(of_tensor).collect(),
            Blocks::Own(block) => vec![(block.values().to_vec(), Vec::new())],
        }
    }

    /// The member with these numbers, as files have them: for each block B and the entries of its precision (those of
    /// all factors for `matrix`; the parameters and nothing for `ef_mixture` and a family of your own), and normalised
    /// log weights.
    ///
    /// # Errors
    /// If a constant, a size or a matrix is not in its domain.
    pub fn from_parts(
        family: Family,
        dim: usize,
        blocks: Vec<(Vec<f64>, Vec<f64>)>,
        log_weights: Vec<f64>,
    ) -> Result<Self, Error> {
        family.check()?;
        match family.kind {
            Kind::Auto => Err(Error::Unsupported {
                wanted: "the family `auto`, as a state".into(),
                instead: "`auto` is a request to a fit; a state belongs to a family".into(),
            }),
            Kind::MogAuto => Err(Error::Unsupported {
                wanted: "a mixture whose number of components is `auto`, as a state".into(),
                instead: "`auto` is a request to a fit; a state has so many components".into(),
            }),
            Kind::Mog { components } => {
                check_count("components", components, blocks.len())?;
                let weights = LogWeights::restore(log_weights)?;
                let shape = Shape::new(family.covariance, dim);
                Self::mixture(weights, locations(shape, 1, blocks)?)
            }
            Kind::EfMixture { components, .. } => {
                check_count("components", components, blocks.len())?;
                let members = members(family, dim, &blocks)?;
                Self::ef_mixture(LogWeights::restore(log_weights)?, members)
            }
            Kind::Matrix { layout, update } => {
                check_count("coordinates of the layout of `matrix`", dim, layout.total())?;
                check_count("blocks of the state", layout.groups().count(), blocks.len())?;
                check_single_weight(&log_weights)?;
                let group = |(dims, block): (&[u32], (Vec<f64>, Vec<f64>))| tensor(family.covariance, dims, block);
                let groups = layout.groups().zip(blocks).map(group).collect::<Result<_, Error>>()?;
                Self::tensors_of(groups, update)
            }
            Kind::OwnFamily { family: own } => {
                check_dimension(dim)?;
                check_count("blocks of the state", 1, blocks.len())?;
                check_single_weight(&log_weights)?;
                let theta = blocks.into_iter().flat_map(|(theta, _)| theta).collect();
                let block = OwnParameters::new(own, dim, theta)?;
                Ok(Self { family, weights: LogWeights::one(), blocks: Blocks::Own(block) })
            }
            _ => {
                check_count("blocks of the state", 1, blocks.len())?;
                check_single_weight(&log_weights)?;
                let shape = Shape::new(family.covariance, dim);
                let mut blocks = locations(shape, family.n_columns(), blocks)?;
                Self::single(family, blocks.remove(0))
            }
        }
    }
}

fn check_count(what: &'static str, expected: usize, found: usize) -> Result<(), Error> {
    if expected == found { Ok(()) } else { Err(Error::Shape { what, expected, found }) }
}

fn check_single_weight(log_weights: &[f64]) -> Result<(), Error> {
    if log_weights == [0.0] {
        return Ok(());
    }
    let value = log_weights.iter().map(|log| log.exp()).sum();
    Err(Error::Domain { parameter: "sum of weights", value, reason: "a single component has weight one" })
}

fn check_dimension(dim: usize) -> Result<(), Error> {
    if dim > 0 {
        return Ok(());
    }
    Err(Error::Domain { parameter: "dimension", value: 0.0, reason: "a posterior has a coordinate" })
}

/// The blocks, checked: each with `n_columns` columns, each precision positive definite.
fn locations(shape: Shape, n_columns: usize, blocks: Vec<(Vec<f64>, Vec<f64>)>) -> Result<Vec<Location>, Error> {
    check_dimension(shape.dim())?;
    let block = |(b, precision): (Vec<f64>, Vec<f64>)| {
        // A damaged file may claim any size.
        check_count("entries of B", shape.dim().saturating_mul(n_columns), b.len())?;
        Location::new(b, scale(shape, precision)?)
    };
    blocks.into_iter().map(block).collect()
}

fn scale(shape: Shape, precision: Vec<f64>) -> Result<Scale, Error> {
    let scale = Scale::from_precision(shape, precision)?;
    if let Shape::Full(dim) = shape {
        check_symmetry(dim, scale.precision())?;
    }
    Ok(scale)
}

/// Factors are made from the lower triangle alone; an upper one that says something else is a mistake.
fn check_symmetry(dim: usize, p: &[f64]) -> Result<(), Error> {
    let pairs = (0..dim).flat_map(|i| (0..i).map(move |j| (i, j)));
    let asymmetry =
        |(i, j): (usize, usize)| (p[i * dim + j] - p[j * dim + i]).abs() / (p[i * dim + i] * p[j * dim + j]).sqrt();
    match pairs.map(asymmetry).find(|value| value.is_nan() || *value > 1e-8) {
        None => Ok(()),
        Some(value) => {
            let reason = "the precision matrix is symmetric";
            Err(Error::Domain { parameter: "relative asymmetry", value, reason })
        }
    }
}

/// The members of all components of an exponential family.
fn members(
    family: Family,
    dim: usize,
    blocks: &[(Vec<f64>, Vec<f64>)],
) -> Result<Vec<crate::component::Component>, Error> {
    check_dimension(dim)?;
    let mut members = Vec::new();
    for (kind, (b, precision)) in (0..).map_while(|c| family.component(c)).zip(blocks) {
        let standard = kind.standard();
        let n_free = standard.n_free();
        // A damaged file may claim any size.
        check_count("parameters of a component", dim.saturating_mul(n_free), b.len())?;
        check_count("entries of the precision of an exponential-family component", 0, precision.len())?;
        for values in b.chunks_exact(n_free) {
            let mut parameters = [0.0; 3];
            parameters[..n_free].copy_from_slice(values);
            let reason = "the parameters of a component lie in its domain";
            members.push(standard.with_parameters(parameters).ok_or(Error::Domain {
                parameter: standard.parameter_names()[0],
                value: values[0],
                reason,
            })?);
        }
    }
    Ok(members)
}

/// The tensor with these lengths of modes.
fn tensor(covariance: Covariance, dims: &[u32], block: (Vec<f64>, Vec<f64>)) -> Result<Tensor, Error> {
    let (w, precision) = block;
    check_count("entries of W", size(dims), w.len())?;
    let shapes = || dims.iter().map(|d| Shape::new(covariance, *d as usize));
    // Lengths of a file may be anything: nothing is read before the count is right.
    let expected = shapes().map(Shape::n_entries).fold(0usize, usize::saturating_add);
    check_count("entries of the precision factors", expected, precision.len())?;
    let mut rest = &precision[..];
    let mut factors = Vec::new();
    for shape in shapes() {
        let (own, others) = rest.split_at(shape.n_entries());
        factors.push(scale(shape, own.to_vec())?);
        rest = others;
    }
    Tensor::new(w, factors)
}

#[cfg(test)]
mod tests {
    use crate::Family;
    use crate::component::ComponentKind;
    use crate::law::{Logistic, VarianceGamma};

    fn component(name: &str) -> ComponentKind {
        ComponentKind::new(name, None).unwrap()
    }

    #[test]
    fn the_number_of_components_is_a_number_or_auto() {
        for (family, text) in [
            (Family::mog(3), r#"{"mog":{"components":3},"covariance":"full"}"#),
            (Family::mog_auto(), r#"{"mog":{"components":"auto"},"covariance":"full"}"#),
            (Family::gaussian(), r#"{"gaussian":null,"covariance":"full"}"#),
            (
                Family::scale_mixture(VarianceGamma::new(2.5).unwrap()),
                r#"{"scale_mixture":{"law":{"name":"variance_gamma","k":2.5}},"covariance":"full"}"#,
            ),
            (
                Family::scale_mixture(Logistic).product(),
                r#"{"scale_mixture":{"law":{"name":"logistic"},"product":true},"covariance":"diagonal"}"#,
            ),
            (Family::skew_k(2), r#"{"skew_k":{"directions":2},"covariance":"full"}"#),
            (Family::emg_k(3).diagonal(), r#"{"emg_k":{"directions":3},"covariance":"diagonal"}"#),
            (
                Family::ef_mixture_of_two(component("gamma"), component("log_normal"), 4),
                r#"{"ef_mixture":{"component":"gamma","other":"log_normal","components":4},"covariance":"diagonal"}"#,
            ),
            (Family::student_t(3.0), r#"{"student_t":{"a":3.0},"covariance":"full"}"#),
            (Family::student_t_learned(), r#"{"student_t":{"a":2.5,"learn":true},"covariance":"full"}"#),
            (Family::nig(3.0), r#"{"nig":{"lambda":3.0},"covariance":"full"}"#),
            (Family::nig_learned(), r#"{"nig":{"lambda":2.0,"learn":true},"covariance":"full"}"#),
            (Family::snig_learned().diagonal(), r#"{"snig":{"lambda":2.0,"learn":true},"covariance":"diagonal"}"#),
        ] {
            assert_eq!(serde_json::to_string(&family).unwrap(), text);
            assert_eq!(serde_json::from_str::<Family>(text).unwrap(), family);
        }
        assert!(serde_json::from_str::<Family>(r#"{"mog":{"components":"many"},"covariance":"full"}"#).is_err());
    }
}
