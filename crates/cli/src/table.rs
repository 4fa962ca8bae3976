//! [`Table`]: rows of text in columns as wide as they need to be.

/// A table under a line of headings.
pub struct Table {
    rows: Vec<Vec<String>>,
    numbers: Vec<bool>,
}

impl Table {
    /// A table without rows. A heading that starts with `#` is that of numbers, which stand to the right.
    pub fn new(headings: &[&str]) -> Self {
        let numbers = headings
            .iter()
            .map(|heading| heading.starts_with('#'))
            .collect();
        let headings = headings
            .iter()
            .map(|heading| heading.trim_start_matches('#').to_owned());
        Self {
            rows: vec![headings.collect()],
            numbers,
        }
    }

    /// Adds a row; it has a cell for every heading.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// The lines, headings first, without spaces at their ends.
    pub fn lines(&self) -> Vec<String> {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or_default()
        };
        let widths: Vec<usize> = (0..self.numbers.len()).map(width).collect();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths).zip(&self.numbers);
            let cells = cells.map(|((cell, width), number)| match number {
                true => format!("{cell:>width$}"),
                false => format!("{cell:<width$}"),
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        self.rows.iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::new(&["plugin", "#calls", "host"]);
        table.row(vec!["deny-list".into(), "3,403".into(), "wasm".into()]);
        table.row(vec!["pii".into(), "1".into(), "python".into()]);
        assert_eq!(
            table.lines(),
            [
                "plugin     calls  host",
                "deny-list  3,403  wasm",
                "pii            1  python"
            ]
        );
    }
}
