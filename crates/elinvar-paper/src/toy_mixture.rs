//! A mixture of ten far Gaussians in twenty dimensions: are all of its modes found?

use elinvar::family::Approximation;
use elinvar::model::GaussianMixture;
use elinvar::random::{Purpose, Stream};
use elinvar::{Family, Plan};
use elinvar_figure::{Area, Axis, Colour, Figure, Line, Panel};

use crate::authors::{Program, scattered_start};
use crate::bound::bound;
use crate::{Error, Experiment, Findings, Settings, Table, threads};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "figure-toy-mixture",
    title: "A mixture of ten Gaussians in twenty dimensions",
    about: "Mixtures of 20 Gaussians on a target of ten modes, d = 20: all twenty marginals against the truth.",
    has_paper_settings: false,
    needs: None,
    run,
    expected: include_str!("../expected/figure-toy-mixture.toml"),
};

const DIM: usize = 20;
const MODES: usize = 10;
const COMPONENTS: usize = 20;

/// The paper's settings (mathematics §9.2, E1): S = 10, uniform weights, Σ_c = 100 I, μ_c ~ N(0, 100 I). Step size and number of
/// iterations are not stated; these are ours. The weights move as in the authors' program, a hundred times more slowly and with the
/// entropy bonus.
const PAPER: Program = Program { draws: 10, beta: 0.05, weight_factor: 0.01, entropy_bonus: Some(5e5), steps: 3_000 };

/// The same with one step size for components and weights, as the updates of the paper's §4.1 have it.
const ONE_STEP: Program = Program { weight_factor: 1.0, entropy_bonus: None, ..PAPER };

/// Ten centres, uniform in [−20, 20]²⁰.
fn centres(seed: u64) -> Vec<f64> {
    let mut stream = Stream::open(seed, Purpose::Sample, 0, 0);
    (0..MODES * DIM).map(|_| 40.0 * stream.uniform() - 20.0).collect()
}

/// What is measured of one fit.
struct Measured {
    q: Approximation,
    kl: f64,
    modes: usize,
    /// The largest total variation distance between a marginal of q and of p.
    distance: f64,
}

impl Measured {
    fn new(target: &GaussianMixture, centres: &[f64], q: Approximation, n_draws: usize) -> Result<Self, Error> {
        let kl = -bound(&q, target, n_draws, 17)?.elbo;
        let marginals = Marginals::of(&q);
        let distance = (0..DIM).map(|i| marginals.distance(centres, i)).fold(0.0, f64::max);
        Ok(Self { kl, modes: modes_found(centres, &q), distance, q })
    }
}

/// Modes within whose reach q has at least a fifth of the mass that the target has.
fn modes_found(centres: &[f64], q: &Approximation) -> usize {
    /// Twice the distance at which a component with the covariance of the mode would be two nats off.
    const REACH: f64 = 4.0;
    let near = |u: &[f64], b: &[f64]| u.iter().zip(b).map(|(u, b)| (u - b).powi(2)).sum::<f64>() < REACH * REACH;
    let mass = |u: &[f64]| {
        let parts = q.locations().iter().zip(q.weights().log()).filter(|(block, _)| near(u, block.b()));
        parts.map(|(_, log)| log.exp()).sum::<f64>()
    };
    centres.chunks_exact(DIM).filter(|u| mass(u) >= 0.2 / MODES as f64).count()
}

/// The one-dimensional marginals of a mixture: weights, means and standard deviations of the components.
struct Marginals {
    weights: Vec<f64>,
    means: Vec<Vec<f64>>,
    sds: Vec<Vec<f64>>,
}

impl Marginals {
    fn of(q: &Approximation) -> Self {
        let mut covariance = vec![0.0; DIM * DIM];
        let mut sds = Vec::new();
        for block in q.locations() {
            block.scale().covariance_into(&mut covariance);
            sds.push(covariance.iter().step_by(DIM + 1).map(|v| v.sqrt()).collect());
        }
        let weights = q.weights().log().iter().map(|log| log.exp()).collect();
        Self { weights, means: q.locations().iter().map(|block| block.b().to_vec()).collect(), sds }
    }

