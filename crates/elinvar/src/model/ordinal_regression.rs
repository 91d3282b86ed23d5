//! Ordered classes with a cumulative logit link.

use super::DesignMatrix;
use super::glm::check_precision;
use super::rows::{MOST_CLASSES, RegressionRows, methods_of_rows};
use crate::Error;
use crate::linalg::{axpy, dot};
use crate::special::logistic::softplus_and_shares;
use crate::target::{
    About, Answer, Ask, PointwiseHessian, PointwiseTarget, PointwiseValue, Prior, Target, TargetError, Transform,
    Transforms, by_point,
};

/// Degrees of freedom and scale of the t prior of each cut point.
const CUT_PRIOR: (f64, f64) = (3.0, 2.5);

/// Classes y = 0, …, K−1 with P(y ≤ k) = 1/(1 + e^{−(c_k − η)}), η = xᵀβ and cut points c₀ < c₁ < … < c_{K−2}.
///
/// z = (β, u) with c₀ = u₀ and c_k = c_{k−1} + e^{u_k}. The prior of β is declared; each cut point has a Student-t
/// prior with 3 degrees of freedom and scale 2.5, with the Jacobian of u. There is no intercept: the cut points take it
/// up.
#[derive(Clone, Debug)]
pub struct OrdinalRegression {
    rows: RegressionRows,
    n_cuts: usize,
    coefficient_prior: Prior,
}

/// ℓ of a row with its derivatives in c_y − η (`hi`) and c_{y−1} − η (`lo`).
#[derive(Clone, Copy, Default)]
struct Slopes {
    value: f64,
    hi: f64,
    lo: f64,
    hi_hi: f64,
    lo_lo: f64,
    hi_lo: f64,
}

/// Cut points, the gaps before them (1 for the first), as arrays whose length no model exceeds.
type Cuts = [[f64; MOST_CLASSES]; 2];

impl OrdinalRegression {
    /// The model for classes 0, …, `n_classes` − 1 with β ~ N(0, I/δ) for the prior precision δ.
    ///
    /// # Errors
    /// If there are fewer than two or more than 32 classes, the number of responses is not the number of rows, a
    /// response is no class, or δ is not positive.
    pub fn new(x: DesignMatrix, y: Vec<f64>, n_classes: usize, prior_precision: f64) -> Result<Self, Error> {
        check_precision(prior_precision)?;
        let rows = RegressionRows::of_classes(x, y, n_classes)?;
        let coefficient_prior = Prior::Gaussian { precision: prior_precision, leading: rows.x.n_cols() };
        Ok(Self { rows, n_cuts: n_classes - 1, coefficient_prior })
    }

    /// The same model with another prior of the coefficients.
    ///
    /// # Errors
    /// As [`Prior::check`].
    pub fn with_coefficient_prior(self, coefficient_prior: Prior) -> Result<Self, Error> {
        coefficient_prior.check(self.rows.x.n_cols())?;
        Ok(Self { coefficient_prior, ..self })
    }

    fn cuts(&self, u: &[f64]) -> Cuts {
        let mut cuts = [[0.0; MOST_CLASSES]; 2];
        (cuts[0][0], cuts[1][0]) = (u[0], 1.0);
        for k in 1..u.len() {
            cuts[1][k] = u[k].exp();
            cuts[0][k] = cuts[0][k - 1] + cuts[1][k];
        }
        cuts
    }

    /// Calls `each` with the row, its class, its weight and its slopes.
    fn over_rows(&self, z: &[f64], cuts: &Cuts, mut each: impl FnMut(usize, usize, f64, Slopes)) {
        let p = self.rows.x.n_cols();
        for (i, y) in self.rows.y.iter().enumerate() {
            let weight = self.rows.weight(i);
            if weight > 0.0 {
                let eta = dot(self.rows.x.row(i), &z[..p]) + self.rows.offset_of(i);
                each(i, *y as usize, weight, self.slopes(*y as usize, eta, cuts));
            }
        }
    }

    /// log{σ(a) − σ(b)} = log σ(a) + log σ(−b) + log(1 − e^{−g}) with a = c_y − η, b = c_{y−1} − η, g = a − b.
    fn slopes(&self, class: usize, eta: f64, [cuts, gaps]: &Cuts) -> Slopes {
        let mut slopes = Slopes::default();
        if class < self.n_cuts {
            let [softplus, p, q] = softplus_and_shares(eta - cuts[class]);
            slopes = Slopes { value: -softplus, hi: p, hi_hi: -p * q, ..slopes };
        }
        if class > 0 {
            let [softplus, p, q] = softplus_and_shares(cuts[class - 1] - eta);
            slopes = Slopes { value: slopes.value - softplus, lo: -p, lo_lo: -p * q, ..slopes };
        }
        if class > 0 && class < self.n_cuts {
            let (up, down) = (gaps[class].exp_m1(), -(-gaps[class]).exp_m1());
            let (slope, curvature) = (1.0 / up, 1.0 / up / down);
            slopes.value += down.ln();
            slopes.hi += slope;
            slopes.lo -= slope;
            slopes.hi_hi -= curvature;
            slopes.lo_lo -= curvature;
            slopes.hi_lo += curvature;
        }
        slopes
    }

