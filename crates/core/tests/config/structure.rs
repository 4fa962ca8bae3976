//! The file as a whole: YAML, the top level, keys, names.

use crate::cases::{check_problems, parse, wasm, whole};

#[test]
fn files_that_are_no_configuration() {
    check_problems(&[
        whole("an empty file", "", &[(1, 1, "the file is empty", EMPTY)]),
        whole(
            "comments only",
            "# nothing\n",
            &[(2, 1, "the file is empty", EMPTY)],
        ),
        whole(
            "null",
            "~\n",
            &[(
                1,
                1,
                "the configuration: expected a mapping, found nothing",
                "write a value, or remove the key",
            )],
        ),
        whole(
            "a list at the top",
            "- name: p\n",
            &[(
                1,
                1,
                "the configuration: expected a mapping, found a list",
                "",
            )],
        ),
        whole(
            "a string at the top",
            "plugins\n",
            &[(
                1,
                1,
                "the configuration: expected a mapping, found a string",
                "",
            )],
        ),
        whole(
            "no plugins",
            "max_payload_bytes: 5\n",
            &[(
                1,
                1,
                "missing key: plugins",
                "write `plugins: []` for a configuration without plugins",
            )],
        ),
        whole(
            "plugins without a value",
            "plugins:\n",
            &[(
                1,
                8,
                "plugins: expected a list of entries, found nothing",
                "write a value, or remove the key",
            )],
        ),
        whole(
            "plugins as a mapping",
            "plugins: {name: p}\n",
            &[(
                1,
                10,
                "plugins: expected a list of entries, found a mapping",
                "",
            )],
        ),
        whole(
            "an entry that is a string",
            "plugins: [deny-list]\n",
            &[(1, 11, "entry: expected a mapping, found a string", "")],
        ),
    ]);
}

const EMPTY: &str = "start with `plugins:` and one entry, or write `plugins: []`";

#[test]
fn broken_yaml_is_one_located_problem() {
    check_problems(&[
        whole(
            "a bracket that never closes",
            "plugins: [\n  a\n",
            &[(1, 10, "not valid YAML: unclosed bracket '['", "")],
        ),
        whole(
            "a colon in a plain value",
            "plugins: a: b\n",
            &[(
                1,
                11,
                "not valid YAML: mapping values are not allowed in this context",
                "",
            )],
        ),
        whole(
            "a tab as indentation",
            "plugins:\n\t- name: p\n",
            &[(
                2,
                2,
                "not valid YAML: tabs disallowed within this context (block indentation)",
                "",
            )],
        ),
        whole(
            "an open quote",
            "plugins: \"a\n",
            &[(1, 10, "not valid YAML: unclosed quote", "")],
        ),
        whole(
            "behind letters of several bytes",
            "größe: @x\n",
            &[(1, 8, "not valid YAML: unexpected character: `@'", "")],
        ),
        whole(
            "two documents",
            "plugins: []\n---\nplugins: []\n",
            &[(
                3,
                1,
                "not valid YAML: more than one YAML document",
                "keep one document in the file",
            )],
        ),
        whole(
            "an unknown anchor",
            "plugins: *all\n",
            &[(
                1,
                10,
                "not valid YAML: an alias without an anchor",
                "write the anchor before it, or put the value in quotes",
            )],
        ),
        whole(
            "a tag",
            "plugins: !env PLUGINS\n",
            &[(1, 15, "not valid YAML: unsupported tag `!env`", "")],
        ),
    ]);
}

#[test]
fn an_alias_bomb_is_one_located_problem() {
    let mut text = String::from("a: &a [x, x, x, x, x, x, x, x, x, x]\n");
    for (name, of) in ["b", "c", "d", "e", "f", "g"]
        .iter()
        .zip(["a", "b", "c", "d", "e", "f"])
    {
        text.push_str(&format!(
            "{name}: &{name} [{}]\n",
            vec![format!("*{of}"); 10].join(", ")
        ));
    }
    let report = parse(&text).unwrap_err();
    assert_eq!(report.problems.len(), 1, "{report}");
    assert_eq!(
        report.problems[0].message,
        "not valid YAML: the file is too large or too deeply nested once its aliases are expanded"
    );
    assert_eq!(report.problems[0].line, 6);
    let deep = format!("plugins: {}", "[".repeat(100));
    let report = parse(&deep).unwrap_err();
    assert_eq!(report.problems.len(), 1, "{report}");
}

