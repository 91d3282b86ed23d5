//! A component as vectors: its parameters in both forms, statistics and Fisher matrix.

use super::{Joint, Natural};
use crate::block::BlockGradient;
use crate::component::{Component, Parameters};

/// Three numbers of which the first are these.
fn widened(numbers: &[f64]) -> Parameters {
    let mut out = [0.0; 3];
    out[..numbers.len()].copy_from_slice(numbers);
    out
}

impl Natural {
    /// The parts of every member of a product, one after the other.
    fn of_members(members: &[Component], part: impl Fn(usize, &Component) -> Parameters) -> Vec<f64> {
        let parts = members.iter().enumerate().flat_map(|(i, member)| {
            let (numbers, f) = (part(i, member), member.n_free());
            numbers.into_iter().take(f)
        });
        parts.collect()
    }

    /// The product whose members are made of these numbers.
    fn remade(
        members: &[Component],
        numbers: &[f64],
        make: impl Fn(&Component, Parameters) -> Option<Component>,
    ) -> Option<Self> {
        let f = members[0].n_free();
        let made = members.iter().zip(numbers.chunks_exact(f)).map(|(member, own)| make(member, widened(own)));
        Some(Self::new(made.collect::<Option<_>>()?))
    }

    /// η.
    pub(crate) fn natural(&self) -> Vec<f64> {
        match &self.law {
            Joint::Product(law) => Self::of_members(&law.coordinates, |_, member| member.natural()),
            Joint::Dirichlet(law) => law.concentrations().to_vec(),
        }
    }

    /// The component of this kind with natural parameters η.
    pub(crate) fn with_natural(&self, natural: &[f64]) -> Option<Self> {
        match &self.law {
            Joint::Product(law) => Self::remade(&law.coordinates, natural, Component::with_natural),
            Joint::Dirichlet(_) => Self::dirichlet(natural.to_vec()),
        }
    }

    /// m = E[t(z)].
    pub(crate) fn expectation(&self) -> Vec<f64> {
        match &self.law {
            Joint::Product(law) => Self::of_members(&law.coordinates, |_, member| member.expectation()),
            Joint::Dirichlet(law) => law.expectation(),
        }
    }

    /// The component of this kind with expectation parameters m.
    pub(crate) fn with_expectation(&self, m: &[f64]) -> Option<Self> {
        match &self.law {
            Joint::Product(law) => Self::remade(&law.coordinates, m, Component::with_expectation),
            Joint::Dirichlet(_) => Self::dirichlet_with_expectation(m),
        }
    }

    /// t(z).
    pub(crate) fn statistics(&self, z: &[f64]) -> Vec<f64> {
        match &self.law {
            Joint::Product(law) => Self::of_members(&law.coordinates, |i, member| member.statistics(z[i])),
            Joint::Dirichlet(_) => z.iter().map(|z| z.ln()).collect(),
        }
    }

    /// A(η).
    pub(crate) fn log_partition(&self) -> f64 {
        match &self.law {
            Joint::Product(law) => law.coordinates.iter().map(Component::log_partition).sum(),
            Joint::Dirichlet(law) => law.log_partition(),
        }
    }

    /// F = ∂m/∂η, symmetric.
    pub(crate) fn fisher(&self) -> Vec<f64> {
        let members = match &self.law {
            Joint::Product(law) => &law.coordinates,
            Joint::Dirichlet(law) => return law.fisher(),
        };
        let n = self.natural_len();
        let (mut out, mut begin) = (vec![0.0; n * n], 0);
        for member in members {
            let (fisher, f) = (member.fisher(), member.n_free());
            for i in 0..f {
                for j in 0..f {
                    out[(begin + j) * n + begin + i] = fisher[i][j];
                }
            }
            begin += f;
        }
        out
    }

    /// F⁻¹g.
    pub(crate) fn natural_gradient(&self, gradient: &BlockGradient) -> Vec<f64> {
        let mut direction = vec![0.0; self.natural_len()];
        self.raise(gradient, &mut direction);
        direction
    }
}
