//! Who would be asked about a call, and why the others would not.

mod support;

#[path = "explain/parts.rs"]
mod parts;
#[path = "explain/reasons.rs"]
mod reasons;
#[path = "explain/records.rs"]
mod records;
