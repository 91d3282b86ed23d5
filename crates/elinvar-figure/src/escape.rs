//! Text that is safe inside HTML and SVG.

/// Text between tags or in a quoted attribute.
///
/// Control characters that XML does not know become U+FFFD, so that a figure stays well-formed whatever a column was
/// called.
pub fn text(raw: &str) -> String {
    let mut safe = String::with_capacity(raw.len());
    for c in raw.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\t' | '\n' | '\r' => safe.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_tag_survives() {
        assert_eq!(text("<b class=\"x\">R&D's</b>"), "&lt;b class=&quot;x&quot;&gt;R&amp;D&#39;s&lt;/b&gt;");
        assert_eq!(text("a\u{0}b\u{8}c\nd"), "a\u{fffd}b\u{fffd}c\nd");
    }
}
