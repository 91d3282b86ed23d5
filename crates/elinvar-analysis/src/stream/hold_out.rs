//! Rows that a stream holds out: each by itself, by its number among all rows, so that nobody has a list of them.

use elinvar_data::is_held_out;

/// Which rows are held out.
#[derive(Clone, Copy, Debug)]
pub(super) struct HoldOut {
    pub(super) share: f64,
    pub(super) seed: u32,
}

/// The same, on its way through the rows.
#[derive(Debug)]
pub(super) struct Divider {
    by: Option<HoldOut>,
    width: usize,
    /// Number of the next row.
    next: u64,
}

impl Divider {
    /// At the first row.
    pub(super) fn new(by: Option<HoldOut>, width: usize) -> Self {
        Self { by, width, next: 0 }
    }

    /// The rows to fit and the rows that are held out, of the next shard.
    pub(super) fn divide(&mut self, values: Vec<f64>) -> (Vec<f64>, Vec<f64>) {
        let Some(HoldOut { share, seed }) = self.by else { return (values, Vec::new()) };
        let (mut kept, mut held_out) = (Vec::with_capacity(values.len()), Vec::new());
        for row in values.chunks_exact(self.width) {
            let to = if is_held_out(self.next, share, seed) { &mut held_out } else { &mut kept };
            to.extend_from_slice(row);
            self.next += 1;
        }
        (kept, held_out)
    }
}
