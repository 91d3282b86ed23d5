//! Modes that no search has met: seen before an answer is trusted, told with place and mass, and covered by `auto`.

use elinvar::chains::{Correction, Doubt};
use elinvar::model::GaussianMixture;
use elinvar::posterior::Verdict;
use elinvar::prelude::log_density;
use elinvar::target::{About, Answer, Ask, Offers, Target, TargetError};
use elinvar::{Family, Plan};

const PLACE: [f64; 2] = [9.0, -6.0];
const SD: f64 = 0.1;
const SHARE: f64 = 0.35;

/// Two modes, the second a tenth as wide as the first and eleven standard deviations away; gradients only.
struct Narrow(GaussianMixture);

impl Narrow {
    fn new() -> Self {
        Self::at(PLACE, SD)
    }

    fn at(place: [f64; 2], sd: f64) -> Self {
        let covariances = [1.0, 0.0, 0.0, 1.0, sd * sd, 0.0, 0.0, sd * sd];
        let means = vec![0.0, 0.0, place[0], place[1]];
        Self(GaussianMixture::new(&[1.0 - SHARE, SHARE], means, &covariances).unwrap())
    }
}

impl Target for Narrow {
    fn about(&self) -> About {
        About { offers: Offers::GRADIENT, ..self.0.about() }
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        self.0.evaluate(ask, answer)
    }
}

#[test]
fn chains_that_met_one_mode_tell_of_the_other() {
    let target = Narrow::new();
    let mut posterior = elinvar::run::fit(&target, Family::gaussian(), &Plan::default()).unwrap();
    let corrected = posterior.correct(&target, &Correction::default()).unwrap();
    let [Doubt::OtherMode { share, place, .. }] = &corrected.doubts[..] else { panic!("{:?}", corrected.doubts) };
    assert!((share - SHARE).abs() < 0.05, "{share}");
    assert_eq!(place, "(9.0000, -6.0000)");
    assert_eq!(posterior.verdict(), Some(Verdict::DoNotTrust));
    assert_eq!(posterior.agreement().modes.len(), 2);
}

#[test]
fn weights_that_met_one_mode_tell_of_the_other() {
    // So narrow that no wide draw of the verdict is in it.
    let target = Narrow::at([11.0, -8.0], 0.05);
    let mut posterior = elinvar::run::fit(&target, Family::gaussian(), &Plan::default()).unwrap();
    let judgement = posterior.judge(&target, 4_096, 1).unwrap();
    assert_eq!(judgement.verdict, Verdict::DoNotTrust);
    assert!(
        judgement.reason.starts_with("The approximation leaves out a mode with about 35 %"),
        "{}",
        judgement.reason
    );
}

/// What chains did not meet becomes a component, and the answer is right.
#[test]
fn auto_covers_a_mode_that_no_search_met() {
    let target = Narrow::new();
    let posterior = elinvar::run::fit(&target, Family::auto(), &Plan::default()).unwrap();
    assert_eq!(posterior.verdict(), Some(Verdict::Trust), "{:?}", posterior.judgement());
    let answer = posterior.summary(10_000, 1);
    for (number, place) in answer.parameters.iter().zip(PLACE) {
        let sd = (1.0 - SHARE + SHARE * SD * SD + SHARE * (1.0 - SHARE) * place * place).sqrt();
        assert!((number.mean.value - SHARE * place).abs() < 0.05 * sd, "{number:?}");
        assert!((number.sd.value / sd).ln().abs() < 0.05, "{number:?}");
    }
    let mut parts = posterior.corrected().map(|corrected| corrected.counts).unwrap_or_default();
    posterior.rungs().iter().for_each(|rung| parts += rung.counts);
    assert_eq!(parts, posterior.counts(), "every evaluation is counted once");
    let families: Vec<&str> = posterior.rungs().iter().map(|rung| rung.family.name()).collect();
    assert_eq!((families.len(), posterior.rungs()[1].kept), (2, true), "{families:?}");
}

/// What was looked at is said, and what was not.
#[test]
fn trust_says_where_nobody_looked() {
    let target = GaussianMixture::new(&[1.0], vec![0.0; 2], &[1.0, 0.0, 0.0, 1.0]).unwrap();
    let posterior = elinvar::run::fit(&target, Family::auto(), &Plan::default()).unwrap();
    let judgement = posterior.judgement().unwrap();
    assert_eq!(judgement.verdict, Verdict::Trust);
    let said = "no other mode was seen from 1,536 places up to 20 sds away, but one that is narrower than 0.07 of its";
    assert!(judgement.reason.contains(said), "{}", judgement.reason);
    assert_eq!(posterior.scan().map(|scan| scan.places), Some(1_536));
}

/// A log-concave density has no other mode, and nobody looks for one.
#[test]
fn where_there_is_one_mode_nobody_looks_for_another() {
    let normal = |z: &[f64], gradient: &mut [f64]| {
        gradient.iter_mut().zip(z).for_each(|(g, z)| *g = -z);
        -0.5 * z.iter().map(|z| z * z).sum::<f64>()
    };
    let fit = |target: &dyn Target| elinvar::run::fit(target, Family::auto(), &Plan::default()).unwrap();
    let concave = fit(&log_density(5, normal).log_concave());
    let judgement = concave.judgement().unwrap();
    assert_eq!(judgement.verdict, Verdict::Trust);
    assert!(judgement.reason.contains("its log density is concave, so that there is no other mode"), "{judgement:?}");
    let unknown = fit(&log_density(5, normal));
    assert_eq!(concave.scan().map(|scan| scan.places), Some(0));
    assert_eq!(unknown.scan().map(|scan| scan.places), Some(1_024));
    assert!(concave.counts().log_density + 1_024 <= unknown.counts().log_density);
}
