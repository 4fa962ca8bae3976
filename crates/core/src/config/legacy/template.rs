//! The templates of a legacy file: its whole text is one, over the environment, before it is YAML.
//!
//! The text is rendered in one go, as the framework does it, and still every line of the result is
//! known by its place in the file: marks between the tags, which write nothing, tell where copied text
//! comes from and which expression wrote what is between. What an expression wrote may be a secret, and
//! is only ever shown as the expression.

mod filters;
mod marked;
mod python;
mod running;
mod scan;

use std::sync::Arc;

use minijinja::value::Value;

use super::origin::{Origin, Source};
use crate::config::options::Environment;
use crate::config::report::{Place, shown};
use crate::config::yaml::Broken;
use marked::Marked;
use running::{Mark, Seen, Sink, Variables, format};
pub(super) use scan::is_template;

/// The function behind a mark; no configuration has a reason to name its variables so.
const MARK: &str = "__hookgate_mark";

/// A text that was filled in.
pub(super) struct Rendered {
    /// What is YAML now.
    pub text: String,
    /// Where its parts come from.
    pub origin: Origin,
    /// Expressions that wrote nothing because of a variable that is not set, by number.
    pub unset: Vec<usize>,
}

/// Fills in a text.
pub(super) fn render(source: &str, environment: &Environment) -> Result<Rendered, Broken> {
    let marked = Marked::new(source);
    let seen = Arc::new(Seen::default());
    seen.lock().begins = marked.begins();
    let mut engine = filters::engine();
    let marks = Arc::clone(&seen);
    engine.add_function(MARK, |number: usize| Value::from_object(Mark(number)));
    engine.set_formatter(move |out, state, value| format(&marks, out, state, value));
    let variables = Variables::new(environment.clone(), Arc::clone(&seen));
    let context = Value::from_iter([("env", Value::from_object(variables))]);
    let mut sink = Sink::new(Arc::clone(&seen));
    let ended = engine
        .template_from_str(&marked.template)
        .and_then(|template| template.render_captured_to(context, &mut sink).map(drop));
    let seen = std::mem::take(&mut *seen.lock());
    if let Some((name, expression)) = &seen.unreadable {
        let at = expression.map(|number| &marked.expressions[number].span);
        return Err(Broken {
            message: format!("template: the variable is not UTF-8: {}", shown(name)),
            hint: None,
            at: at.map_or(Place::START, |span| Source::new(source).place(span.clone())),
        });
    }
    ended.map_err(|error| marked.broken(source, &error, &seen, &sink))?;
    // INVARIANT: the sink was only given whole strings.
    let text = String::from_utf8(sink.text).unwrap_or_default();
    let segments = seen
        .marks
        .iter()
        .map(|(at, mark)| marked.segment(*at, *mark))
        .collect();
    let unset = marked.unset(&seen);
    let origin = Origin::new(source, &text, segments, marked.expressions);
    Ok(Rendered {
        text,
        origin,
        unset,
    })
}
