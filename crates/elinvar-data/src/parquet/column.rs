//! The cells of one column in one group of rows, batch by batch.

use std::fs::File;
use std::sync::Arc;

use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use ::parquet::data_type::DataType;
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::RowGroupMetaData;

use super::kind::Kind;
use super::pages::Pages;
use crate::category::Levels;
use crate::cell::is_missing_sign;
use crate::sentence::excerpt;

/// Why a batch of cells cannot be read.
#[derive(Debug)]
pub(super) enum Refused {
    /// A text, in this row of the batch, where numbers are needed.
    Text(usize, String),
    /// The file is damaged, or it is packed in a way that is not known here.
    File(String),
}

impl From<ParquetError> for Refused {
    fn from(error: ParquetError) -> Self {
        Refused::File(error.to_string())
    }
}

/// A column in a group of rows.
pub(super) struct Column {
    reader: ColumnReader,
    kind: Kind,
    /// Bytes of texts that may still come.
    text_left: u64,
}

impl Column {
    /// The column that has this number among those that the file stores.
    pub(super) fn open(
        file: &Arc<File>,
        group: &RowGroupMetaData,
        number: usize,
        kind: Kind,
        file_size: u64,
    ) -> Result<Self, Refused> {
        let lacking = || Refused::File("a group of rows lacks a column".into());
        let about = group.columns().get(number).ok_or_else(lacking)?;
        let pages = Pages::open(file, about, file_size)?;
        Ok(Self {
            reader: get_column_reader(about.column_descr_ptr(), Box::new(pages)),
            kind,
            text_left: most_text(file_size),
        })
    }

    /// The next `n` cells as numbers: levels of texts as their codes, null as NaN.
    pub(super) fn read(&mut self, n: usize, levels: Option<&mut Levels>, out: &mut Vec<f64>) -> Result<(), Refused> {
        use ColumnReader as Of;
        use Kind::{Decimal, Half, Nothing, Number, Text, Unsigned};
        out.clear();
        match (self.kind, &mut self.reader) {
            (Nothing, _) => out.resize(n, f64::NAN),
            (Number, Of::DoubleColumnReader(column)) => fill(column, n, out, |_, &v| Ok(v))?,
            (Number, Of::FloatColumnReader(column)) => fill(column, n, out, |_, &v| Ok(v.into()))?,
            (Number, Of::Int64ColumnReader(column)) => fill(column, n, out, |_, &v| Ok(v as f64))?,
            (Number, Of::Int32ColumnReader(column)) => fill(column, n, out, |_, &v| Ok(v.into()))?,
            (Number, Of::BoolColumnReader(column)) => fill(column, n, out, |_, &v| Ok(u8::from(v).into()))?,
            (Unsigned, Of::Int64ColumnReader(column)) => fill(column, n, out, |_, &v| Ok(v as u64 as f64))?,
            (Unsigned, Of::Int32ColumnReader(column)) => fill(column, n, out, |_, &v| Ok((v as u32).into()))?,
            (Decimal(one), Of::Int64ColumnReader(column)) => fill(column, n, out, |_, &v| Ok(v as f64 / one))?,
            (Decimal(one), Of::Int32ColumnReader(column)) => fill(column, n, out, |_, &v| Ok(f64::from(v) / one))?,
            (Decimal(one), Of::ByteArrayColumnReader(column)) => {
                few_at_once(n, |n| fill(column, n, out, |_, v| Ok(whole(v.data())? / one)))?;
            }
            (Decimal(one), Of::FixedLenByteArrayColumnReader(column)) => {
                fill(column, n, out, |_, v| Ok(whole(v.data())? / one))?;
            }
            (Half, Of::FixedLenByteArrayColumnReader(column)) => fill(column, n, out, |_, v| half(v.data()))?,
            (Text, Of::ByteArrayColumnReader(column)) => texts(column, n, levels, out, &mut self.text_left)?,
            _ => return Err(Refused::File("what is noted about a column does not suit how it is stored".into())),
        }
        Ok(())
    }
}

