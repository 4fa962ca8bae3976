//! A component's file: read, recognised, compiled once however many entries name it.

use std::collections::HashMap;
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

use crate::limits::MAX_COMPONENT_BYTES;

/// A compiled component and the digest of its file.
pub(crate) struct Compiled {
    pub(crate) component: Component,
    /// `sha256:` and hexadecimal digits.
    pub(crate) digest: String,
    /// Bytes of its file.
    pub(crate) bytes: u64,
}

/// Components compiled so far and still in use, by digest.
#[derive(Default)]
pub(crate) struct Components {
    by_digest: Mutex<HashMap<String, Weak<OnceCell<Arc<Compiled>>>>>,
}

impl Components {
    /// Reads and compiles the file, or shares what another entry with equal bytes has compiled.
    pub(crate) async fn load(
        &self,
        engine: &Engine,
        file: &Path,
    ) -> Result<SharedComponent, LoadError> {
        let path = file.to_owned();
        let bytes = blocking(move || read(&path)).await??;
        let digest = digest(&bytes);
        let cell = self.cell(&digest);
        let engine = engine.clone();
        let compile = || async {
            let size = bytes.len() as u64;
            let component = blocking(move || compile(&engine, &bytes)).await??;
            Ok(Arc::new(Compiled {
                component,
                digest,
                bytes: size,
            }))
        };
        let compiled = Arc::clone(cell.get_or_try_init(compile).await?);
        Ok(SharedComponent {
            compiled,
            _cell: cell,
        })
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
    Component::from_binary(engine, bytes).map_err(|error| {
        LoadError::new(format!(
            "the component is not valid: {}",
            error.root_cause()
        ))
        .detail(format!("{error:#}"))
    })
}

fn digest(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(bytes)
        .iter()
        .fold(String::from("sha256:"), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}
