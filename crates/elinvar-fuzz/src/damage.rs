//! Damage to bytes and to text, with an eye for what readers take on trust: lengths, counts and numbers.

use crate::random::Random;

/// Whole numbers at which something overflows, wraps or does not fit into memory.
const SIZES: [u64; 20] = [
    0,
    1,
    2,
    3,
    7,
    8,
    127,
    128,
    255,
    256,
    65_535,
    65_536,
    1 << 20,
    (1 << 31) - 1,
    1 << 31,
    (1 << 32) - 1,
    1 << 32,
    1 << 40,
    (1 << 63) - 1,
    u64::MAX,
];

/// Numbers as texts have them.
const WORDS: [&str; 24] = [
    "0",
    "-1",
    "1",
    "4194304",
    "4194305",
    "65536",
    "2147483648",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999",
    "1e308",
    "1e309",
    "-1e400",
    "5e-324",
    "nan",
    "inf",
    "",
    "0x10",
    "1_000",
    "null",
    "[]",
    "\u{feff}",
];

/// A size that is hard on a reader.
pub(crate) fn size(random: &mut Random) -> u64 {
    let wobble = random.below(3) as u64;
    random.of(&SIZES).wrapping_add(wobble).wrapping_sub(1)
}

/// Damages bytes in one to four places.
pub(crate) fn bytes(random: &mut Random, mut bytes: Vec<u8>, others: &[Vec<u8>]) -> Vec<u8> {
    for _ in 0..=random.below(4) {
        if bytes.is_empty() {
            return bytes;
        }
        let at = random.below(bytes.len());
        match random.below(10) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = random.next() as u8,
            2 => bytes.truncate(at),
            3 => {
                let end = (at + 1 + random.below(16)).min(bytes.len());
                bytes.drain(at..end);
            }
            4 => {
                let end = (at + 1 + random.below(64)).min(bytes.len());
                let part = bytes[at..end].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, part);
            }
            // A whole number, the lowest byte first.
            5 | 6 => {
                let width = *random.of(&[2, 4, 8]);
                let value = size(random).to_le_bytes();
                for (byte, new) in bytes[at..].iter_mut().zip(&value[..width]) {
                    *byte = *new;
                }
            }
            // A whole number, seven bits in each byte.
            7 => {
                let end = (at..bytes.len()).find(|&k| bytes[k] & 0x80 == 0).map_or(bytes.len(), |k| k + 1);
                let value = size(random) << random.below(2);
                bytes.splice(at..end, varint(value));
            }
            8 => bytes = digits(random, bytes),
            _ => {
                let other = random.of(others);
                let from = random.below(other.len());
                let end = (from + 1 + random.below(128)).min(other.len());
                let to = (at + random.below(64)).min(bytes.len());
                bytes.splice(at..to, other.get(from..end).unwrap_or_default().to_vec());
            }
        }
    }
    bytes
}

/// Damages text: a number or a word of it becomes another, lines are doubled, left out or exchanged.
pub(crate) fn text(random: &mut Random, mut text: Vec<u8>, words: &[&str], others: &[Vec<u8>]) -> Vec<u8> {
    for _ in 0..=random.below(4) {
        match random.below(6) {
            0 | 1 => text = digits(random, text),
            2 | 3 => {
                let at = random.below(text.len() + 1);
                let end = (at..text.len()).find(|&k| !text[k].is_ascii_alphanumeric()).unwrap_or(text.len());
                text.splice(at..end, random.of(words).bytes());
            }
            4 => {
                let mut lines: Vec<Vec<u8>> = text.split_inclusive(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
                if !lines.is_empty() {
                    let (from, to) = (random.below(lines.len()), random.below(lines.len()));
                    match random.below(3) {
                        0 => lines.insert(to, lines[from].clone()),
                        1 => drop(lines.remove(from)),
                        _ => lines.swap(from, to),
                    }
                }
                text = lines.concat();
            }
            _ => text = bytes(random, text, others),
        }
    }
    text
}

/// Replaces a number that stands in a text.
fn digits(random: &mut Random, mut text: Vec<u8>) -> Vec<u8> {
    let is_digit = |k: usize| text.get(k).is_some_and(u8::is_ascii_digit);
    let starts: Vec<usize> = (0..text.len()).filter(|&k| is_digit(k) && (k == 0 || !is_digit(k - 1))).collect();
    if !starts.is_empty() {
        let start = *random.of(&starts);
        let end = (start..text.len()).find(|&k| !is_digit(k)).unwrap_or(text.len());
        text.splice(start..end, random.of(&WORDS).bytes());
    }
    text
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}