/// Appends `n` cells; `to` makes a number of a cell that is there, with its row in the batch.
fn fill<T: DataType>(
    column: &mut ColumnReaderImpl<T>,
    n: usize,
    out: &mut Vec<f64>,
    mut to: impl FnMut(usize, &T::T) -> Result<f64, Refused>,
) -> Result<(), Refused> {
    let (mut values, mut levels) = (Vec::with_capacity(n), Vec::new());
    let (n_read, n_values, _) = column.read_records(n, Some(&mut levels), None, &mut values)?;
    if n_read < n || (levels.is_empty() && n_values < n) {
        return Err(Refused::File("it has fewer rows than it says".into()));
    }
    if levels.is_empty() {
        for (row, value) in values.iter().enumerate() {
            out.push(to(row, value)?);
        }
        return Ok(());
    }
    // A table is flat, so that level 0 is null and level 1 a value.
    let mut values = values.iter();
    for (row, level) in levels.iter().enumerate() {
        let value = if *level == 0 { None } else { values.next() };
        out.push(value.map_or(Ok(f64::NAN), |value| to(row, value))?);
    }
    Ok(())
}

/// Bytes of all texts of a column in a file of so many bytes, which may name a text often and hold it once.
fn most_text(file_size: u64) -> u64 {
    file_size.saturating_mul(1 << 10).saturating_add(1 << 24)
}

/// Reads `n` cells, few at once: a text may repeat the one before and add to it, so that all texts of a page are much
/// longer than the page.
fn few_at_once(n: usize, mut read: impl FnMut(usize) -> Result<(), Refused>) -> Result<(), Refused> {
    const FEW: usize = 16;
    (0..n).step_by(FEW).try_for_each(|start| read(FEW.min(n - start)))
}

fn texts(
    column: &mut ColumnReaderImpl<::parquet::data_type::ByteArrayType>,
    n: usize,
    mut levels: Option<&mut Levels>,
    out: &mut Vec<f64>,
    left: &mut u64,
) -> Result<(), Refused> {
    few_at_once(n, |n| {
        let first = out.len();
        fill(column, n, out, |row, value| {
            let too_long = || Refused::File("its texts are longer than it can hold".into());
            *left = left.checked_sub(value.len() as u64).ok_or_else(too_long)?;
            let text = value.as_utf8()?.trim();
            match &mut levels {
                _ if is_missing_sign(text.as_bytes()) => Ok(f64::NAN),
                Some(levels) => Ok(levels.code(text)),
                None => Err(Refused::Text(first + row, excerpt(text))),
            }
        })
    })
}

/// A whole number with a sign, the highest byte first.
fn whole(bytes: &[u8]) -> Result<f64, Refused> {
    if bytes.is_empty() || bytes.len() > 16 {
        return Err(Refused::File(format!("a decimal number of {} bytes", bytes.len())));
    }
    let sign = if bytes[0] & 0x80 == 0 { 0 } else { -1 };
    Ok(bytes.iter().fold(sign, |value: i128, &byte| value << 8 | i128::from(byte)) as f64)
}

/// A floating-point number of two bytes, the lower first.
fn half(bytes: &[u8]) -> Result<f64, Refused> {
    let &[low, high] = bytes else {
        return Err(Refused::File(format!("a number of two bytes in {}", bytes.len())));
    };
    let digits = f64::from(u16::from_le_bytes([low, high]) & 0x3ff);
    let size = match i32::from(high >> 2 & 0x1f) {
        0 => digits * 2_f64.powi(-24),
        31 if digits == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        exponent => (1024.0 + digits) * 2_f64.powi(exponent - 25),
    };
    Ok(if high & 0x80 == 0 { size } else { -size })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_as_numbers() {
        assert_eq!([&[0x96][..], &[0, 0x96], &[0xff; 16]].map(|bytes| whole(bytes).unwrap()), [-106.0, 150.0, -1.0]);
        assert!(whole(&[]).is_err() && whole(&[0; 17]).is_err());
        let halves =
            [0x3c00_u16, 0xc100, 0x0001, 0x7bff, 0x7c00, 0x8000].map(|bits| half(&bits.to_le_bytes()).unwrap());
        assert_eq!(halves, [1.0, -2.5, 2_f64.powi(-24), 65504.0, f64::INFINITY, 0.0]);
        assert!(half(&0x7e00_u16.to_le_bytes()).unwrap().is_nan() && half(&[0]).is_err());
    }
}
