//! Parameters as a Stan program declares them, and Stan's JSON.

/// Parameters of one name: a number, a vector or an array of more dimensions.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Group {
    name: String,
    /// Lengths of its dimensions; none for a number.
    lengths: Vec<usize>,
    /// Its parameters with their indices, in the order of the fit.
    members: Vec<(usize, Vec<usize>)>,
}

/// Which parameters of a fit make up which parameter of a Stan program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    groups: Vec<Group>,
}

impl Layout {
    /// Groups names such as `w1[2,3]` by what is before the bracket; others are numbers.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut groups: Vec<Group> = Vec::new();
        for (i, full) in names.into_iter().enumerate() {
            let (name, indices) = parts(full).unwrap_or((full, Vec::new()));
            let known = groups.iter_mut().find(|group| group.name == name && group.lengths.len() == indices.len());
            match known {
                Some(group) if !indices.is_empty() => {
                    group.lengths.iter_mut().zip(&indices).for_each(|(length, index)| *length = (*length).max(*index));
                    group.members.push((i, indices));
                }
                _ => groups.push(Group { name: name.into(), lengths: indices.clone(), members: vec![(i, indices)] }),
            }
        }
        Self { groups }
    }

    /// Names in the order of their declaration.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.groups.iter().map(|group| group.name.as_str())
    }

    /// The parameters in the order of Stan's unconstrained space: as declared, arrays of two dimensions by columns.
    pub fn order(&self) -> Vec<usize> {
        let of_group = |group: &Group| {
            let mut members = group.members.clone();
            members.sort_by(|a, b| a.1.iter().rev().cmp(b.1.iter().rev()));
            members.into_iter().map(|(i, _)| i)
        };
        self.groups.iter().flat_map(of_group).collect()
    }

    /// One JSON object with these values of the parameters.
    pub fn json(&self, values: &[f64]) -> String {
        let entry = |group: &Group| {
            let mut members: Vec<(&[usize], f64)> =
                group.members.iter().map(|(i, indices)| (indices.as_slice(), values[*i])).collect();
            members.sort_by(|a, b| a.0.cmp(b.0));
            let numbers: Vec<f64> = members.into_iter().map(|(_, value)| value).collect();
            format!("  {}: {}", json_text(&group.name), nested(&numbers, &group.lengths))
        };
        let entries: Vec<String> = self.groups.iter().map(entry).collect();
        format!("{{\n{}\n}}\n", entries.join(",\n"))
    }
}

/// `w1[2,3]` as `w1` and 2, 3.
fn parts(text: &str) -> Option<(&str, Vec<usize>)> {
    let (name, rest) = text.split_once('[')?;
    let indices = rest.strip_suffix(']')?.split(',').map(|index| index.parse().ok().filter(|i| *i > 0));
    Some((name, indices.collect::<Option<Vec<usize>>>()?))
}

/// The numbers, by rows, in brackets.
fn nested(numbers: &[f64], lengths: &[usize]) -> String {
    match lengths {
        [] => numbers.first().map_or(String::from("[]"), |value| number(*value)),
        [_] => format!("[{}]", numbers.iter().copied().map(number).collect::<Vec<_>>().join(", ")),
        [first, rest @ ..] => {
            let size = (numbers.len() / (*first).max(1)).max(1);
            let parts: Vec<String> = numbers.chunks(size).map(|part| nested(part, rest)).collect();
            format!("[{}]", parts.join(", "))
        }
    }
}

/// With as many digits as bring it back.
fn number(value: f64) -> String {
    format!("{value:?}")
}

fn json_text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A diagonal inverse metric as Stan reads it.
pub fn diagonal_metric(variances: &[f64]) -> String {
    format!("{{\n  \"inv_metric\": {}\n}}\n", nested(variances, &[variances.len()]))
}

/// A dense inverse metric, by rows of this width, as Stan reads it.
pub fn dense_metric(covariance: &[f64], width: usize) -> String {
    let rows: Vec<String> = covariance.chunks(width.max(1)).map(|row| nested(row, &[width])).collect();
    format!("{{\n  \"inv_metric\": [\n    {}\n  ]\n}}\n", rows.join(",\n    "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_nested_by_rows_and_ordered_by_columns() {
        let names = ["w1[1,1]", "w1[2,1]", "b1[1]", "w1[1,2]", "w1[2,2]", "b1[2]", "sigma"];
        let layout = Layout::new(names);
        assert_eq!(layout.names().collect::<Vec<_>>(), ["w1", "b1", "sigma"]);
        assert_eq!(layout.order(), [0, 1, 3, 4, 2, 5, 6]);
        let text = layout.json(&[1.0, 2.0, 10.0, 3.0, 4.0, 20.0, 0.5]);
        assert_eq!(text, "{\n  \"w1\": [[1.0, 3.0], [2.0, 4.0]],\n  \"b1\": [10.0, 20.0],\n  \"sigma\": 0.5\n}\n");
    }

    #[test]
    fn a_metric_is_a_vector_or_rows() {
        assert_eq!(diagonal_metric(&[1.0, 2.0]), "{\n  \"inv_metric\": [1.0, 2.0]\n}\n");
        let text = dense_metric(&[1.0, 0.5, 0.5, 1e-9], 2);
        assert_eq!(text, "{\n  \"inv_metric\": [\n    [1.0, 0.5],\n    [0.5, 1e-9]\n  ]\n}\n");
        assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok());
        assert_eq!(dense_metric(&[2.0], 1), "{\n  \"inv_metric\": [\n    [2.0]\n  ]\n}\n");
    }
}
