//! A stable hash of names and numbers, by which a fit file recognises its data.

use crate::Table;

/// FNV-1a with 64 bits.
struct Fnv(u64);

impl Fnv {
    fn new() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

/// The FNV-1a hash, as 16 hexadecimal digits, of the number of columns, the names (each closed by a zero byte) and the
/// bits of the values, all integers and bits little-endian.
pub(crate) fn fingerprint<'a>(
    names: impl ExactSizeIterator<Item = &'a str>,
    values: impl IntoIterator<Item = f64>,
) -> String {
    let mut hash = Fnv::new();
    hash.write(&(names.len() as u64).to_le_bytes());
    for name in names {
        hash.write(name.as_bytes());
        hash.write(&[0]);
    }
    for value in values {
        hash.write(&value.to_bits().to_le_bytes());
    }
    format!("{:016x}", hash.0)
}

impl Table {
    /// A hash of the column names and the bits of all values: 16 hexadecimal digits, the same on every machine and in
    /// every version, and the same for a file however it is delimited, quoted or spaced. Levels of categories count as
    /// names.
    ///
    /// ```
    /// assert_eq!(elinvar_data::breast_cancer().fingerprint().len(), 16);
    /// ```
    pub fn fingerprint(&self) -> String {
        let mut names = self.names.clone();
        for (name, levels) in self.names.iter().zip(&self.levels) {
            names.extend(levels.iter().map(|level| format!("{name}={level}")));
        }
        fingerprint(names.iter().map(String::as_str), self.values().iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Columns;

    fn hash_of(text: &str) -> u64 {
        let mut hash = Fnv::new();
        hash.write(text.as_bytes());
        hash.0
    }

    #[test]
    fn published_values_of_fnv_1a() {
        assert_eq!(hash_of(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash_of("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(hash_of("foobar"), 0x8594_4171_f739_67e8);
    }

    /// Computed by a separate program in another language; it changes only if old fit files lose their data.
    #[test]
    fn embedded_table_keeps_its_fingerprint() {
        assert_eq!(crate::breast_cancer().fingerprint(), "eb71708868699e4d");
    }

    #[test]
    fn depends_on_content_and_not_on_form() {
        let of = |text: &str| Table::from_csv("t.csv", text.as_bytes(), &Columns::All).unwrap().fingerprint();
        let plain = of("a,b\n1,2\n3,4\n");
        assert_eq!(plain, of("\u{feff}\"a\"; b\r\n1.0; 2e0\r\n\r\n3;4\r\n"));
        assert_ne!(plain, of("a,c\n1,2\n3,4\n"));
        assert_ne!(plain, of("a,b\n1,2\n4,3\n"));
        assert_ne!(of("a,b\n0,2\n"), of("a,b\n-0.0,2\n"));
    }
}
