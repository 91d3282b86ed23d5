//! How families are written in files: `mog` has a number of components or the word `auto`, a mixture of exponential
//! families names its component by a word or, with a constant, by a table, and a family that is named after its law has
//! the constants of the law.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Kind, Layout, MatrixUpdate};
use crate::Error;
use crate::component::ComponentKind;
use crate::law::{Law, Own};

/// [`Kind`] as files have it.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", expecting = "there is no family of such a name with such constants")]
pub(super) enum WrittenKind {
    Gaussian,
    ScaleMixture {
        law: Law,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        product: bool,
    },
    Own {
        law: String,
    },
    OwnFamily {
        family: String,
    },
    RankK {
        rank: usize,
    },
    SkewK {
        directions: usize,
    },
    EmgK {
        directions: usize,
    },
    Mog {
        components: Components,
    },
    EfMixture {
        component: Component,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        other: Option<Component>,
        #[serde(default = "one")]
        components: usize,
    },
    BirnbaumSaunders {
        #[serde(default = "one")]
        components: usize,
    },
    Dirichlet {
        #[serde(default = "one")]
        components: usize,
    },
    Matrix {
        layout: Layout,
        #[serde(default)]
        update: MatrixUpdate,
    },
    Auto,
    /// The name of a law, with its constants if it has any.
    #[serde(untagged)]
    Mixed(BTreeMap<String, Option<Constants>>),
}

#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Constants {
    #[serde(flatten)]
    values: BTreeMap<String, f64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    learn: bool,
}

/// The law of a family that is named after it.
fn read_law(written: &BTreeMap<String, Option<Constants>>) -> Result<Law, Error> {
    let (Some((name, constants)), 1) = (written.iter().next(), written.len()) else {
        return Err(Error::Unsupported {
            wanted: "several families at once".into(),
            instead: "a file has the name of one, with its constants".into(),
        });
    };
    let learn = constants.as_ref().is_some_and(|constants| constants.learn);
    let values = constants.iter().flat_map(|constants| &constants.values);
    let given: Vec<(&str, f64)> = values.map(|(name, value)| (name.as_str(), *value)).collect();
    let law = Law::of_family(name, &given)?.with_learning(learn);
    if law.constants().count() == given.len() && law.is_learned() == learn {
        return Ok(law);
    }
    Err(Error::Unsupported {
        wanted: format!("the family `{name}` with these constants"),
        instead: format!("a file has all of them, as in `{law}`, and which of them the fit has learned"),
    })
}

fn write_law(law: Law) -> BTreeMap<String, Option<Constants>> {
    let values: BTreeMap<String, f64> = law.constants().map(|(name, value)| (name.into(), value)).collect();
    let constants = (!values.is_empty()).then_some(Constants { values, learn: law.is_learned() });
    BTreeMap::from([(law.name().into(), constants)])
}

