//! The family that was asked for, and its name in words.

use elinvar::Family;
use elinvar::component::ComponentKind;
use elinvar::family::Kind;
use elinvar::law::Law;
use elinvar::target::Covariance;

use crate::error::Error;
use crate::models::{Entry, UsualFamily};
use crate::number::significant;
use crate::settings::{Components, Dims, FamilySettings, Shape};

/// The word for the ladder of families.
pub(crate) const AUTO: &str = "auto";

const COMPONENTS: usize = 3;
const RANK: usize = 1;
const DIRECTIONS: usize = 2;
const LAW: &str = "logistic";

/// The constants of laws that have a flag of their own, `--shape` and `--lambda`.
const SHAPE: &str = "a";
const LAMBDA: &str = "lambda";

/// The family, with the constants that were given and no constant that belongs to another; `layers` is how a network is
/// cut.
pub(crate) fn family(args: &FamilySettings, model: &Entry, layers: Option<&Dims>) -> Result<Family, Error> {
    let name = default_for(model.usual_family, args.name);
    check_owners(args, name)?;
    let family = match name {
        AUTO => Family::auto(),
        "mog" => match args.components.unwrap_or(Components::Number(COMPONENTS)) {
            Components::Auto => Family::mog_auto(),
            Components::Number(components) => Family::mog(components),
        },
        "gaussian" => Family::gaussian(),
        "rank_k" => Family::rank_k(args.rank.unwrap_or(RANK)),
        "skew_k" => Family::skew_k(args.directions.unwrap_or(DIRECTIONS)),
        "emg_k" => Family::emg_k(args.directions.unwrap_or(DIRECTIONS)),
        "matrix" => {
            let Some(dims) = args.dims.as_ref().or(layers) else {
                return Err(Error::NoDims);
            };
            Family::layers(&dims.0).map_err(Error::Refused)?.with_update(args.update.unwrap_or_default())
        }
        "scale_mixture" => {
            let given: Vec<(&str, f64)> = args.constant.iter().map(|(name, value)| (name.as_str(), *value)).collect();
            let mixture =
                Family::scale_mixture(Law::of_scale(args.law.unwrap_or(LAW), &given).map_err(Error::Refused)?);
            if args.product == Some(true) { mixture.product() } else { mixture }
        }
        "dirichlet" => Family::dirichlet(components_of(args, name)?),
        "ef_mixture" | "birnbaum_saunders" => ef_mixture(args, name, model.usual_family)?,
        _ => of_law(args, name)?,
    };
    Ok(match args.covariance {
        // A full precision of all weights of a network is rarely wanted and never small.
        None if model.usual_family == UsualFamily::OwnStart && name != "matrix" => {
            family.with_covariance(Covariance::Diagonal)
        }
        None => family,
        Some(covariance) => family.with_covariance(covariance),
    })
}

/// The family of this name; `auto` is what is usual for the model.
fn default_for(usual: UsualFamily, asked: Option<&'static str>) -> &'static str {
    match (asked.unwrap_or(AUTO), usual) {
        (AUTO, UsualFamily::OwnStart) => "gaussian",
        (AUTO, UsualFamily::Mixture { .. }) => "ef_mixture",
        (AUTO, UsualFamily::Dirichlet) => "dirichlet",
        (name, _) => name,
    }
}

/// The family that is named after its law; what is not given is usual, or found by the fit.
fn of_law(args: &FamilySettings, name: &str) -> Result<Family, Error> {
    let mut given: Vec<(&str, f64)> = args.constant.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    for (constant, shape) in [(SHAPE, args.shape), (LAMBDA, args.lambda)] {
        if let Some(Shape::Number(value)) = shape {
            given.push((constant, value));
        }
    }
    Family::of_law(name, &given).map_err(Error::Refused)
}

/// The families that are named after a law with such a constant.
fn with_constant(is_meant: fn(&str) -> bool) -> Vec<&'static str> {
    let has = |name: &&str| Law::constants_of_family(name).iter().any(|(constant, _)| is_meant(constant));
    Family::NAMES.into_iter().filter(has).collect()
}

/// K of a family whose number of components is not searched for.
fn components_of(args: &FamilySettings, name: &'static str) -> Result<usize, Error> {
    match args.components.unwrap_or(Components::Number(1)) {
        Components::Number(components) => Ok(components),
        Components::Auto => Err(Error::NoAutoComponents { family: name }),
    }
}

