//! Rows that are read piece by piece: the fit of the table in memory, and errors with file and column.

use crate::resume::words;
use crate::story::{Story, Uniforms, number};

/// Labels, counts and numbers that follow three columns of different scale, in files of so many rows.
fn write(story: &Story, files: &[(&str, usize)]) {
    let mut uniforms = Uniforms::new(11);
    let mut whole = String::from("a,b,c,label,count,number\n");
    for (name, n) in files {
        let mut text = String::from("a,b,c,label,count,number\n");
        for _ in 0..*n {
            let [a, b, c] = [0; 3].map(|_| uniforms.normal());
            let (eta, noise) = (0.4 + 0.8 * a - 0.5 * b, uniforms.normal());
            let cells = [
                a,
                100.0 * b + 7.0,
                1e-3 * c,
                f64::from(eta + 1.5 * noise > 0.0),
                (eta + noise).exp().floor(),
                eta + noise,
            ];
            let row = cells.map(|x| x.to_string()).join(",") + "\n";
            text += &row;
            whole += &row;
        }
        story.write(name, text);
    }
    story.write("whole.csv", whole);
}

/// A JSON object without what time has to do with, and without the settings that change no bits.
fn timeless(mut fit: serde_json::Value) -> serde_json::Value {
    fit.as_object_mut().unwrap().remove("seconds");
    fit
}

const PARTS: [(&str, usize); 3] = [("part-1.csv", 150), ("part-2.csv", 2), ("part-3.csv", 400)];

#[test]
fn a_stream_is_fitted_as_the_table_in_memory() {
    let story = Story::new();
    write(&story, &PARTS);
    for (model, target) in [("logistic", "label"), ("poisson", "count"), ("linear", "number")] {
        let options = format!("--target {target} --features a,b,c");
        let memory = story.json(&words(&format!("fit {model} whole.csv {options}")));
        let stream = story.json(&words(&format!("fit {model} part-*.csv {options} --stream")));
        assert_eq!(memory["verdict"], stream["verdict"], "{model}");
        let [memory, stream] = [&memory, &stream].map(|fit| fit["parameters"].as_array().unwrap());
        assert_eq!(memory.len(), stream.len());
        for (a, b) in memory.iter().zip(stream) {
            assert_eq!(a["name"], b["name"], "{model}");
            let sd = number(&a["sd"]);
            // The same draws at the same approximation, up to the rounding of sums.
            let close = |key: &str| (number(&a[key]) - number(&b[key])).abs() < 1e-3 * sd;
            assert!(close("mean") && close("sd"), "{model}: {a} {b}");
        }
    }
}

#[test]
fn neither_threads_nor_memory_nor_the_cache_change_a_bit() {
    let story = Story::new();
    write(&story, &PARTS);
    let fit = |more: &str, threads: &str| {
        let line = format!("fit logistic part-*.csv --target label --features a,b,c --stream --json {more}");
        let output = story.command(&words(&line)).env("RAYON_NUM_THREADS", threads).output().unwrap();
        timeless(serde_json::from_slice(&output.stdout).unwrap())
    };
    let one = fit("", "1");
    assert_eq!(one, fit("", "2"));
    assert_eq!(one, fit("--memory 64 --cache .", "4"));
    // Without a cache every pass decodes the files.
    let line = "fit logistic part-*.csv --target label --features a,b,c --stream --json";
    let output = story.command(&words(line)).env("TMPDIR", "/nowhere").output().unwrap();
    assert_eq!(one, timeless(serde_json::from_slice(&output.stdout).unwrap()));
}

#[test]
fn a_kept_stream_predicts_and_says_how_often_it_read() {
    let story = Story::new();
    write(&story, &PARTS);
    let page = story.ok(&words("fit logistic part-*.csv --target label --features a,b,c --stream --out run"));
    assert!(page.contains("passes") && page.contains("at most 512 MB of shards in memory"), "{page}");
    story.ok(&words("predict run whole.csv --out predictions.csv"));
    assert_eq!(story.read("predictions.csv").lines().count(), 553);
    let refused = story.run(&words("loo run"));
    let expected = "error: elinvar loo, which leaves out every row, does not go with --stream; judge it by a file of rows \
                    that were held out\n";
    assert_eq!((refused.code, refused.stderr.as_str()), (Some(2), expected));
}

