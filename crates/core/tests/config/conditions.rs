//! `conditions:` of an entry.

use std::collections::BTreeSet;

use crate::cases::{check_notes, check_problems, parse, wasm, whole};

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

const ALL: &str = "  conditions:
  - server_ids: [s2, s1, s2]
    tenant_ids: [t1]
    tools: [search, fetch]
    user_patterns: ['@example.com', '@example.com']
    content_types: [Application/JSON; charset=utf-8, ' text/html ']
  - tools: null
    prompts: []
    user_patterns: null
    tenant_ids: [t2]
";

#[test]
fn every_field_is_read_as_the_framework_does() {
    let config = parse(&wasm("", ALL, &[]).text).unwrap();
    let [first, second] = config.plugins[0].conditions.as_slice() else {
        panic!("{config:?}");
    };
    assert_eq!(first.server_ids, set(&["s1", "s2"]));
    assert_eq!(first.tenant_ids, set(&["t1"]));
    assert_eq!(first.tools, set(&["fetch", "search"]));
    assert_eq!(first.user_patterns, ["@example.com", "@example.com"]);
    assert_eq!(first.content_types, ["application/json", "text/html"]);
    for names in [&first.prompts, &first.resources, &first.agents] {
        assert_eq!(*names, set(&[]));
    }
    assert_eq!(second.tenant_ids, set(&["t2"]));
    assert_eq!((&second.tools, &second.prompts), (&set(&[]), &set(&[])));
    assert!(second.user_patterns.is_empty() && second.content_types.is_empty());
}

#[test]
fn the_other_subjects() {
    let text = "plugins:
- name: p
  kind: a.B
  hooks: [prompt_pre_fetch, resource_post_fetch, agent_pre_invoke]
  conditions: [{prompts: [a], resources: ['file:///b'], agents: [c]}]
";
    let config = parse(text).unwrap();
    let condition = &config.plugins[0].conditions[0];
    assert_eq!(condition.prompts, set(&["a"]));
    assert_eq!(condition.resources, set(&["file:///b"]));
    assert_eq!(condition.agents, set(&["c"]));
    assert_eq!(config.report.notes, []);
}

#[test]
fn none_and_empty_ones() {
    for (text, conditions) in [("[]", 0), ("[{}]", 1), ("[{server_ids: []}]", 1)] {
        let config = parse(&wasm("", &format!("  conditions: {text}"), &[]).text).unwrap();
        assert_eq!(config.plugins[0].conditions.len(), conditions, "{text}");
        assert_eq!(config.report.notes, [], "{text}");
    }
}

const FIELDS: &str = "possible keys: server_ids, tenant_ids, tools, prompts, resources, agents, \
                      user_patterns, content_types";

#[test]
fn what_is_no_condition() {
    check_problems(&[
        wasm(
            "nothing",
            "  conditions:",
            &[(
                6,
                13,
                "conditions: expected a list of alternatives, found nothing",
                "write a value, or remove the key",
            )],
        ),
        wasm(
            "one without its list",
            "  conditions: {tools: [search]}",
            &[(
                6,
                15,
                "conditions: expected a list of alternatives, found a mapping",
                "write it as one item of a list: conditions: [{tools: [search]}]",
            )],
        ),
        wasm(
            "a word",
            "  conditions: search",
            &[(
                6,
                15,
                "conditions: expected a list of alternatives, found a string",
                "write it in brackets: [search]",
            )],
        ),
        wasm(
            "a word in the list",
            "  conditions: [search]",
            &[(6, 16, "conditions: expected a mapping, found a string", "")],
        ),
        wasm(
            "a name without its list",
            "  conditions: [{tools: search}]",
            &[(
                6,
                24,
                "conditions.tools: expected a list of strings, found a string",
                "write it in brackets: [search]",
            )],
        ),
        wasm(
            "names that are none",
            "  conditions: [{tenant_ids: [1, true, null, [a]]}]",
            &[
                (
                    6,
                    30,
                    "conditions.tenant_ids: expected a string, found an integer",
                    "write it in quotes: \"1\"",
                ),
                (
                    6,
                    33,
                    "conditions.tenant_ids: expected a string, found a boolean",
                    "write it in quotes: \"true\"",
                ),
                (
                    6,
                    39,
                    "conditions.tenant_ids: expected a string, found nothing",
                    "write a value, or remove the key",
                ),
                (
                    6,
                    45,
                    "conditions.tenant_ids: expected a string, found a list",
                    "",
                ),
            ],
        ),
        wasm(
            "a control character",
            "  conditions: [{tools: [\"a\\tb\"]}]",
            &[(
                6,
                25,
                "conditions.tools: holds a control character: a\\tb",
                "write printable characters only",
            )],
        ),
        whole(
            "at the top",
            "plugins: []\nconditions: []\n",
            &[(
                2,
                1,
                "unknown key: conditions",
                "write it in an entry of `plugins:`",
            )],
        ),
    ]);
}

