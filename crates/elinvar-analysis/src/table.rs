//! Columns of text that a terminal shows below each other.

/// Where the cells of a column meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
    /// At the decimal point; at the end where there is none.
    Point,
    /// At ` ± ` and at the decimal points before and after it.
    Estimate,
}

/// A column: its name and one cell for each row.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    align: Align,
    name: String,
    cells: Vec<String>,
}

impl Column {
    pub(crate) fn new(align: Align, name: &str, cells: impl IntoIterator<Item = String>) -> Self {
        Self { align, name: name.into(), cells: cells.into_iter().collect() }
    }

    /// The name and the cells, all of one width.
    fn lines(self) -> Vec<String> {
        let Self { align, name, mut cells } = self;
        match align {
            Align::Left | Align::Right => {}
            Align::Point => align_points(&mut cells),
            Align::Estimate => align_estimates(&mut cells),
        }
        cells.insert(0, name);
        let width = cells.iter().map(|cell| shown_len(cell)).max().unwrap_or(0);
        let pad = |cell: String| {
            let padding = " ".repeat(width - shown_len(&cell));
            if align == Align::Left { cell + &padding } else { padding + &cell }
        };
        cells.into_iter().map(pad).collect()
    }
}

/// The columns side by side, a line for the names and one for each row; a column shorter than the first ends early.
pub(crate) fn text(columns: Vec<Column>) -> String {
    let columns: Vec<Vec<String>> = columns.into_iter().map(Column::lines).collect();
    let n_lines = columns.first().map_or(0, Vec::len);
    let mut text = String::new();
    for i in 0..n_lines {
        let cells: Vec<&str> = columns.iter().filter_map(|column| column.get(i)).map(String::as_str).collect();
        text += cells.join("   ").trim_end();
        text.push('\n');
    }
    text
}

/// Number of places on the screen; a combining accent takes none.
pub(crate) fn shown_len(text: &str) -> usize {
    text.chars().filter(|c| *c != '\u{302}').count()
}

fn align_points(cells: &mut [String]) {
    let after = |cell: &str| cell.find('.').map_or(0, |point| cell.len() - point);
    let longest = cells.iter().map(|cell| after(cell)).max().unwrap_or(0);
    for cell in cells {
        let padding = longest - after(cell);
        cell.push_str(&" ".repeat(padding));
    }
}

fn align_estimates(cells: &mut [String]) {
    const SIGN: &str = " ± ";
    let parts = |cell: &String| cell.split_once(SIGN).map(|(value, error)| (value.to_owned(), error.to_owned()));
    let (mut values, mut errors): (Vec<String>, Vec<String>) = cells.iter().filter_map(parts).unzip();
    for column in [&mut values, &mut errors] {
        align_points(column);
        let width = column.iter().map(String::len).max().unwrap_or(0);
        column.iter_mut().for_each(|cell| *cell = format!("{cell:>width$}"));
    }
    let mut pairs = values.into_iter().zip(errors);
    for cell in cells.iter_mut().filter(|cell| cell.contains(SIGN)) {
        if let Some((value, error)) = pairs.next() {
            *cell = value + SIGN + &error;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn points_and_signs_stand_below_each_other() {
        let text = text(vec![
            Column::new(Align::Left, "run", cells(&["a", "bcd", "e"])),
            Column::new(Align::Estimate, "ELBO", cells(&["-3.30 ± 0.010", "-13.1 ± 10.2", "not known"])),
            Column::new(Align::Point, "k\u{302}", cells(&["0.70", "12", ""])),
            Column::new(Align::Right, "n", cells(&["1", "23", "456"])),
        ]);
        let expected = [
            "run              ELBO       k\u{302}     n",
            "a      -3.30 ±  0.010    0.70     1",
            "bcd   -13.1  ± 10.2     12       23",
            "e           not known           456",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    }
}
