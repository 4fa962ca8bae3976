//! How instances of a wasm plugin serve.

use hookgate_core::config::defaults::{INSTANCE_MAX_CALLS, INSTANCE_STOCK};
use hookgate_core::config::{Config, Imported, InstancePolicy, Instances, Shape};

use crate::cases::{Expected, check_problems, parse, python, wasm};

/// The instances of a wasm entry with these lines.
fn read(more: &str) -> Instances {
    let config = parse(&wasm("", more, &[]).text);
    config.expect("it loads").plugins[0].instances
}

#[test]
fn a_clean_instance_for_every_call_is_the_default() {
    let default = Instances {
        policy: InstancePolicy::SingleUse,
        stock: INSTANCE_STOCK,
        max_calls: INSTANCE_MAX_CALLS,
    };
    assert_eq!(read(""), default);
    assert_eq!(read("  instances: {}"), default);
    assert_eq!(read("  instances: {policy: single_use}"), default);
}

#[test]
fn what_is_written_counts() {
    let none_ready = read("  instances: {stock: 0}");
    assert_eq!(
        (none_ready.stock, none_ready.policy),
        (0, InstancePolicy::SingleUse)
    );
    let reuse = read("  instances: {policy: reuse, stock: 256, max_calls: 1}");
    assert_eq!(
        (reuse.policy, reuse.stock, reuse.max_calls),
        (InstancePolicy::Reuse, 256, 1)
    );
}

const ONLY_REUSE: Expected = (
    6,
    15,
    "instances.max_calls: only `policy: reuse` has it",
    "remove it, or write `policy: reuse`: an instance of single use serves one call",
);

#[test]
fn mistakes() {
    check_problems(&[
        wasm(
            "not a mapping",
            "  instances: reuse",
            &[(6, 14, "instances: expected a mapping, found a string", "")],
        ),
        wasm(
            "another policy",
            "  instances: {policy: reused}",
            &[(
                6,
                23,
                "unknown instances.policy: reused",
                "did you mean `reuse`? possible values: single_use, reuse",
            )],
        ),
        wasm(
            "too large a stock",
            "  instances: {stock: 257}",
            &[(
                6,
                22,
                "instances.stock: out of range: 257",
                "write an integer from 0 to 256",
            )],
        ),
        wasm(
            "nothing to use again",
            "  instances: {policy: reuse, stock: 0}",
            &[(
                6,
                37,
                "instances.stock: out of range: 0",
                "write an integer from 1 to 256",
            )],
        ),
        wasm(
            "calls of an instance of single use",
            "  instances: {max_calls: 5}",
            &[ONLY_REUSE],
        ),
        wasm(
            "the same, written out",
            "  instances: {max_calls: 5, policy: single_use}",
            &[ONLY_REUSE],
        ),
        wasm(
            "no calls",
            "  instances: {policy: reuse, max_calls: 0}",
            &[(
                6,
                41,
                "instances.max_calls: out of range: 0",
                "write an integer from 1 to 1000000000",
            )],
        ),
        python(
            "of a Python class",
            "  instances: {stock: 1}",
            &[(
                5,
                3,
                "instances: only a wasm plugin has it, and this is a Python class",
                "remove it: a Python plugin has one worker, and `limits: {concurrency: N}`",
            )],
        ),
    ]);
}

#[test]
fn written_anew_it_is_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("hookgate.yaml");
    let text = wasm(
        "",
        "  mode: enforce\n  instances: {policy: reuse, stock: 2, max_calls: 9}",
        &[],
    );
    std::fs::write(&file, text.text).expect("written");
    std::fs::write(folder.path().join("gate.wasm"), "").expect("written");
    let imported = Imported::load(&file, Shape::Legacy, folder.path()).expect("it is read");
    let again = Config::parse(&imported.text, "hookgate.yaml", folder.path());
    let again = again.expect("what is written loads");
    let expected = Instances {
        policy: InstancePolicy::Reuse,
        stock: 2,
        max_calls: 9,
    };
    assert_eq!(again.plugins[0].instances, expected);
}
