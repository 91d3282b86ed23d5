//! Gives damaged files to a reader: `elinvar-fuzz READER AMOUNT [SEED] [--write]`.
//!
//! `AMOUNT` is a number of seconds, or of inputs with an `x` behind it; `READER` may be `all`; `--write` puts what was
//! done into `docs/fuzz.md`. Inputs are functions of
//! the seed and their number. None of them may end in a panic, ask for more memory than the allocator allows, or take
//! longer than a few seconds: the program works in a process of its own, which is begun again behind an input that was
//! read badly, and that input is written to `target/fuzz`, from where it belongs into the corpus.

mod allocator;
mod arrays;
mod damage;
mod fits;
mod formulas;
#[cfg(test)]
mod growth;
mod json;
mod random;
mod reader;
mod tally;

use std::fs;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use reader::{NAMES, Outcome, Reader};
use tally::Tally;

#[global_allocator]
static BOUNDED: allocator::Bounded = allocator::Bounded;

/// Longest time of the processor for an input, as far as it is told, and longest time by the clock.
const LONGEST: Duration = Duration::from_secs(5);
const LONGEST_BY_CLOCK: Duration = Duration::from_secs(300);
/// Inputs read badly after which there is enough to do.
const MOST_FAILURES: usize = 20;

/// How long to go on.
#[derive(Clone, Copy, Debug)]
enum Amount {
    Seconds(f64),
    Inputs(u64),
}

