//! Everything that can be wrong with a command or its files: the sentence, the exit code, and that nothing is left
//! behind.

use crate::story::Story;

const GOOD: &str = "a,b,y\n1,2.5,0\n2,1.5,1\n3,0.5,0\n4,3.5,1\n";
const HINT: &str = "\n\nFor more information, try '--help'.\n";

/// A file, what is typed after `elinvar`, and the sentence.
type Case = (Option<(&'static str, &'static str)>, &'static str, String);

fn check(cases: &[Case]) {
    for (file, arguments, sentence) in cases {
        let story = Story::new();
        story.write("good.csv", GOOD);
        if let Some((name, text)) = file {
            story.write(name, text);
        }
        let before = story.files();
        let ended = story.run(&arguments.split_whitespace().collect::<Vec<_>>());
        assert_eq!((ended.stderr, ended.code), (format!("error: {sentence}"), Some(2)), "{arguments}");
        assert_eq!(ended.stdout, "", "{arguments}");
        assert_eq!(story.files(), before, "{arguments}");
    }
}

/// A sentence of the program itself.
fn said(sentence: &str) -> String {
    format!("{sentence}\n")
}

/// A sentence about a value, with the argument parser's frame.
fn value(value: &str, argument: &str, sentence: &str) -> String {
    format!("invalid value '{value}' for '{argument}': {sentence}{HINT}")
}

#[test]
fn tables() {
    let logistic = "fit logistic bad.csv --target y --out run";
    let bad = |text, sentence: &str| (Some(("bad.csv", text)), logistic, said(&format!("bad.csv{sentence}")));
    check(&[
        (None, "fit logistic god.csv --target y", said("god.csv: there is no such file; did you mean good.csv?")),
        (None, "fit logistic . --target y", said(".: this is a folder; name a file in it, for example ./good.csv")),
        (
            None,
            "fit logistic good.csv --target z",
            said("good.csv: there is no column \"z\"; the columns are \"a\", \"b\", \"y\""),
        ),
        (None, "fit logistic good.csv --target Y", said("good.csv: there is no column \"Y\"; did you mean \"y\"?")),
        (
            None,
            "fit logistic good.csv --target y --features a,B",
            said("good.csv: there is no column \"B\"; did you mean \"b\"?"),
        ),
        (
            None,
            "fit logistic good.csv --target y --exclude y",
            said("good.csv: the target column \"y\" is also left out; keep it or name another target"),
        ),
        (
            None,
            "fit logistic good.csv --target y --features a,y",
            said(
                "good.csv: the target column \"y\" is also listed as a feature; take it off the list or name another target",
            ),
        ),
        (
            None,
            "fit logistic good.csv --target y --exclude a,b",
            said("good.csv: no feature column is left beside the target \"y\"; keep at least one"),
        ),
        (
            None,
            "fit logistic good.csv --target y --features a,a",
            said("good.csv: the column \"a\" is listed twice; list it once"),
        ),
        bad("", ": the file is empty; it needs a header line with the column names and one line for each row"),
        bad("a,y\n", ", line 1: no rows follow the header; add one line for each row"),
        bad(
            "1,0\n2,1\n",
            ", line 1: the first line holds only numbers (\"1,0\") where column names should be; add a header line",
        ),
        bad("a,a,y\n1,2,0\n2,3,1\n", ", line 1, columns 1 and 2: both are named \"a\"; rename one of them"),
        bad(
            "a,y\n1,0\ntwo,1\n",
            ", line 3, column 1 (a): \"two\" is not a number; write numbers (a class as 0 or 1), take texts as categories by --categorical indicators, or leave the column out",
        ),
        bad(
            "a,y\n1,0\n,1\n",
            ", line 3, column 1 (a): the value is missing (empty cell); fill it in, remove the row or leave the column out",
        ),
        bad(
            "a,y\n1,0\nNaN,1\n",
            ", line 3, column 1 (a): the value is missing (\"NaN\"); fill it in, remove the row or leave the column out",
        ),
        bad(
            "a,y\n1,0\n1e999,1\n",
            ", line 3, column 1 (a): \"1e999\" is not a finite number; correct it, remove the row or leave the column out",
        ),
        bad(
            "a,y\n1,0\n2\n",
            ", line 3: the row has 1 field and the header has 2 (\"2\"); add what is missing, or check for a missing delimiter",
        ),
        bad(
            "a,y\n1,1\n2,2\n",
            ", column 2 (y): a binary target holds 0 and 1, or -1 and 1, but this one holds 1 (line 2) and 2 (line 3); \
             write 0 for 1 and 1 for 2",
        ),
        bad(
            "a,y\n1,1\n2,1\n",
            ", column 2 (y): every row has the class 1, and a binary target needs two; add rows of the other class or name \
             another target",
        ),
        bad(
            "a,b,y\n1,7,0\n2,7,1\n",
            ", column 2 (b): every row has the value 7, which duplicates the intercept; drop it or use --no-intercept",
        ),
        bad(
            "intercept,y\n1,0\n2,1\n",
            ", column 1 (intercept): the name is taken by the model's own intercept; rename the column or use --no-intercept",
        ),
        bad(
            "lp__,y\n1,0\n2,1\n",
            ", column 1 (lp__): the name is taken by a column of the draws; rename the column or leave it out",
        ),
        bad(
            "\"a\nb\",y\n1,0\n2,1\n",
            ", line 1, column 1: the name \"a\\nb\" holds a control character; rename the column",
        ),
        bad("# mine\na,y\n1,0\n2,1\n", ", line 1: \"# mine\" is not a line of column names; remove line 1"),
        bad("sep=;\na;y\n1;0\n2;1\n", ", line 1: \"sep=;\" is not a line of column names; remove line 1"),
        bad(
            ",a,y\n0,1,0\n1,2,1\n",
            ", line 1, column 1: the column has no name; name it, or save the table without its index",
        ),
        bad(
            "a,y\n1,0\n-2e300,1\n",
            ", line 3, column 1 (a): -2e300 is too large to compute with; divide the column by a constant",
        ),
        (
            Some(("bad.csv", "a,y\n1,2.5\n2,2.5\n")),
            "fit linear bad.csv --target y",
            said(
                "bad.csv, column 2 (y): every row has the value 2.5, so there is nothing to explain; name another target",
            ),
        ),
        (
            Some(("bad.csv", "a,n\n1,0\n2,0\n")),
            "fit poisson bad.csv --target n",
            said(
                "bad.csv, column 2 (n): every row has the value 0, so there is nothing to explain; name another target",
            ),
        ),
        bad("a,y\n1,0\n", ": 1 row of data is too few; at least 2 rows are needed"),
        (
            Some(("bad.csv", "a,n\n1,2\n2,2.5\n")),
            "fit poisson bad.csv --target n",
            said(
                "bad.csv, line 3, column 2 (n): 2.5 is not a count; the target must hold whole numbers from 0 to 2^53",
            ),
        ),
        (
            Some(("bad.csv", "sigma,y\n1,2\n2,2.5\n")),
            "fit linear bad.csv --target y",
            said(
                "bad.csv: the name of the column \"sigma\" is taken by a parameter of the model; rename the column or leave it out",
            ),
        ),
    ]);
}

#[test]
fn commands() {
    check(&[
        (None, "fit logistic", said("logistic needs a table: elinvar fit logistic FILE.csv --target COLUMN")),
        (
            None,
            "fit logistic good.csv",
            said("good.csv: say which column is to be explained, --target COLUMN; the columns are a, b, y"),
        ),
        (None, "fit logistic other.csv", said("other.csv: there is no such file; check the path")),
        (
            None,
            "fit --target y",
            said("--target needs a model and a table: elinvar fit logistic FILE.csv --target COLUMN"),
        ),
        (None, "fit logistc good.csv --target y", value("logistc", "[MODEL]", "did you mean logistic?")),
        (
            None,
            "fit good.csv --target y",
            value(
                "good.csv",
                "[MODEL]",
                "the models are logistic, linear, poisson, negative_binomial, student_t, binomial, gamma, beta, ordinal, categorical, network, rate, proportion, shares and direction; the file comes after the model",
            ),
        ),
        (None, "fit --family atuo", value("atuo", "--family <FAMILY>", "did you mean auto?")),
        (None, "fit --family gausian", value("gausian", "--family <FAMILY>", "did you mean gaussian?")),
        (
            None,
            "fit --family banana",
            value(
                "banana",
                "--family <FAMILY>",
                "the families are auto, gaussian, mog, student_t, skew, emg, nig, snig, rank_k, skew_k, emg_k, \
                 scale_mixture, matrix, ef_mixture, birnbaum_saunders, dirichlet",
            ),
        ),
        (
            None,
            "fit --components 3",
            said(
                "--components belongs to --family mog or ef_mixture or birnbaum_saunders or dirichlet and means nothing for auto; change the family or leave it out",
            ),
        ),
        (
            None,
            "fit --family mog --rank 2",
            said("--rank belongs to --family rank_k and means nothing for mog; change the family or leave it out"),
        ),
        (
            None,
            "fit --family skew --shape 3",
            said("--shape belongs to --family student_t and means nothing for skew; change the family or leave it out"),
        ),
        (
            None,
            "fit --family emg --lambda 3",
            said(
                "--lambda belongs to --family nig or snig and means nothing for emg; change the family or leave it out",
            ),
        ),
        (
            None,
            "fit --sigma-scale 1",
            said("--sigma-scale belongs to the model linear and means nothing for logistic: leave it out"),
        ),
        (
            None,
            "fit --prior-sd 1 --prior-precision 1",
            "the argument '--prior-sd <S>' cannot be used with '--prior-precision <P>'\n\n\
             Usage: elinvar fit --prior-sd <S> [MODEL] [FILE] [FORMULA]\n\nFor more information, try '--help'.\n"
                .into(),
        ),
    ]);
}

#[test]
fn numbers() {
    let positive = "give a positive number";
    let whole = "give a whole number, at least 1";
    let extreme = |least: &str, most: &str| format!("this is too extreme; give a number from {least} to {most}");
    check(&[
        (None, "fit --prior-precision -1", value("-1", "--prior-precision <P>", positive)),
        (None, "fit --prior-precision 0", value("0", "--prior-precision <P>", positive)),
        (None, "fit --prior-sd nan", value("nan", "--prior-sd <S>", positive)),
        (None, "fit --prior-sd -inf", value("-inf", "--prior-sd <S>", positive)),
        (None, "fit --tolerance -inf", value("-inf", "--tolerance <NATS>", positive)),
        (None, "fit --prior-sd 1e-200", value("1e-200", "--prior-sd <S>", &extreme("1e-6", "1e6"))),
        (None, "fit --prior-precision 1e13", value("1e13", "--prior-precision <P>", &extreme("1e-12", "1e12"))),
        (None, "fit --sigma-scale 1e-13", value("1e-13", "--sigma-scale <S>", &extreme("1e-12", "1e12"))),
        (None, "fit --tolerance 0", value("0", "--tolerance <NATS>", positive)),
        (
            None,
            "fit --family mog --components 0",
            value("0", "--components <K>", "give a whole number, at least 1, or auto"),
        ),
        (
            None,
            "fit --family mog --components -3",
            value("-3", "--components <K>", "give a whole number, at least 1, or auto"),
        ),
        (
            None,
            "fit --family mog --components 1000000000",
            said("--components 1000000000 does not fit into memory; give at most 362"),
        ),
        (None, "fit --family rank_k --rank 0", value("0", "--rank <K>", whole)),
        (None, "fit --family rank_k --rank 12", said("--rank 12: the model has 11 parameters; give at most 11")),
        (
            None,
            "fit --family student_t --shape 1",
            value("1", "--shape <A>", "give a number above 1: at 1 or below, a Student-t has no covariance"),
        ),
        (
            None,
            "fit --family student_t --shape 1.01",
            value(
                "1.01",
                "--shape <A>",
                "give a number from 1.1 to 1e6: near 1 the variance of the scale is so large that estimates never settle, \
                 and above 1e6 the law is a Gaussian",
            ),
        ),
        (
            None,
            "fit --family snig --lambda 1e4",
            value(
                "1e4",
                "--lambda <L>",
                "give a number from 1e-3 to 1e3: below, the variance of the scale is so large that estimates never settle, \
                 and above, the law is a Gaussian",
            ),
        ),
        (None, "fit --family nig --lambda 0", value("0", "--lambda <L>", positive)),
        (None, "fit --draws-per-step 0", value("0", "--draws-per-step <N>", whole)),
        (None, "fit --max-steps 0", value("0", "--max-steps <N>", whole)),
        (None, "fit --restarts 0", value("0", "--restarts <N>", whole)),
        (
            None,
            "fit --restarts 1000000000000",
            said("--restarts 1000000000000 does not fit into memory; give at most 3161"),
        ),
        (None, "fit --minibatch 342", said("--minibatch 342: the table has 341 rows; give at most 341")),
        (None, "fit --diagnostic-draws 99", value("99", "--diagnostic-draws <N>", "give a whole number, at least 100")),
        (
            None,
            "fit --diagnostic-draws 1000000000000",
            said("--diagnostic-draws 1000000000000 does not fit into memory; give at most 14128181"),
        ),
        (None, "fit --seed -1", value("-1", "--seed <S>", "give a whole number from 0 to 9223372036854775807")),
        (None, "sample run --draws 0", value("0", "--draws <N>", whole)),
    ]);
}

#[test]
fn places() {
    check(&[
        (
            None,
            "fit --out good.csv/run1",
            said("good.csv/run1: it cannot be written (not a directory); name another place with --out"),
        ),
        (None, "fit --out good.csv", said("good.csv: this is a file; name a new folder with --out")),
        (None, "fit --out .", said(".: name a new folder with --out")),
        (None, "fit --out ..", said("..: name a new folder with --out")),
        (
            None,
            "sample gone",
            said("gone: there is no such folder or file; name a folder written by elinvar fit --out"),
        ),
        (None, "sample .", said(".: there is no fit.json in this folder; name a folder written by elinvar fit --out")),
        (None, "sample good.csv", said("good.csv: this is not an elinvar-fit file (line 1, column 1: not JSON)")),
        (
            Some(("fit.json", "")),
            "sample .",
            said("./fit.json: the file is empty, not an elinvar-fit file; write it again"),
        ),
        (
            Some(("fit.json", "{}")),
            "sample fit.json",
            said("fit.json: this is not an elinvar-fit file (its `format` is \"none\")"),
        ),
    ]);
}

#[test]
fn a_kept_fit_is_never_overwritten() {
    let story = Story::new();
    story.ok(&["fit", "--out", "run"]);
    let (before, fit) = (story.files(), story.read("run/fit.json"));
    let ended = story.run(&["fit", "--out", "run", "--seed", "2"]);
    let sentence =
        "error: run: the folder has a fit already; name a new folder with --out, or replace it by --overwrite\n";
    assert_eq!((ended.code, ended.stderr.as_str(), ended.stdout.as_str()), (Some(2), sentence, ""));
    assert_eq!((story.files(), story.read("run/fit.json")), (before.clone(), fit.clone()));

    // Unless somebody says so; what is not elinvar's stays.
    story.write("run/notes.txt", "mine");
    story.ok(&["fit", "--out", "run", "--seed", "2", "--overwrite"]);
    assert!(story.read("run/fit.json") != fit && story.read("run/notes.txt") == "mine");
    assert_eq!(story.files().len(), before.len() + 1);
    story.write("run/trace.csv", "mine,too\n");
    let ended = story.run(&["fit", "--out", "run", "--overwrite"]);
    assert!(ended.code == Some(2) && ended.stderr.contains("this is not what a fit has left here"), "{}", ended.stderr);
    assert_eq!(story.read("run/trace.csv"), "mine,too\n");
}

#[test]
fn draws_that_cannot_be_written_leave_nothing() {
    let story = Story::new();
    story.ok(&["fit", "--out", "run"]);
    let before = story.files();
    for (out, problem) in [("run/fit.json/draws.csv", "not a directory"), ("gone/draws.csv", "entity not found")] {
        let ended = story.run(&["sample", "run", "--out", out]);
        let sentence = format!("error: {out}: it cannot be written ({problem}); name another place with --out\n");
        assert_eq!((ended.code, ended.stderr), (Some(2), sentence));
        assert_eq!(story.files(), before);
    }
    // Four times as many are weighed.
    let ended = story.run(&["sample", "run", "--draws", "100000000000"]);
    let sentence = "error: --draws 100000000000 does not fit into memory; give at most 3532045\n";
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(2), sentence));
}

