//! Fits and checkpoints as files: what is written is read back to the bit, and a wrong file gets a sentence that names
//! it.

use std::path::{Path, PathBuf};

use elinvar::model::{BetaBinomial, Funnel};
use elinvar::rule::StepSize;
use elinvar::run::{Checkpoint, Run, Stop, start};
use elinvar::target::{Covariance, Target};
use elinvar::{Error, Family, Plan, Posterior};
use serde_json::{Value, json};

use crate::subjects::{every_kind, families, label};

fn plan() -> Plan {
    Plan { n_draws: 8, stop: Stop { max_steps: 15, ..Stop::default() }, ..Plan::default() }
}

fn fitted(family: Family) -> Posterior {
    elinvar::run::fit(&BetaBinomial::cancer_mortality(), family, &plan()).unwrap()
}

fn checkpoint_of(family: Family) -> Checkpoint {
    let target = BetaBinomial::cancer_mortality();
    let mut run = Run::new(&target, start(&target, family, &plan()).unwrap().approximation, &plan()).unwrap();
    for _ in 0..10 {
        run.step().unwrap();
    }
    run.checkpoint()
}

/// The two kinds of files.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Fit,
    Checkpoint,
}

const KINDS: [Kind; 2] = [Kind::Fit, Kind::Checkpoint];

impl Kind {
    fn write(self, family: Family, path: &Path) {
        match self {
            Kind::Fit => fitted(family).save(path).unwrap(),
            Kind::Checkpoint => checkpoint_of(family).save(path).unwrap(),
        }
    }

    fn read(self, path: &Path) -> Result<(), Error> {
        match self {
            Kind::Fit => Posterior::load(path).map(|_| ()),
            Kind::Checkpoint => Checkpoint::load(path).map(|_| ()),
        }
    }

    /// The sentence with which a file of this content is refused.
    fn refusal(self, path: &Path, content: &[u8]) -> String {
        std::fs::write(path, content).unwrap();
        let error = self.read(path).expect_err(&format!("{self:?} is read from {}", String::from_utf8_lossy(content)));
        assert!(matches!(error, Error::File { .. }), "{error:?}");
        let sentence = error.to_string();
        assert!(sentence.starts_with(&format!("{}: ", path.display())), "{sentence}");
        sentence
    }
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("saved.json");
    (folder, path)
}

fn files_in(folder: &tempfile::TempDir) -> usize {
    std::fs::read_dir(folder.path()).unwrap().count()
}

#[test]
fn a_fit_is_read_back_to_the_bit_without_its_target() {
    let (folder, path) = folder();
    for family in families() {
        let mut posterior = fitted(family);
        posterior.diagnose(&BetaBinomial::cancer_mortality(), 200, 3).unwrap();
        posterior.save(&path).unwrap();
        let loaded = Posterior::load(&path).unwrap();
        let at = label(family);
        assert_eq!(posterior.approximation(), loaded.approximation(), "{at}");
        let ((draws, log_q), (again, log_q_again)) =
            (posterior.sample_with_log_density(300, 9), loaded.sample_with_log_density(300, 9));
        assert_eq!(draws.view().as_slice(), again.view().as_slice(), "{at}");
        let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&log_q), bits(&log_q_again), "{at}");
        for z in draws.view().iter() {
            assert_eq!(posterior.log_density_z(z).to_bits(), loaded.log_density_z(z).to_bits(), "{at}");
        }
        assert_eq!(loaded.names_z(), ["logit_eta", "log_K"]);
        assert_eq!(loaded.names(), ["eta", "K"]);
        assert_eq!(posterior.summary(500, 2), loaded.summary(500, 2), "{at}");
        assert_eq!(posterior.trace(), loaded.trace(), "{at}");
        assert_eq!((posterior.plan(), posterior.family()), (loaded.plan(), loaded.family()));
        assert_eq!((posterior.counts(), posterior.stop_reason()), (loaded.counts(), loaded.stop_reason()));
        assert!(loaded.diagnostics().is_some());
        assert_eq!(format!("{:?}", posterior.diagnostics()), format!("{:?}", loaded.diagnostics()), "{at}");
        // Saving what was loaded gives the same file, and no temporary file is left.
        let first = std::fs::read(&path).unwrap();
        loaded.save(&path).unwrap();
        assert_eq!(first, std::fs::read(&path).unwrap(), "{at}");
        assert_eq!(files_in(&folder), 1);
    }
}

