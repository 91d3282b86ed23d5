//! Parts of the page.

use crate::content::Content;
use elinvar_figure::escape;
use elinvar_figure::svg::Drawing;

/// A part with a heading.
pub(super) struct Section {
    /// Unique in the page.
    pub id: &'static str,
    /// The heading.
    pub title: &'static str,
    /// Short form of it for the list of sections.
    pub short: &'static str,
    /// How to read what follows, as HTML.
    pub lead: String,
    /// What follows, as HTML.
    pub body: String,
}

impl Section {
    pub(super) fn html(&self) -> String {
        let Self { id, title, lead, body, .. } = self;
        let lead = if lead.is_empty() { String::new() } else { format!("<p class=\"lead\">{lead}</p>\n") };
        format!(
            "<section id=\"{id}\" aria-labelledby=\"{id}-h\">\n<h2 id=\"{id}-h\">{title}</h2>\n{lead}{body}\n</section>\n"
        )
    }

    pub(super) fn link(&self) -> String {
        format!("<li><a href=\"#{}\">{}</a></li>", self.id, self.short)
    }
}

/// A figure with an optional caption, which is HTML.
pub(super) fn figure(drawing: &Drawing, id: &str, class: &str, caption: &str) -> String {
    let caption = if caption.is_empty() { String::new() } else { format!("<figcaption>{caption}</figcaption>") };
    let id_text = escape::text(id);
    format!(
        "<figure id=\"{id_text}\" class=\"{class}\"><div class=\"plot\">{}</div>{caption}</figure>\n",
        drawing.inline(id)
    )
}

/// The key to the two kinds of draws.
pub(super) fn key(content: &Content) -> String {
    let corrected = content.corrected_draws.as_ref().map_or(String::new(), |_| {
        let by = content.correction.words();
        format!("<span class=\"key\"><span class=\"swatch p\"></span>corrected by {by}</span>")
    });
    format!(
        "<p class=\"keys\"><span class=\"key\"><span class=\"swatch q\"></span>approximation q</span>{corrected}</p>\n"
    )
}