    /// log prior of the cut points and of the Jacobian, and of each cut point the first two derivatives.
    fn prior_of_cuts(&self, u: &[f64], cuts: &[f64], mut each: impl FnMut(usize, f64, f64)) -> f64 {
        let (nu, scale) = CUT_PRIOR;
        let normaliser = libm::lgamma(0.5 * (nu + 1.0))
            - libm::lgamma(0.5 * nu)
            - 0.5 * (std::f64::consts::PI * nu).ln()
            - scale.ln();
        // The ordered ones of all orders.
        let mut value = libm::lgamma(self.n_cuts as f64 + 1.0) + u[1..].iter().sum::<f64>();
        for (k, cut) in cuts.iter().take(self.n_cuts).enumerate() {
            let r = cut / scale;
            let share = 1.0 / (nu + r * r);
            value += normaliser - 0.5 * (nu + 1.0) * (r * r / nu).ln_1p();
            let curvature = (nu + 1.0) * (r * r - nu) * share * share / (scale * scale);
            each(k, -(nu + 1.0) * r * share / scale, curvature);
        }
        value
    }
}

methods_of_rows!(OrdinalRegression);

impl PointwiseValue for OrdinalRegression {
    fn log_density(&self, z: &[f64]) -> Result<f64, TargetError> {
        let u = &z[self.rows.x.n_cols()..];
        let cuts = self.cuts(u);
        let mut value = self.prior_of_cuts(u, &cuts[0], |_, _, _| {});
        self.over_rows(z, &cuts, |_, _, weight, slopes| value += weight * slopes.value);
        Ok(value)
    }
}

impl PointwiseTarget for OrdinalRegression {
    fn dim(&self) -> usize {
        self.rows.x.n_cols() + self.n_cuts
    }

    fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        let p = self.rows.x.n_cols();
        let cuts = self.cuts(&z[p..]);
        grad.fill(0.0);
        let (beta, by_cut) = grad.split_at_mut(p);
        let mut value = self.prior_of_cuts(&z[p..], &cuts[0], |k, slope, _| by_cut[k] = slope);
        self.over_rows(z, &cuts, |i, class, weight, slopes| {
            value += weight * slopes.value;
            axpy(-weight * (slopes.hi + slopes.lo), self.rows.x.row(i), beta);
            if class < self.n_cuts {
                by_cut[class] += weight * slopes.hi;
            }
            if class > 0 {
                by_cut[class - 1] += weight * slopes.lo;
            }
        });
        // Each cut point moves all that follow.
        for k in (0..self.n_cuts - 1).rev() {
            by_cut[k] += by_cut[k + 1];
        }
        for (by_cut, gap) in by_cut.iter_mut().zip(cuts[1]).skip(1) {
            *by_cut = *by_cut * gap + 1.0;
        }
        Ok(value)
    }

    fn value(&self) -> Option<&dyn PointwiseValue> {
        Some(self)
    }

    fn names(&self) -> Vec<String> {
        let cut = |k: usize| if k == 1 { "cut1".into() } else { format!("log_gap{k}") };
        self.rows.x.names().iter().cloned().chain((1..=self.n_cuts).map(cut)).collect()
    }

    fn transforms(&self) -> Transforms {
        self.rows.x.transforms(1, [Transform::Ordered { len: self.n_cuts }])
    }

    fn constrained_names(&self) -> Vec<String> {
        self.rows.x.table_names().iter().cloned().chain((1..=self.n_cuts).map(|k| format!("cut{k}"))).collect()
    }
}

