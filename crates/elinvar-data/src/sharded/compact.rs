//! Numbers kept in as few bytes as hold them exactly.
//!
//! Each column of a shard has the narrowest of five forms that gives back every bit: one number, whole numbers of one
//! or two bytes, `f32`, `f64`.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

/// Shards as they were handed over, in a file that vanishes with the process.
#[derive(Debug)]
pub struct Compact {
    file: MemoryOrFile,
    width: usize,
    /// Rows of each shard, and bytes that it takes.
    shards: Vec<(usize, usize)>,
    buffer: Vec<u8>,
}

/// Where the bytes go.
#[derive(Debug)]
pub enum MemoryOrFile {
    /// Into memory.
    Memory(Vec<u8>),
    /// Into this file, from its beginning.
    File(File),
}

const CONSTANT: u8 = 0;
const BYTE: u8 = 1;
const SHORT: u8 = 2;
const SINGLE: u8 = 3;
const DOUBLE: u8 = 4;

impl Compact {
    /// No shards, of rows of so many numbers.
    pub fn new(file: MemoryOrFile, width: usize) -> Self {
        Self { file, width, shards: Vec::new(), buffer: Vec::new() }
    }

    /// Number of shards.
    pub fn n_shards(&self) -> usize {
        self.shards.len()
    }

    /// Bytes that they take.
    pub fn n_bytes(&self) -> u64 {
        self.shards.iter().map(|(_, bytes)| *bytes as u64).sum()
    }

    /// Adds a shard.
    ///
    /// # Errors
    /// Those of the file.
    pub fn push(&mut self, values: &[f64]) -> io::Result<()> {
        self.buffer.clear();
        let mut column = Vec::with_capacity(values.len() / self.width);
        for j in 0..self.width {
            column.clear();
            column.extend(values.iter().skip(j).step_by(self.width));
            encode(&column, &mut self.buffer);
        }
        match &mut self.file {
            MemoryOrFile::Memory(bytes) => bytes.extend_from_slice(&self.buffer),
            MemoryOrFile::File(file) => file.write_all(&self.buffer)?,
        }
        self.shards.push((values.len() / self.width, self.buffer.len()));
        Ok(())
    }

    /// Gives all shards, in their order; each is decoded by what it is given with. `spare` gives memory for the next,
    /// such as that of [`CompactShard::into_bytes`], or an empty vector.
    ///
    /// # Errors
    /// Those of the file, or what `take` says.
    pub fn pass<E: From<io::Error>>(
        &mut self,
        mut spare: impl FnMut() -> Vec<u8>,
        mut take: impl FnMut(CompactShard) -> Result<(), E>,
    ) -> Result<(), E> {
        if let MemoryOrFile::File(file) = &mut self.file {
            file.seek(SeekFrom::Start(0))?;
        }
        let mut at = 0;
        for &(n_rows, n_bytes) in &self.shards {
            let mut bytes = spare();
            bytes.resize(n_bytes, 0);
            match &mut self.file {
                MemoryOrFile::Memory(all) => bytes.copy_from_slice(&all[at..at + n_bytes]),
                MemoryOrFile::File(file) => file.read_exact(&mut bytes)?,
            }
            at += n_bytes;
            take(CompactShard { n_rows, width: self.width, bytes })?;
        }
        Ok(())
    }
}

/// A shard as it was read from the file.
#[derive(Debug)]
pub struct CompactShard {
    n_rows: usize,
    width: usize,
    bytes: Vec<u8>,
}

/// Rows that are decoded at once: what they become stays in the nearest cache while its columns are filled in.
const BLOCK: usize = 64;

impl CompactShard {
    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The memory, to be used again.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The numbers, row by row.
    pub fn values(&self) -> Vec<f64> {
        let mut values = vec![0.0; self.n_rows * self.width];
        self.each_block(|first, n, j, column| {
            let out = values[first * self.width..(first + n) * self.width].iter_mut();
            out.skip(j).step_by(self.width).zip(column).for_each(|(to, value)| *to = *value);
        });
        values
    }

