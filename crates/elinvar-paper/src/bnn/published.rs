//! What others found on the same splits with networks of one hidden layer of 50 units.

/// Where the numbers are from, in words of the page.
pub(super) const SOURCE: &str = "Y. Gal and Z. Ghahramani, *Dropout as a Bayesian Approximation*, ICML 2016, Table 1: variational \
    inference (VI; Graves 2011), probabilistic back-propagation (PBP; Hernández-Lobato and Adams 2015) and dropout, means over the \
    twenty splits; VI and PBP are those authors' quotation of the PBP paper";

/// The numbers for one table: VI, PBP, dropout.
pub(super) struct Published {
    pub(super) table: &'static str,
    pub(super) rmse: [f64; 3],
    pub(super) log_likelihood: [f64; 3],
}

const PUBLISHED: [Published; 5] = [
    Published { table: "boston", rmse: [4.32, 3.01, 2.97], log_likelihood: [-2.90, -2.57, -2.46] },
    Published { table: "concrete", rmse: [7.19, 5.67, 5.23], log_likelihood: [-3.39, -3.16, -3.04] },
    Published { table: "energy", rmse: [2.65, 1.80, 1.66], log_likelihood: [-2.39, -2.04, -1.99] },
    Published { table: "wine_red", rmse: [0.65, 0.64, 0.62], log_likelihood: [-0.98, -0.97, -0.93] },
    Published { table: "yacht", rmse: [6.89, 1.02, 1.11], log_likelihood: [-3.43, -1.63, -1.55] },
];

/// The numbers for a table.
pub(super) fn of(table: &str) -> Option<&'static Published> {
    PUBLISHED.iter().find(|published| published.table == table)
}

/// A range as a page shows it, from the best to the worst.
pub(super) fn range(values: &[f64; 3], best_is_low: bool) -> String {
    let (low, high) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(*v), h.max(*v)));
    let (best, worst) = if best_is_low { (low, high) } else { (high, low) };
    format!("{best:.2} to {worst:.2}").replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_go_from_the_best_to_the_worst() {
        let yacht = of("yacht").unwrap();
        assert_eq!(range(&yacht.rmse, true), "1.02 to 6.89");
        assert_eq!(range(&yacht.log_likelihood, false), "−1.55 to −3.43");
        assert!(of("naval").is_none());
    }
}
