//! What a plugin may reach outside: hosts, a scratch folder, secrets.

use hookgate_core::config::{Config, HostPattern, NetworkGrant, SecretGrant, SecretSource};

use crate::cases::{check_problems, parse, wasm};

const EXAMPLE: &str = "write {host: api.example.com, port: 443}";
const SOURCES: &str = "write {name: TOKEN, env: API_TOKEN}, or `file: PATH` or `command: [WORD, ...]` instead of `env:`";

/// An entry with these permissions.
fn read(permissions: &str) -> Config {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/config/fixtures");
    let text = format!(
        "plugins:\n- name: p\n  kind: wasm\n  component: gate.wasm\n  hooks: [x]\n  permissions: {permissions}\n"
    );
    Config::parse(&text, "f.yaml", folder.as_ref()).unwrap_or_else(|report| panic!("{report}"))
}

#[test]
fn what_is_read() {
    let config = read(
        "{network: [{host: API.example.com, port: 443}, {host: '*.example.com', port: 80}, {host: '::1', port: 1}], scratch: 16MiB, secrets: [{name: a, env: A}, {name: b, file: data/words.txt}, {name: c, command: [pass, show, '']}]}",
    );
    let permissions = &config.plugins[0].permissions;
    let grant = |host, port| NetworkGrant {
        host: HostPattern::parse(host).unwrap(),
        port,
    };
    assert_eq!(
        permissions.network,
        [
            grant("api.example.com", 443),
            grant("*.example.com", 80),
            grant("::1", 1)
        ]
    );
    assert_eq!(permissions.scratch_bytes, Some(16 << 20));
    let secret = |name: &str, source| SecretGrant {
        name: name.into(),
        source,
    };
    let file = config.base_dir.join("data/words.txt");
    assert_eq!(
        permissions.secrets,
        [
            secret("a", SecretSource::Env("A".into())),
            secret("b", SecretSource::File(file)),
            secret(
                "c",
                SecretSource::Command(vec!["pass".into(), "show".into(), String::new()])
            ),
        ]
    );
}

#[test]
fn everything_is_granted_to_a_range_of_no_bits() {
    let config = read("{network: [{host: 0.0.0.0/0, port: 443}]}");
    let notes: Vec<_> = config
        .report
        .notes
        .iter()
        .map(|note| &note.message)
        .collect();
    assert_eq!(
        notes,
        [
            "permissions.network.host: every address, private ones and this machine's own too: 0.0.0.0/0"
        ]
    );
}

#[test]
fn network() {
    check_problems(&[
        wasm(
            "not a list of mappings",
            "  permissions: {network: [api.example.com]}",
            &[(
                6,
                27,
                "permissions.network: expected a mapping, found a string",
                "",
            )],
        ),
        wasm(
            "without host and port",
            "  permissions: {network: [{}]}",
            &[
                (6, 27, "missing key: permissions.network.host", EXAMPLE),
                (6, 27, "missing key: permissions.network.port", EXAMPLE),
            ],
        ),
        wasm(
            "a list of ports",
            "  permissions: {network: [{host: a.example, ports: [80, 443]}]}",
            &[
                (6, 27, "missing key: permissions.network.port", EXAMPLE),
                (
                    6,
                    45,
                    "unknown key: permissions.network.ports",
                    "write one {host: NAME, port: 443} for each port",
                ),
            ],
        ),
        wasm(
            "ports that are none",
            "  permissions:\n    network:\n    - {host: a.example, port: 0}\n    - {host: a.example, port: '443'}",
            &[
                (
                    8,
                    31,
                    "permissions.network.port: out of range: 0",
                    "write an integer from 1 to 65535",
                ),
                (
                    9,
                    31,
                    "permissions.network.port: expected an integer, found a string",
                    "",
                ),
            ],
        ),
        wasm(
            "hosts that are none",
            "  permissions:\n    network:\n    - {host: 'https://a.example', port: 443}\n    - {host: 10.1.0.0/8, port: 443}\n    - {host: '*.com', port: 443}",
            &[
                (
                    8,
                    14,
                    "permissions.network.host: not a host: https://a.example",
                    "write a name, *.name, an address or a range alone, without scheme, port or path: api.example.com, *.example.com, 192.0.2.7, 10.0.0.0/8",
                ),
                (
                    9,
                    14,
                    "permissions.network.host: not the first address of its range: 10.1.0.0/8",
                    "write 10.0.0.0/8",
                ),
                (
                    10,
                    14,
                    "permissions.network.host: a whole top-level domain: *.com",
                    "write at least two labels behind the star, for example *.example.com",
                ),
            ],
        ),
        wasm(
            "granted twice",
            "  permissions:\n    network:\n    - {host: a.example, port: 443}\n    - {host: A.example, port: 443}",
            &[(
                9,
                7,
                "permissions.network: granted twice: a.example port 443",
                "keep one of them",
            )],
        ),
    ]);
}