#[test]
fn a_checkpoint_is_read_back_as_it_was() {
    let (_folder, path) = folder();
    for family in families() {
        let checkpoint = checkpoint_of(family);
        checkpoint.save(&path).unwrap();
        assert_eq!(checkpoint, Checkpoint::load(&path).unwrap(), "{}", label(family));
    }
}

/// Runs that went wrong are saved and read like others: nothing in a file depends on numbers that JSON does not have.
#[test]
fn the_files_of_wild_runs_are_read_back() {
    let (_folder, path) = folder();
    let target = Funnel::new(3).unwrap();
    let step_size = StepSize::Constant(10.0);
    for family in families() {
        let from = start(&target, family, &plan()).unwrap().approximation;
        for n_draws in [1, 2, 5] {
            let stop = Stop { max_steps: 60, remaining_nats: 0.0, ..Stop::default() };
            let plan = Plan { n_draws, step_size, mixing_step_size: step_size, max_kl: None, stop, ..Plan::default() };
            let mut run = Run::new(&target, from.clone(), &plan).unwrap();
            let reason = run.fit(&mut |_| std::ops::ControlFlow::Continue(())).unwrap();
            let checkpoint = run.checkpoint();
            checkpoint.save(&path).unwrap();
            let at = format!("{}, {n_draws} draws", label(family));
            let loaded = Checkpoint::load(&path).unwrap_or_else(|error| panic!("{at}: {error}"));
            assert_eq!(checkpoint, loaded, "{at}");
            Run::resume(&target, &loaded).unwrap();
            let posterior = run.finish_as(reason);
            posterior.save(&path).unwrap();
            let loaded = Posterior::load(&path).unwrap_or_else(|error| panic!("{at}: {error}"));
            assert_eq!(posterior.approximation(), loaded.approximation(), "{at}");
            assert_eq!(posterior.trace(), loaded.trace(), "{at}");
        }
    }
}

#[test]
fn a_file_of_another_kind_is_refused() {
    let (_folder, path) = folder();
    for (kind, name) in [(Kind::Fit, "elinvar-fit"), (Kind::Checkpoint, "elinvar-checkpoint")] {
        let wrong = format!("this is not an {name} file");
        for content in ["not JSON", "x1,x2,y\n1.0,2.0,1\n", "{\"format\": }", "\u{0}\u{1}\u{2}", "<html></html>"] {
            let sentence = kind.refusal(&path, content.as_bytes());
            assert!(sentence.contains(&wrong) && sentence.contains("not JSON"), "{sentence}");
        }
        let sentence = kind.refusal(&path, &[0xff, 0xfe, 0x00, 0x80]);
        assert!(sentence.contains(&wrong), "{sentence}");
        for content in ["{}", "[]", "3.5", "null", "\"text\"", "{\"format\": 7}", "{\"format\": \"another\"}"] {
            let sentence = kind.refusal(&path, content.as_bytes());
            assert!(sentence.contains(&wrong) && sentence.contains("`format`"), "{sentence}");
        }
        assert!(kind.refusal(&path, b"").contains("the file is empty"));
    }
    Kind::Checkpoint.write(Family::gaussian(), &path);
    let sentence = Posterior::load(&path).unwrap_err().to_string();
    assert!(
        sentence.ends_with("this is not an elinvar-fit file (its `format` is \"elinvar-checkpoint\")"),
        "{sentence}"
    );
    Kind::Fit.write(Family::gaussian(), &path);
    let sentence = Checkpoint::load(&path).map(|_| ()).unwrap_err().to_string();
    assert!(
        sentence.ends_with("this is not an elinvar-checkpoint file (its `format` is \"elinvar-fit\")"),
        "{sentence}"
    );
}

#[test]
fn a_file_that_was_cut_off_is_refused() {
    let (_folder, path) = folder();
    for kind in KINDS {
        kind.write(Family::skew(), &path);
        let whole = std::fs::read(&path).unwrap();
        for tenths in 1..10 {
            let sentence = kind.refusal(&path, &whole[..whole.len() * tenths / 10]);
            assert!(sentence.contains("the file ends too early"), "{tenths}/10: {sentence}");
        }
        for cut in 3..40 {
            kind.refusal(&path, &whole[..whole.len() - cut]);
        }
        std::fs::write(&path, &whole).unwrap();
        kind.read(&path).unwrap();
    }
}

