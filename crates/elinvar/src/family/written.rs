//! How a kind of family is written in files: `mog` has a number of components or the word `auto`.

use serde::{Deserialize, Serialize};

use super::Kind;

/// [`Kind`] as files have it.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum WrittenKind {
    Gaussian,
    StudentT { a: f64 },
    Skew,
    Emg,
    Nig { lambda: f64 },
    Snig { lambda: f64 },
    RankK { rank: usize },
    Mog { components: Components },
    Auto,
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

impl From<WrittenKind> for Kind {
    fn from(written: WrittenKind) -> Self {
        match written {
            WrittenKind::Auto => Kind::Auto,
            WrittenKind::Gaussian => Kind::Gaussian,
            WrittenKind::StudentT { a } => Kind::StudentT { a },
            WrittenKind::Skew => Kind::Skew,
            WrittenKind::Emg => Kind::Emg,
            WrittenKind::Nig { lambda } => Kind::Nig { lambda },
            WrittenKind::Snig { lambda } => Kind::Snig { lambda },
            WrittenKind::RankK { rank } => Kind::RankK { rank },
            WrittenKind::Mog { components: Components::Number(components) } => Kind::Mog { components },
            WrittenKind::Mog { components: Components::Word(Auto::Auto) } => Kind::MogAuto,
        }
    }
}

impl From<Kind> for WrittenKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Auto => WrittenKind::Auto,
            Kind::Gaussian => WrittenKind::Gaussian,
            Kind::StudentT { a } => WrittenKind::StudentT { a },
            Kind::Skew => WrittenKind::Skew,
            Kind::Emg => WrittenKind::Emg,
            Kind::Nig { lambda } => WrittenKind::Nig { lambda },
            Kind::Snig { lambda } => WrittenKind::Snig { lambda },
            Kind::RankK { rank } => WrittenKind::RankK { rank },
            Kind::Mog { components } => WrittenKind::Mog { components: Components::Number(components) },
            Kind::MogAuto => WrittenKind::Mog { components: Components::Word(Auto::Auto) },
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Family;

    #[test]
    fn the_number_of_components_is_a_number_or_auto() {
        for (family, text) in [
            (Family::mog(3), r#"{"mog":{"components":3},"covariance":"full"}"#),
            (Family::mog_auto(), r#"{"mog":{"components":"auto"},"covariance":"full"}"#),
            (Family::gaussian(), r#"{"gaussian":null,"covariance":"full"}"#),
        ] {
            assert_eq!(serde_json::to_string(&family).unwrap(), text);
            assert_eq!(serde_json::from_str::<Family>(text).unwrap(), family);
        }
        assert!(serde_json::from_str::<Family>(r#"{"mog":{"components":"many"},"covariance":"full"}"#).is_err());
    }
}
