//! Paths and words as a shell reads them.

use std::path::Path;

/// The path as one word of a command, in single quotes where it needs them.
pub fn word(path: &Path) -> String {
    let shown = path.display().to_string();
    // A leading hyphen would be read as a flag.
    let text = if shown.starts_with('-') { format!("./{shown}") } else { shown };
    argument(&text)
}

/// A word of a command, in single quotes where it needs them.
pub fn argument(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./+,:=@%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.into()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_stand_where_they_must() {
        for (path, expected) in [
            ("runs/a-1.x", "runs/a-1.x"),
            ("länge", "länge"),
            ("my run", "'my run'"),
            ("$HOME", "'$HOME'"),
            ("it's", "'it'\\''s'"),
            ("~a", "'~a'"),
            ("-run", "./-run"),
            ("a\"b", "'a\"b'"),
        ] {
            assert_eq!(word(Path::new(path)), expected);
        }
    }
}
