//! Arguments of a check: `--name value` pairs.

/// The values that follow the options, in the order of `names`; every option takes one value.
pub(crate) fn options<const N: usize>(arguments: &[String], names: [&str; N]) -> Result<[Option<String>; N], String> {
    let mut found = [const { None }; N];
    let mut rest = arguments.iter();
    while let Some(name) = rest.next() {
        let Some(place) = names.iter().position(|known| known == name) else {
            return Err(format!("there is no option \"{name}\"; the options are {}", names.join(", ")));
        };
        let Some(value) = rest.next() else { return Err(format!("{name} needs a value")) };
        found[place] = Some(value.clone());
    }
    Ok(found)
}

/// A number, or `otherwise` where none is given.
pub(crate) fn number<T: std::str::FromStr>(name: &str, value: Option<&String>, otherwise: T) -> Result<T, String> {
    let Some(value) = value else { return Ok(otherwise) };
    value.parse().map_err(|_| format!("{name} needs a number, not \"{value}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_found_and_mistakes_are_told() {
        let arguments = ["--seeds", "3"].map(String::from);
        let [write, seeds] = options(&arguments, ["--write", "--seeds"]).unwrap();
        assert_eq!((write, number("--seeds", seeds.as_ref(), 5).unwrap()), (None, 3));
        assert!(options(&arguments, ["--write"]).unwrap_err().contains("--seeds"));
        assert!(options(&arguments[..1], ["--seeds"]).is_err());
        assert!(number("--seeds", Some(&"x".to_string()), 5).is_err());
    }
}
