//! What stands around the pages of a parquet file, in the compact protocol of Thrift.
//!
//! Every value takes a byte at least, so that no list that is read here is longer than the bytes it comes from.

/// Structures within structures, more than any file of tables has.
const DEEPEST: usize = 64;

/// Kinds of values, as they are written.
pub(super) mod kind {
    pub(in crate::parquet) const TRUE: u8 = 1;
    pub(in crate::parquet) const FALSE: u8 = 2;
    pub(in crate::parquet) const BYTE: u8 = 3;
    pub(in crate::parquet) const I16: u8 = 4;
    pub(in crate::parquet) const I32: u8 = 5;
    pub(in crate::parquet) const I64: u8 = 6;
    const DOUBLE: u8 = 7;
    pub(in crate::parquet) const BINARY: u8 = 8;
    pub(in crate::parquet) const LIST: u8 = 9;
    const SET: u8 = 10;
    const MAP: u8 = 11;
    pub(in crate::parquet) const STRUCT: u8 = 12;
    const UUID: u8 = 13;

    use super::{DEEPEST, Thrift};

    impl Thrift<'_> {
        /// Passes over a value of this kind; `None` where it does not end.
        pub(in crate::parquet) fn skip(&mut self, kind: u8) -> Option<()> {
            self.skip_within(kind, 0)
        }

        fn skip_within(&mut self, kind: u8, depth: usize) -> Option<()> {
            if depth > DEEPEST {
                return None;
            }
            match kind {
                TRUE | FALSE => Some(()),
                BYTE => self.take(1).map(drop),
                I16 | I32 | I64 => self.varint().map(drop),
                DOUBLE => self.take(8).map(drop),
                UUID => self.take(16).map(drop),
                BINARY => {
                    let length = self.varint()?;
                    self.take(usize::try_from(length).ok()?).map(drop)
                }
                LIST | SET => {
                    let (length, of) = self.list()?;
                    (0..length).try_for_each(|_| self.skip_item(of, depth))
                }
                MAP => {
                    let length = self.varint()?;
                    if length == 0 {
                        return Some(());
                    }
                    let kinds = self.take(1)?[0];
                    (0..length).try_for_each(|_| {
                        self.skip_item(kinds >> 4, depth)?;
                        self.skip_item(kinds & 15, depth)
                    })
                }
                STRUCT => {
                    let mut last = 0;
                    while let Some((_, kind)) = self.field(&mut last)? {
                        self.skip_within(kind, depth + 1)?;
                    }
                    Some(())
                }
                _ => None,
            }
        }

        /// In a list a truth value takes a byte, which the crate does not pass over; no part of a file that is read
        /// here has one.
        fn skip_item(&mut self, kind: u8, depth: usize) -> Option<()> {
            match kind {
                TRUE | FALSE => None,
                kind => self.skip_within(kind, depth + 1),
            }
        }
    }
}

/// Bytes in the compact protocol, from where they are read on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thrift<'a> {
    pub(super) rest: &'a [u8],
}

