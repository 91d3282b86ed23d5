//! The family that was asked for, and its name in words.

use elinvar::Family;
use elinvar::component::ComponentKind;
use elinvar::family::Kind;
use elinvar::law::ScaleLaw;
use elinvar::target::{Covariance, Support};

use crate::error::Failure;
use crate::number::significant;
use crate::settings::{Components, Dims, FamilySettings, ModelName, Shape};

/// The word for the ladder of families.
pub const AUTO: &str = "auto";

/// Half the degrees of freedom of a Student-t unless it is given.
const SHAPE: f64 = 4.0;
/// λ of nig and snig unless it is given: with w ~ InverseGaussian(1, 2) the excess kurtosis of nig, 3/λ, is that of a
/// Student-t with 8 degrees of freedom.
const LAMBDA: f64 = 2.0;
const COMPONENTS: usize = 3;
const RANK: usize = 1;
const LAW: &str = "logistic";

/// The family, with the constants that were given and no constant that belongs to another; `layers` is how a network is cut.
pub fn family(args: &FamilySettings, model: ModelName, layers: Option<&Dims>) -> Result<Family, Failure> {
    let name = default_for(model, args.name);
    check_owners(args, name)?;
    let lambda = args.lambda.unwrap_or(LAMBDA);
    let library = |e: elinvar::Error| Failure::input(e.to_string());
    let family = match name {
        AUTO => Family::auto(),
        "mog" => match args.components.unwrap_or(Components::Number(COMPONENTS)) {
            Components::Auto => Family::mog_auto(),
            Components::Number(components) => Family::mog(components),
        },
        "student_t" => match args.shape.unwrap_or(Shape::Number(SHAPE)) {
            Shape::Learn => Family::student_t_learned(),
            Shape::Number(a) => Family::student_t(a),
        },
        "skew" => Family::skew(),
        "emg" => Family::emg(),
        "nig" => Family::nig(lambda),
        "snig" => Family::snig(lambda),
        "rank_k" => Family::rank_k(args.rank.unwrap_or(RANK)),
        "matrix" => {
            let Some(dims) = args.dims.as_ref().or(layers) else {
                return Err(Failure::input(
                    "--family matrix needs the shape of the parameters, such as --dims 3x4; their product is the number of parameters",
                ));
            };
            Family::layers(&dims.0).map_err(library)?
        }
        "scale_mixture" => {
            let given: Vec<(&str, f64)> = args.constant.iter().map(|(name, value)| (name.as_str(), *value)).collect();
            let mixture = Family::scale_mixture(ScaleLaw::new(args.law.unwrap_or(LAW), &given).map_err(library)?);
            if args.product == Some(true) { mixture.product() } else { mixture }
        }
        "ef_mixture" | "birnbaum_saunders" => ef_mixture(args, name, model)?,
        _ => Family::gaussian(),
    };
    Ok(match args.covariance {
        // A full precision of all weights of a network is rarely wanted and never small.
        None if model == ModelName::Network && name != "matrix" => family.with_covariance(Covariance::Diagonal),
        None => family,
        Some(covariance) => family.with_covariance(covariance),
    })
}

/// Where the parameters of a model live.
pub fn support(model: ModelName) -> Support {
    match model {
        ModelName::Rate => Support::Positive,
        ModelName::Proportion => Support::Unit,
        ModelName::Direction => Support::Circle,
        _ => Support::Real,
    }
}

