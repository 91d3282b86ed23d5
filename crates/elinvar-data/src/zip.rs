//! The parts of a ZIP archive, as far as npz files need it: stored or deflated, with 64-bit sizes.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use flate2::CrcReader;
use flate2::read::DeflateDecoder;

/// A part of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) name: String,
    /// Bytes after unpacking.
    pub(crate) size: u64,
    packed_size: u64,
    method: u16,
    crc: u32,
    offset: u64,
}

impl Part {
    /// Bytes after unpacking, at most.
    fn most_bytes(&self) -> u64 {
        /// What deflate makes of one byte: a copy of 258 bytes takes two bits.
        const DEFLATED: u64 = 1032;
        if self.method == 0 { self.packed_size } else { self.packed_size.saturating_mul(DEFLATED) }
    }
}

/// A part while it is read.
pub(crate) type PartReader<'a> = CrcReader<Box<dyn Read + 'a>>;

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the archive is damaged")
}

fn read_at(file: &mut File, offset: u64, length: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Offset and length of the list of parts.
fn directory(file: &mut File) -> io::Result<(u64, u64)> {
    const END: usize = 22;
    const LONGEST_NOTE: u64 = 65_535;
    const LOCATOR: usize = 20;
    let size = file.seek(SeekFrom::End(0))?;
    let start = size.saturating_sub(LONGEST_NOTE + (END + LOCATOR) as u64);
    let tail = read_at(file, start, size - start)?;
    let end = (0..(tail.len() + 1).saturating_sub(END)).rev().find(|&k| tail[k..].starts_with(b"PK\x05\x06"));
    let end = end.ok_or_else(damaged)?;
    let short = || Some((u64::from(u32_at(&tail, end + 16)?), u64::from(u32_at(&tail, end + 12)?)));
    let (offset, length) = short().ok_or_else(damaged)?;
    let is_long = offset == u64::from(u32::MAX) || length == u64::from(u32::MAX);
    if !is_long || end < LOCATOR || !tail[end - LOCATOR..].starts_with(b"PK\x06\x07") {
        return Ok((offset, length));
    }
    let at = u64_at(&tail, end - LOCATOR + 8).ok_or_else(damaged)?;
    let long = read_at(file, at, 56)?;
    u64_at(&long, 48).zip(u64_at(&long, 40)).ok_or_else(damaged)
}

/// The parts of an archive, in its order.
pub(crate) fn parts(file: &mut File) -> io::Result<Vec<Part>> {
    let (offset, length) = directory(file)?;
    let list = read_at(file, offset, length)?;
    let file_size = file.seek(SeekFrom::End(0))?;
    let mut packed_size = 0_u64;
    let mut parts = Vec::new();
    let mut rest = &list[..];
    while rest.starts_with(b"PK\x01\x02") {
        let (part, used) = part(rest).ok_or_else(damaged)?;
        // Parts lie side by side: what all of them claim is in the file, and none unpacks to more than is possible.
        packed_size = packed_size.saturating_add(part.packed_size);
        if packed_size > file_size || part.size > part.most_bytes() {
            return Err(damaged());
        }
        parts.push(part);
        rest = rest.get(used..).ok_or_else(damaged)?;
    }
    Ok(parts)
}

fn part(entry: &[u8]) -> Option<(Part, usize)> {
    const FIXED: usize = 46;
    const LONG: u64 = u32::MAX as u64;
    let name_end = FIXED + usize::from(u16_at(entry, 28)?);
    let extra_end = name_end + usize::from(u16_at(entry, 30)?);
    let end = extra_end + usize::from(u16_at(entry, 32)?);
    let mut part = Part {
        name: String::from_utf8_lossy(entry.get(FIXED..name_end)?).into_owned(),
        size: u64::from(u32_at(entry, 24)?),
        packed_size: u64::from(u32_at(entry, 20)?),
        method: u16_at(entry, 10)?,
        crc: u32_at(entry, 16)?,
        offset: u64::from(u32_at(entry, 42)?),
    };
    let mut extra = entry.get(name_end..extra_end)?;
    while extra.len() >= 4 {
        let length = usize::from(u16_at(extra, 2)?);
        if u16_at(extra, 0)? == 1 {
            let long = [&mut part.size, &mut part.packed_size, &mut part.offset];
            for (i, value) in long.into_iter().filter(|value| **value == LONG).enumerate() {
                *value = u64_at(extra, 4 + 8 * i)?;
            }
        }
        extra = extra.get(4 + length..)?;
    }
    Some((part, end))
}

/// Opens a part; after its last byte, [`is_intact`] tells whether it was read as it was written.
pub(crate) fn open<'a>(file: &'a mut File, part: &Part) -> io::Result<PartReader<'a>> {
    const FIXED: u64 = 30;
    let header = read_at(file, part.offset, FIXED)?;
    if !header.starts_with(b"PK\x03\x04") {
        return Err(damaged());
    }
    let skipped = u16_at(&header, 26).zip(u16_at(&header, 28)).ok_or_else(damaged)?;
    let start = part.offset.checked_add(FIXED + u64::from(skipped.0) + u64::from(skipped.1)).ok_or_else(damaged)?;
    file.seek(SeekFrom::Start(start))?;
    let packed = BufReader::with_capacity(1 << 16, file).take(part.packed_size);
    match part.method {
        0 => Ok(CrcReader::new(Box::new(packed))),
        8 => Ok(CrcReader::new(Box::new(DeflateDecoder::new(packed)))),
        _ => Err(io::Error::new(io::ErrorKind::Unsupported, "the archive is packed by an unknown method")),
    }
}

/// Whether the bytes read are those that were written.
pub(crate) fn is_intact(reader: &PartReader<'_>, part: &Part) -> bool {
    reader.crc().sum() == part.crc
}
