//! Texts that load, with something an operator may want to know.

use hookgate_core::config::Mode;

use crate::cases::{check_notes, parse, wasm, whole};

#[test]
fn notes_are_no_problems() {
    check_notes(&[
        wasm("nothing to say", "", &[]),
        whole(
            "no plugins",
            "plugins: []\n",
            &[(
                1,
                10,
                "plugins: the list is empty, every call is allowed",
                "add an entry with `name:`, `kind:` and `hooks:`",
            )],
        ),
        whole(
            "hooks that are nearly known",
            "plugins:\n- name: p\n  kind: a.B\n  hooks: [tool_pre_invok, prompt_pre_hook, deploy.started, cmf.llm_input]\n",
            &[
                (
                    4,
                    11,
                    "not a known hook, treated as custom: tool_pre_invok",
                    "did you mean `tool_pre_invoke`?",
                ),
                (
                    4,
                    27,
                    "not a known hook, treated as custom: prompt_pre_hook",
                    "did you mean `prompt_pre_fetch`?",
                ),
            ],
        ),
        whole(
            "what a disabled plugin misses",
            "plugins:\n- name: p\n  kind: wasm\n  component: no.wasm\n  hooks: [x]\n  mode: disabled\n  \
             permissions: {files: [{host: no, guest: /a}]}\n",
            &[
                (
                    4,
                    14,
                    "component: no such file or folder: no.wasm",
                    "looked at {base}/no.wasm",
                ),
                (
                    7,
                    32,
                    "permissions.files.host: no such file or folder: no",
                    "looked at {base}/no",
                ),
            ],
        ),
    ]);
}

#[test]
fn a_disabled_plugin_is_checked_and_kept() {
    let text =
        "plugins:\n- {name: p, kind: wasm, component: no.wasm, hooks: [x], mode: disabled}\n";
    let config = parse(text).unwrap();
    assert_eq!(config.plugins[0].mode, Mode::Disabled);
    let report = parse(&text.replace("hooks: [x]", "hoks: [x]")).unwrap_err();
    let messages: Vec<_> = report
        .problems
        .iter()
        .map(|problem| problem.message.as_str())
        .collect();
    assert_eq!(messages, ["missing key: hooks", "unknown key: hoks"]);
    assert_eq!(report.notes.len(), 1, "notes come with the problems");
}
