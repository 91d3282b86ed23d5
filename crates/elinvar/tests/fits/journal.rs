//! Fits that are interrupted, killed and continued: the result has the bits of one that was left alone.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use elinvar::chains::Round;
use elinvar::component::ComponentKind;
use elinvar::estimate::Curvature;
use elinvar::family::{Family, Kind};
use elinvar::model::{Banana, BetaBinomial, GaussianMixture, PoissonRate};
use elinvar::posterior::Rung;
use elinvar::rule::{AdamLike, EuclideanAdam, Rule};
use elinvar::run::fit;
use elinvar::run::journal::{Entry, Folder, Part};
use elinvar::run::{Correct, Interrupt, Journal, Kept, Step, Stop, StopReason, fit_from_journaled, fit_journaled};
use elinvar::target::Target;
use elinvar::{Error, Plan, Posterior};

use crate::counting::Counting;
use crate::subjects::{self, GradientsOnly, families, heavy_tails, label, logistic};

/// A journal in memory, through text as files are, that ends a fit when its patience is at an end.
#[derive(Default)]
struct Notes {
    entries: Mutex<HashMap<Part, String>>,
    /// Questions whether the fit should end until it should; for ever if 0.
    patience: AtomicU64,
    steps: AtomicU64,
    /// Every so manieth step is stored; none if 0.
    period: u64,
    asked: AtomicU64,
    /// Entries after which the process is lost; never if 0.
    lifetime: AtomicU64,
    stored: AtomicU64,
}

impl Notes {
    fn begin(&self, patience: u64, lifetime: u64) {
        for (counter, value) in
            [(&self.patience, patience), (&self.steps, 0), (&self.lifetime, lifetime), (&self.stored, 0)]
        {
            counter.store(value, Ordering::Relaxed);
        }
    }
}

impl Journal for Notes {
    fn load(&self, part: Part) -> Result<Option<Entry>, Error> {
        let entries = self.entries.lock().unwrap();
        Ok(entries.get(&part).map(|text| serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))))
    }

    fn store(&self, part: Part, entry: &Entry) -> Result<(), Error> {
        let lost = |n: u64| n != 0 && self.stored.fetch_add(1, Ordering::Relaxed) + 1 > n;
        if lost(self.lifetime.load(Ordering::Relaxed)) {
            return Err(Error::Io { path: part.to_string().into(), source: std::io::Error::other("killed") });
        }
        self.entries.lock().unwrap().insert(part, serde_json::to_string(entry).unwrap());
        Ok(())
    }

    fn is_due(&self, _: Duration, _: Duration) -> bool {
        self.period != 0 && self.asked.fetch_add(1, Ordering::Relaxed).is_multiple_of(self.period)
    }
}

impl Interrupt for Notes {
    fn is_raised(&self) -> bool {
        let patience = self.patience.load(Ordering::Relaxed);
        patience != 0 && self.steps.fetch_add(1, Ordering::Relaxed) + 1 >= patience
    }
}

/// Notes that end the fit, too.
fn ended_by(notes: &Notes) -> Kept<'_> {
    Kept { journal: Some(notes), interrupt: Some(notes), ..Kept::default() }
}

fn go_on(_: &Step) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Everything about a posterior but the time it took, as text that has every bit.
fn everything(posterior: &Posterior) -> [String; 7] {
    let text = |value: &dyn erased::Text| value.text();
    let trace: Vec<Step> = posterior.trace().iter().map(|step| Step { seconds: 0.0, ..*step }).collect();
    let rungs: Vec<Rung> = posterior.rungs().iter().map(|rung| Rung { seconds: 0.0, ..rung.clone() }).collect();
    [
        text(posterior.approximation()),
        text(&trace),
        text(&posterior.counts()),
        text(posterior.agreement()),
        text(&rungs),
        format!("{} {:?}", posterior.stop_reason(), posterior.plan()),
        format!("{:?}", posterior.summary(10, 1)),
    ]
}

mod erased {
    pub(crate) trait Text {
        fn text(&self) -> String;
    }

    impl<T: serde::Serialize> Text for T {
        fn text(&self) -> String {
            serde_json::to_string(self).unwrap()
        }
    }
}

