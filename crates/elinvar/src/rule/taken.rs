//! What became of a step.

/// How far the blocks went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Taken {
    /// The smallest β that a block took; 0 if one stayed where it was.
    pub smallest: f64,
    /// The largest.
    pub largest: f64,
    /// KL(q_new ‖ q) in nats, for a mixture that of the joint with what is mixed over; `None` where no bound asked for
    /// it.
    pub kl: Option<f64>,
}

impl Taken {
    /// No block yet, and what the parameters beside the blocks took of the divergence.
    pub(crate) fn before_blocks(kl: f64) -> Self {
        Self { smallest: f64::INFINITY, largest: 0.0, kl: Some(kl) }
    }

    /// A single block whose divergence is not known.
    pub(crate) fn by_one(beta: f64) -> Self {
        Self { smallest: beta, largest: beta, kl: None }
    }

    /// A single block that stayed where it was.
    pub(crate) fn nowhere() -> Self {
        Self { kl: Some(0.0), ..Self::by_one(0.0) }
    }

    /// With a block more, whose divergence counts `share` times.
    pub(crate) fn and(self, other: Self, share: f64) -> Self {
        Self {
            smallest: self.smallest.min(other.smallest),
            largest: self.largest.max(other.largest),
            kl: self.kl.zip(other.kl).map(|(sum, kl)| sum + share * kl),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divergences_add_up_where_all_are_known() {
        let block = |beta, kl| Taken { kl, ..Taken::by_one(beta) };
        let two = Taken::before_blocks(0.5).and(block(0.1, Some(1.0)), 0.25).and(block(0.3, Some(2.0)), 0.75);
        assert_eq!(two, Taken { smallest: 0.1, largest: 0.3, kl: Some(2.25) });
        assert_eq!(two.and(block(0.0, None), 1.0), Taken { smallest: 0.0, largest: 0.3, kl: None });
    }
}