#[test]
fn a_file_of_a_newer_version_is_refused() {
    let (_folder, path) = folder();
    for kind in KINDS {
        kind.write(Family::gaussian(), &path);
        let mut value: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let newest = value["schema"].as_u64().unwrap();
        value["schema"] = json!(newest + 1);
        value["elinvar"] = json!("9.8.7");
        let sentence = kind.refusal(&path, value.to_string().as_bytes());
        let expected = format!(
            "the file has schema {}, written by elinvar 9.8.7; this version reads up to {newest}: update elinvar",
            newest + 1
        );
        assert!(sentence.ends_with(&expected), "{sentence}");
    }
}

/// Fit files stay readable; what an unfinished run holds has a meaning only for the version that began it.
#[test]
fn a_checkpoint_of_an_older_version_is_refused() {
    let (_folder, path) = folder();
    Kind::Checkpoint.write(Family::gaussian(), &path);
    let mut value: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    value["schema"] = json!(1);
    let sentence = Kind::Checkpoint.refusal(&path, value.to_string().as_bytes());
    assert!(sentence.contains("the file has schema 1, written by elinvar "), "{sentence}");
    assert!(sentence.ends_with("is continued by the version that began it, or begun again"), "{sentence}");
}

#[test]
fn missing_files_and_directories_are_named() {
    let (folder, path) = folder();
    for kind in KINDS {
        for wrong in [path.as_path(), folder.path(), Path::new("")] {
            let error = kind.read(wrong).unwrap_err();
            assert!(matches!(error, Error::Io { .. }), "{error:?}");
            assert!(error.to_string().starts_with(&format!("{}: ", wrong.display())), "{error}");
        }
    }
}

/// A file with this content as the library would have written it: with the checksum at its end.
pub(crate) fn sealed(mut value: Value) -> String {
    value.as_object_mut().unwrap().remove("checksum");
    let text = value.to_string();
    let content = text.strip_suffix('}').unwrap();
    let fnv = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let checksum = content.bytes().fold(0xcbf2_9ce4_8422_2325, fnv);
    format!("{content},\"checksum\":\"{checksum:016x}\"}}\n")
}

/// Every file that is read again is found out if anything in it has changed: all digits of its numbers are tried.
#[test]
fn a_changed_digit_is_found_out() {
    let (_folder, path) = folder();
    for kind in KINDS {
        kind.write(Family::skew(), &path);
        let whole = std::fs::read(&path).unwrap();
        for i in (0..whole.len()).filter(|i| whole[*i].is_ascii_digit()).step_by(7) {
            let mut changed = whole.clone();
            changed[i] = if whole[i] == b'9' { b'3' } else { whole[i] + 1 };
            kind.refusal(&path, &changed);
        }
        let mut value: Value = serde_json::from_slice(&whole).unwrap();
        std::fs::write(&path, sealed(value.clone())).unwrap();
        kind.read(&path).unwrap();
        value.as_object_mut().unwrap().remove("checksum");
        let sentence = kind.refusal(&path, value.to_string().as_bytes());
        assert!(sentence.ends_with("its checksum does not fit; something has changed it since"), "{sentence}");
    }
}

/// Changes the JSON at a pointer; `None` removes the last element of the array there.
fn damaged(whole: &Value, pointer: &str, with: Option<Value>) -> String {
    let mut value = whole.clone();
    let place = value.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}"));
    match with {
        Some(with) => *place = with,
        None => drop(place.as_array_mut().unwrap().pop()),
    }
    sealed(value)
}

