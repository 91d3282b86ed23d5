//! The colours of pages and figures, once for light and once for dark.
//!
//! Blue is q, the approximation; orange is what importance weights make of it. The pair is told apart by every common
//! kind of colour blindness, and the two never differ by colour alone: q is filled, the other is a line.

use crate::palette::Colour;

/// Rules for the marks of figures, in terms of the colours below.
const RULES: &str = include_str!("figure.css");

/// Name, light and dark value of every colour.
const COLOURS: [(&str, &str, &str); 33] = [
    ("paper", "#ffffff", "#15181d"),
    ("card", "#f5f6f8", "#1d2128"),
    ("ink", "#1a1d21", "#e9ebee"),
    ("muted", "#555c66", "#a5adb8"),
    ("axis", "#8a929c", "#78818d"),
    ("rule", "#e4e7eb", "#2c323b"),
    ("q", "#2a6db0", "#6aaae8"),
    ("q-ink", "#1f5b98", "#86bcf2"),
    ("p", "#c4560b", "#f0954a"),
    ("p-ink", "#a54605", "#f5aa6c"),
    ("link", "#1f5b98", "#86bcf2"),
    ("trust", "#0a6b52", "#5fd0ae"),
    ("trust-back", "#e6f4ef", "#12302a"),
    ("means", "#7a5300", "#ecc063"),
    ("means-back", "#fbf1da", "#35290f"),
    ("doubt", "#a4231b", "#ff9d94"),
    ("doubt-back", "#fcebe9", "#3a1a18"),
    ("focus", "#1f5b98", "#86bcf2"),
    ("shade", "#dfe9f4", "#233447"),
    ("blue", "#0072b2", "#4c9be0"),
    ("blue-ink", "#005a8e", "#7db8ec"),
    ("vermilion", "#d55e00", "#f0803c"),
    ("vermilion-ink", "#a84a00", "#f59a63"),
    ("green", "#009e73", "#2dc59b"),
    ("green-ink", "#00704f", "#5ad6b3"),
    ("purple", "#cc79a7", "#e3a5cb"),
    ("purple-ink", "#9a4477", "#ebbcd8"),
    ("sky", "#56b4e9", "#9ad4f5"),
    ("sky-ink", "#1f6f9c", "#b0ddf7"),
    ("orange", "#e69f00", "#f0b94a"),
    ("orange-ink", "#8a5f00", "#f3c76e"),
    ("grey", "#8a929c", "#78818d"),
    ("grey-ink", "#555c66", "#a5adb8"),
];

/// Declarations of the colours for one scheme.
pub fn declarations(dark: bool) -> String {
    COLOURS.iter().map(|(name, light, night)| format!("--{name}:{};", if dark { night } else { light })).collect()
}

/// The rules as they stand in a page that declares the colours.
pub fn rules() -> String {
    let of_colour = |colour: Colour| {
        let (line, text) = (colour.name(), colour.ink());
        format!(
            ".fig .{line}-stroke{{fill:none;stroke:var(--{line})}}\n.fig .{line}-fill{{fill:var(--{line});stroke:none}}\n\
             .fig text.{line}-text{{fill:var(--{text})}}\n"
        )
    };
    RULES.to_string() + &Colour::ALL.map(of_colour).concat()
}

/// The rules with light colours put in, for a figure alone.
pub fn resolved() -> String {
    COLOURS.iter().fold(rules(), |css, (name, light, _)| css.replace(&format!("var(--{name})"), light))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contrast of two colours as the Web Content Accessibility Guidelines define it.
    fn contrast(a: &str, b: &str) -> f64 {
        let luminance = |hex: &str| {
            let channel = |i: usize| {
                let v = f64::from(u8::from_str_radix(&hex[i..i + 2], 16).unwrap()) / 255.0;
                if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
            };
            0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5) + 0.05
        };
        let (a, b) = (luminance(a), luminance(b));
        a.max(b) / a.min(b)
    }

    fn colour(name: &str, dark: bool) -> &'static str {
        let (_, light, night) = COLOURS.iter().find(|(n, _, _)| *n == name).unwrap();
        if dark { night } else { light }
    }

    #[test]
    fn text_can_be_read() {
        let pairs = [
            ("ink", "paper"),
            ("ink", "card"),
            ("muted", "paper"),
            ("muted", "card"),
            ("q-ink", "paper"),
            ("p-ink", "paper"),
            ("link", "paper"),
            ("blue-ink", "paper"),
            ("vermilion-ink", "paper"),
            ("green-ink", "paper"),
            ("purple-ink", "paper"),
            ("sky-ink", "paper"),
            ("orange-ink", "paper"),
            ("grey-ink", "paper"),
            ("trust", "trust-back"),
            ("means", "means-back"),
            ("doubt", "doubt-back"),
            ("ink", "trust-back"),
            ("ink", "means-back"),
            ("ink", "doubt-back"),
        ];
        for dark in [false, true] {
            for (text, back) in pairs {
                let found = contrast(colour(text, dark), colour(back, dark));
                assert!(found >= 4.5, "{text} on {back}, dark {dark}: {found:.2}");
            }
            for mark in ["q", "p", "axis", "focus"] {
                assert!(contrast(colour(mark, dark), colour("paper", dark)) >= 3.0, "{mark}");
            }
        }
    }

    #[test]
    fn a_figure_alone_needs_no_variable() {
        assert!(rules().contains("var(--q)"));
        assert!(!resolved().contains("var("));
    }
}
