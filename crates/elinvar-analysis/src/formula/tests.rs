//! Design matrices against those of patsy and formulaic, and what is said about formulas that will not do.

use std::path::Path;

use elinvar_data::{Missing, Table};

use super::*;

/// Differences of two programs that compute the same numbers in another order.
const TOLERANCE: f64 = 1e-11;

fn read(text: &str, csv: &str) -> Result<(Table, Recipe), crate::Error> {
    let header = csv.lines().next().unwrap();
    let available: Vec<String> = header.split(',').map(str::to_string).collect();
    let formula = Formula::parse(text)?;
    let reading = formula.reading(Path::new("t.csv"), &available, Missing::Refuse)?;
    let table = Table::from_csv_with("t.csv", csv.as_bytes(), &reading)?;
    let recipe = formula.learn(&table, None)?;
    Ok((table, recipe))
}

fn columns(recipe: &Recipe, table: &Table) -> Vec<Vec<f64>> {
    let (features, d) = (recipe.apply(table).unwrap().features, recipe.names().len());
    (0..d).map(|j| features.iter().skip(j).step_by(d).copied().collect()).collect()
}

#[test]
fn designs_are_those_of_other_programs() {
    let reference: serde_json::Value =
        serde_json::from_str(include_str!("../../tests/formulas/reference.json")).unwrap();
    let csv = reference["table"].as_str().unwrap();
    let cases = reference["cases"].as_array().unwrap();
    assert!(cases.len() > 30);
    for case in cases {
        let text = case["formula"].as_str().unwrap();
        let (table, recipe) = read(text, csv).unwrap();
        // What a file has kept says the same.
        let recipe = Recipe::from_json(&recipe.to_json()).unwrap();
        let ours = columns(&recipe, &table);
        let mut theirs: Vec<Vec<f64>> = serde_json::from_value(case["columns"].clone()).unwrap();
        assert_eq!(ours.len(), theirs.len(), "{text}: {:?}", recipe.names());
        for (name, column) in recipe.names().iter().zip(&ours) {
            let is_same =
                |other: &Vec<f64>| column.iter().zip(other).all(|(a, b)| (a - b).abs() <= TOLERANCE * (1.0 + b.abs()));
            let at = theirs.iter().position(is_same).unwrap_or_else(|| panic!("{text}: {name} is not among them"));
            theirs.remove(at);
        }
    }
}

const SMALL: &str = "\
y,age,dose,sex,site
1,30,1.5,f,A
0,41,2.5,m,A
1,52,0,f,B
0,63,4.5,m,C
";

fn names(text: &str) -> String {
    read(text, SMALL).unwrap().1.names().join(" ")
}

#[test]
fn columns_have_names_and_an_order() {
    assert_eq!(names("y ~ age * sex"), "intercept age sex=m age:sex=m");
    assert_eq!(names("y ~ sex * site"), "intercept sex=m site=B site=C sex=m:site=B sex=m:site=C");
    assert_eq!(
        names("y ~ 0 + site:sex"),
        "site=A:sex=f site=B:sex=f site=C:sex=f site=A:sex=m site=B:sex=m site=C:sex=m"
    );
    assert_eq!(names("y ~ log1p( dose )+I( age ^2 )"), "intercept log1p(dose) I(age^2)");
    assert_eq!(names("y ~ poly(age, 2) + scale(dose)"), "intercept poly(age, 2)[1] poly(age, 2)[2] scale(dose)");
    assert_eq!(names("y ~ C(age, ref = 41)"), "intercept age=30 age=52 age=63");
    assert_eq!(names("y ~ 1"), "intercept");
    assert_eq!(names("y ~ . - sex"), "intercept age dose site=B site=C");
}

/// The sentence about a formula without its mark, and what is marked.
fn refused(text: &str) -> (String, String) {
    let error = read(text, SMALL).and_then(|(table, recipe)| {
        recipe.apply(&table)?;
        recipe.left(&table, elinvar_data::Outcome::Count)
    });
    let sentence = error.expect_err(text).to_string();
    let lines: Vec<&str> = sentence.lines().collect();
    let marked = match lines.as_slice() {
        [_, formula, mark] => {
            let chars = formula.chars().zip(mark.chars().chain(std::iter::repeat(' ')));
            chars.filter(|(_, mark)| *mark == '^').map(|(c, _)| c).collect()
        }
        _ => String::new(),
    };
    (lines[0].to_string(), marked)
}

