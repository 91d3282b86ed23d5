//! A model on a constrained space as a density on ℝᵈ.

use crate::Error;
use crate::linalg::products::mirror_lower;
use crate::linalg::{axpy, dot};
use crate::target::by_point::memory::with_memory;
use crate::target::{PointwiseHessian, PointwiseTarget, PointwiseValue, TargetError, Transform, Transforms};

/// The density of z when x(z) has the density of the model: log p(x(z)) + log |∂x/∂z|.
///
/// With J = ∂x/∂z and g, H the derivatives with respect to x: gradient Jᵀg + ∇log|J|, Hessian
/// JᵀHJ + Σ_i g_i ∇²x_i + ∇²log|J|. A model on a simplex is a function of all entries of x.
#[derive(Clone, Debug)]
pub struct Constrained<M> {
    model: M,
    transforms: Transforms,
}

impl<M: PointwiseTarget> Constrained<M> {
    /// `model`, a function of constrained coordinates, in the coordinates z of `transforms`.
    ///
    /// # Errors
    /// If the transforms do not produce as many coordinates as the model takes.
    pub fn new(model: M, transforms: Transforms) -> Result<Self, Error> {
        if transforms.n_constrained() != model.dim() {
            return Err(Error::Shape {
                what: "constrained coordinates of the transforms",
                expected: model.dim(),
                found: transforms.n_constrained(),
            });
        }
        Ok(Self::around(model, transforms))
    }

    /// The same for transforms of as many coordinates as the model takes.
    pub(crate) fn around(model: M, transforms: Transforms) -> Self {
        Self { model, transforms }
    }

    /// The model on the constrained space.
    pub fn model(&self) -> &M {
        &self.model
    }
}

impl<M: PointwiseTarget> PointwiseTarget for Constrained<M> {
    fn dim(&self) -> usize {
        self.transforms.dim()
    }

    fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        if self.transforms.is_identity() {
            return self.model.gradient(z, grad);
        }
        let n = self.model.dim();
        with_memory(2 * n + self.transforms.jacobian_len(), |memory| {
            let (x, memory) = memory.split_at_mut(n);
            let (g, mut jacobian) = memory.split_at_mut(n);
            self.transforms.constrain(z, x);
            let log_p = self.model.gradient(x, g)?;
            self.transforms.jacobian(z, x, jacobian);
            for b in self.transforms.blocks() {
                let (own, rest) = jacobian.split_at_mut(b.z.len() * b.x.len());
                for (grad, column) in grad[b.z].iter_mut().zip(own.chunks_exact(b.x.len())) {
                    *grad = dot(column, &g[b.x.clone()]);
                }
                jacobian = rest;
            }
            self.transforms.add_log_jacobian_gradient(z, grad);
            Ok(log_p + self.transforms.log_jacobian(z))
        })
    }

    fn value(&self) -> Option<&dyn PointwiseValue> {
        self.model.value().map(|_| self as &dyn PointwiseValue)
    }

    fn names(&self) -> Vec<String> {
        let constrained = self.model.names();
        let mut names = Vec::with_capacity(self.dim());
        for b in self.transforms.blocks() {
            let prefix = match b.transform {
                Transform::Identity => "",
                Transform::Log | Transform::Above { .. } | Transform::Below { .. } => "log_",
                Transform::Logit | Transform::Interval { .. } => "logit_",
                _ => "z_",
            };
            names.extend(constrained[b.x].iter().take(b.z.len()).map(|name| format!("{prefix}{name}")));
        }
        names
    }

    fn transforms(&self) -> Transforms {
        self.transforms.clone()
    }

    fn constrained_names(&self) -> Vec<String> {
        self.model.names()
    }
}

impl<M: PointwiseTarget> PointwiseValue for Constrained<M> {
    fn log_density(&self, z: &[f64]) -> Result<f64, TargetError> {
        let n = self.model.dim();
        with_memory(2 * n, |memory| {
            let (x, unused) = memory.split_at_mut(n);
            self.transforms.constrain(z, x);
            let log_p = match self.model.value() {
                Some(model) => model.log_density(x)?,
                None => self.model.gradient(x, unused)?,
            };
            Ok(log_p + self.transforms.log_jacobian(z))
        })
    }
}

