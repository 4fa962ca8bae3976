//! Edits: what is accepted, what is refused, and the text that comes of it.

mod support;

use hookgate_core::{EditRules, Edits, Json, Matcher, Refusal, RefusalCode, Shape, Span, Syntax};
use support::{at, document, edits, edits_of, json};

const TEXT: &str =
    r#" { "name" : "caf\u00e9" , "n": 1.10, "list" : [ 1E5 , "b", {"x":-0} ], "o":{"k":"v"} } "#;

fn span(pointer: &str, start: u32, end: u32) -> Span {
    Span {
        at: at(pointer),
        start,
        end,
    }
}

fn set(edits: &mut Edits, pointer: &str, value: &str) -> Result<(), Refusal> {
    edits.set(&at(pointer), json(value))
}

fn code<T>(result: Result<T, Refusal>) -> Option<RefusalCode> {
    result.err().map(|refusal| refusal.code)
}

fn applied(text: &str, edit: impl FnOnce(&mut Edits) -> Result<(), Refusal>) -> String {
    let mut edits = edits(text);
    edit(&mut edits).unwrap_or_else(|refusal| panic!("{refusal}"));
    edits.apply().text().to_string()
}

#[test]
fn no_edit_is_the_same_text() {
    let edits = edits(TEXT);
    assert!(edits.is_empty());
    assert_eq!(&**edits.apply().text(), TEXT);
}