#[test]
fn draws_replace_no_file_and_no_link() {
    let story = Story::new();
    story.ok(&["fit", "--out", "run"]);
    story.write("kept.csv", "mine");
    let refused = |out: &str| {
        let before = story.files();
        let ended = story.run(&["sample", "run", "--out", out]);
        let sentence = format!("error: {out} exists already; choose another name or remove it\n");
        assert_eq!((ended.code, ended.stderr, ended.stdout.as_str()), (Some(2), sentence, ""));
        assert_eq!((story.files(), story.read("kept.csv").as_str()), (before, "mine"));
    };
    refused("kept.csv");
    let ended = story.run(&["sample", "run", "--out", "run"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.starts_with("error: run: it cannot be written (is a directory)"), "{}", ended.stderr);
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        symlink("kept.csv", story.path("link.csv")).unwrap();
        refused("link.csv");
        symlink("run/draws.csv", story.path("ahead.csv")).unwrap();
        story.ok(&["sample", "run", "--draws", "3", "--out", "ahead.csv"]);
        assert!(story.path("ahead.csv").is_symlink());
        assert_eq!(story.read("run/draws.csv"), story.ok(&["sample", "run", "--draws", "3"]));
        symlink("/dev/null", story.path("null")).unwrap();
        assert_eq!(story.ok(&["sample", "run", "--out", "null"]), "");
        assert!(story.path("null").is_symlink());
        let printed = story.ok(&["sample", "run", "--draws", "3", "--out", "/dev/stdout"]);
        assert_eq!(printed, story.read("run/draws.csv"));
        let append = std::fs::OpenOptions::new().append(true).open(story.path("kept.csv")).unwrap();
        let mut command = story.command(&["sample", "run", "--draws", "3", "--out", "/dev/stdout"]);
        assert!(command.stdout(append).status().unwrap().success());
        assert_eq!(story.read("kept.csv"), "mine".to_string() + &printed);
    }
}

#[test]
fn unknown_flags_and_commands_are_refused() {
    let story = Story::new();
    for arguments in
        [&["fit", "--bogus"][..], &["fti"], &[], &["fit", "logistic", "a.csv", "y ~ x", "b.csv"], &["sample"]]
    {
        let ended = story.run(arguments);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(ended.stderr.contains("Usage: elinvar"), "{}", ended.stderr);
    }
    let second = story.run(&["fit", "logistic", "a.csv", "b.csv"]).stderr;
    assert!(
        second.starts_with("error: invalid value 'b.csv' for '[FORMULA]': a formula is written y ~ a + b"),
        "{second}"
    );
    assert!(story.run(&["fti"]).stderr.starts_with("error: unrecognized subcommand 'fti'"));
    assert!(story.files().is_empty());
}