/// Fits by `fit` again and again until it comes to an end; how many times that took.
fn to_the_end(mut fit: impl FnMut(u64) -> Result<Posterior, Error>) -> (Posterior, u64) {
    for sessions in 0..5_000 {
        match fit(sessions) {
            Ok(posterior) => return (posterior, sessions + 1),
            Err(Error::Interrupted) => {}
            Err(Error::Io { source, .. }) if source.to_string() == "killed" => {}
            Err(error) => panic!("{error}"),
        }
    }
    panic!("no end")
}

/// Interrupted after `patience` points of a search or steps, in whatever part they are, and each time after five more.
#[track_caller]
fn check_interrupted(target: &dyn Target, family: Family, plan: &Plan, patience: u64) {
    let straight = everything(&fit(target, family, plan).unwrap());
    let notes = Notes::default();
    let (posterior, sessions) = to_the_end(|session| {
        // Of a search nothing is kept: patience has to grow until it outlasts one.
        notes.begin(patience + 5 * session, 0);
        fit_journaled(target, family, plan, &mut go_on, ended_by(&notes))
    });
    assert!(sessions > 1 || posterior.trace().len() < patience as usize, "{}", label(family));
    assert_eq!(everything(&posterior), straight, "{}, after {patience} steps", label(family));
}

/// Lost after 1, 2, 3, 1, … entries, of which one is made every `period` steps.
#[track_caller]
fn check_killed(target: &dyn Target, family: Family, plan: &Plan, period: u64) {
    let straight = everything(&fit(target, family, plan).unwrap());
    let notes = Notes { period, ..Notes::default() };
    let (posterior, sessions) = to_the_end(|session| {
        notes.begin(0, 1 + session % 3);
        fit_journaled(target, family, plan, &mut go_on, &notes)
    });
    assert!(sessions > 1, "{}: {sessions} sessions", label(family));
    assert_eq!(everything(&posterior), straight, "{}, an entry every {period} steps", label(family));
}

fn capped(max_steps: u64) -> Plan {
    Plan { stop: Stop { max_steps, ..Stop::default() }, seed: 5, ..Plan::default() }
}

/// A plan that never converges.
fn endless(max_steps: u64) -> Plan {
    Plan { stop: Stop { max_steps, remaining_nats: 0.0, ..Stop::default() }, seed: 5, ..Plan::default() }
}

/// Two normals, 0.7 of the mass at the origin and 0.3 eight standard deviations away.
fn two_modes() -> GaussianMixture {
    let unit = [1.0, 0.0, 0.0, 1.0].repeat(2);
    GaussianMixture::new(&[0.7, 0.3], vec![0.0, 0.0, 8.0, 0.0], &unit).unwrap()
}

#[test]
fn every_family_is_continued() {
    let (banana, regression) = (Banana::default(), logistic(60, 4));
    for family in families() {
        check_interrupted(&banana, family, &capped(120), 17);
        // A Gaussian of a regression takes a few steps by residual scores and no more.
        let period = if family.kind == Kind::Gaussian { 1 } else { 11 };
        check_killed(&regression, family, &capped(60), period);
    }
}

/// The banana and a regression by their gradients alone.
#[test]
fn fits_by_least_change_are_continued() {
    let (banana, regression) = (Banana::default(), logistic(60, 40));
    let plan = Plan { curvature: Curvature::LeastChange, ..endless(30) };
    let full = Family::gaussian();
    for (target, family) in [(&banana as &dyn Target, full), (&regression, full), (&banana, full.diagonal())] {
        check_interrupted(&GradientsOnly(target), family, &plan, 17);
        check_killed(&GradientsOnly(target), family, &plan, 3);
    }
    // Where it stagnates, as on ripples far narrower than the draws, the fit goes on in a part of its own.
    let rippled = elinvar::target::from_fn(2, |z, grad| {
        grad.iter_mut().zip(z).for_each(|(g, z)| *g = -z - 20.0 * (1e3 * z).sin());
        z.iter().map(|z| -0.5 * z * z + 0.02 * (1e3 * z).cos()).sum()
    });
    let (target, plan) = (GradientsOnly(&rippled), endless(400));
    let posterior = fit(&target, Family::gaussian(), &plan).unwrap();
    assert_eq!(posterior.plan().curvature, Curvature::Stein { control_variate: true });
    check_interrupted(&target, Family::gaussian(), &plan, 17);
    check_killed(&target, Family::gaussian(), &plan, 3);
}

