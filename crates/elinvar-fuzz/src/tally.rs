//! What was done with a reader, and its row of the page about all of them.

use std::fmt;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// What came of the inputs so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Tally {
    pub(crate) n_inputs: u64,
    pub(crate) n_taken: u64,
    pub(crate) n_failures: usize,
    pub(crate) slowest: Duration,
    /// The most that reading one input took, in bytes.
    pub(crate) memory: usize,
    seconds: f64,
}

impl Tally {
    /// A line of always the same length for the process that looks after this one.
    pub(crate) fn note(&self) -> String {
        format!("{:20} {:20} {:20} {:20}", self.n_inputs, self.n_taken, self.slowest.as_micros(), self.memory)
    }

    pub(crate) fn parse(note: &str) -> Option<Self> {
        let numbers: Option<Vec<u64>> = note.split_whitespace().map(|word| word.parse().ok()).collect();
        let &[n_inputs, n_taken, slowest, memory] = numbers?.as_slice() else { return None };
        let slowest = Duration::from_micros(slowest);
        Some(Self { n_inputs, n_taken, slowest, memory: memory as usize, ..Self::default() })
    }

    /// Adds what another process did, which went on counting the inputs.
    pub(crate) fn add(&mut self, other: &Self, since: Duration) {
        self.n_inputs = other.n_inputs;
        self.n_taken += other.n_taken;
        self.slowest = self.slowest.max(other.slowest);
        self.memory = self.memory.max(other.memory);
        self.seconds = since.as_secs_f64();
    }

    /// Puts the row of this reader into `docs/fuzz.md`, in place of the one that is there.
    pub(crate) fn write(&self, name: &str, seed: &str) -> Result<(), String> {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/fuzz.md");
        let text = fs::read_to_string(&page).map_err(|e| format!("{}: {e}", page.display()))?;
        fs::write(&page, self.placed(&text, name, seed)?).map_err(|e| format!("{}: {e}", page.display()))
    }

    fn placed(&self, text: &str, name: &str, seed: &str) -> Result<String, String> {
        let Self { n_inputs, n_taken, n_failures, .. } = self;
        let (slowest, memory) = (self.slowest.as_secs_f64() * 1e3, self.memory as f64 / 1e6);
        let row = format!(
            "| {name} | {seed} | {n_inputs} | {n_taken} | {n_failures} | {:.0} | {slowest:.0} | {memory:.1} |",
            self.seconds
        );
        let is_same = |line: &str| line.starts_with(&format!("| {name} |"));
        if text.lines().filter(|line| is_same(line)).count() != 1 {
            return Err(format!("docs/fuzz.md has not one row for {name}"));
        }
        Ok(text.lines().map(|line| format!("{}\n", if is_same(line) { &row } else { line })).collect())
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { n_inputs, n_taken, n_failures, slowest, .. } = self;
        let (seconds, memory) = (self.seconds, self.memory as f64 / 1e6);
        write!(
            f,
            "{n_inputs} inputs, {n_taken} taken, {n_failures} read badly, in {seconds:.0} s; the slowest took \
             {slowest:.1?}, the largest {memory:.1} MB"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_takes_the_place_of_the_last_one() {
        let tally = Tally { n_inputs: 7, n_taken: 2, memory: 1_500_000, ..Tally::default() };
        assert_eq!(Tally::parse(&tally.note()), Some(tally));
        let page = "# Title\n| csv | |\n| npy | |\n";
        let placed = tally.placed(page, "csv", "3").unwrap();
        assert_eq!(placed, "# Title\n| csv | 3 | 7 | 2 | 0 | 0 | 0 | 1.5 |\n| npy | |\n");
        assert!(tally.placed(page, "npz", "3").is_err());
    }
}
