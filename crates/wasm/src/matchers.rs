//! [`Matchers`]: what a plugin has compiled, kept for its next instances.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hookgate_core::{Matcher, Refusal, Syntax};

/// Matchers kept per plugin. A policy has a handful; one that makes a new one each call gets it
/// compiled each call and takes no more room.
const MAX_MATCHERS: usize = 32;

/// What a matcher is compiled from.
type Source = (Vec<String>, Syntax);

/// Matchers by what they were compiled from, so that each instance after the first finds them ready.
#[derive(Default)]
pub(crate) struct Matchers {
    compiled: Mutex<HashMap<Source, Arc<Matcher>>>,
}

impl Matchers {
    pub(crate) fn compile(
        &self,
        patterns: Vec<String>,
        syntax: Syntax,
    ) -> Result<Arc<Matcher>, Refusal> {
        let source = (patterns, syntax);
        if let Some(matcher) = self.lock().get(&source) {
            return Ok(Arc::clone(matcher));
        }
        let matcher = Arc::new(Matcher::compile(&source.0, syntax)?);
        let mut compiled = self.lock();
        if compiled.len() < MAX_MATCHERS {
            compiled.insert(source, Arc::clone(&matcher));
        }
        Ok(matcher)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Source, Arc<Matcher>>> {
        self.compiled.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