#[test]
fn keys_that_are_wrong() {
    check_problems(&[
        whole(
            "unknown at the top",
            "plugin: []\nplugins: []\n",
            &[(
                1,
                1,
                "unknown key: plugin",
                "did you mean `plugins`? possible keys: plugins, groups, max_payload_bytes, max_state_bytes",
            )],
        ),
        whole(
            "an entry's key at the top",
            "plugins: []\nhooks: [tool_pre_invoke]\n",
            &[(
                2,
                1,
                "unknown key: hooks",
                "write it in an entry of `plugins:`",
            )],
        ),
        whole(
            "twice at the top",
            "plugins: []\nplugins: []\n",
            &[(
                2,
                1,
                "key written twice: plugins, first on line 1",
                "keep one of them",
            )],
        ),
        whole(
            "a number as key",
            "plugins: []\n5: x\n",
            &[(
                2,
                1,
                "a key: expected a string, found an integer",
                "write it in quotes: \"5\"",
            )],
        ),
        wasm(
            "twice in an entry",
            "  name: q",
            &[(
                6,
                3,
                "key written twice: name, first on line 2",
                "keep one of them",
            )],
        ),
        wasm(
            "nearly a key",
            "  on_err: fail",
            &[(
                6,
                3,
                "unknown key: on_err",
                "did you mean `on_error`? possible keys: name, kind, component, digest, requirements, \
                 requirements_file, import_paths, workdir, python, allow_build, worker, workers, idempotent, sandbox, hooks, conditions, mode, priority, on_error, limits, \
                 instances, permissions, config, description, author, version, tags",
            )],
        ),
        wasm(
            "like no key",
            "  xyzzy: 1",
            &[(
                6,
                3,
                "unknown key: xyzzy",
                "possible keys: name, kind, component, digest, requirements, requirements_file, import_paths, \
                 workdir, python, allow_build, worker, workers, idempotent, sandbox, hooks, conditions, mode, priority, on_error, limits, instances, permissions, config, description, \
                 author, version, tags",
            )],
        ),
        wasm(
            "a limit outside limits",
            "  timeout: 1s",
            &[(
                6,
                3,
                "unknown key: timeout",
                "write `limits: {timeout: 50ms}`",
            )],
        ),
        wasm(
            "in limits",
            "  limits: {timout: 50ms}",
            &[(
                6,
                12,
                "unknown key: limits.timout",
                "did you mean `timeout`? possible keys: timeout, memory, concurrency",
            )],
        ),
        wasm(
            "in permissions",
            "  permissions: {file: []}",
            &[(
                6,
                17,
                "unknown key: permissions.file",
                "did you mean `files`? possible keys: files, network, processes, scratch, env, secrets, data",
            )],
        ),
        wasm(
            "in a file grant",
            "  permissions:\n    files:\n    - host: data\n      guest: /data\n      mode: read",
            &[(
                10,
                7,
                "unknown key: permissions.files.mode",
                "possible keys: host, guest, access",
            )],
        ),
        wasm(
            "a template for a key",
            "  {{ env.X }}: 1",
            &[(
                6,
                3,
                "a key of entry: expected a string, found a mapping",
                "templates are not filled in; write the value itself",
            )],
        ),
        wasm(
            "control characters are shown escaped",
            "  \"a\\e[31mb\\u202e\": 1",
            &[(
                6,
                3,
                "unknown key: a\\u{1b}[31mb\\u{202e}",
                "possible keys: name, kind, component, digest, requirements, requirements_file, import_paths, \
                 workdir, python, allow_build, worker, workers, idempotent, sandbox, hooks, conditions, mode, priority, on_error, limits, instances, permissions, config, description, \
                 author, version, tags",
            )],
        ),
    ]);
}

#[test]
fn keys_that_come_later_are_not_called_unknown() {
    for key in ["secrets", "redact"] {
        for text in [
            format!("plugins: []\n{key}: 1\n"),
            format!("plugins:\n- {{name: p, kind: a.C, hooks: [x], {key}: 1}}\n"),
        ] {
            let report = parse(&text).unwrap_err();
            let messages: Vec<_> = report
                .problems
                .iter()
                .map(|problem| &problem.message)
                .collect();
            assert_eq!(messages, [&format!("not supported yet: {key}")], "{text}");
        }
    }
}

#[test]
fn keys_of_the_legacy_shape_are_named_with_what_ours_is() {
    check_problems(&[wasm(
        "capabilities",
        "  capabilities: [read_headers]",
        &[(
            6,
            3,
            "only the legacy shape has it: capabilities",
            "write `permissions: {data: [read_headers]}`, or let the file be read as legacy: --shape legacy",
        )],
    )]);
    for key in [
        "applied_to",
        "default_config",
        "default_configs",
        "global",
        "grpc",
        "max_content_size",
        "mcp",
        "namespace",
        "routes",
        "server_settings",
        "unix_socket",
    ] {
        for text in [
            format!("plugins: []\n{key}: 1\n"),
            format!("plugins:\n- {{name: p, kind: a.C, hooks: [x], {key}: 1}}\n"),
        ] {
            let report = parse(&text).unwrap_err();
            let messages: Vec<_> = report
                .problems
                .iter()
                .map(|problem| &problem.message)
                .collect();
            let expected = format!("only the legacy shape has it: {key}");
            assert_eq!(messages, [&expected], "{text}");
        }
    }
}

#[test]
fn names() {
    check_problems(&[
        whole(
            "twice",
            "plugins:\n- name: p\n  kind: a.B\n  hooks: [x]\n- hooks: [x]\n  kind: a.B\n  name: p\n",
            &[(
                7,
                9,
                "duplicate plugin name: p, on line 7 and first on line 2",
                "give each plugin a name of its own",
            )],
        ),
        whole(
            "twice by an alias",
            "plugins:\n- &p {name: p, kind: a.B, hooks: [x]}\n- *p\n",
            &[(
                3,
                3,
                "duplicate plugin name: p, on line 3 and first on line 2",
                "give each plugin a name of its own",
            )],
        ),
        whole(
            "missing",
            "plugins:\n- kind: a.B\n  hooks: [x]\n",
            &[(
                2,
                3,
                "missing key: name",
                "write a name of its own for each plugin",
            )],
        ),
        whole(
            "empty",
            "plugins:\n- {name: '', kind: a.B, hooks: [x]}\n",
            &[(2, 10, "name: is empty", "write at least one character")],
        ),
        whole(
            "a control character",
            "plugins:\n- {name: \"a\\nb\", kind: a.B, hooks: [x]}\n",
            &[(
                2,
                10,
                "name: holds a control character: a\\nb",
                "write printable characters only",
            )],
        ),
        whole(
            "a number",
            "plugins:\n- {name: 1.10, kind: a.B, hooks: [x]}\n",
            &[(
                2,
                10,
                "name: expected a string, found a number",
                "write it in quotes: \"1.10\"",
            )],
        ),
    ]);
}
