//! For those who build on the parts: targets that answer whole batches, families, laws and components of your own,
//! rules and estimators, steps one by one.
//!
//! | to | take |
//! |---|---|
//! | evaluate whole batches, or mini-batches of data | [`target::Target`], [`target::sum_over_rows`] |
//! | sum over shards that are elsewhere | [`target::shards::SumOfShards`] |
//! | take the steps yourself, keep and resume them | [`run::Run`] of `Fit::begin`, [`run::Checkpoint`] |
//! | have a schedule or rule of your own | [`run::Run::estimate_gradient`], then `move_by` or `move_to` |
//! | choose the parts of a step | [`rule`], [`estimate`], [`random::Noise`] in a [`Plan`](crate::Plan) |
//! | read and make members of families | [`family::Approximation`], [`block`], [`law`], [`component`] |
//! | bring a law, a component, a family | [`law::OwnLaw`], [`component::OwnComponent`], [`family::OwnFamily`] |
//! | correct a fit by chains, weigh its draws | [`chains`], [`posterior`] |
//! | see natural and expectation parameters, Fisher matrices | `theory`, behind the feature of that name |

/// Densities as a fit asks them: whole batches, rows, priors, supports, changes of coordinates.
pub mod target {
    pub use crate::target::{
        About, Answer, Ask, Borrowed, ColumnScale, Concavity, Contraction, Covariance, CurvatureMut, Density,
        Derivatives, DrawBuffer, Draws, Fault, Guess, Offers, Parts, Pointwise, PointwiseHessian, PointwiseSecondOrder,
        PointwiseTarget, PointwiseValue, Prior, Room, Rows, Scratch, Shape, Size, SumOverRows, Support, Target,
        TargetError, Transform, Transforms, Want, WithPrior, from_fn, from_fns, from_values, sum_over_rows,
    };
    /// Sums over numbered shards, each evaluated anywhere.
    pub mod shards {
        pub use crate::target::shards::{
            AddUp, Book, InProcess, Request, ShardError, Shards, SumOfShards, Sums, Wanted, Which, evaluate,
            evaluate_with,
        };
    }
    #[cfg(feature = "dual")]
    pub use crate::target::{Dual, DualDensity, DualNum};
}

/// Families and their members.
pub mod family {
    pub use crate::block::own::{Own, OwnFamily};
    pub use crate::family::{Approximation, Blocks, Kind, Layout};
    pub use crate::rule::MatrixUpdate;
}

/// Coordinates of a member that move together.
pub mod block {
    pub use crate::block::{Location, LogWeights, Natural, OwnParameters, Scale, Tensor};
}

/// Mixing laws of w.
pub mod law {
    pub use crate::law::{Law, Own, OwnLaw, Role};
}

/// Components of finite mixtures: univariate exponential families.
pub mod component {
    pub use crate::component::{Component, ComponentKind, Derivatives, Own, OwnComponent, Range};
}

/// How a member moves.
pub mod rule {
    pub use crate::rule::{
        AdamLike, BesselRatio, BiasCorrection, EntropyGradient, EuclideanAdam, FisherMatrix, MatrixUpdate, OnLeaving,
        Printed, PrintedStep, PriorTerm, Root, Rule, StepSize,
    };
}

/// How draws become gradients.
pub mod estimate {
    pub use crate::block::BlockGradient;
    pub use crate::estimate::{Curvature, MixingWeights, Sampling, ShapeEstimator};
    pub use crate::family::Gradient;
}

/// Random numbers as functions of (seed, purpose, step, block).
pub mod random {
    pub use crate::random::{MixingNoise, Noise, Purpose, Stream};
}

/// A fit step by step: where it begins, its state, its journal.
pub mod run {
    pub use crate::run::components::{Grown, Round, grow};
    pub use crate::run::journal::{Entry, Folder, Journal, Part};
    pub use crate::run::{
        Bound, Checkpoint, Counts, Interrupt, Placement, Run, Start, Step, StopReason, start, start_around,
        start_at_guess,
    };
}

/// Chains that correct a fit.
pub mod chains {
    pub use crate::chains::{Corrected, CorrectedMode, CorrectedNumber, Correction, Doubt, Round};
}

/// Importance weights, and what a verdict has looked at.
pub mod posterior {
    pub use crate::posterior::{
        Agreement, ModeRecord, ParetoTail, Rung, Scan, Shift, Smoothed, TailIndex, WeightedDraws, pareto_k_threshold,
        pareto_smooth, resample,
    };
}
