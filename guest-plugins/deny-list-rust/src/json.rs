//! The one piece of JSON this policy writes: a string. A whole JSON library would triple the component.

/// `text` as a JSON string, quotes included.
pub fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            c if c < ' ' => quoted.push_str(&format!("\\u{:04x}", c as u32)),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn quotes_what_json_demands_and_nothing_else() {
        for (name, text, expected) in [
            ("plain", "sudo", r#""sudo""#),
            ("empty", "", r#""""#),
            ("quote", r#"a"b"#, r#""a\"b""#),
            ("backslash", r"a\b", r#""a\\b""#),
            (
                "control characters",
                "\u{0}\n\u{1f}",
                r#""\u0000\u000a\u001f""#,
            ),
            ("not ascii", "é\u{2028}😀", "\"é\u{2028}😀\""),
        ] {
            assert_eq!(quote(text), expected, "{name}");
        }
    }
}
