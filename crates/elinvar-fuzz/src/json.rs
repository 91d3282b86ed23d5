//! Damage to the files of the library: JSON that stays JSON, sealed again so that its checksum holds.

use serde_json::{Number, Value};

use crate::damage;
use crate::random::Random;

/// Damages one to three values of a file, which is sealed again if it was; one in eight files is damaged byte by byte
/// instead.
pub(crate) fn damaged(random: &mut Random, file: &[u8], others: &[Vec<u8>]) -> Vec<u8> {
    let Ok(mut value) = serde_json::from_slice::<Value>(file) else {
        return damage::bytes(random, file.to_vec(), others);
    };
    if random.below(8) == 0 {
        return damage::bytes(random, file.to_vec(), others);
    }
    let is_sealed = value.get("checksum").is_some();
    let donor = serde_json::from_slice::<Value>(random.of::<Vec<u8>>(others)).unwrap_or(Value::Null);
    for _ in 0..=random.below(3) {
        let n = count(&value);
        let at = 1 + random.below(n - 1);
        let given = nth(&donor, &mut random.below(count(&donor))).cloned().unwrap_or(Value::Null);
        if let Some(place) = nth_mut(&mut value, &mut at.clone()) {
            change(random, place, given);
        }
    }
    if is_sealed { sealed(&value) } else { value.to_string().into() }
}

fn change(random: &mut Random, place: &mut Value, given: Value) {
    match (random.below(4), &mut *place) {
        (0, Value::Array(items)) if !items.is_empty() => {
            let at = random.below(items.len());
            match random.below(3) {
                0 => drop(items.remove(at)),
                1 => items.push(items[at].clone()),
                _ => items.truncate(at),
            }
        }
        (0, Value::Object(members)) if !members.is_empty() => {
            let keys: Vec<String> = members.keys().cloned().collect();
            let (key, other) = (random.of(&keys).clone(), random.of(&keys).clone());
            match members.get(&other).cloned() {
                Some(value) if random.below(2) == 0 => drop(members.insert(key, value)),
                _ => drop(members.remove(&key)),
            }
        }
        (0 | 1, Value::Number(number)) => *place = near(random, number),
        (2, _) => *place = given,
        _ => *place = hard(random),
    }
}

/// Another number of the same kind.
fn near(random: &mut Random, number: &Number) -> Value {
    match (number.as_u64(), number.as_f64()) {
        (Some(n), _) => match random.below(3) {
            0 => n.wrapping_add(1).into(),
            1 => n.wrapping_sub(1).into(),
            _ => damage::size(random).into(),
        },
        (None, Some(x)) => match random.below(5) {
            0 => (-x).into(),
            1 => (x * 1e300).into(),
            2 => (x * 1e-300).into(),
            3 => (x + 1.0).into(),
            _ => 0.0.into(),
        },
        _ => 0.into(),
    }
}

fn hard(random: &mut Random) -> Value {
    match random.below(9) {
        0 => Value::Null,
        1 => Value::Bool(random.below(2) == 0),
        2 => damage::size(random).into(),
        3 => (-(random.below(1000) as i64)).into(),
        4 => (*random.of(&[1e308, -1e308, 5e-324, -0.0, 1e16, 0.5, -1.5])).into(),
        5 => "x".into(),
        6 => Value::Array(Vec::new()),
        7 => Value::Array(vec![0.0.into(); random.below(40)]),
        _ => Value::Object(serde_json::Map::new()),
    }
}

/// Values within a value, itself included.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(members) => members.values().map(count).sum(),
        _ => 0,
    }
}

fn nth<'v>(value: &'v Value, n: &mut usize) -> Option<&'v Value> {
    if *n == 0 {
        return Some(value);
    }
    *n -= 1;
    match value {
        Value::Array(items) => items.iter().find_map(|item| nth(item, n)),
        Value::Object(members) => members.values().find_map(|member| nth(member, n)),
        _ => None,
    }
}

fn nth_mut<'v>(value: &'v mut Value, n: &mut usize) -> Option<&'v mut Value> {
    if *n == 0 {
        return Some(value);
    }
    *n -= 1;
    match value {
        Value::Array(items) => items.iter_mut().find_map(|item| nth_mut(item, n)),
        Value::Object(members) => members.values_mut().find_map(|member| nth_mut(member, n)),
        _ => None,
    }
}

/// The file of an object, with the checksum of its other members as the last one.
pub(crate) fn sealed(value: &Value) -> Vec<u8> {
    let mut value = value.clone();
    if let Value::Object(members) = &mut value {
        members.remove("checksum");
    }
    let mut text = value.to_string().into_bytes();
    if text.pop() != Some(b'}') {
        return value.to_string().into_bytes();
    }
    let hash = text.iter().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3));
    text.extend(format!(",\"checksum\":\"{hash:016x}\"}}\n").bytes());
    text
}
