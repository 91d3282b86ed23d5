//! Mixtures of more and more Gaussians on a posterior of two parameters that is known exactly.

use elinvar::family::Approximation;
use elinvar::model::BetaBinomial;
use elinvar::{Family, Plan};
use elinvar_figure::{Axis, Colour, Contours, Figure, Line, Panel, Points, Rule};

use crate::authors::{Program, scattered_start};
use crate::plane::{self, Plane};
use crate::{Error, Experiment, Findings, Settings, Table, findings, threads};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "figure-beta-binomial",
    title: "Mixtures of Gaussians on the beta-binomial posterior",
    about: "Cancer mortality in 20 cities: mixtures of K = 1 … 8 Gaussians beside the exact posterior, and KL against K.",
    has_paper_settings: true,
    needs: None,
    run,
    expected: include_str!("../expected/figure-beta-binomial.toml"),
};

const MOST_COMPONENTS: usize = 8;

/// The best divergences that direct optimisation on a grid has found (mathematics §9.5), as (K, KL).
const REFERENCE: [(usize, f64); 4] = [(1, 0.127283), (2, 0.030035), (3, 0.011428), (5, 0.002856)];

fn run(settings: &Settings, say: &mut dyn FnMut(&str)) -> Result<Findings, Error> {
    let target = BetaBinomial::cancer_mortality();
    let plane = Plane::of(&target, [-11.0, 0.0], [-3.0, 31.0], 501)?;
    let repetitions = if settings.quick { 2 } else { 5 };
    let mut findings = Findings::default();
    findings.put("log normaliser", plane.log_normaliser);
    let mut table = Table::new("kl", ["K", "KL, mean", "sd over seeds", "best", "worst"]);
    let (mut curve, mut shown) = (Vec::new(), Vec::new());
    for k in 1..=MOST_COMPONENTS {
        let fits = threads::for_each(repetitions, |i| {
            let seed = settings.seed + i as u64;
            let q = if settings.paper_settings {
                by_the_program(&target, k, seed, settings.quick)
            } else {
                by_default(&target, k, seed)
            }?;
            Ok::<_, Error>((plane.kl(&q), q))
        });
        let fits: Vec<(f64, Approximation)> = fits.into_iter().collect::<Result<_, _>>()?;
        let kls: Vec<f64> = fits.iter().map(|(kl, _)| *kl).collect();
        let (mean, sd) = findings::mean_and_sd(&kls);
        let best = kls.iter().copied().fold(f64::INFINITY, f64::min);
        let worst = kls.iter().copied().fold(0.0, f64::max);
        say(&format!("K = {k}: KL {mean:.5} ± {:.5}", sd.unwrap_or(0.0)));
        findings.put_mean(format!("kl of K = {k}"), &kls);
        findings.put(format!("worst kl of K = {k}"), worst);
        table.push([
            k.to_string(),
            format!("{mean:.6}"),
            format!("{:.6}", sd.unwrap_or(0.0)),
            format!("{best:.6}"),
            format!("{worst:.6}"),
        ]);
        curve.push((k as f64, mean, best, worst));
        shown.extend(fits.into_iter().next());
    }
    let rises = curve.windows(2).map(|pair| pair[1].1 - pair[0].1).fold(f64::NEG_INFINITY, f64::max);
    findings.put("largest rise of kl from K to K + 1", rises);
    findings.figures = vec![contours(&target, &plane, &shown), against_k(&curve, settings)];
    findings.page = page(&table, settings, repetitions);
    findings.tables = vec![table];
    Ok(findings)
}

fn by_default(target: &BetaBinomial, k: usize, seed: u64) -> Result<Approximation, Error> {
    let plan = Plan { seed, ..Plan::thorough() };
    Ok(elinvar::run::fit(target, Family::mog(k), &plan)?.approximation().clone())
}

/// The authors' program (mathematics §9.2, E2); a quick run takes a fifth of its iterations.
fn by_the_program(target: &BetaBinomial, k: usize, seed: u64, quick: bool) -> Result<Approximation, Error> {
    let program = Program {
        draws: 2 * k,
        beta: 8e-4,
        weight_factor: 0.01,
        entropy_bonus: Some(5e5),
        subtracts_mean: true,
        steps: if quick { 10_000 } else { 50_000 },
    };
    Ok(program.run(target, scattered_start(2, k, 1.0, 1.0, seed)?, seed)?)
}

/// The part of the plane that the authors show.
const WINDOW: [(f64, f64); 2] = [(-7.7, -5.6), (4.5, 14.0)];

