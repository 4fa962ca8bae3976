//! Searching a document: the same matches as a walk over the tree with a search that knows no shortcut,
//! whatever the text looks like and however long it is.

mod support;

#[path = "search/oracle.rs"]
mod oracle;
#[path = "search/random.rs"]
mod random;

use hookgate_core::{EditRules, Edits, Json, Matcher, Shape, Syntax};
use oracle::{expected, redacted};
use proptest::collection::vec;
use proptest::prelude::*;
use random::{document_text, expressions, pointers, words};
use support::{at, document};

/// Compares a search, a limited one and a redaction with what the tree says.
fn compare(text: &str, patterns: &[String], syntax: Syntax, under: &str, limit: u32) {
    let matcher = Matcher::compile(patterns, syntax).expect("patterns");
    let document = document(text);
    let expected = expected(text, patterns, syntax, under);
    let of = |limit| {
        let found = document.find(&matcher, &at(under), limit);
        let hits = found.hits.into_iter().map(|hit| {
            let span = hit.span;
            (hit.pattern, span.at.to_string(), span.start, span.end)
        });
        (hits.collect::<Vec<_>>(), found.truncated)
    };
    let told = || format!("{patterns:?} {syntax:?} below {under:?} in {text}");
    assert_eq!(of(u32::MAX), (expected.clone(), false), "{}", told());
    let first: Vec<_> = expected.iter().take(limit as usize).cloned().collect();
    let truncated = first.len() < expected.len();
    assert_eq!(of(limit), (first, truncated), "{limit} of {}", told());

    // Below a member, since the whole payload cannot be replaced.
    let rules = EditRules {
        shape: Shape::of("custom"),
        headers: true,
        max_bytes: u64::MAX,
    };
    let mut edits = Edits::new(document, rules);
    let at_root = expected.iter().any(|(_, at, ..)| at.is_empty());
    match edits.redact(&matcher, &at(under), "<é\">") {
        Ok(count) => {
            assert_eq!(count as usize, expected.len(), "{}", told());
            let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
            let edited = value(edits.apply().text());
            assert_eq!(edited, redacted(text, &expected, "<é\">"), "{}", told());
        }
        Err(refusal) => assert!(at_root, "{refusal} for {}", told()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn words_are_found_where_the_tree_has_them(
        text in document_text(),
        words in words(),
        ignore_case in any::<bool>(),
        under in any::<prop::sample::Index>(),
        limit in 0..6_u32,
    ) {
        let syntax = if ignore_case { Syntax::LiteralIgnoreCase } else { Syntax::Literal };
        compare(&text, &words, syntax, &pointers(&text, under), limit);
    }

    #[test]
    fn expressions_are_found_where_the_tree_has_them(
        text in document_text(),
        expressions in expressions(),
        under in any::<prop::sample::Index>(),
        limit in 0..6_u32,
    ) {
        compare(&text, &expressions, Syntax::Regex, &pointers(&text, under), limit);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    /// Longer than what is searched between two questions whether to go on, so that every seam is met.
    #[test]
    fn long_documents_and_long_strings_have_no_seams(
        texts in vec(document_text(), 1..8),
        words in words(),
        expressions in expressions(),
        ignore_case in any::<bool>(),
        times in 1..150_usize,
        long in 0..150_000_usize,
        piece in "[abkS é\u{1}\"]{1,9}",
    ) {
        let long = piece.repeat(long / piece.len());
        let long = serde_json::to_string(&long).expect("a string");
        let all = vec![texts.join(","); times].join(",\n");
        let text = format!("[{all},{long},{}]", texts.join(","));
        let syntax = if ignore_case { Syntax::LiteralIgnoreCase } else { Syntax::Literal };
        compare(&text, &words, syntax, "", 3);
        compare(&text, &expressions, Syntax::Regex, "", 3);
    }
}

#[test]
fn a_match_at_a_seam_is_found_whole() {
    let seam = hookgate_core::INTERRUPT_BYTES;
    for (patterns, syntax) in [
        (vec!["needle"], Syntax::Literal),
        (vec!["NEEdle"], Syntax::LiteralIgnoreCase),
        (vec!["need", "needle"], Syntax::Literal),
        (vec!["needle", "need"], Syntax::Literal),
        (vec!["n[e]+dle"], Syntax::Regex),
        (vec!["ne{2}dle|x+y"], Syntax::Regex),
        (vec![r"\bneedle\b"], Syntax::Regex),
        (vec![r"\w+dle"], Syntax::Regex),
        (vec!["(?:needle)$"], Syntax::Regex),
    ] {
        let patterns: Vec<String> = patterns.into_iter().map(str::to_owned).collect();
        for before in seam - 12..seam + 3 {
            // In one long string, and as a short one behind many.
            let padding = " ".repeat(before);
            compare(&format!(r#"["{padding}needle"]"#), &patterns, syntax, "", 1);
            let padding = r#""a","#.repeat(before / 4) + &" ".repeat(before % 4);
            compare(&format!(r#"[{padding}"needle"]"#), &patterns, syntax, "", 1);
        }
    }
}

#[test]
fn every_engine_finds_the_same_in_a_long_string() {
    // 40 KB: more than the fast engine may read of an expression with many states.
    let pieces = [
        "aab kk ",
        "bé a",
        "k\u{301}a b",
        "s s. ",
        "\u{212a}x ",
        "ab",
        "1-2-3 ",
        "é",
    ];
    let mut text = String::new();
    let mut state = 7_u32;
    while text.len() < 40_000 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        text.push_str(pieces[(state >> 24) as usize % pieces.len()]);
    }
    let quoted = format!("[{}]", Json::string(&text));
    for expression in [
        r"\bk+\b",
        r"\w+b",
        r"a.{1,300}?é",
        r"\b\w{2,}\b",
        r"(?i)\bK\b",
        r"a+b|a+",
        r"[^k]+k",
        r"\d(?:-\d)*",
        r"\B.",
        r"(?s)b.*\bab",
        r"(?-u:\b)a\w",
        r"^a|é$",
        r"\p{Greek}|\p{L}x\s",
        r"(?:a|b){1,200}k",
    ] {
        compare(&quoted, &[expression.to_owned()], Syntax::Regex, "", 2);
        let with_states = [expression.to_owned(), r"\w{30}z".to_owned()];
        compare(&quoted, &with_states, Syntax::Regex, "", 2);
    }
}

#[test]
fn what_the_text_hides_or_only_seems_to_hold_is_told_apart() {
    let cases: &[(&str, &[&str])] = &[
        // Letters behind escapes.
        (
            r#"["\u0073sn","s\u0073n","\u0053SN","a\/b","x"]"#,
            &["ssn", "a/b"],
        ),
        (r#"["\ud83d\ude00 ok","😀 ok"]"#, &["😀 o"]),
        // Patterns that are never written as they are.
        (r#"["say \"no\"","say no"]"#, &["\"no\"", "y \""]),
        (r#"["a\\b","a\\\\b","\\"]"#, &["\\b", "\\"]),
        (r#"["a\nb","a\tb","a\u000ab"]"#, &["a\nb", "\t"]),
        // Keys and what is between strings.
        (r#"{"ssn":1,"a":{"ssn":"ssn"}}"#, &["ssn"]),
        (r#"{"s\u0073n":"x","x":["ssn"]}"#, &["ssn", "x"]),
        (
            r#"{"a" : "b" , "c": [ 1.5, true ,null ] }"#,
            &["true", "1", ", ", ": ", "b"],
        ),
        (r#"["a","b",":","]"," ,"]"#, &["\",\"", ",", ":", "]", " "]),
        // A quote behind backslashes, and backslashes before the end.
        (r#"["\\","ssn","\\\"","ssn\\"]"#, &["ssn", "\\\""]),
        (r#""ssn""#, &["ssn"]),
        (r#" "\u0073sn" "#, &["ssn"]),
        (r#"["","","ssn"]"#, &["ssn"]),
    ];
    for (text, patterns) in cases {
        let patterns: Vec<String> = patterns.iter().map(|&word| word.to_owned()).collect();
        let escaped: Vec<String> = patterns.iter().map(|word| oracle::escaped(word)).collect();
        // One more than is compared at once.
        let filler = (0..70).map(|word| format!("filler\"{word}"));
        let many: Vec<String> = patterns.iter().cloned().chain(filler).collect();
        for limit in 0..4 {
            compare(text, &patterns, Syntax::Literal, "", limit);
            compare(text, &patterns, Syntax::LiteralIgnoreCase, "", limit);
            compare(text, &escaped, Syntax::Regex, "", limit);
            compare(text, &many, Syntax::Literal, "", limit);
            compare(text, &many, Syntax::LiteralIgnoreCase, "", limit);
        }
    }
}
