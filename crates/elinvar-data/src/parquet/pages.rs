//! The pages of a column, unpacked, with counts that their bytes can hold.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use ::parquet::basic::{Encoding, Type as Physical};
use ::parquet::column::page::{Page, PageMetadata, PageReader};
use ::parquet::errors::Result;
use ::parquet::file::metadata::ColumnChunkMetaData;

use super::delta;
use super::header::{Header, Kind};
use super::unpack::{Packing, damaged};

/// `length` bytes of a file, all of them or an error.
pub(super) fn read_at(mut file: &File, offset: u64, length: usize) -> std::io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length)?;
    file.take(length as u64).read_to_end(&mut bytes)?;
    if bytes.len() < length { Err(std::io::ErrorKind::UnexpectedEof.into()) } else { Ok(bytes) }
}

/// Where the bytes of a column lie, if that is in a file of so many bytes.
pub(super) fn range(about: &ColumnChunkMetaData, file_size: u64) -> Option<(u64, u64)> {
    let start = about.dictionary_page_offset().unwrap_or_else(|| about.data_page_offset());
    let (start, length) = (u64::try_from(start).ok()?, u64::try_from(about.compressed_size()).ok()?);
    let end = start.checked_add(length).filter(|end| *end <= file_size)?;
    Some((start, end))
}

/// The pages of a column in a group of rows.
pub(super) struct Pages {
    file: Arc<File>,
    /// Where the next page begins, and where the last one ends.
    offset: u64,
    end: u64,
    next: Option<Header>,
    packing: Packing,
    physical: Physical,
    type_length: usize,
    /// Whether cells may be null, so that levels come before the values.
    has_levels: bool,
}

impl Pages {
    pub(super) fn open(file: &Arc<File>, about: &ColumnChunkMetaData, file_size: u64) -> Result<Self> {
        let (offset, end) = range(about, file_size).ok_or_else(|| damaged("a column lies outside the file"))?;
        let description = about.column_descr();
        Ok(Self {
            file: Arc::clone(file),
            offset,
            end,
            next: None,
            packing: Packing::of(about.compression())?,
            physical: about.column_type(),
            type_length: usize::try_from(description.type_length()).unwrap_or(0),
            has_levels: description.max_def_level() > 0,
        })
    }

    /// The header of the next page of values, which stays the next one.
    fn header(&mut self) -> Result<Option<Header>> {
        while self.next.is_none() && self.offset < self.end {
            let left = self.end - self.offset;
            let (header, length) = self.read_header(left)?;
            self.offset += length;
            if u64::from(header.packed_size) > left - length {
                return Err(damaged("a page does not end"));
            }
            if header.kind == Kind::Index {
                self.offset += u64::from(header.packed_size);
            } else {
                self.next = Some(header);
            }
        }
        Ok(self.next)
    }

    /// Reads a header, which does not say how long it is.
    fn read_header(&self, left: u64) -> Result<(Header, u64)> {
        const SHORT: u64 = 1 << 10;
        let mut length = left.min(SHORT);
        loop {
            let bytes = read_at(&self.file, self.offset, length as usize)?;
            match Header::read(&bytes) {
                Some((header, rest)) => return Ok((header, length - rest.len() as u64)),
                None if length == left => return Err(damaged("the header of a page is damaged")),
                None => length = left.min(8 * length),
            }
        }
    }

    /// Values that the bytes of a dictionary have room for.
    fn room(&self, n_bytes: usize) -> usize {
        match self.physical {
            Physical::BOOLEAN => n_bytes.saturating_mul(8),
            Physical::INT32 | Physical::FLOAT | Physical::BYTE_ARRAY => n_bytes / 4,
            Physical::INT64 | Physical::DOUBLE => n_bytes / 8,
            Physical::INT96 => n_bytes / 12,
            Physical::FIXED_LEN_BYTE_ARRAY => n_bytes / self.type_length.max(1),
        }
    }

    /// Whether lists of lengths, which the crate makes room for at once, are not longer than the page has values.
    fn is_sound(&self, header: &Header, bytes: &[u8]) -> bool {
        let n_lists = match header.encoding {
            Encoding::DELTA_BINARY_PACKED | Encoding::DELTA_LENGTH_BYTE_ARRAY => 1,
            Encoding::DELTA_BYTE_ARRAY => 2,
            _ => return true,
        };
        let n_levels = match header.kind {
            Kind::Data2 { .. } => Some(header.n_level_bytes()),
            _ if !self.has_levels => Some(0),
            Kind::Data { levels } if levels != Encoding::RLE => Some(header.n_values.div_ceil(8) as usize),
            _ => bytes.first_chunk::<4>().map(|length| 4 + u32::from_le_bytes(*length) as usize),
        };
        let values = n_levels.and_then(|n_levels| bytes.get(n_levels..));
        let rest = (0..n_lists).try_fold(values, |rest, _| Some(delta::after(rest?, header.n_values)));
        // A page of nulls alone has no values.
        values.is_some_and(<[u8]>::is_empty) || rest.flatten().is_some()
    }
}

impl Iterator for Pages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let Some(header) = self.header()? else { return Ok(None) };
        let packed = read_at(&self.file, self.offset, header.packed_size as usize)?;
        self.skip_next_page()?;
        let packing = if header.is_packed() { self.packing } else { Packing::Plain };
        let bytes = packing.unpack(packed, header.n_level_bytes(), header.size as usize)?;
        let is_sound = match header.kind {
            Kind::Dictionary => header.n_values as usize <= self.room(bytes.len()),
            _ => bytes.len() >= header.n_level_bytes() && self.is_sound(&header, &bytes),
        };
        if is_sound { Ok(Some(header.page(bytes))) } else { Err(damaged("a page is damaged")) }
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        Ok(self.header()?.map(|header| PageMetadata {
            num_rows: None,
            num_levels: Some(header.n_values as usize),
            is_dict: header.kind == Kind::Dictionary,
        }))
    }

    fn skip_next_page(&mut self) -> Result<()> {
        if let Some(header) = self.header()? {
            self.offset += u64::from(header.packed_size);
            self.next = None;
        }
        Ok(())
    }
}
