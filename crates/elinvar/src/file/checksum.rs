//! The last field of a file, which says whether it is as it was written.

/// Hexadecimal digits of a checksum.
const DIGITS: usize = 16;

/// The checksum of bytes, FNV-1a with 64 bits in hexadecimal digits: a single changed byte always changes it.
pub fn fingerprint(bytes: &[u8]) -> String {
    let hash =
        bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, b| (hash ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3));
    format!("{hash:016x}")
}

/// Adds the checksum of a JSON object as its last field, and the end of the line.
pub(super) fn seal(text: &mut Vec<u8>) {
    let pretty = text.ends_with(b"\n}");
    text.truncate(text.len() - if pretty { 2 } else { 1 });
    let (before, after) = around(pretty);
    let checksum = fingerprint(text);
    for part in [before, checksum.as_bytes(), after] {
        text.extend_from_slice(part);
    }
}

/// Whether a text ends with the checksum of what comes before it.
pub(super) fn holds(text: &[u8]) -> bool {
    [true, false].into_iter().any(|pretty| {
        let (before, after) = around(pretty);
        let Some(rest) = text.strip_suffix(after) else { return false };
        let Some((rest, checksum)) = rest.split_last_chunk::<DIGITS>() else { return false };
        rest.strip_suffix(before).is_some_and(|content| fingerprint(content).as_bytes() == checksum)
    })
}

/// What stands around the digits.
fn around(pretty: bool) -> (&'static [u8], &'static [u8]) {
    if pretty { (b",\n  \"checksum\": \"", b"\"\n}\n") } else { (b",\"checksum\":\"", b"\"}\n") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_changed_byte_is_seen() {
        for text in ["{\"a\":1,\"b\":[2.5,3]}", "{\n  \"a\": 1,\n  \"b\": 2.5\n}"] {
            let mut sealed = text.as_bytes().to_vec();
            seal(&mut sealed);
            assert!(holds(&sealed));
            let value: serde_json::Value = serde_json::from_slice(&sealed).unwrap();
            assert_eq!(value["a"], 1);
            for i in 0..sealed.len() {
                for change in [1, 32] {
                    let mut changed = sealed.clone();
                    changed[i] ^= change;
                    assert!(!holds(&changed), "byte {i} of {text}");
                }
                assert!(!holds(&sealed[..i]));
            }
        }
        assert!(!holds(b"{\"a\":1}\n") && !holds(b""));
    }
}
