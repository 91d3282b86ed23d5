//! The readers, each with the files it is given and with what is done with a file that it takes.

use std::fs;
use std::path::{Path, PathBuf};

use elinvar_analysis::Job;
use elinvar_analysis::settings::{self, Settings};
use elinvar_data::{Categorical, Missing, Reading, Table, describe, read_row_numbers};

use crate::arrays::{damaged_archive, good_archives, good_arrays};
use crate::fits::{Checkpoints, Fits, Journals, starts};
use crate::random::Random;
use crate::{damage, formulas, json};

/// The names of all readers.
pub(crate) const NAMES: [&str; 13] = [
    "csv",
    "libsvm",
    "npy",
    "npz",
    "parquet",
    "rows",
    "config",
    "formula",
    "recipe",
    "start",
    "fit",
    "journal",
    "checkpoint",
];

/// A reader, and a folder to read from.
pub(crate) struct Reader {
    name: &'static str,
    /// Files that can be read, by name, and every file that was once read badly.
    corpus: Vec<(String, Vec<u8>)>,
    /// Their contents alone, to take parts from.
    others: Vec<Vec<u8>>,
    folder: PathBuf,
    kept: Kept,
}

/// What a reader needs besides a file.
enum Kept {
    Nothing,
    Fits(Box<Fits>),
    Journals(Journals),
    Checkpoints(Checkpoints),
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Taken,
    Refused,
}

const CSV: [&str; 3] = [
    "city,\"size, m\",y\n\"Oslo\",1.5,0\r\nBergen,NA,1\nTroms\u{f8},-2e3,1\n",
    "a;b;c\n1,5;2;x\n;;y\n3;4;\n",
    "\u{feff}a\tb\r1\t2\r\r3\t4\r",
];
const LIBSVM: [&str; 2] = ["+1 1:0.5 3:-2 # note\n-1 qid:3 2:1e3\n0\n", "3.5 1:1 2:2 9:1\n1 4:nan\n"];
const CONFIG: [&str; 4] = [
    "diagnostic_draws = 100\ncorrect = true\n[model]\nname = \"logistic\"\nprior_sd = 2.5\n[family]\nname = \"mog\"\n\
     components = 3\n[plan]\nseed = 1\nrestarts = 3\nn_draws = 8\n[plan.stop]\nremaining_nats = 0.01\nmax_steps = 30\n",
    "[data]\nfile = \"t.csv\"\ntarget = \"y\"\nexclude = [\"b\"]\nmissing = \"drop\"\nscaling = \"standardize\"\n\
     test_fraction = 0.25\nsplit_seed = 2\n[model]\nname = \"linear\"\nsigma_scale = 2\n[family]\nname = \"rank_k\"\n\
     rank = 2\n[start]\nat = \"normal(0, 1)\"\ncovariance = 2\n",
    "[data]\nfile = \"t.csv\"\ntarget = \"y\"\n[model]\nname = \"network\"\nhidden = [3, 2]\nactivation = \"tanh\"\n\
     likelihood = \"gaussian\"\n[family]\nname = \"matrix\"\n[plan]\nminibatch = 2\nstep_size = 0.1\n\
     rule = { natural_momentum = { gamma = 0.3 } }\n",
    "[data]\nfile = \"t.csv\"\ntarget = \"y\"\n[model]\nname = \"poisson\"\nprior = \"student_t\"\nprior_shape = 2.5\n\
     [family]\nname = \"student_t\"\nshape = \"learn\"\n[plan]\nmax_kl = \"none\"\ncurvature = \"stein\"\n",
];
/// Words of files of settings.
const SETTINGS: [&str; 42] = [
    "data",
    "file",
    "target",
    "features",
    "exclude",
    "intercept",
    "missing",
    "category",
    "scaling",
    "model",
    "name",
    "hidden",
    "likelihood",
    "exposure",
    "concentration",
    "family",
    "components",
    "rank",
    "directions",
    "shape",
    "lambda",
    "component",
    "other_component",
    "law",
    "product",
    "dims",
    "update",
    "constant",
    "plan",
    "restarts",
    "max_draws",
    "auto",
    "matrix",
    "ef_mixture",
    "scale_mixture",
    "nig",
    "rate",
    "proportion",
    "direction",
    "printed",
    "100000",
    "true",
];
const ROWS: [&str; 2] = ["0\n2\n5\n", " 4 \r\n\n1\n3"];
/// Settings of a fit that begins where a file says, with two parameters.
const STARTED: &str = "[data]\nfile = \"t.csv\"\ntarget = \"y\"\nfeatures = [\"a\"]\n[model]\nname = \"poisson\"\n\
     [start]\nat = \"input.start\"\n";
const TABLE: &str = "a,b,y\n1,2,0\n2,1,1\n3,5,2\n-1,0.5,1\n0.2,7,3\n1.5,1,0\n";