#[test]
fn set_replaces_adds_and_appends() {
    let cases = [
        (r#"{"a":1,"b":2}"#, "/a", "1.10", r#"{"a":1.10,"b":2}"#),
        (r#"{"a":1}"#, "/b", " [1] ", r#"{"a":1,"b": [1] }"#),
        ("{}", "/", "1", r#"{"":1}"#),
        ("{}", "/a\"\n~1~0", "1", r#"{"a\"\n/~":1}"#),
        ("{}", "/-", "1", r#"{"-":1}"#),
        (r#"{"a":[]}"#, "/a/-", "1", r#"{"a":[1]}"#),
        (r#"{"a":[0]}"#, "/a/-", "1", r#"{"a":[0,1]}"#),
        (r#"{"a":[0,5,2]}"#, "/a/1", "1", r#"{"a":[0,1,2]}"#),
        (r#"{"a":[[]]}"#, "/a/0/-", "1", r#"{"a":[[1]]}"#),
        (
            r#"{"a":{"b":{"c":0}}}"#,
            "/a/b/c",
            "{}",
            r#"{"a":{"b":{"c":{}}}}"#,
        ),
        (r#"{"\u0061":0}"#, "/a", "1", r#"{"\u0061":1}"#),
        ("[0]", "/-", "1", "[0,1]"),
    ];
    for (text, pointer, value, expected) in cases {
        assert_eq!(applied(text, |edits| set(edits, pointer, value)), expected);
    }
}

#[test]
fn remove_takes_members_and_elements() {
    let cases = [
        (r#"{"a":1,"b":2,"c":3}"#, "/a", r#"{"b":2,"c":3}"#),
        (r#"{"a":1,"b":2,"c":3}"#, "/b", r#"{"a":1,"c":3}"#),
        (r#"{"a":1,"b":2,"c":3}"#, "/c", r#"{"a":1,"b":2}"#),
        (r#"{"a":1}"#, "/a", "{}"),
        (r#"{"a":[0,1,2]}"#, "/a/0", r#"{"a":[1,2]}"#),
        (r#"{"a":[[1]]}"#, "/a/0", r#"{"a":[]}"#),
    ];
    for (text, pointer, expected) in cases {
        assert_eq!(applied(text, |edits| edits.remove(&at(pointer))), expected);
    }
}

#[test]
fn untouched_values_keep_their_text() {
    let mut edits = edits(TEXT);
    set(&mut edits, "/o/k", "true").expect("a member");
    set(&mut edits, "/list/-", "0.0").expect("an array");
    set(&mut edits, "/z", "9").expect("an object");
    let expected =
        r#"{"name":"caf\u00e9","n":1.10,"list":[1E5,"b",{"x":-0},0.0],"o":{"k":true},"z":9}"#;
    assert_eq!(&**edits.apply().text(), expected);
    assert_eq!(&**edits.document().text(), TEXT);
}

#[test]
fn places_mean_the_payload_as_it_was() {
    // Elements keep their index whatever is removed before them, in any order.
    let mut edits = edits(r#"{"a":[0,1,2,3]}"#);
    set(&mut edits, "/a/-", "4").expect("an array");
    set(&mut edits, "/a/3", "\"three\"").expect("an element");
    edits.remove(&at("/a/1")).expect("an element");
    edits.remove(&at("/a/0")).expect("an element");
    set(&mut edits, "/a/-", "5").expect("an array");
    assert_eq!(&**edits.apply().text(), r#"{"a":[2,"three",4,5]}"#);
}

#[test]
fn splices_work_on_decoded_bytes() {
    let text = r#"{"a":"x\u00e9\ud83d\ude00\n\"y"}"#;
    let cases = [
        (0, 0, "<", r#"{"a":"<xé😀\n\"y"}"#),
        (0, 1, "", r#"{"a":"é😀\n\"y"}"#),
        (1, 3, "e", r#"{"a":"xe😀\n\"y"}"#),
        (3, 7, "\u{1}\"", r#"{"a":"xé\u0001\"\n\"y"}"#),
        (7, 9, "", r#"{"a":"xé😀y"}"#),
        (10, 10, ">", r#"{"a":"xé😀\n\"y>"}"#),
        (0, 10, "", r#"{"a":""}"#),
    ];
    for (start, end, replacement, expected) in cases {
        let spliced = applied(text, |edits| {
            edits.splice(&span("/a", start, end), replacement)
        });
        assert_eq!(spliced, expected);
    }
    let mut edits = edits(text);
    for (start, end) in [
        (0, 2),
        (2, 3),
        (4, 7),
        (3, 6),
        (0, 11),
        (11, 11),
        (1, 0),
        (u32::MAX, u32::MAX),
    ] {
        let refused = code(edits.splice(&span("/a", start, end), ""));
        assert_eq!(refused, Some(RefusalCode::Invalid), "{start}..{end}");
    }
    assert!(edits.is_empty());
}

#[test]
fn splices_of_one_string_may_touch_but_not_overlap() {
    let mut edits = edits(r#"{"a":"0123456789"}"#);
    let mut splice = |start, end| code(edits.splice(&span("/a", start, end), "-"));
    assert_eq!(splice(4, 6), None);
    assert_eq!(splice(6, 8), None);
    assert_eq!(splice(2, 4), None);
    assert_eq!(splice(9, 9), None);
    let conflict = Some(RefusalCode::Conflict);
    for (start, end) in [
        (4, 6),
        (5, 5),
        (3, 5),
        (7, 9),
        (0, 10),
        (9, 9),
        (9, 10),
        (8, 10),
        (2, 2),
    ] {
        assert_eq!(splice(start, end), conflict, "{start}..{end}");
    }
    assert_eq!(splice(0, 2), None);
    assert_eq!(splice(8, 9), None);
    assert_eq!(edits.list().len(), 6);
    assert_eq!(&**edits.apply().text(), r#"{"a":"------9"}"#);
}

#[test]
fn edits_that_touch_conflict_in_either_order() {
    type Edit = fn(&mut Edits) -> Result<(), Refusal>;
    let set_list: Edit = |edits| set(edits, "/list", "[]");
    let remove_list: Edit = |edits| edits.remove(&at("/list"));
    let append: Edit = |edits| set(edits, "/list/-", "0");
    let set_element: Edit = |edits| set(edits, "/list/2", "0");
    let set_below: Edit = |edits| set(edits, "/list/2/x", "0");
    let add_below: Edit = |edits| set(edits, "/list/2/new", "0");
    let set_string: Edit = |edits| set(edits, "/list/1", "0");
    let splice: Edit = |edits| edits.splice(&span("/list/1", 0, 1), "");
    let add_member: Edit = |edits| set(edits, "/new", "0");
    let pairs = [
        (set_list, set_list),
        (set_list, remove_list),
        (set_list, append),
        (set_list, set_below),
        (remove_list, splice),
        (remove_list, append),
        (set_element, set_below),
        (set_element, add_below),
        (add_below, add_below),
        (set_string, splice),
        (splice, set_list),
        (splice, set_string),
        (add_member, add_member),
    ];
    for (one, other) in pairs {
        for (first, second) in [(one, other), (other, one)] {
            let mut edits = edits(TEXT);
            assert_eq!(code(first(&mut edits)), None);
            let before = edits.apply();
            assert_eq!(code(second(&mut edits)), Some(RefusalCode::Conflict));
            assert_eq!((edits.apply(), edits.list().len()), (before, 1));
        }
    }
    let mut together = edits(TEXT);
    for edit in [append, set_element, splice, append, add_member] {
        assert_eq!(code(edit(&mut together)), None);
    }
}

#[test]
fn edits_without_a_place_are_invalid() {
    let mut edits = edits(TEXT);
    let invalid = Some(RefusalCode::Invalid);
    for pointer in [
        "",
        "/none/a",
        "/n/a",
        "/name/0",
        "/list/3",
        "/list/01",
        "/list/x",
        "/list/0/-",
        "/list/-/a",
        "/o/k/-",
    ] {
        assert_eq!(
            code(set(&mut edits, pointer, "0")),
            invalid,
            "set {pointer}"
        );
    }
    for pointer in ["", "/none", "/list/-", "/list/3", "/n/a"] {
        assert_eq!(
            code(edits.remove(&at(pointer))),
            invalid,
            "remove {pointer}"
        );
    }
    for pointer in ["", "/n", "/none", "/list", "/list/-"] {
        assert_eq!(
            code(edits.splice(&span(pointer, 0, 0), "")),
            invalid,
            "splice {pointer}"
        );
    }
    // A member that is only being added is not there yet.
    set(&mut edits, "/new", "{\"a\":\"b\"}").expect("an object");
    assert_eq!(code(set(&mut edits, "/new/a", "0")), invalid);
    assert_eq!(code(edits.remove(&at("/new"))), invalid);
    assert_eq!(edits.list().len(), 1);
}

#[test]
fn the_shape_of_the_hook_stays() {
    let refused = |hook: &str, text: &str, edit: &dyn Fn(&mut Edits) -> Result<(), Refusal>| {
        code(edit(&mut edits_of(hook, text)))
    };
    let tool = r#"{"name":"a","args":{"x":1},"headers":{"h":"v"}}"#;
    let prompt = r#"{"prompt_id":"a","args":{"x":"y"}}"#;
    let agent = r#"{"agent_id":"a","messages":[1],"tools":["t"],"tool_calls":[{}]}"#;
    let cases = [
        ("tool_pre_invoke", tool, "/name", "\"b\"", true),
        ("tool_pre_invoke", tool, "/name", "1", false),
        ("tool_pre_invoke", tool, "/args", " null ", true),
        ("tool_pre_invoke", tool, "/args", "\"\"", false),
        ("tool_pre_invoke", tool, "/args/x", "[]", true),
        (
            "tool_pre_invoke",
            tool,
            "/headers",
            " {\"a\" : \"b\"} ",
            true,
        ),
        ("tool_pre_invoke", tool, "/headers", "{\"a\":1}", false),
        ("tool_pre_invoke", tool, "/headers/h", "null", false),
        ("tool_pre_invoke", tool, "/headers/new", " \"w\"", true),
        ("tool_pre_invoke", tool, "/extra", "1", true),
        (
            "tool_post_invoke",
            r#"{"name":"a","result":1}"#,
            "/result",
            "null",
            true,
        ),
        ("prompt_pre_fetch", prompt, "/args/x", "1", false),
        ("prompt_pre_fetch", prompt, "/args/new", "{}", false),
        ("prompt_pre_fetch", prompt, "/args", "null", true),
        ("agent_pre_invoke", agent, "/messages", "null", false),
        ("agent_pre_invoke", agent, "/messages/-", "{}", true),
        ("agent_pre_invoke", agent, "/tools/0", "1", false),
        ("agent_pre_invoke", agent, "/tools/-", "null", false),
        ("agent_pre_invoke", agent, "/tools/-", "\"u\"", true),
        ("agent_post_invoke", agent, "/tool_calls/-", "\"u\"", false),
        ("agent_post_invoke", agent, "/tool_calls/-", "{}", true),
    ];
    for (hook, text, pointer, value, fits) in cases {
        let expected = (!fits).then_some(RefusalCode::Invalid);
        let found = refused(hook, text, &|edits| set(edits, pointer, value));
        assert_eq!(found, expected, "{hook} {pointer} {value}");
    }
    for (hook, text, pointer, fits) in [
        ("tool_pre_invoke", tool, "/name", false),
        ("tool_pre_invoke", tool, "/args", true),
        ("tool_pre_invoke", tool, "/headers/h", true),
        ("agent_pre_invoke", agent, "/messages", false),
        ("agent_pre_invoke", agent, "/messages/0", true),
    ] {
        let expected = (!fits).then_some(RefusalCode::Invalid);
        let found = refused(hook, text, &|edits| edits.remove(&at(pointer)));
        assert_eq!(found, expected, "{hook} {pointer}");
    }
}

#[test]
fn headers_need_a_grant() {
    let rules = EditRules {
        shape: Shape::of("tool_pre_invoke"),
        headers: false,
        max_bytes: u64::MAX,
    };
    let mut edits = Edits::new(document(r#"{"name":"a","headers":{"h":"v"}}"#), rules);
    let refused = Some(RefusalCode::NotGranted);
    assert_eq!(code(set(&mut edits, "/headers", "null")), refused);
    assert_eq!(code(set(&mut edits, "/headers/h", "\"w\"")), refused);
    assert_eq!(code(edits.remove(&at("/headers/h"))), refused);
    assert_eq!(code(edits.splice(&span("/headers/h", 0, 1), "w")), refused);
    let words = Matcher::compile(&["v"], Syntax::Literal).expect("a word");
    assert_eq!(code(edits.redact(&words, &at(""), "w")), refused);
    assert_eq!(code(set(&mut edits, "/headers_of_mine", "1")), None);
}

#[test]
fn nesting_stays_within_a_hundred() {
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let invalid = Some(RefusalCode::Invalid);
    let mut edits = edits(r#"{"a":{"b":[]}}"#);
    assert_eq!(code(set(&mut edits, "/x", &nested(100))), invalid);
    assert_eq!(code(set(&mut edits, "/x", &nested(99))), None);
    assert_eq!(code(set(&mut edits, "/a/b/-", &nested(98))), invalid);
    assert_eq!(code(set(&mut edits, "/a/b/-", &nested(97))), None);
    assert!(Json::parse(&**edits.apply().text()).is_ok());
}

#[test]
fn size_stays_within_the_limit() {
    let within = |max_bytes| {
        let rules = EditRules {
            shape: Shape::of("any"),
            headers: true,
            max_bytes,
        };
        Edits::new(document(r#"{"a":"bcd"}"#), rules)
    };
    let too_large = Some(RefusalCode::TooLarge);
    // {"a":"bcdef"} has 13 bytes, {"a":"bcd","k":1} has 17.
    assert_eq!(code(set(&mut within(13), "/a", "\"bcdef\"")), None);
    assert_eq!(code(set(&mut within(12), "/a", "\"bcdef\"")), too_large);
    assert_eq!(code(set(&mut within(17), "/k", "1")), None);
    assert_eq!(code(set(&mut within(16), "/k", "1")), too_large);
    assert_eq!(code(within(12).splice(&span("/a", 0, 0), "ab")), too_large);
    // What must be escaped counts as it will stand there.
    assert_eq!(
        code(within(16).splice(&span("/a", 3, 3), "\u{1}")),
        too_large
    );
    assert_eq!(code(within(17).splice(&span("/a", 3, 3), "\u{1}")), None);
    assert_eq!(
        code(set(
            &mut within(11 + 60 + 5),
            "/\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}",
            "1"
        )),
        None
    );
    assert_eq!(
        code(set(
            &mut within(11 + 60 + 4),
            "/\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}",
            "1"
        )),
        too_large
    );
    // Many small ones add up, and what shrinks is never refused.
    let mut edits = within(20);
    assert_eq!(code(set(&mut edits, "/k", "123")), None);
    assert_eq!(code(set(&mut edits, "/l", "4")), too_large);
    assert_eq!(code(edits.remove(&at("/a"))), None);
    assert_eq!(&**edits.apply().text(), r#"{"k":123}"#);
}

#[test]
fn redact_replaces_every_match_below_a_place() {
    let text = r#"{"a":"xyx","b":["x\u00e9x",1,"n"],"x":{"c":"yx"}}"#;
    let words = Matcher::compile(&["x"], Syntax::Literal).expect("a word");
    let mut edits = edits(text);
    assert_eq!(edits.redact(&words, &at("/none"), "-"), Ok(0));
    assert!(edits.is_empty());
    assert_eq!(edits.redact(&words, &at("/b"), "\"-"), Ok(2));
    assert_eq!(edits.redact(&words, &at("/a"), ""), Ok(2));
    let expected = r#"{"a":"y","b":["\"-é\"-",1,"n"],"x":{"c":"yx"}}"#;
    assert_eq!(&**edits.apply().text(), expected);
    let notes: Vec<_> = edits
        .list()
        .iter()
        .map(|note| (note.op, note.at.to_string(), note.bytes))
        .collect();
    assert_eq!(
        notes,
        [
            ("splice", "/b/0".to_owned(), 4),
            ("splice", "/a".to_owned(), 0)
        ]
    );
}

#[test]
fn redact_makes_all_replacements_or_none() {
    let words = Matcher::compile(&["x"], Syntax::Literal).expect("a word");
    let mut edits = edits(r#"{"a":"x","b":"xy"}"#);
    edits.splice(&span("/b", 0, 2), "z").expect("a stretch");
    assert_eq!(
        code(edits.redact(&words, &at(""), "-")),
        Some(RefusalCode::Conflict)
    );
    assert_eq!(&**edits.apply().text(), r#"{"a":"x","b":"z"}"#);
    assert_eq!(edits.list().len(), 1);
    // A later edit elsewhere in the same string goes with it.
    assert_eq!(edits.redact(&words, &at("/a"), "-"), Ok(1));
    assert_eq!(code(edits.splice(&span("/a", 1, 1), "!")), None);
    assert_eq!(&**edits.apply().text(), r#"{"a":"-!","b":"z"}"#);
}

#[test]
fn redacting_a_long_string_takes_one_pass() {
    // A million matches in one string: looking the string up for each would read 10^12 bytes.
    let words = Matcher::compile(&["x"], Syntax::Literal).expect("a word");
    let mut edits = edits(&format!(r#"{{"a":"{}"}}"#, "x".repeat(1_000_000)));
    assert_eq!(edits.redact(&words, &at(""), "-"), Ok(1_000_000));
    let expected = format!(r#"{{"a":"{}"}}"#, "-".repeat(1_000_000));
    assert_eq!(**edits.apply().text(), *expected);
}

#[test]
fn more_matches_than_can_be_held_are_refused() {
    let words = Matcher::compile(&["x"], Syntax::Literal).expect("a word");
    let text = format!(r#"{{"a":"{}"}}"#, "x".repeat(8_000_000));
    let mut edits = edits(&text);
    assert_eq!(
        code(edits.redact(&words, &at(""), "")),
        Some(RefusalCode::TooLarge)
    );
    assert!(edits.is_empty());
}

#[test]
fn edits_apply_to_a_document_with_more_in_it() {
    let mut edits = edits(r#"{"a":1}"#);
    set(&mut edits, "/a", "2").expect("a member");
    set(&mut edits, "/b", "3").expect("an object");
    let whole = document(r#"{"headers":{"h":"v"}, "a":1}"#);
    let expected = r#"{"headers":{"h":"v"},"a":2,"b":3}"#;
    assert_eq!(&**edits.apply_to(&whole).text(), expected);
}
