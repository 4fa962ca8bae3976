//! The host of legacy plugins: Python classes written for the CPEX / ContextForge framework, run
//! unchanged in supervised workers.
//!
//! A plugin of this kind is a dotted class. [`PythonHost`] gives it two things: an *environment*, a
//! virtualenv with the framework and whatever the entry's requirements name, and a *worker*, a
//! process of that environment which imports the class once and then answers calls over two pipes.
//! The costly steps are types: requirements, then an environment, then a worker.
//!
//! # Loading
//!
//! The requirements of an entry are its own or, where it has none, those of its plugin's folder. They are
//! normalised and hashed together with the base interpreter's version; entries with the same hash share
//! one environment. It is valid only if the mark that is written last is there and its interpreter runs.
//! Anything else found in its place is removed and built anew, under a lock that other processes respect.
//! Unless the entry allows it, nothing is installed whose installation could run code. An environment that
//! the entry names, or that the framework's own host left beside the plugin, is used as it is instead.
//! Once complete, an environment is read-only; one that has lost files all the same is built anew once. The worker then starts in it: it receives
//! its own sources over the pipe, imports the class, initialises it, and says `ready`. What goes
//! wrong on this way is a [`hookgate_core::LoadError`] with the words of whoever failed.
//!
//! # The way of a call
//!
//! The call is written as one frame, the payload's text embedded as it is, and queued for the
//! worker. Many calls are in flight; answers find their call by its number. The answer's edits and
//! effects pass through a [`hookgate_core::Draft`], as every host's do. At the deadline the caller
//! gets its timeout at once and the worker a `cancel`; a worker that does not react is stuck in code
//! that never yields and is killed. A dropped call future is treated the same way.
//!
//! # Invariants
//!
//! - A call ends in an answer or a typed fault; a death in between is `worker_died`, never a retry.
//! - No installer runs after loading: a respawn starts a process and nothing else.
//! - A worker's process group ends with its handle: on death, hang, shutdown and drop alike.
//! - The plugin's environment variables are the ones the operator named, and five of the host's.
//! - What a plugin prints goes to the log, bounded, and is read even when it is dropped.
//! - A worker confines itself before the interpreter runs: Landlock, seccomp, limits, no capability. What
//!   the kernel cannot give is an error at load, or said in [`hookgate_core::PluginInfo::sandbox`].
//! - A worker past its memory limit, counted over its whole tree of processes, is ended.
//!
//! # What can go wrong
//!
//! A plugin that may start processes can start one in a session of its own, which leaves the group; it is
//! ended when it was seen in the worker's tree before the worker died. Names and sizes of files can be
//! asked for whatever was granted, and a network grant bounds TCP ports, not hosts. Local packages named
//! by a requirement are hashed by content; packages of an index are trusted to stay what their version was,
//! unless a requirements file gives their hashes. Of what is installed nothing runs outside a worker,
//! except the interpreter of an environment that the operator names.
#![deny(unsafe_code)]

mod answer;
mod call_frame;
mod credentials;
mod entry;
mod environment;
mod host;
mod interpreter;
mod limits;
mod plugin;
mod provision;
mod requirements;
mod sandbox;
mod supervisor;
mod tokens;
mod worker;

pub use environment::{
    Environment, EnvironmentError, EnvironmentEvent, EnvironmentOrigin, EnvironmentStore,
    EnvironmentUse, EnvironmentVerdict, GcOptions, GcReport, Installer, Progress,
    RemovedEnvironment, StoredEnvironment, default_store,
};
pub use host::{PythonHost, PythonHostOptions, StubWorker};
pub use interpreter::{Interpreter, InterpreterError};
pub use limits::*;
pub use provision::Prepared;
pub use requirements::{FRAMEWORK_REQUIREMENT, Requirements, RequirementsError};