#[test]
fn mistakes_are_marked_and_say_what_to_do() {
    let cases: [(&str, &str, &str); 40] = [
        ("y ~ agee + dose", "t.csv: there is no column \"agee\"; did you mean \"age\"?", "agee"),
        ("y ~ log(doze)", "did you mean \"dose\"?", "doze"),
        ("y ~ age + I(log(age) * doze)", "there is no column \"doze\"", "doze"),
        ("y ~ age + offset(log(doze))", "there is no column \"doze\"", "doze"),
        ("y | weights(doze) ~ age", "there is no column \"doze\"", "doze"),
        ("y ~ age + C(dose, ref = 77)", "\"dose\" has no level \"77\"", "77"),
        ("yy ~ age", "there is no column \"yy\"", "yy"),
        ("y ~ age + log(dose)", "t.csv, line 4, column 3 (dose): log(dose) is not a finite number", "log(dose)"),
        ("y ~ age + I(1 / dose)", "t.csv, line 4", "I(1 / dose)"),
        ("y ~ age +", "the end stands where a column should be", ""),
        ("y ~ age dose", "\"dose\" stands where an operator, such as +, should be", "dose"),
        ("y age", "a formula is written y ~ a + b", "y age"),
        ("y ~ (age + dose", "the end stands where an operator, such as +, or ) should be", ""),
        ("y ~ age)", "\")\" stands where", ")"),
        ("y ~ lg(age)", "there is no function lg; did you mean log?", "lg"),
        ("y ~ tanh(age)", "there is no function tanh; the functions are I, log", "tanh"),
        ("y ~ 2 + age", "2 is not a term; 1 is the intercept", "2"),
        ("y ~ age^dose", "^ takes a whole number", "dose"),
        ("y ~ age^2.5", "I(x^2)", "2.5"),
        ("y ~ poly(age)", "a comma and a degree", ")"),
        ("y ~ poly(age, 0)", "whole number k from 1 to 20", "0"),
        ("y ~ poly(age, 4)", "needs more than 4 different values, and there are 4", "poly(age, 4)"),
        ("y ~ log(scale(age))", "scale() is a term of its own", "scale"),
        ("y ~ log(.)", ". stands for all other columns", "."),
        ("y ~ age:y", "\"y\" is what the formula explains", "y"),
        ("y ~ age:offset(dose)", "offset() is added to the linear predictor", "offset(dose)"),
        ("y ~ 0", "the formula has no columns", "0"),
        ("y | trial(dose) ~ age", "behind | stand trials(column)", "trial"),
        ("y | trials(age) + trials(dose) ~ age", "trials() is given twice", "trials"),
        ("y ~ C(sex, ref = 'M')", "\"sex\" has no level \"M\"; did you mean \"m\"?", "'M'"),
        ("y ~ C(sex, base = 'm')", "\"base\" stands where ref = and a level should be", "base"),
        ("y ~ C(log(age))", "stands where", "("),
        ("y ~ age & dose", "'&' means nothing in a formula; the operators are", "&"),
        ("y ~ `age", "the name that begins here is not closed", "`age"),
        ("y ~ log(sex)", "\"f\" is not a number", ""),
        ("y ~ sex + log(sex)", "\"f\" is a text and sex needs numbers", "sex"),
        ("y ~ age / dose", "\"/\" stands where an operator", "/"),
        ("sex ~ age", "this holds texts (\"f\", \"m\") and the model needs counts", ""),
        ("log(age) ~ dose", "log(age) is computed, and the model needs counts", ""),
        ("y | weights(age - 40) ~ dose", "t.csv, line 2, column 2 (age): -10 is not a weight", ""),
    ];
    for (text, sentence, mark) in cases {
        let (said, marked) = refused(text);
        assert!(said.contains(sentence), "{text}: {said}");
        assert_eq!(
            marked,
            if mark.is_empty() && marked == "^" { marked.clone() } else { mark.into() },
            "{text}: {said}"
        );
    }
    let one = "y,a,b\n1,u,3\n2,u,3\n";
    let said = |text: &str| read(text, one).unwrap_err().to_string();
    assert!(said("y ~ a").contains("every row has the level \"u\""), "{}", said("y ~ a"));
    assert!(said("y ~ b").contains("b is 3 in every row, which duplicates the intercept"), "{}", said("y ~ b"));
    assert!(said("y ~ scale(b)").contains("every row"));
    assert!(read("y ~ 0 + b", one).is_ok());
    let many: String = (0..800).map(|i| format!("{i},u{},v{},w{}\n", i % 299, i % 301, i % 300)).collect();
    let said = read("y ~ a:b:c", &format!("y,a,b,c\n{many}")).unwrap_err().to_string();
    assert!(said.contains("columns, and at most 65536 fit into memory"), "{said}");
    let taken = "y,intercept,lp__\n1,2,3\n2,5,7\n";
    assert!(read("y ~ intercept", taken).unwrap_err().to_string().contains("taken by the model's own intercept"));
    assert!(read("y ~ lp__", taken).unwrap_err().to_string().contains("taken by a column of the draws"));
}

