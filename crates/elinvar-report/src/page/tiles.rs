//! The numbers that stand at the top.

use crate::content::{Content, Correction, Estimate, Headline};
use elinvar_figure::{escape, number};

pub(super) fn html(content: &Content) -> String {
    let tiles = [
        family(&content.headline),
        content.headline.elbo.map(|elbo| bound(elbo, content.headline.log_normaliser)),
        Some(pareto(&content.headline)),
        effective(content),
        shift(content),
        cost(&content.headline),
    ];
    format!("<dl class=\"tiles\">{}</dl>", tiles.into_iter().flatten().collect::<String>())
}

/// A name, a value and a line below it; all are text.
fn tile(name: &str, value: &str, note: &str, further: &str) -> String {
    let [name, value, note] = [name, value, note].map(escape::text);
    format!(
        "<div class=\"tile\"><dt>{name}</dt><dd class=\"value\">{value}</dd>{further}<dd class=\"note\">{note}</dd></div>"
    )
}

fn family(headline: &Headline) -> Option<String> {
    let [family, stopped] = [&headline.family, &headline.stopped].map(|text| escape::text(text));
    (!family.is_empty()).then(|| {
        format!(
            "<div class=\"tile\"><dt>Family</dt><dd class=\"value words\">{family}</dd><dd class=\"note\">{stopped}</dd></div>"
        )
    })
}

fn bound(elbo: Estimate, log_normaliser: Option<Estimate>) -> String {
    let (value, error) = number::with_error(elbo.value, elbo.mcse);
    let gap = log_normaliser.map_or(String::new(), |z| {
        format!("; {} below the log evidence", number::significant((z.value - elbo.value).max(0.0), 2))
    });
    tile("ELBO", &value, &format!("± {error} nats{gap}"), "")
}

fn pareto(headline: &Headline) -> String {
    let threshold = headline.pareto_k_threshold;
    let Some(k) = headline.pareto_k else {
        let note = match headline.few_draws_dominate {
            true => "very few draws outweigh all others",
            false => "the draws are too few to say",
        };
        return tile("Pareto k̂", "not known", note, "");
    };
    if headline.nearly_equal && k > threshold {
        return tile("Pareto k̂", "no meaning", "the weights are nearly equal", "");
    }
    let side = if k <= threshold { "below" } else { "above" };
    let limit = number::fixed(threshold, 2);
    let draws = number::grouped(headline.n_draws);
    tile(
        "Pareto k̂",
        &number::fixed(k, 2),
        &format!("{side} {limit}, the limit for {draws} draws"),
        &gauge(k, threshold),
    )
}

/// A line from 0 to 1 with the threshold and the value on it.
fn gauge(k: f64, threshold: f64) -> String {
    if threshold.is_nan() || k.is_nan() {
        return String::new();
    }
    let x = |v: f64| 4.0 + 112.0 * v.clamp(0.0, 1.0);
    let (limit, value) = (x(threshold), x(k));
    let class = if k <= threshold { "fine" } else { "beyond" };
    format!(
        r#"<dd class="gauge" aria-hidden="true"><svg width="120" height="12" viewBox="0 0 120 12" focusable="false"><line class="track" x1="4" y1="6" x2="116" y2="6"/><line class="over" x1="{limit:.1}" y1="6" x2="116" y2="6"/><line class="limit" x1="{limit:.1}" y1="1" x2="{limit:.1}" y2="11"/><circle class="{class}" cx="{value:.1}" cy="6" r="4"/></svg></dd>"#
    )
}

fn effective(content: &Content) -> Option<String> {
    let headline = &content.headline;
    let effective = headline.effective_draws.filter(|n| n.is_finite())?;
    let all = if headline.effective_of > 0 { headline.effective_of } else { headline.n_draws };
    let note = match content.correction {
        Correction::Chains => format!("that {} states of chains are worth", number::grouped(all)),
        _ => {
            let share = number::significant(100.0 * effective / all.max(1) as f64, 2);
            format!("{share} % of {}, after weighting", number::grouped(all))
        }
    };
    Some(tile("Effective draws", &number::grouped(effective.max(0.0) as u64), &note, ""))
}

/// The largest change of a mean.
fn shift(content: &Content) -> Option<String> {
    let shifts = content.parameters.iter().filter_map(|p| p.shift().map(|shift| (p, shift)));
    let (parameter, shift) = shifts.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
    let value = format!("{} sd", number::fixed(shift.abs(), 2));
    Some(tile(
        "Largest shift",
        &value,
        &format!("of a mean, {}, by {}", parameter.name, content.correction.words()),
        "",
    ))
}

fn cost(headline: &Headline) -> Option<String> {
    let listed: Vec<String> =
        headline.evaluations.iter().map(|(what, n)| format!("{} {what}", number::grouped(*n))).collect();
    let steps = format!("{} steps; ", number::grouped(headline.steps));
    let known = headline.seconds > 0.0 || !listed.is_empty();
    known.then(|| tile("Time", &number::duration(headline.seconds), &(steps + &listed.join(", ")), ""))
}
