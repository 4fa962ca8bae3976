//! Side-channel slots as trees: one is read, changed at a pointer, and written whole.

use serde_json::{Map, Value};

use crate::bindings::hookgate::plugin::call::Context;

/// What is at the pointer of a slot; none where nothing is, or where the plugin may not look.
pub fn get(ctx: &Context, slot: &str, at: &str) -> Option<String> {
    let tree = read(ctx, slot)?;
    tree.pointer(at).map(Value::to_string)
}

/// Sets a value in a slot, or appends it with `-`; objects on the way are made.
pub fn set(ctx: &Context, slot: &str, at: &str, value: Value) {
    let mut tree = read(ctx, slot).unwrap_or_else(|| Value::Object(Map::new()));
    let mut place = &mut tree;
    for token in tokens(at) {
        if token == "-" && !place.is_object() && !place.is_array() {
            *place = Value::Array(Vec::new());
        }
        if let Value::Array(elements) = place {
            elements.push(Value::Null);
            place = elements.last_mut().expect("just pushed");
            continue;
        }
        if !place.is_object() {
            *place = Value::Object(Map::new());
        }
        place = &mut place[token.as_str()];
    }
    *place = value;
    write(ctx, slot, &tree);
}

/// Removes a member or an element of a slot.
pub fn remove(ctx: &Context, slot: &str, at: &str) {
    let mut tree = read(ctx, slot).unwrap_or_else(|| Value::Object(Map::new()));
    let (above, token) = at.rsplit_once('/').unwrap_or_default();
    match tree.pointer_mut(above) {
        Some(Value::Object(members)) => {
            members.remove(&unescape(token));
        }
        Some(Value::Array(elements)) => {
            let index = token.parse::<usize>().ok();
            index
                .filter(|index| *index < elements.len())
                .map(|index| elements.remove(index));
        }
        _ => {}
    }
    write(ctx, slot, &tree);
}

fn read(ctx: &Context, slot: &str) -> Option<Value> {
    let text = ctx.extension(slot).ok().flatten()?;
    serde_json::from_str(&text).ok()
}

fn write(ctx: &Context, slot: &str, tree: &Value) {
    // The refusal is the host's to remember.
    let _ = ctx.set_extension(slot, &tree.to_string());
}

fn tokens(at: &str) -> impl Iterator<Item = String> {
    at.split('/').skip(1).map(unescape)
}

fn unescape(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}