#[test]
fn rules_and_mini_batches_are_continued() {
    let target = logistic(60, 4);
    let rules = [
        Rule::NaturalGradient,
        Rule::Retraction,
        Rule::NaturalMomentum { gamma: 0.5 },
        Rule::AdamLike(AdamLike::default()),
        Rule::EuclideanAdam(EuclideanAdam::default()),
    ];
    for rule in rules {
        let plan = Plan { rule, ..capped(300) };
        check_interrupted(&target, Family::gaussian().diagonal(), &plan, 41);
        check_killed(&target, Family::gaussian().diagonal(), &Plan { minibatch: Some(20), ..plan }, 37);
    }
}

#[test]
fn families_on_other_supports_are_continued() {
    let target = PoissonRate::new(vec![3.0, 1.0, 4.0, 0.0]).unwrap();
    for name in ["gamma", "log_normal", "inverse_gamma"] {
        let family = Family::ef_mixture(ComponentKind::new(name, None).unwrap(), 2);
        check_interrupted(&target, family, &capped(150), 19);
        check_killed(&target, family, &capped(150), 7);
    }
}

#[test]
fn growing_mixtures_are_continued() {
    let (banana, two) = (Banana::default(), two_modes());
    for patience in [2, 13, 50] {
        check_interrupted(&two, Family::mog_auto(), &Plan::default(), patience);
    }
    check_interrupted(&banana, Family::mog_auto(), &Plan::default(), 29);
    check_killed(&banana, Family::mog_auto(), &Plan::default(), 8);
    check_killed(&two, Family::mog_auto().diagonal(), &capped(150), 3);
}

#[test]
fn ladders_and_restarts_are_continued() {
    let target = BetaBinomial::cancer_mortality();
    let bare = Plan { correct: Correct::Never, ..Plan::default() };
    check_interrupted(&target, Family::auto(), &bare, 97);
    check_killed(&target, Family::auto(), &bare, 61);
    // Chains are run anew: they end at the bits at which they would have.
    check_interrupted(&target, Family::auto(), &Plan::default(), 400);
    check_killed(&target, Family::auto(), &Plan::default(), 3);
    check_interrupted(&two_modes(), Family::auto(), &Plan::default(), 23);
    let three = Plan { restarts: 3, ..Plan::default() };
    check_interrupted(&target, Family::mog(3), &three, 101);
    check_killed(&target, Family::skew(), &three, 29);
    check_interrupted(&two_modes(), Family::auto(), &three, 101);
}

/// Raised after a round of chains: not one gradient more is asked for, whatever they were about to do, and the same
/// call leads to the bits of a fit that was left alone.
#[test]
fn chains_end_before_their_next_batch_and_begin_anew() {
    let heavy = Counting::new(heavy_tails(5.0, 10));
    let two = two_modes();
    let on_modes = GradientsOnly(&two);
    let (family, plan) = (Family::auto(), Plan::default());
    for target in [&heavy as &dyn Target, &on_modes] {
        let rounds = AtomicU64::new(0);
        let count = |_: &Round| _ = rounds.fetch_add(1, Ordering::Relaxed);
        let kept = Kept { watch: Some(&count), ..Kept::default() };
        let straight = fit_journaled(target, family, &plan, &mut go_on, kept).unwrap();
        let all = rounds.into_inner();
        // On each of two modes there is a round at least.
        assert!(all >= 2, "{all} rounds");
        let notes = Notes::default();
        for last in 1..=all.min(5) {
            let (rounds, asked) = (AtomicU64::new(0), AtomicU64::new(0));
            let watch = |_: &Round| {
                if rounds.fetch_add(1, Ordering::Relaxed) + 1 == last {
                    asked.store(heavy.asked().0, Ordering::Relaxed);
                }
            };
            let raised = || rounds.load(Ordering::Relaxed) >= last;
            let kept = Kept { journal: Some(&notes), interrupt: Some(&raised), watch: Some(&watch), ..Kept::default() };
            let ended = fit_journaled(target, family, &plan, &mut go_on, kept);
            assert!(matches!(ended, Err(Error::Interrupted)), "after {last} of {all} rounds");
            assert_eq!((rounds.into_inner(), heavy.asked().0), (last, asked.into_inner()));
        }
        let continued = fit_journaled(target, family, &plan, &mut go_on, &notes).unwrap();
        assert_eq!(everything(&continued), everything(&straight));
    }
}

