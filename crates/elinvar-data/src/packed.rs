//! Tables that come packed, by gzip or zstd, or from the standard input: whole, in memory.

use std::io::{self, Read};
use std::path::Path;
use std::sync::OnceLock;

use flate2::read::MultiGzDecoder;

use crate::Error;
use crate::format::content;
use crate::open::cannot_open;

/// The name of the standard input among files.
const STANDARD_INPUT: &str = "-";
/// Bytes that each byte of a packed file may become; tables of numbers shrink to a third, those of repeated cells to a
/// hundredth.
const PER_BYTE: u64 = 1 << 8;
/// Bytes that the smallest may become.
const ALWAYS: u64 = 1 << 24;
/// Bytes that any may become.
const MOST_BYTES: u64 = 1 << 34;

/// How bytes are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    Gzip,
    Zstd,
}

impl Packing {
    /// Told by the first bytes.
    pub(crate) fn of(first: &[u8]) -> Option<Self> {
        match first {
            [0x1f, 0x8b, ..] => Some(Packing::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Packing::Zstd),
            _ => None,
        }
    }

    /// All that is packed in `n_bytes` bytes.
    pub(crate) fn unpack(self, path: &Path, bytes: impl Read, n_bytes: u64) -> Result<Vec<u8>, Error> {
        let most = n_bytes.saturating_mul(PER_BYTE).saturating_add(ALWAYS).min(MOST_BYTES);
        let damaged = |error: &dyn std::fmt::Display| {
            content(path, &format!("the file cannot be unpacked ({error})"), "check that it is whole")
        };
        let mut unpacked = Vec::new();
        let read = match self {
            Packing::Gzip => MultiGzDecoder::new(bytes).take(most).read_to_end(&mut unpacked),
            #[cfg(feature = "parquet")]
            Packing::Zstd => {
                let decoder = ruzstd::decoding::StreamingDecoder::new(bytes).map_err(|e| damaged(&e))?;
                decoder.take(most).read_to_end(&mut unpacked)
            }
            #[cfg(not(feature = "parquet"))]
            Packing::Zstd => {
                let _ = bytes;
                return Err(content(path, "the file is packed by zstd", "unpack it first, or build with parquet"));
            }
        };
        read.map_err(|e| damaged(&e))?;
        if unpacked.len() as u64 == most {
            let problem = "unpacked, it is out of all proportion to its size";
            return Err(content(path, problem, "unpack it first, and look at what it holds"));
        }
        Ok(unpacked)
    }
}

/// Whether this stands for the standard input.
pub(crate) fn is_standard_input(path: &Path) -> bool {
    path == Path::new(STANDARD_INPUT)
}

/// All of the standard input, unpacked. It is read once, and given again to whoever asks again.
pub(crate) fn standard_input(path: &Path) -> Result<Vec<u8>, Error> {
    static READ: OnceLock<Vec<u8>> = OnceLock::new();
    let bytes = match READ.get() {
        Some(bytes) => bytes.clone(),
        None => {
            let mut bytes = Vec::new();
            io::stdin().lock().read_to_end(&mut bytes).map_err(|source| cannot_open(path, source))?;
            READ.get_or_init(|| bytes).clone()
        }
    };
    match Packing::of(&bytes) {
        Some(packing) => packing.unpack(path, bytes.as_slice(), bytes.len() as u64),
        None => Ok(bytes),
    }
}

/// The name of a file without the ending that says how it is packed.
pub(crate) fn unpacked_name(path: &Path) -> &Path {
    let is_packed = |end: &std::ffi::OsStr| ["gz", "zst"].iter().any(|known| end.eq_ignore_ascii_case(known));
    match (path.extension().filter(|end| is_packed(end)), path.file_stem()) {
        (Some(_), Some(stem)) => Path::new(stem),
        _ => path,
    }
}