/// The exact posterior and the approximations, at the authors' levels below the peak.
fn contours(target: &BetaBinomial, plane: &Plane, fits: &[(f64, Approximation)]) -> crate::Figure {
    const LEVELS: [f64; 6] = [-5.0, -3.0, -2.0, -1.0, -0.5, -0.15];
    let title = "The exact posterior and mixtures of K Gaussians: lines at 0.15, 0.5, 1, 2, 3 and 5 nats below the peak; dots are the components' means";
    let [x, y] = WINDOW;
    let panel = |name: String| {
        Panel::new(name)
            .x(Axis::linear("logit η").range(x.0, x.1).ticks(4))
            .y(Axis::linear("log K of the model").range(y.0, y.1).ticks(4))
    };
    let exact = |a: f64, b: f64| plane::log_density(target, [a, b]) - plane.log_normaliser;
    let lines = |f: &dyn Fn(f64, f64) -> f64| {
        let peak = peak(f);
        Contours::of_function(x, y, LEVELS, |a, b| f(a, b) - peak)
    };
    let mut figure = Figure::new(title)
        .columns(3)
        .panel_size(250.0, 230.0)
        .panel(panel("exact".into()).add(lines(&exact).filled().colour(Colour::Grey)));
    for k in [1, 2, 3, 5, 8] {
        let Some((kl, fit)) = fits.get(k - 1) else { continue };
        let means = fit.locations().iter().map(|block| (block.b()[0], block.b()[1]));
        figure = figure.panel(
            panel(format!("K = {k}: KL {kl:.4}"))
                .add(lines(&exact).fill_only().colour(Colour::Grey).key("exact"))
                .add(lines(&|a, b| fit.log_density(&[a, b])).colour(Colour::Blue).key("mixture"))
                .add(Points::new(means).colour(Colour::Vermilion).key("means of its components")),
        );
    }
    crate::Figure { stem: "contours".into(), title: title.into(), svg: figure.svg() }
}

/// The largest value in the window.
fn peak(f: &dyn Fn(f64, f64) -> f64) -> f64 {
    const N: i32 = 100;
    let at = |(low, high): (f64, f64), i: i32| low + (high - low) * f64::from(i) / f64::from(N);
    let points = (0..=N).flat_map(|i| (0..=N).map(move |j| (i, j)));
    points.map(|(i, j)| f(at(WINDOW[0], i), at(WINDOW[1], j))).fold(f64::NEG_INFINITY, f64::max)
}

fn against_k(curve: &[(f64, f64, f64, f64)], settings: &Settings) -> crate::Figure {
    let title = "KL divergence from the posterior against the number of components: mean and range over seeds";
    let name = if settings.paper_settings { "authors' program" } else { "thorough plan" };
    let panel = Panel::new("")
        .x(Axis::linear("components K").range(0.7, 8.3).ticks(8))
        .y(Axis::log("KL(q‖p), nats"))
        .add(Rule::horizontal(0.002, "required at K = 8"))
        .add(Line::with_band(curve.iter().copied()).colour(Colour::Blue).label(name))
        .add(Points::new(curve.iter().map(|(k, kl, ..)| (*k, *kl))).colour(Colour::Blue))
        .add(
            Points::new(REFERENCE.map(|(k, kl)| (k as f64, kl)))
                .marker(elinvar_figure::Marker::Circle)
                .colour(Colour::Vermilion)
                .key("best known, by direct optimisation on a grid"),
        );
    let figure = Figure::new(title).columns(1).panel_size(560.0, 320.0).panel(panel);
    crate::Figure { stem: "kl-against-k".into(), title: title.into(), svg: figure.svg() }
}

fn page(table: &Table, settings: &Settings, repetitions: usize) -> String {
    let how = if settings.paper_settings {
        "The authors' program: means from N(0, I) and P = I at the start, 50 000 plain steps of 8·10⁻⁴ with 2K draws of the mixture, \
         weights with a hundredth of the step and with the decaying entropy bonus, one step size for all components, halved until every \
         precision is positive definite (its share 1 − ρβ is kept within [0, 1], which the program does not do in its first three iterations)."
    } else {
        "The thorough plan, that is the default one carried on to a thousandth of a nat, from its own start."
    };
    let quick =
        if settings.quick && settings.paper_settings { " This quick run stops after 10 000 steps." } else { "" };
    format!(
        "{how}{quick} {repetitions} seeds. Divergences are sums over a grid of 501 × 501 points, without Monte Carlo error.\n\n{}",
        table.markdown()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_gaussian_reaches_the_known_divergence() {
        let target = BetaBinomial::cancer_mortality();
        let plane = Plane::of(&target, [-11.0, 0.0], [-3.0, 31.0], 301).unwrap();
        assert!((plane.log_normaliser + 570.708_611).abs() < 1e-4, "{}", plane.log_normaliser);
        let kl = plane.kl(&by_default(&target, 1, 1).unwrap());
        assert!((kl - REFERENCE[0].1).abs() < 0.003, "{kl}");
    }
}
