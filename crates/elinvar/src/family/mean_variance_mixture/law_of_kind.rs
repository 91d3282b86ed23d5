//! Which mixing law the data form of a family stands for.

use crate::Error;
use crate::family::Kind;
use crate::law::{
    Exponential, HalfNormal, InverseGamma, InverseGaussian, MixingLaw, PointMass, ReciprocalInverseGaussian, ScaleLaw,
};

/// How the data form of a family becomes a law.
pub(crate) trait LawOfKind: MixingLaw {
    /// The law of a kind, `None` if the kind is another family.
    fn from_kind(kind: Kind) -> Option<Result<Self, Error>>;
    /// The kind of this law.
    fn kind(&self) -> Kind;
}

macro_rules! law_of_kind {
    ($law:ty, $pattern:pat => $make:expr, $self_:ident => $kind:expr) => {
        impl LawOfKind for $law {
            fn from_kind(kind: Kind) -> Option<Result<Self, Error>> {
                match kind {
                    $pattern => Some($make),
                    _ => None,
                }
            }

            fn kind(&self) -> Kind {
                let $self_ = self;
                $kind
            }
        }
    };
}

law_of_kind!(PointMass, Kind::Gaussian => Ok(PointMass), _law => Kind::Gaussian);
law_of_kind!(
    InverseGamma,
    Kind::StudentT { a, learn } => if learn { InverseGamma::learned(a) } else { InverseGamma::new(a) },
    law => Kind::StudentT { a: law.shape(), learn: law.is_learned() }
);
law_of_kind!(HalfNormal, Kind::Skew => Ok(HalfNormal), _law => Kind::Skew);
law_of_kind!(Exponential, Kind::Emg => Ok(Exponential), _law => Kind::Emg);
law_of_kind!(InverseGaussian, Kind::Nig { lambda } => InverseGaussian::new(lambda), law => Kind::Nig { lambda: law.lambda() });
law_of_kind!(
    ReciprocalInverseGaussian,
    Kind::Snig { lambda } => ReciprocalInverseGaussian::new(lambda),
    law => Kind::Snig { lambda: law.lambda() }
);
law_of_kind!(
    ScaleLaw,
    Kind::ScaleMixture { law, product: false } => Ok(law),
    law => Kind::ScaleMixture { law: *law, product: false }
);
