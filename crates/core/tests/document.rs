//! Reading a document where it lies, and searching it.

mod support;

use hookgate_core::{
    Found, Hit, MAX_FOUND_BYTES, MAX_PATTERN_BYTES, MAX_PATTERNS, MAX_REGEX_PATTERN_BYTES, Matcher,
    Pointer, RefusalCode, Span, Syntax,
};
use support::{at, document};

const DOCUMENT: &str = r#" {"name": "caf\u00e9", "n" :1.10, "list": [ "a", 2, "\"b\"", null, ["c"], "d" ],
    "": {"a/b": 1, "m~n": true, "~1": [1E5, -0], "k\u0065y": {} } } "#;

#[test]
fn get_answers_the_text_as_written() {
    let document = document(DOCUMENT);
    let cases = [
        ("", Some(DOCUMENT.trim())),
        ("/n", Some("1.10")),
        ("/name", Some(r#""caf\u00e9""#)),
        ("/list/0", Some(r#""a""#)),
        ("/list/3", Some("null")),
        ("/list/4", Some(r#"["c"]"#)),
        ("/list/4/0", Some(r#""c""#)),
        ("//a~1b", Some("1")),
        ("//m~0n", Some("true")),
        ("//~01/0", Some("1E5")),
        ("//~01/1", Some("-0")),
        ("//key", Some("{}")),
        ("/list/6", None),
        ("/list/-", None),
        ("/list/00", None),
        ("/list/+1", None),
        ("/list/1e0", None),
        ("/list/", None),
        ("/list/99999999999999999999999999", None),
        ("/list/0/0", None),
        ("/n/0", None),
        ("/Name", None),
        (
            "/",
            Some(r#"{"a/b": 1, "m~n": true, "~1": [1E5, -0], "k\u0065y": {} }"#),
        ),
        ("//", None),
    ];
    for (pointer, expected) in cases {
        assert_eq!(document.get(&at(pointer)), expected, "{pointer}");
    }
    assert_eq!(document.size(), DOCUMENT.len() as u64);
    assert_eq!(&**document.text(), DOCUMENT);
}

#[test]
fn strings_and_keys_come_unescaped() {
    let document = document(DOCUMENT);
    let string = |pointer| {
        document
            .get_string(&at(pointer))
            .map(|text| text.to_string())
    };
    assert_eq!(string("/name").as_deref(), Some("café"));
    assert_eq!(string("/list/2").as_deref(), Some("\"b\""));
    assert_eq!(string("/n"), None);
    assert_eq!(string("/none"), None);
    assert_eq!(document.get_strings(&at("/list")), ["a", "\"b\"", "d"]);
    assert_eq!(document.get_strings(&at("/")), [""; 0]);
    assert_eq!(document.get_strings(&at("/name")), [""; 0]);
    assert_eq!(document.keys(&at("")), ["name", "n", "list", ""]);
    assert_eq!(document.keys(&at("/")), ["a/b", "m~n", "~1", "key"]);
    assert_eq!(document.keys(&at("/list")), [""; 0]);
    assert_eq!(document.keys(&at("/none")), [""; 0]);
    let escapes = support::document(r#"["\"\\\/\b\f\n\r\t\u0000\ud83d\ude00\uFFFF"]"#);
    let expected = "\"\\/\u{8}\u{c}\n\r\t\0😀\u{ffff}";
    assert_eq!(escapes.get_strings(&at("")), [expected]);
}

#[test]
fn a_scalar_is_a_document_too() {
    let document = document(" \"a\" ");
    assert_eq!(document.get(&at("")), Some("\"a\""));
    assert_eq!(document.get(&at("/0")), None);
    let words = Matcher::compile(&["a"], Syntax::Literal).expect("a word");
    assert_eq!(document.find(&words, &at(""), 9), hits(&[(0, "", 0, 1)]));
}

#[test]
fn pointers_are_those_of_rfc_6901() {
    assert_eq!(at("/a~1b/~01/").tokens(), ["a/b", "~1", ""]);
    assert_eq!(at("").tokens(), [""; 0]);
    for text in ["", "/", "/a~1b/~01/", "/é//0"] {
        assert_eq!(at(text).to_string(), text);
    }
    for text in ["a", "#/a", "/~", "/a~2", "/a/~a", "~0"] {
        let error = Pointer::parse(text).expect_err(text).to_string();
        assert!(
            error.starts_with(&format!("not a JSON pointer: {text:?}")),
            "{error}"
        );
    }
    // Longer than any document is deep: it leads nowhere, and is not taken for its start.
    let deep = document(&format!("{}1{}", "[".repeat(100), "]".repeat(100)));
    assert_eq!(deep.get(&at(&"/0".repeat(100))), Some("1"));
    assert_eq!(deep.get(&at(&"/0".repeat(101))), None);
    assert_eq!(deep.get(&at(&"/0".repeat(100_000))), None);
    assert!(Pointer::parse(&format!("{}/~", "/0".repeat(200))).is_err());
}

fn hits(expected: &[(u32, &str, u32, u32)]) -> Found {
    let hit = |(pattern, pointer, start, end): &(u32, &str, u32, u32)| Hit {
        pattern: *pattern,
        span: Span {
            at: at(pointer),
            start: *start,
            end: *end,
        },
    };
    Found {
        hits: expected.iter().map(hit).collect(),
        truncated: false,
        over_budget: false,
    }
}

fn find(text: &str, patterns: &[&str], syntax: Syntax) -> Found {
    let patterns = Matcher::compile(patterns, syntax).expect("patterns");
    document(text).find(&patterns, &at(""), u32::MAX)
}

#[test]
fn find_answers_spans_of_decoded_bytes_in_document_order() {
    let text = r#"{"b":"x\u00e9ab","ab":{"a~/":["ab","c",{"k":"abab"}]},"n":1}"#;
    let expected = hits(&[
        (0, "/b", 3, 5),
        (0, "/ab/a~0~1/0", 0, 2),
        (0, "/ab/a~0~1/2/k", 0, 2),
        (0, "/ab/a~0~1/2/k", 2, 4),
    ]);
    assert_eq!(find(text, &["ab"], Syntax::Literal), expected);
    // Keys, numbers and words of the grammar are not searched.
    assert_eq!(
        find(
            r#"{"true":true,"1":1,"n":null}"#,
            &["1", "true", "n"],
            Syntax::Literal
        ),
        hits(&[])
    );
    assert_eq!(find("[\"a\"]", &[], Syntax::Literal), hits(&[]));
    assert_eq!(find("[\"a\"]", &[], Syntax::Regex), hits(&[]));
}

#[test]
fn leftmost_wins_then_the_lower_index_and_nothing_overlaps() {
    for syntax in [Syntax::Literal, Syntax::LiteralIgnoreCase, Syntax::Regex] {
        let expected = hits(&[(0, "/0", 0, 2), (1, "/0", 2, 5)]);
        assert_eq!(
            find(r#"["ababc"]"#, &["ab", "abc"], syntax),
            hits(&[(0, "/0", 0, 2), (0, "/0", 2, 4)])
        );
        assert_eq!(
            find(r#"["ababc"]"#, &["abab", "abc", "bc"], syntax),
            hits(&[(0, "/0", 0, 4)])
        );
        assert_eq!(
            find(r#"["ababc"]"#, &["ab$", "abc"], Syntax::Literal),
            hits(&[(1, "/0", 2, 5)])
        );
        assert_eq!(find(r#"["abbcd"]"#, &["ab", "bcd"], syntax), expected);
        assert_eq!(
            find(r#"["aaaaa"]"#, &["aa", "a"], syntax),
            hits(&[(0, "/0", 0, 2), (0, "/0", 2, 4), (1, "/0", 4, 5)])
        );
    }
}

#[test]
fn case_is_ignored_in_ascii_only() {
    let text = r#"["Straße É \u212a \u017f kill KiLL"]"#;
    let found = find(text, &["KILL", "é", "k ", "s"], Syntax::LiteralIgnoreCase);
    let expected = hits(&[(3, "/0", 0, 1), (0, "/0", 18, 22), (0, "/0", 23, 27)]);
    assert_eq!(found, expected);
    assert_eq!(find(text, &["KILL"], Syntax::Literal), hits(&[]));
}

#[test]
fn regular_expressions_know_unicode_and_see_one_string_at_a_time() {
    let found = find(r#"["é1","2"]"#, &[r"\d+", r"\w"], Syntax::Regex);
    let expected = hits(&[(1, "/0", 0, 2), (0, "/0", 2, 3), (0, "/1", 0, 1)]);
    assert_eq!(found, expected);
    assert_eq!(
        find(r#"["a","b"]"#, &["^[ab]$"], Syntax::Regex),
        hits(&[(0, "/0", 0, 1), (0, "/1", 0, 1)])
    );
    assert_eq!(
        find(r#"["Kill"]"#, &["(?i)kILL"], Syntax::Regex),
        hits(&[(0, "/0", 0, 4)])
    );
}

#[test]
fn the_limit_and_the_place_bound_a_search() {
    let document = document(r#"{"a":["x","xx"],"b":"x"}"#);
    let words = Matcher::compile(&["x"], Syntax::Literal).expect("a word");
    let find = |under: &str, limit| {
        let found = document.find(&words, &at(under), limit);
        (found.hits.len(), found.truncated, found.over_budget)
    };
    assert_eq!(find("", 4), (4, false, false));
    assert_eq!(find("", 3), (3, true, false));
    assert_eq!(find("", 0), (0, true, false));
    assert_eq!(find("/a", 4), (3, false, false));
    assert_eq!(find("/a/1", 4), (2, false, false));
    assert_eq!(find("/b", 1), (1, false, false));
    assert_eq!(find("/none", 0), (0, false, false));
}

#[test]
fn matches_at_long_pointers_end_at_a_budget() {
    // 100 matches below a key of one MiB: the pointers alone would take 100 MiB.
    let key = "k".repeat(1 << 20);
    let document = document(&format!(r#"{{"{key}":[{}"x"]}}"#, r#""x","#.repeat(99)));
    let words = Matcher::compile(&["x"], Syntax::Literal).expect("a word");
    let found = document.find(&words, &at(""), u32::MAX);
    assert!(found.over_budget && !found.truncated);
    assert!(
        found.hits.len() < MAX_FOUND_BYTES >> 20,
        "{}",
        found.hits.len()
    );
}

#[test]
fn the_bottom_of_the_deepest_document_is_reached() {
    let levels = 49;
    let text = format!(
        r#"{}"ab"{}"#,
        r#"{"a":[0,"b","#.repeat(levels),
        r#",{"b":"b"}]}"#.repeat(levels)
    );
    let bottom = "/a/2".repeat(levels);
    assert_eq!(document(&text).get(&at(&bottom)), Some("\"ab\""));
    let words = Matcher::compile(&["b"], Syntax::Literal).expect("a word");
    let found = document(&text).find(&words, &at(""), u32::MAX).hits;
    // On the way down the strings before the bottom, then it, then those behind it.
    assert_eq!(found.len(), levels + 1 + levels);
    assert_eq!(found[levels].span.at, at(&bottom));
    assert_eq!((found[levels].span.start, found[levels].span.end), (1, 2));
    assert_eq!(
        found[levels + 1].span.at,
        at(&format!("{}/a/3/b", "/a/2".repeat(levels - 1)))
    );
    assert_eq!(found[2 * levels].span.at, at("/a/3/b"));
}

#[test]
fn patterns_that_are_none_are_refused() {
    let refused = |patterns: &[&str], syntax| {
        let refusal = Matcher::compile(patterns, syntax).expect_err("refused");
        (refusal.code, refusal.message)
    };
    let invalid = RefusalCode::Invalid;
    for syntax in [Syntax::Literal, Syntax::LiteralIgnoreCase] {
        assert_eq!(
            refused(&["a", ""], syntax),
            (invalid, "pattern 1 is empty".into())
        );
    }
    for pattern in [
        "",
        "a*",
        "a?",
        "a|",
        "^",
        "$",
        r"\b",
        "(?:)",
        "(a{0,2})",
        "(?m)^",
        r"|[^\s\S]",
    ] {
        let expected = (invalid, "pattern 1 can match the empty string".into());
        assert_eq!(
            refused(&["x", pattern], Syntax::Regex),
            expected,
            "{pattern}"
        );
    }
    for pattern in [
        "(",
        "a{2",
        "[b-a]",
        r"\1",
        "(?=a)",
        "(?<!a)b",
        r"(?-u)\xff",
        r"\p{None}",
    ] {
        let (code, message) = refused(&[pattern], Syntax::Regex);
        assert_eq!(code, invalid);
        assert!(
            message.starts_with("pattern 0 is not a regular expression: "),
            "{message}"
        );
    }
}

#[test]
fn patterns_past_a_limit_are_refused() {
    let code = |patterns: &[String], syntax| {
        Matcher::compile(patterns, syntax)
            .map(drop)
            .map_err(|refusal| refusal.code)
    };
    let too_large = Err(RefusalCode::TooLarge);
    for syntax in [Syntax::Literal, Syntax::LiteralIgnoreCase] {
        let words = |count: usize| (0..count).map(|word| word.to_string()).collect::<Vec<_>>();
        assert_eq!(code(&words(MAX_PATTERNS), syntax), Ok(()));
        assert_eq!(code(&words(MAX_PATTERNS + 1), syntax), too_large);
        assert_eq!(code(&["a".repeat(MAX_PATTERN_BYTES)], syntax), Ok(()));
        assert_eq!(
            code(&["a".repeat(MAX_PATTERN_BYTES), "b".into()], syntax),
            too_large
        );
    }
    // Shorter texts than the limit for plain words, since what comes of them is so much larger.
    let letters = "a|".repeat(MAX_REGEX_PATTERN_BYTES / 2);
    assert_eq!(code(&[letters + "b"], Syntax::Regex), too_large);
    for pattern in [
        r"\w{1000}",
        "(?:(?:a{1000}){1000}){1000}",
        &r"\w".repeat(MAX_REGEX_PATTERN_BYTES / 2),
    ] {
        assert_eq!(
            code(&[pattern.into()], Syntax::Regex),
            too_large,
            "{pattern}"
        );
    }
}
