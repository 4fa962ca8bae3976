//! Side-channel slots as trees: one is read, changed at a pointer, and written whole.

use hookgate_core::{Draft, Json};
use serde_json::{Map, Value};

/// What is at the pointer of a slot; null where nothing is, or where the plugin may not look.
pub(super) fn get(draft: &mut Draft, slot: &str, at: &str) -> Json {
    let tree = read(draft, slot).unwrap_or_default();
    tree.pointer(at).map_or_else(Json::null, Json::from_value)
}

/// Sets a value in a slot, or appends it with `-`; objects on the way are made.
pub(super) fn set(draft: &mut Draft, slot: &str, at: &str, value: Value) {
    let mut tree = read(draft, slot).unwrap_or_else(|| Value::Object(Map::new()));
    let mut place = &mut tree;
    for token in at.split('/').skip(1).map(unescape) {
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
    write(draft, slot, &tree);
}

/// Removes a member or an element of a slot.
pub(super) fn remove(draft: &mut Draft, slot: &str, at: &str) {
    let mut tree = read(draft, slot).unwrap_or_else(|| Value::Object(Map::new()));
    let (above, token) = at.rsplit_once('/').unwrap_or_default();
    match tree.pointer_mut(above) {
        Some(Value::Object(members)) => {
            members.remove(&unescape(token));
        }
        Some(Value::Array(elements)) => {
            let index = token.parse::<usize>().ok();
            let index = index.filter(|index| *index < elements.len());
            index.map(|index| elements.remove(index));
        }
        _ => {}
    }
    write(draft, slot, &tree);
}

fn read(draft: &mut Draft, slot: &str) -> Option<Value> {
    let value = draft.extension(slot).ok().flatten()?;
    Some(value.to_value())
}

fn write(draft: &mut Draft, slot: &str, tree: &Value) {
    // The refusal is the draft's to remember.
    let _ = draft.set_extension(slot, Json::from_value(tree));
}

fn unescape(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}