#[test]
fn a_recipe_learns_from_some_rows_and_holds_for_others() {
    let (table, _) = read("y ~ scale(age) + poly(dose, 2) + site", SMALL).unwrap();
    let formula = Formula::parse("y ~ scale(age) + poly(dose, 2) + site").unwrap();
    let of_three = formula.learn(&table, Some(&[0, 1, 2])).unwrap();
    let scaled = &columns(&of_three, &table)[1];
    assert!((scaled[0] + 1.0).abs() < 1e-15 && (scaled[3] - 2.0).abs() < 1e-15, "{scaled:?}");

    let new = |csv: &str| Table::from_csv_with("new.csv", csv.as_bytes(), &of_three.reading());
    let row = "site,dose,age\nC,1.5,30\nA,9,52\n";
    let design = of_three.apply(&new(row).unwrap()).unwrap();
    assert_eq!(design.features[..2], [1.0, -1.0]);
    assert_eq!(design.features[4..6], [0.0, 1.0]);
    assert!(design.offset.is_empty());
    let missing = new("site,age\nC,30\n").unwrap_err().to_string();
    assert!(missing.contains("new.csv: there is no column \"dose\""), "{missing}");
    let other = of_three.apply(&new("site,dose,age\nC,1.5,30\nD,9,52\n").unwrap()).unwrap_err().to_string();
    assert!(other.contains("new.csv, line 3, column 1 (site): \"D\" is not among the levels of the fit"), "{other}");
}

#[test]
fn offsets_weights_and_trials_are_read() {
    let (table, recipe) =
        read("y | weights(age) + trials(2) ~ sex + offset(log1p(dose)) + offset(age)", SMALL).unwrap();
    let design = recipe.apply(&table).unwrap();
    assert!((design.offset[1] - (3.5f64.ln() + 41.0)).abs() < 1e-14);
    let left = recipe.left(&table, elinvar_data::Outcome::Count).unwrap();
    assert_eq!((left.trials[0], left.weights[3], left.y[2]), (2.0, 63.0, 1.0));
    let again = Recipe::from_json(&recipe.to_json()).unwrap();
    assert_eq!(again, recipe);
}

#[test]
fn two_texts_are_two_classes() {
    let csv = "age,cured\n1,yes\n2,no\n3,yes\n";
    let (table, recipe) = read("cured ~ age", csv).unwrap();
    assert_eq!(recipe.response.levels, ["no", "yes"]);
    assert_eq!(recipe.left(&table, elinvar_data::Outcome::Binary).unwrap().y, [1.0, -1.0, 1.0]);
    let one = Table::from_csv_with("n.csv", b"age,cured\n4,yes\n5,yes\n", &recipe.reading_with_response()).unwrap();
    assert_eq!(recipe.left(&one, elinvar_data::Outcome::Binary).unwrap().y, [1.0, 1.0]);
    let (table, recipe) = read("cured ~ age", "age,cured\n1,a\n2,b\n3,c\n").unwrap();
    let three = recipe.left(&table, elinvar_data::Outcome::Binary).unwrap_err().to_string();
    assert!(three.contains("two classes are needed and there are 3 (\"a\", \"b\", \"c\")"), "{three}");
}

#[test]
fn a_damaged_recipe_is_refused() {
    let good = read("y ~ poly(age, 2) * sex + scale(dose)", SMALL).unwrap().1.to_json();
    assert!(Recipe::from_json(&good).is_ok());
    for (from, to) in [
        ("elinvar-recipe 1", "elinvar-recipe 2"),
        ("\"reference\": 0", "\"reference\": 7"),
        ("\"level\": 1", "\"level\": 9"),
        ("\"degree\": 2", "\"degree\": 3"),
        ("\"of\": \"age\"", "\"of\": \"((((\""),
        ("\"scale\": ", "\"scale\": -"),
        ("\"categories\"", "\"categorys\""),
    ] {
        assert!(good.contains(from), "{from}");
        assert!(Recipe::from_json(&good.replacen(from, to, 1)).is_err(), "{from}");
    }
}
