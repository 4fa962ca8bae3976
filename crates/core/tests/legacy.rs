//! The legacy framework's configuration: what loads as it is, with which values, and what is told.

#[path = "legacy/base.rs"]
mod base;
#[path = "legacy/disabled.rs"]
mod disabled;
#[path = "legacy/entries.rs"]
mod entries;
#[path = "legacy/isolated.rs"]
mod isolated;
#[path = "legacy/manifest.rs"]
mod manifest;
#[path = "legacy/properties.rs"]
mod properties;
#[path = "legacy/secrets.rs"]
mod secrets;
#[path = "legacy/settings.rs"]
mod settings;
#[path = "legacy/shape.rs"]
mod shape;
#[path = "legacy/skipping.rs"]
mod skipping;
#[path = "legacy/support.rs"]
mod support;
#[path = "legacy/templates.rs"]
mod templates;
#[path = "legacy/vectors.rs"]
mod vectors;
#[path = "legacy/whole.rs"]
mod whole;
