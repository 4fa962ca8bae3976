//! The user of a request, as the patterns of a condition see it.

use std::borrow::Cow;

use crate::Json;
use crate::scan::{Children, skip_space, string_value};

/// Who asks, by the kind of value the front door told.
pub(super) enum User<'a> {
    /// A name, in which patterns are looked for.
    Name(Cow<'a, str>),
    /// An object, whose keys are compared with patterns as a whole.
    Object(&'a str),
    /// Something that patterns cannot be compared with.
    Other,
}

impl<'a> User<'a> {
    /// None where nobody is named.
    pub(super) fn of(user: Option<&'a Json>) -> Option<Self> {
        let text = user?.as_str();
        let text = text[skip_space(text.as_bytes(), 0)..].trim_end();
        match text.as_bytes().first() {
            Some(b'n') => None,
            Some(b'"') => Some(Self::Name(string_value(text))),
            Some(b'{') => Some(Self::Object(text)),
            _ => Some(Self::Other),
        }
    }

    /// Whether one of the patterns is there. What cannot be compared keeps no plugin from being asked:
    /// a policy for some users is not one that an unreadable user gets around.
    pub(super) fn has_one_of(&self, patterns: &[String]) -> bool {
        match self {
            Self::Name(name) => {
                !name.is_empty()
                    && patterns
                        .iter()
                        .any(|pattern| name.contains(pattern.as_str()))
            }
            Self::Object(text) => Children::new(text, 0).any(|child| {
                let key = child.name(text);
                patterns.iter().any(|pattern| *pattern == *key)
            }),
            Self::Other => true,
        }
    }

    /// What was found, for people; of an object only the keys, which is what was compared.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Name(name) => name.to_string(),
            Self::Object(text) => {
                let keys: Vec<_> = Children::new(text, 0)
                    .map(|child| child.name(text).into_owned())
                    .collect();
                if keys.is_empty() {
                    "an empty object".into()
                } else {
                    format!("an object with {}", keys.join(", "))
                }
            }
            Self::Other => "neither a name nor an object".into(),
        }
    }
}