fn ef_mixture(args: &FamilySettings, name: &'static str, usual: UsualFamily) -> Result<Family, Error> {
    let component = if name == "birnbaum_saunders" {
        name
    } else {
        args.component.unwrap_or(match usual {
            UsualFamily::Mixture { component } => component,
            _ => "normal",
        })
    };
    let components = components_of(args, name)?;
    let mut given = args.constant.iter();
    let value = match (given.next(), given.next()) {
        (None, _) => None,
        (Some((_, value)), None) => Some(*value),
        _ => return Err(Error::TooManyConstants { component }),
    };
    let kind = ComponentKind::new(component, value).map_err(Error::Refused)?;
    if let (Some((given, _)), Some(known)) = (args.constant.iter().next(), kind.constant_name())
        && given != known
    {
        return Err(Error::OtherConstant { given: given.clone(), component, known });
    }
    let Some(other) = args.other_component else { return Ok(Family::ef_mixture(kind, components)) };
    // Two families have a component each at least.
    let components = if args.components.is_none() { 2 } else { components };
    Ok(Family::ef_mixture_of_two(kind, ComponentKind::new(other, None).map_err(Error::Refused)?, components))
}

/// Refuses a flag that belongs to another family.
fn check_owners(args: &FamilySettings, name: &'static str) -> Result<(), Error> {
    let given = [
        ("--components", args.components.is_some(), vec!["mog", "ef_mixture", "birnbaum_saunders", "dirichlet"]),
        ("--rank", args.rank.is_some(), vec!["rank_k"]),
        ("--directions", args.directions.is_some(), vec!["skew_k", "emg_k"]),
        ("--shape", args.shape.is_some(), with_constant(|constant| constant == SHAPE)),
        ("--lambda", args.lambda.is_some(), with_constant(|constant| constant == LAMBDA)),
        ("--component", args.component.is_some(), vec!["ef_mixture"]),
        ("--other-component", args.other_component.is_some(), vec!["ef_mixture"]),
        ("--law", args.law.is_some(), vec!["scale_mixture"]),
        ("--product", args.product.is_some(), vec!["scale_mixture"]),
        ("--dims", args.dims.is_some(), vec!["matrix"]),
        ("--update", args.update.is_some(), vec!["matrix"]),
        ("--constant", !args.constant.is_empty(), {
            let others = with_constant(|constant| constant != SHAPE && constant != LAMBDA);
            [vec!["ef_mixture", "birnbaum_saunders", "scale_mixture"], others].concat()
        }),
    ];
    match given.into_iter().find(|(_, is_given, owners)| *is_given && !owners.contains(&name)) {
        Some((flag, _, owners)) => Err(Error::NotOfThisFamily { flag, owners: owners.join(" or "), family: name }),
        None => Ok(()),
    }
}

fn directions_in_words(directions: usize) -> String {
    format!("{directions} direction{}", if directions == 1 { "" } else { "s" })
}

/// The family in words, as in "approximated by …".
pub(crate) fn family_in_words(family: &Family) -> String {
    let (kind, covariance) = (&family.kind, family.covariance);
    let words = match kind {
        Kind::Gaussian => "Gaussian".into(),
        Kind::Mixed { law } => law.in_words(significant),
        Kind::RankK { rank } => format!("Gaussian with {rank} covariance factor{}", if *rank == 1 { "" } else { "s" }),
        Kind::SkewK { directions } => format!("skew-Gaussian in {}", directions_in_words(*directions)),
        Kind::EmgK { directions } => {
            format!("exponentially modified Gaussian in {}", directions_in_words(*directions))
        }
        Kind::Mog { components: 1 } => "mixture of one Gaussian".into(),
        Kind::Mog { components } => format!("mixture of {components} Gaussians"),
        Kind::ScaleMixture { law, product: false } => format!("scale mixture ({law})"),
        Kind::ScaleMixture { law, product: true } => return format!("product of scale mixtures ({law})"),
        Kind::Matrix { layout, .. } => {
            let group = |lengths: &[u32]| lengths.iter().map(u32::to_string).collect::<Vec<_>>().join(" × ");
            format!("matrix-variate Gaussian ({})", layout.groups().map(group).collect::<Vec<_>>().join(", "))
        }
        Kind::Dirichlet { components: 1 } => return "Dirichlet distribution".into(),
        Kind::Dirichlet { components } => return format!("mixture of {components} Dirichlet distributions"),
        Kind::EfMixture { component, other, components } => {
            let name = component.name().replace('_', " ");
            if let Some(other) = other {
                return format!("mixture of {components} {name} and {} components", other.name().replace('_', " "));
            }
            return if *components == 1 { name } else { format!("mixture of {components} {name} components") };
        }
        _ => family.name().into(),
    };
    format!("{covariance} {words}")
}
