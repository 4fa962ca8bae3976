//! What a payload or a plugin can make the engine hold, measured at its peak.
//!
//! In a binary of its own since the crate that counts replaces the allocator.

mod support;

use hookgate_core::{Json, MAX_FOUND_BYTES, MAX_REGEX_PATTERN_BYTES, Matcher, Pointer, Syntax};
use support::{at, document, edits, json, named};

const MIB: u64 = 1 << 20;

fn peak(run: impl FnOnce()) -> u64 {
    allocation_counter::measure(run).bytes_max
}

/// 100 patterns of 10 KiB each over all of printable ASCII, the list that would make the largest DFA.
fn long_patterns() -> Vec<String> {
    let mut state = 1_u32;
    let mut character = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b' ' + u8::try_from(state >> 24).expect("8 bits") % 95)
    };
    let mut pattern = || (0..10 * 1_024).map(|_| character()).collect();
    (0..100).map(|_| pattern()).collect()
}

#[test]
fn the_largest_matcher_takes_a_multiple_of_its_patterns() {
    let patterns = long_patterns();
    for syntax in [Syntax::Literal, Syntax::LiteralIgnoreCase] {
        let bytes = peak(|| {
            let matcher = Matcher::compile(&patterns, syntax).expect("one MiB");
            assert_eq!(
                matcher.find_iter(&patterns[99]).next(),
                Some((99, 0..10 * 1_024))
            );
        });
        assert!(bytes < 128 * MIB, "{syntax:?}: {} MiB", bytes / MIB);
    }
    for pattern in [
        r"(?:\w{100}){100}".to_owned(),
        "(?:(?:a{1000}){1000}){1000}".to_owned(),
        r"\w{100}".to_owned(),
        r"\w".repeat(MAX_REGEX_PATTERN_BYTES / 2),
        r"[\w\W]".repeat(MAX_REGEX_PATTERN_BYTES / 6),
        "(?i)[k-s]".repeat(MAX_REGEX_PATTERN_BYTES / 9),
        "a".repeat(MAX_REGEX_PATTERN_BYTES - 2) + "b?",
    ] {
        let bytes = peak(|| drop(Matcher::compile(&[&pattern], Syntax::Regex)));
        assert!(bytes < 64 * MIB, "{pattern:.20}: {} MiB", bytes / MIB);
    }
}

#[test]
fn a_pointer_of_slashes_takes_no_more_than_its_text() {
    let text = "/".repeat(10_000_000);
    assert!(peak(|| drop(Pointer::parse(&text).expect("a pointer"))) < 10_000);
}

#[test]
fn the_check_takes_a_multiple_of_the_text() {
    let distinct: String = (0..500_000).map(|key| format!("\"{key:x}\":0,")).collect();
    let texts = [
        format!("{{{distinct}\"k\":0}}"),
        format!("[{}0]", "{\"a\":[]},".repeat(500_000)),
        "[".repeat(5_000_000),
    ];
    for text in texts {
        let length = text.len() as u64;
        let bytes = peak(|| drop(Json::parse(text)));
        assert!(bytes < 16 * length, "{bytes} for {length}");
    }
}

#[test]
fn matches_take_what_their_budget_says() {
    let text = format!(r#"{{"a":"{}"}}"#, "x".repeat(5_000_000));
    let document = document(&text);
    let words = Matcher::compile(&["x"], Syntax::Literal).expect("a word");
    let budget = MAX_FOUND_BYTES as u64;
    // A vector doubles, so up to three times what is in it while it grows.
    let found = peak(|| drop(document.find(&words, &at(""), u32::MAX)));
    assert!(found < 4 * budget, "{} MiB", found / MIB);
    let mut edits = edits(&text);
    let redacted = peak(|| drop(edits.redact(&words, &at(""), "-")));
    assert!(redacted < 4 * budget, "{} MiB", redacted / MIB);
}

#[test]
fn what_a_plugin_removes_without_having_it_takes_nothing() {
    let plugin = support::plugin(|call| {
        let mut draft = call.draft();
        let key = "k".repeat(1_000_000);
        let bytes = peak(|| {
            for count in 0..100 {
                let key = format!("{key}{count}");
                draft.set_state(&key, None).expect("a removal");
                draft.set_shared(&key, None).expect("a removal");
                draft.set_request_metadata(&key, None).expect("a removal");
                draft
                    .set_state(&count.to_string(), Some(json("0")))
                    .expect("little");
                draft
                    .set_state(&count.to_string(), None)
                    .expect("a removal");
            }
        });
        assert!(bytes < 8 * MIB, "{} MiB", bytes / MIB);
        Ok(draft.allow())
    });
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let limit = std::time::Duration::from_secs(3_600);
        let engine = support::engine([named("p", plugin).timeout(limit)]).await;
        assert_eq!(support::ask(&engine).await.faults, []);
    });
}
