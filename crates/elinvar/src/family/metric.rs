//! The metric of the joint q(z, w): products of gradients, and momentum.

use super::step::BlockScratch;
use super::{Approximation, Blocks, Family, Gradient, Scratch, finite_mixture};
use crate::law::{Independent, Law, PointMass};

/// Largest factor by which the gain that is left may exceed the part of a learned constant in ½gᵀF⁻¹g.
const LARGEST_GAIN: f64 = 20.0;

/// Ω = E[ũũᵀ/s] and its inverse, r × r.
#[derive(Debug)]
pub(crate) struct Omega {
    matrix: Vec<f64>,
    inverse: Vec<f64>,
}

impl Omega {
    /// That of the blocks of a member.
    pub(crate) fn of(q: &Approximation) -> Self {
        let r = q.family.n_columns();
        if let Some(law) = q.family.independent() {
            let (matrix, inverse) = Self::of_independent(law, r - 1);
            return Self { matrix, inverse };
        }
        let mut identity = vec![0.0; if q.locations().is_empty() { 0 } else { r * r }];
        identity.iter_mut().step_by(r + 1).for_each(|entry| *entry = 1.0);
        let mut omega = Self { inverse: identity.clone(), matrix: identity };
        omega.updated(&q.family);
        omega
    }

    /// Ω and Ω⁻¹ of k independent numbers (mathematics §3.8).
    pub(crate) fn of_independent(law: Independent, k: usize) -> (Vec<f64>, Vec<f64>) {
        let r = k + 1;
        let matrix = (0..r * r).map(|e| law.omega(e % r, e / r)).collect();
        (matrix, (0..r * r).map(|e| law.omega_inverse(k, e % r, e / r)).collect())
    }

    /// Ω and Ω⁻¹ of the law as it is now.
    pub(crate) fn updated(&mut self, family: &Family) -> (&[f64], &[f64]) {
        if family.independent().is_none() && !self.matrix.is_empty() {
            self.set(&family.law().unwrap_or(Law::PointMass(PointMass)));
        }
        (&self.matrix, &self.inverse)
    }

    fn set(&mut self, law: &Law) {
        let m = law.moments();
        if self.matrix.len() == 4 {
            let det = m.inv_s * m.uu_inv_s - m.u_inv_s * m.u_inv_s;
            self.matrix.copy_from_slice(&[m.inv_s, m.u_inv_s, m.u_inv_s, m.uu_inv_s]);
            self.inverse.copy_from_slice(&[m.uu_inv_s / det, -m.u_inv_s / det, -m.u_inv_s / det, m.inv_s / det]);
        } else {
            self.matrix[0] = m.inv_s;
            self.inverse[0] = 1.0 / m.inv_s;
        }
    }

    /// Ω and Ω⁻¹ of a law.
    #[cfg(feature = "theory")]
    pub(crate) fn of_law(law: &Law) -> (Vec<f64>, Vec<f64>) {
        let n = if law.is_shifted() { 4 } else { 1 };
        let mut omega = Self { matrix: vec![0.0; n], inverse: vec![0.0; n] };
        omega.set(law);
        (omega.matrix, omega.inverse)
    }
}

