//! The parameters of a model: names, shapes and constraints, declared in one place.

use super::{Transform, Transforms};

/// What the parameters of a [`Model`](super::Model) are called, how many numbers they have and where they may lie.
///
/// The numbers follow each other in the order of declaration: that is the `x` which the model sees, and what draws,
/// tables and files hold. A parameter with a shape has one name for each entry, counted from one: `theta[3]`,
/// `B[2,1]`; the last index runs fastest.
///
/// ```
/// use elinvar::Parameters;
///
/// let parameters = Parameters::new().real("theta", 8).real("mu", 1).positive("tau", 1).simplex("w", 3);
/// assert_eq!(parameters.len(), 13);
/// assert_eq!(parameters.names()[7..11], ["theta[8]", "mu", "tau", "w[1]"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters {
    groups: Vec<Group>,
    /// Names that were given for all numbers and are not as many, which the check of the target tells.
    miscounted: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
struct Group {
    name: String,
    size: Size,
    /// The map of one entry, or of all of them together.
    transform: Transform,
}

/// How many entries a parameter has.
///
/// A number is that many entries, and one is a number without an index; an array of numbers is a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Size(Vec<usize>);

impl From<usize> for Size {
    fn from(n: usize) -> Self {
        if n == 1 { Self(Vec::new()) } else { Self(vec![n]) }
    }
}

impl<const N: usize> From<[usize; N]> for Size {
    fn from(lengths: [usize; N]) -> Self {
        Self(lengths.to_vec())
    }
}

impl Size {
    /// Number of entries.
    fn len(&self) -> usize {
        self.0.iter().product()
    }

    /// The indices of every entry, the last running fastest.
    fn indices(&self) -> Vec<String> {
        let mut all = vec![String::new()];
        for n in &self.0 {
            let next = |before: &String| {
                let comma = if before.is_empty() { "" } else { "," };
                (1..=*n).map(|i| format!("{before}{comma}{i}")).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(next).collect();
        }
        all
    }
}

impl Parameters {
    /// None so far.
    pub fn new() -> Self {
        Self::default()
    }

    fn with(mut self, name: impl Into<String>, size: impl Into<Size>, transform: Transform) -> Self {
        self.groups.push(Group { name: name.into(), size: size.into(), transform });
        self
    }

    /// Any real numbers.
    pub fn real(self, name: impl Into<String>, size: impl Into<Size>) -> Self {
        self.with(name, size, Transform::Identity)
    }

    /// Positive numbers.
    pub fn positive(self, name: impl Into<String>, size: impl Into<Size>) -> Self {
        self.with(name, size, Transform::Log)
    }

    /// Numbers above `low`.
    pub fn above(self, name: impl Into<String>, size: impl Into<Size>, low: f64) -> Self {
        self.with(name, size, Transform::Above { low })
    }

    /// Numbers below `high`.
    pub fn below(self, name: impl Into<String>, size: impl Into<Size>, high: f64) -> Self {
        self.with(name, size, Transform::Below { high })
    }

    /// Numbers between `low` and `high`.
    pub fn interval(self, name: impl Into<String>, size: impl Into<Size>, low: f64, high: f64) -> Self {
        let is_unit = (low, high) == (0.0, 1.0);
        self.with(name, size, if is_unit { Transform::Logit } else { Transform::Interval { low, high } })
    }

    /// `len` numbers in increasing order.
    pub fn ordered(self, name: impl Into<String>, len: usize) -> Self {
        self.with(name, [len], Transform::Ordered { len })
    }

    /// `len` positive numbers with sum one; a density is one of the first `len − 1`.
    pub fn simplex(self, name: impl Into<String>, len: usize) -> Self {
        self.with(name, [len], Transform::Simplex { len })
    }

    /// `len` numbers whose squares have the sum one; a density is one with respect to the surface of the sphere.
    pub fn unit_vector(self, name: impl Into<String>, len: usize) -> Self {
        self.with(name, [len], Transform::UnitVector { len })
    }

    /// The Cholesky factor L of an n × n covariance matrix LLᵀ: its lower triangle row by row, `L[1,1]`, `L[2,1]`,
    /// `L[2,2]`, `L[3,1]`, …; a density is one of these entries.
    pub fn covariance_cholesky(self, name: impl Into<String>, n: usize) -> Self {
        self.with(name, [n, n], Transform::CovarianceCholesky { len: n })
    }