impl Amount {
    fn parse(text: &str) -> Option<Self> {
        match text.strip_suffix('x') {
            Some(inputs) => inputs.parse().ok().map(Amount::Inputs),
            None => text.parse().ok().map(Amount::Seconds),
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let is_written = words.last() == Some(&"--write");
    words.truncate(words.len() - usize::from(is_written));
    let outcome = match words[..] {
        ["--child", name, amount, seed, first, note] => child(name, amount, seed, first, Path::new(note)),
        [name, amount] => supervise(name, amount, "1", is_written),
        [name, amount, seed] => supervise(name, amount, seed, is_written),
        _ => Err("elinvar-fuzz READER SECONDS [SEED] [--write]; 1000x instead of SECONDS: so many inputs".into()),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("elinvar-fuzz: {problem}");
            ExitCode::from(2)
        }
    }
}

/// Has a process of its own read inputs, and another one go on where it failed. Whether none failed.
fn supervise(name: &str, amount: &str, seed: &str, is_written: bool) -> Result<bool, String> {
    let all: Vec<&str> = if name == "all" { NAMES.to_vec() } else { vec![name] };
    let mut n_failures = 0;
    for name in all {
        let tally = supervise_one(name, amount, seed)?;
        println!("{name}, seed {seed}: {tally}");
        if is_written {
            tally.write(name, seed)?;
        }
        n_failures += tally.n_failures;
    }
    Ok(n_failures == 0)
}

fn supervise_one(name: &str, amount: &str, seed: &str) -> Result<Tally, String> {
    let parsed = Amount::parse(amount).ok_or_else(|| format!("\"{amount}\" is no amount: give 60 or 1000x"))?;
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let note = folder.path().join("note");
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let begun = Instant::now();
    let (mut first, mut tally) = (0, Tally::default());
    loop {
        let left = match parsed {
            Amount::Seconds(seconds) => (seconds - begun.elapsed().as_secs_f64()).max(0.0).to_string(),
            Amount::Inputs(_) => amount.to_string(),
        };
        let (first_text, note_text) = (first.to_string(), note.display().to_string());
        let arguments = ["--child", name, &left, seed, &first_text, &note_text];
        let status = Command::new(&program).args(arguments).stdin(Stdio::null()).status().map_err(|e| e.to_string())?;
        if status.code() == Some(2) {
            return Err(format!("the reader {name} could not be tried"));
        }
        let noted = fs::read_to_string(&note).ok().and_then(|text| Tally::parse(&text));
        let noted = noted.ok_or_else(|| format!("the reader {name} ended with {status} before the first input"))?;
        let index = noted.n_inputs;
        tally.add(&noted, begun.elapsed());
        if status.success() {
            return Ok(tally);
        }
        let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
        let reader = Reader::new(name, scratch.path())?;
        let seed_number = seed.parse().map_err(|_| format!("\"{seed}\" is no seed"))?;
        let (made_from, bytes) = reader.input(seed_number, index);
        let failed = Path::new("target/fuzz").join(name);
        fs::create_dir_all(&failed).map_err(|e| e.to_string())?;
        let file = failed.join(format!("{made_from}.{seed}-{index}"));
        fs::write(&file, &bytes).map_err(|e| e.to_string())?;
        eprintln!("{name}: input {index} of seed {seed} was read badly ({status}); it is {}", file.display());
        tally.n_failures += 1;
        first = index + 1;
        if tally.n_failures == MOST_FAILURES {
            return Ok(tally);
        }
    }
}

/// Reads inputs from `first` on until one is read badly or there are enough. Whether none was.
fn child(name: &str, amount: &str, seed: &str, first: &str, note: &Path) -> Result<bool, String> {
    let amount = Amount::parse(amount).ok_or("no amount")?;
    let (seed, first): (u64, u64) = (seed.parse().map_err(|_| "no seed")?, first.parse().map_err(|_| "no number")?);
    let shared_memory = Path::new("/dev/shm");
    let folder = if shared_memory.is_dir() { tempfile::tempdir_in(shared_memory) } else { tempfile::tempdir() };
    let folder = folder.map_err(|e| e.to_string())?;
    let reader = Reader::new(name, folder.path())?;
    let mut note = fs::File::create(note).map_err(|e| e.to_string())?;
    // A panic that becomes an error is none; the place of another is enough, and found faster than all that led to it.
    std::panic::set_hook(Box::new(|info| {
        if !elinvar_data::is_guarded() {
            eprintln!("{info}");
        }
    }));
    let clock = Arc::new(AtomicU64::new(0));
    watch(Arc::clone(&clock));
    allocator::take_refused();
    let begun = Instant::now();
    let (mut index, mut tally) = (first, Tally::default());
    loop {
        let is_over = match amount {
            Amount::Seconds(seconds) => begun.elapsed().as_secs_f64() >= seconds && index >= reader.n_corpus(),
            Amount::Inputs(n) => index >= n.max(reader.n_corpus()),
        };
        if is_over {
            break;
        }
        // If the process is lost, this is the input that it was lost with.
        tally.n_inputs = index;
        note.seek(SeekFrom::Start(0)).and_then(|_| writeln!(note, "{}", tally.note())).map_err(|e| e.to_string())?;
        let (made_from, bytes) = reader.input(seed, index);
        clock.fetch_add(1, Relaxed);
        let (one, held) = (Instant::now(), allocator::begin());
        let outcome = catch_unwind(AssertUnwindSafe(|| reader.read(made_from, &bytes)));
        tally.slowest = tally.slowest.max(one.elapsed());
        tally.memory = tally.memory.max(allocator::peak() - held.min(allocator::peak()));
        let refused = allocator::take_refused();
        if refused > 0 {
            eprintln!("{name}: {refused} bytes were asked for");
            return Ok(false);
        }
        match outcome {
            Ok(Ok(Outcome::Taken)) => tally.n_taken += 1,
            Ok(Ok(Outcome::Refused)) => {}
            Ok(Err(error)) => return Err(error.to_string()),
            Err(_) => return Ok(false),
        }
        index += 1;
    }
    tally.n_inputs = index;
    note.seek(SeekFrom::Start(0)).and_then(|_| writeln!(note, "{}", tally.note())).map_err(|e| e.to_string())?;
    Ok(true)
}

/// Ends the process where an input takes too long.
fn watch(clock: Arc<AtomicU64>) {
    thread::spawn(move || {
        let mut last = (0, Instant::now(), processor_time());
        loop {
            thread::sleep(Duration::from_millis(200));
            let now = clock.load(Relaxed);
            if now != last.0 {
                last = (now, Instant::now(), processor_time());
                continue;
            }
            let is_slow = match (last.2, processor_time()) {
                (Some(before), Some(now)) => now.saturating_sub(before) > LONGEST,
                _ => last.1.elapsed() > LONGEST,
            };
            if now > 0 && (is_slow || last.1.elapsed() > LONGEST_BY_CLOCK) {
                eprintln!("an input takes longer than {LONGEST:?}");
                std::process::abort();
            }
        }
    });
}

/// Time of the processor that this process has taken, where the system tells it: a busy machine makes no input slow.
fn processor_time() -> Option<Duration> {
    let text = fs::read_to_string("/proc/self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}
