//! What a row has besides its features and its target.

/// Numbers that belong to rows; each list has one for every row, or is empty where there are none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Beside {
    /// Added to the linear predictor.
    pub offset: Vec<f64>,
    /// What the log density of the row is multiplied by.
    pub weights: Vec<f64>,
    /// Trials of which the target counts the events.
    pub trials: Vec<f64>,
}

impl Beside {
    /// Those of the given rows, in the given order.
    pub(crate) fn rows(&self, rows: &[usize]) -> Beside {
        let of = |list: &[f64]| if list.is_empty() { Vec::new() } else { rows.iter().map(|&i| list[i]).collect() };
        Beside { offset: of(&self.offset), weights: of(&self.weights), trials: of(&self.trials) }
    }
}