impl PointwiseHessian for OrdinalRegression {
    fn hessian(&self, z: &[f64], hessian: &mut [f64]) -> Result<(), TargetError> {
        let (p, n) = (self.rows.x.n_cols(), self.n_cuts);
        let d = p + n;
        let cuts = self.cuts(&z[p..]);
        hessian.fill(0.0);
        let mut slope_of_cut = [0.0; MOST_CLASSES];
        self.prior_of_cuts(&z[p..], &cuts[0], |k, slope, curvature| {
            slope_of_cut[k] = slope;
            hessian[(p + k) * (d + 1)] = curvature;
        });
        // The lower triangle, in the cut points themselves; columns of β have those of c below them.
        self.over_rows(z, &cuts, |i, class, weight, slopes| {
            let Slopes { hi, lo, hi_hi, lo_lo, hi_lo, .. } = slopes;
            let row = self.rows.x.row(i);
            let twice = weight * (hi_hi + lo_lo + 2.0 * hi_lo);
            for (j, x) in row.iter().enumerate() {
                axpy(twice * x, &row[j..], &mut hessian[j * d + j..j * d + p]);
            }
            if class < n {
                slope_of_cut[class] += weight * hi;
                hessian[(p + class) * (d + 1)] += weight * hi_hi;
                row.iter().enumerate().for_each(|(j, x)| hessian[j * d + p + class] -= weight * (hi_hi + hi_lo) * x);
            }
            if class > 0 {
                let low = class - 1;
                slope_of_cut[low] += weight * lo;
                hessian[(p + low) * (d + 1)] += weight * lo_lo;
                row.iter().enumerate().for_each(|(j, x)| hessian[j * d + p + low] -= weight * (lo_lo + hi_lo) * x);
            }
            if class > 0 && class < n {
                hessian[(p + class - 1) * d + p + class] += weight * hi_lo;
            }
        });
        self.to_gaps(&cuts[1], &mut slope_of_cut, hessian);
        Ok(())
    }
}

impl OrdinalRegression {
    /// Turns derivatives in c into those in u and mirrors the lower triangle: ∂c_k/∂u_j = gap_j for all k ≥ j.
    fn to_gaps(&self, gaps: &[f64], slope_of_cut: &mut [f64], hessian: &mut [f64]) {
        let (p, n) = (self.rows.x.n_cols(), self.n_cuts);
        let d = p + n;
        let at = |i: usize, j: usize| (p + j) * d + p + i;
        for i in 0..n {
            for j in 0..i {
                hessian[at(j, i)] = hessian[at(i, j)];
            }
        }
        // Sums over all that follow, along rows and then along columns.
        for k in (0..n - 1).rev() {
            slope_of_cut[k] += slope_of_cut[k + 1];
            for column in 0..d {
                hessian[column * d + p + k] += hessian[column * d + p + k + 1];
            }
        }
        for k in (0..n - 1).rev() {
            for i in 0..n {
                hessian[at(i, k)] += hessian[at(i, k + 1)];
            }
        }
        for k in 0..n {
            (0..p).for_each(|column| hessian[column * d + p + k] *= gaps[k]);
            (0..n).for_each(|j| hessian[at(k, j)] *= gaps[k] * gaps[j]);
            if k > 0 {
                hessian[at(k, k)] += gaps[k] * slope_of_cut[k];
            }
        }
        crate::linalg::products::mirror_lower(d, hessian);
    }
}

impl Target for OrdinalRegression {
    fn about(&self) -> About {
        About { prior: self.coefficient_prior.clone(), ..by_point::about_of_model(self) }
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        by_point::evaluate_second_order(self, ask, answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_add_up_to_one_and_are_differences_of_the_logistic_function() {
        let z = [0.7, -1.2, 0.3, -0.8];
        let density = |class: f64, weight: f64| {
            let x = DesignMatrix::new(vec![1.3], 1, vec!["x".into()]).unwrap();
            let model = OrdinalRegression::new(x, vec![class], 4, 1.0).unwrap().with_weights(vec![weight]).unwrap();
            model.log_density(&z).unwrap()
        };
        let sigma = |t: f64| 1.0 / (1.0 + (-t).exp());
        let cuts = [-1.2, -1.2 + 0.3f64.exp(), -1.2 + 0.3f64.exp() + (-0.8f64).exp()];
        let below = |k: usize| if k < 3 { sigma(cuts[k] - 0.7 * 1.3) } else { 1.0 };
        let mut total = 0.0;
        for k in 0..4 {
            let p = (density(k as f64, 1.0) - density(k as f64, 0.0)).exp();
            let direct = below(k) - if k > 0 { below(k - 1) } else { 0.0 };
            assert!((p - direct).abs() < 1e-14, "{k}: {p} {direct}");
            total += p;
        }
        assert!((total - 1.0).abs() < 1e-14);
        // Three ordered t₃ numbers: 3! times the product of their densities, times the gaps.
        let t = |c: f64| (1.0 + c * c / 18.75).powi(-2) * 0.367_552_596_947_861_4 / 2.5;
        let direct = (6.0 * cuts.iter().map(|c| t(*c)).product::<f64>()).ln() + 0.3 - 0.8;
        assert!((density(0.0, 0.0) - direct).abs() < 1e-13);
    }

    #[test]
    fn what_is_no_class_is_named() {
        let x = || DesignMatrix::new(vec![1.0, 2.0], 1, vec!["x".into()]).unwrap();
        assert!(OrdinalRegression::new(x(), vec![0.0, 3.0], 3, 1.0).unwrap_err().to_string().contains("row 2"));
        assert!(OrdinalRegression::new(x(), vec![0.0, 0.5], 3, 1.0).is_err());
        assert!(OrdinalRegression::new(x(), vec![0.0, 1.0], 33, 1.0).is_err());
    }
}