#[test]
fn an_unknown_field_is_no_empty_condition() {
    for (more, field, near) in [
        ("  conditions: [{tool: [a]}]", "tool", "tools"),
        (
            "  conditions: [{user_pattern: [a]}]",
            "user_pattern",
            "user_patterns",
        ),
        ("  conditions: [{servers: [a]}]", "servers", "server_ids"),
        (
            "  conditions: [{tools: [b]}, {tenants_ids: [a]}]",
            "tenants_ids",
            "tenant_ids",
        ),
    ] {
        let report = parse(&wasm("", more, &[]).text).unwrap_err();
        let [problem] = report.problems.as_slice() else {
            panic!("{report}");
        };
        assert_eq!(problem.message, format!("unknown key: conditions.{field}"));
        let hint = format!("did you mean `{near}`? {FIELDS}");
        assert_eq!(problem.hint.as_deref(), Some(hint.as_str()));
    }
    check_problems(&[wasm(
        "like no field",
        "  conditions: [{xyzzy: 1, tools: [a]}]",
        &[(6, 17, "unknown key: conditions.xyzzy", FIELDS)],
    )]);
}

const REMOVE_TOOLS: &str = "remove it; it is for tool_pre_invoke, tool_post_invoke, token_delegate";
const ONE_ALTERNATIVE: &str =
    "a field is compared only at hooks about what it names; write the fields in one alternative";

#[test]
fn what_holds_where_it_may_not_be_expected() {
    let entry = |hooks: &str, conditions: &str| {
        format!(
            "plugins:\n- name: p\n  kind: a.B\n  hooks: [{hooks}]\n  conditions: {conditions}\n"
        )
    };
    check_notes(&[
        whole(
            "tools for a resource hook",
            &entry("resource_pre_fetch", "[{tools: [a], tenant_ids: [t]}]"),
            &[(
                5,
                17,
                "conditions.tools: no hook of the entry is about a tool, the field always holds",
                REMOVE_TOOLS,
            )],
        ),
        whole(
            "several of them",
            &entry(
                "http_pre_request, deploy.started",
                "[{tools: [a], prompts: [], agents: [b]}]",
            ),
            &[
                (
                    5,
                    17,
                    "conditions.tools: no hook of the entry is about a tool, the field always holds",
                    REMOVE_TOOLS,
                ),
                (
                    5,
                    42,
                    "conditions.agents: no hook of the entry is about an agent, the field always holds",
                    "remove it; it is for agent_pre_invoke, agent_post_invoke",
                ),
            ],
        ),
        whole(
            "one hook of several is enough",
            &entry("tool_pre_invoke, resource_pre_fetch", "[{tools: [a]}]"),
            &[],
        ),
        whole(
            "an empty alternative",
            &entry(
                "tool_pre_invoke",
                "[{tools: [a]}, {}, {server_ids: [], tenant_ids: null}]",
            ),
            &[
                (
                    5,
                    30,
                    "conditions: an empty alternative always holds, the others mean nothing",
                    "remove it, or keep it alone",
                ),
                (
                    5,
                    34,
                    "conditions: an empty alternative always holds, the others mean nothing",
                    "remove it, or keep it alone",
                ),
            ],
        ),
        whole(
            "alternatives for different hooks",
            &entry(
                "tool_pre_invoke, prompt_pre_fetch, x",
                "[{tools: [a]}, {prompts: [b]}]",
            ),
            &[
                (
                    5,
                    16,
                    "conditions: this alternative always holds at prompt_pre_fetch, where the others mean nothing",
                    ONE_ALTERNATIVE,
                ),
                (
                    5,
                    30,
                    "conditions: this alternative always holds at tool_pre_invoke, where the others mean nothing",
                    ONE_ALTERNATIVE,
                ),
            ],
        ),
        whole(
            "the same with a field of every hook",
            &entry(
                "tool_pre_invoke, prompt_pre_fetch",
                "[{tools: [a], tenant_ids: [t]}, {prompts: [b], user_patterns: [u]}]",
            ),
            &[],
        ),
        whole(
            "tools where the subject is a token",
            &entry(
                "tool_pre_invoke, identity_resolve",
                "[{tools: [a]}, {tenant_ids: [t]}]",
            ),
            &[(
                5,
                17,
                "conditions.tools: never holds at identity_resolve, which is about a token and no tool",
                "give identity_resolve an entry of its own, without tools",
            )],
        ),
        whole(
            "empty names",
            &entry(
                "tool_pre_invoke",
                "[{tools: [''], user_patterns: [''], content_types: [' ; a=1']}]",
            ),
            &[
                (
                    5,
                    25,
                    "conditions.tools: an empty string names nothing",
                    "remove it",
                ),
                (
                    5,
                    46,
                    "conditions.user_patterns: an empty text is in every user's name",
                    "remove it",
                ),
                (
                    5,
                    67,
                    "conditions.content_types: a content type without a name",
                    "remove it",
                ),
            ],
        ),
    ]);
}
