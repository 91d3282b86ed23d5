//! Targets that lie inside a family: its own members, as normalised densities.

use elinvar::block::Scale;
use elinvar::family::{Approximation, Family, Kind};
use elinvar::random::{Purpose, Stream};
use elinvar::target::{
    Contraction, Covariance, CurvatureMut, Draws, Evaluations, Rows, Scratch, SecondOrder, Shape, Support, Target,
    TargetError, Values,
};

/// A member of a family, to be found by a fit of the same family.
pub(crate) struct Inside {
    member: Approximation,
    support: Support,
}

impl Inside {
    /// The member as a target.
    pub(crate) fn new(member: Approximation) -> Self {
        let support = member.support();
        Self { member, support }
    }

    /// The member itself.
    pub(crate) fn member(&self) -> &Approximation {
        &self.member
    }
}

/// A start that knows nothing of the target: locations near zero, unit scale matrices, components around the standard one.
pub(crate) fn plain(family: Family, dim: usize) -> Result<Approximation, String> {
    let stream = &mut Stream::open(5, Purpose::Sample, 8, 0);
    let k = family.n_components();
    let identity = |n: usize| match family.covariance {
        Covariance::Diagonal => vec![1.0; n],
        Covariance::Full => (0..n * n).map(|e| f64::from(u8::from(e % (n + 1) == 0))).collect(),
    };
    let block = |c: usize| match family.kind {
        Kind::EfMixture { component, .. } => {
            let standard = component.standard();
            let offset = if k > 1 { c as f64 - 0.5 * (k - 1) as f64 } else { 0.0 };
            let mut chart = standard.chart();
            chart[..standard.n_free()].iter_mut().for_each(|v| *v += offset);
            let parameters = standard.with_chart(chart).unwrap_or(standard).parameters();
            let one = &parameters[..standard.n_free()];
            ((0..dim).flat_map(|_| one.iter().copied()).collect(), Vec::new())
        }
        _ => (
            (0..dim * family.n_columns()).map(|_| if k > 1 { 1.0 } else { 0.1 } * stream.normal()).collect(),
            identity(dim),
        ),
    };
    let blocks = match family.kind {
        Kind::Matrix { layout, .. } => {
            let of = |lengths: &[u32]| {
                (
                    vec![0.0; lengths.iter().map(|n| *n as usize).product()],
                    lengths.iter().flat_map(|n| identity(*n as usize)).collect(),
                )
            };
            layout.groups().map(of).collect()
        }
        _ => (0..k).map(block).collect(),
    };
    let log_weights = vec![-(k as f64).ln(); k];
    Approximation::from_parts(family, dim, blocks, log_weights).map_err(|e| e.to_string())
}

impl Target for Inside {
    fn dim(&self) -> usize {
        self.member.dim()
    }

    fn evaluate(&self, draws: Draws<'_>, _rows: Rows<'_>, out: &mut Evaluations) -> Result<(), TargetError> {
        for (s, z) in draws.iter().enumerate() {
            out.log_p_mut()[s] = self.member.log_density(z);
            self.member.score(z, out.grad_mut(s));
        }
        Ok(())
    }

    fn support(&self) -> Support {
        self.support
    }

    fn second_order(&self) -> Option<&dyn SecondOrder> {
        (self.support == Support::Real).then_some(self)
    }

    fn values(&self) -> Option<&dyn Values> {
        Some(self)
    }
}

impl Values for Inside {
    fn log_densities(
        &self,
        draws: Draws<'_>,
        _rows: Rows<'_>,
        _scratch: &mut Scratch,
        out: &mut [f64],
    ) -> Result<(), TargetError> {
        out.iter_mut().zip(draws.iter()).for_each(|(value, z)| *value = self.member.log_density(z));
        Ok(())
    }
}

impl SecondOrder for Inside {
    fn contract(
        &self,
        draws: Draws<'_>,
        _rows: Rows<'_>,
        contraction: Contraction<'_>,
        _scratch: &mut Scratch,
        mut out: CurvatureMut<'_>,
    ) -> Result<(), TargetError> {
        let d = self.dim();
        let mut hessian = vec![0.0; d * d];
        for (s, z) in draws.iter().enumerate() {
            let mut asked = contraction.of_draw(s).filter(|(_, weight)| *weight != 0.0).peekable();
            if asked.peek().is_none() {
                continue;
            }
            self.member.hessian(z, &mut hessian);
            asked.for_each(|(k, weight)| out.add_matrix(k, weight, &hessian));
        }
        Ok(())
    }
}

/// A random member of a family of location blocks: locations of size one (components three apart), variances around one.
pub(crate) fn random_member(family: Family, dim: usize, seed: u64) -> Result<Approximation, String> {
    let stream = &mut Stream::open(seed, Purpose::Sample, 7, 0);
    let k = family.n_components();
    let spread = if k > 1 { 3.0 } else { 1.0 };
    let blocks = (0..k).map(|_| {
        let b = (0..dim * family.n_columns()).map(|_| spread * stream.normal()).collect();
        (b, random_precision(family.covariance, dim, stream))
    });
    let blocks = blocks.collect();
    let raw: Vec<f64> = (0..k).map(|_| 0.5 * stream.normal()).collect();
    let total = raw.iter().map(|v| v.exp()).sum::<f64>().ln();
    let log_weights = if k == 1 { vec![0.0] } else { raw.iter().map(|v| v - total).collect() };
    Approximation::from_parts(family, dim, blocks, log_weights).map_err(|e| e.to_string())
}

/// ½I plus a Gram matrix, inverted: eigenvalues of the covariance from ½ to a few.
pub(crate) fn random_precision(covariance: Covariance, dim: usize, stream: &mut Stream) -> Vec<f64> {
    match covariance {
        Covariance::Diagonal => (0..dim).map(|_| (0.7 * stream.normal()).exp()).collect(),
        Covariance::Full => {
            let x: Vec<f64> = (0..dim * dim).map(|_| stream.normal()).collect();
            let gram = |i: usize, j: usize| (0..dim).map(|k| x[k * dim + i] * x[k * dim + j]).sum::<f64>() / dim as f64;
            let diagonal = |i: usize, j: usize| if i == j { 0.5 } else { 0.0 };
            let covariance = (0..dim * dim).map(|e| gram(e % dim, e / dim) + diagonal(e % dim, e / dim)).collect();
            let mut precision = vec![0.0; dim * dim];
            if let Ok(matrix) = Scale::from_precision(Shape::Full(dim), covariance) {
                matrix.covariance_into(&mut precision);
            }
            // The inverse is symmetric up to rounding; a state is so exactly.
            for i in 0..dim {
                for j in 0..i {
                    precision[i * dim + j] = precision[j * dim + i];
                }
            }
            precision
        }
    }
}
