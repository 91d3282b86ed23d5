//! What is said where a table has more columns than rows.

use crate::models::Model;
use crate::number::{grouped, significant};
use crate::response::Regression;

/// How many coefficients were fitted in how many directions, or why they were not.
pub(crate) fn sentence(model: &dyn Model, n_rows: usize) -> Option<String> {
    let rows = model.regression()?;
    let (design, several) = (rows.design, rows.response.n_predictors());
    let n_columns = design.table_names().len();
    if n_columns <= n_rows {
        return None;
    }
    let coefficients = grouped((several * n_columns) as u64);
    let counted = format!("{coefficients} coefficients, {} rows", grouped(n_rows as u64));
    Some(match design.row_space() {
        Some(space) => format!(
            "{counted}: fitted in the {} directions that the rows can see; outside them the posterior is the prior, \
             exactly.{}",
            grouped((several * space.n_directions()) as u64),
            sure_of_everything(&rows, n_columns)
        ),
        None => format!(
            "{counted}: more than the rows can tell apart, and fitted one by one, because only independent normal priors \
             stay as they are where no row looks; with those, such as --prior 'b ~ normal(0, 2.5)', the fit takes as many \
             coordinates as there are rows."
        ),
    })
}

/// What is said where the prior of many coefficients together expects every response to be nearly certain.
fn sure_of_everything(rows: &Regression<'_>, n_columns: usize) -> String {
    /// Prior standard deviations of a linear predictor without unit beyond which it is.
    const SURE: f64 = 10.0;
    /// That of a single column by default.
    const USUAL: f64 = 2.5;
    let (design, n) = (rows.design, rows.design.n_rows());
    let squares: f64 = (0..n).flat_map(|i| design.row(i)).map(|x| x * x).sum();
    let sd = (squares / n as f64).sqrt();
    if sd < SURE || !rows.response.is_without_unit() {
        return String::new();
    }
    format!(
        " Under this prior the linear predictor of a row has standard deviation {}: it expects next to no doubt about any \
         response, and chains find such a posterior hard. --standardize --prior-sd {} --prior 'intercept ~ normal(0, 2.5)' \
         expects {USUAL}.",
        significant(sd),
        significant(USUAL / (n_columns as f64).sqrt())
    )
}
