//! Numbers of a case, as a table that can be kept.

use std::path::Path;

/// Median and largest of several values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    pub(super) median: f64,
    pub(super) worst: f64,
}

impl Spread {
    pub(super) fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let n = values.len();
        let median = if n % 2 == 1 { values[n / 2] } else { 0.5 * (values[n / 2 - 1] + values[n / 2]) };
        Self { median, worst: values[n - 1] }
    }
}

/// Log densities, gradients, Hessians, processor seconds and nats to the best Gaussian.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Measured {
    pub(super) name: String,
    pub(super) values: [Spread; 5],
}

impl Measured {
    /// A value as the table shows it.
    pub(super) fn shown(&self, j: usize) -> String {
        let Spread { median, worst } = self.values[j];
        match j {
            0..3 => format!("{median:.0} ({worst:.0})"),
            3 => format!("{median:.2} ({worst:.2})"),
            _ => format!("{median:.4} ({worst:.4})"),
        }
    }
}

/// Keeps rows as `name;median;worst;…`.
pub(super) fn write(path: &Path, rows: &[Measured]) -> Result<(), String> {
    let line = |row: &Measured| {
        let cells = row.values.iter().map(|v| format!(";{};{}", v.median, v.worst));
        format!("{}{}\n", row.name, cells.collect::<String>())
    };
    std::fs::write(path, rows.iter().map(line).collect::<String>()).map_err(|e| format!("{}: {e}", path.display()))
}

pub(super) fn read(text: &str) -> Result<Vec<Measured>, String> {
    let row = |line: &str| {
        let mut cells = line.split(';');
        let name = cells.next()?.to_owned();
        let numbers: Vec<f64> = cells.map(|cell| cell.parse().ok()).collect::<Option<_>>()?;
        let pair = |j: usize| Some(Spread { median: *numbers.get(2 * j)?, worst: *numbers.get(2 * j + 1)? });
        let values = [pair(0)?, pair(1)?, pair(2)?, pair(3)?, pair(4)?];
        Some(Measured { name, values })
    };
    text.lines().map(|line| row(line).ok_or_else(|| format!("\"{line}\" is no row of evaluations"))).collect()
}

/// Seconds that this thread has had a processor; those of the clock where the system does not tell.
pub(super) fn processor_seconds() -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split(' ').next().and_then(|first| first.parse::<f64>().ok()));
    nanoseconds.map_or_else(
        || std::time::UNIX_EPOCH.elapsed().map_or(0.0, |since| since.as_secs_f64()),
        |nanoseconds| 1e-9 * nanoseconds,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_as_they_were_written() {
        let spread = Spread::of(vec![3.0, 1.0, 2.0, 9.5]);
        assert_eq!(spread, Spread { median: 2.5, worst: 9.5 });
        let rows = vec![Measured { name: "a (2), gradients only".into(), values: [spread; 5] }];
        let path = std::env::temp_dir().join(format!("elinvar-evaluations-{}.csv", std::process::id()));
        write(&path, &rows).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(read(&text).unwrap(), rows);
        assert!(read("a;1;2").is_err());
    }

    #[test]
    fn processor_time_passes_while_working() {
        let before = processor_seconds();
        let sum: f64 = (0..20_000_000).map(|i| f64::from(i).sqrt()).sum();
        assert!(sum > 0.0 && processor_seconds() > before);
    }
}
