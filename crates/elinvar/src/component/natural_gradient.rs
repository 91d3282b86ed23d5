//! F⁻¹g for a Fisher matrix of at most three rows.

use super::{ParameterMatrix, Parameters};

/// F⁻¹g by Cholesky's method on the leading n rows; NaN if F is not positive definite.
pub(super) fn by_cholesky(n: usize, fisher: &ParameterMatrix, gradient: Parameters) -> Parameters {
    let mut factor = [[0.0; 3]; 3];
    let mut x = [0.0; 3];
    for i in 0..n {
        for j in 0..=i {
            let rest = fisher[i][j] - (0..j).map(|k| factor[i][k] * factor[j][k]).sum::<f64>();
            factor[i][j] = if i == j { rest.sqrt() } else { rest / factor[j][j] };
        }
        x[i] = (gradient[i] - (0..i).map(|k| factor[i][k] * x[k]).sum::<f64>()) / factor[i][i];
    }
    for i in (0..n).rev() {
        x[i] = (x[i] - (i + 1..n).map(|k| factor[k][i] * x[k]).sum::<f64>()) / factor[i][i];
    }
    x
}
