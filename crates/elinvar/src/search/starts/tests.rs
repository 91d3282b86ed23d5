use crate::model::{DesignMatrix, LogisticRegression};
use crate::search::search;
use crate::target::{About, Answer, Ask, Concavity, Covariance, Target, TargetError};

/// A target that says it has so many rows, and whether it is concave.
struct Said<'t> {
    inner: &'t dyn Target,
    n_rows: usize,
    concavity: Concavity,
}

impl Target for Said<'_> {
    fn about(&self) -> About {
        About { n_rows: Some(self.n_rows), concavity: self.concavity, ..self.inner.about() }
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        self.inner.evaluate(ask, answer)
    }
}

#[test]
fn a_concave_density_of_many_rows_is_climbed_once() {
    let rows: Vec<f64> = (0..400).map(|i| f64::from(i * 37 % 101) / 50.0 - 1.0).collect();
    let labels = (0..200).map(|i| if rows[2 * i] + rows[2 * i + 1] > 0.3 { 1.0 } else { -1.0 }).collect();
    let x = DesignMatrix::new(rows, 2, vec!["a".into(), "b".into()]).unwrap();
    let inner = LogisticRegression::new(x, labels, 1.0).unwrap();
    let searches = |n_rows, concavity| {
        let found = search(&Said { inner: &inner, n_rows, concavity }, Covariance::Full, 1).unwrap();
        assert_eq!(found.modes.len(), 1);
        found.searches
    };
    assert_eq!(searches(10_000_000, Concavity::Concave), 1);
    assert!(searches(10_000_000, Concavity::Unknown) > 3 && searches(200, Concavity::Concave) > 3);
}
