//! A figure of many panels: well-formed, and no text in the way of another.
//!
//! With the feature `png`, `ELINVAR_FIGURES` names a folder for the picture.

mod sample;

use elinvar_figure::{Figure, Line, Panel};

#[test]
fn it_is_well_formed_and_alone() {
    let svg = sample::gallery().svg();
    for broken in ["NaN", "inf", "var(--", "<script"] {
        assert!(!svg.contains(broken), "{broken}");
    }
    for element in ["svg", "text", "g", "title", "desc", "style"] {
        let opened = svg.matches(&format!("<{element} ")).count() + svg.matches(&format!("<{element}>")).count();
        assert_eq!(opened, svg.matches(&format!("</{element}>")).count(), "{element}");
    }
    assert!(svg.contains("(i) &lt;Gaps &amp; &quot;names&quot;&gt;"));
    assert_eq!(svg.matches(">approximation<").count(), 1);
}

#[test]
fn nothing_is_a_figure_too() {
    assert!(Figure::new("empty").svg().ends_with("</svg>\n"));
    assert!(Figure::new("").panel(Panel::new("").add(Line::new([]))).svg().ends_with("</svg>\n"));
}

#[cfg(feature = "png")]
#[test]
fn no_text_is_in_the_way_of_another() {
    let figure = sample::gallery();
    if let Ok(folder) = std::env::var("ELINVAR_FIGURES") {
        std::fs::write(format!("{folder}/gallery.svg"), figure.svg()).unwrap();
        std::fs::write(format!("{folder}/gallery.png"), figure.png(2.0).unwrap()).unwrap();
    }
    assert_eq!(elinvar_figure::overlap::overlaps(&figure.svg()).unwrap(), [] as [String; 0]);
}