/// `auto` is a ladder of families on the real line; elsewhere it is a mixture of the usual components. A network starts from
/// weights of its own, which a ladder would not keep.
fn default_for(model: ModelName, asked: Option<&'static str>) -> &'static str {
    match asked.unwrap_or(AUTO) {
        AUTO if model == ModelName::Network => "gaussian",
        AUTO if support(model) != Support::Real => "ef_mixture",
        name => name,
    }
}

fn ef_mixture(args: &FamilySettings, name: &'static str, model: ModelName) -> Result<Family, Failure> {
    let component = if name == "birnbaum_saunders" {
        name
    } else {
        args.component.unwrap_or(match support(model) {
            Support::Positive => "gamma",
            Support::Unit => "beta",
            Support::Circle => "von_mises",
            _ => "normal",
        })
    };
    let components = match args.components.unwrap_or(Components::Number(1)) {
        Components::Number(components) => components,
        Components::Auto => {
            return Err(Failure::input(format!("--components auto belongs to --family mog; give a number for {name}")));
        }
    };
    let mut given = args.constant.iter();
    let value = match (given.next(), given.next()) {
        (None, _) => None,
        (Some((_, value)), None) => Some(*value),
        _ => return Err(Failure::input(format!("the component {component} has at most one constant"))),
    };
    let kind = ComponentKind::new(component, value).map_err(|e| Failure::input(e.to_string()))?;
    if let (Some((given, _)), Some(known)) = (args.constant.iter().next(), kind.constant_name())
        && given != known
    {
        return Err(Failure::input(format!(
            "--constant {given}: the constant of the component {component} is called {known}"
        )));
    }
    Ok(Family::ef_mixture(kind, components))
}

/// Refuses a flag that belongs to another family.
fn check_owners(args: &FamilySettings, name: &str) -> Result<(), Failure> {
    let given = [
        ("--components", args.components.is_some(), &["mog", "ef_mixture", "birnbaum_saunders"][..]),
        ("--rank", args.rank.is_some(), &["rank_k"]),
        ("--shape", args.shape.is_some(), &["student_t"]),
        ("--lambda", args.lambda.is_some(), &["nig", "snig"]),
        ("--component", args.component.is_some(), &["ef_mixture"]),
        ("--law", args.law.is_some(), &["scale_mixture"]),
        ("--product", args.product.is_some(), &["scale_mixture"]),
        ("--dims", args.dims.is_some(), &["matrix"]),
        ("--constant", !args.constant.is_empty(), &["ef_mixture", "birnbaum_saunders", "scale_mixture"]),
    ];
    match given.iter().find(|(_, is_given, owners)| *is_given && !owners.contains(&name)) {
        Some((flag, _, owners)) => Err(Failure::input(format!(
            "{flag} belongs to --family {} and means nothing for {name}; change the family or leave it out",
            owners.join(" or ")
        ))),
        None => Ok(()),
    }
}

/// The family in words, as in "approximated by …".
pub fn family_in_words(family: &Family) -> String {
    let (kind, covariance) = (&family.kind, family.covariance);
    let words = match kind {
        Kind::Gaussian => "Gaussian".into(),
        Kind::StudentT { a, learn } => {
            let learned = if *learn { " (learned)" } else { "" };
            format!("Student-t with {} degrees of freedom{learned}", significant(2.0 * a))
        }
        Kind::Skew => "skew-Gaussian".into(),
        Kind::Emg => "exponentially modified Gaussian".into(),
        Kind::Nig { lambda } => format!("normal inverse-Gaussian (λ = {})", significant(*lambda)),
        Kind::Snig { lambda } => format!("symmetric normal inverse-Gaussian (λ = {})", significant(*lambda)),
        Kind::RankK { rank } => format!("Gaussian with {rank} covariance factor{}", if *rank == 1 { "" } else { "s" }),
        Kind::Mog { components: 1 } => "mixture of one Gaussian".into(),
        Kind::Mog { components } => format!("mixture of {components} Gaussians"),
        Kind::ScaleMixture { law, product: false } => format!("scale mixture ({law})"),
        Kind::ScaleMixture { law, product: true } => return format!("product of scale mixtures ({law})"),
        Kind::Matrix { layout, .. } => {
            let group = |lengths: &[u32]| lengths.iter().map(u32::to_string).collect::<Vec<_>>().join(" × ");
            format!("matrix-variate Gaussian ({})", layout.groups().map(group).collect::<Vec<_>>().join(", "))
        }
        Kind::EfMixture { component, components } => {
            let name = component.name().replace('_', " ");
            return if *components == 1 { name } else { format!("mixture of {components} {name} components") };
        }
        _ => family.name().into(),
    };
    match covariance {
        Covariance::Full => format!("full {words}"),
        Covariance::Diagonal => format!("diagonal {words}"),
    }
}
