//! What must hold for every rule: the same bits again and in pieces, no state outside its domain, and the optimum.

mod conformance;
mod exact;
mod optimum;
mod squared_gradients;

use elinvar::family::{Family, Kind};
use elinvar::rule::{AdamLike, BiasCorrection, EuclideanAdam, OnLeaving, Printed, Root, Rule};
use elinvar::target::Covariance;

const MOMENTUM: Rule = Rule::NaturalMomentum { gamma: 0.6 };

fn adam_like(root: Root, bias_correction: BiasCorrection) -> Rule {
    Rule::AdamLike(AdamLike { root, bias_correction, ..AdamLike::default() })
}

/// Every rule, the Adam-like one with every root and every correction.
fn rules() -> Vec<Rule> {
    let mut rules =
        vec![Rule::NaturalGradient, Rule::Retraction, MOMENTUM, Rule::EuclideanAdam(EuclideanAdam::default())];
    for root in [Root::PaperRoot, Root::VadamRoot, Root::Newton] {
        use BiasCorrection as B;
        rules.extend([B::Both, B::DataOnly, B::MomentumOnly, B::None].map(|bias| adam_like(root, bias)));
    }
    let halving = Printed { on_leaving: OnLeaving::Halve, ..Printed::default() };
    rules.extend([Rule::GradientDescent, Rule::Printed(halving)]);
    rules
}

/// Whether the family has a step by this rule.
fn takes(family: Family, rule: Rule) -> bool {
    let product = matches!(family.kind, Kind::ScaleMixture { product: true, .. });
    !matches!(rule, Rule::AdamLike(_)) || (family.covariance == Covariance::Diagonal && !product)
}
