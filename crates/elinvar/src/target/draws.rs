//! Batches of points.

/// A view of n points of ℝᵈ; point s is contiguous.
#[derive(Clone, Copy, Debug)]
pub struct Draws<'a> {
    dim: usize,
    z: &'a [f64],
}

impl<'a> Draws<'a> {
    /// The points whose coordinates follow each other in `z`.
    ///
    /// # Panics
    /// If the length of `z` is not a multiple of `dim`.
    pub fn new(dim: usize, z: &'a [f64]) -> Self {
        assert!(dim > 0 && z.len().is_multiple_of(dim), "draws of dimension {dim} cannot have {} coordinates", z.len());
        Self { dim, z }
    }

    /// Number of coordinates of a point.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.z.len() / self.dim
    }

    /// Whether there is no point.
    pub fn is_empty(&self) -> bool {
        self.z.is_empty()
    }

    /// Point `s`.
    pub fn get(&self, s: usize) -> &'a [f64] {
        &self.z[s * self.dim..(s + 1) * self.dim]
    }

    /// All coordinates, point after point.
    pub fn as_slice(&self) -> &'a [f64] {
        self.z
    }

    /// The points of a range.
    pub fn range(&self, range: std::ops::Range<usize>) -> Draws<'a> {
        Draws { dim: self.dim, z: &self.z[range.start * self.dim..range.end * self.dim] }
    }

    /// The points one by one.
    pub fn iter(&self) -> impl Iterator<Item = &'a [f64]> + use<'a> {
        self.z.chunks_exact(self.dim)
    }
}

/// Points of ℝᵈ that own their memory.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawBuffer {
    dim: usize,
    z: Vec<f64>,
}

impl DrawBuffer {
    /// `n` points at the origin.
    pub fn zeros(dim: usize, n: usize) -> Self {
        assert!(dim > 0, "draws need at least one coordinate");
        Self { dim, z: vec![0.0; dim * n] }
    }

    /// The points as a view.
    pub fn view(&self) -> Draws<'_> {
        Draws::new(self.dim, &self.z)
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.z.len() / self.dim
    }

    /// Whether there is no point.
    pub fn is_empty(&self) -> bool {
        self.z.is_empty()
    }

    /// Point `s`.
    pub fn get(&self, s: usize) -> &[f64] {
        &self.z[s * self.dim..(s + 1) * self.dim]
    }

    /// The points one by one.
    pub fn iter(&self) -> std::slice::ChunksExact<'_, f64> {
        self.z.chunks_exact(self.dim)
    }

    /// All coordinates, point after point.
    pub fn as_slice(&self) -> &[f64] {
        &self.z
    }

    /// Point `s`, to be written.
    pub fn get_mut(&mut self, s: usize) -> &mut [f64] {
        &mut self.z[s * self.dim..(s + 1) * self.dim]
    }

    /// All coordinates, to be written.
    pub fn as_mut_slice(&mut self) -> &mut [f64] {
        &mut self.z
    }
}

impl std::ops::Index<usize> for DrawBuffer {
    type Output = [f64];

    fn index(&self, s: usize) -> &[f64] {
        self.get(s)
    }
}

impl<'b> IntoIterator for &'b DrawBuffer {
    type Item = &'b [f64];
    type IntoIter = std::slice::ChunksExact<'b, f64>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