impl<'a> Thrift<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(n)?;
        self.rest = rest;
        Some(taken)
    }

    /// A whole number, seven bits in each byte.
    pub(super) fn varint(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    /// A whole number with a sign.
    pub(super) fn signed(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// A size or a count, which is not negative.
    pub(super) fn count(&mut self) -> Option<u32> {
        u32::try_from(self.signed()?).ok().filter(|count| i32::try_from(*count).is_ok())
    }

    /// Number and kind of the next field of a structure, or nothing at its end; `last` is the number of the one before.
    #[expect(clippy::option_option, reason = "the outer one is a structure that is cut off")]
    pub(super) fn field(&mut self, last: &mut i64) -> Option<Option<(i64, u8)>> {
        let first = self.take(1)?[0];
        if first == 0 {
            return Some(None);
        }
        *last = match first >> 4 {
            0 => self.signed()?,
            step => last.checked_add(i64::from(step))?,
        };
        // The crate counts in 16 bits.
        (0..=i64::from(i16::MAX)).contains(last).then_some(Some((*last, first & 15)))
    }

    /// Length of a list and kind of its items.
    pub(super) fn list(&mut self) -> Option<(u64, u8)> {
        let first = self.take(1)?[0];
        let length = if first >> 4 == 15 { self.varint()? } else { u64::from(first >> 4) };
        (length <= self.rest.len() as u64).then_some((length, first & 15))
    }
}

/// The kinds of the fields of what is written at the end of a file, by their numbers, from 1 on. The crate goes by the
/// number alone: of another kind it would read other bytes than those that are passed over here.
mod fields {
    use super::kind::{BINARY, I16, I32, I64, LIST, STRUCT};

    /// Version, schema, number of rows, row groups, words, the writer, orders, and encryption.
    pub(super) const FILE: &[u8] = &[I32, LIST, I64, LIST, LIST, BINARY, LIST, STRUCT, BINARY];
    /// Chunks of columns, sizes, order, place.
    pub(super) const ROW_GROUP: &[u8] = &[LIST, I64, I64, LIST, I64, I64, I16];
    /// Where a chunk is, and what is in it.
    pub(super) const CHUNK: &[u8] = &[BINARY, I64, STRUCT, I64, I32, I64, I32, STRUCT, BINARY];
    /// Type, encodings, names, codec, counts, sizes, words, places of pages, statistics.
    pub(super) const COLUMN: &[u8] =
        &[I32, LIST, LIST, I32, I64, I64, I64, LIST, I64, I64, I64, STRUCT, LIST, I64, I32, STRUCT, STRUCT];
}

/// Passes over a structure whose fields have these kinds and come in order; `within` passes over one of them.
fn check_struct(
    thrift: &mut Thrift<'_>,
    kinds: &[u8],
    within: &mut dyn FnMut(i64, &mut Thrift<'_>) -> Option<bool>,
) -> Option<()> {
    let (mut last, mut before) = (0, 0);
    while let Some((number, kind)) = thrift.field(&mut last)? {
        let known = usize::try_from(number).ok()?.checked_sub(1).and_then(|at| kinds.get(at));
        if number <= before || known.is_some_and(|known| *known != kind) {
            return None;
        }
        before = number;
        if !within(number, thrift)? {
            thrift.skip(kind)?;
        }
    }
    Some(())
}

/// Passes over a list of structures.
fn check_list(thrift: &mut Thrift<'_>, each: &mut dyn FnMut(&mut Thrift<'_>) -> Option<()>) -> Option<()> {
    let (length, of) = thrift.list()?;
    if of != kind::STRUCT {
        return None;
    }
    (0..length).try_for_each(|_| each(thrift))
}

/// Checks what the crate takes on trust at the end of a file: that everything ends and has the kind that it should,
/// that the schema has the columns that it claims, and that it is not a tower of groups.
pub(super) fn is_footer(bytes: &[u8]) -> bool {
    const SCHEMA: i64 = 2;
    const ROW_GROUPS: i64 = 4;
    let nothing = &mut |_: i64, _: &mut Thrift<'_>| Some(false);
    let chunk = &mut |thrift: &mut Thrift<'_>| {
        check_struct(thrift, fields::CHUNK, &mut |number, thrift| match number {
            3 => check_struct(thrift, fields::COLUMN, nothing).map(|()| true),
            _ => Some(false),
        })
    };
    let group = &mut |thrift: &mut Thrift<'_>| {
        check_struct(thrift, fields::ROW_GROUP, &mut |number, thrift| match number {
            1 => check_list(thrift, chunk).map(|()| true),
            _ => Some(false),
        })
    };
    let file = &mut |number: i64, thrift: &mut Thrift<'_>| match number {
        SCHEMA => check_schema(thrift).map(|()| true),
        ROW_GROUPS => check_list(thrift, group).map(|()| true),
        _ => Some(false),
    };
    check_struct(&mut Thrift { rest: bytes }, fields::FILE, file).is_some()
}

const CHILDREN: i64 = 5;
const LOGICAL_TYPE: i64 = 10;

/// Whether a field of a column has the kind that it should.
fn is_kind_of_element(number: i64, kind: u8) -> bool {
    const NAME: i64 = 4;
    match number {
        NAME => kind == kind::BINARY,
        LOGICAL_TYPE => kind == kind::STRUCT,
        1..LOGICAL_TYPE => kind == kind::I32,
        _ => true,
    }
}

/// Passes over what the numbers of a column mean, which has the kinds that it should likewise.
fn check_logical_type(thrift: &mut Thrift<'_>) -> Option<()> {
    let mut last = 0;
    while let Some((variant, kind)) = thrift.field(&mut last)? {
        if kind != kind::STRUCT {
            return None;
        }
        let mut last = 0;
        while let Some((number, kind)) = thrift.field(&mut last)? {
            let is_bool = matches!(kind, kind::TRUE | kind::FALSE);
            let is_right = match (variant, number) {
                // A decimal number; a time; an integer; a variant; a place on the earth.
                (5, 1 | 2) => kind == kind::I32,
                (7 | 8, 1) | (10, 2) => is_bool,
                (7 | 8, 2) => kind == kind::STRUCT,
                (10 | 16, 1) => kind == kind::BYTE,
                (17 | 18, 1) => kind == kind::BINARY,
                (18, 2) => kind == kind::I32,
                _ => true,
            };
            if !is_right {
                return None;
            }
            thrift.skip(kind)?;
        }
    }
    Some(())
}

