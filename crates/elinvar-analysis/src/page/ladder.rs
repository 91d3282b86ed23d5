//! What each family of a ladder reached, bought and cost, as a small table.

use elinvar::Family;
use elinvar::family::Kind;
use elinvar::posterior::{Estimate, Rung};

use crate::analysis::unbounded;
use crate::number::{grouped, with_error};
use crate::table::{self, Align, Column};

/// k̂ above this is said to be so.
const LARGE_K: f64 = 10.0;

/// One line for each rung; the gain is over the best rung before it.
pub(crate) fn table(rungs: &[Rung]) -> String {
    let column = |align, name: &str, cell: &dyn Fn(&Rung) -> String| Column::new(align, name, rungs.iter().map(cell));
    table::text(vec![
        column(Align::Left, "Ladder", &name),
        column(Align::Estimate, "ELBO, nats", &|rung| estimate(rung.elbo)),
        column(Align::Right, "k\u{302}", &|rung| rung.pareto_k.map_or("not known".into(), k)),
        column(Align::Estimate, "gain, nats", &|rung| rung.gain.map_or(String::new(), estimate)),
        column(Align::Right, "gradients", &|rung| grouped(rung.counts.gradient)),
        column(Align::Left, "", &|rung| if rung.kept { "kept".into() } else { String::new() }),
    ])
}

pub(crate) fn name(rung: &Rung) -> String {
    family(&rung.family)
}

/// The family as tables name it.
pub(crate) fn family(family: &Family) -> String {
    match family.kind {
        Kind::Mog { components } => format!("mog, {components} component{}", if components == 1 { "" } else { "s" }),
        _ => family.name().into(),
    }
}

/// k̂ as tables show it.
pub(crate) fn k(value: f64) -> String {
    if value > LARGE_K { format!("above {LARGE_K}") } else { format!("{value:.2}") }
}

/// An estimate with its error; the largest number stands for an error that is not known.
pub(crate) fn estimate(estimate: Estimate) -> String {
    let Estimate { value, mcse } = unbounded(estimate);
    with_error(value, mcse)
}

#[cfg(test)]
mod tests {
    use elinvar::run::Counts;

    use super::*;
    use crate::table::shown_len;

    fn rung(family: Family, elbo: f64, pareto_k: Option<f64>, gain: Option<Estimate>, gradient: u64) -> Rung {
        let counts = Counts { gradient, ..Counts::default() };
        let kept = family.name() == "mog";
        Rung { family, elbo: Estimate { value: elbo, mcse: 0.01 }, pareto_k, gain, counts, seconds: 0.1, kept }
    }

    #[test]
    fn columns_are_aligned_and_the_kept_rung_is_marked() {
        let gain = |value, mcse| Some(Estimate { value, mcse });
        let text = super::table(&[
            rung(Family::gaussian(), -3.3, Some(1.2), None, 600),
            rung(Family::skew(), -13.1, None, gain(0.2, f64::MAX), 1_904),
            rung(Family::mog(12), -2.7, Some(12.0), gain(0.6, 0.014), 41_000),
        ]);
        let expected = "\
Ladder                     ELBO, nats          k\u{302}       gain, nats   gradients
gaussian             -3.300 ± 0.010       1.20                            600
skew                -13.100 ± 0.010   not known   0.20 ± unknown       1,904
mog, 12 components   -2.700 ± 0.010    above 10    0.600 ± 0.014      41,000   kept
";
        let squeezed =
            |text: &str| text.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>();
        assert_eq!(squeezed(&text), squeezed(expected));
        let ends: Vec<usize> = text.lines().skip(1).map(|l| shown_len(l.trim_end_matches("   kept"))).collect();
        assert!(ends.iter().all(|end| *end == ends[0]), "{text}");
        assert_eq!(shown_len(text.lines().next().unwrap()), ends[0], "{text}");
    }
}
