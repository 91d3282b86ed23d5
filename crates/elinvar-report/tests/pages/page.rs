//! What holds of every page and figure, whatever is in it.

use std::sync::OnceLock;

use elinvar_report::{Content, Draws, Estimate, FigureName, Parameter, ParetoFit, Tail, figure, html};

use crate::sample;

struct Subject {
    name: &'static str,
    content: Content,
    page: String,
}

/// Every made-up fit with its page, made once.
fn subjects() -> &'static [Subject] {
    static SUBJECTS: OnceLock<Vec<Subject>> = OnceLock::new();
    SUBJECTS.get_or_init(|| {
        let contents = [
            ("logistic-11", sample::logistic_11()),
            ("logistic-61", sample::logistic_61()),
            ("mixture-10", sample::mixture_10()),
            ("hostile", sample::hostile()),
        ];
        let subject = |(name, content): (&'static str, Content)| Subject { name, page: html(&content), content };
        contents.into_iter().map(subject).collect()
    })
}

/// The opening tags of an element.
fn tags<'a>(page: &'a str, name: &str) -> Vec<&'a str> {
    let open = format!("<{name}");
    let follows = |rest: &str| rest[open.len()..].starts_with([' ', '>']);
    let starts = page.match_indices(&open).filter(|(i, _)| follows(&page[*i..]));
    starts.map(|(i, _)| &page[i..=i + page[i..].find('>').unwrap()]).collect()
}

#[test]
fn the_page_is_small_and_needs_nothing() {
    for Subject { name, page, .. } in subjects() {
        assert!(page.len() < 3_000_000, "{name}: {} bytes", page.len());
        let without_namespace = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!without_namespace.contains("http://") && !without_namespace.contains("https://"), "{name}");
        for external in ["src=", "@import", "url(", "fetch(", "XMLHttpRequest"] {
            assert!(!page.contains(external), "{name}: {external}");
        }
    }
    assert_eq!((subjects()[1].content.trace.len(), subjects()[1].content.parameters.len()), (3000, 61));
}

#[test]
fn every_figure_has_size_and_title() {
    for Subject { name, page, .. } in subjects() {
        let figures: Vec<&str> = tags(page, "svg").into_iter().filter(|tag| tag.contains("role=\"img\"")).collect();
        assert!(figures.len() >= 6, "{name}: {}", figures.len());
        assert_eq!(tags(page, "title").len(), figures.len() + 1, "{name}: one of each figure, one of the page");
        assert_eq!(tags(page, "desc").len(), figures.len(), "{name}");
        for tag in tags(page, "svg") {
            assert!(
                [" width=\"", " height=\"", " viewBox=\""].iter().all(|attribute| tag.contains(attribute)),
                "{name}: {tag}"
            );
        }
    }
}

#[test]
fn names_are_used_once() {
    for Subject { name, page, .. } in subjects() {
        let mut ids: Vec<&str> = page.split(" id=\"").skip(1).map(|rest| &rest[..rest.find('"').unwrap()]).collect();
        let n = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), n, "{name}");
        for link in page.split("href=\"#").skip(1) {
            let target = &link[..link.find('"').unwrap()];
            assert!(ids.binary_search(&target).is_ok(), "{name}: #{target} leads nowhere");
        }
    }
}

#[test]
fn nothing_leaves_its_place() {
    let page = &subjects()[3].page;
    assert_eq!(tags(page, "script").len(), 2);
    assert_eq!(page.matches("</script>").count(), 2);
    assert!(!page.contains("alert('x')") && !page.contains("<b>") && !page.contains("<!--"));
    assert!(!page.contains("\" onmouseover=\""));
    for broken in ["NaN", "inf ", "\"inf\"", "Infinity"] {
        let body = &page[..page.find("<script").unwrap()];
        assert!(!body.contains(broken), "{broken}");
    }
}

#[test]
fn figures_are_balanced_and_alone() {
    for Subject { name, content, .. } in subjects() {
        let mut drawn = 0;
        for figure_name in FigureName::PLAIN {
            let Some(svg) = figure(content, &figure_name) else { continue };
            drawn += 1;
            assert!(svg.starts_with("<svg") && svg.contains("xmlns=\"http://www.w3.org/2000/svg\""));
            assert!(
                !svg.contains("var(--") && !svg.contains("NaN") && !svg.contains("<script"),
                "{name}, {figure_name}"
            );
            for element in ["svg", "g", "text", "title", "desc", "style"] {
                let closed = svg.matches(&format!("</{element}>")).count();
                assert_eq!(tags(&svg, element).len(), closed, "{name}, {figure_name}: {element}");
            }
        }
        assert!(drawn >= 8, "{name}: {drawn}");
    }
    let content = sample::logistic_11();
    assert!(figure(&content, &FigureName::Marginal("x7".into())).is_some());
    assert!(figure(&content, &FigureName::Pair("x1".into(), "x2".into())).is_some());
    assert!(figure(&content, &FigureName::Marginal("x99".into())).is_none());
    assert!(figure(&content, &FigureName::Ladder).is_none());
}

