//! Numbers stored as differences, as far as their size has to be known before they are decoded.

use super::thrift::Thrift;

/// What follows the differences at the beginning of `bytes`; nothing where there are more than `most` of them, or where
/// they are cut off.
pub(super) fn after(bytes: &[u8], most: u32) -> Option<&[u8]> {
    /// Differences of a block, and parts of a block: writers use 128 to 2048 and 4 to 64.
    const LARGEST_BLOCK: u64 = 1 << 16;
    const MOST_PARTS: u64 = 1 << 10;
    let mut thrift = Thrift { rest: bytes };
    let (block, parts, count) = (thrift.varint()?, thrift.varint()?, thrift.varint()?);
    thrift.signed()?;
    if block > LARGEST_BLOCK || parts == 0 || parts > MOST_PARTS || block < parts || count > u64::from(most) {
        return None;
    }
    let of_part = block / parts;
    // The first number stands before the blocks.
    let mut left = count.saturating_sub(1);
    while left > 0 {
        thrift.signed()?;
        let (widths, rest) = thrift.rest.split_at_checked(parts as usize)?;
        thrift.rest = rest;
        for width in widths {
            if left == 0 {
                break;
            }
            // The last part may lack what is not needed of it.
            let n_bytes = (u64::from(*width) * of_part).div_ceil(8) as usize;
            thrift.rest = thrift.rest.get(n_bytes.min(thrift.rest.len())..)?;
            left = left.saturating_sub(of_part);
        }
    }
    Some(thrift.rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_passed_over() {
        // Blocks of 128 in 4 parts; 34 numbers from 0, the differences 1 and, in 32 bits, anything.
        let mut bytes = vec![0x80, 1, 4, 34, 0, 2, 0, 1, 9, 9];
        bytes.extend([0xaa; 4]);
        bytes.extend(b"rest");
        assert_eq!(after(&bytes, 34), Some(&b"rest"[..]));
        assert_eq!(after(&bytes, 33), None);
        assert_eq!(after(&[0x80, 1, 4, 1, 0], 1), Some(&[][..]));
        assert_eq!(after(&[0x80, 1, 0, 1, 0], 1), None);
        assert_eq!(after(&[0x80, 0x80, 0x80, 0x80, 1, 4, 1, 0], 1), None);
        assert_eq!(after(&bytes[..7], 34), None);
    }
}
