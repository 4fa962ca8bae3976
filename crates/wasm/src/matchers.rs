//! [`Matchers`]: what a plugin has compiled, kept for its next instances.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hookgate_core::{Matcher, Refusal, Syntax};

/// Matchers kept per plugin. A policy has a handful; one that makes a new one each call gets it
/// compiled each call and takes no more room.
const MAX_MATCHERS: usize = 32;
/// Bytes of compiled patterns kept per plugin. Deny-lists of thousands of words take some megabytes; what
/// goes over is compiled anew for each instance that asks.
const MAX_MATCHER_BYTES: usize = 64 << 20;

/// What a matcher is compiled from.
type Source = (Vec<String>, Syntax);

/// Matchers by what they were compiled from, so that each instance after the first finds them ready.
#[derive(Default)]
pub(crate) struct Matchers {
    compiled: Mutex<Compiled>,
}

#[derive(Default)]
struct Compiled {
    by_source: HashMap<Source, Arc<Matcher>>,
    bytes: usize,
}

impl Matchers {
    pub(crate) fn compile(
        &self,
        patterns: Vec<String>,
        syntax: Syntax,
    ) -> Result<Arc<Matcher>, Refusal> {
        let source = (patterns, syntax);
        if let Some(matcher) = self.lock().by_source.get(&source) {
            return Ok(Arc::clone(matcher));
        }
        let matcher = Arc::new(Matcher::compile(&source.0, syntax)?);
        let bytes = matcher.memory_bytes() + source.0.iter().map(String::len).sum::<usize>();
        let mut compiled = self.lock();
        let room = MAX_MATCHER_BYTES.saturating_sub(compiled.bytes);
        // Another instance may have been quicker.
        let is_new = !compiled.by_source.contains_key(&source);
        if is_new && compiled.by_source.len() < MAX_MATCHERS && bytes <= room {
            compiled.bytes += bytes;
            compiled.by_source.insert(source, Arc::clone(&matcher));
        }
        Ok(matcher)
    }

    fn lock(&self) -> MutexGuard<'_, Compiled> {
        self.compiled.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
