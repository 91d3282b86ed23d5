//! A stack of tensors of one shape that is turned mode by mode: each mode in turn becomes the fastest one, so that a matrix acts on
//! it by one product from the left.

/// Stack one after the other, with as much memory beside them.
#[derive(Clone, Debug)]
pub(crate) struct Stack {
    len: usize,
    values: Vec<f64>,
    spare: Vec<f64>,
}

impl Stack {
    /// Room for `capacity` numbers.
    pub(crate) fn new(capacity: usize) -> Self {
        Self { len: 0, values: vec![0.0; capacity], spare: vec![0.0; capacity] }
    }

    /// The numbers.
    pub(crate) fn values(&self) -> &[f64] {
        &self.values[..self.len]
    }

    /// The numbers, to be changed in place.
    pub(crate) fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values[..self.len]
    }

    /// Replaces the numbers.
    pub(crate) fn set(&mut self, from: &[f64]) {
        self.len = from.len();
        self.values[..self.len].copy_from_slice(from);
    }

    /// Takes rows `rows` of a matrix with `dim` rows, column by column, each times its factor.
    pub(crate) fn gather(
        &mut self,
        dim: usize,
        rows: std::ops::Range<usize>,
        from: &[f64],
        mut factor: impl FnMut(usize) -> f64,
    ) {
        let size = rows.len();
        self.len = size * (from.len() / dim);
        let columns = from.chunks_exact(dim).zip(self.values[..self.len].chunks_exact_mut(size));
        for (s, (column, to)) in columns.enumerate() {
            let c = factor(s);
            to.iter_mut().zip(&column[rows.clone()]).for_each(|(to, from)| *to = c * from);
        }
    }

    /// Replaces the numbers by those that `f` writes.
    pub(crate) fn map(&mut self, f: impl FnOnce(&[f64], &mut [f64])) {
        f(&self.values[..self.len], &mut self.spare[..self.len]);
        std::mem::swap(&mut self.values, &mut self.spare);
    }

    /// Turns each tensor of `size` numbers: its fastest mode, of length d, becomes the slowest.
    pub(crate) fn turn(&mut self, d: usize, size: usize) {
        let rest = size / d;
        if d == 1 || rest == 1 {
            return;
        }
        self.map(|from, to| {
            for (from, to) in from.chunks_exact(size).zip(to.chunks_exact_mut(size)) {
                for (r, column) in from.chunks_exact(d).enumerate() {
                    for (i, value) in column.iter().enumerate() {
                        to[i * rest + r] = *value;
                    }
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::Stack;

    #[test]
    fn after_as_many_turns_as_modes_a_tensor_is_as_it_was() {
        let dims = [2, 3, 4];
        let numbers: Vec<f64> = (0..48).map(f64::from).collect();
        let mut stack = Stack::new(50);
        stack.set(&numbers);
        stack.turn(2, 24);
        // Entry (i, j, k) of tensor t is at 24t + i + 2j + 6k; turned, at 24t + j + 3k + 12i.
        let at = |t: usize, i: usize, j: usize, k: usize| stack.values()[24 * t + j + 3 * k + 12 * i];
        for (t, i, j, k) in [(0, 0, 0, 0), (0, 1, 2, 3), (1, 1, 0, 2), (1, 0, 2, 1)] {
            assert_eq!(at(t, i, j, k), (24 * t + i + 2 * j + 6 * k) as f64);
        }
        dims[1..].iter().for_each(|d| stack.turn(*d, 24));
        assert_eq!(stack.values(), numbers);
    }
}
