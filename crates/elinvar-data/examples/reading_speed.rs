//! Seconds and peak memory for reading 500 000 × 54 numbers and a target from every kind of file.
//!
//! `cargo run --release -p elinvar-data --features parquet --example reading_speed [ROWS]` writes the files into a
//! temporary folder and reads each of them three times in a process of its own. Processor time, by which the ratios are
//! taken, and peak memory are the system's counts (Linux only).

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use elinvar_data::{Outcome, RegressionData, Selection};

const N_FEATURES: usize = 54;
const REPEATS: usize = 3;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Ten columns of numbers with two decimals, 44 indicators and a class: the form of a well-known table of forests.
fn cell(i: usize, j: usize) -> f64 {
    let mut z = ((i * 64 + j) as u64).wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^= z >> 31;
    match j {
        0..10 => (z % 400_000) as f64 / 100.0 - 500.0,
        10..54 => f64::from(u8::from(z.is_multiple_of(22))),
        _ => f64::from(u8::from(z.is_multiple_of(2))),
    }
}

fn write_csv(path: &Path, n: usize) -> Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    let names: Vec<String> = (1..=N_FEATURES).map(|j| format!("x{j}")).collect();
    writeln!(out, "{},y", names.join(","))?;
    for i in 0..n {
        (0..N_FEATURES).try_for_each(|j| write!(out, "{},", cell(i, j)))?;
        writeln!(out, "{}", cell(i, N_FEATURES))?;
    }
    Ok(out.flush()?)
}

fn write_libsvm(path: &Path, n: usize) -> Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    for i in 0..n {
        write!(out, "{}", cell(i, N_FEATURES))?;
        for j in (0..N_FEATURES).filter(|&j| cell(i, j) != 0.0) {
            write!(out, " {}:{}", j + 1, cell(i, j))?;
        }
        writeln!(out)?;
    }
    Ok(out.flush()?)
}

fn write_npy(path: &Path, n: usize, by_columns: bool) -> Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    let (d, order) = (N_FEATURES + 1, if by_columns { "True" } else { "False" });
    let mut header = format!("{{'descr': '<f8', 'fortran_order': {order}, 'shape': ({n}, {d}), }}");
    header.extend(std::iter::repeat_n(' ', 117 - header.len()));
    out.write_all(b"\x93NUMPY\x01\x00\x76\x00")?;
    writeln!(out, "{header}")?;
    for k in 0..n * d {
        let (i, j) = if by_columns { (k % n, k / n) } else { (k / d, k % d) };
        out.write_all(&cell(i, j).to_le_bytes())?;
    }
    Ok(out.flush()?)
}

#[cfg(not(feature = "parquet"))]
fn write_parquet(_: &Path, _: usize) -> Result<bool> {
    Ok(false)
}

#[cfg(feature = "parquet")]
fn write_parquet(path: &Path, n: usize) -> Result<bool> {
    let names: Vec<String> = (1..=N_FEATURES).map(|j| format!("x{j}")).chain(["y".into()]).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let fill = |rows: std::ops::Range<usize>, out: &mut Vec<f64>| {
        rows.for_each(|i| out.extend((0..=N_FEATURES).map(|j| cell(i, j))));
    };
    std::fs::write(path, elinvar_data::parquet_bytes(&names, n, &[], fill)?)?;
    Ok(true)
}

/// Largest memory of this process so far, in MB.
fn peak_megabytes() -> Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmHWM")).ok_or("no VmHWM in /proc/self/status")?;
    let kilobytes: f64 = line.split_whitespace().nth(1).ok_or("no number in VmHWM")?.parse()?;
    Ok(kilobytes * 1024.0 / 1e6)
}

/// Processor time of this process so far; unlike wall time it does not count what other processes take.
fn processor_seconds() -> Result<f64> {
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let (_, after_name) = stat.rsplit_once(") ").ok_or("no name in /proc/self/stat")?;
    let fields: Vec<&str> = after_name.split(' ').collect();
    let ticks = fields[11].parse::<f64>()? + fields[12].parse::<f64>()?;
    Ok(ticks / TICKS_PER_SECOND)
}

fn read(path: &str, target: &str) -> Result<()> {
    let (start, processor) = (Instant::now(), processor_seconds()?);
    let data = RegressionData::read(path, &Selection::new(target, Outcome::Binary))?;
    let (seconds, processor) = (start.elapsed().as_secs_f64(), processor_seconds()? - processor);
    let matrix = (data.features.len() * 8) as f64 / 1e6;
    println!("{seconds} {processor} {} {matrix} {}", peak_megabytes()?, data.features.iter().sum::<f64>());
    Ok(())
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    if let [_, word, path, target] = &args[..]
        && word == "read"
    {
        return read(path, target);
    }
    let n: usize = args.get(1).map_or(Ok(500_000), |text| text.parse())?;
    let folder = tempfile::tempdir()?;
    let at = |name: &str| folder.path().join(name);
    write_csv(&at("t.csv"), n)?;
    write_libsvm(&at("t.libsvm"), n)?;
    write_npy(&at("rows.npy"), n, false)?;
    write_npy(&at("columns.npy"), n, true)?;
    let mut files = vec![("t.csv", "y"), ("t.libsvm", "y"), ("rows.npy", "x55"), ("columns.npy", "x55")];
    if write_parquet(&at("t.parquet"), n)? {
        files.push(("t.parquet", "y"));
    }
    println!("{n} rows of {N_FEATURES} features and a target, best of {REPEATS}");
    println!("file           size MB  seconds  processor  ratio  peak MB  of matrix");
    let mut csv_seconds = f64::NAN;
    for (name, target) in files {
        let (mut seconds, mut processor, mut peak, mut matrix) = (f64::INFINITY, f64::INFINITY, 0.0_f64, 0.0);
        for _ in 0..REPEATS {
            let output = Command::new(std::env::current_exe()?).arg("read").arg(at(name)).arg(target).output()?;
            let text = String::from_utf8(output.stdout)?;
            let numbers: Vec<f64> = text.split_whitespace().map(str::parse).collect::<std::result::Result<_, _>>()?;
            let [s, c, p, m, _] = numbers[..] else { return Err(String::from_utf8(output.stderr)?.into()) };
            (seconds, processor, peak, matrix) = (seconds.min(s), processor.min(c), peak.max(p), m);
        }
        if name == "t.csv" {
            csv_seconds = processor;
        }
        let size = std::fs::metadata(at(name))?.len() as f64 / 1e6;
        let (ratio, of_matrix) = (processor / csv_seconds, peak / matrix);
        println!("{name:12} {size:>9.0} {seconds:>8.2} {processor:>10.2} {ratio:>6.2} {peak:>8.0} {of_matrix:>10.2}");
    }
    Ok(())
}
