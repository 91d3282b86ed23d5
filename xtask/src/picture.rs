//! A picture of what `elinvar fit` prints, for the README: text in an SVG that follows the reader's light or dark
//! theme.

use std::process::Command;

const FILE: &str = "docs/fit.svg";
/// Advance of a character and distance of two lines, for a font of 13 pixels.
const ADVANCE: f64 = 7.85;
const LINE: f64 = 18.0;
const MARGIN: f64 = 20.0;

/// Runs the program and writes the picture.
pub(crate) fn draw() -> Result<(), String> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(program)
        .args(["run", "--release", "--quiet", "-p", "elinvar-cli", "--", "fit"])
        .output()
        .map_err(|e| e.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let page = String::from_utf8(output.stdout).map_err(|e| e.to_string())?;
    std::fs::write(FILE, svg("$ elinvar fit", &page)).map_err(|e| format!("{FILE}: {e}"))
}

fn svg(prompt: &str, page: &str) -> String {
    let lines: Vec<&str> = std::iter::once(prompt).chain(page.lines()).collect();
    let longest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    let (width, height) = (2.0 * MARGIN + ADVANCE * longest as f64, 2.0 * MARGIN + LINE * lines.len() as f64);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" role=\"img\">
<title>What elinvar fit prints</title>
<style>
  rect {{ fill: #fbfbfa; stroke: #d5d5d0 }}
  text {{ font: 13px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; white-space: pre; fill: #22262a }}
  .prompt {{ font-weight: 600 }}
  @media (prefers-color-scheme: dark) {{
    rect {{ fill: #1b1e21; stroke: #3a3f44 }}
    text {{ fill: #dcdfe2 }}
  }}
</style>
<rect x=\"0.5\" y=\"0.5\" width=\"{:.0}\" height=\"{:.0}\" rx=\"8\"/>
",
        width - 1.0,
        height - 1.0
    );
    for (i, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
        let class = if i == 0 { " class=\"prompt\"" } else { "" };
        let y = MARGIN + LINE * (i as f64 + 0.75);
        text += &format!("<text x=\"{MARGIN}\" y=\"{y}\" xml:space=\"preserve\"{class}>{}</text>\n", escaped(line));
    }
    text + "</svg>\n"
}

fn escaped(line: &str) -> String {
    line.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_in_the_picture_and_escaped() {
        let picture = svg("$ a", "x < 1 & y\n\n  b  2\n");
        assert_eq!(picture.matches("<text ").count(), 3);
        assert!(picture.contains(">x &lt; 1 &amp; y</text>") && picture.contains(">  b  2</text>"));
        assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"));
    }
}
