//! One pass over the text that copies what stays and writes what changes.

use super::tree::{Branch, Leaf, Node, Splice};
use crate::Json;
use crate::document::Document;
use crate::scan::{self, Children};

pub(super) fn apply(document: &Document, root: &Branch) -> String {
    let text = document.text();
    let mut out = String::with_capacity(text.len() + 64);
    let start = scan::skip_space(text.as_bytes(), 0);
    container(document, start, root, &mut out);
    out
}

/// Writes the container that starts at `start`; answers the offset behind it.
fn container(document: &Document, start: usize, branch: &Branch, out: &mut String) -> usize {
    let text = document.text();
    let bytes = text.as_bytes();
    let object = bytes.get(start) == Some(&b'{');
    out.push(if object { '{' } else { '[' });
    let mut first = true;
    let mut present = 0;
    let mut index = 0;
    let mut children = Children::new(text, start);
    while let Some((key, at)) = children.step() {
        let name = match &key {
            Some(key) => scan::string_value(&text[key.clone()]),
            None => index.to_string().into(),
        };
        index += 1;
        let edit = branch.children.get(name.as_ref());
        present += usize::from(edit.is_some());
        if matches!(edit, Some(Node::Leaf(Leaf::Remove))) {
            children.resume(document.end_of(at));
            continue;
        }
        separate(&mut first, out);
        if let Some(key) = key {
            out.push_str(&text[key]);
            out.push(':');
        }
        if let Some(Node::Branch(below)) = edit {
            children.resume(container(document, at, below, out));
            continue;
        }
        let end = document.end_of(at);
        match edit {
            Some(Node::Leaf(Leaf::Set(value))) => out.push_str(value.as_str()),
            Some(Node::Leaf(Leaf::Splices(splices))) => spliced(&text[at..end], splices, out),
            _ => out.push_str(&text[at..end]),
        }
        children.resume(end);
    }
    if object && present < branch.children.len() {
        added_members(text, start, branch, &mut first, out);
    }
    for value in &branch.appended {
        separate(&mut first, out);
        out.push_str(value.as_str());
    }
    out.push(if object { '}' } else { ']' });
    children.end()
}

fn added_members(text: &str, start: usize, branch: &Branch, first: &mut bool, out: &mut String) {
    let there: std::collections::HashSet<_> = Children::new(text, start)
        .map(|child| child.name(text))
        .collect();
    for (name, node) in &branch.children {
        if let Node::Leaf(Leaf::Set(value)) = node
            && !there.contains(name.as_str())
        {
            member(name, value, first, out);
        }
    }
}

fn member(name: &str, value: &Json, first: &mut bool, out: &mut String) {
    separate(first, out);
    scan::push_string(out, name);
    out.push(':');
    out.push_str(value.as_str());
}

fn separate(first: &mut bool, out: &mut String) {
    if !std::mem::take(first) {
        out.push(',');
    }
}

fn spliced(quoted: &str, splices: &[Splice], out: &mut String) {
    let old = scan::string_value(quoted);
    let mut new = String::with_capacity(old.len());
    let mut from = 0;
    for splice in splices {
        new.push_str(&old[from..splice.range.start]);
        new.push_str(&splice.replacement);
        from = splice.range.end;
    }
    new.push_str(&old[from..]);
    scan::push_string(out, &new);
}