impl<M: PointwiseHessian> PointwiseHessian for Constrained<M> {
    fn hessian(&self, z: &[f64], hessian: &mut [f64]) -> Result<(), TargetError> {
        let (n, d) = (self.model.dim(), self.dim());
        let len = 2 * n + self.transforms.jacobian_len() + n * n + n * d;
        with_memory(len, |memory| {
            let (x, memory) = memory.split_at_mut(n);
            let (g, memory) = memory.split_at_mut(n);
            let (inner, memory) = memory.split_at_mut(n * n);
            let (product, jacobian) = memory.split_at_mut(n * d);
            self.transforms.constrain(z, x);
            self.model.gradient(x, g)?;
            self.model.hessian(x, inner)?;
            self.transforms.jacobian(z, x, jacobian);

            // HJ, block by block of J.
            product.fill(0.0);
            let mut offset = 0;
            for b in self.transforms.blocks() {
                for j in b.z.clone() {
                    let column = &mut product[j * n..(j + 1) * n];
                    for i in b.x.clone() {
                        axpy(jacobian[offset], &inner[i * n..(i + 1) * n], column);
                        offset += 1;
                    }
                }
            }
            // Jᵀ(HJ) + Σ_i g_i ∇²x_i.
            offset = 0;
            for b in self.transforms.blocks() {
                for (j, row) in b.z.clone().enumerate() {
                    let derivatives = &jacobian[offset..offset + b.x.len()];
                    offset += b.x.len();
                    for column in 0..d {
                        hessian[column * d + row] = dot(derivatives, &product[column * n..][b.x.clone()]);
                    }
                    for l in 0..b.z.len() {
                        let (first, second) = (j.min(l), j.max(l));
                        hessian[(b.z.start + l) * d + row] += b.transform.second_derivative(
                            &z[b.z.clone()],
                            &x[b.x.clone()],
                            &g[b.x.clone()],
                            first,
                            second,
                        );
                    }
                }
            }
            self.transforms.add_log_jacobian_hessian(z, hessian);
            // JᵀHJ rounds differently in its two triangles.
            mirror_lower(d, hessian);
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::{FromFn, from_fn};

    type Function = fn(&[f64], &mut [f64]) -> f64;

    fn model(dim: usize, f: Function) -> FromFn<Function> {
        from_fn(dim, f).0
    }

    /// Σ exp(log p(z)) over a grid of width 0.05.
    fn integral(target: &impl PointwiseTarget, range: std::ops::RangeInclusive<i32>) -> f64 {
        let step = 0.05;
        let mut grad = [0.0; 2];
        let mut total = 0.0;
        for i in range.clone() {
            if target.dim() == 1 {
                total += target.gradient(&[f64::from(i) * step], &mut grad[..1]).unwrap().exp() * step;
                continue;
            }
            for j in range.clone() {
                let z = [f64::from(i) * step, f64::from(j) * step];
                total += target.gradient(&z, &mut grad).unwrap().exp() * step * step;
            }
        }
        total
    }

    #[test]
    fn the_density_of_z_has_the_mass_of_the_density_of_x() {
        let exponential = model(1, |x, g| {
            g[0] = -1.0;
            -x[0]
        });
        let log = Constrained::new(exponential, Transforms::new(vec![Transform::Log]).unwrap()).unwrap();
        assert!((integral(&log, -900..=200) - 1.0).abs() < 1e-12);

        let uniform = model(1, |_, g| {
            g[0] = 0.0;
            0.0
        });
        let interval = Transforms::new(vec![Transform::Interval { low: 1.0, high: 4.0 }]).unwrap();
        let interval = Constrained::new(uniform, interval).unwrap();
        assert!((integral(&interval, -800..=800) - 3.0).abs() < 1e-12);

        // The triangle of three positive numbers with sum one has area ½ in the first two of them.
        let flat = model(3, |_, g| {
            g.fill(0.0);
            0.0
        });
        let simplex = Constrained::new(flat, Transforms::new(vec![Transform::Simplex { len: 3 }]).unwrap()).unwrap();
        assert!((integral(&simplex, -700..=700) - 0.5).abs() < 1e-12);

        // Half of the mass of two independent standard normals is ordered.
        let normals = model(2, |x, g| {
            (g[0], g[1]) = (-x[0], -x[1]);
            -0.5 * (x[0] * x[0] + x[1] * x[1]) - std::f64::consts::TAU.ln()
        });
        let ordered = Constrained::new(normals, Transforms::new(vec![Transform::Ordered { len: 2 }]).unwrap()).unwrap();
        assert!((integral(&ordered, -700..=200) - 0.5).abs() < 1e-12);

        // Correlations of two numbers fill an interval of length 2; a circle has the length 2π.
        let flat = |n: usize, transform| {
            let flat = model(n, |_, g| {
                g.fill(0.0);
                0.0
            });
            Constrained::new(flat, Transforms::new(vec![transform]).unwrap()).unwrap()
        };
        assert!((integral(&flat(3, Transform::CorrelationCholesky { len: 2 }), -400..=400) - 2.0).abs() < 1e-12);
        let circle = flat(2, Transform::UnitVector { len: 2 });
        assert!((integral(&circle, -140..=140) - std::f64::consts::TAU).abs() < 1e-6);
    }

    #[test]
    fn a_wrong_number_of_coordinates_is_refused() {
        let flat = model(2, |_, _| 0.0);
        assert!(Constrained::new(flat, Transforms::identity(3)).is_err());
    }
}
