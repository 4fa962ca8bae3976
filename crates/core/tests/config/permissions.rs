//! Limits and permissions.

use crate::cases::{check_problems, wasm, whole};

const DURATION: &str = "write a number and a unit, for example 50ms; units: ns, us, ms, s, m, h";
const SIZE: &str =
    "write a number and a unit, for example 10MB; units: B, KB, MB, GB, KiB, MiB, GiB";

#[test]
fn limits() {
    check_problems(&[
        wasm(
            "not a mapping",
            "  limits: 50ms",
            &[(6, 11, "limits: expected a mapping, found a string", "")],
        ),
        wasm(
            "a timeout without a unit",
            "  limits: {timeout: 50}",
            &[(
                6,
                21,
                "limits.timeout: a unit is missing: 50",
                "write 50ms or 50s; units: ns, us, ms, s, m, h",
            )],
        ),
        wasm(
            "a timeout without a unit, in quotes",
            "  limits: {timeout: '0.5'}",
            &[(
                6,
                21,
                "limits.timeout: a unit is missing: 0.5",
                "write 0.5ms or 0.5s; units: ns, us, ms, s, m, h",
            )],
        ),
        wasm(
            "no duration",
            "  limits: {timeout: 5 parsecs}",
            &[(6, 21, "limits.timeout: not a duration: 5 parsecs", DURATION)],
        ),
        wasm(
            "zero",
            "  limits: {timeout: 0s}",
            &[(
                6,
                21,
                "limits.timeout: out of range: 0s",
                "write more than 0s and at most 1h",
            )],
        ),
        wasm(
            "more than an hour",
            "  limits: {timeout: 61m}",
            &[(
                6,
                21,
                "limits.timeout: out of range: 61m",
                "write more than 0s and at most 1h",
            )],
        ),
        wasm(
            "a list as timeout",
            "  limits: {timeout: [1s]}",
            &[(
                6,
                21,
                "limits.timeout: expected a duration, found a list",
                "",
            )],
        ),
        wasm(
            "memory without a unit",
            "  limits: {memory: 64}",
            &[(
                6,
                20,
                "limits.memory: a unit is missing: 64",
                "write 64MiB or 64GiB; units: B, KB, MB, GB, KiB, MiB, GiB",
            )],
        ),
        wasm(
            "no size",
            "  limits: {memory: big}",
            &[(6, 20, "limits.memory: not a size: big", SIZE)],
        ),
        wasm(
            "too little memory",
            "  limits: {memory: 1023KiB}",
            &[(
                6,
                20,
                "limits.memory: out of range: 1023KiB",
                "write at least 1 MiB and at most 1 TiB",
            )],
        ),
        wasm(
            "no calls",
            "  limits: {concurrency: 0}",
            &[(
                6,
                25,
                "limits.concurrency: out of range: 0",
                "write an integer from 1 to 65536",
            )],
        ),
        wasm(
            "too many calls",
            "  limits: {concurrency: 65537}",
            &[(
                6,
                25,
                "limits.concurrency: out of range: 65537",
                "write an integer from 1 to 65536",
            )],
        ),
        whole(
            "sizes of the whole",
            "plugins: []\nmax_payload_bytes: 1.5\nmax_state_bytes: 10XB\n",
            &[
                (
                    2,
                    20,
                    "max_payload_bytes: expected a number of bytes or a size such as 10MB, found a number",
                    "",
                ),
                (3, 18, "max_state_bytes: not a size: 10XB", SIZE),
            ],
        ),
        whole(
            "sizes out of range",
            "plugins: []\nmax_payload_bytes: 0\nmax_state_bytes: 99999999999999999999\n",
            &[
                (
                    2,
                    20,
                    "max_payload_bytes: out of range: 0",
                    "write at least 1 B and at most 1 GiB",
                ),
                (
                    3,
                    18,
                    "max_state_bytes: out of range: 99999999999999999999",
                    "write at least 1 B and at most 1 GiB",
                ),
            ],
        ),
    ]);
}