impl Approximation {
    /// g₁ᵀF⁻¹g₂ in the Fisher metric of the joint.
    ///
    /// In a mixture the metric of component c is π_c times its own, and its gradient π_c times what is stored
    /// (mathematics §1.2).
    pub(crate) fn inner(&self, one: &Gradient, two: &Gradient, scratch: &mut Scratch) -> f64 {
        let mut sum = 0.0;
        if self.family.is_mixture() {
            sum += finite_mixture::inner_of_weights(&self.weights, &one.expected_h, &two.expected_h);
        }
        let pairs = one.blocks.iter().zip(&two.blocks);
        match (&self.blocks, &mut scratch.blocks) {
            (Blocks::Location(blocks), BlockScratch::Location(location)) => {
                let (_, omega_inv) = scratch.omega.updated(&self.family);
                for (c, (block, (one, two))) in blocks.iter().zip(pairs).enumerate() {
                    sum += self.weights.weight(c) * block.inner(one, two, omega_inv, location);
                }
            }
            (Blocks::Natural(blocks), _) => {
                for (c, (block, (one, two))) in blocks.iter().zip(pairs).enumerate() {
                    block.add_inner(self.weights.weight(c), one, two, &mut sum);
                }
            }
            (Blocks::Tensor(blocks), BlockScratch::Tensor(scratch)) => {
                for ((block, (one, two)), scratch) in blocks.iter().zip(pairs).zip(scratch) {
                    block.add_inner(one, two, scratch, &mut sum);
                }
            }
            (Blocks::Own(block), BlockScratch::Own(scratch)) => {
                block.add_inner(&one.blocks[0], &two.blocks[0], scratch, &mut sum);
            }
            _ => unreachable!("the scratch was made for members of this shape"),
        }
        sum + self.inner_of_shape(one, two)
    }

    /// The part of a learned constant in it.
    pub(crate) fn inner_of_shape(&self, one: &Gradient, two: &Gradient) -> f64 {
        self.learned().map_or(0.0, |slopes| one.shape * two.shape / slopes.fisher)
    }

    /// How many times the part of a learned constant in ½gᵀF⁻¹g the bound may still rise: w says more about its law
    /// than z does.
    pub(crate) fn shape_gain(&self) -> Option<f64> {
        let (slopes, left) = self.learned().zip(self.law().marginal_fisher(self.dim()))?;
        Some((slopes.fisher / left).clamp(self.gain_factor(), LARGEST_GAIN))
    }

    /// Adds γ times the last displacement to a gradient, so that a plain step of length β from here has momentum:
    /// η⁺ = η + β{∇_m L + ratio (η − η_before)} with ratio = γ/β (mathematics §7.1).
    pub(crate) fn add_momentum(&self, before: &Self, ratio: f64, scratch: &mut Scratch, gradient: &mut Gradient) {
        match (&self.blocks, &before.blocks, &mut scratch.blocks) {
            (Blocks::Location(blocks), Blocks::Location(before), BlockScratch::Location(location)) => {
                let (omega, _) = scratch.omega.updated(&self.family);
                for ((block, before), gradient) in blocks.iter().zip(before).zip(&mut gradient.blocks) {
                    block.add_momentum(before, ratio, omega, location, gradient);
                }
            }
            (Blocks::Natural(blocks), Blocks::Natural(before), _) => {
                for ((block, before), gradient) in blocks.iter().zip(before).zip(&mut gradient.blocks) {
                    block.add_momentum(before, ratio, gradient);
                }
            }
            (Blocks::Tensor(blocks), Blocks::Tensor(before), BlockScratch::Tensor(scratch)) => {
                let Gradient { blocks: gradients, literal, .. } = gradient;
                let gradients = if literal.is_empty() { gradients } else { literal };
                for (((block, before), gradient), scratch) in blocks.iter().zip(before).zip(gradients).zip(scratch) {
                    block.add_momentum(before, ratio, self.update(), scratch, gradient);
                }
            }
            (Blocks::Own(block), Blocks::Own(before), BlockScratch::Own(scratch)) => {
                block.add_momentum(before, ratio, scratch, &mut gradient.blocks[0]);
            }
            _ => unreachable!("the member before and the scratch have this shape"),
        }
        if self.family.is_mixture() {
            self.weights.add_momentum(&before.weights, ratio, &mut gradient.expected_h);
        }
        gradient.shape += ratio * self.shape_displacement(before);
    }

    /// F_a(a − a₋) of a learned shape: what momentum adds to ∂L/∂a.
    fn shape_displacement(&self, before: &Self) -> f64 {
        let shape = |q: &Self| q.law().parameter().unwrap_or(0.0);
        self.learned().map_or(0.0, |slopes| slopes.fisher * (shape(self) - shape(before)))
    }
}
