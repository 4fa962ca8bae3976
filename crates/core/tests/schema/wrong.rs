//! Texts the reader refuses.

/// A text the reader refuses, and whether a schema can say so.
pub const WRONG: &[(&str, &str, bool)] = &[
    ("no plugins", "max_state_bytes: 5\n", true),
    ("a list at the top", "- name: p\n", true),
    (
        "an unknown key at the top",
        "plugins: []\nplugin: []\n",
        true,
    ),
    (
        "a size without sense",
        "plugins: []\nmax_payload_bytes: lots\n",
        true,
    ),
    (
        "a size past the limit",
        "plugins: []\nmax_payload_bytes: 99999999999\n",
        true,
    ),
    (
        "a size past the limit, with a unit",
        "plugins: []\nmax_payload_bytes: 99GB\n",
        false,
    ),
    ("no size", "plugins: []\nmax_payload_bytes: 0\n", true),
    (
        "nothing where a size belongs",
        "plugins: []\nmax_payload_bytes:\n",
        true,
    ),
    ("an entry that is a word", "plugins: [p]\n", true),
    (
        "an entry without a name",
        "plugins: [{kind: a.B, hooks: [x]}]\n",
        true,
    ),
    (
        "an entry without a kind",
        "plugins: [{name: p, hooks: [x]}]\n",
        true,
    ),
    (
        "an entry without hooks",
        "plugins: [{name: p, kind: a.B}]\n",
        true,
    ),
    (
        "an empty name",
        "plugins: [{name: '', kind: a.B, hooks: [x]}]\n",
        true,
    ),
    (
        "two entries of one name",
        "plugins: [{name: p, kind: a.B, hooks: [x]}, {name: p, kind: a.B, hooks: [x]}]\n",
        false,
    ),
    (
        "a kind that is none",
        "plugins: [{name: p, kind: wasn, hooks: [x]}]\n",
        true,
    ),
    (
        "a class that is none",
        "plugins: [{name: p, kind: a..B, hooks: [x]}]\n",
        true,
    ),
    (
        "a component without its file",
        "plugins: [{name: p, kind: wasm, hooks: [x]}]\n",
        true,
    ),
    (
        "a component that is not there",
        "plugins: [{name: p, kind: wasm, component: no.wasm, hooks: [x]}]\n",
        false,
    ),
    (
        "a digest that is too short",
        "plugins: [{name: p, kind: wasm, component: gate.wasm, digest: 'sha256:00', hooks: [x]}]\n",
        true,
    ),
    (
        "a class with a digest",
        "plugins: [{name: p, kind: a.B, digest: 'sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef', hooks: [x]}]\n",
        true,
    ),
    (
        "a class with a component",
        "plugins: [{name: p, kind: a.B, component: gate.wasm, hooks: [x]}]\n",
        true,
    ),
    (
        "a component with requirements",
        "plugins: [{name: p, kind: wasm, component: gate.wasm, requirements: [a], hooks: [x]}]\n",
        true,
    ),
    (
        "no hooks",
        "plugins: [{name: p, kind: a.B, hooks: []}]\n",
        true,
    ),
    (
        "a hook twice",
        "plugins: [{name: p, kind: a.B, hooks: [x, x]}]\n",
        true,
    ),
    (
        "a hook with a space",
        "plugins: [{name: p, kind: a.B, hooks: [a b]}]\n",
        true,
    ),
    (
        "a mode that is none",
        "plugins: [{name: p, kind: a.B, hooks: [x], mode: adit}]\n",
        true,
    ),
    (
        "a mode that is nearly one of the legacy shape",
        "plugins: [{name: p, kind: a.B, hooks: [x], mode: enforced}]\n",
        true,
    ),
    (
        "a priority in words",
        "plugins: [{name: p, kind: a.B, hooks: [x], priority: high}]\n",
        true,
    ),
    (
        "a priority past 32 bits",
        "plugins: [{name: p, kind: a.B, hooks: [x], priority: 2147483648}]\n",
        true,
    ),
    (
        "an effect of a fault",
        "plugins: [{name: p, kind: a.B, hooks: [x], on_error: deny}]\n",
        true,
    ),
    (
        "a denial nobody waits for",
        "plugins: [{name: p, kind: a.B, hooks: [x], mode: fire_and_forget, on_error: fail}]\n",
        true,
    ),
    (
        "a key of limits in the entry",
        "plugins: [{name: p, kind: a.B, hooks: [x], timeout: 5s}]\n",
        true,
    ),
    (
        "a duration without a unit",
        "plugins: [{name: p, kind: a.B, hooks: [x], limits: {timeout: 50}}]\n",
        true,
    ),
    (
        "a duration of an unknown unit",
        "plugins: [{name: p, kind: a.B, hooks: [x], limits: {timeout: 50 parsecs}}]\n",
        true,
    ),
    (
        "a duration of two hours",
        "plugins: [{name: p, kind: a.B, hooks: [x], limits: {timeout: 2h}}]\n",
        false,
    ),
    (
        "memory without a unit",
        "plugins: [{name: p, kind: a.B, hooks: [x], limits: {memory: '64'}}]\n",
        true,
    ),
    (
        "a network grant without a port",
        "plugins: [{name: p, kind: wasm, component: gate.wasm, hooks: [x], permissions: {network: [{host: a.example}]}}]\n",
        true,
    ),
    (
        "a network grant with a URL",
        "plugins: [{name: p, kind: wasm, component: gate.wasm, hooks: [x], permissions: {network: [{host: 'a@b.example', port: 1}]}}]\n",
        true,
    ),
    (
        "a port that is none",
        "plugins: [{name: p, kind: wasm, component: gate.wasm, hooks: [x], permissions: {network: [{host: a.example, port: 65536}]}}]\n",
        true,
    ),
    (
        "a range that begins elsewhere",
        "plugins: [{name: p, kind: wasm, component: gate.wasm, hooks: [x], permissions: {network: [{host: 10.0.0.1/8, port: 1}]}}]\n",
        false,
    ),
    (
        "a scratch folder without a unit",
        "plugins: [{name: p, kind: wasm, component: gate.wasm, hooks: [x], permissions: {scratch: 4096}}]\n",
        true,
    ),
    (
        "a secret without a source",
        "plugins: [{name: p, kind: wasm, component: gate.wasm, hooks: [x], permissions: {secrets: [{name: T}]}}]\n",
        true,
    ),
    (
        "a secret with two sources",
        "plugins: [{name: p, kind: wasm, component: gate.wasm, hooks: [x], permissions: {secrets: [{name: T, env: A, command: [b]}]}}]\n",
        true,
    ),
    (
        "a secret of no name",
        "plugins: [{name: p, kind: wasm, component: gate.wasm, hooks: [x], permissions: {secrets: [{name: 'a b', env: A}]}}]\n",
        true,
    ),
    (
        "no calls at all",
        "plugins: [{name: p, kind: a.B, hooks: [x], limits: {concurrency: 0}}]\n",
        true,
    ),
    (
        "too many calls",
        "plugins: [{name: p, kind: a.B, hooks: [x], limits: {concurrency: 65537}}]\n",
        true,
    ),
    (
        "a capability that is none",
        "plugins: [{name: p, kind: a.B, hooks: [x], permissions: {data: [read_header]}}]\n",
        true,
    ),
    (
        "a variable with its value",
        "plugins: [{name: p, kind: a.B, hooks: [x], permissions: {env: [A=B]}}]\n",
        true,
    ),
    (
        "a folder without a name for the plugin",
        "plugins: [{name: p, kind: wasm, component: gate.wasm, hooks: [x], permissions: {files: [{host: .}]}}]\n",
        true,
    ),
    (
        "a name for the plugin that leads upwards",
        "plugins: [{name: p, kind: wasm, component: gate.wasm, hooks: [x], permissions: {files: [{host: ., guest: /a/../b}]}}]\n",
        true,
    ),
    (
        "an access that is none",
        "plugins: [{name: p, kind: wasm, component: gate.wasm, hooks: [x], permissions: {files: [{host: ., guest: /a, access: write}]}}]\n",
        true,
    ),
    (
        "an option instead of a requirement",
        "plugins: [{name: p, kind: a.B, hooks: [x], requirements: ['--pre']}]\n",
        true,
    ),
    (
        "a component with a sandbox",
        "plugins: [{name: p, kind: wasm, component: gate.wasm, hooks: [x], sandbox: strict}]\n",
        true,
    ),
    (
        "a component with an environment",
        "plugins: [{name: p, kind: wasm, component: gate.wasm, hooks: [x], python: {environment: virtualenv}}]\n",
        true,
    ),
    (
        "a component that starts processes",
        "plugins: [{name: p, kind: wasm, component: gate.wasm, hooks: [x], permissions: {processes: true}}]\n",
        true,
    ),
    (
        "a component that starts none, in so many words",
        "plugins: [{name: p, kind: wasm, component: gate.wasm, hooks: [x], permissions: {processes: false}}]\n",
        true,
    ),
    (
        "a class with a scratch folder",
        "plugins: [{name: p, kind: a.B, hooks: [x], permissions: {scratch: 1MiB}}]\n",
        true,
    ),
    (
        "a class with a secret",
        "plugins: [{name: p, kind: a.B, hooks: [x], permissions: {secrets: [{name: T, env: A}]}}]\n",
        true,
    ),
    (
        "a class that sees a folder by another path",
        "plugins: [{name: p, kind: a.B, hooks: [x], permissions: {files: [{host: data, guest: /elsewhere}]}}]\n",
        false,
    ),
    (
        "processes in words",
        "plugins: [{name: p, kind: a.B, hooks: [x], permissions: {processes: 'yes'}}]\n",
        true,
    ),
    (
        "an environment that is a file",
        "plugins: [{name: p, kind: a.B, hooks: [x], python: {environment: gate.wasm}}]\n",
        false,
    ),
    (
        "an environment without an interpreter",
        "plugins: [{name: p, kind: a.B, hooks: [x], python: {environment: data}}]\n",
        false,
    ),
    (
        "an environment in place of its mapping",
        "plugins: [{name: p, kind: a.B, hooks: [x], python: virtualenv}]\n",
        true,
    ),
    (
        "requirements of a mapping",
        "plugins: [{name: p, kind: a.B, hooks: [x], python: {requirements: [a]}}]\n",
        true,
    ),
    (
        "settings that are a list",
        "plugins: [{name: p, kind: a.B, hooks: [x], python: {settings: [a]}}]\n",
        true,
    ),
    (
        "a setting without a name",
        "plugins: [{name: p, kind: a.B, hooks: [x], python: {settings: {'': 1}}}]\n",
        true,
    ),
    (
        "a worker that is none",
        "plugins: [{name: p, kind: a.B, hooks: [x], worker: cpex}]\n",
        true,
    ),
    (
        "a worker by number",
        "plugins: [{name: p, kind: a.B, hooks: [x], worker: 2}]\n",
        true,
    ),
    (
        "no workers",
        "plugins: [{name: p, kind: a.B, hooks: [x], workers: 0}]\n",
        true,
    ),
    (
        "too many workers",
        "plugins: [{name: p, kind: a.B, hooks: [x], workers: 65}]\n",
        true,
    ),
    (
        "a sandbox that is none",
        "plugins: [{name: p, kind: a.B, hooks: [x], sandbox: none}]\n",
        true,
    ),
    (
        "builds in words",
        "plugins: [{name: p, kind: a.B, hooks: [x], allow_build: 'true'}]\n",
        true,
    ),
    (
        "builds into an environment that is there",
        "plugins: [{name: p, kind: a.B, hooks: [x], allow_build: true, python: {environment: virtualenv}}]\n",
        true,
    ),
    (
        "several workers of the framework",
        "plugins: [{name: p, kind: a.B, hooks: [x], worker: framework, workers: 2}]\n",
        true,
    ),
    (
        "a second try by the framework's worker",
        "plugins: [{name: p, kind: a.B, hooks: [x], worker: framework, idempotent: true}]\n",
        true,
    ),
    (
        "settings for the framework's worker",
        "plugins: [{name: p, kind: a.B, hooks: [x], worker: framework, python: {settings: {a: 1}}}]\n",
        true,
    ),
    (
        "a key of python beside it",
        "plugins: [{name: p, kind: a.B, hooks: [x], environment: virtualenv}]\n",
        true,
    ),
    (
        "a config that is a list",
        "plugins: [{name: p, kind: a.B, hooks: [x], config: [a]}]\n",
        true,
    ),
    (
        "a condition that is a mapping",
        "plugins: [{name: p, kind: a.B, hooks: [x], conditions: {tools: [a]}}]\n",
        true,
    ),
    (
        "a field of a condition that is none",
        "plugins: [{name: p, kind: a.B, hooks: [x], conditions: [{tool: [a]}]}]\n",
        true,
    ),
    (
        "a number for a tool",
        "plugins: [{name: p, kind: a.B, hooks: [x], conditions: [{tools: [5]}]}]\n",
        true,
    ),
    (
        "groups as a mapping",
        "plugins: []\ngroups: {g: []}\n",
        true,
    ),
    (
        "a group without plugins",
        "plugins: []\ngroups: [{name: g, priority: 1}]\n",
        true,
    ),
    (
        "a group of nobody",
        "plugins: []\ngroups: [{name: g, plugins: [p]}]\n",
        false,
    ),
    (
        "a group with hooks",
        "plugins: [{name: p, kind: a.B, hooks: [x]}]\ngroups: [{name: g, plugins: [p], hooks: [y]}]\n",
        true,
    ),
    (
        "a group in the background that denies",
        "plugins: [{name: p, kind: a.B, hooks: [x]}]\ngroups: [{name: g, plugins: [p], mode: fire_and_forget, on_error: fail}]\n",
        true,
    ),
    (
        "a version in a list",
        "plugins: [{name: p, kind: a.B, hooks: [x], version: [1]}]\n",
        true,
    ),
    (
        "a template, which is a mapping",
        "plugins: [{name: p, kind: a.B, hooks: [x], author: {{ env.WHO }}}]\n",
        true,
    ),
];
