//! What is in a page, unpacked: never more than its header says, nor than its bytes can hold.

use std::io::Read;

use ::parquet::basic::Compression;
use ::parquet::errors::{ParquetError, Result};
use flate2::read::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;

/// How the pages of a column are packed, if it is known here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    Plain,
    Snappy,
    Gzip,
    Zstd,
}

impl Packing {
    pub(super) fn of(compression: Compression) -> Result<Self> {
        let packed_by = match compression {
            Compression::UNCOMPRESSED => return Ok(Packing::Plain),
            Compression::SNAPPY => return Ok(Packing::Snappy),
            Compression::GZIP(_) => return Ok(Packing::Gzip),
            // The crate would unpack it by a library in C that takes longer to build than the crate itself.
            Compression::ZSTD(_) => return Ok(Packing::Zstd),
            Compression::LZ4 | Compression::LZ4_RAW => "lz4",
            Compression::BROTLI(_) => "brotli",
            Compression::LZO => "lzo",
        };
        Err(ParquetError::General(format!("it is packed by {packed_by}, which is not known here")))
    }

    /// The first `n_plain` bytes as they are, the others unpacked: `size` bytes in all.
    pub(super) fn unpack(self, bytes: Vec<u8>, n_plain: usize, size: usize) -> Result<Vec<u8>> {
        /// Pages of one megabyte are usual, and those of a constant shrink to nearly nothing.
        const ALWAYS: usize = 1 << 22;
        const PER_BYTE: usize = 1 << 10;
        if self == Packing::Plain {
            return Ok(bytes);
        }
        let (plain, packed) = bytes.split_at_checked(n_plain).ok_or_else(|| damaged("a page is too short"))?;
        if size < n_plain || size > packed.len().saturating_mul(PER_BYTE).saturating_add(ALWAYS) {
            return Err(damaged("a page claims more than it can hold"));
        }
        let mut unpacked = plain.to_vec();
        unpacked.try_reserve_exact(size - n_plain).map_err(|_| damaged("a page does not fit into memory"))?;
        // A page without values may hold nothing at all.
        if size > n_plain {
            self.append(packed, size - n_plain, &mut unpacked)?;
        }
        if unpacked.len() == size { Ok(unpacked) } else { Err(damaged("a page has another size than it says")) }
    }

    fn append(self, mut packed: &[u8], size: usize, unpacked: &mut Vec<u8>) -> Result<()> {
        let limit = size as u64 + 1;
        let failed = |problem: &dyn std::fmt::Display| damaged(&problem.to_string());
        match self {
            Packing::Plain => unpacked.extend_from_slice(packed),
            Packing::Snappy => {
                if snap::raw::decompress_len(packed).map_err(|e| failed(&e))? != size {
                    return Err(damaged("a page has another size than it says"));
                }
                let start = unpacked.len();
                unpacked.resize(start + size, 0);
                let n = snap::raw::Decoder::new().decompress(packed, &mut unpacked[start..]).map_err(|e| failed(&e))?;
                unpacked.truncate(start + n);
            }
            Packing::Gzip => {
                MultiGzDecoder::new(packed).take(limit).read_to_end(unpacked).map_err(|e| failed(&e))?;
            }
            Packing::Zstd => {
                let start = unpacked.len();
                while !packed.is_empty() && unpacked.len() - start <= size {
                    let frame = StreamingDecoder::new(&mut packed).map_err(|e| failed(&e))?;
                    frame.take(limit).read_to_end(unpacked).map_err(|e| failed(&e))?;
                }
            }
        }
        Ok(())
    }
}

pub(super) fn damaged(problem: &str) -> ParquetError {
    ParquetError::General(problem.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_the_size_that_it_says() {
        let text = b"the quick brown fox, the quick brown fox, the quick brown fox".repeat(20);
        let packed = snap::raw::Encoder::new().compress_vec(&text).unwrap();
        assert_eq!(Packing::Snappy.unpack(packed.clone(), 0, text.len()).unwrap(), text);
        for size in [text.len() - 1, text.len() + 1, 1 << 31] {
            assert!(Packing::Snappy.unpack(packed.clone(), 0, size).is_err(), "{size}");
        }
        assert!(Packing::Snappy.unpack(packed.clone(), packed.len() + 1, text.len()).is_err());
        let levels = [b"ab".as_slice(), &packed].concat();
        assert_eq!(Packing::Snappy.unpack(levels, 2, text.len() + 2).unwrap()[2..], text);
    }
}
