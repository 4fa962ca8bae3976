//! What may be a secret and is not told: the values that templates took from the environment.

use std::ops::Range;

use super::report::printable;

/// A value shorter than this is only looked for where it stands: elsewhere it is a common word.
const TELLING_CHARS: usize = 4;

/// Values with what is said in their place.
#[derive(Debug, Default)]
pub(super) struct Hidden {
    values: Vec<Value>,
}

#[derive(Debug)]
struct Value {
    /// Where it stands in the file.
    span: Range<usize>,
    /// As a message would show it.
    text: String,
    said: String,
}

impl Hidden {
    /// Hides `text`, which stands at `span`; `said` is shown for it.
    pub fn add(&mut self, span: Range<usize>, text: &str, said: &str) {
        // YAML joins lines, and takes the white space around them away.
        for line in text.lines() {
            let text = printable(line.trim());
            if !text.is_empty() {
                self.values.push(Value {
                    span: span.clone(),
                    text,
                    said: said.to_owned(),
                });
            }
        }
    }

    /// Whether a text may tell a part of a value, in whatever form.
    pub fn may_tell(&self, text: &str) -> bool {
        let chars: Vec<char> = text.chars().collect();
        let parts: Vec<String> = chars
            .windows(TELLING_CHARS)
            .map(|part| part.iter().collect())
            .collect();
        // Every other piece between backticks is quoted.
        let quoted = || text.split('`').skip(1).step_by(2);
        self.values.iter().any(|value| {
            parts.iter().any(|part| value.text.contains(part))
                || quoted().any(|quoted| quoted.contains(&value.text))
        })
    }

    /// A text about the bytes `span` without the values that stand there, or are hard to mistake.
    pub fn hide(&self, text: &str, span: &Range<usize>) -> String {
        let stands_there = |value: &Value| {
            let overlaps = value.span.start < span.end && span.start < value.span.end;
            overlaps || (span.is_empty() && value.span.contains(&span.start))
        };
        let here: Vec<(&Value, bool)> = self
            .values
            .iter()
            .map(|value| (value, stands_there(value)))
            .collect();
        let mut out = String::new();
        let mut at = 0;
        while let Some(next) = text[at..].chars().next() {
            let found = here
                .iter()
                .filter_map(|(value, here)| Some((value.length_at(text, at, *here)?, *value)))
                .max_by_key(|(length, _)| *length);
            match found {
                Some((length, value)) => {
                    out.push_str(&value.said);
                    at += length;
                }
                None => {
                    out.push(next);
                    at += next.len_utf8();
                }
            }
        }
        out
    }
}

impl Value {
    /// How many bytes of `text` from `at` on are this value, if any.
    fn length_at(&self, text: &str, at: usize, here: bool) -> Option<usize> {
        const CUT: &str = "...";
        let rest = &text[at..];
        if !here {
            let part_of_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
            let behind = rest.strip_prefix(&self.text)?;
            let inside =
                part_of_word(text[..at].chars().next_back()) || part_of_word(behind.chars().next());
            let telling = self.text.chars().count() >= TELLING_CHARS;
            return (telling && !inside).then_some(self.text.len());
        }
        if rest.starts_with(&self.text) {
            return Some(self.text.len());
        }
        // A message may have cut it off.
        let same = rest
            .chars()
            .zip(self.text.chars())
            .take_while(|(one, other)| one == other);
        let common: usize = same.map(|(c, _)| c.len_utf8()).sum();
        let cut = common > 0 && rest[common..].starts_with(CUT);
        cut.then_some(common + CUT.len())
    }
}

#[cfg(test)]
mod tests {
    use super::Hidden;

    #[test]
    fn a_value_is_not_told() {
        let mut hidden = Hidden::default();
        hidden.add(10..20, "s3cret value", "{{ env.X }}");
        hidden.add(30..40, "on", "{{ env.Y }}");
        let cases = [
            // (a text, where it is about, what is told)
            (
                "unknown kind: s3cret value",
                10..20,
                "unknown kind: {{ env.X }}",
            ),
            (
                "unknown kind: s3cret v...",
                12..13,
                "unknown kind: {{ env.X }}",
            ),
            ("at a/s3cret value/b", 0..5, "at a/{{ env.X }}/b"),
            ("kind: on", 30..40, "kind: {{ env.Y }}"),
            ("kind: on", 35..35, "kind: {{ env.Y }}"),
            ("only on hooks", 0..5, "only on hooks"),
            ("xs3cret valuex", 0..5, "xs3cret valuex"),
            (
                "on: s3cret value on",
                15..35,
                "{{ env.Y }}: {{ env.X }} {{ env.Y }}",
            ),
        ];
        for (text, span, told) in cases {
            assert_eq!(hidden.hide(text, &span), told, "{text}");
        }
    }

    #[test]
    fn a_part_of_a_value_is_noticed() {
        let mut hidden = Hidden::default();
        hidden.add(10..20, "!hunter2 x", "{{ env.X }}");
        hidden.add(30..40, "!a", "{{ env.Y }}");
        for text in [
            "unsupported tag `!hunter2`",
            "unsupported tag `!a`",
            "at unter",
        ] {
            assert!(hidden.may_tell(text), "{text}");
        }
        for text in ["did not find a mapping", "unsupported tag `!b`", "!a"] {
            assert!(!hidden.may_tell(text), "{text}");
        }
    }

    #[test]
    fn lines_of_a_value_are_hidden_one_by_one() {
        let mut hidden = Hidden::default();
        hidden.add(0..5, "first line\n  second line", "{{ env.X }}");
        let told = hidden.hide("kind: first line second line", &(0..5));
        assert_eq!(told, "kind: {{ env.X }} {{ env.X }}");
    }
}
