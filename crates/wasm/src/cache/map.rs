//! From a verified file to a component that runs: the one place of this crate where code is trusted.
#![allow(unsafe_code)]

use wasmtime::Engine;
use wasmtime::component::Component;

use super::seal::Verified;

/// Maps the file; where that cannot be, copies its code. An error if wasmtime finds that it is not for
/// this engine.
pub(super) fn map(engine: &Engine, verified: &Verified) -> wasmtime::Result<Component> {
    // What wasmtime cannot map may still be read: there may be no procfs, and a file system that is
    // mounted `noexec` refuses to map code.
    match in_place(engine, verified) {
        Some(Ok(component)) => Ok(component),
        Some(Err(error)) => {
            tracing::debug!("code is copied, since it cannot be mapped: {error:#}");
            copied(engine, verified)
        }
        None => copied(engine, verified),
    }
}

/// None where there is no way to open a file by its descriptor.
#[cfg(target_os = "linux")]
fn in_place(engine: &Engine, verified: &Verified) -> Option<wasmtime::Result<Component>> {
    use std::os::fd::AsRawFd as _;

    // A component is mapped by a path, and this path leads to the very file that the descriptor has open,
    // whatever has its name by now; but only where procfs is what is mounted there.
    const DESCRIPTORS: &str = "/proc/self/fd";
    let mounted = rustix::fs::statfs(DESCRIPTORS).ok()?;
    if mounted.f_type != rustix::fs::PROC_SUPER_MAGIC {
        return None;
    }
    let path = format!("{DESCRIPTORS}/{}", verified.file().as_raw_fd());
    // SAFETY: wasmtime trusts the bytes to be its own and not to change. `Verified` can only be made by
    // `Key::verified` from a `Sound`, that only by `Folder::find` from a `Folder`; so of this descriptor
    // it is known that
    // - its folder was opened without following a link, is a folder, belongs to our effective user, and
    //   neither group nor others may write to it: nobody else can have put a file there;
    // - it was opened without following a link, is a regular file, belongs to our effective user, and
    //   neither group nor others may write to it: nobody else can change it. We never do: files are
    //   written under another name and renamed, and never shortened (`Folder::replace`, `prune`);
    // - its SHA-256 is the one that was written behind its bytes, together with the digest of the
    //   component and all that decides the engine's code, which are those that are asked for: it is
    //   whole, and is what `Component::serialize` gave for this component and such an engine.
    // Wasmtime checks besides that its version, features and processor settings are the engine's.
    // What is left is trust in our own user, who could change this process as well.
    Some(unsafe { Component::deserialize_file(engine, path) })
}

#[cfg(not(target_os = "linux"))]
fn in_place(_: &Engine, _: &Verified) -> Option<wasmtime::Result<Component>> {
    None
}

fn copied(engine: &Engine, verified: &Verified) -> wasmtime::Result<Component> {
    let code = verified.read()?;
    // SAFETY: as for a mapped file, of which these bytes were read; their SHA-256 was compared after
    // that, so that they are the ones that run.
    unsafe { Component::deserialize(engine, code) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::folder::{Folder, Found};
    use crate::cache::seal::Key;

    /// A file of code for `engine`, as it was verified.
    fn verified(engine: &Engine, key: &Key) -> (tempfile::TempDir, Verified) {
        let root = tempfile::tempdir().expect("a folder");
        let folder = Folder::open(root.path()).expect("ours");
        let code = engine.precompile_component(b"\0asm\x0d\0\x01\0");
        let code = code.expect("an empty component");
        let file = key.file_name();
        folder
            .replace(&file, &[&code, &key.seal(&code)])
            .expect("written");
        let Found::Sound(sound) = folder.find(&file) else {
            panic!("it is sound");
        };
        (root, key.verified(sound).expect("it is whole"))
    }

    fn image_bytes(component: &Component) -> u64 {
        let image = component.image_range();
        (image.end.addr() - image.start.addr()) as u64
    }

    #[test]
    fn what_is_not_mapped_is_copied() {
        let engine = Engine::default();
        let key = Key::new([1; 32], &engine);
        let (_root, verified) = verified(&engine, &key);
        let copy = copied(&engine, &verified).expect("it is read");
        assert_eq!(image_bytes(&copy), verified.code_bytes());
        #[cfg(target_os = "linux")]
        {
            let mapped = in_place(&engine, &verified).expect("there is procfs");
            let mapped = mapped.expect("it is mapped");
            // A mapping has the whole file, seal and all.
            assert!(image_bytes(&mapped) > verified.code_bytes());
        }
    }

    #[test]
    fn code_of_another_engine_is_an_error_both_ways() {
        let mut other = wasmtime::Config::new();
        other.consume_fuel(true);
        let other = Engine::new(&other).expect("wasmtime starts");
        let engine = Engine::default();
        // Sealed for the one, made by the other.
        let key = Key::new([1; 32], &engine);
        let (_root, verified) = verified(&other, &key);
        assert!(map(&engine, &verified).is_err());
    }
}
