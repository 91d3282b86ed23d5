//! What a target returns for a batch, and the memory it may use on the way.

/// log p and ∇log p at each draw of a batch.
#[derive(Clone, Debug)]
pub struct Evaluations {
    dim: usize,
    log_p: Vec<f64>,
    grad: Vec<f64>,
    scratch: Scratch,
}

impl Evaluations {
    /// Room for `n` draws of dimension `dim`.
    pub fn new(dim: usize, n: usize) -> Self {
        Self { dim, log_p: vec![0.0; n], grad: vec![0.0; dim * n], scratch: Scratch::default() }
    }

    /// Sets all values to zero, so that a target can add to them.
    pub fn reset(&mut self) {
        self.log_p.fill(0.0);
        self.grad.fill(0.0);
    }

    /// Number of draws.
    pub fn len(&self) -> usize {
        self.log_p.len()
    }

    /// Whether there is room for no draw.
    pub fn is_empty(&self) -> bool {
        self.log_p.is_empty()
    }

    /// log p at each draw.
    pub fn log_p(&self) -> &[f64] {
        &self.log_p
    }

    /// log p at each draw, to be written.
    pub fn log_p_mut(&mut self) -> &mut [f64] {
        &mut self.log_p
    }

    /// ∇log p at draw `s`.
    pub fn grad(&self, s: usize) -> &[f64] {
        &self.grad[s * self.dim..(s + 1) * self.dim]
    }

    /// ∇log p at draw `s`, to be written.
    pub fn grad_mut(&mut self, s: usize) -> &mut [f64] {
        &mut self.grad[s * self.dim..(s + 1) * self.dim]
    }

    /// The gradients of all draws, one after the other.
    pub fn grads(&self) -> &[f64] {
        &self.grad
    }

    /// log p, the gradients of all draws and the scratch memory, to be written together.
    pub fn parts_mut(&mut self) -> (&mut [f64], &mut [f64], &mut Scratch) {
        (&mut self.log_p, &mut self.grad, &mut self.scratch)
    }

    /// The scratch memory.
    pub fn scratch_mut(&mut self) -> &mut Scratch {
        &mut self.scratch
    }
}

/// Memory that is kept between evaluations, so that a step allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    buffer: Vec<f64>,
}

impl Scratch {
    /// The largest length that has been asked for.
    pub fn high_water_mark(&self) -> usize {
        self.buffer.len()
    }

    /// `len` numbers of unspecified value; grows at the first use and never shrinks.
    pub fn take(&mut self, len: usize) -> &mut [f64] {
        if self.buffer.len() < len {
            self.buffer.resize(len, 0.0);
        }
        &mut self.buffer[..len]
    }
}