    /// The density of coordinate `i` at x.
    fn density(&self, i: usize, x: f64) -> f64 {
        let parts = self.weights.iter().zip(&self.means).zip(&self.sds);
        parts.map(|((weight, mean), sd)| weight * normal(x, mean[i], sd[i])).sum()
    }

    /// ½∫|q_i − p_i|.
    fn distance(&self, centres: &[f64], i: usize) -> f64 {
        const STEP: f64 = 0.02;
        let points = (0..3_200).map(|k| -32.0 + STEP * f64::from(k));
        0.5 * STEP * points.map(|x| (self.density(i, x) - truth(centres, i, x)).abs()).sum::<f64>()
    }
}

fn normal(x: f64, mean: f64, sd: f64) -> f64 {
    let t = (x - mean) / sd;
    (-0.5 * t * t).exp() / (sd * std::f64::consts::TAU.sqrt())
}

/// The density of coordinate `i` of the target at x.
fn truth(centres: &[f64], i: usize, x: f64) -> f64 {
    centres.iter().skip(i).step_by(DIM).map(|u| normal(x, *u, 1.0) / MODES as f64).sum()
}

fn run(settings: &Settings, say: &mut dyn FnMut(&str)) -> Result<Findings, Error> {
    let repetitions = if settings.quick { 2 } else { 5 };
    let n_draws = if settings.quick { 20_000 } else { 100_000 };
    let centres = centres(20);
    let target = GaussianMixture::isotropic(DIM, centres.clone())?;
    let mut findings = Findings::default();
    let mut table = Table::new("fits", ["run", "seed", "modes found", "KL", "worst marginal distance"]);
    let mut shown = Vec::new();
    type Fit<'a> = &'a (dyn Fn(u64) -> Result<Approximation, Error> + Sync);
    let default: Fit<'_> = &|seed| {
        let plan = Plan { seed, ..Plan::default() };
        Ok(elinvar::fit(&target, Family::mog(COMPONENTS), &plan)?.approximation().clone())
    };
    let by = |program: Program| {
        let (target, start) = (&target, |seed| scattered_start(DIM, COMPONENTS, 10.0, 100.0, seed));
        move |seed| Ok(program.run(target, start(seed)?, seed)?.into())
    };
    let (paper, one_step) = (by(PAPER), by(ONE_STEP));
    let runs: [(&str, &str, Fit<'_>); 3] = [
        ("default plan", "default", default),
        ("paper's settings", "paper", &paper),
        ("one step size for all", "one-step", &one_step),
    ];
    for (name, stem, fit) in runs {
        let repetitions = if settings.quick && name != "default plan" { 1 } else { repetitions };
        let runs = threads::for_each(repetitions, |i| {
            Measured::new(&target, &centres, fit(settings.seed + i as u64)?, n_draws)
        });
        let runs: Vec<Measured> = runs.into_iter().collect::<Result<_, _>>()?;
        for (i, run) in runs.iter().enumerate() {
            let Measured { kl, modes, distance, .. } = run;
            say(&format!("{name}, seed {}: {modes} of {MODES} modes, KL {kl:.4}, worst marginal {distance:.4}", i + 1));
            let seed = settings.seed + i as u64;
            table.push([
                name.into(),
                seed.to_string(),
                modes.to_string(),
                format!("{kl:.5}"),
                format!("{distance:.5}"),
            ]);
        }
        let of = |f: &dyn Fn(&Measured) -> f64| runs.iter().map(f).collect::<Vec<f64>>();
        let modes = of(&|run| run.modes as f64);
        findings.put(format!("fewest modes found, {name}"), modes.iter().copied().fold(f64::INFINITY, f64::min));
        findings.put_mean(format!("modes found, {name}"), &modes);
        findings.put_mean(format!("kl, {name}"), &of(&|run| run.kl));
        findings
            .put(format!("worst marginal distance, {name}"), of(&|run| run.distance).into_iter().fold(0.0, f64::max));
        shown.push((name, stem, runs));
    }
    for (name, stem, runs) in &shown {
        findings.figures.extend(runs.first().map(|run| marginals(name, stem, &centres, run)).transpose()?);
    }
    findings.page = page(&table, n_draws);
    findings.tables = vec![table];
    Ok(findings)
}

