//! What a search is to find, said as plainly as can be: a tree, its strings in order, and in each string
//! from left to right the first pattern that matches.

use hookgate_core::Syntax;
use regex_automata::nfa::thompson::pikevm::PikeVM;
use serde_json::Value;

/// Pattern, pointer, first byte and the byte behind the last.
pub type Found = (u32, String, u32, u32);

pub fn expected(text: &str, patterns: &[String], syntax: Syntax, under: &str) -> Vec<Found> {
    let tree: Value = serde_json::from_str(text).expect("JSON");
    let mut strings = Vec::new();
    if let Some(value) = tree.pointer(under) {
        walk(value, under.to_owned(), &mut strings);
    }
    let expressions = match syntax {
        Syntax::Regex => Some(PikeVM::new_many(patterns).expect("expressions")),
        _ => None,
    };
    let mut all = Vec::new();
    for (pointer, string) in strings {
        let matches = match &expressions {
            Some(expressions) => {
                let mut cache = expressions.create_cache();
                let found = expressions.find_iter(&mut cache, &string);
                found
                    .map(|found| (found.pattern().as_usize(), found.start(), found.end()))
                    .collect()
            }
            None => naive(&string, patterns, syntax == Syntax::LiteralIgnoreCase),
        };
        let short = |number: usize| u32::try_from(number).expect("short");
        for (pattern, start, end) in matches {
            all.push((short(pattern), pointer.clone(), short(start), short(end)));
        }
    }
    all
}

fn walk(value: &Value, at: String, into: &mut Vec<(String, String)>) {
    match value {
        Value::String(string) => into.push((at, string.clone())),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                walk(item, format!("{at}/{index}"), into);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                walk(member, format!("{at}/{}", token(key)), into);
            }
        }
        _ => {}
    }
}

pub fn token(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn naive(string: &str, words: &[String], ignore_case: bool) -> Vec<(usize, usize, usize)> {
    let (bytes, mut from, mut all) = (string.as_bytes(), 0, Vec::new());
    while from < bytes.len() {
        let starts = |word: &String| {
            bytes
                .get(from..from + word.len())
                .is_some_and(|here| match ignore_case {
                    true => here.eq_ignore_ascii_case(word.as_bytes()),
                    false => here == word.as_bytes(),
                })
        };
        match words.iter().position(starts) {
            Some(index) => {
                all.push((index, from, from + words[index].len()));
                from += words[index].len();
            }
            None => from += 1,
        }
    }
    all
}

/// The tree with every match replaced.
pub fn redacted(text: &str, found: &[Found], replacement: &str) -> Value {
    let mut tree: Value = serde_json::from_str(text).expect("JSON");
    // From the back, so that the places before stay where they are.
    for (_, pointer, start, end) in found.iter().rev() {
        if let Some(Value::String(string)) = tree.pointer_mut(pointer) {
            string.replace_range(*start as usize..*end as usize, replacement);
        }
    }
    tree
}

/// A word as an expression that matches it and nothing else, without being a plain word.
pub fn escaped(word: &str) -> String {
    let characters = word
        .chars()
        .map(|character| format!("\\x{{{:x}}}", character as u32));
    format!("(?:{}|[^\\s\\S])", characters.collect::<String>())
}