    /// Gives every column of every block of rows: its first row, its number of rows, the column, the numbers.
    pub(super) fn each_block(&self, mut take: impl FnMut(usize, usize, usize, &mut [f64])) {
        let mut columns = Vec::with_capacity(self.width);
        let mut rest = &self.bytes[..];
        for _ in 0..self.width {
            let (form, behind) = rest.split_first().expect("a form for each column");
            let (numbers, behind) = behind.split_at(bytes_of(*form, self.n_rows));
            columns.push((*form, numbers));
            rest = behind;
        }
        let mut block = [0.0; BLOCK];
        for first in (0..self.n_rows).step_by(BLOCK) {
            let n = BLOCK.min(self.n_rows - first);
            for (j, &(form, numbers)) in columns.iter().enumerate() {
                let block = &mut block[..n];
                decode(form, numbers, first, block);
                take(first, n, j, block);
            }
        }
    }
}

/// The numbers of a column from this row on.
fn decode(form: u8, numbers: &[u8], first: usize, out: &mut [f64]) {
    let of = |bytes: usize| &numbers[first * bytes..(first + out.len()) * bytes];
    match form {
        CONSTANT => {
            let value = f64::from_le_bytes(numbers.try_into().expect("eight bytes"));
            out.fill(value);
        }
        BYTE => {
            let numbers = of(1);
            out.iter_mut().zip(numbers).for_each(|(to, byte)| *to = f64::from(*byte as i8));
        }
        SHORT => {
            let numbers = of(2);
            out.iter_mut().zip(numbers.chunks_exact(2)).for_each(|(to, b)| {
                *to = f64::from(i16::from_le_bytes([b[0], b[1]]));
            });
        }
        SINGLE => {
            let numbers = of(4);
            out.iter_mut().zip(numbers.chunks_exact(4)).for_each(|(to, b)| {
                *to = f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
            });
        }
        _ => {
            let numbers = of(8);
            out.iter_mut().zip(numbers.chunks_exact(8)).for_each(|(to, b)| {
                *to = f64::from_le_bytes(b.try_into().expect("eight bytes"));
            });
        }
    }
}

fn bytes_of(form: u8, n: usize) -> usize {
    match form {
        CONSTANT => 8,
        BYTE => n,
        SHORT => 2 * n,
        SINGLE => 4 * n,
        _ => 8 * n,
    }
}

fn encode(column: &[f64], out: &mut Vec<u8>) {
    let first = column.first().map_or(0, |v| v.to_bits());
    let is = |same: fn(f64) -> f64| column.iter().all(|v| same(*v).to_bits() == v.to_bits());
    if column.iter().all(|v| v.to_bits() == first) {
        out.push(CONSTANT);
        out.extend_from_slice(&first.to_le_bytes());
    } else if is(|v| f64::from(v as i8)) {
        out.push(BYTE);
        out.extend(column.iter().map(|v| *v as i8 as u8));
    } else if is(|v| f64::from(v as i16)) {
        out.push(SHORT);
        column.iter().for_each(|v| out.extend_from_slice(&(*v as i16).to_le_bytes()));
    } else if is(|v| f64::from(v as f32)) {
        out.push(SINGLE);
        column.iter().for_each(|v| out.extend_from_slice(&(*v as f32).to_le_bytes()));
    } else {
        out.push(DOUBLE);
        column.iter().for_each(|v| out.extend_from_slice(&v.to_le_bytes()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_comes_back_from_the_narrowest_form() {
        type Cell = fn(usize) -> f64;
        let columns: [(Cell, usize); 6] = [
            (|_| 3.25, 8),
            (|i| (i % 7) as f64 - 3.0, 50),
            (|i| 300.0 * (i as f64) - 9_000.0, 100),
            (|i| f64::from(i as f32 * 0.1), 200),
            (|i| i as f64 * 0.1, 400),
            // −0 is not the whole number 0.
            (|i| if i % 2 == 0 { -0.0 } else { 1.0 }, 200),
        ];
        let values: Vec<f64> = (0..50).flat_map(|i| columns.map(|(value, _)| value(i))).collect();
        for file in [MemoryOrFile::Memory(Vec::new()), MemoryOrFile::File(tempfile::tempfile().unwrap())] {
            let mut kept = Compact::new(file, 6);
            kept.push(&values).unwrap();
            kept.push(&values[..60]).unwrap();
            let expected: usize = columns.iter().map(|(_, bytes)| bytes + 1).sum();
            assert_eq!(kept.shards[0], (50, expected));
            for _ in 0..2 {
                let mut found = Vec::new();
                kept.pass::<io::Error>(Vec::new, |shard| {
                    found.push(shard.values());
                    Ok(())
                })
                .unwrap();
                let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&found[0]), bits(&values));
                assert_eq!(bits(&found[1]), bits(&values[..60]));
            }
        }
    }
}
