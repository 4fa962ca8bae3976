//! What holds for every text, document and set of plugins, tried on random ones.

mod support;

use std::fmt::Write as _;

use hookgate_core::config::OnError;
use hookgate_core::{Decision, FaultKind, Json, Matcher, Syntax};
use proptest::collection::vec;
use proptest::prelude::*;
use support::{allowing, ask, asking, at, denying, document, faulting, named};

/// Failing cases are printed, not kept in a file.
fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// What the test knows of a text from `serde_json` alone: how deep it nests.
///
/// Reading fails on what is not JSON, on lone surrogates, and here on duplicate keys.
struct Depth(usize);

impl<'de> serde::Deserialize<'de> for Depth {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reads;

        impl<'de> serde::de::Visitor<'de> for Reads {
            type Value = Depth;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("JSON")
            }

            fn visit_bool<E>(self, _: bool) -> Result<Depth, E> {
                Ok(Depth(0))
            }

            fn visit_unit<E>(self) -> Result<Depth, E> {
                Ok(Depth(0))
            }

            fn visit_u64<E>(self, _: u64) -> Result<Depth, E> {
                Ok(Depth(0))
            }

            fn visit_i64<E>(self, _: i64) -> Result<Depth, E> {
                Ok(Depth(0))
            }

            fn visit_str<E>(self, _: &str) -> Result<Depth, E> {
                Ok(Depth(0))
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(
                self,
                mut seq: A,
            ) -> Result<Depth, A::Error> {
                let mut depth = 0;
                while let Some(Depth(below)) = seq.next_element()? {
                    depth = depth.max(below);
                }
                Ok(Depth(depth + 1))
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<Depth, A::Error> {
                let mut keys = std::collections::HashSet::new();
                let mut depth = 0;
                while let Some(key) = map.next_key::<String>()? {
                    // How a number of any precision shows itself.
                    if key == "$serde_json::private::Number" {
                        map.next_value::<String>()?;
                        return Ok(Depth(0));
                    }
                    if !keys.insert(key) {
                        return Err(serde::de::Error::custom("twice"));
                    }
                    let Depth(below) = map.next_value()?;
                    depth = depth.max(below);
                }
                Ok(Depth(depth + 1))
            }
        }

        deserializer.deserialize_any(Reads)
    }
}

/// Whether a text is I-JSON within the nesting, in the test's own words.
fn expected_at_the_door(text: &str) -> bool {
    serde_json::from_str::<Depth>(text).is_ok_and(|Depth(depth)| depth <= 100)
}

/// Texts of JSON tokens in any order, most of them not JSON.
fn soup() -> impl Strategy<Value = String> {
    let token = prop_oneof![
        Just("{"),
        Just("}"),
        Just("["),
        Just("]"),
        Just(":"),
        Just(","),
        Just(" "),
        Just("\n"),
        Just("\""),
        Just("\\"),
        Just("\\u"),
        Just("\\ud83d"),
        Just("\\ude00"),
        Just("0061"),
        Just("\"a\""),
        Just("\"\\u0061\""),
        Just("\"a\":"),
        Just("true"),
        Just("null"),
        Just("1"),
        Just("0"),
        Just("-"),
        Just("."),
        Just("e"),
        Just("E+"),
        Just("\u{feff}"),
        Just("é"),
        Just("\u{0}"),
        Just("x"),
    ];
    vec(token, 0..12).prop_map(|tokens| tokens.concat())
}

/// Strings with and without escapes, as they stand in a text.
fn quoted() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("a"),
        Just("b"),
        Just("\\u0061"),
        Just("\\n"),
        Just("\\\""),
        Just("é"),
        Just("\\u00e9"),
        Just("\\ud83d\\ude00"),
        Just("😀"),
        Just("\\/"),
        Just("\\ud800"),
    ];
    let common = vec(piece, 0..4).prop_map(|pieces| format!("\"{}\"", pieces.concat()));
    common.prop_filter("a lone surrogate now and then", |text| {
        !text.contains("\\ud800") || text.len() % 2 == 0
    })
}

