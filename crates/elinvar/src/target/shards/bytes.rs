//! Requests and sums as bytes: the same numbers, bit for bit, on the other side.
//!
//! Four letters, then whole numbers of eight bytes and lists of `f64` behind their length, all little-endian. JSON has
//! no infinity, and a draw may have log p = −∞.

use super::{Request, Sums, Wanted, Which};
use crate::Error;
use crate::target::Covariance;

const REQUEST: &[u8; 4] = b"elR1";
const SUMS: &[u8; 4] = b"elS1";

impl Request {
    /// The request as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = REQUEST.to_vec();
        whole(&mut out, self.dim as u64);
        list(&mut out, &self.draws);
        match &self.wanted {
            Wanted::Values => whole(&mut out, 0),
            Wanted::Gradients => whole(&mut out, 1),
            Wanted::Contracted { which, covariance, weights, per_sum, own_draws } => {
                whole(&mut out, 2);
                whole(&mut out, *which as u64);
                whole(&mut out, (*covariance == Covariance::Full).into());
                list(&mut out, weights);
                whole(&mut out, *per_sum as u64);
                whole(&mut out, (*own_draws).into());
            }
            Wanted::GaussianExpectation { covariance, entries } => {
                whole(&mut out, 3);
                whole(&mut out, (*covariance == Covariance::Full).into());
                list(&mut out, entries);
            }
        }
        out
    }

    /// The request that these bytes are.
    ///
    /// # Errors
    /// [`Error::Data`] for other bytes, [`Error::Shape`] for numbers that do not belong together.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let mut read = Reader::of("request", bytes, REQUEST)?;
        let (dim, draws) = (read.count()?, read.list()?);
        let wanted = match read.whole()? {
            0 => Wanted::Values,
            1 => Wanted::Gradients,
            2 => Wanted::Contracted {
                which: match read.whole()? {
                    0 => Which::Hessian,
                    1 => Which::HessianAlone,
                    2 => Which::GaussNewton,
                    _ => return Err(read.damaged()),
                },
                covariance: read.covariance()?,
                weights: read.list()?,
                per_sum: read.count()?,
                own_draws: read.truth()?,
            },
            3 => Wanted::GaussianExpectation { covariance: read.covariance()?, entries: read.list()? },
            _ => return Err(read.damaged()),
        };
        read.end()?;
        let request = Self { dim, draws, wanted };
        request.check().map(|()| request)
    }
}

impl Sums {
    /// The sums as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = SUMS.to_vec();
        [&self.log_p, &self.grad, &self.curvature].into_iter().for_each(|numbers| list(&mut out, numbers));
        whole(&mut out, self.rows);
        whole(&mut out, self.row_gradients);
        out
    }

    /// The sums that these bytes are.
    ///
    /// # Errors
    /// [`Error::Data`] for other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let mut read = Reader::of("sums", bytes, SUMS)?;
        let (log_p, grad, curvature) = (read.list()?, read.list()?, read.list()?);
        let (rows, row_gradients) = (read.whole()?, read.whole()?);
        read.end()?;
        Ok(Self { log_p, grad, curvature, rows, row_gradients })
    }
}

fn whole(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_le_bytes());
}

fn list(out: &mut Vec<u8>, numbers: &[f64]) {
    whole(out, numbers.len() as u64);
    numbers.iter().for_each(|number| out.extend_from_slice(&number.to_le_bytes()));
}

/// Bytes that are still to be read.
struct Reader<'a> {
    what: &'static str,
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn of(what: &'static str, bytes: &'a [u8], begin: &[u8; 4]) -> Result<Self, Error> {
        let rest = bytes.strip_prefix(begin);
        rest.map(|rest| Self { what, rest }).ok_or_else(|| Self { what, rest: bytes }.damaged())
    }

    fn damaged(&self) -> Error {
        let problem = "these are not the bytes that this version writes; both sides must run the same version";
        Error::Data { place: format!("{} of a shard", self.what), problem: problem.into() }
    }

    fn whole(&mut self) -> Result<u64, Error> {
        let (number, rest) = self.rest.split_first_chunk().ok_or_else(|| self.damaged())?;
        self.rest = rest;
        Ok(u64::from_le_bytes(*number))
    }

    fn count(&mut self) -> Result<usize, Error> {
        usize::try_from(self.whole()?).map_err(|_| self.damaged())
    }

    fn truth(&mut self) -> Result<bool, Error> {
        match self.whole()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(self.damaged()),
        }
    }

    fn covariance(&mut self) -> Result<Covariance, Error> {
        Ok(if self.truth()? { Covariance::Full } else { Covariance::Diagonal })
    }

    fn list(&mut self) -> Result<Vec<f64>, Error> {
        let n_bytes = self.count()?.checked_mul(8).filter(|n| *n <= self.rest.len()).ok_or_else(|| self.damaged())?;
        let (numbers, rest) = self.rest.split_at(n_bytes);
        self.rest = rest;
        let number = |bytes: &[u8]| f64::from_le_bytes(bytes.try_into().expect("eight bytes each"));
        Ok(numbers.chunks_exact(8).map(number).collect())
    }

    fn end(&self) -> Result<(), Error> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.damaged()) }
    }
}
