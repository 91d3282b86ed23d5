//! Members as numbers, block by block: how they are written in files, and the checks when they are read.

use serde::{Deserialize, Serialize};

use super::layout::size;
use super::{Approximation, Blocks, Family, Kind};
use crate::Error;
use crate::block::{Location, LogWeights, Natural, OwnParameters, Scale, Tensor};
use crate::target::{Covariance, Shape};

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
    if !block.concentrations().is_empty() {
        return (block.concentrations().to_vec(), Vec::new());
    }
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
    /// all factors for `matrix`; the parameters and nothing for `ef_mixture`, `dirichlet` and a family of your own),
    /// and normalised log weights.
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
            Kind::Dirichlet { components } => {
                check_count("components", components, blocks.len())?;
                let concentrations = blocks.into_iter().map(|(a, precision)| {
                    check_count("concentrations of a component", dim, a.len())?;
                    check_count("entries of the precision of an exponential-family component", 0, precision.len())?;
                    Ok(a)
                });
                let concentrations = concentrations.collect::<Result<Vec<_>, Error>>()?;
                Self::dirichlet(LogWeights::restore(log_weights)?, concentrations)
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
