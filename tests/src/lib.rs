//! The vectors that every host is held to, and what runs them.
//!
//! [`Suite::load`] reads `vectors/*.json`; [`Suite::run`] puts every step before an engine made of the
//! hosts a test hands in and lists each [`Difference`] from the expected outcome. Which implementation
//! of a policy answers is a [`Kind`]: the Rust component, the compiled Python component, the legacy
//! class in a worker, or a trait object in this process ([`in_process`]). A vector runs on every kind
//! that can do what it takes; [`Report::assert_all_of`] sees to it that none is left out in silence.
//! [`guests::build`] makes the guests, once a process.
//!
//! Expected values were worked out by `vectors/make.py`, independently of this project's Rust code.

pub mod canonical;
pub mod guests;
pub mod in_process;
mod kind;
mod run;
mod suite;

pub use kind::Kind;
pub use run::{Difference, Report, Setup};
pub use suite::{ConditionEntry, Expected, PluginEntry, SetupEntry, Step, Suite, Vector};
