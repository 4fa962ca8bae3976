//! What a Python class may reach outside.

use hookgate_core::config::{
    Access, Config, FileGrant, HostPattern, NetworkGrant, Permissions, Shape,
};

use crate::cases::{check_problems, fixtures, parse, python, wasm};

/// The grants of a Python entry with these permissions.
fn read(permissions: &str) -> Permissions {
    let lines = format!("  permissions: {permissions}");
    let config = parse(&python("", &lines, &[]).text);
    let config = config.unwrap_or_else(|report| panic!("{permissions}\n{report}"));
    config.plugins[0].permissions.clone()
}

#[test]
fn nothing_is_granted_by_default() {
    for permissions in ["{}", "{processes: false}", "{files: [], network: []}"] {
        assert_eq!(read(permissions), Permissions::default(), "{permissions}");
    }
    assert!(!Permissions::default().processes);
}

#[test]
fn what_is_read() {
    let absolute = fixtures().join("plugins");
    let granted = read(&format!(
        "{{files: [{{host: ./data/}}, {{host: requirements.txt, access: read_write}}, {{host: '{0}', guest: '{0}/', access: read}}], \
         network: [{{host: API.example.com, port: 443}}, {{host: '*.example.com', port: 80}}], processes: true, env: [A], data: [read_headers]}}",
        absolute.display()
    ));
    let grant = |host: &str, guest: &str, access| FileGrant {
        host: fixtures().join(host),
        guest: fixtures().join(guest).display().to_string(),
        access,
    };
    assert_eq!(
        granted.files,
        [
            grant("./data/", "data", Access::Read),
            grant("requirements.txt", "requirements.txt", Access::ReadWrite),
            grant("plugins", "plugins", Access::Read),
        ],
        "the plugin sees the host's own path, without what only its spelling has"
    );
    let to = |host, port| NetworkGrant {
        host: HostPattern::parse(host).unwrap(),
        port,
    };
    assert_eq!(
        granted.network,
        [to("api.example.com", 443), to("*.example.com", 80)]
    );
    assert!(granted.processes);
    assert_eq!(granted.env, ["A"]);
    assert_eq!((granted.scratch_bytes, granted.secrets.len()), (None, 0));
}

#[test]
fn a_legacy_entry_has_them_too() {
    let text = "plugins:\n- name: p\n  kind: a.b.C\n  hooks: [x]\n  mode: enforce\n  sandbox: best_effort\n  idempotent: yes\n  permissions: {files: [{host: data}], processes: on}\n";
    let config = parse(text).unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(config.shape, Shape::Legacy);
    let spec = &config.plugins[0];
    assert!(spec.python.idempotent && spec.permissions.processes);
    assert_eq!(spec.permissions.files.len(), 1);
}

#[test]
fn files() {
    check_problems(&[
        python(
            "places that are not there",
            "  permissions: {files: [{host: no}, {access: read}]}",
            &[
                (
                    5,
                    32,
                    "permissions.files.host: no such file or folder: no",
                    "looked at {base}/no",
                ),
                (
                    5,
                    37,
                    "missing key: permissions.files.host",
                    "write {host: ./data, access: read}",
                ),
            ],
        ),
        python(
            "another name for a place",
            "  permissions:\n    files:\n    - {host: data, guest: /data}\n    - {host: data, guest: data}",
            &[
                (
                    7,
                    27,
                    "permissions.files.guest: a Python plugin sees the place by its own path: /data",
                    "remove guest: the plugin opens {base}/data",
                ),
                (
                    8,
                    27,
                    "permissions.files.guest: not an absolute path: data",
                    "write a path from the root without . and .., for example /data",
                ),
            ],
        ),
        python(
            "granted twice",
            "  permissions:\n    files:\n    - {host: requirements.txt}\n    - {host: ./requirements.txt, access: read_write}",
            &[(
                8,
                14,
                "permissions.files: granted twice: {base}/requirements.txt",
                "keep one of them",
            )],
        ),
        python(
            "an unknown access",
            "  permissions: {files: [{host: data, access: write}]}",
            &[(
                5,
                46,
                "unknown permissions.files.access: write",
                "possible values: read, read_write",
            )],
        ),
        wasm(
            "a component is still told to name the place",
            "  permissions: {files: [{host: data}]}",
            &[(
                6,
                25,
                "missing key: permissions.files.guest",
                "write the path the plugin sees, for example guest: /data",
            )],
        ),
    ]);
}

#[test]
fn what_only_the_other_kind_has() {
    check_problems(&[
        python(
            "a component's",
            "  permissions:\n    scratch: 1MiB\n    secrets: [{name: t, env: A}]\n    network: [{host: a.example, port: 0}]",
            &[
                (
                    6,
                    5,
                    "permissions.scratch: only a wasm plugin has it, and this is a Python class",
                    "remove it: a worker has a private temporary folder anyway, the one `tempfile` uses",
                ),
                (
                    7,
                    5,
                    "permissions.secrets: only a wasm plugin has it, and this is a Python class",
                    "write `permissions: {env: [NAME]}`: a Python class reads its environment",
                ),
                (
                    8,
                    39,
                    "permissions.network.port: out of range: 0",
                    "write an integer from 1 to 65535",
                ),
            ],
        ),
        wasm(
            "a Python class's",
            "  permissions:\n    processes: true",
            &[(
                7,
                5,
                "permissions.processes: only a Python plugin has it, and this is wasm",
                "remove it: a component starts no processes",
            )],
        ),
        wasm(
            "even where it says nothing",
            "  permissions: {processes: false}",
            &[(
                6,
                17,
                "permissions.processes: only a Python plugin has it, and this is wasm",
                "remove it: a component starts no processes",
            )],
        ),
        python(
            "words of others for it",
            "  permissions: {subprocess: true, environment: [A], proceses: true}",
            &[
                (
                    5,
                    17,
                    "unknown key: permissions.subprocess",
                    "write `permissions: {processes: true}`",
                ),
                (
                    5,
                    35,
                    "unknown key: permissions.environment",
                    "write `permissions: {env: [NAME]}`",
                ),
                (
                    5,
                    53,
                    "unknown key: permissions.proceses",
                    "did you mean `processes`? possible keys: files, network, processes, scratch, env, secrets, data",
                ),
            ],
        ),
    ]);
}

#[test]
fn a_device_may_be_granted() {
    let text = python("", "  permissions: {files: [{host: /dev/null}]}", &[]).text;
    let config =
        Config::parse(&text, "f.yaml", &fixtures()).unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(config.plugins[0].permissions.files[0].guest, "/dev/null");
}
