//! Which entry a line belongs to, in a text that is no YAML, or not yet.
//!
//! Only for people: a mistake that keeps a file from being parsed is easier found with the name of the
//! plugin beside it. What does not look like the usual layout gives nothing.

/// The name of the entry of `plugins:` that a line, counted from 1, is in.
pub(super) fn name(text: &str, line: usize) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let before = lines.get(..line)?;
    let plugins = before
        .iter()
        .rposition(|line| line.starts_with("plugins:"))?;
    let is_top =
        |line: &&str| line.starts_with(|c: char| c.is_ascii_alphabetic() || c == '"' || c == '\'');
    if before[plugins + 1..].iter().any(is_top) {
        return None;
    }
    let dash = |line: &str| line.trim_start().starts_with("- ").then(|| indent(line));
    let column = before[plugins + 1..].iter().find_map(|line| dash(line))?;
    let is_entry = |line: &&str| dash(line) == Some(column);
    let start = before.iter().rposition(|line| dash(line) == Some(column))?;
    let after = lines[start + 1..].iter();
    let end = after
        .clone()
        .position(|line| is_entry(line) || is_top(line));
    let entry = &lines[start..end.map_or(lines.len(), |end| start + 1 + end)];
    let first = entry[0].trim_start()[2..].trim_start();
    let inner = entry[0].len() - first.len();
    let rest = entry[1..].iter().filter(|line| indent(line) == inner);
    let mut keys = std::iter::once(first).chain(rest.map(|line| line.trim_start()));
    match first.strip_prefix('{') {
        Some(flow) => flow.split([',', '{', '}']).find_map(named),
        None => keys.find_map(named),
    }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// The value behind `name:`.
fn named(text: &str) -> Option<String> {
    let value = text.trim_start().strip_prefix("name:")?;
    let value = value.split(" #").next().unwrap_or_default().trim();
    let value = value.trim_matches(['"', '\'']);
    let plain = !value.is_empty() && !value.contains(['{', '}', '[', ']', '*', '&', '|', '>']);
    plain.then(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn the_entry_a_line_is_in() {
        let block = "x: 1\nplugins:\n  - name: one # first\n    config:\n      name: inner\n      - name: deep\n\n  - kind: a.B\n    name: 'two'\n    mode: {{ x\nafter: 1\n";
        let flow = "plugins:\n- {name: one, kind: a.B}\n- {kind: a.B, name: \"two\", x: {{ y\n";
        for (text, line, expected) in [
            (block, 1, None),
            (block, 2, None),
            (block, 3, Some("one")),
            (block, 5, Some("one")),
            (block, 6, Some("one")),
            (block, 8, Some("two")),
            (block, 10, Some("two")),
            (block, 11, None),
            (block, 99, None),
            (flow, 2, Some("one")),
            (flow, 3, Some("two")),
            ("plugins:\n- name: {{ env.X }}\n", 2, None),
            ("plugins:\n- name:\n", 2, None),
            ("plugins: [\n", 1, None),
            ("", 1, None),
            ("- name: p\n", 1, None),
            ("plugins:\n-\n- é\n", 3, None),
        ] {
            assert_eq!(name(text, line).as_deref(), expected, "{line} of {text}");
        }
    }
}
