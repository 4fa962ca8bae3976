//! Entries: kinds and their keys, hooks, modes, the plugin's own config.

use crate::cases::{check_problems, python, wasm, whole};

#[test]
fn kinds() {
    check_problems(&[
        whole(
            "missing",
            "plugins:\n- {name: p, hooks: [x]}\n",
            &[(
                2,
                3,
                "missing key: kind",
                "write `kind: wasm`, or a dotted Python class: package.module.Class",
            )],
        ),
        whole(
            "nearly wasm",
            "plugins:\n- {name: p, kind: wasn, hooks: [x]}\n",
            &[(
                2,
                19,
                "unknown kind: wasn",
                "did you mean `wasm`? possible values: wasm, or a dotted Python class: package.module.Class",
            )],
        ),
        whole(
            "no class",
            "plugins:\n- {name: p, kind: a..B, hooks: [x]}\n",
            &[(
                2,
                19,
                "kind: not a Python class: a..B",
                "possible values: wasm, or a dotted Python class: package.module.Class",
            )],
        ),
        whole(
            "the host's name",
            "plugins:\n- {name: p, kind: python, hooks: [x]}\n",
            &[(
                2,
                19,
                "unknown kind: python",
                "write the dotted class itself: package.module.Class",
            )],
        ),
        whole(
            "in-process",
            "plugins:\n- {name: p, kind: in-process, hooks: [x]}\n",
            &[(
                2,
                19,
                "unknown kind: in-process",
                "in-process plugins are added in code",
            )],
        ),
        whole(
            "external",
            "plugins:\n- {name: p, kind: external, hooks: [x], mode: disabled}\n",
            &[(
                2,
                19,
                "kind external: hookgate talks to no plugins that run elsewhere",
                "remove the entry, or run the plugin here: `kind: wasm` with `component:`, or its dotted class",
            )],
        ),
        whole(
            "isolated_venv",
            "plugins:\n- {name: p, kind: isolated_venv, hooks: [x]}\n",
            &[(
                2,
                19,
                "kind isolated_venv: only the legacy shape has it",
                "write the dotted class as `kind:`, with `requirements:` beside it",
            )],
        ),
        whole(
            "the other legacy kinds",
            "plugins:\n- {name: p, kind: builtin, hooks: [x]}\n- {name: q, kind: native, hooks: [x]}\n\
             - {name: r, kind: PDP, hooks: [x]}\n",
            &[
                (
                    2,
                    19,
                    "kind builtin: nothing loads it, nor does the legacy framework",
                    "write the dotted class as `kind:`",
                ),
                (
                    3,
                    19,
                    "kind native: nothing loads it, nor does the legacy framework",
                    "write the dotted class as `kind:`",
                ),
                (
                    4,
                    19,
                    "kind PDP: nothing loads it, nor does the legacy framework",
                    "remove the entry",
                ),
            ],
        ),
        whole(
            "not a string",
            "plugins:\n- {name: p, kind: true, hooks: [x]}\n",
            &[(
                2,
                19,
                "kind: expected a string, found a boolean",
                "write it in quotes: \"true\"",
            )],
        ),
    ]);
}

#[test]
fn keys_of_one_kind() {
    check_problems(&[
        whole(
            "wasm without a component",
            "plugins:\n- {name: p, kind: wasm, hooks: [x]}\n",
            &[(
                2,
                3,
                "missing key: component",
                "write the component's file, for example `component: plugin.wasm`",
            )],
        ),
        wasm(
            "Python's keys on wasm",
            "  requirements: [a]\n  workdir: missing",
            &[
                (
                    6,
                    3,
                    "requirements: only a Python plugin has it, and this is wasm",
                    "remove it, or write the dotted class as `kind:`: package.module.Class",
                ),
                (
                    7,
                    3,
                    "workdir: only a Python plugin has it, and this is wasm",
                    "remove it, or write the dotted class as `kind:`: package.module.Class",
                ),
            ],
        ),
        python(
            "a component on Python",
            "  component: gate.wasm",
            &[(
                5,
                3,
                "component: only a wasm plugin has it, and this is a.b.C",
                "remove it, or write `kind: wasm`",
            )],
        ),
        python(
            "requirements as a string",
            "  requirements: cpex-pii-filter",
            &[(
                5,
                17,
                "requirements: expected a list of requirements, found a string",
                "write it in brackets: [cpex-pii-filter]",
            )],
        ),
        python(
            "an option and a repeated requirement",
            "  requirements: [a==1, --pre, a==1]",
            &[
                (
                    5,
                    24,
                    "requirements: not a requirement: --pre",
                    "write options in a file and name it in `requirements_file:`",
                ),
                (
                    5,
                    31,
                    "requirements: listed twice: a==1",
                    "keep one of them",
                ),
            ],
        ),
    ]);
}

