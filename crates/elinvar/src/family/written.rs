//! How a kind of family is written in files: `mog` has a number of components or the word `auto`, a mixture of exponential
//! families names its component by a word or, with a constant, by a table.

use serde::{Deserialize, Serialize};

use super::Kind;
use super::layout::{Layout, MatrixUpdate};
use crate::Error;
use crate::component::ComponentKind;
use crate::law::ScaleLaw;

/// [`Kind`] as files have it.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum WrittenKind {
    Gaussian,
    StudentT {
        a: f64,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        learn: bool,
    },
    Skew,
    Emg,
    Nig {
        lambda: f64,
    },
    Snig {
        lambda: f64,
    },
    ScaleMixture {
        law: ScaleLaw,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        product: bool,
    },
    RankK {
        rank: usize,
    },
    Mog {
        components: Components,
    },
    EfMixture {
        component: Component,
        #[serde(default = "one")]
        components: usize,
    },
    BirnbaumSaunders {
        #[serde(default = "one")]
        components: usize,
    },
    Matrix {
        layout: Layout,
        #[serde(default)]
        update: MatrixUpdate,
    },
    Auto,
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

impl TryFrom<WrittenKind> for Kind {
    type Error = Error;

    fn try_from(written: WrittenKind) -> Result<Self, Error> {
        Ok(match written {
            WrittenKind::Auto => Kind::Auto,
            WrittenKind::Gaussian => Kind::Gaussian,
            WrittenKind::StudentT { a, learn } => Kind::StudentT { a, learn },
            WrittenKind::Skew => Kind::Skew,
            WrittenKind::Emg => Kind::Emg,
            WrittenKind::Nig { lambda } => Kind::Nig { lambda },
            WrittenKind::Snig { lambda } => Kind::Snig { lambda },
            WrittenKind::ScaleMixture { law, product } => Kind::ScaleMixture { law, product },
            WrittenKind::RankK { rank } => Kind::RankK { rank },
            WrittenKind::Matrix { layout, update } => Kind::Matrix { layout, update },
            WrittenKind::Mog { components: Components::Number(components) } => Kind::Mog { components },
            WrittenKind::Mog { components: Components::Word(Auto::Auto) } => Kind::MogAuto,
            WrittenKind::EfMixture { component, components } => {
                let (name, constant) = match component {
                    Component::Word(name) => (name, None),
                    Component::WithConstant { name, constant } => (name, constant),
                };
                Kind::EfMixture { component: ComponentKind::new(&name, constant)?, components }
            }
            WrittenKind::BirnbaumSaunders { components } => {
                Kind::EfMixture { component: ComponentKind::new("birnbaum_saunders", None)?, components }
            }
        })
    }
}

impl From<Kind> for WrittenKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Auto => WrittenKind::Auto,
            Kind::Gaussian => WrittenKind::Gaussian,
            Kind::StudentT { a, learn } => WrittenKind::StudentT { a, learn },
            Kind::Skew => WrittenKind::Skew,
            Kind::Emg => WrittenKind::Emg,
            Kind::Nig { lambda } => WrittenKind::Nig { lambda },
            Kind::Snig { lambda } => WrittenKind::Snig { lambda },
            Kind::ScaleMixture { law, product } => WrittenKind::ScaleMixture { law, product },
            Kind::RankK { rank } => WrittenKind::RankK { rank },
            Kind::Matrix { layout, update } => WrittenKind::Matrix { layout, update },
            Kind::Mog { components } => WrittenKind::Mog { components: Components::Number(components) },
            Kind::EfMixture { component, components } => {
                let word = component.name();
                let is_usual = ComponentKind::new(word, None).is_ok_and(|usual| usual == component);
                match (word, is_usual) {
                    ("birnbaum_saunders", true) => WrittenKind::BirnbaumSaunders { components },
                    (_, true) => WrittenKind::EfMixture { component: Component::Word(word.into()), components },
                    (_, false) => {
                        let constant = component.constant();
                        let component = Component::WithConstant { name: word.into(), constant };
                        WrittenKind::EfMixture { component, components }
                    }
                }
            }
            Kind::MogAuto => WrittenKind::Mog { components: Components::Word(Auto::Auto) },
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Family;
    use crate::law::{Logistic, VarianceGamma};

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
            (Family::student_t(3.0), r#"{"student_t":{"a":3.0},"covariance":"full"}"#),
            (Family::student_t_learned(), r#"{"student_t":{"a":2.5,"learn":true},"covariance":"full"}"#),
        ] {
            assert_eq!(serde_json::to_string(&family).unwrap(), text);
            assert_eq!(serde_json::from_str::<Family>(text).unwrap(), family);
        }
        assert!(serde_json::from_str::<Family>(r#"{"mog":{"components":"many"},"covariance":"full"}"#).is_err());
    }
}
