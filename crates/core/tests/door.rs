//! The check at the door: what is I-JSON, how deep, how large, and of which shape.

mod support;

use hookgate_core::{Decision, Engine, InvokeError, Json, Payload, Request};
use support::{allowing, config, named};

#[test]
fn i_json_is_accepted_and_keeps_its_text() {
    let texts = [
        "null",
        " \t\r\n{\"a\" : [ 1 ,2 ] } \n",
        "[]",
        "{}",
        "[[],{}]",
        "-0",
        "0.0",
        "1e400",
        "1E+2",
        "-1.5e-7",
        "123456789012345678901234567890.10",
        r#""""#,
        r#""\"\\\/\b\f\n\r\t\u00e9""#,
        r#""\ud83d\ude00""#,
        r#""\uD83D\uDE00""#,
        r#""\u0000""#,
        r#""\uffff\ufdd0""#,
        "\"\u{7f}\u{2028}\u{feff}\u{ffff}\u{10ffff}\"",
        r#"{"":0}"#,
        r#"{"a":{"a":{"a":1}},"b":{"a":1}}"#,
        r#"[{"a":1},{"a":2}]"#,
        r#"{"a":1,"A":2,"a ":3}"#,
    ];
    for text in texts {
        let json = Json::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(json.as_str(), text);
        assert_eq!(Payload::from(text).to_json(), Ok(json));
    }
}

