//! The vectors that every host is held to, and what runs them.
//!
//! [`Suite::load`] reads `vectors/*.json`; [`Suite::run`] puts every step before an engine made of the
//! hosts a test hands in and lists each [`Difference`] from the expected outcome. Which implementation
//! of a policy answers is a [`Kind`]: the Rust component, the compiled Python component, or the legacy
//! class in a worker. [`guests::build`] makes the guests, once a process.
//!
//! Expected values were worked out by `vectors/make.py`, independently of this project's Rust code.

pub mod canonical;
pub mod guests;
mod run;
mod suite;

pub use run::{Difference, Kind, Setup, assert_none};
pub use suite::{Expected, PluginEntry, SetupEntry, Step, Suite, Vector};