#[test]
fn the_verdict_comes_before_everything_else() {
    let page = &subjects()[1].page;
    let body = &page[page.find("<body>").unwrap()..];
    let verdict = body.find("Trust means only").unwrap();
    assert!(verdict < body.find("class=\"tiles\"").unwrap() && verdict < 1500, "{verdict}");
    assert!(body.find("class=\"tiles\"") < body.find("id=\"marginals\""));
}

#[test]
fn little_is_enough_and_much_is_cut() {
    let page = html(&Content::default());
    assert!(page.contains("Do not trust") && page.ends_with("</html>\n"));
    let parameter = |i: usize| Parameter { name: format!("w{i}"), ..Parameter::default() };
    let large = Content { parameters: (0..20_000).map(parameter).collect(), ..Content::default() };
    let page = html(&large);
    assert!(page.len() < 3_000_000 && page.contains("18,500 more are in the files of the run"), "{}", page.len());
}

/// Every way to spoil a content that a broken or unusual fit might find.
#[test]
fn strange_content_makes_a_page_all_the_same() {
    type Spoil = fn(&mut Content);
    let spoils: [Spoil; 16] = [
        |c| c.draws.columns.iter_mut().for_each(Vec::clear),
        |c| c.draws.columns[1].truncate(7),
        |c| c.draws.columns.truncate(2),
        |c| c.draws.columns.iter_mut().for_each(|column| column.fill(f64::NAN)),
        |c| c.draws.columns[0].iter_mut().for_each(|v| *v = 1e308 * v.signum()),
        |c| c.draws.columns[0].iter_mut().for_each(|v| *v *= 1e-300),
        |c| c.draws.weights = vec![f64::NAN; 4000],
        |c| c.corrected_draws = Some(Draws { columns: vec![vec![1.0; 3]; 11], weights: vec![0.0; 3] }),
        |c| (c.parameters[0].lower, c.parameters[0].upper) = (Some(9.0), Some(-9.0)),
        |c| c.trace.iter_mut().for_each(|row| (row.seconds, row.evaluations) = (f64::NAN, 0)),
        |c| c.trace.iter_mut().for_each(|row| (row.elbo, row.elbo_se) = (Some(-1e308), Some(1e308))),
        |c| c.trace.iter_mut().for_each(|row| (row.kl, row.step_size) = (Some(0.0), Some(f64::INFINITY))),
        |c| {
            c.tail = Some(Tail { log_ratios: vec![f64::NEG_INFINITY, 0.0, f64::NAN, 1e9, -1e9], n_draws: 5, fit: None })
        },
        |c| {
            let fit = ParetoFit { shape: f64::INFINITY, scale: 0.0, log_cutoff: f64::NEG_INFINITY, len: 0 };
            c.tail.as_mut().unwrap().fit = Some(fit);
        },
        |c| c.headline.log_normaliser = Some(Estimate { value: f64::INFINITY, mcse: f64::NAN }),
        |c| (c.headline.pareto_k_threshold, c.headline.seconds) = (f64::NAN, f64::NAN),
    ];
    for (i, spoil) in spoils.into_iter().enumerate() {
        let mut content = subjects()[0].content.clone();
        spoil(&mut content);
        let page = html(&content);
        let body = &page[..page.find("<script").unwrap()];
        assert!(page.ends_with("</html>\n") && !body.contains("NaN") && !body.contains("\"inf"), "{i}");
        for figure_name in FigureName::PLAIN {
            let svg = figure(&content, &figure_name).unwrap_or_default();
            assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{i}: {figure_name}");
        }
    }
}

#[test]
fn content_survives_json() {
    let content = sample::mixture_10();
    let text = serde_json::to_string(&content).unwrap();
    let back: Content = serde_json::from_str(&text).unwrap();
    assert_eq!(back, content);
    let sparse: Content =
        serde_json::from_str(r#"{"verdict":"trust","parameters":[{"name":"a","mean":1,"sd":2,"q5":0,"q95":3}]}"#)
            .unwrap();
    assert_eq!(sparse.parameters[0].summary.sd, 2.0);
}

#[cfg(feature = "png")]
#[test]
fn a_png_has_the_size_it_was_asked_for() {
    let content = sample::logistic_11();
    let image = elinvar_report::png(&content, &FigureName::Elbo, 2.0).unwrap();
    assert_eq!(&image[1..4], b"PNG");
    let number = |at: usize| u32::from_be_bytes(image[at..at + 4].try_into().unwrap());
    assert_eq!((number(16), number(20)), (992, 612));
    let none = elinvar_report::png(&content, &FigureName::Ladder, 2.0).unwrap_err();
    assert_eq!(none.to_string(), "there is nothing to draw in the figure \"ladder\"");
    assert!(elinvar_report::png(&content, &FigureName::Elbo, 0.0).is_err());
}
