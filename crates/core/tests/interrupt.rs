//! What a plugin asks of a document is stopped when it is told to, wherever it is. No test looks at a
//! clock: an interrupt counts how often it was asked, and says stop at a time that the test chooses.

mod support;

use std::time::{Duration, Instant};

use hookgate_core::{
    Document, Draft, EditRules, Edits, INTERRUPT_BYTES, Interrupt, Json, Matcher, Shape, Span,
    Stopped, Syntax,
};
use support::{at, document, named};

const LENGTH: usize = 10_000_000;
/// Questions about a text of that length, if the last bytes of a step may pass the mark.
const LOW: usize = LENGTH / INTERRUPT_BYTES * 9 / 10;

/// What a plugin may ask of a document.
type Ask<'a> = dyn Fn(&Document, &mut Interrupt<'_>) -> Result<(), Stopped> + 'a;

/// Runs it to its end; answers how often it asked.
fn asked(document: &Document, ask: &Ask<'_>) -> usize {
    let mut count = 0;
    let mut stop = || {
        count += 1;
        false
    };
    ask(document, &mut Interrupt::when(&mut stop)).expect("nobody stops it");
    count
}

/// Tells it to stop at the given question; it must, and must not ask again.
fn stops_at(document: &Document, question: usize, ask: &Ask<'_>) {
    let mut count = 0;
    let mut stop = || {
        count += 1;
        count >= question
    };
    let ended = ask(document, &mut Interrupt::when(&mut stop));
    assert_eq!((ended, count), (Err(Stopped), question));
}

fn matcher(patterns: &[&str], syntax: Syntax) -> Matcher {
    Matcher::compile(patterns, syntax).expect("patterns")
}

fn find(matcher: &Matcher) -> Box<Ask<'_>> {
    Box::new(move |document, interrupt| {
        document
            .find_until(matcher, &at(""), u32::MAX, interrupt)
            .map(drop)
    })
}

fn redact(matcher: &Matcher) -> Box<Ask<'_>> {
    Box::new(move |document, interrupt| {
        let mut edits = edits(document);
        let done = edits.redact_until(matcher, &at(""), "-", interrupt);
        if done.is_err() {
            assert!(
                edits.is_empty() && edits.apply() == *document,
                "all or nothing"
            );
        }
        done.map(drop)
    })
}

fn edits(document: &Document) -> Edits {
    let rules = EditRules {
        shape: Shape::of("custom"),
        headers: true,
        max_bytes: u64::MAX,
    };
    Edits::new(document.clone(), rules)
}

