//! Random edits of random documents: what is accepted, and the text that comes of it, against a
//! plain statement of the rules on a tree.

mod support;

use hookgate_core::{Json, Pointer, Span};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use support::edits;

/// A document as the test knows it: scalars as text, strings with how they are written.
#[derive(Debug, Clone, PartialEq)]
enum Tree {
    Scalar(&'static str),
    /// The second says whether every character is written as an escape.
    String(String, bool),
    Array(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

impl Tree {
    fn text(&self) -> String {
        let quoted = |text: &String| serde_json::to_string(text).expect("a string");
        match self {
            Self::Scalar(text) => (*text).to_owned(),
            Self::String(text, false) => quoted(text),
            Self::String(text, true) => {
                let units = text.encode_utf16().map(|unit| format!("\\u{unit:04X}"));
                format!("\"{}\"", units.collect::<String>())
            }
            Self::Array(items) => {
                let items: Vec<_> = items.iter().map(Self::text).collect();
                format!("[{}]", items.join(","))
            }
            Self::Object(members) => {
                let members = members
                    .iter()
                    .map(|(key, value)| format!("{}:{}", quoted(key), value.text()));
                format!("{{{}}}", members.collect::<Vec<_>>().join(","))
            }
        }
    }

    fn at(&self, path: &[String]) -> Option<&Self> {
        path.iter().try_fold(self, |tree, token| match tree {
            Self::Object(members) => members
                .iter()
                .find(|(key, _)| key == token)
                .map(|(_, value)| value),
            Self::Array(items) => items.get(token.parse::<usize>().ok()?),
            _ => None,
        })
    }

    fn paths(&self, here: &[String], into: &mut Vec<Vec<String>>) {
        into.push(here.to_vec());
        let mut below = |token: String, child: &Self| child.paths(&[here, &[token]].concat(), into);
        match self {
            Self::Object(members) => members
                .iter()
                .for_each(|(key, child)| below(key.clone(), child)),
            Self::Array(items) => items
                .iter()
                .enumerate()
                .for_each(|(index, child)| below(index.to_string(), child)),
            _ => {}
        }
    }
}

#[derive(Debug, Clone)]
enum Edit {
    Set(Tree),
    Append(Tree),
    Remove,
    Splice(usize, usize, String),
}

type Asked = (Vec<String>, Edit);

/// Whether two edits may stand together, as the contract says it.
fn apart((one, edit): &Asked, (other, with): &Asked) -> bool {
    if !one.starts_with(other) && !other.starts_with(one) {
        return true;
    }
    match (edit, with) {
        (Edit::Append(_), Edit::Append(_)) => one == other,
        (Edit::Splice(start, end, _), Edit::Splice(from, to, _)) => {
            start != from && (end <= from || to <= start)
        }
        _ => false,
    }
}

/// Whether an edit fits the document, others aside.
fn fits(tree: &Tree, (path, edit): &Asked) -> bool {
    let Some((last, above)) = path.split_last() else {
        return false;
    };
    match (edit, tree.at(above), tree.at(path)) {
        (Edit::Set(_), Some(Tree::Object(_)), _) | (Edit::Set(_) | Edit::Remove, _, Some(_)) => {
            true
        }
        (Edit::Append(_), Some(Tree::Array(_)), None) => last == "-",
        (Edit::Splice(start, end, _), _, Some(Tree::String(text, _))) => {
            text.get(*start..*end).is_some()
        }
        _ => false,
    }
}

/// The document with all edits made at once; none for a value that goes.
fn edited(tree: &Tree, here: &[String], edits: &[Asked]) -> Option<Tree> {
    let mut splices = Vec::new();
    for (path, edit) in edits {
        match edit {
            Edit::Set(value) if path == here => return Some(value.clone()),
            Edit::Remove if path == here => return None,
            Edit::Splice(start, end, text) if path == here => splices.push((*start, *end, text)),
            _ => {}
        }
    }
    let below = |token: &str| [here, &[token.to_owned()]].concat();
    let child_edits = |path: &[String]| {
        edits
            .iter()
            .filter(|(other, _)| other.starts_with(path))
            .cloned()
            .collect::<Vec<_>>()
    };
    let go = |token: &str, child: &Tree| edited(child, &below(token), &child_edits(&below(token)));
    Some(match tree {
        Tree::Scalar(_) => tree.clone(),
        Tree::String(..) if splices.is_empty() => tree.clone(),
        Tree::String(text, _) => {
            let mut text = text.clone();
            splices.sort_by_key(|(start, ..)| std::cmp::Reverse(*start));
            for (start, end, new) in splices {
                text.replace_range(start..end, new);
            }
            Tree::String(text, false)
        }
        Tree::Array(items) => {
            let old = items
                .iter()
                .enumerate()
                .filter_map(|(index, child)| go(&index.to_string(), child));
            let new = edits.iter().filter_map(|(path, edit)| match edit {
                Edit::Append(value) if *path == below("-") => Some(value.clone()),
                _ => None,
            });
            Tree::Array(old.chain(new).collect())
        }
        Tree::Object(members) => {
            let old = members
                .iter()
                .filter_map(|(key, child)| Some((key.clone(), go(key, child)?)));
            let new = edits
                .iter()
                .filter_map(|(path, edit)| match (path.split_last(), edit) {
                    (Some((key, above)), Edit::Set(value))
                        if above == here && tree.at(std::slice::from_ref(key)).is_none() =>
                    {
                        Some((key.clone(), value.clone()))
                    }
                    _ => None,
                });
            Tree::Object(old.chain(new).collect())
        }
    })
}

fn key() -> impl Strategy<Value = String> {
    let keys = ["a", "b", "", "-", "0", "a/b", "~", "é\n", "\u{1}"];
    prop::sample::select(keys.to_vec()).prop_map(str::to_owned)
}

fn tree() -> impl Strategy<Value = Tree> {
    let scalars = [
        "1.10",
        "1E5",
        "-0",
        "1e400",
        "123456789012345678901234567890",
        "true",
        "null",
    ];
    let leaf = prop_oneof![
        prop::sample::select(scalars.to_vec()).prop_map(Tree::Scalar),
        ("[ab\"\\\\é😀\n]{0,6}", any::<bool>())
            .prop_map(|(text, escaped)| Tree::String(text, escaped)),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Tree::Array),
            object(inner)
        ]
    })
}

