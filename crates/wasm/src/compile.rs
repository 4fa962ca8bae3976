//! Compiling a component ahead of time, and where code came from.

use std::path::Path;
use std::time::{Duration, Instant};

use hookgate_core::LoadError;

use crate::contract::Exports;
use crate::host::WasmHost;

/// Where a component's code came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CodeOrigin {
    /// It was compiled by this host.
    Compiled,
    /// It was in the code cache.
    Cache,
}

/// How often code came from where, since the host was made. Components whose code is shared with one that
/// is loaded already do not count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodeCounts {
    /// Components that were compiled.
    pub compiled: u64,
    /// Components whose code was in the code cache.
    pub cached: u64,
}

/// A component that was compiled ahead of time.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CompiledComponent {
    /// The digest of its file, as `digest:` pins it: `sha256:` and 64 hexadecimal digits.
    pub digest: String,
    /// Where its code came from.
    pub origin: CodeOrigin,
    /// Bytes of its code.
    pub code_bytes: u64,
    /// How long reading and compiling, or taking its code from the cache, took.
    pub took: Duration,
    /// Why its code is not in the cache now, so that the next start compiles it again.
    pub not_kept: Option<LoadError>,
}

impl WasmHost {
    /// Fills the code cache with one component's code, unless it is there already. No instance is made:
    /// what the component imports and whether it takes its config is seen when a plugin loads.
    ///
    /// # Errors
    ///
    /// If the file is no component for this engine, or its digest is not the `pinned` one.
    pub async fn compile(
        &self,
        file: &Path,
        pinned: Option<&str>,
    ) -> Result<CompiledComponent, LoadError> {
        let started = Instant::now();
        let engine = self.runtime.engine();
        let component = self.components.get(engine, file, pinned).await?;
        let took = started.elapsed();
        let compiled = &component.compiled;
        Exports::of(&compiled.component, engine)?;
        let no_cache = || LoadError::new("this host has no code cache");
        Ok(CompiledComponent {
            digest: compiled.digest.clone(),
            origin: compiled.origin,
            code_bytes: compiled.code_bytes,
            took,
            not_kept: match self.components.has_cache() {
                true => compiled.not_kept.clone(),
                false => Some(no_cache()),
            },
        })
    }

    /// How often code was compiled, and how often it was in the cache.
    #[must_use]
    pub fn code_counts(&self) -> CodeCounts {
        self.components.counts()
    }
}
