//! Contours of a grid by marching squares.

use std::collections::BTreeMap;

/// An edge of the grid: its lower left point and whether it goes up.
type Edge = (i64, i64, bool);

/// Closed lines around the region where `values` (x fastest, `width` per row) exceed `level`, in grid coordinates;
/// beyond the grid everything is below it.
pub fn contours(values: &[f64], width: usize, level: f64) -> Vec<Vec<(f64, f64)>> {
    let grid = Grid { values, width: width as i64, height: (values.len() / width.max(1)) as i64, level };
    // Every edge that is crossed begins one segment: neighbouring cells go round it in opposite directions.
    let mut next: BTreeMap<Edge, Edge> = BTreeMap::new();
    for j in -1..grid.height {
        for i in -1..grid.width {
            next.extend(grid.segments(i, j));
        }
    }
    let mut lines = Vec::new();
    while let Some((&start, _)) = next.first_key_value() {
        let mut line = Vec::new();
        let mut edge = start;
        while let Some(end) = next.remove(&edge) {
            line.push(grid.crossing(edge));
            edge = end;
        }
        lines.push(line);
    }
    lines
}

struct Grid<'a> {
    values: &'a [f64],
    width: i64,
    height: i64,
    level: f64,
}

impl Grid<'_> {
    fn at(&self, i: i64, j: i64) -> f64 {
        if (0..self.width).contains(&i) && (0..self.height).contains(&j) {
            self.values[(j * self.width + i) as usize]
        } else {
            f64::NEG_INFINITY
        }
    }

    /// Directed segments through a cell, from edge to edge, what is above the level on their left.
    fn segments(&self, i: i64, j: i64) -> Vec<(Edge, Edge)> {
        let corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)].map(|(i, j)| self.at(i, j));
        let is_above = corners.map(|value| value > self.level);
        // Around the cell: bottom, right, top, left; edge k lies between corners k and k + 1.
        let edges = [(i, j, false), (i + 1, j, true), (i, j + 1, false), (i, j, true)];
        let leaves: Vec<usize> = (0..4).filter(|k| is_above[*k] && !is_above[(k + 1) % 4]).collect();
        let enters: Vec<usize> = (0..4).filter(|k| !is_above[*k] && is_above[(k + 1) % 4]).collect();
        match (leaves.as_slice(), enters.as_slice()) {
            ([out], [into]) => vec![(edges[*out], edges[*into])],
            ([a, b], [_, _]) => {
                // A saddle: the mean decides whether the two corners above are joined.
                let joined = corners.iter().sum::<f64>() / 4.0 > self.level;
                let turn = if joined { 1 } else { 3 };
                [*a, *b].iter().map(|k| (edges[*k], edges[(k + turn) % 4])).collect()
            }
            _ => Vec::new(),
        }
    }

    fn crossing(&self, (i, j, is_up): Edge) -> (f64, f64) {
        let (a, b) = (self.at(i, j), if is_up { self.at(i, j + 1) } else { self.at(i + 1, j) });
        let t = match (a.is_finite(), b.is_finite()) {
            (false, _) => 1.0,
            (_, false) => 0.0,
            _ => ((self.level - a) / (b - a)).clamp(0.0, 1.0),
        };
        if is_up { (i as f64, j as f64 + t) } else { (i as f64 + t, j as f64) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(n: usize, f: impl Fn(f64, f64) -> f64) -> Vec<f64> {
        let at = |i: usize| -2.0 + 4.0 * i as f64 / (n - 1) as f64;
        (0..n * n).map(|k| f(at(k % n), at(k / n))).collect()
    }

    #[test]
    fn a_circle_is_one_line_at_its_radius() {
        let n = 81;
        let values = grid(n, |x, y| 1.0 - x * x - y * y);
        let lines = contours(&values, n, 0.0);
        assert_eq!(lines.len(), 1);
        let place = |v: f64| -2.0 + 4.0 * v / (n - 1) as f64;
        let mut area = 0.0;
        for (k, (i, j)) in lines[0].iter().enumerate() {
            let (x, y) = (place(*i), place(*j));
            assert!((x.hypot(y) - 1.0).abs() < 1e-3, "{x} {y}");
            let (x2, y2) = lines[0][(k + 1) % lines[0].len()];
            area += 0.5 * (x * place(y2) - place(x2) * y);
        }
        // The line goes round with the inside on its left, so that its area is positive.
        assert!((area - std::f64::consts::PI).abs() < 0.01, "{area}");
    }

    #[test]
    fn two_hills_are_two_lines_and_a_ring_has_a_hole() {
        let hill = |x: f64, y: f64, cx: f64| (-8.0 * ((x - cx).powi(2) + y * y)).exp();
        assert_eq!(contours(&grid(61, |x, y| hill(x, y, 1.0) + hill(x, y, -1.0)), 61, 0.5).len(), 2);
        assert_eq!(contours(&grid(61, |x, y| -(x.hypot(y) - 1.0).abs()), 61, -0.3).len(), 2);
    }

    #[test]
    fn what_reaches_the_border_is_closed_there() {
        let lines = contours(&grid(5, |_, _| 1.0), 5, 0.0);
        assert_eq!(lines.len(), 1);
        assert!(lines[0].iter().all(|(i, j)| (0.0..=4.0).contains(i) && (0.0..=4.0).contains(j)));
    }

    #[test]
    fn a_saddle_is_cut_in_two_or_joined() {
        let apart = [1.0, -2.0, -2.0, 1.0];
        let joined = [2.0, -1.0, -1.0, 2.0];
        assert_eq!(contours(&apart, 2, 0.0).len(), 2);
        assert_eq!(contours(&joined, 2, 0.0).len(), 1);
    }
}
