//! Formulas as they come, and recipes, over a table that some of them suit.

use std::path::Path;

use elinvar_analysis::formula::{Formula, Recipe};
use elinvar_data::{Missing, Outcome, Table};

/// Formulas that can be read.
pub(crate) const GOOD: [&str; 6] = [
    "y ~ a + log1p(b) * c",
    "y | trials(n) + weights(b) ~ 0 + poly(a, 3):c + offset(log(b)) - 1",
    "y ~ (a + b + c)^2 + scale(exp(a)) + I((a + 1)^2 / -b^3) + `odd n`",
    "y ~ . - C(c, ref = 'u') + C(a, ref = -1):b",
    "sqrt(y) ~ 1 + a*b*c*d",
    "y ~ c",
];
/// Pieces of formulas.
pub(crate) const WORDS: [&str; 24] = [
    "~", "+", "-", ":", "*", "/", "^", "(", ")", "|", ",", "=", "`", "'", ".", "0", "1", "a", "c", "log(", "I(",
    "poly(", "C(", "offset(",
];
const TABLE: &str = "a,b,c,d,n,odd n,y\n1,2,u,0.5,3,1,0\n2,1,v,1.5,4,3,1\n3,5,u,2.5,5,2,2\n-1,0.5,w,7,6,9,1\n\
     0.2,7,v,1,3,4,3\n1.5,1,w,2,9,5,0\n";

/// The recipe that a formula makes of the table, as a file has it; the design and the response are made, too.
pub(crate) fn recipe(text: &str) -> Option<Vec<u8>> {
    let formula = Formula::parse(text).ok()?;
    let header = TABLE.lines().next().unwrap_or_default();
    let available: Vec<String> = header.split(',').map(str::to_string).collect();
    let reading = formula.reading(Path::new("t.csv"), &available, Missing::Refuse).ok()?;
    let table = Table::from_csv_with("t.csv", TABLE.as_bytes(), &reading).ok()?;
    let recipe = formula.learn(&table, None).ok()?;
    let _ = recipe.left(&table, Outcome::Count);
    recipe.apply(&table).ok()?;
    Some(recipe.to_json().into_bytes())
}

/// Whether this is a recipe that the table suits.
pub(crate) fn is_applied(text: &str) -> bool {
    let Ok(recipe) = Recipe::from_json(text) else { return false };
    let _ = (recipe.kinds(), recipe.to_json());
    let table = Table::from_csv_with("t.csv", TABLE.as_bytes(), &recipe.reading());
    table.is_ok_and(|table| recipe.apply(&table).is_ok())
}
