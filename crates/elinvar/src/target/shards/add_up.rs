//! Sums of shards added by pairs in the order of their numbers, whenever they arrive.

use std::collections::HashMap;

use super::{Request, ShardError, Sums};

/// The sum over n shards, in the making.
///
/// Shards are the leaves of a tree: node i of a level is the sum of nodes 2i and 2i + 1 of the level below, and a last
/// node without a partner goes up as it is. What is added to what is thus a function of n alone. A sum waits only for
/// its partner, so that at most log₂ n of them are kept where answers come in order.
#[derive(Debug)]
pub struct AddUp {
    n_shards: usize,
    lengths: [usize; 3],
    /// Nodes that wait for their partner, by level and number.
    waiting: HashMap<(u32, usize), Sums>,
    arrived: Vec<bool>,
}

impl AddUp {
    /// Nothing, of so many shards that are asked this.
    pub fn new(n_shards: usize, request: &Request) -> Self {
        Self { n_shards, lengths: request.lengths(), waiting: HashMap::new(), arrived: vec![false; n_shards] }
    }

    /// Adds what the shard of this number has answered.
    ///
    /// # Errors
    /// If it has answered before, does not exist, or answered something else than it was asked.
    pub fn add(&mut self, shard: usize, sums: Sums) -> Result<(), ShardError> {
        match self.arrived.get_mut(shard) {
            None => return Err(ShardError::Unexpected { shard, problem: "does not exist" }),
            Some(true) => return Err(ShardError::Unexpected { shard, problem: "has answered before" }),
            Some(arrived) => *arrived = true,
        }
        let whats = ["log densities", "numbers in gradients", "numbers in second derivatives"];
        for (what, (expected, found)) in whats.into_iter().zip(self.lengths.into_iter().zip(sums.lengths())) {
            if expected != found {
                return Err(ShardError::OtherShape { shard, what, expected, found });
            }
        }
        let (mut level, mut node, mut sums) = (0, shard, sums);
        let mut n_nodes = self.n_shards;
        while n_nodes > 1 {
            let partner = node ^ 1;
            if partner < n_nodes {
                let Some(other) = self.waiting.remove(&(level, partner)) else { break };
                sums = if partner < node { joined(other, &sums) } else { joined(sums, &other) };
            }
            (level, node, n_nodes) = (level + 1, node / 2, n_nodes.div_ceil(2));
        }
        self.waiting.insert((level, node), sums);
        Ok(())
    }

    /// The sum over all shards.
    ///
    /// # Errors
    /// If one has not answered.
    pub fn total(mut self) -> Result<Sums, ShardError> {
        if let Some(shard) = self.arrived.iter().position(|arrived| !arrived) {
            return Err(ShardError::Missing { shard });
        }
        let root = self.waiting.drain().next();
        root.map(|(_, sums)| sums).ok_or(ShardError::Missing { shard: 0 })
    }
}

/// The sum of two nodes, the left one first.
fn joined(mut left: Sums, right: &Sums) -> Sums {
    left.add(right);
    left
}
