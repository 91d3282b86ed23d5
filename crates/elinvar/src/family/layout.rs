//! How the coordinates of z are cut into tensors.

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::block::MOST_MODES;

/// Most groups of a layout.
pub(crate) const MOST_GROUPS: usize = 8;
/// Groups of consecutive coordinates of z, each read as a tensor with its first mode fastest (a matrix column by
/// column).
///
/// In files a list of lists: `[[13, 50], [51, 1]]` is a 13 × 50 matrix followed by a column of 51 numbers.
///
/// ```
/// use elinvar::research::family::Layout;
///
/// let layout = Layout::new(&[&[13, 50], &[51, 1]])?;
/// assert_eq!(layout.total(), 701);
/// assert_eq!(serde_json::to_string(&layout).unwrap(), "[[13,50],[51,1]]");
/// # Ok::<(), elinvar::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Vec<u64>>", into = "Vec<Vec<u64>>")]
pub struct Layout {
    /// Unused places are zero.
    dims: [[u32; MOST_MODES]; MOST_GROUPS],
}

impl Layout {
    /// The layout with these sizes: for each group the length of each of its modes.
    ///
    /// # Errors
    /// [`Error::Shape`] for no group or more than eight, for a group of no mode or more than four; [`Error::Domain`]
    /// for a mode of length zero or sizes whose product is not a number of coordinates.
    pub fn new<G: AsRef<[usize]>>(groups: &[G]) -> Result<Self, Error> {
        if groups.is_empty() || groups.len() > MOST_GROUPS {
            let what = "groups of a layout (1 to 8)";
            return Err(Error::Shape { what, expected: MOST_GROUPS, found: groups.len() });
        }
        let mut dims = [[0; MOST_MODES]; MOST_GROUPS];
        let mut total = 0u32;
        for (to, group) in dims.iter_mut().zip(groups) {
            let group = group.as_ref();
            if group.is_empty() || group.len() > MOST_MODES {
                let what = "modes of a group (1 to 4)";
                return Err(Error::Shape { what, expected: MOST_MODES, found: group.len() });
            }
            let mut size = 1u32;
            for (to, length) in to.iter_mut().zip(group) {
                let domain = |reason| Error::Domain { parameter: "length of a mode", value: *length as f64, reason };
                if *length == 0 {
                    return Err(domain("a mode has at least one entry"));
                }
                *to = u32::try_from(*length).map_err(|_| domain("so many coordinates cannot be counted"))?;
                size = size.checked_mul(*to).ok_or_else(|| domain("so many coordinates cannot be counted"))?;
            }
            total = total.checked_add(size).ok_or(Error::Domain {
                parameter: "size of a group",
                value: f64::from(size),
                reason: "so many coordinates cannot be counted",
            })?;
        }
        Ok(Self { dims })
    }

    /// The groups, each as the lengths of its modes.
    pub fn groups(&self) -> impl Iterator<Item = &[u32]> {
        let group = |dims: &'_ [u32; MOST_MODES]| dims.iter().position(|d| *d == 0).unwrap_or(MOST_MODES);
        self.dims.iter().map(move |dims| &dims[..group(dims)]).take_while(|dims| !dims.is_empty())
    }

    /// Number of coordinates of all groups.
    pub fn total(&self) -> usize {
        self.groups().map(size).sum()
    }
}

/// Number of entries of a tensor with these lengths.
pub(crate) fn size(dims: &[u32]) -> usize {
    dims.iter().map(|d| *d as usize).product()
}

impl TryFrom<Vec<Vec<u64>>> for Layout {
    type Error = Error;

    fn try_from(groups: Vec<Vec<u64>>) -> Result<Self, Error> {
        // A length that is no usize is too large in any case.
        let length = |d: u64| usize::try_from(d).unwrap_or(usize::MAX);
        let groups: Vec<Vec<usize>> = groups.into_iter().map(|g| g.into_iter().map(length).collect()).collect();
        Self::new(&groups)
    }
}

impl From<Layout> for Vec<Vec<u64>> {
    fn from(layout: Layout) -> Self {
        layout.groups().map(|dims| dims.iter().map(|d| u64::from(*d)).collect()).collect()
    }
}

impl std::fmt::Display for Layout {
    /// `13x50,51x1`: what [`str::parse`] reads.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (g, dims) in self.groups().enumerate() {
            f.write_str(if g == 0 { "" } else { "," })?;
            for (j, d) in dims.iter().enumerate() {
                write!(f, "{}{d}", if j == 0 { "" } else { "x" })?;
            }
        }
        Ok(())
    }
}

impl std::str::FromStr for Layout {
    type Err = Error;

    /// Lengths joined by `x`, groups by commas: `13x50,51x1`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let length = |word: &str| {
            word.trim().parse::<usize>().map_err(|_| Error::Unsupported {
                wanted: format!("the layout {text:?}"),
                instead: "write the lengths of the modes of each group, such as 13x50,51x1".into(),
            })
        };
        let group = |group: &str| group.split('x').map(length).collect::<Result<Vec<usize>, Error>>();
        Self::new(&text.split(',').map(group).collect::<Result<Vec<_>, Error>>()?)
    }
}

#[cfg(test)]
mod tests {
    use super::Layout;

    #[test]
    fn a_layout_counts_its_coordinates_and_survives_a_file() {
        let layout = Layout::new(&[&[13usize, 50][..], &[51, 1], &[2, 3, 4, 5], &[7]]).unwrap();
        assert_eq!(layout.total(), 650 + 51 + 120 + 7);
        assert_eq!(layout.to_string(), "13x50,51x1,2x3x4x5,7");
        assert_eq!(layout.to_string().parse::<Layout>().unwrap(), layout);
        for text in ["", "3x", "3,,4", "3x-1", "two", "3x0"] {
            assert!(text.parse::<Layout>().is_err(), "{text}");
        }
        let text = serde_json::to_string(&layout).unwrap();
        assert_eq!(text, "[[13,50],[51,1],[2,3,4,5],[7]]");
        assert_eq!(serde_json::from_str::<Layout>(&text).unwrap(), layout);
    }

    #[test]
    fn what_is_no_layout_is_refused_with_a_sentence() {
        for (text, expected) in [
            ("[]", "groups of a layout"),
            ("[[1],[1],[1],[1],[1],[1],[1],[1],[1]]", "groups of a layout"),
            ("[[]]", "modes of a group"),
            ("[[1,1,1,1,1]]", "modes of a group"),
            ("[[3,0]]", "at least one entry"),
            ("[[70000,70000]]", "cannot be counted"),
            ("[[4000000000],[4000000000]]", "cannot be counted"),
            ("[[99999999999999999]]", "cannot be counted"),
        ] {
            let error = serde_json::from_str::<Layout>(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