/// JSON of small keys, so that some are there twice.
fn json_text() -> impl Strategy<Value = String> {
    let space = prop_oneof![5 => Just(""), 1 => Just(" "), 1 => Just("\t\r\n")];
    let number = prop_oneof![
        Just("0"),
        Just("-1.50"),
        Just("1E5"),
        Just("1e-400"),
        Just("12345678901234567890123")
    ];
    let leaf = prop_oneof![
        number.prop_map(str::to_owned),
        Just("true".to_owned()),
        Just("null".to_owned()),
        quoted()
    ];
    leaf.prop_recursive(6, 40, 5, move |inner| {
        let member = (quoted(), space.clone(), inner.clone());
        let member = member.prop_map(|(key, space, value)| format!("{key}{space}:{value}"));
        prop_oneof![
            (vec(inner, 0..5), space.clone())
                .prop_map(|(items, space)| format!("[{space}{}]", items.join(","))),
            (vec(member, 0..5), space.clone())
                .prop_map(|(items, space)| format!("{{{}{space}}}", items.join(","))),
        ]
    })
}

/// A text with one character taken out, put in or doubled.
fn spoilt() -> impl Strategy<Value = String> {
    (
        json_text(),
        any::<prop::sample::Index>(),
        any::<char>(),
        0..3,
    )
        .prop_map(|(text, at, new, how)| {
            let mut characters: Vec<char> = text.chars().collect();
            let at = at.index(characters.len());
            match how {
                0 => drop(characters.remove(at)),
                1 => characters.insert(at, new),
                _ => characters.insert(at, characters[at]),
            }
            characters.into_iter().collect()
        })
}

