//! Products of tensor-variate Gaussians: one matrix-variate Gaussian, one per layer of a network, and tensors of order up to four.

mod chart;
mod density;
mod draw;
mod from_variances;
mod gradient;
mod group;
mod metric;
mod step;
mod tensors;
mod values;

pub(crate) use draw::TensorWork;
pub(crate) use from_variances::by_factors;
pub use gradient::TensorGradient;
pub use group::Group;
pub(crate) use tensors::Tensors;

use super::layout::{Layout, MatrixUpdate, size};
use super::{Approximation, Batch, DrawPlan, Family, Kind, State, StepRequest, Taken};
use crate::Error;
use crate::block::{Full, ScaleMatrix};
use crate::estimate::Curvature;
use crate::random::Purpose;
use crate::target::{Contraction, Covariance, Evaluations, Prior};

/// Independent groups of consecutive coordinates, each vec Z ~ N(vec W, V_K ⊗ … ⊗ V_1) with the first mode fastest; K = 2 is the
/// matrix-variate Gaussian with U = V_1 over rows and V = V_2 over columns, K = 1 the Gaussian (mathematics §6, §10.5).
///
/// In a [`State`] each group is a block: `b` is W, `precision` the entries of P_1 = V_1⁻¹, …, P_K one after the other. The factors
/// of a group are determined up to numbers whose product is one.
///
/// Paper: §5, eq. (28), App. I.
#[derive(Debug, PartialEq)]
pub struct TensorGaussian<S = Full> {
    groups: Vec<Group<S>>,
    update: MatrixUpdate,
}

impl<S: Clone> Clone for TensorGaussian<S> {
    fn clone(&self) -> Self {
        Self { groups: self.groups.clone(), update: self.update }
    }

    /// Allocates nothing where the shapes agree.
    fn clone_from(&mut self, source: &Self) {
        self.groups.clone_from(&source.groups);
        self.update = source.update;
    }
}

impl<S: ScaleMatrix> TensorGaussian<S> {
    /// The product of these groups.
    ///
    /// # Errors
    /// As [`Layout::new`].
    pub fn new(groups: Vec<Group<S>>, update: MatrixUpdate) -> Result<Self, Error> {
        Layout::new(&dims(&groups))?;
        Ok(Self { groups, update })
    }

    /// The groups.
    pub fn groups(&self) -> &[Group<S>] {
        &self.groups
    }

    /// How the factors move.
    pub fn update(&self) -> MatrixUpdate {
        self.update
    }

    /// The lengths of the modes of every group.
    pub fn layout(&self) -> Layout {
        Layout::new(&dims(&self.groups)).expect("checked when it was made")
    }

    /// Number of coordinates.
    pub(crate) fn size(&self) -> usize {
        self.groups.iter().map(Group::size).sum()
    }

    /// The groups with their coordinates.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (std::ops::Range<usize>, &Group<S>)> {
        self.groups.iter().scan(0, |start, group| {
            let rows = *start..*start + group.size();
            *start = rows.end;
            Some((rows, group))
        })
    }
}

fn dims<S: ScaleMatrix>(groups: &[Group<S>]) -> Vec<Vec<usize>> {
    groups.iter().map(|group| group.factors().iter().map(S::dim).collect()).collect()
}

impl<S: ScaleMatrix> Approximation for TensorGaussian<S> {
    type Work = TensorWork;
    type Gradient = TensorGradient;

    fn family(&self) -> Family {
        Family { kind: Kind::Matrix { layout: self.layout(), update: self.update }, covariance: S::COVARIANCE }
    }

    fn dim(&self) -> usize {
        self.size()
    }

    fn covariance_kind(&self) -> Covariance {
        S::COVARIANCE
    }

    fn n_blocks(&self) -> usize {
        1
    }

    /// But for the rule of the paper, which moves by squared gradients.
    fn takes_values_alone(&self) -> bool {
        self.update != MatrixUpdate::PaperLiteral
    }

    fn work(&self, plan: &DrawPlan) -> TensorWork {
        TensorWork::new(&self.groups, plan)
    }

    fn batch(&self, plan: &DrawPlan) -> Batch {
        self.empty_batch(plan)
    }

    fn gradient_buffer(&self) -> TensorGradient {
        TensorGradient::like(self)
    }

    fn draw(&self, seed: u64, purpose: Purpose, step: u64, work: &mut TensorWork, batch: &mut Batch) {
        self.fill_noise(seed, purpose, step, work);
        self.place(work, batch);
    }

    fn weigh(&self, work: &mut TensorWork, batch: &Batch) -> bool {
        self.weigh_draws(work, batch)
    }

