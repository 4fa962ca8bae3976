//! The configuration file: what loads, with which values, and what every mistake is told.

#[path = "config/cases.rs"]
mod cases;
#[path = "config/conditions.rs"]
mod conditions;
#[path = "config/entries.rs"]
mod entries;
#[path = "config/groups.rs"]
mod groups;
#[path = "config/instances.rs"]
mod instances;
#[path = "config/loading.rs"]
mod loading;
#[path = "config/notes.rs"]
mod notes;
#[path = "config/outside.rs"]
mod outside;
#[path = "config/permissions.rs"]
mod permissions;
#[path = "config/properties.rs"]
mod properties;
#[path = "config/python.rs"]
mod python;
#[path = "config/python_permissions.rs"]
mod python_permissions;
#[path = "config/structure.rs"]
mod structure;
#[path = "config/values.rs"]
mod values;
