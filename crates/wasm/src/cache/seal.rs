//! [`Key`] and its seal: what stands behind the code in a file, so that damage is found and files are not
//! confused.
//!
//! ```text
//! code                what wasmtime wrote: an ELF image, which says itself where its parts end
//! magic     16 bytes  the format
//! component 32 bytes  SHA-256 of the component's file
//! engine    32 bytes  SHA-256 of everything that decides what the engine's code looks like
//! length     8 bytes  bytes of code, little endian
//! checksum  32 bytes  SHA-256 of all before it
//! ```
//!
//! The seal stands at the end because code is mapped from a page's beginning. It tells damage, not
//! forgery: against that stand owner and mode of the file and its folder.

use std::fs::File;
use std::hash::{Hash as _, Hasher};
use std::io::{self, Read, Seek as _};

use sha2::{Digest as _, Sha256};
use wasmtime::Engine;

use super::folder::Sound;
use crate::component::hex;

/// Raised whenever files are made in another way, so that old ones are not taken for new ones.
const MAGIC: [u8; 16] = *b"hookgate-code-1\n";
const CHECKSUM_BYTES: usize = 32;
/// Bytes behind the code.
pub(super) const SEAL_BYTES: usize = MAGIC.len() + 32 + 32 + 8 + CHECKSUM_BYTES;
/// Bytes read at once while a file is checked: the processor's nearest caches hold them.
const CHUNK_BYTES: usize = 128 << 10;
/// Digits of the engine's hash in a file's name. The seal has all of them.
const ENGINE_NAME_DIGITS: usize = 16;

/// Which component's code, for which engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    component: [u8; 32],
    engine: [u8; 32],
}

impl Key {
    pub(crate) fn new(component: [u8; 32], engine: &Engine) -> Self {
        let mut hasher = EngineHasher(Sha256::new());
        engine.precompile_compatibility_hash().hash(&mut hasher);
        Self {
            component,
            engine: hasher.0.finalize().into(),
        }
    }

    /// The name of its file.
    pub(super) fn file_name(&self) -> String {
        let (component, engine) = (hex(&self.component), hex(&self.engine));
        format!("{component}-{}{CODE}", &engine[..ENGINE_NAME_DIGITS])
    }

    fn fields(&self, code_bytes: u64) -> [u8; SEAL_BYTES - CHECKSUM_BYTES] {
        let mut fields = [0; SEAL_BYTES - CHECKSUM_BYTES];
        let length = code_bytes.to_le_bytes();
        let parts: [&[u8]; 4] = [&MAGIC, &self.component, &self.engine, &length];
        for (to, from) in fields.iter_mut().zip(parts.into_iter().flatten()) {
            *to = *from;
        }
        fields
    }

    /// The seal of `code`.
    pub(super) fn seal(&self, code: &[u8]) -> [u8; SEAL_BYTES] {
        let fields = self.fields(code.len() as u64);
        let checksum = Sha256::new().chain_update(code).chain_update(fields);
        let mut seal = [0; SEAL_BYTES];
        seal[..fields.len()].copy_from_slice(&fields);
        seal[fields.len()..].copy_from_slice(&checksum.finalize());
        seal
    }

    /// Reads a file and compares it with its seal; or says why it is not this key's.
    pub(super) fn verified(&self, file: Sound) -> Result<Verified, String> {
        let (file, file_bytes) = file.into_parts();
        let code_bytes = self
            .verify(&file, file_bytes)
            .map_err(|error| format!("it cannot be read: {error}"))??;
        Ok(Verified {
            key: *self,
            file,
            file_bytes,
            code_bytes,
        })
    }

    /// Reads `file_bytes` and compares them with their seal. Gives the bytes of code, or why they are not
    /// this key's.
    fn verify(
        &self,
        mut file: impl Read,
        file_bytes: u64,
    ) -> io::Result<Result<u64, &'static str>> {
        let Some(code_bytes) = file_bytes.checked_sub(SEAL_BYTES as u64) else {
            return Ok(Err("it is too short"));
        };
        let mut checksum = Sha256::new();
        let mut chunk = vec![0; CHUNK_BYTES];
        let mut left = code_bytes;
        while left > 0 {
            let wanted = usize::try_from(left).unwrap_or(usize::MAX);
            let part = &mut chunk[..wanted.min(CHUNK_BYTES)];
            file.read_exact(part)?;
            checksum.update(&*part);
            left -= part.len() as u64;
        }
        let mut seal = [0; SEAL_BYTES];
        file.read_exact(&mut seal)?;
        let (fields, expected) = seal.split_at(SEAL_BYTES - CHECKSUM_BYTES);
        checksum.update(fields);
        if checksum.finalize()[..] != *expected {
            return Ok(Err("its checksum is not that of its bytes"));
        }
        if *fields != self.fields(code_bytes) {
            return Ok(Err("it is of another component, engine or format"));
        }
        Ok(Ok(code_bytes))
    }
}

/// A file in a place that is ours alone, whose bytes are those that were written there for its key.
///
/// INVARIANT: only [`Key::verified`] makes one.
pub(super) struct Verified {
    key: Key,
    file: File,
    file_bytes: u64,
    code_bytes: u64,
}