/// Documents of 10 MB that differ in where their bytes are.
fn long_documents() -> Vec<(&'static str, Document)> {
    let object = |value: String| document(&format!(r#"{{"a":{value},"z":["end"]}}"#));
    vec![
        (
            "one string",
            object(format!("\"{}\"", "lorem ipsum é ".repeat(LENGTH / 15))),
        ),
        (
            "one string of escapes",
            object(format!("\"{}\"", r"x\n\u00e9".repeat(LENGTH / 9))),
        ),
        (
            "short strings",
            object(format!("[{}0]", r#""lorem","#.repeat(LENGTH / 8))),
        ),
        (
            "objects",
            object(format!("[{}0]", r#"{"k":["v",{}]},"#.repeat(LENGTH / 15))),
        ),
        ("one number", object("1".repeat(LENGTH))),
        (
            "one key",
            object(format!("{{\"{}\":1}}", "k".repeat(LENGTH))),
        ),
        (
            "keys with escapes",
            object(format!("{{\"{}\":1}}", r"\n".repeat(LENGTH / 2))),
        ),
        ("white space", object(format!("[{}0]", " ".repeat(LENGTH)))),
    ]
}

#[test]
fn a_question_is_asked_once_for_so_many_bytes() {
    let words = matcher(&["sudo", "secret"], Syntax::Literal);
    let ignore_case = matcher(&["sudo", "secret"], Syntax::LiteralIgnoreCase);
    let quoted = matcher(&["\"", "b\\"], Syntax::Literal);
    let many: Vec<String> = (0..100).map(|word| format!("word{word}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let many = matcher(&many, Syntax::Literal);
    let expression = matcher(&["s[ue]do"], Syntax::Regex);
    let (low, high) = (LOW, 9 * LOW);
    for (name, document) in &long_documents() {
        for matcher in [&words, &ignore_case, &quoted, &many, &expression] {
            for ask in [find(matcher), redact(matcher)] {
                let asked = asked(document, &*ask);
                assert!((low..high).contains(&asked), "{name}: {asked}");
                stops_at(document, 1, &*ask);
                stops_at(document, low, &*ask);
            }
        }
    }
}

#[test]
fn looks_at_a_document_are_stopped_as_well() {
    let asks: [(&str, Box<Ask<'_>>); 4] = [
        (
            "get",
            Box::new(|document, interrupt| document.get_until(&at("/none"), interrupt).map(drop)),
        ),
        (
            "get_string",
            Box::new(|document, interrupt| {
                document.get_string_until(&at("/z/0"), interrupt).map(drop)
            }),
        ),
        (
            "get_strings",
            Box::new(|document, interrupt| {
                document.get_strings_until(&at("/z"), interrupt).map(drop)
            }),
        ),
        (
            "keys",
            Box::new(|document, interrupt| document.keys_until(&at(""), interrupt).map(drop)),
        ),
    ];
    let (low, high) = (LOW, 5 * LOW);
    for (name, document) in &long_documents() {
        for (what, ask) in &asks {
            let asked = asked(document, &**ask);
            assert!((low..high).contains(&asked), "{what} {name}: {asked}");
            stops_at(document, 2, &**ask);
        }
    }
    // What is looked for is itself long.
    let there: [(usize, Box<Ask<'_>>); 4] = [
        (
            0,
            Box::new(|document, interrupt| {
                document.get_string_until(&at("/a"), interrupt).map(drop)
            }),
        ),
        (
            1,
            Box::new(|document, interrupt| {
                document.get_string_until(&at("/a"), interrupt).map(drop)
            }),
        ),
        (
            2,
            Box::new(|document, interrupt| {
                document.get_strings_until(&at("/a"), interrupt).map(drop)
            }),
        ),
        (
            6,
            Box::new(|document, interrupt| document.keys_until(&at("/a"), interrupt).map(drop)),
        ),
    ];
    let documents = long_documents();
    for (index, ask) in &there {
        let (name, document) = &documents[*index];
        assert!(asked(document, &**ask) >= low, "{name}");
        stops_at(document, low, &**ask);
    }
}

#[test]
fn edits_are_stopped_where_they_look_for_their_place() {
    let span = |at_: &str| Span {
        at: at(at_),
        start: 0,
        end: 1,
    };
    let asks: [(&str, Box<Ask<'_>>); 3] = [
        (
            "set",
            Box::new(|document, interrupt| {
                let value = Json::null();
                edits(document)
                    .set_until(&at("/new"), value, interrupt)
                    .map(|done| assert_eq!(done, Ok(())))
            }),
        ),
        (
            "remove",
            Box::new(|document, interrupt| {
                edits(document)
                    .remove_until(&at("/z/0"), interrupt)
                    .map(|done| assert_eq!(done, Ok(())))
            }),
        ),
        (
            "splice",
            Box::new(|document, interrupt| {
                edits(document)
                    .splice_until(&span("/z/0"), "E", interrupt)
                    .map(|done| assert_eq!(done, Ok(())))
            }),
        ),
    ];
    for (name, document) in &long_documents() {
        for (what, ask) in &asks {
            let asked = asked(document, &**ask);
            assert!((LOW..5 * LOW).contains(&asked), "{what} {name}: {asked}");
            stops_at(document, 2, &**ask);
        }
    }
    let (_, escapes) = &long_documents()[1];
    let splice: Box<Ask<'_>> = Box::new(|document, interrupt| {
        edits(document)
            .splice_until(&span("/a"), "E", interrupt)
            .map(|done| assert_eq!(done, Ok(())))
    });
    assert!(asked(escapes, &*splice) >= LOW);
    stops_at(escapes, LOW, &*splice);
}

#[test]
fn the_slowest_expressions_are_stopped_in_the_middle_of_a_string() {
    // Each would take from minutes to years to its end: many states for each byte, states that are always
    // new, a way to the end of the text for each match, word boundaries that no DFA can tell.
    let expressions = [
        r"(?:[ab]*a[ab]{400}c|x)",
        r"[ab]*a[ab]{20}c",
        r"\w{3,90}\d",
        r"a.*z|a",
        r"(?:\b[ab]+\b.*z|[ab])",
        r"(?i)(?:[a-z]+[^a-z]*){1,20}!",
        r"(?:a?){300}a{300}c|b.*c",
    ];
    for text in [
        "ab".repeat(LENGTH / 2),
        "abé".repeat(LENGTH / 4),
        "ab ba ".repeat(LENGTH / 6),
    ] {
        let document = document(&format!("[{}]", Json::string(&text)));
        for expression in expressions {
            let matcher = matcher(&[expression], Syntax::Regex);
            for question in [1, 20] {
                stops_at(&document, question, &*find(&matcher));
            }
            stops_at(&document, 3, &*redact(&matcher));
        }
    }
    // The same in many short strings.
    let document = document(&format!("[{}0]", r#""abababab","#.repeat(LENGTH / 11)));
    for expression in expressions {
        stops_at(
            &document,
            20,
            &*find(&matcher(&[expression], Syntax::Regex)),
        );
    }
}

#[test]
fn little_text_is_never_asked_about() {
    let words = matcher(&["sudo", "l"], Syntax::Literal);
    let document = document(support::PAYLOAD);
    assert_eq!(asked(&document, &*find(&words)), 0);
    assert_eq!(asked(&document, &*redact(&words)), 0);
}

#[test]
fn a_deadline_that_has_passed_stops_and_one_to_come_does_not() {
    let words = matcher(&["sudo"], Syntax::Literal);
    let document = document(&format!(
        "[{}]",
        Json::string(&"a".repeat(2 * INTERRUPT_BYTES))
    ));
    let ask = find(&words);
    let passed = Instant::now();
    assert_eq!(ask(&document, &mut Interrupt::at(passed)), Err(Stopped));
    let far = Instant::now() + Duration::from_secs(86_400);
    assert_eq!(ask(&document, &mut Interrupt::at(far)), Ok(()));
}

#[tokio::test]
async fn a_stopped_redaction_leaves_a_draft_as_it_was() {
    let plugin = support::plugin(|call| {
        let mut draft: Draft = call.draft();
        let words = matcher(&["a"], Syntax::Literal);
        let mut stop = || true;
        let interrupt = &mut Interrupt::when(&mut stop);
        assert_eq!(
            draft.redact_until(&words, &at("/args"), "-", interrupt),
            Err(Stopped)
        );
        Ok(draft.allow())
    });
    let engine = support::engine([named("p", plugin)]).await;
    let long = "a".repeat(3 * INTERRUPT_BYTES);
    let payload = format!(r#"{{"name":"sh","args":{{"text":"{long}"}}}}"#);
    let request = hookgate_core::Request::default();
    let outcome = engine
        .invoke(support::HOOK, payload.as_str(), &request)
        .await;
    let outcome = outcome.expect("passes the door");
    assert!(!outcome.modified);
    assert_eq!(support::text(&outcome), payload);
}
