//! The recording: one line for each fit.

/// What is recorded of a fit, in the order of its line. ELBO: that of the draws of the judgement, to its last bit.
pub(super) const PARTS: [&str; 9] =
    ["elbo", "state", "trace", "findings", "counts", "steps", "stop", "verdict", "judgement"];

/// A fit by its name and its parts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line {
    pub(super) name: String,
    values: [String; PARTS.len()],
}

impl Line {
    pub(super) fn new(name: &str, values: [String; PARTS.len()]) -> Self {
        Self { name: name.to_string(), values }
    }

    /// Reads what `Display` has written.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut words = text.split_whitespace();
        let name = words.next().ok_or("an empty line")?;
        let mut values = [const { String::new() }; PARTS.len()];
        for (part, value) in PARTS.iter().zip(&mut values) {
            let word = words.next().and_then(|word| word.strip_prefix(part)?.strip_prefix('='));
            *value = word.ok_or_else(|| format!("{name}: there is no {part}"))?.to_string();
        }
        match words.next() {
            Some(word) => Err(format!("{name}: \"{word}\" is one word too many")),
            None => Ok(Self { name: name.to_string(), values }),
        }
    }

    /// The parts that differ.
    pub(super) fn differences(&self, other: &Line) -> Vec<&'static str> {
        let pairs = self.values.iter().zip(&other.values);
        PARTS.into_iter().zip(pairs).filter(|(_, (a, b))| a != b).map(|(part, _)| part).collect()
    }

    /// A part as it is written.
    pub(super) fn part(&self, name: &str) -> &str {
        let at = PARTS.iter().position(|part| *part == name);
        at.map_or("", |at| &self.values[at])
    }
}

impl std::fmt::Display for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)?;
        PARTS.iter().zip(&self.values).try_for_each(|(part, value)| write!(f, " {part}={value}"))
    }
}

/// The lines of a recording, sorted by name; what begins with # is for its readers.
pub(super) fn parse(text: &str) -> Result<Vec<Line>, String> {
    let written = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let lines: Vec<Line> = written.map(Line::parse).collect::<Result<_, _>>()?;
    match lines.windows(2).find(|pair| pair[0].name >= pair[1].name) {
        Some(pair) => Err(format!("\"{}\" must not stand before \"{}\"", pair[0].name, pair[1].name)),
        None => Ok(lines),
    }
}
