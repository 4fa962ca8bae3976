//! [`Search`]: whether one of some tokens is anywhere in an answer.

use serde_json::Value;

use crate::Json;
use crate::effects::Changes;

/// Looks at texts one after another until a token was in one.
pub(crate) struct Search<'t> {
    tokens: &'t [String],
    found: bool,
}

impl<'t> Search<'t> {
    pub(super) fn new(tokens: &'t [String]) -> Self {
        Self {
            tokens,
            found: false,
        }
    }

    pub(super) fn found(&self) -> bool {
        self.found
    }

    /// A text as it is.
    pub(crate) fn text(&mut self, text: &str) {
        self.found = self.found || self.tokens.iter().any(|token| text.contains(&**token));
    }

    /// Every string and every name in a value, unescaped.
    pub(crate) fn json(&mut self, value: &Json) {
        if !self.found && !self.tokens.is_empty() {
            self.value(&value.to_value());
        }
    }

    /// Names and values that are written.
    pub(crate) fn changes(&mut self, changes: &Changes) {
        for (name, value) in changes {
            self.text(name);
            if let Some(value) = value {
                self.json(value);
            }
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.text(text),
            Value::Array(items) => items.iter().for_each(|item| self.value(item)),
            Value::Object(members) => members.iter().for_each(|(name, value)| {
                self.text(name);
                self.value(value);
            }),
            // A token may be all digits.
            Value::Number(number) => self.text(&number.to_string()),
            Value::Null | Value::Bool(_) => {}
        }
    }
}
