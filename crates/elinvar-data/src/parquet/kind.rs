//! What the cells of a parquet column are, by its physical type and by what its writer notes about it.

use ::parquet::basic::{ConvertedType, LogicalType, Repetition, TimeUnit, Type as Physical};
use ::parquet::schema::types::Type;

/// How the cells of a column become numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// As they are.
    Number,
    /// Whole numbers without a sign, stored in a type that has one.
    Unsigned,
    /// Whole numbers, to be divided by this power of ten.
    Decimal(f64),
    /// Floating-point numbers of two bytes.
    Half,
    /// As categories.
    Text,
    /// Every cell is null.
    Nothing,
}

/// The kind of a column of the table, or the name of its type if it holds neither numbers nor texts.
pub(super) fn kind(field: &Type) -> Result<Kind, String> {
    let about = field.get_basic_info();
    if !field.is_primitive() {
        return Err(match (about.logical_type_ref(), about.converted_type()) {
            (Some(LogicalType::List), _) | (_, ConvertedType::LIST) => "List".into(),
            (Some(LogicalType::Map), _) | (_, ConvertedType::MAP | ConvertedType::MAP_KEY_VALUE) => "Map".into(),
            _ => "Struct".into(),
        });
    }
    if about.has_repetition() && about.repetition() == Repetition::REPEATED {
        return Err("List".into());
    }
    match about.logical_type_ref() {
        Some(LogicalType::Unknown) => Ok(Kind::Nothing),
        Some(noted) => by_logical_type(field, noted),
        None => by_converted_type(field, about.converted_type()),
    }
}

fn by_logical_type(field: &Type, noted: &LogicalType) -> Result<Kind, String> {
    match noted {
        LogicalType::Integer(whole) if whole.is_signed => Ok(Kind::Number),
        LogicalType::Integer(_) => Ok(Kind::Unsigned),
        LogicalType::Decimal(decimal) => decimals(field, decimal.precision, decimal.scale),
        LogicalType::Float16 => Ok(Kind::Half),
        LogicalType::String | LogicalType::Json => Ok(Kind::Text),
        LogicalType::Date => Err("Date32".into()),
        LogicalType::Time(time) if time.unit == TimeUnit::MILLIS => Err("Time32(ms)".into()),
        LogicalType::Time(time) => Err(format!("Time64({})", unit(time.unit))),
        LogicalType::Timestamp(time) if time.is_adjusted_to_u_t_c => {
            Err(format!("Timestamp({}, \"UTC\")", unit(time.unit)))
        }
        LogicalType::Timestamp(time) => Err(format!("Timestamp({})", unit(time.unit))),
        _ => plain(field),
    }
}

/// Files from before 2018, and some after, note only this.
fn by_converted_type(field: &Type, noted: ConvertedType) -> Result<Kind, String> {
    match noted {
        ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64 => {
            Ok(Kind::Unsigned)
        }
        ConvertedType::DECIMAL => decimals(field, field.get_precision(), field.get_scale()),
        ConvertedType::UTF8 | ConvertedType::JSON => Ok(Kind::Text),
        ConvertedType::DATE => Err("Date32".into()),
        ConvertedType::TIME_MILLIS => Err("Time32(ms)".into()),
        ConvertedType::TIME_MICROS => Err("Time64(µs)".into()),
        ConvertedType::TIMESTAMP_MILLIS => Err("Timestamp(ms, \"UTC\")".into()),
        ConvertedType::TIMESTAMP_MICROS => Err("Timestamp(µs, \"UTC\")".into()),
        ConvertedType::INTERVAL => Err("Interval".into()),
        _ => plain(field),
    }
}

/// The kind by the physical type alone.
fn plain(field: &Type) -> Result<Kind, String> {
    match field.get_physical_type() {
        Physical::BYTE_ARRAY => Err("Binary".into()),
        Physical::FIXED_LEN_BYTE_ARRAY => Err("FixedSizeBinary".into()),
        // Only timestamps were ever written in twelve bytes.
        Physical::INT96 => Err("Timestamp(ns)".into()),
        Physical::BOOLEAN | Physical::INT32 | Physical::INT64 | Physical::FLOAT | Physical::DOUBLE => Ok(Kind::Number),
    }
}

fn decimals(field: &Type, precision: i32, scale: i32) -> Result<Kind, String> {
    /// More digits than a number of sixteen bytes has.
    const MOST_DIGITS: i32 = 38;
    let is_exact = matches!(
        field.get_physical_type(),
        Physical::INT32 | Physical::INT64 | Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY
    );
    if precision > MOST_DIGITS || !is_exact {
        return Err(format!("Decimal({precision}, {scale})"));
    }
    Ok(Kind::Decimal(10_f64.powi(scale)))
}

fn unit(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::MILLIS => "ms",
        TimeUnit::MICROS => "µs",
        TimeUnit::NANOS => "ns",
    }
}
