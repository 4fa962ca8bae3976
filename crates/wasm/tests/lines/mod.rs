//! Log events of this process, by plugin.

#![allow(dead_code)]

use std::sync::{Mutex, MutexGuard, OnceLock};

use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

static EVENTS: Mutex<Vec<Map<String, Value>>> = Mutex::new(Vec::new());

fn events() -> MutexGuard<'static, Vec<Map<String, Value>>> {
    EVENTS.lock().expect("unpoisoned")
}

/// What was logged so far.
pub struct Lines;

/// Keeps every event of this process from now on.
pub fn capture() -> Lines {
    static INSTALLED: OnceLock<()> = OnceLock::new();
    INSTALLED.get_or_init(|| tracing::subscriber::set_global_default(Keep).expect("the only one"));
    Lines
}

impl Lines {
    /// The fields of every event of a plugin.
    pub fn of(&self, plugin: &str) -> Vec<Map<String, Value>> {
        let events = events();
        let own = events
            .iter()
            .filter(|event| event.get("plugin").is_some_and(|name| name == plugin));
        own.cloned().collect()
    }

    /// Everything, as text.
    pub fn text(&self) -> String {
        format!("{:?}", *events())
    }
}

struct Keep;

struct Fields(Map<String, Value>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        let text = format!("{value:?}");
        self.0.insert(field.name().to_owned(), text.into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.into());
    }
}

impl Subscriber for Keep {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("hookgate")
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields(Map::new());
        event.record(&mut fields);
        events().push(fields.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
