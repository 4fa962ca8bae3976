//! [`Scrubber`]: takes secrets out of texts before anybody writes them down.
//!
//! A plugin that wants its operator to see a secret can always encode it; this is for the plugin that logs
//! its request or its error without thinking.

use std::borrow::Cow;
use std::fmt;

use hookgate_core::{Fault, Json};

/// Shortest line of a value of several lines that is taken out by itself, in bytes: shorter ones, such as
/// a lone brace, are no secret and are everywhere.
const LINE_MIN_BYTES: usize = 8;

/// The values to take out, with what stands for each.
#[derive(Default)]
pub(crate) struct Scrubber {
    /// Longest first, so that a value that holds another goes as a whole.
    patterns: Vec<(String, String)>,
}

impl fmt::Debug for Scrubber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scrubber({})", self.patterns.len())
    }
}

impl Scrubber {
    pub(super) fn new(values: &[(String, String)]) -> Self {
        let mut patterns = Vec::new();
        for (name, value) in values {
            let stands_for = format!("[secret {name}]");
            let lines = value.lines().filter(|line| line.len() >= LINE_MIN_BYTES);
            for text in std::iter::once(value.as_str()).chain(lines) {
                // Also as it looks inside of a JSON string.
                let escaped = serde_json::Value::from(text).to_string();
                let escaped = escaped.trim_matches('"').to_owned();
                for text in [text.to_owned(), escaped] {
                    if !text.is_empty() && !patterns.iter().any(|(known, _)| *known == text) {
                        patterns.push((text, stands_for.clone()));
                    }
                }
            }
        }
        patterns.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
        Self { patterns }
    }

    /// The text without any of the values.
    pub(crate) fn scrub<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut rest = text;
        let mut clean = String::new();
        while let Some((at, (found, stands_for))) = self
            .patterns
            .iter()
            .filter_map(|pattern| Some((rest.find(&pattern.0)?, pattern)))
            .min_by_key(|(at, _)| *at)
        {
            clean.push_str(&rest[..at]);
            clean.push_str(stands_for);
            rest = &rest[at + found.len()..];
        }
        if rest.len() == text.len() {
            return Cow::Borrowed(text);
        }
        clean.push_str(rest);
        Cow::Owned(clean)
    }

    /// The fault without any of the values.
    pub(crate) fn scrub_fault(&self, mut fault: Fault) -> Fault {
        if self.patterns.is_empty() {
            return fault;
        }
        if let Cow::Owned(clean) = self.scrub(&fault.message) {
            fault.message = clean;
        }
        if let Cow::Owned(clean) = self.scrub(fault.details.as_str()) {
            // What stands for a value holds nothing that JSON would escape.
            fault.details = Json::parse(clean).unwrap_or_else(|_| Json::object());
        }
        fault
    }
}

#[cfg(test)]
mod tests {
    use hookgate_core::{Fault, FaultKind, Json};

    use super::Scrubber;

    fn scrubber(values: &[(&str, &str)]) -> Scrubber {
        let owned = values.iter().map(|(n, v)| ((*n).into(), (*v).into()));
        Scrubber::new(&owned.collect::<Vec<_>>())
    }

    #[test]
    fn values_and_what_holds_them() {
        let scrubber = scrubber(&[
            ("short", "abc"),
            ("long", "abcdef"),
            ("quoted", "a\"b\\c"),
            ("key", "-----BEGIN-----\nMIIEvQIBADANBg\n}\n-----END-----"),
        ]);
        for (text, expected) in [
            ("", ""),
            ("nothing to hide }", "nothing to hide }"),
            ("abc", "[secret short]"),
            ("xabcdefabcx", "x[secret long][secret short]x"),
            ("ababc", "ab[secret short]"),
            ("say a\"b\\c", "say [secret quoted]"),
            (r#"{"k":"a\"b\\c"}"#, r#"{"k":"[secret quoted]"}"#),
            ("line MIIEvQIBADANBg only", "line [secret key] only"),
            (
                "-----BEGIN-----\nMIIEvQIBADANBg\n}\n-----END-----",
                "[secret key]",
            ),
        ] {
            assert_eq!(scrubber.scrub(text), expected, "{text}");
        }
    }

    #[test]
    fn faults() {
        let fault = Fault::new(FaultKind::PluginError, "token s3cr3t refused")
            .with_details(Json::from_value(&serde_json::json!({"frames": ["s3cr3t"]})));
        let fault = scrubber(&[("token", "s3cr3t")]).scrub_fault(fault);
        assert_eq!(fault.message, "token [secret token] refused");
        assert_eq!(fault.details.as_str(), r#"{"frames":["[secret token]"]}"#);
    }

    #[test]
    fn debugging_shows_no_value() {
        assert!(!format!("{:?}", scrubber(&[("token", "s3cr3t")])).contains("s3cr3t"));
    }
}
