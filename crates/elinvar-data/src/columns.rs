//! Which columns of a file.

use std::path::Path;

use crate::Error;
use crate::table::find;

/// Which columns of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Columns {
    /// All of them.
    #[default]
    All,
    /// These, in this order.
    Only(Vec<String>),
    /// All but these.
    Except(Vec<String>),
}

impl Columns {
    /// Positions in `names` of the columns meant.
    pub(crate) fn positions(&self, file: &Path, names: &[String]) -> Result<Vec<usize>, Error> {
        let listed = match self {
            Columns::All => return Ok((0..names.len()).collect()),
            Columns::Only(list) | Columns::Except(list) => {
                list.iter().map(|name| find(file, names, name)).collect::<Result<Vec<_>, _>>()?
            }
        };
        if let Some(i) = (1..listed.len()).find(|&i| listed[..i].contains(&listed[i])) {
            return Err(Error::ListedTwice { file: file.into(), name: names[listed[i]].clone() });
        }
        Ok(match self {
            Columns::Except(_) => (0..names.len()).filter(|k| !listed.contains(k)).collect(),
            _ => listed,
        })
    }
}