fn check_schema(thrift: &mut Thrift<'_>) -> Option<()> {
    let (length, of) = thrift.list()?;
    if of != kind::STRUCT {
        return None;
    }
    // How many children each open group still lacks.
    let mut open: Vec<u64> = Vec::new();
    for item in 0..length {
        let (mut last, mut children) = (0, 0);
        while let Some((number, kind)) = thrift.field(&mut last)? {
            if !is_kind_of_element(number, kind) {
                return None;
            }
            match number {
                CHILDREN => children = u64::from(thrift.count()?),
                LOGICAL_TYPE => check_logical_type(thrift)?,
                _ => thrift.skip(kind)?,
            }
        }
        if children >= length - item || open.len() > DEEPEST {
            return None;
        }
        if let Some(lacking) = open.last_mut() {
            *lacking -= 1;
        }
        if children > 0 {
            open.push(children);
        }
        while open.last() == Some(&0) {
            open.pop();
        }
    }
    open.is_empty().then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_fields() {
        let mut thrift = Thrift { rest: &[0x96, 1, 3, 0x15, 2, 0] };
        assert_eq!((thrift.varint(), thrift.signed()), (Some(150), Some(-2)));
        let mut last = 0;
        assert_eq!(thrift.field(&mut last), Some(Some((1, kind::I32))));
        assert_eq!((thrift.count(), thrift.field(&mut last)), (Some(1), Some(None)));
        assert_eq!(thrift.field(&mut last), None);
        assert_eq!(Thrift { rest: &[0xff; 11] }.varint(), None);
    }

    /// A schema of a root with so many children and as many columns as there are, at the end of a file.
    fn footer(children: u8, columns: u8) -> Vec<u8> {
        let mut bytes = vec![0x29, (columns + 1) << 4 | kind::STRUCT, 0x55, 2 * children, 0];
        (0..columns).for_each(|_| bytes.extend([0x15, 2, 0]));
        bytes.push(0);
        bytes
    }

    #[test]
    fn a_schema_has_the_columns_that_it_claims() {
        assert!(is_footer(&footer(2, 2)));
        assert!(!is_footer(&footer(3, 2)) && !is_footer(&footer(63, 2)));
        assert!(!is_footer(&footer(2, 2)[..8]));
        // Groups within groups.
        let tower = |n: u8| {
            let mut bytes = vec![0x29, 0xf0 | kind::STRUCT, n + 1];
            (0..n).for_each(|_| bytes.extend([0x55, 2, 0]));
            bytes.extend([0x15, 2, 0, 0]);
            bytes
        };
        assert!(is_footer(&tower(20)) && !is_footer(&tower(100)));
    }

    #[test]
    fn counts_of_another_kind_are_refused() {
        let mut bytes = footer(2, 2);
        assert!(is_footer(&bytes));
        // The number of children as 64 bits; the name as a number; a logical type that is none.
        bytes[2] = 0x56;
        assert!(!is_footer(&bytes));
        for field in [&[0x45, 2][..], &[0xa5, 2], &[0xac, 0x5c, 0x16, 2, 0, 0]] {
            let element = |field: &[u8]| [&[0x29, 0x1c][..], field, &[0, 0]].concat();
            assert!(!is_footer(&element(field)), "{field:?}");
        }
        assert!(is_footer(&[0x29, 0x1c, 0xac, 0x5c, 0x15, 2, 0, 0, 0, 0]), "a decimal number");
    }

    #[test]
    fn the_fields_of_a_file_have_their_kinds_and_come_in_order() {
        let schema = footer(2, 2);
        // A version before it: a number, and a list in its place, which hides the schema from whoever passes over it.
        let with = |version: &[u8]| [version, &[0x19], &schema[1..]].concat();
        assert!(is_footer(&with(&[0x15, 2])));
        assert!(!is_footer(&with(&[0x19, 0x15, 2])) && !is_footer(&with(&[0x18, 1, 2])));
        // The schema twice.
        let twice = [&schema[..schema.len() - 1], &[0x09, 4], &schema[1..]].concat();
        assert!(!is_footer(&twice));
        // A row group whose number of rows is a text.
        let rows =
            |kind: u8, value: &[u8]| [&schema[..schema.len() - 1], &[0x29, 0x1c, 0x30 | kind], value, &[0, 0]].concat();
        assert!(is_footer(&rows(kind::I64, &[2])) && !is_footer(&rows(kind::BINARY, &[1, 65])));
    }

    #[test]
    fn what_does_not_end_is_refused() {
        // A list of more items than bytes; structures without end.
        assert!(Thrift { rest: &[0xf3, 100, 0] }.skip(kind::LIST).is_none());
        assert!(Thrift { rest: &[0x1c; 200] }.skip(kind::STRUCT).is_none());
        assert!(Thrift { rest: &[2, 0x33, 1, 2, 3, 4] }.skip(11).is_some());
    }
}
