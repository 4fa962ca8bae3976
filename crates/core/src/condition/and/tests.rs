//! A conjunction holds exactly where both of its conditions do.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::super::{Tested, hold};
use super::*;
use crate::Json;
use crate::document::Document;
use crate::request::Request;

/// Hooks of every kind of subject, one about a token, one about nothing.
const HOOKS: [&str; 7] = [
    "tool_pre_invoke",
    "prompt_pre_fetch",
    "resource_post_fetch",
    "agent_pre_invoke",
    "token_delegate",
    "identity_resolve",
    "custom",
];

/// Few words, so that lists often share one and often do not.
fn words() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(prop::sample::select(&["a", "b", "ab"][..]), 0..3)
        .prop_map(|words| words.into_iter().map(str::to_owned).collect())
}

fn set() -> impl Strategy<Value = BTreeSet<String>> {
    words().prop_map(|words| words.into_iter().collect())
}

fn condition() -> impl Strategy<Value = Condition> {
    let ids = (set(), set(), set(), set(), set(), set());
    (ids, words(), words()).prop_map(|(ids, user_patterns, content_types)| {
        let (server_ids, tenant_ids, tools, prompts, resources, agents) = ids;
        let condition = Condition {
            server_ids,
            tenant_ids,
            tools,
            prompts,
            resources,
            agents,
            user_patterns,
            content_types,
            also: Vec::new(),
        };
        condition.normalised()
    })
}

fn found() -> impl Strategy<Value = Option<String>> {
    let word = prop::sample::select(&["a", "b", "ab", "c", ""][..]);
    prop::option::of(word.prop_map(str::to_owned))
}

/// A hook, its subject, and who calls.
fn call() -> impl Strategy<Value = (&'static str, Option<String>, Request)> {
    let who = (found(), found(), found(), found());
    (prop::sample::select(&HOOKS[..]), found(), who).prop_map(|(hook, subject, who)| {
        let (server_id, tenant_id, content_type, user) = who;
        let request = Request {
            server_id,
            tenant_id,
            content_type,
            user: user.map(|user| Json::string(&user)),
            ..Request::default()
        };
        (hook, subject, request)
    })
}

/// Whether one of the conditions holds for a call.
fn holds(
    conditions: &[Condition],
    (hook, subject, request): &(&str, Option<String>, Request),
) -> bool {
    let name = Json::string(subject.as_deref().unwrap_or_default());
    let payload = Document::new(
        Json::parse(format!(r#"{{"target_name":{name},"raw_token":{name}}}"#)).unwrap(),
    );
    let tested = Tested {
        hook,
        payload: &payload,
        subject: subject.as_deref(),
        request,
    };
    hold(conditions, tested)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 4096, ..ProptestConfig::default() })]

    #[test]
    fn both_hold(one in condition(), other in condition(), third in condition(), call in call()) {
        let alone = |condition: &Condition| holds(std::slice::from_ref(condition), &call);
        let both = one.and(&other);
        prop_assert_eq!(alone(&both), alone(&one) && alone(&other));
        prop_assert_eq!(alone(&other.and(&one)), alone(&both));
        prop_assert_eq!(alone(&both.and(&third)), alone(&both) && alone(&third));
        prop_assert_eq!(alone(&third.and(&both)), alone(&both) && alone(&third));
    }

    #[test]
    fn what_never_holds_holds_at_no_call(one in condition(), other in condition(), call in call()) {
        let both = one.and(&other);
        // An empty subject is not compared, as with one condition.
        if both.never_at(call.0).is_some() && call.1.as_ref().is_some_and(|subject| !subject.is_empty()) {
            prop_assert!(!holds(&[both], &call));
        }
    }
}

fn tools(names: &[&str]) -> Condition {
    Condition {
        tools: names.iter().map(|name| (*name).to_owned()).collect(),
        ..Condition::default()
    }
}

fn about(tool: &str) -> (&'static str, Option<String>, Request) {
    ("tool_pre_invoke", Some(tool.to_owned()), Request::default())
}

#[test]
fn two_lists_without_a_common_word_are_not_an_empty_list() {
    let never = tools(&["a"]).and(&tools(&["b"]));
    for tool in ["a", "b", "c"] {
        assert!(!holds(std::slice::from_ref(&never), &about(tool)), "{tool}");
    }
    assert_eq!(never.never_at("tool_pre_invoke"), Some("tools"));
    // A tool's name says nothing about other hooks, so neither do two.
    let prompt = ("prompt_pre_fetch", Some("p".to_owned()), Request::default());
    assert!(holds(std::slice::from_ref(&never), &prompt));
    assert_eq!(never.never_at("prompt_pre_fetch"), None);
}

#[test]
fn what_two_lists_share_is_one_list() {
    let both = tools(&["a", "b"]).and(&tools(&["b", "c"]));
    assert_eq!(both, tools(&["b"]));
    assert_eq!(both.never_at("tool_pre_invoke"), None);
    assert_eq!(tools(&["a"]).and(&Condition::default()), tools(&["a"]));
    assert_eq!(Condition::default().and(&tools(&["a"])), tools(&["a"]));
}

#[test]
fn both_lists_of_user_patterns_must_match() {
    let pattern = |pattern: &str| Condition {
        user_patterns: vec![pattern.to_owned()],
        ..Condition::default()
    };
    let both = pattern("@acme").and(&pattern("admin"));
    let by = |user: &str| {
        let request = Request {
            user: Some(Json::string(user)),
            ..Request::default()
        };
        holds(std::slice::from_ref(&both), &("custom", None, request))
    };
    assert!(by("admin@acme"));
    assert!(!by("guest@acme"));
    assert!(!by("admin@other"));
}

#[test]
fn content_types_are_compared_without_case_and_parameters() {
    let kinds = |kind: &str| Condition {
        content_types: vec![kind.to_owned()],
        ..Condition::default()
    };
    let both = kinds("Text/HTML; charset=utf-8").and(&kinds("text/html"));
    assert_eq!(both, kinds("text/html"));
    assert_eq!(
        kinds("a/b").and(&kinds("c/d")).never_at("custom"),
        Some("content_types")
    );
}