proptest! {
    #![proptest_config(cases(2_000))]

    #[test]
    fn no_text_makes_the_check_panic_or_disagree(text in prop_oneof![any::<String>(), soup(), json_text(), spoilt()]) {
        let found = Json::parse(text.as_str());
        prop_assert_eq!(found.is_ok(), expected_at_the_door(&text), "{}: {:?}", text, found);
        if let Err(error) = found {
            prop_assert!(error.offset <= text.len());
        }
    }

    #[test]
    fn nesting_is_counted_alike(levels in 95_usize..106, objects in any::<bool>(), inner in json_text()) {
        let (open, close) = if objects { ("{\"a\":", "}") } else { ("[ ", " ]") };
        let text = format!("{}{inner}{}", open.repeat(levels), close.repeat(levels));
        prop_assert_eq!(Json::parse(text.as_str()).is_ok(), expected_at_the_door(&text));
    }

    #[test]
    fn find_is_what_a_naive_search_finds(
        strings in vec("[abAB]{0,9}", 0..4),
        patterns in vec("[abAB]{1,3}", 0..5),
        ignore_case in any::<bool>(),
    ) {
        let syntax = if ignore_case { Syntax::LiteralIgnoreCase } else { Syntax::Literal };
        let mut expected = Vec::new();
        for (element, string) in strings.iter().enumerate() {
            let mut from = 0;
            while from < string.len() {
                let starts = |pattern: &String| {
                    string.get(from..from + pattern.len()).is_some_and(|here| {
                        if ignore_case { here.eq_ignore_ascii_case(pattern) } else { here == pattern }
                    })
                };
                if let Some(index) = patterns.iter().position(starts) {
                    let end = from + patterns[index].len();
                    expected.push((index, format!("/k/{element}"), from, end));
                    from = end;
                } else {
                    from += 1;
                }
            }
        }
        let text = format!("{{\"k\":{}}}", serde_json::to_string(&strings).expect("JSON"));
        let matcher = Matcher::compile(&patterns, syntax).expect("patterns");
        let found = document(&text).find(&matcher, &at(""), u32::MAX);
        let hits = found.hits.iter().map(|hit| {
            (hit.pattern as usize, hit.span.at.to_string(), hit.span.start as usize, hit.span.end as usize)
        });
        prop_assert_eq!(hits.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn every_place_is_found_by_its_pointer(text in json_text()) {
        prop_assume!(expected_at_the_door(&text));
        let document = document(&text);
        let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let mut places = vec![(String::new(), &value)];
        while let Some((pointer, value)) = places.pop() {
            let found = document.get(&at(&pointer)).expect("something is there");
            prop_assert_eq!(&serde_json::from_str::<serde_json::Value>(found).expect("JSON"), value);
            let string = document.get_string(&at(&pointer));
            prop_assert_eq!(string.as_deref(), value.as_str());
            let mut below = |token: &str, child| {
                let mut pointer = pointer.clone();
                let _ = write!(pointer, "/{}", token.replace('~', "~0").replace('/', "~1"));
                places.push((pointer, child));
            };
            match value {
                serde_json::Value::Object(members) => {
                    let keys: Vec<_> = members.keys().cloned().collect();
                    prop_assert_eq!(document.keys(&at(&pointer)), keys);
                    members.iter().for_each(|(key, child)| below(key, child));
                }
                serde_json::Value::Array(items) => {
                    items.iter().enumerate().for_each(|(index, child)| below(&index.to_string(), child));
                }
                _ => {}
            }
        }
    }
}

/// What a plugin does, for sets of them.
#[derive(Debug, Clone, Copy)]
enum Does {
    Allow,
    Ask,
    Deny,
    Fault(OnError),
}

fn does() -> impl Strategy<Value = Does> {
    let on_error = prop_oneof![
        Just(OnError::Fail),
        Just(OnError::Ignore),
        Just(OnError::Disable)
    ];
    prop_oneof![3 => Just(Does::Allow), 2 => Just(Does::Ask), 1 => Just(Does::Deny), 1 => on_error.prop_map(Does::Fault)]
}

fn decision(plugins: &[(Does, i32)]) -> Decision {
    let entries = plugins.iter().enumerate().map(|(index, (does, priority))| {
        let (plugin, on_error) = match does {
            Does::Allow => (allowing(), OnError::Fail),
            Does::Ask => (asking("?"), OnError::Fail),
            Does::Deny => (denying("NO"), OnError::Fail),
            Does::Fault(on_error) => (faulting(FaultKind::Trap), *on_error),
        };
        named(index.to_string(), plugin)
            .priority(*priority)
            .on_error(on_error)
    });
    let entries: Vec<_> = entries.collect();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let asked = async { ask(&support::engine(entries).await).await.decision };
    runtime.expect("a runtime").block_on(asked)
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn a_plugin_that_only_denies_never_makes_a_decision_looser(
        plugins in vec((does(), -2..3), 0..6),
        denies in any::<bool>(),
        place in any::<prop::sample::Index>(),
        priority in -2..3,
    ) {
        let before = decision(&plugins);
        let mut more = plugins.clone();
        let does = if denies { Does::Deny } else { Does::Allow };
        more.insert(place.index(plugins.len() + 1), (does, priority));
        let after = decision(&more);
        prop_assert!(after >= before, "{before} became {after}");
        prop_assert!(!denies || after == Decision::Deny);
    }

    #[test]
    fn the_decision_is_the_strictest_verdict(plugins in vec((does(), -2..3), 1..6)) {
        let strictest = plugins.iter().map(|(does, _)| match does {
            Does::Allow | Does::Fault(OnError::Ignore | OnError::Disable) => Decision::Allow,
            Does::Ask => Decision::Ask,
            Does::Deny | Does::Fault(OnError::Fail) => Decision::Deny,
        });
        prop_assert_eq!(Some(decision(&plugins)), strictest.max());
    }
}
