//! A component's file: read, recognised, compiled once however many entries name it.

use std::collections::{HashMap, HashSet};
use std::io::Read as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use hookgate_core::LoadError;
use sha2::{Digest as _, Sha256};
use tokio::sync::OnceCell;
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::cache::{Code, CodeCache, Key};
use crate::compile::{CodeCounts, CodeOrigin};
use crate::limits::MAX_COMPONENT_BYTES;
use crate::options::CodeCacheOptions;
use crate::parts;

/// A compiled component and the digest of its file.
pub(crate) struct Compiled {
    pub(crate) component: Component,
    /// `sha256:` and hexadecimal digits.
    pub(crate) digest: String,
    /// Bytes of its file.
    pub(crate) bytes: u64,
    pub(crate) origin: CodeOrigin,
    pub(crate) code_bytes: u64,
    /// Why its code is not in the cache, if there is one.
    pub(crate) not_kept: Option<LoadError>,
}

/// Components compiled so far and still in use, by digest.
pub(crate) struct Components {
    by_digest: Mutex<HashMap<String, Weak<OnceCell<Arc<Compiled>>>>>,
    cache: Option<Arc<CodeCache>>,
    counts: Mutex<CodeCounts>,
    /// What was said about the cache; once is enough.
    said: Mutex<HashSet<String>>,
}

impl Components {
    pub(crate) fn new(cache: Option<CodeCacheOptions>) -> Self {
        Self {
            by_digest: Mutex::default(),
            cache: cache.map(|options| Arc::new(CodeCache::new(options))),
            counts: Mutex::default(),
            said: Mutex::default(),
        }
    }

    pub(crate) fn has_cache(&self) -> bool {
        self.cache.is_some()
    }

    pub(crate) fn counts(&self) -> CodeCounts {
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a component that may run, and warns if its code could not be kept. See [`Self::get`].
    pub(crate) async fn load(
        &self,
        engine: &Engine,
        file: &Path,
        pinned: Option<&str>,
    ) -> Result<SharedComponent, LoadError> {
        let component = self.get(engine, file, pinned).await?;
        if let Some(problem) = &component.compiled.not_kept {
            let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
            if said.insert(problem.message.clone()) {
                let hint = problem.hint.as_deref().unwrap_or_default();
                tracing::warn!(
                    "{}; components are compiled at every start; hint: {hint}",
                    problem.message
                );
            }
        }
        Ok(component)
    }

    /// Reads the file and compiles it, or takes its code from the cache, or shares what another entry with
    /// equal bytes has. Of a file whose digest is not the pinned one nothing more is looked at.
    pub(crate) async fn get(
        &self,
        engine: &Engine,
        file: &Path,
        pinned: Option<&str>,
    ) -> Result<SharedComponent, LoadError> {
        let path = file.to_owned();
        let (bytes, hash) = blocking(move || {
            let bytes = read(&path)?;
            let hash: [u8; 32] = Sha256::digest(&bytes).into();
            Ok((bytes, hash))
        })
        .await??;
        let digest = format!("sha256:{}", hex(&hash));
        check_pin(file, &digest, pinned)?;
        let cell = self.cell(&digest);
        let size = bytes.len() as u64;
        let (engine, cache) = (engine.clone(), self.cache.clone());
        let make = || async {
            let code = blocking(move || match cache {
                Some(cache) => cache.get_or_compile(&engine, &Key::new(hash, &engine), || {
                    compile(&engine, &bytes)
                }),
                None => Ok(Code::compiled(compile(&engine, &bytes)?, None)),
            })
            .await??;
            self.count(code.origin);
            Ok(Arc::new(Compiled {
                component: code.component,
                digest,
                bytes: size,
                origin: code.origin,
                code_bytes: code.bytes,
                not_kept: code.not_kept.map(|problem| problem.to_error()),
            }))
        };
        let compiled = Arc::clone(cell.get_or_try_init(make).await?);
        Ok(SharedComponent {
            compiled,
            _cell: cell,
        })
    }

    fn count(&self, origin: CodeOrigin) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        match origin {
            CodeOrigin::Compiled => counts.compiled += 1,
            CodeOrigin::Cache => counts.cached += 1,
        }
    }

    fn cell(&self, digest: &str) -> Arc<OnceCell<Arc<Compiled>>> {
        let mut cells = self
            .by_digest
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        cells.retain(|_, cell| cell.strong_count() > 0);
        if let Some(cell) = cells.get(digest).and_then(Weak::upgrade) {
            return cell;
        }
        let cell = Arc::new(OnceCell::new());
        cells.insert(digest.to_owned(), Arc::downgrade(&cell));
        cell
    }
}

/// A compiled component that others with equal bytes share while anybody holds it.
pub(crate) struct SharedComponent {
    pub(crate) compiled: Arc<Compiled>,
    _cell: Arc<OnceCell<Arc<Compiled>>>,
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, LoadError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| LoadError::new(format!("loading was cut short: {error}")))
}

fn read(file: &Path) -> Result<Vec<u8>, LoadError> {
    let error = |error: std::io::Error| {
        LoadError::new(format!("cannot read component {}: {error}", file.display()))
            .hint("`component:` is a path relative to the configuration file")
    };
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let name = file
        .file_name()
        .ok_or_else(|| error(std::io::ErrorKind::IsADirectory.into()))?;
    // The folder is the operator's word, the file must lie in it: a link out of it is not followed.
    let folder = Dir::open_ambient_dir(folder, ambient_authority()).map_err(error)?;
    let mut bytes = Vec::new();
    folder
        .open(name)
        .map_err(error)?
        .take(MAX_COMPONENT_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(error)?;
    if bytes.len() as u64 > MAX_COMPONENT_BYTES {
        return Err(LoadError::new(format!(
            "component {} is larger than {MAX_COMPONENT_BYTES} bytes",
            file.display()
        )));
    }
    recognise(&bytes, file)?;
    Ok(bytes)
}

/// Tells a component from what people give by mistake. Bytes 4 to 8 hold version and layer.
fn recognise(bytes: &[u8], file: &Path) -> Result<(), LoadError> {
    let file = file.display();
    match (bytes.get(..4), bytes.get(4..8)) {
        (Some(b"\0asm"), Some([_, _, 1, 0])) => Ok(()),
        (Some(b"\0asm"), Some([_, _, 0, 0])) => Err(LoadError::new(format!(
            "{file} is a core module, not a component"
        ))
        .hint("build for wasm32-wasip2, or wrap it with `wasm-tools component new`")),
        _ => Err(
            LoadError::new(format!("{file} is not a WebAssembly component")).hint(
                "`component:` names a .wasm file made for one of the worlds of wit/plugin.wit",
            ),
        ),
    }
}

fn compile(engine: &Engine, bytes: &[u8]) -> Result<Component, LoadError> {
    parts::check(bytes)?;
    Component::from_binary(engine, bytes).map_err(|error| {
        LoadError::new(format!(
            "the component is not valid: {}",
            error.root_cause()
        ))
        .detail(format!("{error:#}"))
    })
}

/// A pin holds the bytes that somebody has looked at: others are not even compiled.
fn check_pin(file: &Path, digest: &str, pinned: Option<&str>) -> Result<(), LoadError> {
    let Some(pinned) = pinned.filter(|pinned| *pinned != digest) else {
        return Ok(());
    };
    Err(LoadError::new(format!(
        "component {} is not the pinned one: it is {digest}, `digest:` says {pinned}",
        file.display()
    ))
    .hint(format!(
        "put the pinned file back; or, if this one is to run, write `digest: {digest}`"
    )))
}

/// Bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