impl Verified {
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    pub(super) fn code_bytes(&self) -> u64 {
        self.code_bytes
    }

    /// Its code, for where it cannot be mapped. It is compared once more, since it is read once more.
    pub(super) fn read(&self) -> io::Result<Vec<u8>> {
        let (mut file, mut bytes) = (&self.file, Vec::new());
        file.rewind()?;
        file.take(self.file_bytes).read_to_end(&mut bytes)?;
        let code_bytes = self.key.verify(&bytes[..], bytes.len() as u64)?;
        let code_bytes = code_bytes.map_err(io::Error::other)?;
        // INVARIANT: no more than was read, which is in memory.
        bytes.truncate(usize::try_from(code_bytes).unwrap_or_default());
        Ok(bytes)
    }
}

/// The ending of files of code, of every engine and format.
pub(super) const CODE: &str = ".cwasm";

/// Whether a file is one of ours by its name: two words of hexadecimal digits and the ending.
pub(super) fn is_code(name: &str) -> bool {
    let words = name
        .strip_suffix(CODE)
        .and_then(|stem| stem.split_once('-'));
    let is_hex = |word: &str, digits: usize| {
        word.len() == digits && word.bytes().all(|digit| digit.is_ascii_hexdigit())
    };
    words.is_some_and(|(component, engine)| {
        is_hex(component, 64) && is_hex(engine, ENGINE_NAME_DIGITS)
    })
}

/// Gives every byte that is hashed to SHA-256: the standard library's own hash is no key to live with.
struct EngineHasher(Sha256);

impl Hasher for EngineHasher {
    fn write(&mut self, bytes: &[u8]) {
        // Lengths, so that neighbouring fields cannot swap bytes.
        self.0.update(bytes.len().to_le_bytes());
        self.0.update(bytes);
    }

    /// Not used: the key takes the whole SHA-256.
    fn finish(&self) -> u64 {
        let digest = self.0.clone().finalize();
        digest
            .iter()
            .take(8)
            .fold(0, |sum, byte| sum << 8 | u64::from(*byte))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(component: u8, engine: u8) -> Key {
        Key {
            component: [component; 32],
            engine: [engine; 32],
        }
    }

    fn file(key: &Key, code: &[u8]) -> Vec<u8> {
        [code, &key.seal(code)].concat()
    }

    fn verify(key: &Key, file: &[u8]) -> Result<u64, &'static str> {
        key.verify(file, file.len() as u64).expect("bytes are read")
    }

    #[test]
    fn a_sealed_file_is_whole() {
        for length in [
            0,
            1,
            CHUNK_BYTES - 1,
            CHUNK_BYTES,
            CHUNK_BYTES + 1,
            3 * CHUNK_BYTES,
        ] {
            let code: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
            assert_eq!(
                verify(&key(1, 2), &file(&key(1, 2), &code)),
                Ok(length as u64)
            );
        }
    }

    #[test]
    fn every_flipped_bit_and_every_shorter_or_longer_file_is_found() {
        let key = key(1, 2);
        let whole = file(&key, b"some code");
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut flipped = whole.clone();
                flipped[at] ^= 1 << bit;
                assert!(verify(&key, &flipped).is_err(), "byte {at}, bit {bit}");
            }
            assert!(verify(&key, &whole[..at]).is_err(), "{at} bytes");
        }
        assert!(verify(&key, &[&whole[..], b"x"].concat()).is_err());
    }

    #[test]
    fn a_file_of_another_key_is_not_this_ones() {
        let whole = file(&key(1, 2), b"some code");
        for other in [key(1, 3), key(3, 2)] {
            assert_eq!(
                verify(&other, &whole),
                Err("it is of another component, engine or format")
            );
        }
    }

    #[test]
    fn a_file_that_ends_too_early_is_an_error() {
        let whole = file(&key(1, 2), b"some code");
        let longer = whole.len() as u64 + 1;
        assert!(key(1, 2).verify(&whole[..], longer).is_err());
    }

    #[test]
    fn names_are_of_keys_and_nothing_else() {
        let name = key(0xab, 0xcd).file_name();
        let digits = "ab".repeat(32);
        assert_eq!(name, format!("{digits}-cdcdcdcdcdcdcdcd.cwasm"));
        assert!(is_code(&name));
        for other in [
            "",
            ".cwasm",
            "plugin.cwasm",
            &name[1..],
            &format!("{name}.bak"),
            &digits,
        ] {
            assert!(!is_code(other), "{other}");
        }
    }

    #[test]
    fn the_engine_is_part_of_the_key() {
        let engine = |fuel| {
            let mut config = wasmtime::Config::new();
            config.consume_fuel(fuel);
            Engine::new(&config).expect("wasmtime starts")
        };
        let of = |engine: &Engine| Key::new([0; 32], engine);
        assert_eq!(of(&engine(false)), of(&engine(false)));
        assert_ne!(of(&engine(false)), of(&engine(true)));
    }
}
