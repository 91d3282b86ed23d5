//! The family that was asked for, and its name in words.

use elinvar::Family;
use elinvar::family::Kind;
use elinvar::target::Covariance;

use crate::args::{AUTO, Components, CovarianceName, FitArgs};
use crate::error::Failure;
use crate::number::significant;

/// Half the degrees of freedom of a Student-t unless it is given.
const SHAPE: f64 = 4.0;
/// λ of nig and snig unless it is given: with w ~ InverseGaussian(1, 2) the excess kurtosis of nig, 3/λ, is that of a
/// Student-t with 8 degrees of freedom.
const LAMBDA: f64 = 2.0;
const COMPONENTS: usize = 3;
const RANK: usize = 1;

/// The family, with the constants that were given and no constant that belongs to another.
pub(crate) fn family(args: &FitArgs) -> Result<Family, Failure> {
    let name = args.family;
    let given = [
        ("--components", args.components.is_some(), &["mog"][..]),
        ("--rank", args.rank.is_some(), &["rank_k"]),
        ("--shape", args.shape.is_some(), &["student_t"]),
        ("--lambda", args.lambda.is_some(), &["nig", "snig"]),
    ];
    if let Some((flag, _, owners)) = given.iter().find(|(_, is_given, owners)| *is_given && !owners.contains(&name)) {
        return Err(Failure::input(format!(
            "{flag} belongs to --family {} and means nothing for {name}; change the family or leave it out",
            owners.join(" or ")
        )));
    }
    let lambda = args.lambda.unwrap_or(LAMBDA);
    let family = match name {
        AUTO => Family::auto(),
        "mog" => match args.components.unwrap_or(Components::Number(COMPONENTS)) {
            Components::Auto => Family::mog_auto(),
            Components::Number(components) => Family::mog(components),
        },
        "student_t" => Family::student_t(args.shape.unwrap_or(SHAPE)),
        "skew" => Family::skew(),
        "emg" => Family::emg(),
        "nig" => Family::nig(lambda),
        "snig" => Family::snig(lambda),
        "scale_mixture" => Family::scale_mixture(elinvar::law::Logistic),
        "rank_k" => Family::rank_k(args.rank.unwrap_or(RANK)),
        _ => Family::gaussian(),
    };
    Ok(match args.covariance {
        None => family,
        Some(CovarianceName::Full) => family.with_covariance(Covariance::Full),
        Some(CovarianceName::Diagonal) => family.with_covariance(Covariance::Diagonal),
    })
}

/// The family in words, as in "approximated by …".
pub(crate) fn family_in_words(family: &Family) -> String {
    let (kind, covariance) = (&family.kind, family.covariance);
    let words = match kind {
        Kind::Gaussian => "Gaussian".into(),
        Kind::StudentT { a, .. } => format!("Student-t with {} degrees of freedom", significant(2.0 * a)),
        Kind::Skew => "skew-Gaussian".into(),
        Kind::Emg => "exponentially modified Gaussian".into(),
        Kind::Nig { lambda } => format!("normal inverse-Gaussian (λ = {})", significant(*lambda)),
        Kind::Snig { lambda } => format!("symmetric normal inverse-Gaussian (λ = {})", significant(*lambda)),
        Kind::RankK { rank } => format!("Gaussian with {rank} covariance factor{}", if *rank == 1 { "" } else { "s" }),
        Kind::ScaleMixture { law, product: false } => format!("scale mixture of Gaussians ({law})"),
        Kind::ScaleMixture { law, product: true } => format!("product of scale mixtures ({law})"),
        Kind::Mog { components: 1 } => "mixture of one Gaussian".into(),
        Kind::Mog { components } => format!("mixture of {components} Gaussians"),
        _ => family.name().into(),
    };
    match covariance {
        Covariance::Full => format!("full {words}"),
        Covariance::Diagonal => format!("diagonal {words}"),
    }
}
