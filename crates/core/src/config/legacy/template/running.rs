//! What a template does while it runs: its variables, its marks, its output.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use minijinja::value::{Object, ObjectRepr, Value};
use minijinja::{AutoEscape, Error, ErrorKind, State};

use super::python;
use crate::config::MAX_CONFIG_BYTES;
use crate::config::options::Environment;

/// A mark as a value: whoever prints it says where the output stands.
#[derive(Debug)]
pub(super) struct Mark(pub usize);

impl Object for Mark {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }
}

/// What happened while a template ran.
#[derive(Default)]
pub(super) struct Notes {
    written: usize,
    /// Length of the output at each mark, and its number.
    pub marks: Vec<(usize, usize)>,
    /// The expression that runs.
    current: Option<usize>,
    /// Expressions whose value was undefined.
    pub undefined: Vec<usize>,
    /// Expressions that asked for a variable that is not set.
    pub missing: Vec<usize>,
    /// The first variable that is no text, and who asked for it.
    pub unreadable: Option<(String, Option<usize>)>,
    /// For each mark, the expression it begins.
    pub begins: Vec<Option<usize>>,
}

#[derive(Default)]
pub(super) struct Seen(Mutex<Notes>);

impl Seen {
    pub fn lock(&self) -> MutexGuard<'_, Notes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes a value as the framework does.
pub(super) fn format(
    seen: &Seen,
    out: &mut minijinja::Output<'_>,
    state: &State<'_, '_>,
    value: &Value,
) -> Result<(), Error> {
    if let Some(Mark(number)) = value.downcast_object_ref::<Mark>() {
        let mut notes = seen.lock();
        let at = notes.written;
        notes.marks.push((at, *number));
        notes.current = notes.begins.get(*number).copied().flatten();
        return Ok(());
    }
    if value.downcast_object_ref::<Variables>().is_some() {
        let message = "env is the whole environment; name one variable: env.NAME";
        return Err(Error::new(ErrorKind::InvalidOperation, message));
    }
    if value.is_undefined() {
        let mut notes = seen.lock();
        let current = notes.current;
        notes.undefined.extend(current);
        return Ok(());
    }
    let text = python::text(value)?;
    let plain = value.is_safe() || matches!(state.auto_escape(), AutoEscape::None);
    let text = if plain { text } else { python::escaped(&text) };
    out.write_str(&text)
        .map_err(|_| Error::from(ErrorKind::WriteFailure))
}

/// `env` in a template.
#[derive(Debug)]
pub(super) struct Variables {
    environment: Environment,
    seen: Arc<Seen>,
}

impl Variables {
    pub fn new(environment: Environment, seen: Arc<Seen>) -> Self {
        Self { environment, seen }
    }

    fn look(&self, name: &str) -> Option<Value> {
        let found = self.environment.get(name);
        let mut notes = self.seen.lock();
        let current = notes.current;
        match found.map(std::ffi::OsString::into_string) {
            Some(Ok(value)) => Some(Value::from(value)),
            Some(Err(_)) => {
                notes.unreadable.get_or_insert((name.to_owned(), current));
                None
            }
            None => {
                notes.missing.extend(current);
                None
            }
        }
    }
}

impl Object for Variables {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.look(key.as_str()?)
    }

    fn call_method(
        self: &Arc<Self>,
        _: &State<'_, '_>,
        method: &str,
        args: &[Value],
    ) -> Result<Value, Error> {
        match (method, args) {
            ("get", [name]) => Ok(name
                .as_str()
                .and_then(|name| self.look(name))
                .unwrap_or(Value::from(()))),
            ("get", [name, default]) => {
                let found = name.as_str().and_then(|name| self.look(name));
                Ok(found.unwrap_or_else(|| default.clone()))
            }
            _ => {
                let message =
                    format!("env has no method `{method}` here; write env.NAME or env.get('NAME')");
                Err(Error::new(ErrorKind::UnknownMethod, message))
            }
        }
    }
}

impl std::fmt::Debug for Seen {
    /// Nothing of what was written.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seen")
    }
}

/// Where the output goes; it counts, and has an end.
pub(super) struct Sink {
    pub text: Vec<u8>,
    seen: Arc<Seen>,
}

impl Sink {
    pub fn new(seen: Arc<Seen>) -> Self {
        let text = Vec::new();
        Self { text, seen }
    }

    /// Whether more was written than a configuration may hold.
    pub fn is_full(&self) -> bool {
        self.text.len() as u64 > MAX_CONFIG_BYTES
    }
}

impl io::Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.extend_from_slice(bytes);
        self.seen.lock().written = self.text.len();
        if self.is_full() {
            return Err(io::Error::from(io::ErrorKind::FileTooLarge));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
