//! Hookgate's core: the words as types, the configuration, the pipeline and the engine. No host.
//!
//! Hookgate stands between an AI agent and what it calls. At named moments, the *hooks*, an
//! [`Engine`] asks *plugins* whether the call may go on, go on changed, wait for a person, or not
//! happen. This crate knows nothing of WebAssembly, processes or sockets: a [`Host`] loads plugins of
//! one kind, and a [`Plugin`] answers.
//!
//! # The way of a call
//!
//! [`Engine::invoke`] looks the hook up in the serving generation. Nobody listens: the answer is an
//! allow, at the price of that one look-up. Else the payload is checked once ([`Payload`], I-JSON,
//! nesting, size, the hook's shape) and becomes a [`Document`], text that is read where it lies.
//! The pipeline then asks the listening plugins, phase by phase ([`config::Mode`]), handing each a
//! [`HookCall`]: the document as the plugins before it left it, the request as this plugin may see it,
//! and a deadline. The plugin builds its [`Answer`] in a [`Draft`], which checks each edit and effect as
//! it is added. Answers merge into one [`Outcome`]; a [`Record`] of who said what goes to the sink.
//!
//! `sequential` and `transform` plugins come one after another and change the payload, `audit` plugins
//! look at what they made of it, `concurrent` ones judge it all at once in the caller's task. A denial
//! ends this, and cancels those that are still at it. Then `fire_and_forget` plugins are told, each in a
//! task of its own that nobody waits for but a reload and, for a while, a shutdown.
//!
//! # Invariants
//!
//! - A [`Fault`] is never an allow: `on_error` turns it into a denial, or names it in the outcome.
//! - Edits and effects of a plugin that did not answer are dropped whole.
//! - Nothing in an outcome depends on which of several plugins was done first, but for which of them
//!   had answered when one denied.
//! - Values nobody touched keep their source text, numbers above all.
//! - A plugin without a grant neither sees nor changes what the grant is for; that is checked here,
//!   once, for every host.
//!
//! # What can go wrong
//!
//! [`InvokeError`] if the payload or the request's extensions are not acceptable,
//! [`config::ConfigReport`] and [`LoadReport`] if a configuration is not; each names every problem at
//! once. All else is in the outcome.
//!
//! # Example
//!
//! ```
//! use std::sync::Arc;
//! use futures::future::BoxFuture;
//! use hookgate_core::{Answer, Decision, Engine, Fault, HookCall, Plugin, PluginInfo, Request, Violation};
//!
//! struct NoSudo;
//!
//! impl Plugin for NoSudo {
//!     fn describe(&self) -> PluginInfo {
//!         PluginInfo { kind: "in-process", hooks: vec!["tool_pre_invoke".into()], ..PluginInfo::default() }
//!     }
//!
//!     fn call(&self, call: HookCall) -> BoxFuture<'_, Result<Answer, Fault>> {
//!         let denied = call.payload.text().contains("sudo");
//!         let draft = call.draft();
//!         Box::pin(async move {
//!             Ok(if denied { draft.deny(Violation::new("NO_SUDO", "sudo")) } else { draft.allow() })
//!         })
//!     }
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let engine = Engine::builder().plugin("no-sudo", Arc::new(NoSudo)).build().await.unwrap();
//! let outcome = engine
//!     .invoke("tool_pre_invoke", r#"{"name": "sh", "args": {"cmd": "sudo reboot"}}"#, &Request::default())
//!     .await
//!     .unwrap();
//! assert_eq!(outcome.decision, Decision::Deny);
//! # });
//! ```
#![forbid(unsafe_code)]

mod capability;
mod condition;
pub mod config;
mod depth;
mod document;
mod draft;
mod edit;
mod effects;
mod engine;
mod entry;
mod explain;
mod extensions;
mod fault;
mod generation;
mod hooks;
mod interrupt;
mod json;
mod matcher;
mod outcome;
mod payload;
mod pipeline;
mod plugin;
mod pointer;
mod record;
mod refusal;
mod request;
mod scan;
mod secret;
mod store;
mod value;
mod verdict;

pub use capability::{Capabilities, Capability};
pub use condition::{Condition, Mismatch};
pub use depth::MAX_REENTRY_DEPTH;
pub use document::{Document, Found, Hit, MAX_FOUND_BYTES};
pub use draft::{Answer, Draft};
pub use edit::{EditNote, EditRules, Edits};
pub use effects::{Changes, Effects, OutcomeEffects};
pub use engine::{
    Engine, EngineBuilder, InProcess, InvokeError, LoadProblem, LoadReport, PluginStatus,
};
pub use explain::{Explanation, Part, PluginExplanation, SkipReason, Turn};
pub use extensions::{ExtensionChanges, Extensions, InvalidRequest};
pub use fault::{Fault, FaultKind, Phase};
pub use hooks::{KNOWN_HOOKS, Shape};
pub use interrupt::{INTERRUPT_BYTES, Interrupt, Stopped};
pub use json::{Json, MAX_DEPTH};
pub use matcher::{
    MAX_PATTERN_BYTES, MAX_PATTERNS, MAX_REGEX_BYTES, MAX_REGEX_PATTERN_BYTES, Matcher, Span,
    Syntax,
};
pub use outcome::{ApprovalRequest, FaultReport, Outcome, Suppressed};
pub use payload::{InvalidPayload, Payload};
pub use plugin::{EnvironmentInfo, HookCall, Host, LoadError, Plugin, PluginInfo};
pub use pointer::{Pointer, PointerError};
pub use record::{PluginRecord, Record, RecordSink, RecordedVerdict, RequestRecord};
pub use refusal::{Refusal, RefusalCode, Refusals, Refused};
pub use request::{Request, RequestView, StateMap};
pub use scan::NotIJson;
pub use store::RequestStore;
pub use verdict::{Approval, Decision, Risk, Verdict, Violation};
