//! The model in words.

use crate::job::{About, Job};
use crate::number::{grouped, significant};
use crate::settings::{Likelihood, ModelName};

/// Its parts, one pair of a name and a description each.
pub(super) fn words(job: &Job) -> Vec<(String, String)> {
    let about = &job.about;
    let mut list = vec![("Data", data(about)), ("Model", model(about))];
    if about.model.is_regression() {
        list.push(("Columns", columns(about)));
        let scaled = "shifted or scaled for the fit; coefficients on this page are in the units of the file";
        if about.is_scaled() && about.scaling_is_asked {
            list.push(("Scaling", scaled.into()));
        }
    }
    list.push(("Prior", prior(about)));
    list.into_iter().map(|(name, text)| (name.into(), text)).collect()
}

fn data(about: &About) -> String {
    let file = about.file.as_deref().unwrap_or("the embedded breast-cancer data");
    let mut text = format!("{file}, {} rows", grouped(about.n_rows as u64));
    let held_out = about.n_read.saturating_sub(about.n_rows + about.n_dropped);
    if held_out > 0 {
        text += &format!(", {} more held out", grouped(held_out as u64));
    }
    if about.n_dropped > 0 {
        text += &format!(", {} dropped because a cell was missing", grouped(about.n_dropped as u64));
    }
    text + &format!("; fingerprint {}", about.fingerprint)
}

fn model(about: &About) -> String {
    let y = &about.target;
    match about.model {
        ModelName::Logistic => format!("P({y} = 1) = 1/(1 + exp(−η)), η linear in the columns"),
        ModelName::Linear => format!("{y} ~ N(η, sigma²), η linear in the columns"),
        ModelName::Poisson => format!("{y} ~ Poisson(exp η), η linear in the columns"),
        ModelName::Rate => format!("{y} ~ Poisson(rate × exposure)"),
        ModelName::Proportion => format!("{y} = 1 with the probability of the parameter"),
        ModelName::Direction => format!(
            "{y} ~ von Mises around the direction, concentration {}",
            about.concentration.map_or("known".into(), significant)
        ),
        ModelName::Network => {
            let Some(network) = &about.network else { return "neural network".into() };
            let hidden: Vec<String> = network.architecture.hidden.iter().map(usize::to_string).collect();
            let layers = if hidden.is_empty() {
                "no hidden layer".into()
            } else {
                format!("hidden layers {}", hidden.join(", "))
            };
            let outcome = match network.likelihood {
                Likelihood::Gaussian => "a normal distribution with learned sigma",
                Likelihood::Binary => "two classes",
                Likelihood::Multiclass => "several classes",
            };
            format!("neural network for {y}: {layers}; {outcome}")
        }
    }
}

fn columns(about: &About) -> String {
    /// More are counted, not named.
    const NAMED: usize = 12;
    let n = about.columns.len();
    let shown: Vec<&str> = about.columns.iter().take(NAMED).map(String::as_str).collect();
    let more = if n > NAMED { format!(", … ({n} in all)") } else { String::new() };
    shown.join(", ") + &more
}

fn prior(about: &About) -> String {
    match about.model {
        ModelName::Rate => "log-normal(0, 10²)".into(),
        ModelName::Proportion => "logit-normal(0, 1.5²)".into(),
        ModelName::Direction => "uniform".into(),
        _ => {
            let sigma = about.sigma_scale.map_or(String::new(), |s| format!("; sigma half-Cauchy({})", significant(s)));
            about.priors.words(&about.kinds, &about.transforms) + &sigma
        }
    }
}