#[test]
fn anything_else_is_refused_with_the_place() {
    let cases: [(&str, &str, usize); 58] = [
        ("", "the text ends where a value should be", 0),
        ("  ", "the text ends where a value should be", 2),
        ("\u{feff}{}", "byte order mark", 0),
        (" \u{feff}{}", "not a JSON value", 1),
        ("\u{a0}1", "not a JSON value", 0),
        ("\u{c}1", "not a JSON value", 0),
        ("{} x", "text after the value", 3),
        ("{}{}", "text after the value", 2),
        ("1 2", "text after the value", 2),
        ("{}\0", "text after the value", 2),
        ("01", "text after the value", 1),
        ("-01", "text after the value", 2),
        ("0x1", "text after the value", 1),
        ("1_0", "text after the value", 1),
        ("truee", "text after the value", 4),
        ("+1", "not a JSON value", 0),
        (".5", "not a JSON value", 0),
        ("NaN", "not a JSON value", 0),
        ("Infinity", "not a JSON value", 0),
        ("nul", "not a JSON value", 0),
        ("True", "not a JSON value", 0),
        ("'a'", "not a JSON value", 0),
        ("/**/1", "not a JSON value", 0),
        ("[,1]", "not a JSON value", 1),
        ("[1,]", "not a JSON value", 3),
        ("-", "a number needs digits", 1),
        ("-Infinity", "a number needs digits", 1),
        ("1.", "a number needs digits", 2),
        ("1.e2", "a number needs digits", 2),
        ("1e", "a number needs digits", 2),
        ("1e+", "a number needs digits", 3),
        ("[", "the text ends where a value should be", 1),
        ("[1", "expected `,` or `]` in an array", 2),
        ("[1 2]", "expected `,` or `]` in an array", 3),
        ("[1}", "expected `,` or `]` in an array", 2),
        ("{", "an object's key must be a string", 1),
        ("{a:1}", "an object's key must be a string", 1),
        ("{1:1}", "an object's key must be a string", 1),
        (r#"{"a":1,}"#, "an object's key must be a string", 7),
        (r#"{"a""#, "expected `:` after a key", 4),
        (r#"{"a"=1}"#, "expected `:` after a key", 4),
        (r#"{"a":"#, "the text ends where a value should be", 5),
        (r#"{"a":1"#, "expected `,` or `}` in an object", 6),
        (r#"{"a":1]"#, "expected `,` or `}` in an object", 6),
        (r#"{"a":1,"a":2}"#, r#"duplicate key "a""#, 7),
        (r#"{"a":1,"\u0061":2}"#, r#"duplicate key "a""#, 7),
        (r#"{"x":{"":1,"":2}}"#, r#"duplicate key """#, 11),
        (r#""abc"#, "the text ends inside a string", 4),
        (r#""\"#, "unknown escape in a string", 1),
        (r#""\x""#, "unknown escape in a string", 1),
        ("\"a\nb\"", "control character in a string", 2),
        ("\"\0\"", "control character in a string", 1),
        (r#""\u12g4""#, "`\\u` needs four hexadecimal digits", 1),
        (r#""\u+123""#, "`\\u` needs four hexadecimal digits", 1),
        (r#""\ud800""#, "lone surrogate", 1),
        (r#""\udc00""#, "lone surrogate", 1),
        (r#""\ud800\u0041""#, "lone surrogate", 1),
        (r#"{"\ud800\ud800":1}"#, "lone surrogate", 2),
    ];
    for (text, problem, offset) in cases {
        let error = Json::parse(text).expect_err(text);
        assert_eq!((&*error.problem, error.offset), (problem, offset), "{text}");
        assert_eq!(error.to_string(), format!("{problem} at byte {offset}"));
    }
}

#[test]
fn nesting_ends_at_a_hundred() {
    let nested = |open: &str, close: &str, levels: usize| {
        format!("{}{}", open.repeat(levels), close.repeat(levels))
    };
    let objects = |levels: usize| format!("{}1{}", r#"{"a":"#.repeat(levels), "}".repeat(levels));
    assert!(Json::parse(nested("[", "]", 100)).is_ok());
    assert!(Json::parse(objects(100)).is_ok());
    // Siblings are not nesting.
    assert!(Json::parse(format!("[{}0]", "[[]],".repeat(1_000))).is_ok());
    for text in [nested("[", "]", 101), objects(101), "[".repeat(1_000_000)] {
        let error = Json::parse(text).expect_err("too deep");
        assert_eq!(error.problem, "nesting deeper than 100");
    }
}

#[test]
fn a_duplicate_is_found_among_any_number_of_keys() {
    for keys in 1..40 {
        let members: String = (0..keys).map(|key| format!("\"k{key}\":{{}},")).collect();
        assert!(Json::parse(format!("{{{members}\"k\":0}}")).is_ok());
        for twice in 0..keys {
            let error = Json::parse(format!("{{{members}\"k{twice}\":0}}")).expect_err("twice");
            assert_eq!(error.problem, format!("duplicate key \"k{twice}\""));
        }
    }
}

#[test]
fn many_keys_do_not_take_the_square_of_their_number() {
    // 500,000 keys compared pair by pair would take minutes.
    let members: String = (0..500_000).map(|key| format!("\"{key}\":0,")).collect();
    assert!(Json::parse(format!("{{{members}\"k\":0}}")).is_ok());
}

#[test]
fn an_error_shows_only_the_start_of_a_key() {
    let key = "é".repeat(1_000);
    let error = Json::parse(format!("{{\"{key}\":1,\"{key}\":2}}")).expect_err("twice");
    assert_eq!(
        error.problem,
        format!("duplicate key \"{}\"", "é".repeat(64))
    );
}

/// An engine where somebody listens to every hook of the test, and what it says to a payload.
async fn at_the_door(hook: &str, payload: &str) -> Result<(), String> {
    let plugin = allowing();
    let listener = named("p", plugin.clone()).hooks([hook]);
    let engine = support::engine([listener]).await;
    match engine.invoke(hook, payload, &Request::default()).await {
        Ok(outcome) => {
            assert_eq!(outcome.decision, Decision::Allow);
            assert_eq!(support::text(&outcome), payload);
            Ok(())
        }
        Err(error) => {
            assert_eq!(error.code(), "invalid_payload");
            assert_eq!(plugin.calls(), 0, "checked before any plugin");
            Err(error.to_string())
        }
    }
}

#[tokio::test]
async fn payloads_of_the_right_shape_pass() {
    let cases = [
        ("tool_pre_invoke", r#"{"name":""}"#),
        (
            "tool_pre_invoke",
            r#" {"extra":[1.10],"name":"a","args":null,"headers":null} "#,
        ),
        (
            "tool_pre_invoke",
            r#"{"n\u0061me":"a","args":{"a":1},"headers":{"A":"b"}}"#,
        ),
        ("tool_post_invoke", r#"{"name":"a","result":null}"#),
        ("prompt_pre_fetch", r#"{"prompt_id":"a"}"#),
        ("prompt_pre_fetch", r#"{"prompt_id":"a","args":{"a":"b"}}"#),
        ("prompt_post_fetch", r#"{"prompt_id":"a","result":1}"#),
        ("resource_pre_fetch", r#"{"uri":"a","metadata":{"a":[1]}}"#),
        ("resource_post_fetch", r#"{"uri":"a","content":[]}"#),
        ("agent_pre_invoke", r#"{"agent_id":"a","messages":[]}"#),
        (
            "agent_pre_invoke",
            r#"{"agent_id":"a","messages":[1],"tools":["t"],"headers":{},"model":null,"system_prompt":"s","parameters":{}}"#,
        ),
        (
            "agent_post_invoke",
            r#"{"agent_id":"a","messages":[],"tool_calls":[{}]}"#,
        ),
        ("http_pre_request", r#"{"name":1}"#),
        ("a.hook-of_ours", "{}"),
    ];
    for (hook, payload) in cases {
        assert_eq!(at_the_door(hook, payload).await, Ok(()), "{hook} {payload}");
    }
}

#[tokio::test]
async fn payloads_of_another_shape_are_named() {
    let cases = [
        ("tool_pre_invoke", "[]", "the payload is not an object"),
        ("any_other", "null", "the payload is not an object"),
        ("tool_pre_invoke", "{}", "member `name` is missing"),
        (
            "tool_pre_invoke",
            r#"{"name":1}"#,
            "member `name` is not a string",
        ),
        (
            "tool_pre_invoke",
            r#"{"name":null}"#,
            "member `name` is not a string",
        ),
        (
            "tool_pre_invoke",
            r#"{"name":"a","args":[]}"#,
            "member `args` is not an object or null",
        ),
        (
            "tool_pre_invoke",
            r#"{"name":"a","\u0061rgs":"x"}"#,
            "member `args` is not an object or null",
        ),
        (
            "tool_pre_invoke",
            r#"{"name":"a","headers":{"a":"b","c":1}}"#,
            "member `headers` holds something other than strings",
        ),
        (
            "tool_post_invoke",
            r#"{"name":"a"}"#,
            "member `result` is missing",
        ),
        (
            "prompt_pre_fetch",
            r#"{"prompt_id":"a","args":{"a":null}}"#,
            "member `args` holds something other than strings",
        ),
        (
            "prompt_post_fetch",
            r#"{"result":1}"#,
            "member `prompt_id` is missing",
        ),
        (
            "resource_pre_fetch",
            r#"{"uri":"a","metadata":false}"#,
            "member `metadata` is not an object or null",
        ),
        (
            "resource_post_fetch",
            r#"{"uri":"a"}"#,
            "member `content` is missing",
        ),
        (
            "agent_pre_invoke",
            r#"{"agent_id":"a","messages":null}"#,
            "member `messages` is not an array",
        ),
        (
            "agent_pre_invoke",
            r#"{"agent_id":"a","messages":[],"tools":["a",1]}"#,
            "member `tools` holds something other than strings",
        ),
        (
            "agent_pre_invoke",
            r#"{"agent_id":"a","messages":[],"model":1}"#,
            "member `model` is not a string or null",
        ),
        (
            "agent_post_invoke",
            r#"{"agent_id":"a","messages":[],"tool_calls":[null]}"#,
            "member `tool_calls` holds something other than objects",
        ),
    ];
    for (hook, payload, problem) in cases {
        let expected = format!("the payload of {hook} has the wrong shape: {problem}");
        assert_eq!(at_the_door(hook, payload).await, Err(expected), "{payload}");
    }
}

#[tokio::test]
async fn what_is_not_i_json_is_an_error_and_never_an_outcome() {
    let error = at_the_door("tool_pre_invoke", r#"{"name":"a","name":"b"}"#).await;
    let expected =
        "the payload of tool_pre_invoke is not I-JSON: duplicate key \"name\" at byte 12";
    assert_eq!(error, Err(expected.into()));
}

#[tokio::test]
async fn size_is_checked_first_and_to_the_byte() {
    let mut limits = config(&[]);
    limits.max_payload_bytes = 12;
    let builder = Engine::builder()
        .config(limits)
        .in_process(named("p", allowing()));
    let engine = builder.build().await.expect("one plugin");
    let invoke = async |payload: &str| {
        let request = Request::default();
        let outcome = engine.invoke("tool_pre_invoke", payload, &request).await;
        outcome.map(drop)
    };
    assert_eq!(invoke(r#"{"name":"a"}"#).await, Ok(()));
    let Err(InvokeError::InvalidPayload(error)) = invoke("not JSON at all").await else {
        panic!("15 bytes pass a limit of 12");
    };
    assert_eq!(error.problem, "has 15 bytes; at most 12");
}
