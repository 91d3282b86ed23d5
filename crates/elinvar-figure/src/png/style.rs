//! How marks look: the part of CSS that the style sheet of figures uses.

use zeno::{Cap, Join};

/// Red, green and blue.
pub(super) type Rgb = [u8; 3];

/// The look of a mark; a mark without a rule has that of the group around it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Style {
    pub(super) fill: Option<Rgb>,
    pub(super) fill_opacity: f32,
    pub(super) stroke: Option<Rgb>,
    pub(super) stroke_opacity: f32,
    pub(super) stroke_width: f32,
    pub(super) join: Join,
    pub(super) cap: Cap,
    pub(super) dashes: Vec<f32>,
    /// Whether the line lies below the area.
    pub(super) stroke_first: bool,
    pub(super) font_size: f32,
    pub(super) is_bold: bool,
}

impl Default for Style {
    fn default() -> Self {
        Self {
            fill: Some([0; 3]),
            fill_opacity: 1.0,
            stroke: None,
            stroke_opacity: 1.0,
            stroke_width: 1.0,
            join: Join::Miter,
            cap: Cap::Butt,
            dashes: Vec::new(),
            stroke_first: false,
            font_size: 16.0,
            is_bold: false,
        }
    }
}

impl Style {
    /// Sets a property, if it is one that matters here and has a value that is known.
    pub(super) fn set(&mut self, name: &str, value: &str) {
        let number = || value.trim_end_matches("px").parse().ok();
        match name {
            "fill" => self.fill = colour(value),
            "stroke" => self.stroke = colour(value),
            "fill-opacity" => self.fill_opacity = number().unwrap_or(1.0),
            "stroke-opacity" => self.stroke_opacity = number().unwrap_or(1.0),
            "stroke-width" => self.stroke_width = number().unwrap_or(1.0),
            "font-size" => self.font_size = number().unwrap_or(self.font_size),
            "font-weight" => self.is_bold = value == "bold" || number().is_some_and(|weight| weight >= 600.0),
            "paint-order" => self.stroke_first = value.starts_with("stroke"),
            "stroke-dasharray" => {
                self.dashes = value.split([' ', ',']).filter_map(|length| length.parse().ok()).collect();
            }
            "stroke-linejoin" => {
                self.join = match value {
                    "round" => Join::Round,
                    "bevel" => Join::Bevel,
                    _ => Join::Miter,
                }
            }
            "stroke-linecap" => {
                self.cap = match value {
                    "round" => Cap::Round,
                    "square" => Cap::Square,
                    _ => Cap::Butt,
                }
            }
            _ => {}
        }
    }
}

fn colour(value: &str) -> Option<Rgb> {
    let hex = value.strip_prefix('#').filter(|hex| hex.len() == 6)?;
    let channel = |i: usize| u8::from_str_radix(hex.get(i..i + 2)?, 16).ok();
    Some([channel(0)?, channel(2)?, channel(4)?])
}

/// A rule: what it is for, and properties.
struct Rule<'a> {
    /// The name of an element; empty for all.
    element: &'a str,
    /// A class; empty for all.
    class: &'a str,
    properties: Vec<(&'a str, &'a str)>,
}

/// The rules of a style sheet, in the order in which they have the last word.
#[derive(Default)]
pub(super) struct Sheet<'a>(Vec<Rule<'a>>);

impl<'a> Sheet<'a> {
    /// Reads rules for `.class`, `element` or `element.class`; what stands before the last space of a selector is not
    /// looked at, as all rules of figures begin with the class of the whole.
    pub(super) fn parse(text: &'a str) -> Self {
        let mut rules = Vec::new();
        for rule in text.split('}') {
            let Some((selector, body)) = rule.split_once('{') else { continue };
            let last = selector.split_whitespace().last().unwrap_or_default();
            let (element, class) = last.split_once('.').unwrap_or((last, ""));
            let properties = body.split(';').filter_map(|property| property.split_once(':'));
            let properties = properties.map(|(name, value)| (name.trim(), value.trim())).collect();
            rules.push(Rule { element, class, properties });
        }
        rules.sort_by_key(|rule| (!rule.class.is_empty(), !rule.element.is_empty()));
        Self(rules)
    }

    /// Applies the rules for an element of these classes.
    pub(super) fn apply(&self, style: &mut Style, element: &str, classes: &str) {
        let suits = |rule: &&Rule| {
            (rule.element.is_empty() || rule.element == element)
                && (rule.class.is_empty() || classes.split_whitespace().any(|class| class == rule.class))
        };
        for rule in self.0.iter().filter(suits) {
            rule.properties.iter().for_each(|(name, value)| style.set(name, value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_that_says_more_has_the_last_word() {
        let sheet = Sheet::parse(
            ".fig text.halo { stroke: #ffffff; paint-order: stroke; }\n.fig .name { fill: #0000ff; font-weight: 600; }\n\
             .fig text { font-size: 11px; fill: #ff0000; stroke: none; }",
        );
        let look = |element: &str, classes: &str| {
            let mut style = Style::default();
            sheet.apply(&mut style, element, classes);
            style
        };
        let plain = look("text", "tick");
        assert_eq!((plain.fill, plain.stroke, plain.font_size), (Some([255, 0, 0]), None, 11.0));
        let name = look("text", "halo name");
        assert_eq!((name.fill, name.stroke), (Some([0, 0, 255]), Some([255; 3])));
        assert!(name.is_bold && name.stroke_first && !plain.is_bold);
        assert_eq!(look("path", "halo"), Style::default());
    }
}