/// All twenty marginals of one fit over those of the target.
fn marginals(name: &str, stem: &str, centres: &[f64], run: &Measured) -> Result<crate::Figure, Error> {
    let title = format!(
        "{name}: all twenty marginals of the fitted mixture over those of the target, {} of {MODES} modes found",
        run.modes
    );
    let q = Marginals::of(&run.q);
    let range = (-25.0, 25.0);
    let grid = || (0..=400).map(|k| range.0 + (range.1 - range.0) * f64::from(k) / 400.0);
    let highest = |i: usize| grid().map(|x| q.density(i, x).max(truth(centres, i, x))).fold(0.0, f64::max);
    let top = 1.05 * (0..DIM).map(highest).fold(0.0, f64::max);
    let mut figure = Figure::new(&title).columns(5).panel_size(176.0, 118.0);
    for i in 0..DIM {
        figure = figure.panel(
            Panel::new(format!("z{}", subscript(i + 1)))
                .x(Axis::linear("").range(range.0, range.1).ticks(3))
                .y(Axis::linear("").range(0.0, top).ticks(2))
                .add(Area::under(grid().map(|x| (x, truth(centres, i, x)))).colour(Colour::Grey).key("target"))
                .add(
                    Line::new(grid().map(|x| (x, q.density(i, x)))).colour(Colour::Blue).key("mixture of 20 Gaussians"),
                ),
        );
    }
    Ok(crate::Figure { stem: format!("marginals-{stem}"), title, svg: figure.svg() })
}

/// A number in small digits below the line.
fn subscript(n: usize) -> String {
    n.to_string().chars().map(|digit| char::from_u32('₀' as u32 + digit as u32 - '0' as u32).unwrap_or(digit)).collect()
}

fn page(table: &Table, n_draws: usize) -> String {
    let Program { beta, steps, .. } = PAPER;
    format!(
        "The target is ⅒ Σ N(u_i, I) with ten centres drawn from U[−20, 20]²⁰. A mode counts as found if components within a distance of 4 \
         of it carry at least a fifth of its mass; the distance of marginals is the total variation distance, the worst of the twenty. KL by \
         {n_draws} draws; zero is perfect, and log 10 = 2.30 is what one mode alone would have.\n\n\
         *Default plan*: `Plan::default()`, nothing told. *Paper's settings*: uniform weights, Σ = 100 I, μ ~ N(0, 100 I), ten draws of the \
         mixture per iteration; the paper states neither step size nor number of iterations, ours are {beta} and {steps}; the weights take a \
         hundredth of the step and have the decaying entropy bonus of the authors' program. *One step size for all*: the same without \
         these two, as the updates are printed: the weights race ahead of the components.\n\n{}",
        table.markdown()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use elinvar::family::Approximation;

    #[test]
    fn a_mixture_that_is_the_target_finds_everything_and_one_without_a_mode_does_not() {
        let centres = centres(20);
        let target = GaussianMixture::isotropic(DIM, centres.clone()).unwrap();
        let identity: Vec<f64> = (0..DIM * DIM).map(|e| f64::from(u8::from(e % (DIM + 1) == 0))).collect();
        let of = |n: usize| {
            let block = |u: &[f64]| (u.to_vec(), identity.clone());
            let blocks: Vec<(Vec<f64>, Vec<f64>)> = centres.chunks_exact(DIM).take(n).map(block).collect();
            let state = Approximation::from_parts(Family::mog(n), DIM, blocks, vec![-(n as f64).ln(); n]);
            Measured::new(&target, &centres, state.unwrap(), 2_000).unwrap()
        };
        let all = of(MODES);
        assert_eq!(all.modes, MODES);
        assert!(all.kl.abs() < 1e-9 && all.distance < 1e-9, "{} {}", all.kl, all.distance);
        let nine = of(MODES - 1);
        assert_eq!(nine.modes, MODES - 1);
        assert!((nine.kl - (10.0f64 / 9.0).ln()).abs() < 1e-6, "{}", nine.kl);
        assert!(nine.distance > 0.03);
    }
}
