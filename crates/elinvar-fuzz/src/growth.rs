//! Files that grow: time and memory of a reader grow no faster.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::allocator;
use crate::arrays::{archive, npy};
use crate::reader::Reader;

/// A large file is so many times as large as a small one. What is linear takes about as many times as long, what is
/// quadratic as many again.
const FACTOR: usize = 4;
/// Between the two, and far above what caches and growing vectors add to the first.
const MOST: f64 = 10.0;
/// A large file that is read in this time grows in no way that could be measured; squares of these sizes take seconds.
const SHORT: Duration = Duration::from_millis(100);
/// Bytes of memory for each byte of a file, at most, beyond a fixed amount.
const BYTES_PER_BYTE: usize = 600;
const FIXED_BYTES: usize = 8 << 20;

/// Time of the processor that this thread has taken, where the system tells it.
fn clock(begun: Instant) -> Duration {
    let told = fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| begun.elapsed(), Duration::from_nanos)
}

/// The shortest of three times that reading takes, and the memory.
fn cost(reader: &Reader, bytes: &[u8]) -> io::Result<(Duration, usize)> {
    let mut best = (Duration::MAX, 0);
    for _ in 0..3 {
        let (begun, held) = (Instant::now(), allocator::begin());
        let before = clock(begun);
        reader.read("", bytes)?;
        best = best.min((clock(begun) - before, allocator::peak().saturating_sub(held)));
    }
    Ok(best)
}

/// A file of about `n` parts of its kind, and how many of them the small one has.
type Shape = (&'static str, &'static str, usize, fn(usize) -> Vec<u8>);

fn lines(n: usize, line: impl Fn(usize) -> String) -> String {
    (0..n).map(|i| line(i) + "\n").collect()
}

fn listed(n: usize, item: impl Fn(usize) -> String) -> String {
    (0..n).map(item).collect::<Vec<_>>().join(",")
}

const SHAPES: [Shape; 22] = [
    ("formula", "terms", 900, |n| {
        format!("y ~ {}", (0..n).map(|i| format!("I(a*{i})")).collect::<Vec<_>>().join("+")).into()
    }),
    ("formula", "arithmetic", 4_000, |n| format!("y ~ I({})", vec!["a"; n].join("+")).into()),
    ("formula", "brackets", 8_000, |n| format!("y ~ {}a{}", "(".repeat(n), ")".repeat(n)).into()),
    ("csv", "rows", 100_000, |n| format!("a,b,y\n{}", lines(n, |i| format!("{i},0.5,1"))).into()),
    ("csv", "columns", 10_000, |n| {
        let row = listed(n, |i| i.to_string());
        format!("{}\n{row}\n{row}\n", listed(n, |i| format!("c{i}"))).into()
    }),
    ("csv", "columns of one name", 10_000, |n| format!("{}\n{}\n", listed(n, |_| "a".into()), "1,".repeat(n)).into()),
    ("csv", "levels", 1_000, |n| format!("a,y\n{}", lines(n, |i| format!("level{i},1"))).into()),
    ("csv", "a quote that does not end", 20_000, |n| format!("a,y\n\"{}", lines(n, |i| format!("{i},1"))).into()),
    ("csv", "quotes", 20_000, |n| format!("a,y\n{}", "\"\"\"".repeat(n)).into()),
    ("csv", "missing cells", 20_000, |n| format!("a,b,y\n{}", lines(n, |_| ",NA,1".into())).into()),
    ("csv", "line ends", 400_000, |n| format!("a,y\n{}1,2\n", "\r".repeat(n)).into()),
    ("libsvm", "rows", 20_000, |n| lines(n, |i| format!("1 1:{i} 3:2")).into()),
    ("libsvm", "features", 20_000, |n| {
        format!("1 {}\n0 1:1\n", (1..=n).map(|i| format!("{i}:1 ")).collect::<String>()).into()
    }),
    ("libsvm", "features backwards", 20_000, |n| {
        format!("1 {}\n", (1..=n).rev().map(|i| format!("{i}:1 ")).collect::<String>()).into()
    }),
    ("npy", "numbers", 50_000, |n| {
        npy(&format!("{{'descr': '<f8', 'fortran_order': True, 'shape': ({n}, 2), }}"), &vec![0; 16 * n])
    }),
    ("npz", "arrays", 2_000, |n| {
        let array = npy("{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }", &[0; 24]);
        let names: Vec<String> = (0..n).map(|i| format!("a{i}.npy")).collect();
        let parts: Vec<(&str, Vec<u8>)> = names.iter().map(|name| (name.as_str(), array.clone())).collect();
        archive(&parts, false, None)
    }),
    ("rows", "numbers", 400_000, |n| lines(n, |i| (i % 6).to_string()).into()),
    ("config", "names", 20_000, |n| {
        let names = listed(n, |i| format!("\"c{i}\""));
        format!("[data]\nfile = \"t.csv\"\ntarget = \"y\"\nexclude = [{names}]\n[model]\nname = \"linear\"\n").into()
    }),
    ("config", "depth", 100_000, |n| format!("diagnostic_draws = {}", "[".repeat(n)).into()),
    ("config", "dots", 100_000, |n| format!("a{} = 1", ".a".repeat(n)).into()),
    ("fit", "depth", 200_000, |n| "[".repeat(n).into()),
    ("fit", "a long list", 50_000, |n| format!("{{\"format\": [{}]}}", listed(n, |i| i.to_string())).into()),
];

/// What grows faster than its file, if anything does.
fn problem(folder: &Path) -> Result<Option<String>, String> {
    for (name, what, n, shape) in SHAPES {
        let reader = Reader::new(name, folder)?;
        let (small, large) = (shape(n), shape(FACTOR * n));
        let of = |bytes: &[u8]| cost(&reader, bytes).map_err(|e| e.to_string());
        let ((short, _), (long, memory)) = (of(&small)?, of(&large)?);
        let ratio = long.as_secs_f64() / short.as_secs_f64().max(1e-6);
        println!("{name}, {what}: {} bytes, {long:.1?}, {ratio:.1} times, {memory} bytes", large.len());
        if long > SHORT && ratio > MOST {
            return Ok(Some(format!(
                "{name}, {what}: {short:.1?} for {} bytes, {long:.1?} for {}",
                small.len(),
                large.len()
            )));
        }
        if memory > FIXED_BYTES + BYTES_PER_BYTE * large.len() || allocator::take_refused() > 0 {
            return Ok(Some(format!("{name}, {what}: {memory} bytes of memory for {}", large.len())));
        }
    }
    Ok(None)
}

#[test]
fn no_reader_takes_longer_than_its_file_is_long() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(problem(folder.path()).unwrap(), None);
}
