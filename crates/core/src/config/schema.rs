//! The shape of a configuration as a JSON Schema (draft 2020-12), for editors.
//!
//! The reader is written by hand over nodes that know their place, so that every message can say where
//! and what to write instead. The types here only declare the same shape: they hold nothing and are never
//! built. Tests keep the two together: keys, choices and defaults are compared with the reader's own
//! tables, and both judge the same good and wrong texts.
//!
//! INVARIANT: what the reader accepts, the schema accepts. The reverse does not hold: names that must be
//! distinct, paths that must lead somewhere and the ranges of durations are beyond a schema.

#[expect(dead_code, reason = "only the shapes of these types are used")]
mod shape;
mod values;

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use serde_json::Value;

/// The schema of a configuration in our own shape.
#[must_use]
pub fn json_schema() -> Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<shape::Configuration>();
    RecursiveTransform(one_line).transform(&mut schema);
    // Its serializer puts the keys in the order people read them in.
    serde_json::to_value(&schema).unwrap_or_else(|_| schema.to_value())
}

/// Descriptions as one line each: where a source line ends means nothing to a reader.
fn one_line(schema: &mut Schema) {
    if let Some(Value::String(description)) = schema.get_mut("description") {
        *description = description.replace('\n', " ");
    }
}

/// Takes `null` out of a mapping's optional values: a key that is written needs a value.
fn no_null(schema: &mut Schema) {
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for property in properties.into_iter().flat_map(|all| all.values_mut()) {
        let Some(property) = property.as_object_mut() else {
            continue;
        };
        if let Some(Value::Array(types)) = property.get_mut("type") {
            types.retain(|name| name != "null");
            if let [name] = &types[..] {
                let name = name.clone();
                property.insert("type".into(), name);
            }
        }
        if let Some(Value::Array(choices)) = property.get_mut("anyOf") {
            choices.retain(|choice| choice["type"] != "null");
            if let [choice] = &choices[..] {
                let choice = choice.as_object().cloned().unwrap_or_default();
                property.shift_remove("anyOf");
                property.extend(choice);
            }
        }
    }
}

#[cfg(test)]
mod tests;