impl Reader {
    /// The reader with this name, which reads from `folder`.
    pub(crate) fn new(name: &str, folder: &Path) -> Result<Self, String> {
        let name = *NAMES
            .iter()
            .find(|known| **known == name)
            .ok_or_else(|| format!("there is no reader \"{name}\"; the readers are {}", NAMES.join(", ")))?;
        fs::write(folder.join("t.csv"), TABLE).map_err(|e| e.to_string())?;
        let mut kept = Kept::Nothing;
        let numbered = |files: Vec<Vec<u8>>| -> Vec<(String, Vec<u8>)> {
            files.into_iter().enumerate().map(|(i, bytes)| (i.to_string(), bytes)).collect()
        };
        let texts = |texts: &[&str]| numbered(texts.iter().map(|text| text.as_bytes().to_vec()).collect());
        let mut corpus = match name {
            "csv" => texts(&CSV),
            "libsvm" => texts(&LIBSVM),
            "npy" => numbered(good_arrays()),
            "npz" => numbered(good_archives()),
            "parquet" => files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../elinvar-data/tests/parquet_files")),
            "rows" => texts(&ROWS),
            "config" => texts(&CONFIG),
            "formula" => texts(&formulas::GOOD),
            "recipe" => numbered(formulas::GOOD.iter().filter_map(|text| formulas::recipe(text)).collect()),
            "start" => {
                fs::write(folder.join("start.toml"), STARTED).map_err(|e| e.to_string())?;
                starts(folder)?
            }
            "fit" => {
                let (fits, corpus) = Fits::new(folder)?;
                kept = Kept::Fits(Box::new(fits));
                corpus
            }
            "journal" => {
                let (journals, corpus) = Journals::new(folder).map_err(|e| e.to_string())?;
                kept = Kept::Journals(journals);
                corpus
            }
            _ => {
                let (checkpoints, corpus) = Checkpoints::new(folder).map_err(|e| e.to_string())?;
                kept = Kept::Checkpoints(checkpoints);
                corpus
            }
        };
        corpus.retain(|(file, _)| !file.ends_with(".py"));
        corpus.extend(files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name)));
        let others = corpus.iter().map(|(_, bytes)| bytes.clone()).collect();
        Ok(Self { name, corpus, others, folder: folder.into(), kept })
    }

    /// The input with this number: the corpus as it is, then damaged files of it. The name is that of the file it was
    /// made from.
    pub(crate) fn input(&self, seed: u64, index: u64) -> (&str, Vec<u8>) {
        if let Some((name, bytes)) = usize::try_from(index).ok().and_then(|index| self.corpus.get(index)) {
            return (name, bytes.clone());
        }
        let mut random = Random::new(seed, index);
        let (name, base) = random.of(&self.corpus);
        let (others, base) = (&self.others, base.clone());
        let bytes = match self.name {
            "csv" => damage::text(&mut random, base, &["\"", ",", ";", "\t", "\n", "\r", "NA", "#", "sep=;"], others),
            "libsvm" => damage::text(&mut random, base, &[":", " ", "qid", "\n", "#", "4194304:1"], others),
            "npy" => damage::text(&mut random, base, &["(", ")", ",", "True", "shape", "L", "'"], others),
            "npz" => damaged_archive(&mut random, &base, others),
            "parquet" => damage::bytes(&mut random, base, others),
            "rows" => damage::text(&mut random, base, &["\n", "-", "+", " ", "5", "6"], others),
            "config" => damage::text(&mut random, base, &SETTINGS, others),
            "formula" => damage::text(&mut random, base, &formulas::WORDS, others),
            _ => json::damaged(&mut random, &base, others),
        };
        (name, bytes)
    }

    /// Has the input read, and what was read used.
    pub(crate) fn read(&self, made_from: &str, bytes: &[u8]) -> std::io::Result<Outcome> {
        let path = self.folder.join(format!("input.{}", self.name));
        let is_taken = match &self.kept {
            Kept::Fits(fits) => fits.read(&path, bytes)?,
            Kept::Journals(journals) => journals.read(made_from, bytes)?,
            Kept::Checkpoints(checkpoints) => checkpoints.read(made_from, &path, bytes)?,
            Kept::Nothing => {
                fs::write(&path, bytes)?;
                match self.name {
                    "config" => {
                        settings::read(&path).is_ok_and(|settings| is_slow(&settings) || Job::new(&settings).is_ok())
                    }
                    "start" => {
                        let settings = settings::read(&self.folder.join("start.toml"));
                        settings.is_ok_and(|settings| Job::new(&settings).is_ok())
                    }
                    "formula" => formulas::recipe(&String::from_utf8_lossy(bytes)).is_some(),
                    "recipe" => formulas::is_applied(&String::from_utf8_lossy(bytes)),
                    "rows" => read_row_numbers(&path, 6).is_ok(),
                    _ => table(&path),
                }
            }
        };
        Ok(if is_taken { Outcome::Taken } else { Outcome::Refused })
    }

    /// Files of the corpus.
    pub(crate) fn n_corpus(&self) -> u64 {
        self.corpus.len() as u64
    }
}

/// Whether the settings ask for a network that a user may ask for, but whose matrices take too long to be made for
/// every such input. Larger ones are refused before anything is made, and that is tried here again.
fn is_slow(settings: &Settings) -> bool {
    const WEIGHTS: std::ops::Range<usize> = 1_000..3_000_000;
    let hidden = settings.model.hidden.as_deref().unwrap_or_default();
    let widths = |of: &[usize]| of.iter().fold(0_usize, |sum, width| sum.saturating_add(*width));
    let pairs = hidden.windows(2).map(|pair| pair[0].saturating_mul(pair[1])).fold(0, usize::saturating_add);
    // The table has two columns; each unit has a bias.
    let n_weights = widths(hidden).saturating_mul(4).saturating_add(pairs);
    settings.model.name.is_some_and(|name| name.name() == "network") && WEIGHTS.contains(&n_weights)
}

fn table(path: &Path) -> bool {
    let how = Reading { missing: Missing::Drop, categorical: Categorical::Indicators, ..Reading::default() };
    let described = describe(path, &how).is_ok();
    Table::read_with(path, &how).is_ok() && described
}

/// The files of a folder in the order of their names; none if there is no such folder.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<(String, Vec<u8>)> = entries
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, fs::read(entry.path()).ok()?)))
        .collect();
    files.sort();
    files
}