fn one() -> usize {
    1
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Component {
    Word(String),
    WithConstant { name: String, constant: Option<f64> },
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Components {
    Number(usize),
    Word(Auto),
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Auto {
    Auto,
}

impl Component {
    fn read(self) -> Result<ComponentKind, Error> {
        match self {
            Self::Word(name) => ComponentKind::new(&name, None),
            Self::WithConstant { name, constant } => ComponentKind::new(&name, constant),
        }
    }

    fn write(kind: ComponentKind) -> Self {
        let word = kind.name();
        if ComponentKind::new(word, None).is_ok_and(|usual| usual == kind) {
            return Self::Word(word.into());
        }
        Self::WithConstant { name: word.into(), constant: kind.constant() }
    }
}

impl TryFrom<WrittenKind> for Kind {
    type Error = Error;

    fn try_from(written: WrittenKind) -> Result<Self, Error> {
        Ok(match written {
            WrittenKind::Auto => Kind::Auto,
            WrittenKind::Gaussian => Kind::Gaussian,
            WrittenKind::Mixed(written) => Kind::Mixed { law: read_law(&written)? },
            WrittenKind::ScaleMixture { law, product } => Kind::ScaleMixture { law, product },
            WrittenKind::Own { law } => Own::named(&law)?.into(),
            WrittenKind::OwnFamily { family } => Kind::OwnFamily { family: super::Own::named(&family)? },
            WrittenKind::RankK { rank } => Kind::RankK { rank },
            WrittenKind::SkewK { directions } => Kind::SkewK { directions },
            WrittenKind::EmgK { directions } => Kind::EmgK { directions },
            WrittenKind::Matrix { layout, update } => Kind::Matrix { layout, update },
            WrittenKind::Mog { components: Components::Number(components) } => Kind::Mog { components },
            WrittenKind::Mog { components: Components::Word(Auto::Auto) } => Kind::MogAuto,
            WrittenKind::EfMixture { component, other, components } => {
                let other = other.map(Component::read).transpose()?;
                Kind::EfMixture { component: component.read()?, other, components }
            }
            WrittenKind::Dirichlet { components } => Kind::Dirichlet { components },
            WrittenKind::BirnbaumSaunders { components } => {
                let component = ComponentKind::new("birnbaum_saunders", None)?;
                Kind::EfMixture { component, other: None, components }
            }
        })
    }
}

impl From<Kind> for WrittenKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Auto => WrittenKind::Auto,
            Kind::Gaussian => WrittenKind::Gaussian,
            Kind::Mixed { law: Law::Own(law) } => WrittenKind::Own { law: law.name().into() },
            Kind::Mixed { law } => WrittenKind::Mixed(write_law(law)),
            Kind::ScaleMixture { law, product } => WrittenKind::ScaleMixture { law, product },
            Kind::OwnFamily { family } => WrittenKind::OwnFamily { family: family.name().into() },
            Kind::RankK { rank } => WrittenKind::RankK { rank },
            Kind::SkewK { directions } => WrittenKind::SkewK { directions },
            Kind::EmgK { directions } => WrittenKind::EmgK { directions },
            Kind::Matrix { layout, update } => WrittenKind::Matrix { layout, update },
            Kind::Mog { components } => WrittenKind::Mog { components: Components::Number(components) },
            Kind::EfMixture { component, other, components } => match (Component::write(component), other) {
                (Component::Word(word), None) if word == "birnbaum_saunders" => {
                    WrittenKind::BirnbaumSaunders { components }
                }
                (component, other) => {
                    WrittenKind::EfMixture { component, other: other.map(Component::write), components }
                }
            },
            Kind::Dirichlet { components } => WrittenKind::Dirichlet { components },
            Kind::MogAuto => WrittenKind::Mog { components: Components::Word(Auto::Auto) },
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Family;
    use crate::component::ComponentKind;
    use crate::law::{Logistic, VarianceGamma};

    fn component(name: &str) -> ComponentKind {
        ComponentKind::new(name, None).unwrap()
    }

    #[test]
    fn the_number_of_components_is_a_number_or_auto() {
        for (family, text) in [
            (Family::mog(3), r#"{"mog":{"components":3},"covariance":"full"}"#),
            (Family::mog_auto(), r#"{"mog":{"components":"auto"},"covariance":"full"}"#),
            (Family::gaussian(), r#"{"gaussian":null,"covariance":"full"}"#),
            (
                Family::scale_mixture(VarianceGamma::new(2.5).unwrap()),
                r#"{"scale_mixture":{"law":{"name":"variance_gamma","k":2.5}},"covariance":"full"}"#,
            ),
            (
                Family::scale_mixture(Logistic).product(),
                r#"{"scale_mixture":{"law":{"name":"logistic"},"product":true},"covariance":"diagonal"}"#,
            ),
            (Family::skew_k(2), r#"{"skew_k":{"directions":2},"covariance":"full"}"#),
            (Family::emg_k(3).diagonal(), r#"{"emg_k":{"directions":3},"covariance":"diagonal"}"#),
            (
                Family::ef_mixture_of_two(component("gamma"), component("log_normal"), 4),
                r#"{"ef_mixture":{"component":"gamma","other":"log_normal","components":4},"covariance":"diagonal"}"#,
            ),
            (Family::dirichlet(2), r#"{"dirichlet":{"components":2},"covariance":"diagonal"}"#),
            (Family::skew().diagonal(), r#"{"skew":null,"covariance":"diagonal"}"#),
            (Family::emg(), r#"{"emg":null,"covariance":"full"}"#),
            (Family::student_t(3.0), r#"{"student_t":{"a":3.0},"covariance":"full"}"#),
            (Family::student_t_learned(), r#"{"student_t":{"a":2.5,"learn":true},"covariance":"full"}"#),
            (Family::nig(3.0), r#"{"nig":{"lambda":3.0},"covariance":"full"}"#),
            (Family::nig_learned(), r#"{"nig":{"lambda":2.0,"learn":true},"covariance":"full"}"#),
            (Family::snig_learned().diagonal(), r#"{"snig":{"lambda":2.0,"learn":true},"covariance":"diagonal"}"#),
        ] {
            assert_eq!(serde_json::to_string(&family).unwrap(), text);
            assert_eq!(serde_json::from_str::<Family>(text).unwrap(), family);
        }
        for text in [
            r#"{"mog":{"components":"many"},"covariance":"full"}"#,
            r#"{"cauchy":null,"covariance":"full"}"#,
            r#"{"logistic":null,"covariance":"full"}"#,
            r#"{"skew":{"learn":true},"covariance":"full"}"#,
            r#"{"skew":{"a":2.0},"covariance":"full"}"#,
            r#"{"nig":null,"covariance":"full"}"#,
            r#"{"nig":{"learn":true},"covariance":"full"}"#,
            r#"{"student_t":{"a":0.5},"covariance":"full"}"#,
            r#"{"skew":null,"emg":null,"covariance":"full"}"#,
        ] {
            let sentence = serde_json::from_str::<Family>(text).unwrap_err().to_string();
            assert!(sentence.contains("family") || sentence.contains("constant") || sentence.contains("a = 0.5"));
        }
    }
}