    /// The Cholesky factor of an n × n correlation matrix, stored like [`Parameters::covariance_cholesky`]; a density
    /// is one of the entries left of the diagonal. The first entry is 1.
    pub fn correlation_cholesky(self, name: impl Into<String>, n: usize) -> Self {
        self.with(name, [n, n], Transform::CorrelationCholesky { len: n })
    }

    /// Number of numbers x.
    pub fn len(&self) -> usize {
        self.groups.iter().map(Group::len).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A name for every number x.
    pub fn names(&self) -> Vec<String> {
        if !self.miscounted.is_empty() {
            return self.miscounted.clone();
        }
        self.groups.iter().flat_map(Group::names).collect()
    }

    /// The same with other names, one for each number.
    pub(crate) fn renamed(self, names: Vec<String>) -> Self {
        let transforms = self.transforms();
        let single = transforms.as_slice().iter().all(|transform| transform.n_constrained() == 1);
        if !single || names.len() != self.len() {
            return Self { miscounted: names, ..self };
        }
        let groups = names.into_iter().zip(transforms.as_slice());
        let groups = groups.map(|(name, t)| Group { name, size: 1.into(), transform: *t }).collect();
        Self { groups, miscounted: Vec::new() }
    }

    /// The same with the constraint of the parameter `name` changed; a name that nobody has is a new parameter.
    pub(crate) fn constrained(mut self, name: &str, transform: Transform) -> Self {
        match self.groups.iter_mut().find(|group| group.name == name) {
            Some(group) => group.transform = transform,
            None => self = self.with(name, 1, transform),
        }
        self
    }

    /// The map from unconstrained coordinates to x; its constants are not checked.
    pub(crate) fn transforms(&self) -> Transforms {
        let mut blocks = Vec::with_capacity(self.groups.len());
        for group in &self.groups {
            let copies = if group.is_whole() { 1 } else { group.size.len() };
            blocks.extend(std::iter::repeat_n(group.transform, copies));
        }
        Transforms::unchecked(blocks)
    }
}

impl From<usize> for Parameters {
    /// So many real numbers called x1, x2, ….
    fn from(n: usize) -> Self {
        (1..=n).fold(Self::new(), |parameters, i| parameters.real(format!("x{i}"), 1))
    }
}

impl Group {
    /// Whether one map makes all entries.
    fn is_whole(&self) -> bool {
        use Transform::{CorrelationCholesky, CovarianceCholesky, Ordered, Simplex, UnitVector};
        let whole = matches!(self.transform, Ordered { .. } | Simplex { .. } | UnitVector { .. });
        whole || matches!(self.transform, CovarianceCholesky { .. } | CorrelationCholesky { .. })
    }

    fn is_triangle(&self) -> bool {
        matches!(self.transform, Transform::CovarianceCholesky { .. } | Transform::CorrelationCholesky { .. })
    }

    fn len(&self) -> usize {
        if self.is_whole() { self.transform.n_constrained() } else { self.size.len() }
    }

    fn names(&self) -> Vec<String> {
        let name = &self.name;
        if self.is_triangle() {
            let n = self.size.0[0];
            return (1..=n).flat_map(|i| (1..=i).map(move |j| format!("{name}[{i},{j}]"))).collect();
        }
        if self.size.0.is_empty() {
            return vec![name.clone()];
        }
        self.size.indices().iter().map(|index| format!("{name}[{index}]")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_shapes() {
        let parameters = Parameters::new()
            .real("B", [2, 3])
            .positive("tau", 1)
            .real("a", [1])
            .correlation_cholesky("L", 3)
            .interval("p", 2, 0.0, 1.0);
        let names = parameters.names();
        assert_eq!(names[..6], ["B[1,1]", "B[1,2]", "B[1,3]", "B[2,1]", "B[2,2]", "B[2,3]"]);
        assert_eq!(names[6..8], ["tau", "a[1]"]);
        assert_eq!(names[8..14], ["L[1,1]", "L[2,1]", "L[2,2]", "L[3,1]", "L[3,2]", "L[3,3]"]);
        assert_eq!(names[14..], ["p[1]", "p[2]"]);
        assert_eq!((parameters.len(), parameters.transforms().dim()), (16, 13));
        assert_eq!(parameters.transforms().n_constrained(), names.len());
    }
}
