//! JSON inside a script element.

/// JSON that can stand inside a script element: no tag can end or begin in it.
pub(super) fn script_json(value: &serde_json::Value) -> String {
    value
        .to_string()
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_cannot_be_ended_from_inside() {
        let value = serde_json::json!({ "name": "</script><!-- \u{2028}&" });
        let safe = script_json(&value);
        assert!(!safe.contains('<') && !safe.contains('>') && !safe.contains('&') && !safe.contains('\u{2028}'));
        let back: serde_json::Value = serde_json::from_str(&safe).unwrap();
        assert_eq!(back, value);
    }
}
