//! The names of figures on the command line.

use std::path::PathBuf;

use crate::error::Failure;
use elinvar_data::nearest;
use elinvar_report::{Content, FigureName, figure};

/// The figure of this name, or the nearest one as advice.
pub(crate) fn parse(flag: &str, text: &str) -> Result<FigureName, Failure> {
    text.parse().map_err(|_| {
        let words = FigureName::PLAIN.map(|name| name.to_string());
        let all = || format!("choose one of {}, marginal:NAME, pair:X:Y", words.join(", "));
        let meant = nearest(text, words.iter().map(String::as_str));
        let advice = meant.map_or_else(all, |word| format!("did you mean \"{word}\"?"));
        Failure::input(format!("{flag} {text}: there is no such figure; {advice}"))
    })
}

/// The name of a file for it in the current folder.
pub(crate) fn file_name(name: &FigureName, ending: &str) -> PathBuf {
    let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let words: String = name.to_string().chars().map(plain).collect();
    format!("{words}.{ending}").into()
}

/// Why a figure is not there: a parameter that does not exist, or nothing to show.
pub(crate) fn nothing(content: &Content, name: &FigureName) -> Failure {
    let names: Vec<&str> = content.parameters.iter().map(|p| p.name.as_str()).collect();
    let asked = match name {
        FigureName::Marginal(x) => vec![x],
        FigureName::Pair(x, y) => vec![x, y],
        _ => Vec::new(),
    };
    match asked.into_iter().find(|asked| !names.contains(&asked.as_str())) {
        Some(unknown) => {
            let advice = nearest(unknown, names.iter().copied()).map_or_else(
                || "elinvar report DIR --list shows the parameters".into(),
                |near| format!("did you mean \"{near}\"?"),
            );
            Failure::input(format!("{name}: there is no parameter \"{unknown}\"; {advice}"))
        }
        None => Failure::input(format!(
            "{name}: this fit has nothing to show in the figure; elinvar report DIR --list shows those it has"
        )),
    }
}

/// The figures that the content has, one a line.
pub(crate) fn list(content: &Content) -> String {
    let mut text = String::from("Figures of this fit, for --svg and --png:\n");
    for name in FigureName::PLAIN.into_iter().filter(|name| figure(content, name).is_some()) {
        text += &format!("  {:<16}{}\n", name.to_string(), about(&name));
    }
    text += &format!("  {:<16}{}\n", "marginal:NAME", "the density of one parameter");
    if content.parameters.len() > 1 {
        text += &format!("  {:<16}{}\n", "pair:X:Y", "contours of two parameters");
    }
    let names: Vec<&str> = content.parameters.iter().map(|p| p.name.as_str()).collect();
    text + "Parameters: " + &names.join(", ") + "\n"
}

fn about(name: &FigureName) -> &'static str {
    match name {
        FigureName::Marginals => "the density of every parameter, up to 48",
        FigureName::Pairs => "contours of the least Gaussian parameters, two by two",
        FigureName::Elbo => "the ELBO against evaluations",
        FigureName::ElboSeconds => "the ELBO against time",
        FigureName::StepSize => "the size of every step",
        FigureName::Kl => "the KL divergence of every step",
        FigureName::Components => "the number of components",
        FigureName::DrawsPerStep => "draws of every step",
        FigureName::Tail => "the largest importance ratios",
        FigureName::Ladder => "the families that were tried",
        FigureName::Calibration => "observed against predicted on held-out rows",
        FigureName::Residuals => "how far rows are from what was predicted of them",
        FigureName::Intervals => "means and 90 % intervals of all parameters",
        FigureName::Marginal(_) | FigureName::Pair(..) => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_name_is_told_the_nearest() {
        let said = |text| parse("--svg", text).unwrap_err().to_string();
        assert_eq!(said("elbow"), "--svg elbow: there is no such figure; did you mean \"elbo\"?");
        assert!(said("zzzzzz").contains("choose one of marginals, pairs, elbo, "));
        assert_eq!(parse("--png", "pair:a:b").unwrap(), FigureName::Pair("a".into(), "b".into()));
    }

    #[test]
    fn a_file_is_named_after_its_figure() {
        let name = FigureName::Pair("x/1".into(), "y".into());
        assert_eq!(file_name(&name, "svg"), PathBuf::from("pair-x-1-y.svg"));
    }
}
