//! Where on a turn momenta are kicked (mathematics §11.1).

/// Where on a turn, as shares of it, momenta are kicked, and how much: Lobatto's rule for few kicks, the trapezoidal
/// rule for many. To first order in the residual gradient the energy error of a step is that of the rule along the
/// exact rotation (mathematics §11.1); where the gradient is stiff, as it is where many kicks are needed, equal ones
/// bear longer steps.
pub(super) struct Quadrature {
    leaps: usize,
    table: Option<&'static [(f64, f64)]>,
}

impl Quadrature {
    pub(super) fn of(leaps: u64) -> Self {
        let table: Option<&[(f64, f64)]> = match leaps {
            2 => Some(&LOBATTO_3),
            3 => Some(&LOBATTO_4),
            4 => Some(&LOBATTO_5),
            _ => None,
        };
        Self { leaps: leaps as usize, table }
    }

    pub(super) fn node(&self, k: usize) -> f64 {
        self.table.map_or(k as f64 / self.leaps as f64, |table| table[k].0)
    }

    pub(super) fn weight(&self, k: usize) -> f64 {
        let is_end = k == 0 || k == self.leaps;
        self.table.map_or(if is_end { 0.5 } else { 1.0 } / self.leaps as f64, |table| table[k].1)
    }
}

/// Nodes and weights of Lobatto's rules on the unit interval.
const LOBATTO_3: [(f64, f64); 3] = [(0.0, 1.0 / 6.0), (0.5, 2.0 / 3.0), (1.0, 1.0 / 6.0)];
const LOBATTO_4: [(f64, f64); 4] =
    [(0.0, 1.0 / 12.0), (0.276_393_202_250_021, 5.0 / 12.0), (0.723_606_797_749_979, 5.0 / 12.0), (1.0, 1.0 / 12.0)];
const LOBATTO_5: [(f64, f64); 5] = [
    (0.0, 0.05),
    (0.172_673_164_646_011_43, 49.0 / 180.0),
    (0.5, 16.0 / 45.0),
    (0.827_326_835_353_988_6, 49.0 / 180.0),
    (1.0, 0.05),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Algebra.
    const EXACT: f64 = 1e-14;

    #[test]
    fn rules_are_symmetric_and_exact_up_to_their_degree() {
        for leaps in 1..=8_usize {
            let rule = Quadrature::of(leaps as u64);
            for k in 0..=leaps {
                assert!((rule.node(k) + rule.node(leaps - k) - 1.0).abs() < EXACT, "{leaps}");
                assert_eq!(rule.weight(k), rule.weight(leaps - k), "{leaps}");
            }
            // Lobatto's rule with n + 1 nodes is exact for polynomials of degree 2n − 1, the trapezoidal one for lines.
            let degree = if (2..=4).contains(&leaps) { 2 * leaps - 1 } else { 1 };
            for power in 0..=degree as i32 {
                let sum: f64 = (0..=leaps).map(|k| rule.weight(k) * rule.node(k).powi(power)).sum();
                assert!((sum - 1.0 / f64::from(power + 1)).abs() < EXACT, "{leaps} {power}: {sum}");
            }
        }
    }
}
