//! Hookgate as a library: one engine, plugins of three kinds.
//!
//! Hookgate stands between an AI agent (or an MCP gateway) and what it calls. At named moments, the
//! *hooks*, it asks *plugins* whether the call may go on, go on changed, wait for a person, or not
//! happen. A plugin is a WebAssembly component, a Python class written for the CPEX / ContextForge
//! framework, or a Rust type of the program that embeds this crate. The caller cannot tell which
//! kind answered.
//!
//! This crate has no mechanism of its own. It re-exports `hookgate-core` and the two hosts, and
//! [`engine`] puts them together: it gives the engine the hosts that a configuration needs.
//!
//! # The way of a call
//!
//! [`config::Config::load`] reads a YAML file. [`engine`] turns it into an [`EngineBuilder`], to which
//! in-process plugins and a [`RecordSink`] may be added. `build` loads every plugin: components are
//! compiled, environments made, workers started. From then on [`Engine::invoke`] answers each hook
//! with one [`Outcome`].
//!
//! # Invariants
//!
//! - A host that no plugin needs is not started: no wasmtime for a configuration of Python classes,
//!   no folder for environments where there is no Python plugin.
//! - A denial, an approval and a [`Fault`] stay three different things. A fault is never an allow.
//!
//! # What can go wrong
//!
//! [`config::ConfigReport`] and [`LoadReport`] name every problem of a configuration at once;
//! [`InvokeError`] says that a hook was not asked at all. All else is in the outcome.
//! [`Engine::reload`] loads from the hosts the engine was built with: a configuration with the first
//! plugin of a kind needs a new engine, or one that was built with [`HostOptions::all_kinds`].
//!
//! # Example
//!
//! ```
//! use std::sync::Arc;
//! use hookgate::config::Config;
//! use hookgate::{Answer, Decision, Fault, HookCall, Json, Plugin, PluginInfo, Request};
//! # use futures::future::BoxFuture;
//!
//! /// Hides every e-mail address of the company.
//! struct HideAddresses;
//!
//! impl Plugin for HideAddresses {
//!     fn describe(&self) -> PluginInfo {
//!         PluginInfo { kind: "in-process", hooks: vec!["tool_pre_invoke".into()], ..PluginInfo::default() }
//!     }
//!
//!     fn call(&self, call: HookCall) -> BoxFuture<'_, Result<Answer, Fault>> {
//!         let mut draft = call.draft();
//!         let hides = call.payload.text().contains("@example.com");
//!         Box::pin(async move {
//!             if hides {
//!                 // A refused edit is remembered: the allow below would then be a fault.
//!                 let _ = draft.set(&"/args/to".parse().unwrap(), Json::string("[hidden]"));
//!             }
//!             Ok(draft.allow())
//!         })
//!     }
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let config = Config::parse("plugins: []", "hookgate.yaml", ".".as_ref()).unwrap();
//! let builder = hookgate::engine(config).unwrap();
//! let engine = builder.plugin("hide-addresses", Arc::new(HideAddresses)).build().await.unwrap();
//!
//! let payload = r#"{"name":"mail","args":{"to":"ann@example.com","copies":1.10}}"#;
//! let outcome = engine.invoke("tool_pre_invoke", payload, &Request::default()).await.unwrap();
//! assert_eq!(outcome.decision, Decision::Allow);
//! assert_eq!(
//!     outcome.payload.unwrap().as_str(),
//!     r#"{"name":"mail","args":{"to":"[hidden]","copies":1.10}}"#
//! );
//! # });
//! ```
#![forbid(unsafe_code)]

mod hosts;

pub use hookgate_core::*;
pub use hookgate_python::{
    Environment, EnvironmentError, EnvironmentEvent, EnvironmentOrigin, EnvironmentStore,
    EnvironmentUse, EnvironmentVerdict, GcOptions, GcReport, Installer, Prepared, Progress,
    PythonHost, PythonHostOptions, RemovedEnvironment, StoredEnvironment, default_store,
};
pub use hookgate_wasm::{
    CodeCacheOptions, CodeCounts, CodeOrigin, CompiledComponent, WasmHost, WasmHostOptions,
    default_code_cache,
};

pub use hosts::{HostOptions, engine, engine_with};
