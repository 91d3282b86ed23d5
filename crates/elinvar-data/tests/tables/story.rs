//! From a file with gaps and texts to scores on rows held back, with coefficients of either kind.

use std::fs;

use elinvar_data::{
    Categorical, Link, Missing, Outcome, RegressionData, Scaling, Selection, log_loss, mean_predictions,
    read_row_numbers, split_fraction,
};

#[test]
fn scores_are_those_of_the_columns_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("credit.csv");
    let row = |i: usize| {
        let income = if i % 10 == 3 { "NA".to_string() } else { (20_000 + 37 * i * i % 50_000).to_string() };
        format!("{income},{},{},{}\n", 20 + i * 7 % 50, ["Oslo", "Bergen", "Tromsø"][i * i % 3], i / 2 % 2)
    };
    let rows: String = (0..60).map(row).collect();
    fs::write(&file, format!("income,age,city,default\n{rows}")).unwrap();
    let selection = Selection {
        missing: Missing::Drop,
        categorical: Categorical::Indicators,
        ..Selection::new("default", Outcome::Binary)
    };
    let data = RegressionData::read(&file, &selection).unwrap();
    assert_eq!((data.n_rows(), data.n_dropped), (54, 6));
    assert_eq!(data.names, ["intercept", "income", "age", "city=Oslo"]);

    let index = folder.path().join("test.idx");
    fs::write(&index, "3\n4\n59\n").unwrap();
    let listed = read_row_numbers(&index, data.n_rows_of_file()).unwrap();
    assert_eq!(data.rows_from_file(&listed), [3, 53]);

    let (train, test) = data.split(&split_fraction(54, 0.7, 1).unwrap()).unwrap();
    assert_eq!((train.n_rows(), test.n_rows()), (38, 16));
    let transforms = Scaling::Standardize.transforms(&train).unwrap();
    let mut scaled = test.clone();
    scaled.transform(&transforms);
    assert_eq!(scaled.fingerprint, test.fingerprint);

    let draws: Vec<Vec<f64>> = (0..5).map(|k| vec![0.1 * k as f64, -0.5, 0.8 - 0.2 * k as f64, 0.3]).collect();
    let undo = |draw: &Vec<f64>| {
        let mut beta: Vec<f64> = draw.iter().zip(&transforms).map(|(beta, t)| beta / t.scale).collect();
        let taken_up: f64 = beta.iter().zip(&transforms).map(|(beta, t)| beta * t.shift).sum();
        beta[0] -= taken_up;
        beta
    };
    let undone: Vec<Vec<f64>> = draws.iter().map(undo).collect();
    let of_scaled = mean_predictions(&scaled.features, 4, draws.iter().map(Vec::as_slice), Link::Logit);
    let of_original = mean_predictions(&test.features, 4, undone.iter().map(Vec::as_slice), Link::Logit);
    for (a, b) in of_scaled.iter().zip(&of_original) {
        assert!((a - b).abs() < 1e-13, "{a} and {b}");
    }
    let (a, b) = (log_loss(&scaled.y, &of_scaled), log_loss(&test.y, &of_original));
    assert!((a.value - b.value).abs() < 1e-13 && a.value > 0.1 && a.se > 0.0, "{a:?} and {b:?}");
}
