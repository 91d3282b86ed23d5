//! Arrays as numpy saves them, alone and in archives whose checksums hold.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::DeflateEncoder;

use crate::damage;
use crate::random::Random;

/// An array of these numbers with this text for a header.
pub(crate) fn npy(header: &str, numbers: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16 + 1).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.push(b'\n');
    bytes.extend(numbers);
    bytes
}

/// Some arrays that can be read.
pub(crate) fn good_arrays() -> Vec<Vec<u8>> {
    let numbers: Vec<u8> = [1.0_f64, 2.0, f64::NAN, 4.0, -5.5, 6e30].iter().flat_map(|x| x.to_le_bytes()).collect();
    let of = |kind: &str, order: &str, shape: &str, numbers: &[u8]| {
        npy(&format!("{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}"), numbers)
    };
    vec![
        of("<f8", "False", "(3, 2)", &numbers),
        of("<f8", "True", "(2, 3)", &numbers),
        of("<f4", "False", "(12,)", &numbers),
        of("|u1", "False", "(16, 3)", &numbers),
        of(">i2", "False", "(3, 8)", &numbers),
        of("|b1", "False", "(3,)", &numbers[..3]),
        of("<f8", "False", "(3,)", &numbers[..24]),
    ]
}

/// An archive of these parts, stored or deflated; sizes that are lied about are given.
pub(crate) fn archive(parts: &[(&str, Vec<u8>)], deflated: bool, claimed: Option<u32>) -> Vec<u8> {
    let (mut bytes, mut list) = (Vec::new(), Vec::new());
    for (name, content) in parts {
        let mut crc = flate2::Crc::new();
        crc.update(content);
        let packed = if deflated { deflate(content) } else { content.clone() };
        let mut about = vec![20, 0, 0, 0, if deflated { 8 } else { 0 }, 0, 0, 0, 0, 0];
        about.extend(crc.sum().to_le_bytes());
        about.extend((packed.len() as u32).to_le_bytes());
        about.extend(claimed.unwrap_or(content.len() as u32).to_le_bytes());
        about.extend((name.len() as u16).to_le_bytes());
        about.extend([0, 0]);
        list.extend(b"PK\x01\x02\x14\x00");
        list.extend(&about);
        list.extend([0; 10]);
        list.extend((bytes.len() as u32).to_le_bytes());
        list.extend(name.as_bytes());
        bytes.extend(b"PK\x03\x04");
        bytes.extend(&about);
        bytes.extend(name.as_bytes());
        bytes.extend(packed);
    }
    let (offset, n_parts) = (bytes.len() as u32, parts.len() as u16);
    bytes.extend(&list);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend(n_parts.to_le_bytes());
    bytes.extend(n_parts.to_le_bytes());
    bytes.extend((list.len() as u32).to_le_bytes());
    bytes.extend(offset.to_le_bytes());
    bytes.extend([0, 0]);
    bytes
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).and_then(|()| packed.finish()).unwrap_or_default()
}

/// Some archives that can be read.
pub(crate) fn good_archives() -> Vec<Vec<u8>> {
    let arrays = good_arrays();
    let pair = [("X.npy", arrays[0].clone()), ("y.npy", arrays[6].clone())];
    vec![archive(&pair, false, None), archive(&pair, true, None), archive(&[("a.npy", arrays[3].clone())], true, None)]
}

/// A damaged archive: its bytes, or the arrays in it, whose checksums then hold.
pub(crate) fn damaged_archive(random: &mut Random, base: &[u8], others: &[Vec<u8>]) -> Vec<u8> {
    if random.below(3) == 0 {
        return damage::bytes(random, base.to_vec(), others);
    }
    let arrays = good_arrays();
    let names = ["X.npy", "y.npy", "x1.npy", "z.txt", ".npy", "b/c.npy"];
    let mut parts = Vec::new();
    for _ in 0..=random.below(3) {
        let array = random.of(&arrays).clone();
        let array =
            if random.below(3) == 0 { array } else { damage::text(random, array, &["(", ")", ",", "L"], &arrays) };
        parts.push((*random.of(&names), array));
    }
    let claimed = (random.below(4) == 0).then(|| damage::size(random) as u32);
    let bytes = archive(&parts, random.below(2) == 0, claimed);
    if random.below(3) == 0 { damage::bytes(random, bytes, others) } else { bytes }
}
