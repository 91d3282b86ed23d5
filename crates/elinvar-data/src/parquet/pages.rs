//! The pages of a column, unpacked.

use std::fs::File;
use std::io::Read;
use std::sync::Arc;

use ::parquet::basic::Compression;
use ::parquet::column::page::{Page, PageMetadata, PageReader};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::metadata::ColumnChunkMetaData;
use ::parquet::file::serialized_reader::SerializedPageReader;
use ruzstd::decoding::StreamingDecoder;

/// The pages of a column in a group of so many rows.
pub(super) fn pages(file: &Arc<File>, about: &ColumnChunkMetaData, n_rows: i64) -> Result<Box<dyn PageReader>> {
    let n_rows = usize::try_from(n_rows).unwrap_or(0);
    // The crate panics at these.
    let starts = about.dictionary_page_offset().unwrap_or(0).min(about.data_page_offset());
    if starts < 0 || about.compressed_size() < 0 {
        return Err(ParquetError::General("a column lies outside the file".into()));
    }
    let packed_by = match about.compression() {
        Compression::UNCOMPRESSED | Compression::SNAPPY | Compression::GZIP(_) => {
            return Ok(Box::new(SerializedPageReader::new(Arc::clone(file), about, n_rows, None)?));
        }
        Compression::ZSTD(_) => {
            // The crate would unpack it by a library in C that takes longer to build than the crate itself.
            let about = about.clone().into_builder().set_compression(Compression::UNCOMPRESSED).build()?;
            let packed = SerializedPageReader::new(Arc::clone(file), &about, n_rows, None)?;
            return Ok(Box::new(ZstdPages { packed }));
        }
        Compression::LZ4 | Compression::LZ4_RAW => "lz4",
        Compression::BROTLI(_) => "brotli",
        Compression::LZO => "lzo",
    };
    Err(ParquetError::General(format!("it is packed by {packed_by}, which is not known here")))
}

/// Pages that are packed by zstd.
struct ZstdPages {
    packed: SerializedPageReader<File>,
}

impl Iterator for ZstdPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for ZstdPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let Some(mut page) = self.packed.get_next_page()? else { return Ok(None) };
        match &mut page {
            Page::DataPage { buf, .. } | Page::DictionaryPage { buf, .. } => *buf = unpack(buf, 0)?.into(),
            Page::DataPageV2 { buf, def_levels_byte_len, rep_levels_byte_len, is_compressed: true, .. } => {
                // Levels come first, and never packed.
                *buf = unpack(buf, *def_levels_byte_len as usize + *rep_levels_byte_len as usize)?.into();
            }
            Page::DataPageV2 { .. } => {}
        }
        Ok(Some(page))
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.packed.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.packed.skip_next_page()
    }
}

/// The first `n_plain` bytes as they are, the others unpacked.
fn unpack(bytes: &[u8], n_plain: usize) -> Result<Vec<u8>> {
    /// The format counts the bytes of a page by a number of 32 bits with a sign.
    const MOST_BYTES: u64 = 1 << 31;
    let damaged = |problem: &dyn std::fmt::Display| ParquetError::General(format!("zstd: {problem}"));
    let (plain, mut packed) = bytes.split_at_checked(n_plain).ok_or_else(|| damaged(&"a page is too short"))?;
    let mut unpacked = plain.to_vec();
    while !packed.is_empty() {
        let frame = StreamingDecoder::new(&mut packed).map_err(|error| damaged(&error))?;
        frame.take(MOST_BYTES).read_to_end(&mut unpacked).map_err(|error| damaged(&error))?;
    }
    Ok(unpacked)
}
