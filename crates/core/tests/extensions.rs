//! Side-channel slots: what a request may bring, what a plugin is lent of them, and what it may change.

mod support;

#[path = "extensions/calls.rs"]
mod calls;
#[path = "extensions/lending.rs"]
mod lending;
#[path = "extensions/several.rs"]
mod several;
#[path = "extensions/tokens.rs"]
mod tokens;
#[path = "extensions/writing.rs"]
mod writing;
