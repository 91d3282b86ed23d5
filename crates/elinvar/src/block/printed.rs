//! The step of a block as the paper prints it: of the length that is asked for, or none.

use super::gradient::BlockGradient;
use super::location::{Location, LocationScratch, columns_in_range, times_small};
use super::natural::{Natural, NaturalScratch};
use super::scale::{Candidate, Scale, in_range};
use crate::linalg::axpy;
use crate::rule::{Printed, Rule};

/// Why a step was not taken: a quantity and the value that it cannot have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Outside {
    pub(crate) what: &'static str,
    pub(crate) value: f64,
}

impl Location {
    /// P⁺ = P + βG and B⁺ = B + βΣ⁺(∇_B L)Ω⁻¹, if P⁺ is positive definite; otherwise nothing moves.
    ///
    /// Paper: Theorem 3.
    pub(crate) fn advance_printed(
        &mut self,
        gradient: &BlockGradient,
        omega_inv: &[f64],
        beta: f64,
        scratch: &mut LocationScratch,
    ) -> Result<(), Outside> {
        let rule = Rule::Printed(Printed::default());
        if !self.scale.propose(rule, beta, &gradient.g, false, &mut scratch.candidate) {
            let value = smallest_eigenvalue(&self.scale, beta, &gradient.g, &mut scratch.candidate);
            return Err(Outside { what: "the smallest eigenvalue of the precision", value });
        }
        times_small(self.dim(), &gradient.b, omega_inv, &mut scratch.direction);
        scratch.shift.copy_from_slice(&scratch.direction);
        self.scale.solve_candidate(&scratch.candidate, &mut scratch.shift);
        scratch.moved.copy_from_slice(&self.b);
        axpy(beta, &scratch.shift, &mut scratch.moved);
        // No limits of the paper but of the numbers: their squares must exist.
        if !in_range(&scratch.moved) || !columns_in_range(&self.scale, scratch) {
            let largest = scratch.moved.iter().copied().fold(0.0, |a: f64, b| if b.abs() > a.abs() { b } else { a });
            return Err(Outside { what: "the largest entry of the locations", value: largest });
        }
        std::mem::swap(&mut self.b, &mut scratch.moved);
        self.scale.accept(&mut scratch.candidate);
        Ok(())
    }
}

/// The smallest eigenvalue of P + βG; NaN if it cannot be found.
fn smallest_eigenvalue(scale: &Scale, beta: f64, g: &[f64], candidate: &mut Candidate) -> f64 {
    candidate.precision.copy_from_slice(scale.precision());
    axpy(beta, g, &mut candidate.precision);
    scale.shape().smallest_eigenvalue(&candidate.precision)
}

/// out = F⁻¹g for a matrix of up to three rows that may have any sign, by elimination.
fn solve(fisher: &[f64], slope: &[f64], out: &mut [f64]) -> Result<(), Outside> {
    let f = slope.len();
    let (mut matrix, mut right, mut determinant) = ([[0.0; 3]; 3], [0.0; 3], 1.0);
    for i in 0..f {
        matrix[i][..f].copy_from_slice(&fisher[i * f..(i + 1) * f]);
        right[i] = slope[i];
    }
    for i in 0..f {
        let pivot = (i..f).max_by(|j, k| matrix[*j][i].abs().total_cmp(&matrix[*k][i].abs())).unwrap_or(i);
        matrix.swap(i, pivot);
        right.swap(i, pivot);
        determinant *= matrix[i][i];
        for j in i + 1..f {
            let factor = matrix[j][i] / matrix[i][i];
            let row = matrix[i];
            matrix[j].iter_mut().zip(row).for_each(|(to, from)| *to -= factor * from);
            right[j] -= factor * right[i];
        }
    }
    for i in (0..f).rev() {
        let known: f64 = (i + 1..f).map(|j| matrix[i][j] * out[j]).sum();
        out[i] = (right[i] - known) / matrix[i][i];
    }
    // One draw gives a matrix of rank one.
    let sound = out.iter().all(|v| v.is_finite());
    if sound {
        Ok(())
    } else {
        Err(Outside { what: "the determinant of the sampled Fisher matrix", value: determinant })
    }
}

impl Natural {
    /// η⁺ = η + βF⁻¹g of every coordinate, if all of them are in their domain; otherwise nothing moves.
    ///
    /// Paper: App. B.5, App. C.
    pub(crate) fn advance_printed(
        &mut self,
        gradient: &BlockGradient,
        beta: f64,
        scratch: &mut NaturalScratch,
    ) -> Result<(), Outside> {
        let f = self.n_free();
        self.raise(gradient, &mut scratch.direction);
        let sampled = gradient.g.chunks_exact(f * f).zip(gradient.b.chunks_exact(f));
        for (i, (fisher, slope)) in sampled.enumerate() {
            // A member without such a matrix keeps its closed form.
            if fisher.iter().any(|entry| *entry != 0.0) {
                solve(fisher, slope, &mut scratch.direction[i * f..(i + 1) * f])?;
            }
        }
        self.displace(beta, scratch)?;
        self.accept(scratch);
        Ok(())
    }
}