#[test]
fn an_observer_can_interrupt() {
    let target = Banana::default();
    let (family, plan) = (Family::mog(3), Plan { restarts: 2, ..Plan::default() });
    let straight = fit(&target, family, &plan).unwrap();
    for last in [0, 3, 40] {
        let notes = Notes::default();
        let mut shown = Vec::new();
        let mut observe = |step: &Step| {
            shown.push(step.index);
            if step.index == last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let error = fit_journaled(&target, family, &plan, &mut observe, &notes).unwrap_err();
        assert!(matches!(error, Error::Interrupted), "{error}");
        let mut rest = Vec::new();
        let posterior = fit_journaled(
            &target,
            family,
            &plan,
            &mut |step| {
                rest.push(step.index);
                ControlFlow::Continue(())
            },
            &notes,
        );
        assert_eq!(everything(&posterior.unwrap()), everything(&straight));
        // No step of the restart that is shown is made twice.
        shown.extend(rest);
        assert!(shown.iter().enumerate().all(|(i, index)| *index == i as u64), "{shown:?}");
    }
}

#[test]
fn a_given_start_is_continued() {
    let target = logistic(60, 4);
    let from = subjects::standard(Family::skew(), 4);
    let plan = endless(80);
    let straight = elinvar::run::fit_from(&target, from.clone(), &plan, &mut go_on).unwrap();
    let notes = Notes::default();
    let (posterior, sessions) = to_the_end(|_| {
        notes.begin(10, 0);
        fit_from_journaled(&target, from.clone(), &plan, &mut go_on, ended_by(&notes))
    });
    assert!(sessions > 3);
    assert_eq!(everything(&posterior), everything(&straight));
}

/// One journal for plans with limits that come one after the other; the result is always that of a fresh fit.
#[test]
fn limits_can_be_changed() {
    let limits = [
        Stop { max_steps: 30, ..Stop::default() },
        Stop { max_steps: 45, ..Stop::default() },
        Stop { max_steps: 7, ..Stop::default() },
        Stop { max_evaluations: 4_000, ..Stop::default() },
        Stop { max_evaluations: 9_000, max_steps: 170, ..Stop::default() },
        Stop { max_steps: 1_000, ..Stop::default() },
        Stop { max_steps: 1_000, remaining_nats: 0.002, ..Stop::default() },
        Stop { max_steps: 160, ..Stop::default() },
    ];
    let families = [Family::skew(), Family::mog(3), Family::mog_auto(), Family::auto()];
    let target = Counting::new(BetaBinomial::cancer_mortality());
    for (family, restarts) in families.map(|family| (family, 1)).into_iter().chain([(Family::mog(2), 3)]) {
        let notes = Notes { period: 3, ..Notes::default() };
        for stop in limits {
            let plan = Plan { stop, restarts, ..Plan::default() };
            let fresh = fit(&target, family, &plan).unwrap();
            let continued = fit_journaled(&target, family, &plan, &mut go_on, &notes).unwrap();
            assert_eq!(everything(&continued), everything(&fresh), "{family} {stop:?}");
        }
    }
}

#[test]
fn a_longer_fit_does_not_begin_again() {
    let target = Counting::new(BetaBinomial::cancer_mortality());
    let spent = |family, plan: &Plan, notes: &Notes| {
        let before = target.asked().0;
        let posterior = fit_journaled(&target, family, plan, &mut go_on, notes).unwrap();
        (posterior, target.asked().0 - before)
    };
    // By whole steps one component would stand still before that.
    let (short, whole) = (Rule::EuclideanAdam(EuclideanAdam::default()), Plan::default().rule);
    for (family, rule) in [(Family::skew(), short), (Family::mog(3), whole), (Family::mog_auto(), whole)] {
        let notes = Notes { period: 1, ..Notes::default() };
        // Without large reviews, which follow the last step.
        let plan = |steps| Plan { max_draws: 16, rule, ..endless(steps) };
        let (first, cost) = spent(family, &plan(300), &notes);
        assert_eq!(first.stop_reason(), StopReason::MaxSteps, "{family}");
        let (second, more) = spent(family, &plan(310), &notes);
        assert_eq!(second.trace().len(), 310);
        assert!(2 * more < cost, "{family}: {more} after {cost}");
        // Nothing at all is left to be done but for what follows the last step.
        let (again, least) = spent(family, &plan(310), &notes);
        assert_eq!(everything(&again), everything(&second));
        assert!(least <= more, "{family}: {least} after {more}");
    }
}

#[test]
fn a_folder_keeps_a_fit() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Folder::new(folder.path().join("journal")).unwrap();
    let target = Banana::default();
    let (family, plan) = (Family::mog_auto(), Plan::default());
    let mut observe = |step: &Step| if step.index == 50 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    assert!(matches!(fit_journaled(&target, family, &plan, &mut observe, &journal), Err(Error::Interrupted)));
    let files = || {
        let entries = std::fs::read_dir(journal.path()).unwrap();
        let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths
    };
    let file = files().pop().unwrap();
    assert_eq!(file.file_name().unwrap(), "restart-0-part-1.json");
    // What a crash within a write leaves behind is not read.
    let left_over = file.with_file_name(".restart-0-part-1.json.0123456789abcdef.part");
    std::fs::write(&left_over, "{\"format\": \"elin").unwrap();
    let whole = std::fs::read_to_string(&file).unwrap();
    let straight = everything(&fit(&target, family, &plan).unwrap());
    assert_eq!(everything(&fit_journaled(&target, family, &plan, &mut go_on, &journal).unwrap()), straight);

    let sentence = |text: &str| {
        std::fs::write(&file, text).unwrap();
        let error = fit_journaled(&target, family, &plan, &mut go_on, &journal).unwrap_err().to_string();
        error.strip_prefix(&format!("{}: ", file.display())).unwrap().to_owned()
    };
    let advice = "remove it: what it holds is then computed again";
    assert_eq!(
        sentence(&whole[..whole.len() / 2]),
        format!("the file ends too early (line 1); it was cut off while being copied or written; {advice}")
    );
    let version = env!("CARGO_PKG_VERSION");
    let other = whole.replacen(&format!("\"elinvar\":\"{version}\""), "\"elinvar\":\"0.0.1\"", 1);
    assert_eq!(
        sentence(&crate::files::sealed(serde_json::from_str(&other).unwrap())),
        format!("it was written by elinvar 0.0.1 and means nothing to elinvar {version}; {advice}")
    );
    let renamed = whole.replacen("\"n_fits\":", "\"n_fit\":", 1);
    let damaged = sentence(&renamed);
    assert_eq!(
        damaged,
        format!("the file is damaged: its checksum does not fit; something has changed it since; {advice}")
    );
    let damaged = sentence(&crate::files::sealed(serde_json::from_str(&renamed).unwrap()));
    assert!(
        damaged.starts_with("the file is damaged: missing field `n_fits`") && damaged.ends_with(advice),
        "{damaged}"
    );
    // An entry about something else is not taken for one's own.
    std::fs::write(&file, &whole).unwrap();
    let other = journal.clone().about("another prior");
    let error = fit_journaled(&target, family, &plan, &mut go_on, &other).unwrap_err().to_string();
    assert!(error.contains("another model, other data or another prior"), "{error}");
    // Clearing removes what is its own, and no more.
    std::fs::write(journal.path().join("notes.json"), "precious").unwrap();
    journal.clear().unwrap();
    assert_eq!(files(), [journal.path().join("notes.json")]);
    assert_eq!(everything(&fit_journaled(&target, family, &plan, &mut go_on, &journal).unwrap()), straight);
}
