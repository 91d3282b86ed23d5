//! The header of a page.

use ::parquet::basic::Encoding;
use ::parquet::column::page::Page;

use super::thrift::{Thrift, kind};

/// What a page holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Levels and values, packed together; the encoding of the levels.
    Data { levels: Encoding },
    /// Levels of so many bytes, never packed, and then values.
    Data2 { n_rows: u32, n_nulls: u32, def_bytes: u32, rep_bytes: u32, is_packed: bool },
    /// The values that other pages name by number.
    Dictionary,
    /// Nothing that is needed.
    Index,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) kind: Kind,
    /// Bytes after unpacking, levels included.
    pub(super) size: u32,
    /// Bytes in the file.
    pub(super) packed_size: u32,
    pub(super) n_values: u32,
    pub(super) encoding: Encoding,
}

/// The counts and words of one kind of page, by the numbers of their fields.
#[derive(Clone, Copy, Debug, Default)]
struct Fields {
    counts: [Option<u32>; 9],
    is_false: bool,
}

impl Fields {
    fn read(thrift: &mut Thrift<'_>) -> Option<Self> {
        let (mut fields, mut last) = (Self::default(), 0);
        while let Some((number, kind)) = thrift.field(&mut last)? {
            let place = usize::try_from(number).ok().and_then(|number| fields.counts.get_mut(number));
            match (place, kind) {
                (Some(place), kind::I32) => *place = Some(thrift.count()?),
                (Some(_), kind::FALSE) => fields.is_false = true,
                _ => thrift.skip(kind)?,
            }
        }
        Some(fields)
    }

    fn encoding(&self, number: usize) -> Option<Encoding> {
        Some(match self.counts[number]? {
            0 => Encoding::PLAIN,
            2 => Encoding::PLAIN_DICTIONARY,
            3 => Encoding::RLE,
            #[expect(deprecated, reason = "old files have levels of this kind")]
            4 => Encoding::BIT_PACKED,
            5 => Encoding::DELTA_BINARY_PACKED,
            6 => Encoding::DELTA_LENGTH_BYTE_ARRAY,
            7 => Encoding::DELTA_BYTE_ARRAY,
            8 => Encoding::RLE_DICTIONARY,
            9 => Encoding::BYTE_STREAM_SPLIT,
            _ => return None,
        })
    }
}

impl Header {
    /// Reads a header, and returns what follows it; nothing if it is cut off or makes no sense.
    pub(super) fn read(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let mut thrift = Thrift { rest: bytes };
        let (mut sizes, mut pages, mut last) = ([None; 4], [None; 9], 0);
        while let Some((number, kind)) = thrift.field(&mut last)? {
            match (number, kind) {
                (1..=3, kind::I32) => sizes[number as usize] = Some(thrift.count()?),
                (5 | 7 | 8, kind::STRUCT) => pages[number as usize] = Some(Fields::read(&mut thrift)?),
                _ => thrift.skip(kind)?,
            }
        }
        let [_, Some(word), Some(size), Some(packed_size)] = sizes else { return None };
        let (kind, n_values, encoding) = match word {
            0 => {
                let fields = pages[5]?;
                let levels = fields.encoding(3)?;
                (Kind::Data { levels }, fields.counts[1]?, fields.encoding(2)?)
            }
            1 => (Kind::Index, 0, Encoding::PLAIN),
            2 => {
                let fields = pages[7]?;
                (Kind::Dictionary, fields.counts[1]?, fields.encoding(2)?)
            }
            3 => {
                let fields = pages[8]?;
                let [_, n_values, n_nulls, n_rows, _, def_bytes, rep_bytes, ..] = fields.counts;
                let kind = Kind::Data2 {
                    n_rows: n_rows?,
                    n_nulls: n_nulls?,
                    def_bytes: def_bytes?,
                    rep_bytes: rep_bytes?,
                    is_packed: !fields.is_false,
                };
                (kind, n_values?, fields.encoding(4)?)
            }
            _ => return None,
        };
        Some((Self { kind, size, packed_size, n_values, encoding }, thrift.rest))
    }

    /// Whether the values are packed.
    pub(super) fn is_packed(&self) -> bool {
        !matches!(self.kind, Kind::Data2 { is_packed: false, .. })
    }

    /// Bytes of levels that come first, and never packed.
    pub(super) fn n_level_bytes(&self) -> usize {
        match self.kind {
            Kind::Data2 { def_bytes, rep_bytes, .. } => def_bytes as usize + rep_bytes as usize,
            _ => 0,
        }
    }

    /// The page with this header over its unpacked bytes.
    pub(super) fn page(&self, bytes: Vec<u8>) -> Page {
        let (buf, num_values, encoding) = (bytes.into(), self.n_values, self.encoding);
        match self.kind {
            Kind::Data { levels } => Page::DataPage {
                buf,
                num_values,
                encoding,
                def_level_encoding: levels,
                rep_level_encoding: Encoding::RLE,
                statistics: None,
            },
            Kind::Data2 { n_rows, n_nulls, def_bytes, rep_bytes, .. } => Page::DataPageV2 {
                buf,
                num_values,
                encoding,
                num_nulls: n_nulls,
                num_rows: n_rows,
                def_levels_byte_len: def_bytes,
                rep_levels_byte_len: rep_bytes,
                is_compressed: false,
                statistics: None,
            },
            _ => Page::DictionaryPage { buf, num_values, encoding, is_sorted: false },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_or_refused() {
        // Type 0, sizes 100 and 40; 7 values, plain, levels by runs.
        let bytes = [0x15, 0, 0x15, 200, 1, 0x15, 80, 0x2c, 0x15, 14, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0, 9];
        let (header, rest) = Header::read(&bytes).unwrap();
        assert_eq!((header.size, header.packed_size, header.n_values), (100, 40, 7));
        assert_eq!((header.kind, rest), (Kind::Data { levels: Encoding::RLE }, &[9][..]));
        for end in 0..bytes.len() - 1 {
            assert!(Header::read(&bytes[..end]).is_none(), "{end}");
        }
        // A negative size, an unknown encoding.
        for (at, byte) in [(6, 81), (12, 2)] {
            let mut changed = bytes;
            changed[at] = byte;
            assert!(Header::read(&changed).is_none(), "{at}");
        }
    }
}