#[test]
fn damaged_numbers_are_refused() {
    let (_folder, path) = folder();
    for family in every_kind() {
        for kind in KINDS {
            kind.write(family, &path);
            let whole: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            let mut cases = vec![
                ("/state/blocks/0/precision/0", Some(json!(-1.0))),
                ("/state/blocks/0/precision/0", Some(json!(0.0))),
                ("/state/blocks/0/precision/0", Some(Value::Null)),
                ("/state/blocks/0/precision/0", Some(json!("1.0"))),
                ("/state/blocks/0/precision", None),
                ("/state/blocks/0/b/1", Some(Value::Null)),
                ("/state/blocks/0/b/1", Some(json!(1e300))),
                ("/state/blocks/0/b", None),
                ("/state/blocks", None),
                ("/state/log_weights", None),
                ("/state/log_weights/0", Some(json!(0.3))),
                ("/state/dim", Some(json!(0))),
                ("/state/dim", Some(json!(3))),
                ("/state/dim", Some(json!(1u64 << 33))),
                ("/state/dim", Some(json!(u64::MAX))),
                ("/state/dim", Some(json!(-2))),
                ("/state/family", Some(json!({"kind": "unknown", "covariance": "full"}))),
                ("/state/family/covariance", Some(json!("banded"))),
                ("/plan/n_draws", Some(json!(-1))),
                ("/plan/step_size", Some(json!({"constant": "fast"}))),
                ("/counts/gradient", Some(json!(-5))),
                ("/seconds", Some(Value::Null)),
            ];
            if family.covariance == Covariance::Full {
                cases.push(("/state/blocks/0/precision/1", Some(json!(0.12345))));
                cases.push(("/state/blocks/0/precision/2", Some(json!(0.12345))));
            }
            if kind == Kind::Fit {
                cases.extend([
                    ("/names", None),
                    ("/constrained_names", None),
                    ("/transforms", None),
                    ("/stop_reason", Some(json!("bored"))),
                    ("/trace/0/counts", Some(Value::Null)),
                ]);
            }
            for (pointer, with) in cases {
                let sentence = kind.refusal(&path, damaged(&whole, pointer, with.clone()).as_bytes());
                assert!(sentence.contains("the file is damaged: "), "{family} {pointer} {with:?}: {sentence}");
            }
            // JSON itself has no such number.
            let text = whole.to_string().replacen("\"precision\":[", "\"precision\":[1e999,", 1);
            assert!(kind.refusal(&path, text.as_bytes()).contains("not JSON"));
        }
    }
}

/// The constants of a family, each outside its domain; and a number of components that is not that of the blocks.
#[test]
fn damaged_constants_are_refused() {
    let (_folder, path) = folder();
    let constants = [
        (Family::student_t(3.0), "/state/family/student_t/a", vec![json!(1.0), json!(-3.0), Value::Null]),
        (Family::nig(2.0), "/state/family/nig/lambda", vec![json!(0.0), Value::Null]),
        (Family::snig(2.0), "/state/family/snig/lambda", vec![json!(-2.0), Value::Null]),
        (Family::rank_k(2), "/state/family/rank_k/rank", vec![json!(0), json!(1), json!(u64::MAX)]),
        (Family::skew_k(2), "/state/family/skew_k/directions", vec![json!(0), json!(1), json!(u64::MAX)]),
        (Family::mog(3), "/state/family/mog/components", vec![json!(0), json!(2), json!(u64::MAX)]),
    ];
    for (family, pointer, values) in constants {
        for kind in KINDS {
            kind.write(family, &path);
            let whole: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            for value in values.clone() {
                let sentence = kind.refusal(&path, damaged(&whole, pointer, Some(value.clone())).as_bytes());
                assert!(sentence.contains("the file is damaged: "), "{family} {value}: {sentence}");
            }
        }
    }
}

#[test]
fn a_path_that_cannot_be_written_is_named_and_nothing_is_left_behind() {
    let (folder, path) = folder();
    let (fit, checkpoint) = (fitted(Family::gaussian()), checkpoint_of(Family::gaussian()));
    let occupied = folder.path().join("occupied");
    std::fs::create_dir_all(occupied.join("by a directory")).unwrap();
    for wrong in [folder.path().join("missing/saved.json"), occupied, path.join("")] {
        for error in [fit.save(&wrong).unwrap_err(), checkpoint.save(&wrong).unwrap_err()] {
            assert!(matches!(error, Error::Io { .. }), "{error:?}");
            assert!(error.to_string().starts_with(&format!("{}: ", wrong.display())), "{error}");
        }
        assert_eq!(files_in(&folder), 1, "{}", wrong.display());
    }
    // An older file survives a failed save beside it, and is replaced by a successful one.
    std::fs::write(&path, "older").unwrap();
    fit.save(&path).unwrap();
    assert_eq!(Posterior::load(&path).unwrap().approximation(), fit.approximation());
}

/// A checkpoint belongs to its family and its target.
#[test]
fn a_checkpoint_of_something_else_does_not_resume() {
    let checkpoint = checkpoint_of(Family::gaussian());
    let target = Funnel::new(3).unwrap();
    let error = Run::resume(&target, &checkpoint).map(|_| ()).unwrap_err();
    assert_eq!(error.to_string(), "dimension of the start: expected 3, found 2");
    assert!(checkpoint.state().dim() == 2 && target.dim() == 3);
}