#[test]
fn paths() {
    check_problems(&[
        whole(
            "a component that is not there",
            "plugins:\n- {name: p, kind: wasm, component: no.wasm, hooks: [x]}\n",
            &[(
                2,
                36,
                "component: no such file or folder: no.wasm",
                "looked at {base}/no.wasm",
            )],
        ),
        whole(
            "a component that is a folder",
            "plugins:\n- {name: p, kind: wasm, component: data, hooks: [x]}\n",
            &[(
                2,
                36,
                "component: is a folder, not a file: data",
                "looked at {base}/data",
            )],
        ),
        whole(
            "a component behind a file",
            "plugins:\n- {name: p, kind: wasm, component: gate.wasm/x, hooks: [x]}\n",
            &[(
                2,
                36,
                "component: leads through a file: gate.wasm/x",
                "looked at {base}/gate.wasm/x",
            )],
        ),
        whole(
            "an empty component",
            "plugins:\n- {name: p, kind: wasm, component: '', hooks: [x]}\n",
            &[(
                2,
                36,
                "component: not a path: empty",
                "write a path, for example ./data",
            )],
        ),
        python(
            "Python's paths",
            "  requirements_file: no.txt\n  import_paths: [plugins, no, gate.wasm]\n  workdir: ~",
            &[
                (
                    5,
                    22,
                    "requirements_file: no such file or folder: no.txt",
                    "looked at {base}/no.txt",
                ),
                (
                    6,
                    27,
                    "import_paths: no such file or folder: no",
                    "looked at {base}/no",
                ),
                (
                    6,
                    31,
                    "import_paths: is a file, not a folder: gate.wasm",
                    "looked at {base}/gate.wasm",
                ),
                (
                    7,
                    12,
                    "workdir: expected a string, found nothing",
                    "write a value, or remove the key",
                ),
            ],
        ),
        whole(
            "of an unknown kind",
            "plugins:\n- {name: p, kind: wasn, component: no.wasm, hooks: [x]}\n",
            &[
                (
                    2,
                    19,
                    "unknown kind: wasn",
                    "did you mean `wasm`? possible values: wasm, or a dotted Python class: package.module.Class",
                ),
                (
                    2,
                    36,
                    "component: no such file or folder: no.wasm",
                    "looked at {base}/no.wasm",
                ),
            ],
        ),
    ]);
}

#[test]
fn hooks() {
    check_problems(&[
        whole(
            "missing",
            "plugins:\n- {name: p, kind: a.B}\n",
            &[(
                2,
                3,
                "missing key: hooks",
                "write when it is asked, for example hooks: [tool_pre_invoke]",
            )],
        ),
        whole(
            "empty",
            "plugins:\n- {name: p, kind: a.B, hooks: []}\n",
            &[(
                2,
                31,
                "hooks: the list is empty",
                "write at least one, for example hooks: [tool_pre_invoke]",
            )],
        ),
        whole(
            "a string",
            "plugins:\n- {name: p, kind: a.B, hooks: tool_pre_invoke}\n",
            &[(
                2,
                31,
                "hooks: expected a list of hook names, found a string",
                "write it in brackets: [tool_pre_invoke]",
            )],
        ),
        whole(
            "twice, illegal, empty and of another type",
            "plugins:\n- name: p\n  kind: a.B\n  hooks:\n  - x\n  - x\n  - a b\n  - ''\n  - 7\n",
            &[
                (6, 5, "hooks: listed twice: x", "keep one of them"),
                (
                    7,
                    5,
                    "hooks: not a hook's name: a b",
                    "write letters, digits, `_`, `.` and `-` only",
                ),
                (8, 5, "hooks: is empty", "write at least one character"),
                (
                    9,
                    5,
                    "hooks: expected a string, found an integer",
                    "write it in quotes: \"7\"",
                ),
            ],
        ),
    ]);
}

