//! What a browser reads before the page: title, style, and that nothing may be loaded.

use crate::content::Content;
use elinvar_figure::escape;
use elinvar_figure::style;

pub(super) fn html(content: &Content) -> String {
    let title = escape::text(&format!("{} · {} · elinvar", content.verdict.words(), content.title));
    let (light, dark) = (style::declarations(false), style::declarations(true));
    let (page, figures) = (include_str!("style.css"), style::rules());
    format!(
        "<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'; img-src data:\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>{title}</title>\n<style>\n:root{{color-scheme:light;{light}}}\n\
         @media screen and (prefers-color-scheme: dark){{:root{{color-scheme:dark;{dark}}}}}\n{figures}{page}</style>\n</head>"
    )
}
