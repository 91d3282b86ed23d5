//! From a fitted Gaussian to the first member of another family.

use super::draft::{Draft, Numbers};
use super::factors::nearest;
use super::skewness::{most_skewed, shift};
use crate::Error;
use crate::evaluate::Evaluator;
use crate::family::{Approximation, Family, Kind, by_factors};
use crate::linalg::axpy;
use crate::random::{Purpose, SobolNormals, Stream};
use crate::target::Covariance;
use crate::tuning;

/// The member of `family` with about the mean and covariance of `fitted`: a mixture spreads its components over it, a
/// family with shifts points them along the directions in which the target is most skewed.
pub(in crate::run) fn bend(
    evaluator: &mut Evaluator<'_>,
    fitted: &Approximation,
    family: Family,
    seed: u64,
) -> Result<Approximation, Error> {
    let mut draft = Draft::in_place_of(fitted, family);
    match family.kind {
        Kind::Gaussian | Kind::Auto => draft.family.kind = Kind::Gaussian,
        Kind::RankK { rank } if is_wider(fitted, family) => take_factors(&mut draft, fitted, rank, seed)?,
        Kind::RankK { rank } => add_factors(&mut draft, fitted, rank, seed),
        Kind::Mog { components } => {
            draft.blocks = spread(fitted, components, seed, 0);
            draft.log_weights = vec![-(components as f64).ln(); components];
        }
        Kind::EfMixture { .. } | Kind::Dirichlet { .. } => {
            return Err(Error::Unsupported {
                wanted: format!("`{family}` in place of a fitted Gaussian"),
                instead: "start it on its own support".into(),
            });
        }
        Kind::Matrix { layout, .. } => {
            let (mean, precision) = &draft.blocks[0];
            draft.blocks = by_factors(mean, precision, layout, family.covariance);
        }
        Kind::OwnFamily { family } => draft.blocks = family.near_gaussian(&fitted.mean(), &fitted.covariance()),
        // The mixture grows from one component.
        Kind::MogAuto => draft.family.kind = Kind::Mog { components: 1 },
        Kind::SkewK { directions } | Kind::EmgK { directions } => {
            let found = most_skewed(evaluator, fitted, (directions, seed))?;
            shift(&mut draft, |third| family.independent()?.skewness_of_shift(third), fitted, &found);
        }
        _ => {
            let law = family.law()?;
            if law.is_shifted() {
                let found = most_skewed(evaluator, fitted, (1, seed))?;
                shift(&mut draft, |third| law.skewness_of_shift(third), fitted, &found);
            } else {
                scale_precision(&mut draft, law.moments().s);
            }
        }
    }
    draft.finish()
}

/// The fitted Gaussian itself as a member of a family that contains it: no shift, and a learned constant at its limit.
pub(super) fn unbent(fitted: &Approximation, family: Family) -> Result<Approximation, Error> {
    let mut draft = Draft::in_place_of(fitted, family);
    let limit = family.law()?.with_parameter(f64::MAX);
    scale_precision(&mut draft, limit.moments().s);
    draft.blocks[0].0.extend(vec![0.0; (family.n_columns() - 1) * fitted.dim()]);
    Ok(draft.finish()?.with_law(&limit))
}

/// P ← c P.
fn scale_precision(draft: &mut Draft, c: f64) {
    draft.blocks[0].1.iter_mut().for_each(|p| *p *= c);
}

/// Components drawn evenly from the Gaussian, each narrower so that together they keep its covariance.
pub(super) fn spread(gaussian: &Approximation, components: usize, seed: u64, mode: u32) -> Vec<Numbers> {
    let block = &gaussian.locations()[0];
    let d = block.dim();
    // The share of the variance that lies between components: in many dimensions a few points cannot fill the bulk, and
    // a mixture of narrow components around them would miss most of it.
    let between = if components == 1 { 0.0 } else { tuning::start::VARIANCE_BETWEEN_COMPONENTS / d as f64 };
    let mut eps = vec![0.0; d * components];
    let mut stream = Stream::open(seed, Purpose::Start, 0, mode);
    SobolNormals::new(d, components).fill_normal(0..d, &mut stream, &mut eps);
    block.scale().unwhiten(&mut eps);
    let precision: Vec<f64> = block.scale().precision().iter().map(|p| p / (1.0 - between)).collect();
    let component = |offset: &[f64]| {
        let mut b = block.column(0).to_vec();
        axpy(between.sqrt(), offset, &mut b);
        (b, precision.clone())
    };
    eps.chunks_exact(d).map(component).collect()
}

/// Whether the Gaussian has a full covariance and the family has not.
fn is_wider(fitted: &Approximation, family: Family) -> bool {
    fitted.family().covariance == Covariance::Full && family.covariance == Covariance::Diagonal
}

/// The diagonal and the factors that are nearest to the Gaussian; small ones where it has no use for them.
fn take_factors(draft: &mut Draft, gaussian: &Approximation, rank: usize, seed: u64) -> Result<(), Error> {
    let (d, precision) = (gaussian.dim(), gaussian.locations()[0].scale().precision());
    let diagonal = precision.iter().step_by(d + 1).copied().collect();
    draft.blocks[0].1 = diagonal;
    let Some((variances, columns)) = nearest(d, rank, precision) else {
        let diagonal = draft.clone().of_kind(Kind::Gaussian).finish()?;
        add_factors(draft, &diagonal, rank, seed);
        return Ok(());
    };
    let mut stream = Stream::open(seed, Purpose::Start, 0, 0);
    let (b, precision) = &mut draft.blocks[0];
    for column in columns.chunks_exact(d) {
        let size = (tuning::start::VARIANCE_OF_FACTORS / rank as f64).sqrt();
        match column.iter().any(|a| *a != 0.0) {
            true => b.extend_from_slice(column),
            false => b.extend(variances.iter().map(|v| size * v.sqrt() * stream.normal())),
        }
    }
    *precision = variances.iter().map(|v| 1.0 / v).collect();
    Ok(())
}

/// Small random columns of A: at A = 0 the expected natural gradient in A vanishes (mathematics §3.5).
fn add_factors(draft: &mut Draft, gaussian: &Approximation, rank: usize, seed: u64) {
    let d = gaussian.dim();
    let mut a = vec![0.0; d * rank];
    Stream::open(seed, Purpose::Start, 0, 0).fill_normal(&mut a);
    gaussian.locations()[0].scale().unwhiten(&mut a);
    let size = (tuning::start::VARIANCE_OF_FACTORS / rank as f64).sqrt();
    draft.blocks[0].0.extend(a.iter().map(|v| size * v));
    scale_precision(draft, 1.0 / (1.0 - tuning::start::VARIANCE_OF_FACTORS));
}