#[test]
fn environment_and_data() {
    check_problems(&[
        wasm(
            "names of variables",
            "  permissions: {env: [A, A, B=1, '', \"C\\0\"]}",
            &[
                (
                    6,
                    26,
                    "permissions.env: listed twice: A",
                    "keep one of them",
                ),
                (
                    6,
                    29,
                    "permissions.env: not a variable's name: B=1",
                    "write the name alone; its value comes from the environment of the gateway",
                ),
                (
                    6,
                    34,
                    "permissions.env: is empty",
                    "write at least one character",
                ),
                (
                    6,
                    38,
                    "permissions.env: holds a control character: C\\u{0}",
                    "write printable characters only",
                ),
            ],
        ),
        wasm(
            "capabilities",
            "  permissions: {data: [read_header, append_labels, read_client, read_headers, x]}",
            &[
                (
                    6,
                    24,
                    "unknown permissions.data: read_header",
                    "did you mean `read_headers`? possible values: append_delegation, append_labels, read_agent, read_claims, read_client, read_delegated_tokens, read_delegation, read_headers, read_inbound_credentials, read_labels, read_permissions, read_roles, read_subject, read_teams, read_workload, write_headers",
                ),
                (
                    6,
                    79,
                    "unknown permissions.data: x",
                    "possible values: append_delegation, append_labels, read_agent, read_claims, read_client, read_delegated_tokens, read_delegation, read_headers, read_inbound_credentials, read_labels, read_permissions, read_roles, read_subject, read_teams, read_workload, write_headers",
                ),
            ],
        ),
    ]);
}

#[test]
fn files() {
    check_problems(&[
        wasm(
            "not a list of mappings",
            "  permissions: {files: [./data]}",
            &[(
                6,
                25,
                "permissions.files: expected a mapping, found a string",
                "",
            )],
        ),
        wasm(
            "without host and guest",
            "  permissions: {files: [{access: read}]}",
            &[
                (
                    6,
                    25,
                    "missing key: permissions.files.host",
                    "write {host: ./data, guest: /data, access: read}",
                ),
                (
                    6,
                    25,
                    "missing key: permissions.files.guest",
                    "write the path the plugin sees, for example guest: /data",
                ),
            ],
        ),
        wasm(
            "hosts that are not there, or a file for wasm",
            "  permissions:\n    files:\n    - {host: no, guest: /a}\n    - {host: gate.wasm, guest: /b}",
            &[
                (
                    8,
                    14,
                    "permissions.files.host: no such file or folder: no",
                    "looked at {base}/no",
                ),
                (
                    9,
                    14,
                    "permissions.files.host: is a file, not a folder: gate.wasm",
                    "looked at {base}/gate.wasm",
                ),
            ],
        ),
        wasm(
            "guests that are not absolute",
            "  permissions:\n    files:\n    - {host: data, guest: data}\n    - {host: data, guest: /a/../b}",
            &[
                (
                    8,
                    27,
                    "permissions.files.guest: not an absolute path: data",
                    "write a path from the root without . and .., for example /data",
                ),
                (
                    9,
                    27,
                    "permissions.files.guest: not an absolute path: /a/../b",
                    "write a path from the root without . and .., for example /data",
                ),
            ],
        ),
        wasm(
            "granted twice",
            "  permissions:\n    files:\n    - {host: data, guest: /a}\n    - {host: plugins, guest: /a/}",
            &[(
                9,
                30,
                "permissions.files: granted twice: /a",
                "keep one of them",
            )],
        ),
        wasm(
            "an unknown access",
            "  permissions: {files: [{host: data, guest: /a, access: read-write}]}",
            &[(
                6,
                57,
                "unknown permissions.files.access: read-write",
                "did you mean `read_write`? possible values: read, read_write",
            )],
        ),
    ]);
}
