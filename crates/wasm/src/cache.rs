//! [`CodeCache`]: compiled code that outlives the process, in a folder of this user alone.
//!
//! A file has the name of its component's digest and of a hash of all that decides what the engine's code
//! looks like ([`Key`]). It is written under another name and renamed, so it is there whole or not at all,
//! and is never changed afterwards; two processes that write the same one write the same bytes.
//!
//! Code from the cache runs with all our power. [`map`] has the list of what is known of a file by then.
//! What is not as it should be is compiled again: replaced if it is ours, left alone if it is not.

mod folder;
mod map;
mod problem;
mod prune;
mod seal;

use std::time::SystemTime;

use hookgate_core::LoadError;
use wasmtime::Engine;
use wasmtime::component::Component;

pub(crate) use problem::CacheProblem;
pub(crate) use seal::Key;

use crate::compile::CodeOrigin;
use crate::options::CodeCacheOptions;
use folder::{Folder, Found};

/// The code cache of a host.
pub(crate) struct CodeCache {
    options: CodeCacheOptions,
}

/// A component, and where its code came from.
pub(crate) struct Code {
    pub(crate) component: Component,
    pub(crate) bytes: u64,
    pub(crate) origin: CodeOrigin,
    /// Why the next start compiles it again.
    pub(crate) not_kept: Option<CacheProblem>,
}

impl Code {
    /// Code that was made here.
    pub(crate) fn compiled(component: Component, not_kept: Option<CacheProblem>) -> Self {
        let image = component.image_range();
        Self {
            bytes: (image.end.addr() - image.start.addr()) as u64,
            component,
            origin: CodeOrigin::Compiled,
            not_kept,
        }
    }
}

impl CodeCache {
    pub(crate) fn new(options: CodeCacheOptions) -> Self {
        Self { options }
    }

    /// The code of `key` from the cache, or what `compile` makes, which is kept from then on.
    pub(crate) fn get_or_compile(
        &self,
        engine: &Engine,
        key: &Key,
        compile: impl FnOnce() -> Result<Component, LoadError>,
    ) -> Result<Code, LoadError> {
        // Looked at for every component: what an operator puts right counts from the next load on.
        let folder = match Folder::open(&self.options.folder) {
            Ok(folder) => folder,
            Err(problem) => return Ok(Code::compiled(compile()?, Some(problem))),
        };
        let name = key.file_name();
        let unusable = match folder.find(&name) {
            Found::Nothing => None,
            Found::Foreign(owner) => {
                let path = folder.path_of(&name);
                let problem = CacheProblem::ForeignFile { path, owner };
                return Ok(Code::compiled(compile()?, Some(problem)));
            }
            Found::Unsound(why) => Some(why),
            Found::Sound(file) => match taken(engine, key, file) {
                Ok(code) => return Ok(code),
                Err(why) => Some(why),
            },
        };
        if let Some(why) = unusable {
            let path = folder.path_of(&name);
            tracing::warn!(path = %path.display(), "a file in the code cache cannot be used, so its component is compiled again: {why}");
        }
        let component = compile()?;
        let not_kept = self.keep(&folder, &name, key, &component).err();
        Ok(Code::compiled(component, not_kept))
    }

    fn keep(
        &self,
        folder: &Folder,
        name: &str,
        key: &Key,
        component: &Component,
    ) -> Result<(), CacheProblem> {
        let failed = |source| CacheProblem::Write {
            path: self.options.folder.clone(),
            source,
        };
        let code = component
            .serialize()
            .map_err(|error| failed(std::io::Error::other(format!("{error:#}"))))?;
        let seal = key.seal(&code);
        let (bytes, max_bytes) = ((code.len() + seal.len()) as u64, self.options.max_bytes);
        if bytes > max_bytes {
            return Err(CacheProblem::TooLarge { bytes, max_bytes });
        }
        folder.replace(name, &[&code, &seal])?;
        if let Err(error) = prune::prune(folder, max_bytes, SystemTime::now()) {
            let path = self.options.folder.display();
            tracing::warn!(%path, "the code cache may be larger than {max_bytes} bytes: old files in it cannot be removed: {error}; hint: remove them by hand");
        }
        Ok(())
    }
}

/// Code from a file, if it is what it should be.
fn taken(engine: &Engine, key: &Key, file: folder::Sound) -> Result<Code, String> {
    let verified = key.verified(file)?;
    let component = map::map(engine, &verified).map_err(|error| format!("{error:#}"))?;
    // Only for the order in which files go; where it cannot be written, files do not go either.
    if let Err(error) = verified.file().set_modified(SystemTime::now()) {
        tracing::debug!("a file of the code cache keeps its time of use: {error}");
    }
    Ok(Code {
        component,
        bytes: verified.code_bytes(),
        origin: CodeOrigin::Cache,
        not_kept: None,
    })
}
