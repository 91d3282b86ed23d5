//! Coordinates without constraints: W and a Cholesky factor of each V_j with logarithms on its diagonal.

use super::TensorGaussian;
use super::draw::TensorWork;
use super::gradient::TensorGradient;
use crate::block::ScaleMatrix;

impl<S: ScaleMatrix> TensorGaussian<S> {
    pub(super) fn chart_size(&self) -> usize {
        0
    }

    pub(super) fn write_chart(&self, out: &mut [f64]) {
        let _ = out;
    }

    pub(super) fn write_chart_gradient(&self, gradient: &TensorGradient, work: &mut TensorWork, out: &mut [f64]) {
        let _ = (gradient, work, out);
    }

    pub(super) fn read_chart(&mut self, coordinates: &[f64], work: &mut TensorWork) -> bool {
        let _ = (coordinates, work);
        false
    }
}
