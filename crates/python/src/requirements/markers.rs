//! Environment markers: whether a requirement is one on this Python and platform.

use std::collections::BTreeMap;

use super::versions;

/// Whether the marker holds; none if it cannot be read. `values` are the standard's variables.
pub(super) fn holds(marker: &str, values: &BTreeMap<String, String>) -> Option<bool> {
    let mut parser = Parser {
        tokens: tokens(marker)?,
        at: 0,
        values,
    };
    let holds = parser.any()?;
    (parser.at == parser.tokens.len()).then_some(holds)
}

#[derive(Debug, PartialEq)]
enum Token {
    /// A variable, a word such as `and`, an operator or a parenthesis.
    Bare(String),
    Quoted(String),
}

fn tokens(marker: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = marker.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, end) = match first {
            '\'' | '"' => {
                let end = rest[1..].find(first)? + 1;
                (Token::Quoted(rest[1..end].to_owned()), end + 1)
            }
            '(' | ')' => (Token::Bare(first.to_string()), 1),
            _ => {
                let operator = "<>=!~".contains(first);
                let part = |c: char| match operator {
                    true => "<>=!~".contains(c),
                    false => c.is_alphanumeric() || "_.".contains(c),
                };
                let end = rest.find(|c| !part(c)).unwrap_or(rest.len());
                (Token::Bare(rest[..end].to_owned()), end)
            }
        };
        if end == 0 {
            return None;
        }
        tokens.push(token);
        rest = rest[end..].trim_start();
    }
    Some(tokens)
}

/// Reads `or` over `and` over comparisons and parentheses.
struct Parser<'a> {
    tokens: Vec<Token>,
    at: usize,
    values: &'a BTreeMap<String, String>,
}

impl Parser<'_> {
    fn any(&mut self) -> Option<bool> {
        let mut holds = self.all()?;
        while self.takes("or") {
            holds |= self.all()?;
        }
        Some(holds)
    }

    fn all(&mut self) -> Option<bool> {
        let mut holds = self.one()?;
        while self.takes("and") {
            holds &= self.one()?;
        }
        Some(holds)
    }

    fn one(&mut self) -> Option<bool> {
        if self.takes("(") {
            let holds = self.any()?;
            return self.takes(")").then_some(holds);
        }
        let (left, is_version) = self.value()?;
        let negated = self.takes("not");
        let Token::Bare(operator) = self.tokens.get(self.at)? else {
            return None;
        };
        let operator = operator.clone();
        self.at += 1;
        let (right, right_is_version) = self.value()?;
        match (operator.as_str(), negated) {
            ("in", negated) => Some(right.contains(&left) != negated),
            (_, true) => None,
            // The variable's value is what is installed; with it on the right the comparison turns round.
            (operator, false) if is_version => {
                versions::allows(&format!("{operator}{right}"), &left)
            }
            (operator, false) if right_is_version => {
                versions::allows(&format!("{}{left}", turned(operator)), &right)
            }
            ("==" | "===", false) => Some(left == right),
            ("!=", false) => Some(left != right),
            ("<", false) => Some(left < right),
            ("<=", false) => Some(left <= right),
            (">", false) => Some(left > right),
            (">=", false) => Some(left >= right),
            _ => None,
        }
    }

    /// A value, and whether it is that of a variable that holds a version.
    fn value(&mut self) -> Option<(String, bool)> {
        let token = self.tokens.get(self.at)?;
        self.at += 1;
        match token {
            Token::Quoted(text) => Some((text.clone(), false)),
            Token::Bare(name) => {
                let value = match name.as_str() {
                    // Nobody has asked for an extra of this requirement's owner: it has none.
                    "extra" => String::new(),
                    name => self.values.get(name)?.clone(),
                };
                Some((
                    value,
                    name.ends_with("_version") && name != "platform_version",
                ))
            }
        }
    }

    fn takes(&mut self, word: &str) -> bool {
        let is = matches!(self.tokens.get(self.at), Some(Token::Bare(bare)) if bare == word);
        self.at += usize::from(is);
        is
    }
}

fn turned(operator: &str) -> &str {
    match operator {
        "<" => ">",
        "<=" => ">=",
        ">" => "<",
        ">=" => "<=",
        same => same,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_read_as_the_standard_reads_them() {
        let values = [
            ("python_version", "3.11"),
            ("python_full_version", "3.11.7"),
            ("sys_platform", "linux"),
            ("os_name", "posix"),
            ("platform_machine", "x86_64"),
        ];
        let values = values.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let values = BTreeMap::from(values);
        for (marker, expected) in [
            ("python_version >= '3.9'", Some(true)),
            ("python_version < \"3.9\"", Some(false)),
            ("'3.9' <= python_version", Some(true)),
            ("python_full_version ~= '3.11.2'", Some(true)),
            ("sys_platform == 'win32' or os_name == 'posix'", Some(true)),
            (
                "sys_platform == 'linux' and (os_name == 'nt' or python_version > '3.11')",
                Some(false),
            ),
            (
                "os_name == 'nt' and os_name == 'nt' or os_name == 'posix'",
                Some(true),
            ),
            ("platform_machine in 'x86_64 aarch64'", Some(true)),
            ("platform_machine not in 'x86_64 aarch64'", Some(false)),
            ("extra == 'test'", Some(false)),
            ("python_version", None),
            ("no_such == 'x'", None),
            ("os_name == 'posix' and", None),
            ("(os_name == 'posix'", None),
            ("os_name == 'posix", None),
        ] {
            assert_eq!(holds(marker, &values), expected, "{marker}");
        }
    }
}
