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
        for j in 0..self.width {
            encode(values.iter().skip(j).step_by(self.width).copied(), &mut self.buffer);
        }
        match &mut self.file {
            MemoryOrFile::Memory(bytes) => bytes.extend_from_slice(&self.buffer),
            MemoryOrFile::File(file) => file.write_all(&self.buffer)?,
        }
        self.shards.push((values.len() / self.width, self.buffer.len()));
        Ok(())
    }

    /// Gives all shards, in their order; each is decoded by what it is given with.
    ///
    /// # Errors
    /// Those of the file, or what `take` says.
    pub fn pass<E: From<io::Error>>(&mut self, mut take: impl FnMut(CompactShard) -> Result<(), E>) -> Result<(), E> {
        if let MemoryOrFile::File(file) = &mut self.file {
            file.seek(SeekFrom::Start(0))?;
        }
        let mut at = 0;
        for &(n_rows, n_bytes) in &self.shards {
            let mut bytes = vec![0; n_bytes];
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

impl CompactShard {
    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The numbers, row by row.
    pub fn values(&self) -> Vec<f64> {
        let (n, width) = (self.n_rows, self.width);
        let mut values = vec![0.0; n * width];
        let mut rest = &self.bytes[..];
        for j in 0..width {
            let (form, behind) = rest.split_first().expect("a form for each column");
            let length = bytes_of(*form, n);
            let (numbers, behind) = behind.split_at(length);
            rest = behind;
            let out = values.iter_mut().skip(j).step_by(width);
            match *form {
                CONSTANT => {
                    let value = f64::from_le_bytes(numbers.try_into().expect("eight bytes"));
                    out.for_each(|to| *to = value);
                }
                BYTE => out.zip(numbers).for_each(|(to, byte)| *to = f64::from(*byte as i8)),
                SHORT => out.zip(numbers.chunks_exact(2)).for_each(|(to, b)| {
                    *to = f64::from(i16::from_le_bytes([b[0], b[1]]));
                }),
                SINGLE => out.zip(numbers.chunks_exact(4)).for_each(|(to, b)| {
                    *to = f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
                }),
                _ => out.zip(numbers.chunks_exact(8)).for_each(|(to, b)| {
                    *to = f64::from_le_bytes(b.try_into().expect("eight bytes"));
                }),
            }
        }
        values
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

fn encode(column: impl Iterator<Item = f64> + Clone, out: &mut Vec<u8>) {
    let first = column.clone().next().map_or(0, f64::to_bits);
    let is = |same: fn(f64) -> f64| column.clone().all(|v| same(v).to_bits() == v.to_bits());
    if column.clone().all(|v| v.to_bits() == first) {
        out.push(CONSTANT);
        out.extend_from_slice(&first.to_le_bytes());
    } else if is(|v| f64::from(v as i8)) {
        out.push(BYTE);
        out.extend(column.map(|v| v as i8 as u8));
    } else if is(|v| f64::from(v as i16)) {
        out.push(SHORT);
        column.for_each(|v| out.extend_from_slice(&(v as i16).to_le_bytes()));
    } else if is(|v| f64::from(v as f32)) {
        out.push(SINGLE);
        column.for_each(|v| out.extend_from_slice(&(v as f32).to_le_bytes()));
    } else {
        out.push(DOUBLE);
        column.for_each(|v| out.extend_from_slice(&v.to_le_bytes()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_comes_back_from_the_narrowest_form() {
        let columns: [(fn(usize) -> f64, usize); 6] = [
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
                kept.pass::<io::Error>(|shard| {
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
