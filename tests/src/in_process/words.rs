//! `deny-list` and `redactor`.

use futures::FutureExt as _;
use futures::future::BoxFuture;
use hookgate_core::{
    Answer, Fault, FaultKind, HookCall, Json, Matcher, Plugin, PluginInfo, Pointer, Shape, Syntax,
    Violation,
};
use serde_json::{Value, json};

use crate::suite::PluginEntry;

/// What both have: words, and what searches for them; nothing searches for none.
struct Words {
    hooks: Vec<String>,
    words: Vec<String>,
    matcher: Option<Matcher>,
}

impl Words {
    fn new(entry: &PluginEntry, config: &Value, syntax: Syntax) -> Self {
        let words = config["words"].as_array().expect("words are a list");
        let words: Vec<String> = words
            .iter()
            .map(|word| word.as_str().expect("a word is a string").to_owned())
            .collect();
        let matcher = (!words.is_empty())
            .then(|| Matcher::compile(&words, syntax).expect("the words are patterns"));
        Self {
            hooks: entry.hooks.clone(),
            words,
            matcher,
        }
    }
}

/// Denies at the first string that holds a word.
pub(super) struct DenyList(Words);

impl DenyList {
    pub(super) fn new(entry: &PluginEntry) -> Self {
        let config = entry.config.to_value();
        let syntax = match config["ignore_ascii_case"].as_bool() {
            Some(true) => Syntax::LiteralIgnoreCase,
            _ => Syntax::Literal,
        };
        Self(Words::new(entry, &config, syntax))
    }

    fn answer(&self, call: &HookCall) -> Answer {
        let draft = call.draft();
        let found = self.0.matcher.as_ref();
        let found = found.map(|matcher| call.payload.find(matcher, &Pointer::root(), 1));
        let Some(hit) = found.and_then(|found| found.hits.into_iter().next()) else {
            return draft.allow();
        };
        let word = &self.0.words[hit.pattern as usize];
        let at = hit.span.at.to_string();
        let mut violation = Violation::new("DENY_WORD", "denied word");
        violation.description = format!("'{word}' at {at}");
        violation.details = Json::from_value(&json!({ "word": word, "at": at }));
        draft.deny(violation)
    }
}

impl Plugin for DenyList {
    fn describe(&self) -> PluginInfo {
        PluginInfo::in_process(self.0.hooks.clone())
    }

    fn call(&self, call: HookCall) -> BoxFuture<'_, Result<Answer, Fault>> {
        async move { Ok(self.answer(&call)) }.boxed()
    }
}

/// Replaces words in every string but the hook's own subject.
pub(super) struct Redactor {
    words: Words,
    replacement: String,
}

impl Redactor {
    pub(super) fn new(entry: &PluginEntry) -> Self {
        let config = entry.config.to_value();
        let replacement = config["replacement"].as_str().unwrap_or("[redacted]");
        Self {
            replacement: replacement.to_owned(),
            words: Words::new(entry, &config, Syntax::Literal),
        }
    }

    fn answer(&self, call: &HookCall) -> Result<Answer, Fault> {
        let mut draft = call.draft();
        let Some(matcher) = &self.words.matcher else {
            return Ok(draft.allow());
        };
        let places = match Shape::of(&call.hook).subject() {
            None => vec![Pointer::root()],
            Some(subject) => {
                let keys = call.payload.keys(&Pointer::root());
                let keys = keys.iter().filter(|key| *key != subject);
                keys.map(|key| format!("/{}", key.replace('~', "~0").replace('/', "~1")))
                    .map(|at| Pointer::parse(&at).expect("a key makes a pointer"))
                    .collect()
            }
        };
        for at in places {
            let redacted = draft.redact(matcher, &at, &self.replacement);
            redacted.map_err(|refusal| Fault::new(FaultKind::PluginError, refusal.to_string()))?;
        }
        Ok(draft.allow())
    }
}

impl Plugin for Redactor {
    fn describe(&self) -> PluginInfo {
        PluginInfo::in_process(self.words.hooks.clone())
    }

    fn call(&self, call: HookCall) -> BoxFuture<'_, Result<Answer, Fault>> {
        async move { self.answer(&call) }.boxed()
    }
}