    fn contraction<'w>(&self, work: &'w TensorWork) -> Contraction<'w> {
        Contraction::shared(&work.weight, work.weight.len())
    }

    fn elbo(&self, log_p: &[f64], prior: &Prior, _work: &TensorWork, batch: &Batch) -> (f64, f64) {
        super::batch::mean_difference(log_p, prior, batch, 0..batch.n)
    }

    fn gradient(
        &self,
        evaluations: &Evaluations,
        curvature: &[f64],
        prior: &Prior,
        work: &mut TensorWork,
        batch: &Batch,
        out: &mut TensorGradient,
    ) -> bool {
        self.accumulate(evaluations, curvature, prior, work, batch, out);
        out.is_finite()
    }

    fn step(&mut self, gradient: &TensorGradient, request: StepRequest, work: &mut TensorWork) -> Taken {
        let mut taken = Taken::before_blocks(0.0);
        let (mut w, mut g) = gradient.moved_by();
        for (which, group) in self.groups.iter_mut().enumerate() {
            let (own_w, rest_w) = w.split_at(group.size());
            let (own_g, rest_g) = g.split_at(group.n_entries());
            taken = taken.and(group.advance(which, (own_w, own_g), self.update, request, work), 1.0);
            (w, g) = (rest_w, rest_g);
        }
        taken
    }

    fn curvature_len(&self, curvature: Curvature) -> usize {
        match curvature {
            Curvature::ItemGradients | Curvature::SquaredMean => self.groups.iter().map(Group::n_entries).sum(),
            _ => S::COVARIANCE.n_entries(self.size()),
        }
    }

    fn add_item_gradients(&self, s: usize, items: &[f64], work: &mut TensorWork, curvature: &mut [f64]) {
        self.add_items(work.weight[s], items, work, curvature);
    }

    fn add_momentum(&self, before: &Self, ratio: f64, work: &mut TensorWork, gradient: &mut TensorGradient) -> bool {
        self.add_last_move(before, ratio, work, gradient);
        true
    }

    fn chart_len(&self) -> usize {
        self.chart_size()
    }

    fn chart(&self, out: &mut [f64]) {
        self.write_chart(out);
    }

    fn chart_gradient(&self, gradient: &TensorGradient, work: &mut TensorWork, out: &mut [f64]) {
        self.write_chart_gradient(gradient, work, out);
    }

    fn set_chart(&mut self, coordinates: &[f64], work: &mut TensorWork) -> bool {
        self.read_chart(coordinates, work)
    }

    fn inner(&self, one: &TensorGradient, two: &TensorGradient, work: &mut TensorWork) -> f64 {
        self.product(one, two, work)
    }

    fn natural_len(&self) -> usize {
        self.groups.iter().map(|group| group.size() + group.n_entries()).sum()
    }

    /// W − W₀ and the factors in balance: the natural coordinates of each block given the others, in which no two blocks are
    /// linear together.
    fn add_natural(&self, reference: &Self, _offset: &mut [f64], sum: &mut [f64]) {
        let mut sum = sum;
        for (group, reference) in self.groups.iter().zip(&reference.groups) {
            let (own, rest) = sum.split_at_mut(group.size() + group.n_entries());
            group.add_natural(reference, own);
            sum = rest;
        }
    }

    fn from_natural(reference: &Self, sum: &[f64], share: f64) -> Option<Self> {
        let mut sum = sum;
        let mut groups = Vec::with_capacity(reference.groups.len());
        for reference in &reference.groups {
            let (own, rest) = sum.split_at(reference.size() + reference.n_entries());
            groups.push(Group::from_natural(reference, own, share)?);
            sum = rest;
        }
        Some(Self { groups, update: reference.update })
    }

    fn log_density(&self, z: &[f64]) -> f64 {
        self.log_density_at(z)
    }

    fn score(&self, z: &[f64], out: &mut [f64]) {
        self.score_at(z, out);
    }

    fn hessian(&self, _z: &[f64], out: &mut [f64]) {
        self.write_kronecker(out, true);
    }

    fn mean(&self) -> Vec<f64> {
        self.groups.iter().flat_map(|group| group.w().iter().copied()).collect()
    }

    fn covariance(&self) -> Vec<f64> {
        let mut out = vec![0.0; self.size() * self.size()];
        self.write_kronecker(&mut out, false);
        out
    }

    fn variances(&self) -> Vec<f64> {
        self.marginal_variances()
    }

    fn entropy(&self) -> Option<f64> {
        let log_det: f64 = self.groups.iter().map(Group::log_det).sum();
        Some(0.5 * (self.size() as f64 * (1.0 + std::f64::consts::TAU.ln()) - log_det))
    }

    fn state(&self) -> State {
        State {
            family: self.family(),
            dim: self.size(),
            blocks: self.groups.iter().map(Group::state).collect(),
            log_weights: vec![0.0],
        }
    }

    fn from_state(state: &State) -> Result<Self, Error> {
        let Kind::Matrix { layout, update } = state.family.kind else {
            return Err(Error::Unsupported {
                wanted: format!("reading `{}` as `matrix`", state.family),
                instead: "read it as the family it is".into(),
            });
        };
        if layout.total() != state.dim {
            let what = "coordinates of the layout of `matrix`";
            return Err(Error::Shape { what, expected: state.dim, found: layout.total() });
        }
        let expected = layout.groups().count();
        if state.blocks.len() != expected {
            return Err(Error::Shape { what: "blocks of the state", expected, found: state.blocks.len() });
        }
        if state.log_weights != [0.0] {
            let value = state.log_weights.iter().map(|log| log.exp()).sum();
            let reason = "a single component has weight one";
            return Err(Error::Domain { parameter: "sum of weights", value, reason });
        }
        let group = |(dims, block): (&[u32], &super::BlockState)| {
            if block.b.len() != size(dims) {
                return Err(Error::Shape { what: "entries of W", expected: size(dims), found: block.b.len() });
            }
            Group::from_state(dims, block)
        };
        let groups = layout.groups().zip(&state.blocks).map(group).collect::<Result<_, Error>>()?;
        Self::new(groups, update)
    }
}