#[test]
fn rows_are_held_out_by_their_numbers() {
    let story = Story::new();
    write(&story, &PARTS);
    for (model, target, metrics) in [
        ("logistic", "label", ["log_loss", "accuracy", "brier", "calibration_error"].as_slice()),
        ("linear", "number", &["log_predictive_density", "rmse"]),
    ] {
        let fit = |more: &str, temporary: Option<&str>| {
            let line = format!("fit {model} part-*.csv --target {target} --features a,b,c --stream --json {more}");
            let mut command = story.command(&words(&line));
            command.envs(temporary.map(|folder| ("TMPDIR", folder)));
            timeless(serde_json::from_slice(&command.output().unwrap().stdout).unwrap())
        };
        let one = fit("--test-fraction 0.25", None);
        let n = one["test"]["n_rows"].as_u64().unwrap();
        // A quarter of 552, within 4.5 standard deviations.
        assert!((92..=184).contains(&n), "{n}");
        let found: Vec<&str> =
            one["test"]["metrics"].as_array().unwrap().iter().map(|m| m["name"].as_str().unwrap()).collect();
        assert_eq!(found, metrics, "{model}");
        // Without a cache, too, they are the same rows.
        assert_eq!(one, fit("--test-fraction 0.25", Some("/nowhere")));
        assert_ne!(one["test"], fit("--test-fraction 0.25 --split-seed 2", None)["test"]);
        // The rows that are fitted are the others.
        assert_ne!(one["parameters"], fit("", None)["parameters"]);
    }
    let page =
        story.ok(&words("fit logistic part-*.csv --target label --features a,b,c --stream --test-fraction 0.25"));
    assert!(page.contains("held out") && page.contains("log loss"), "{page}");
}

#[test]
fn what_does_not_go_is_said() {
    let story = Story::new();
    story.write("ones.csv", "a,y\n1,1\n2,1\n3,1\n").write("zeros.csv", "a,y\n1,0\n2.5,0\n");
    story.write("other.csv", "b,y\n1,0\n").write("empty.csv", "a,y\n").write("three.csv", "a,y\n1,0\n2,1\n3,2\n");
    story.write("whole.csv", "a,y\n1,1\n2,1\n3,0\n1,0\n").write("rows.txt", "0\n");
    let told = |line: &str| {
        let ended = story.run(&words(line));
        assert_eq!(ended.code, Some(2), "{line}: {}", ended.stderr);
        ended.stderr
    };
    for (line, part) in [
        ("fit logistic ones.csv --target y --stream", "ones.csv, column 2 (y):"),
        ("fit logistic e*.csv --target y --stream", "empty.csv, line 1: no rows follow the header"),
        ("fit logistic o*.csv --target y --stream", "other.csv: its columns are not those of ones.csv"),
        ("fit logistic three.csv --target y --stream", "three.csv, column 2 (y):"),
        ("fit poisson ones.csv --target y --stream --test-rows rows.txt", "--test-rows does not go with --stream"),
        ("fit logistic whole.csv --target y --stream --test-fraction 0.000001", "cannot be taken for training"),
        (
            "fit gamma ones.csv --target y --stream",
            "--stream takes the models logistic, linear, poisson, and not gamma",
        ),
        ("fit logistic no*.csv --target y --stream", "no*.csv: no parquet or CSV file is meant by this"),
        ("fit logistic ones.csv --target y --stream --memory 1", "give --memory"),
        ("fit logistic ones.csv --target y --stream --minibatch 2", "--minibatch does not go with --stream"),
    ] {
        let stderr = told(line);
        assert!(stderr.contains(part), "{line}\n{stderr}");
    }
    // One class in one part is allowed; a prior keeps what the two parts leave apart.
    std::fs::create_dir(story.path("parts")).unwrap();
    story.write("parts/ones.csv", "a,y\n1,1\n2,1\n3,1\n").write("parts/zeros.csv", "a,y\n1,0\n2.5,0\n");
    let fit = story.json_good_or_not(&words("fit logistic parts --target y --stream"));
    assert_eq!(fit["parameters"].as_array().unwrap().len(), 2);
}