#[test]
fn scratch() {
    check_problems(&[
        wasm(
            "without a unit",
            "  permissions: {scratch: 16}",
            &[(
                6,
                26,
                "permissions.scratch: a unit is missing: 16",
                "write 16MiB or 16GiB; units: B, KB, MB, GB, KiB, MiB, GiB",
            )],
        ),
        wasm(
            "too small",
            "  permissions: {scratch: 1KiB}",
            &[(
                6,
                26,
                "permissions.scratch: out of range: 1KiB",
                "write at least 4 KiB and at most 16 GiB",
            )],
        ),
        wasm(
            "not a size",
            "  permissions: {scratch: true}",
            &[(
                6,
                26,
                "permissions.scratch: expected a size, found a boolean",
                "",
            )],
        ),
        wasm(
            "its path granted as a folder",
            "  permissions:\n    scratch: 1MiB\n    files:\n    - {host: data, guest: /scratch/}\n    - {host: data, guest: /scratch/in}\n    - {host: data, guest: /scratched}",
            &[
                (
                    9,
                    27,
                    "permissions.files.guest: taken by permissions.scratch: /scratch",
                    "write another path",
                ),
                (
                    10,
                    27,
                    "permissions.files.guest: taken by permissions.scratch: /scratch/in",
                    "write another path",
                ),
            ],
        ),
    ]);
}

#[test]
fn secrets() {
    check_problems(&[
        wasm(
            "without name and source",
            "  permissions: {secrets: [{}]}",
            &[
                (6, 27, "missing key: permissions.secrets.name", SOURCES),
                (6, 27, "permissions.secrets: no source", SOURCES),
            ],
        ),
        wasm(
            "more than one source",
            "  permissions: {secrets: [{name: t, env: A, command: [b]}]}",
            &[(
                6,
                27,
                "permissions.secrets: more than one source: env, command",
                SOURCES,
            )],
        ),
        wasm(
            "the value itself",
            "  permissions: {secrets: [{name: t, env: A, value: s3cr3t}]}",
            &[(
                6,
                45,
                "unknown key: permissions.secrets.value",
                "a secret is not written in the configuration: write `env:`, `file:` or `command:`",
            )],
        ),
        wasm(
            "names",
            "  permissions:\n    secrets:\n    - {name: a b, env: A}\n    - {name: t, env: A}\n    - {name: t, env: B}",
            &[
                (
                    8,
                    14,
                    "permissions.secrets.name: not a name: a b",
                    "write letters, digits, `_`, `.` and `-`, at most 128 of them",
                ),
                (
                    10,
                    14,
                    "permissions.secrets: granted twice: t",
                    "keep one of them",
                ),
            ],
        ),
        wasm(
            "sources that lead nowhere",
            "  permissions:\n    secrets:\n    - {name: a, env: A=s3cr3t}\n    - {name: b, file: no}\n    - {name: c, file: data}\n    - {name: d, command: []}\n    - {name: e, command: [\"\"]}\n    - {name: f, command: pass show}",
            &[
                (
                    8,
                    22,
                    "permissions.secrets.env: not a variable's name: it holds `=`",
                    "write the name alone; its value comes from the environment of the gateway",
                ),
                (
                    9,
                    23,
                    "permissions.secrets.file: no such file or folder: no",
                    "looked at {base}/no",
                ),
                (
                    10,
                    23,
                    "permissions.secrets.file: is a folder, not a file: data",
                    "looked at {base}/data",
                ),
                (
                    11,
                    26,
                    "permissions.secrets.command: names no program",
                    "write the program and its arguments as a list, for example [pass, show, api]",
                ),
                (
                    12,
                    26,
                    "permissions.secrets.command: names no program",
                    "write the program and its arguments as a list, for example [pass, show, api]",
                ),
                (
                    13,
                    26,
                    "permissions.secrets.command: expected a list of words, found a string",
                    "write it in brackets: [pass show]",
                ),
            ],
        ),
    ]);
    // What stands where a secret may have been written is not repeated.
    let text = "plugins:\n- name: p\n  kind: wasm\n  component: gate.wasm\n  hooks: [x]\n  permissions: {secrets: [{name: t, env: A=s3cr3t, value: s3cr3t}]}\n";
    let report = parse(text).unwrap_err();
    for problem in &report.problems {
        let said = format!("{} {:?}", problem.message, problem.hint);
        assert!(!said.contains("s3cr3t"), "{said}");
    }
}
