//! Draws of a posterior on the natural scale of its parameters.

use rand::distr::Distribution;
use rand::{Rng, RngExt as _};

use super::Posterior;
use crate::target::Draws;

/// Draws, row by row, with a name for every column.
///
/// ```
/// use elinvar::prelude::*;
///
/// let model = log_density(Parameters::new().positive("rate", 1), |x, gradient| {
///     gradient[0] = 15.0 / x[0] - 5.0;
///     15.0 * x[0].ln() - 5.0 * x[0]
/// });
/// let draws = elinvar::fit(&model)?.sample(1_000, 1);
/// let mean = draws.column("rate").sum::<f64>() / draws.len() as f64;
/// assert!((mean - 3.2).abs() < 0.2);
/// assert_eq!(draws[0], *draws.iter().next().expect("there are draws"));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    names: Vec<String>,
    rows: Vec<f64>,
}

impl Sample {
    /// Number of draws.
    pub fn len(&self) -> usize {
        self.rows.len() / self.names.len()
    }

    /// Whether there is no draw.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The draws one by one.
    pub fn iter(&self) -> std::slice::ChunksExact<'_, f64> {
        self.rows.chunks_exact(self.names.len())
    }

    /// All numbers, draw after draw.
    pub fn as_slice(&self) -> &[f64] {
        &self.rows
    }

    /// The draws as a matrix of ndarray, one in each row. Needs the feature `ndarray`.
    #[cfg(feature = "ndarray")]
    pub fn array(&self) -> ndarray::ArrayView2<'_, f64> {
        ndarray::ArrayView2::from_shape((self.len(), self.names.len()), &self.rows).expect("rows of one length")
    }

    /// The draws as a matrix of faer, one in each row. Needs the feature `faer`; the version is the one that elinvar
    /// computes with, 0.24.
    #[cfg(feature = "faer")]
    pub fn matrix(&self) -> faer::MatRef<'_, f64> {
        faer::MatRef::from_row_major_slice(&self.rows, self.len(), self.names.len())
    }

    /// One parameter in all draws.
    ///
    /// # Panics
    /// If no parameter has this name.
    pub fn column(&self, name: &str) -> impl Iterator<Item = f64> + '_ {
        let at = self.names.iter().position(|known| known == name);
        let at = at.unwrap_or_else(|| panic!("no parameter is called {name}; there are {}", self.names.join(", ")));
        self.iter().map(move |row| row[at])
    }
}

impl std::ops::Index<usize> for Sample {
    type Output = [f64];

    fn index(&self, s: usize) -> &[f64] {
        &self.rows[s * self.names.len()..(s + 1) * self.names.len()]
    }
}

impl<'s> IntoIterator for &'s Sample {
    type Item = &'s [f64];
    type IntoIter = std::slice::ChunksExact<'s, f64>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Posterior {
    /// `n` draws of the parameters on their natural scale: states of the chains where they gave the answer (evenly
    /// chosen, and again and again where more are asked for than were kept), otherwise independent draws of the
    /// approximation.
    ///
    /// The unconstrained coordinates are in [`Posterior::sample_z`].
    pub fn sample(&self, n: usize, seed: u64) -> Sample {
        let z = match self.corrected() {
            Some(corrected) => corrected.draws(n),
            None => self.sample_z(n, seed),
        };
        self.on_natural_scale(z.view())
    }

    /// Points of ℝᵈ on the natural scale of the parameters.
    pub fn on_natural_scale(&self, z: Draws<'_>) -> Sample {
        let (transforms, names) = (self.transforms(), self.names().to_vec());
        let mut rows = vec![0.0; z.len() * names.len()];
        transforms.constrain_all(z, &mut rows);
        Sample { names, rows }
    }
}

/// Draws of the parameters on their natural scale with a generator of your own: a kept state of the chains, chosen at
/// random, where they gave the answer, otherwise a draw of the approximation.
///
/// ```
/// use elinvar::model::Banana;
/// use elinvar::{Family, Plan};
/// use rand::{RngExt as _, SeedableRng as _};
///
/// let posterior = elinvar::Fit::new(&Banana::default()).family(Family::gaussian()).run()?;
/// let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
/// let one: Vec<f64> = rng.sample(&posterior);
/// assert_eq!(one.len(), 2);
/// # Ok::<(), elinvar::Error>(())
/// ```
impl Distribution<Vec<f64>> for Posterior {
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> Vec<f64> {
        let Some(corrected) = self.corrected() else {
            return self.on_natural_scale(self.sample_z(1, rng.next_u64()).view()).rows;
        };
        let (d, state) = (self.dim(), rng.random_range(0..corrected.n_states()));
        self.on_natural_scale(Draws::new(d, &corrected.states[state * d..(state + 1) * d])).rows
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;

    use super::*;
    use crate::model::Banana;
    use crate::plan::{Correct, Plan};
    use crate::{Family, run};

    /// Both sources of draws: the mean of 4 000 is within five of its errors of what the answer says.
    #[test]
    fn a_generator_of_ones_own() {
        for correct in [Correct::Never, Correct::Always] {
            let plan = Plan { correct, ..Plan::default() };
            let posterior = run::fit(&Banana::default(), Family::gaussian(), &plan).unwrap();
            let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(3);
            let draws: Vec<Vec<f64>> = (&posterior).sample_iter(&mut rng).take(4_000).collect();
            for (k, number) in posterior.summary(10_000, 1).parameters.iter().enumerate() {
                let mean = draws.iter().map(|x| x[k]).sum::<f64>() / 4_000.0;
                let error = number.sd.value / (4_000.0_f64).sqrt();
                assert!((mean - number.mean.value).abs() < 5.0 * error + 0.05 * number.sd.value, "{mean} {number:?}");
            }
        }
    }

    #[cfg(feature = "ndarray")]
    #[test]
    fn draws_as_an_array() {
        let posterior = run::fit(&Banana::default(), Family::gaussian(), &Plan::default()).unwrap();
        let draws = posterior.sample(7, 2);
        assert_eq!(draws.array().dim(), (7, 2));
        assert_eq!(draws.array()[[3, 1]], draws[3][1]);
    }
    #[cfg(feature = "faer")]
    #[test]
    fn draws_as_a_matrix() {
        let posterior = run::fit(&Banana::default(), Family::gaussian(), &Plan::default()).unwrap();
        let draws = posterior.sample(7, 2);
        let matrix = draws.matrix();
        assert_eq!((matrix.nrows(), matrix.ncols()), (7, 2));
        assert_eq!((matrix[(3, 1)], matrix[(6, 0)]), (draws[3][1], draws[6][0]));
    }
}