#[test]
fn modes_priorities_and_what_a_fault_does() {
    check_problems(&[
        wasm(
            "an unknown mode",
            "  mode: sequental",
            &[(
                6,
                9,
                "unknown mode: sequental",
                "did you mean `sequential`? possible values: sequential, transform, audit, concurrent, fire_and_forget, disabled",
            )],
        ),
        wasm(
            "a mode with a slip",
            "  mode: fire-and-forget",
            &[(
                6,
                9,
                "unknown mode: fire-and-forget",
                "did you mean `fire_and_forget`? possible values: sequential, transform, audit, concurrent, fire_and_forget, disabled",
            )],
        ),
        wasm(
            "an unknown on_error",
            "  on_error: fale",
            &[(
                6,
                13,
                "unknown on_error: fale",
                "possible values: fail, ignore, disable",
            )],
        ),
        wasm(
            "a priority with a fraction",
            "  priority: 1.5",
            &[(6, 13, "priority: expected an integer, found a number", "")],
        ),
        wasm(
            "a priority in quotes",
            "  priority: '10'",
            &[(6, 13, "priority: expected an integer, found a string", "")],
        ),
        wasm(
            "a priority out of range",
            "  priority: 99999999999999999999",
            &[(
                6,
                13,
                "priority: out of range: 99999999999999999999",
                "write an integer from -2147483648 to 2147483647",
            )],
        ),
        wasm(
            "what is said about it",
            "  description: 5\n  author: [a]\n  tags: [a, a]",
            &[
                (
                    6,
                    16,
                    "description: expected a string, found an integer",
                    "write it in quotes: \"5\"",
                ),
                (7, 11, "author: expected a string, found a list", ""),
                (8, 13, "tags: listed twice: a", "keep one of them"),
            ],
        ),
    ]);
}

#[test]
fn the_plugins_own_config() {
    check_problems(&[
        wasm(
            "a list",
            "  config: [a]",
            &[(6, 11, "config: expected a mapping, found a list", "")],
        ),
        wasm(
            "nothing",
            "  config:",
            &[(
                6,
                9,
                "config: expected a mapping, found nothing",
                "write a value, or remove the key",
            )],
        ),
        wasm(
            "not JSON",
            "  config:\n    a: .nan\n    b: [-.inf]\n    ? [c]\n    : d\n    e: 1\n    'e': 2",
            &[
                (
                    7,
                    8,
                    "config: not a JSON number: .nan",
                    "write it in quotes: \".nan\"",
                ),
                (
                    8,
                    9,
                    "config: not a JSON number: -.inf",
                    "write it in quotes: \"-.inf\"",
                ),
                (9, 7, "a key of config: expected a string, found a list", ""),
                (
                    12,
                    5,
                    "key written twice: e, first on line 11",
                    "keep one of them",
                ),
            ],
        ),
    ]);
}

#[test]
fn digests() {
    const HINT: &str = "write `digest: sha256:` and the 64 hexadecimal digits that `hookgate check` and `sha256sum` print";
    check_problems(&[
        wasm(
            "too short",
            "  digest: sha256:00",
            &[(
                6,
                11,
                "digest: not a SHA-256 of a component: sha256:00",
                HINT,
            )],
        ),
        wasm(
            "no algorithm",
            "  digest: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
            &[(
                6,
                11,
                "digest: not a SHA-256 of a component: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
                HINT,
            )],
        ),
        wasm(
            "another algorithm",
            "  digest: sha512:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
            &[(
                6,
                11,
                "digest: not a SHA-256 of a component: sha512:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
                HINT,
            )],
        ),
        wasm(
            "a digit that is none",
            "  digest: sha256:g123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
            &[(
                6,
                11,
                "digest: not a SHA-256 of a component: sha256:g123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
                HINT,
            )],
        ),
        wasm(
            "a number",
            "  digest: 12",
            &[(
                6,
                11,
                "digest: expected a string, found an integer",
                "write it in quotes: \"12\"",
            )],
        ),
        wasm(
            "nothing",
            "  digest:",
            &[(
                6,
                9,
                "digest: expected a string, found nothing",
                "write a value, or remove the key",
            )],
        ),
        python(
            "of a Python class",
            "  digest: sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
            &[(
                5,
                3,
                "digest: only a wasm plugin has it, and this is a Python class",
                "remove it, and pin versions in `requirements:`, such as `my-plugin==1.2.3`",
            )],
        ),
        whole(
            "at the top",
            "digest: sha256:00\nplugins: []\n",
            &[(
                1,
                1,
                "unknown key: digest",
                "write it in an entry of `plugins:`",
            )],
        ),
    ]);
}