fn object(inner: impl Strategy<Value = Tree>) -> impl Strategy<Value = Tree> {
    vec((key(), inner), 0..5).prop_map(|mut members| {
        let mut seen = std::collections::HashSet::new();
        members.retain(|(key, _)| seen.insert(key.clone()));
        Tree::Object(members)
    })
}

/// An edit at a place that is there, or below one.
fn wish() -> impl Strategy<Value = (Index, Option<String>, u8, Index, Index, Tree)> {
    let below = prop::option::weighted(0.3, key());
    (
        any::<Index>(),
        below,
        0..6_u8,
        any::<Index>(),
        any::<Index>(),
        tree(),
    )
}

fn asked(tree: &Tree, wish: &(Index, Option<String>, u8, Index, Index, Tree)) -> Asked {
    let (place, below, what, start, end, value) = wish;
    let mut paths = Vec::new();
    tree.paths(&[], &mut paths);
    let mut path = paths[place.index(paths.len())].clone();
    path.extend(below.clone());
    let edit = match (what, tree.at(&path)) {
        (0 | 1, _) => Edit::Set(value.clone()),
        (2, _) => Edit::Remove,
        (_, Some(Tree::String(text, _))) => {
            let (start, end) = (start.index(text.len() + 1), end.index(text.len() + 1));
            Edit::Splice(start, end, "é\"".repeat(place.index(3)))
        }
        (_, Some(Tree::Array(_))) => {
            path.push("-".into());
            Edit::Append(value.clone())
        }
        _ => Edit::Set(value.clone()),
    };
    // What `-` means depends on where it stands.
    let above = path.split_last().and_then(|(_, above)| tree.at(above));
    match (edit, above) {
        (Edit::Set(value), Some(Tree::Array(_))) if path.last().is_some_and(|last| last == "-") => {
            (path, Edit::Append(value))
        }
        (edit, _) => (path, edit),
    }
}

fn pointer(path: &[String]) -> Pointer {
    let token = |token: &String| format!("/{}", token.replace('~', "~0").replace('/', "~1"));
    support::at(&path.iter().map(token).collect::<String>())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn edits_do_what_the_rules_say(tree in object(tree()), wishes in vec(wish(), 0..8)) {
        let text = tree.text();
        let mut edits = edits(&text);
        let mut accepted: Vec<Asked> = Vec::new();
        for wish in &wishes {
            let asked = asked(&tree, wish);
            let at = pointer(&asked.0);
            let result = match &asked.1 {
                Edit::Set(value) | Edit::Append(value) => edits.set(&at, Json::parse(value.text()).expect("JSON")),
                Edit::Remove => edits.remove(&at),
                Edit::Splice(start, end, text) => {
                    let bytes = |at: usize| u32::try_from(at).expect("short");
                    let span = Span { at, start: bytes(*start), end: bytes(*end) };
                    edits.splice(&span, text)
                }
            };
            let expected = fits(&tree, &asked) && accepted.iter().all(|other| apart(other, &asked));
            prop_assert_eq!(result.is_ok(), expected, "{:?} after {:?}: {:?}", asked, accepted, result);
            if expected {
                accepted.push(asked);
            }
        }
        prop_assert_eq!(edits.list().len(), accepted.len());
        let expected = edited(&tree, &[], &accepted).expect("the root stays").text();
        let applied = edits.apply();
        prop_assert_eq!(&**applied.text(), &*expected);
        prop_assert!(Json::parse(&**applied.text()).is_ok());
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
        prop_assert_eq!(value(applied.text()), value(&expected));
        prop_assert_eq!(&**edits.document().text(), &*text);
    }
}
