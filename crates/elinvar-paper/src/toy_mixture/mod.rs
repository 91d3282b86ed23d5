//! A mixture of ten far Gaussians in twenty dimensions: are all of its modes found?

mod arms;
mod marginals;

use elinvar::family::Approximation;
use elinvar::model::GaussianMixture;
use elinvar::random::{Purpose, Stream};

use crate::bound::bound;
use crate::findings::mean_and_sd;
use crate::{Error, Experiment, Findings, Settings, Table, threads};
use arms::{Arm, arms};
use marginals::Marginals;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "figure-toy-mixture",
    title: "A mixture of ten Gaussians in twenty dimensions",
    about: "Mixtures of 20 Gaussians on a target of ten modes, d = 20: as printed, as the authors' program has it, and elinvar's.",
    has_paper_settings: false,
    needs: None,
    run,
    expected: include_str!("../../expected/figure-toy-mixture.toml"),
};

const DIM: usize = 20;
const MODES: usize = 10;
const COMPONENTS: usize = 20;

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

fn run(settings: &Settings, say: &mut dyn FnMut(&str)) -> Result<Findings, Error> {
    let n_draws = if settings.quick { 20_000 } else { 100_000 };
    let centres = centres(20);
    let target = GaussianMixture::isotropic(DIM, centres.clone())?;
    let mut findings = Findings::default();
    let mut table = Table::new("fits", ["run", "seed", "modes found", "KL", "worst marginal distance"]);
    let mut means = Table::new("means", ["run", "modes found, mean", "KL, mean", "KL, sd"]);
    for arm in arms(settings.quick) {
        let name = &arm.name;
        let runs = threads::for_each(arm.repetitions, |i| {
            Measured::new(&target, &centres, arm.fit(&target, settings.seed + i as u64)?, n_draws)
        });
        let runs: Vec<Measured> = runs.into_iter().collect::<Result<_, Error>>()?;
        for (i, Measured { kl, modes, distance, .. }) in runs.iter().enumerate() {
            let seed = settings.seed + i as u64;
            say(&format!("{name}, seed {seed}: {modes} of {MODES} modes, KL {kl:.4}, worst marginal {distance:.4}"));
            let numbers = [modes.to_string(), format!("{kl:.5}"), format!("{distance:.5}")];
            let [modes, kl, distance] = numbers;
            table.push([name.clone(), seed.to_string(), modes, kl, distance]);
        }
        record(&mut findings, &mut means, &arm, &runs);
        let drawn = arm.stem.zip(runs.first());
        findings.figures.extend(drawn.map(|(stem, run)| marginals::figure(name, stem, &centres, run)));
    }
    findings.page = page(&means, n_draws);
    findings.tables = vec![means, table];
    Ok(findings)
}

fn record(findings: &mut Findings, means: &mut Table, arm: &Arm, runs: &[Measured]) {
    let name = &arm.name;
    let of = |f: &dyn Fn(&Measured) -> f64| runs.iter().map(f).collect::<Vec<f64>>();
    let (modes, kl) = (of(&|run| run.modes as f64), of(&|run| run.kl));
    let (fewest, most) =
        (modes.iter().copied().fold(f64::INFINITY, f64::min), modes.iter().copied().fold(0.0, f64::max));
    findings.put(format!("fewest modes found, {name}"), fewest);
    findings.put(format!("most modes found, {name}"), most);
    findings.put_mean(format!("modes found, {name}"), &modes);
    findings.put_mean(format!("kl, {name}"), &kl);
    let worst = of(&|run| run.distance).into_iter().fold(0.0, f64::max);
    findings.put(format!("worst marginal distance, {name}"), worst);
    let ((mean, sd), (mean_modes, _)) = (mean_and_sd(&kl), mean_and_sd(&modes));
    let sd = sd.map_or("–".into(), |sd| format!("{sd:.5}"));
    means.push([name.clone(), format!("{mean_modes:.1}"), format!("{mean:.5}"), sd]);
}

fn page(means: &Table, n_draws: usize) -> String {
    format!(
        "The target is ⅒ Σ N(u_i, I) with ten centres drawn from U[−20, 20]²⁰. A mode counts as found if components within a distance of 4 \
         of it carry at least a fifth of its mass; the distance of marginals is the total variation distance, the worst of the twenty. KL by \
         {n_draws} draws; zero is perfect, and log 10 = 2.30 is what one mode alone would have.\n\n\
         *elinvar, default plan*: `Plan::default()`, nothing told. *At its start*: where that plan begins, after its search for modes and \
         before its first step; components at the modes with the curvature found there are this target up to a small spread. *elinvar from the \
         paper's start*: the same plan without the search, from uniform weights, Σ = 100 I, μ ~ N(0, 100 I). *As printed*: update (16) from that \
         start with ten draws of the mixture per iteration, one constant β for components and weights, h as it is; 150/β iterations, and a step \
         halved where a precision would leave its cone. The paper states neither step size nor number of iterations. *Authors' program*: the same \
         with weights that take a hundredth of the step, the decaying entropy bonus of that program, and h less its mean in the iteration \
         before.\n\n{}",
        means.markdown()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use elinvar::Family;

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
