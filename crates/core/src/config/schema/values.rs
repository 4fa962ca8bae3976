//! The words, numbers and paths of a configuration. The patterns say what the reader accepts, no more.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::super::defaults::SIZE_MAX_BYTES;
use super::super::hooks;

/// The units of `humantime`, and what it allows between them.
const DURATION: &str = r"^\s*([0-9][0-9\s]*(\.[0-9][0-9\s]*)?(nanos|nsec|ns|usec|us|µs|millis|msec|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d|weeks?|wks?|w|months?|M|years?|yrs?|y)\s*)+$";
/// The units of `bytesize`, in any case.
const SIZE: &str = r"^([0-9]+\.?|[0-9]*\.[0-9]+)\s*([bB]|[kKmMgGtTpPeE][iI]?[bB]?)$";
/// The same without a unit, too.
const COUNT: &str = r"^(\+?[0-9]+|([0-9]+\.?|[0-9]*\.[0-9]+)\s*([bB]|[kKmMgGtTpPeE][iI]?[bB]?))$";
/// Identifiers joined by dots, a module and a class at least.
const CLASS: &str =
    r"^[\p{Alphabetic}_][\p{Alphabetic}\p{N}_]*(\.[\p{Alphabetic}_][\p{Alphabetic}\p{N}_]*)+$";

/// Printable characters, at least one.
pub(super) const WORD: &str = r"^[^\u0000-\u001f\u007f-\u009f]+$";

/// Declares a kind of string: its name, what an editor shows, its pattern, an example.
macro_rules! text {
    ($($(#[doc = $doc:literal])+ $name:ident = $pattern:expr, [$($example:expr),*];)+) => {$(
        $(#[doc = $doc])+
        pub(super) struct $name;

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let examples: &[&str] = &[$($example),*];
                let mut schema = json_schema!({
                    "description": concat!($($doc),+).trim(),
                    "type": "string",
                    "pattern": $pattern,
                });
                if !examples.is_empty() {
                    schema.insert("examples".into(), examples.into());
                }
                schema
            }
        }
    )+};
}

text! {
    /// Printable characters, at least one.
    Word = WORD, ["pii-filter"];
    /// Printable characters, or nothing.
    Printable = r"^[^\u0000-\u001f\u007f-\u009f]*$", [];
    /// A path, from this file's folder if it is not absolute.
    HostPath = r"^[^\u0000]+$", ["./data"];
    /// An absolute path without `.` and `..`.
    GuestPath = r"^/(?!(.*/)?\.\.?(/|$))[^\u0000-\u001f\u007f-\u009f]*$", ["/data"];
    /// `sha256:` and 64 hexadecimal digits.
    ComponentDigest = r"^sha256:[0-9A-Fa-f]{64}$", [];
    /// The name of an environment variable.
    EnvName = r"^[^\u0000-\u001f\u007f-\u009f=]+$", ["API_BASE"];
    /// A name, `*.` and a name for every name below it, an address, or a range of addresses.
    HostName = r"^[A-Za-z0-9_.:*/-]+$", ["api.example.com", "*.example.com", "192.0.2.7", "10.0.0.0/8"];
    /// The name a plugin asks for a secret by.
    SecretName = r"^[A-Za-z0-9_.-]{1,128}$", ["API_TOKEN"];
    /// A program, or one of its arguments.
    CommandWord = r"^[^\u0000]*$", [];
    /// A requirement as installers take it, no option.
    Requirement = r"^(?!\s*-)[^\u0000-\u001f\u007f-\u009f]+$", ["cpex-pii-filter==0.3.9"];
    /// A duration: numbers with units.
    Duration = DURATION, ["50ms", "1m 30s"];
    /// A size: a number with a unit.
    Size = SIZE, ["64MiB", "1GB"];
}

/// Declares a value that may be one of several: its name, what an editor shows, the choices.
macro_rules! one_of {
    ($($(#[doc = $doc:literal])+ $name:ident = $choices:tt;)+) => {$(
        $(#[doc = $doc])+
        pub(super) struct $name;

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({"description": concat!($($doc),+).trim(), "anyOf": $choices})
            }
        }
    )+};
}

one_of! {
    /// A number of bytes, or a size such as 10MB.
    ByteCount = [
        {"type": "integer", "minimum": 1, "maximum": SIZE_MAX_BYTES},
        {"type": "string", "pattern": COUNT, "examples": ["10MB"]}
    ];
    /// `wasm`, or the dotted path of a Python class.
    Kind = [
        {"type": "string", "const": "wasm"},
        {"type": "string", "pattern": CLASS, "examples": ["package.module.Class"]}
    ];
    /// A hook's name: a known one, or one of the gateway's own.
    HookName = [
        {"type": "string", "enum": hooks::known_hooks().collect::<Vec<_>>()},
        {"type": "string", "pattern": "^[A-Za-z0-9_.-]+$"}
    ];
    /// A version, in quotes or not.
    Version = [{"type": "string"}, {"type": "number"}];
}
