//! What a target answers, and the memory it may use on the way.

use super::{Covariance, CurvatureMut, Room};

/// log p and ∇log p at each draw of a batch, and what else was asked for.
#[derive(Clone, Debug)]
pub struct Answer {
    dim: usize,
    log_p: Vec<f64>,
    grad: Vec<f64>,
    covariance: Covariance,
    curvature: Vec<f64>,
    items: Vec<f64>,
    work: u64,
    scratch: Scratch,
}

/// The parts of an [`Answer`], to be written together.
#[derive(Debug)]
pub struct Parts<'a> {
    /// log p at each draw.
    pub log_p: &'a mut [f64],
    /// The gradients of all draws, one after the other.
    pub grad: &'a mut [f64],
    /// Sums of second derivatives, to be added to.
    pub curvature: CurvatureMut<'a>,
    /// Gradients of items, one after the other.
    pub items: &'a mut [f64],
    /// Gradients that the work on an expectation under a Gaussian comes to; 1 unless written.
    pub work: &'a mut u64,
    /// Memory.
    pub scratch: &'a mut Scratch,
}

impl Answer {
    /// Room for log p and ∇log p at `n` draws of dimension `dim`.
    pub fn new(dim: usize, n: usize) -> Self {
        Self {
            dim,
            log_p: vec![0.0; n],
            grad: vec![0.0; dim * n],
            covariance: Covariance::Full,
            curvature: Vec::new(),
            items: Vec::new(),
            work: 1,
            scratch: Scratch::default(),
        }
    }

    /// The same, with room for `n_sums` sums of second derivatives.
    pub fn with_curvature(mut self, covariance: Covariance, n_sums: usize) -> Self {
        self.set_curvature(covariance, n_sums);
        self
    }

    /// Makes room for sums of second derivatives and sets them to zero, as a target expects them.
    pub fn set_curvature(&mut self, covariance: Covariance, n_sums: usize) {
        self.covariance = covariance;
        self.curvature.clear();
        self.curvature.resize(n_sums * covariance.n_entries(self.dim), 0.0);
    }

    /// Full or diagonal sums.
    pub(crate) fn covariance(&self) -> Covariance {
        self.covariance
    }

    /// Makes room for the gradients of `n` items.
    pub fn set_items(&mut self, n: usize) {
        self.items.resize(n * self.dim, 0.0);
    }

    /// Makes room for another number of draws.
    pub(crate) fn set_len(&mut self, n: usize) {
        self.log_p.resize(n, 0.0);
        self.grad.resize(n * self.dim, 0.0);
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

    /// Sums of second derivatives, one after the other.
    pub fn curvature(&self) -> &[f64] {
        &self.curvature
    }

    /// Gradients of items, one after the other.
    pub fn items(&self) -> &[f64] {
        &self.items
    }

    /// Gradients that the last expectation under a Gaussian came to.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// All parts, to be written.
    pub fn parts_mut(&mut self) -> Parts<'_> {
        Parts {
            log_p: &mut self.log_p,
            grad: &mut self.grad,
            curvature: CurvatureMut::new(self.covariance, self.dim, &mut self.curvature),
            items: &mut self.items,
            work: &mut self.work,
            scratch: &mut self.scratch,
        }
    }

    /// Reserves what a target takes for this answer.
    pub(crate) fn reserve(&mut self, room: Room) {
        self.scratch.buffer.reserve(room.of(self.log_p.len(), self.curvature.len()));
    }
}

/// Memory that is kept between evaluations, so that a step allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    buffer: Vec<f64>,
}

impl Scratch {
    /// `len` numbers of unspecified value; never shrinks.
    pub fn take(&mut self, len: usize) -> &mut [f64] {
        if self.buffer.len() < len {
            self.buffer.resize(len, 0.0);
        }
        &mut self.buffer[..len]
    }
}
