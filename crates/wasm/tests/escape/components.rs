//! Files that are no components, or no longer.

use hookgate_vectors::guests;

use crate::hand::{Hand, compile};
use crate::table::{Bench, SHORT, Written, suspect};

/// What does not load, and the words it is refused with.
async fn refused(what: &str, bytes: &[u8], says: &str) {
    let written = Written::new(what, bytes);
    let bench = Bench::new(suspect(written.0.clone(), SHORT)).await;
    let skipped = bench.engine.skipped();
    assert_eq!(skipped.len(), 1, "{what}: it loaded");
    let message = &skipped[0].error.message;
    assert!(message.contains(says), "{what}: {message}");
    bench.neighbour_answers(what).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn truncated() {
    let whole = std::fs::read(guests::component("tools-only")).expect("the guest is built");
    for at in [0, 1, 4, 7] {
        let what = format!("the first {at} bytes");
        refused(&what, &whole[..at], "is not a WebAssembly component").await;
    }
    for at in [9, 100, whole.len() / 2, whole.len() - 1] {
        let what = format!("the first {at} bytes");
        refused(&what, &whole[..at], "the component ").await;
    }
    // Nothing at all behind the header: a component that does nothing.
    refused("the header alone", &whole[..8], "exports no hook interface").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed() {
    let whole = Hand::default().bytes();
    let mut kind = whole.clone();
    kind[8] = 0x7f;
    refused(
        "a section of no kind",
        &kind,
        "the component is not valid: ",
    )
    .await;
    let mut long = whole.clone();
    long[9] = 0xff;
    refused(
        "a section beyond the end",
        &long,
        "the component is not valid: ",
    )
    .await;
    let mut twice = whole.clone();
    twice.extend_from_slice(&whole);
    refused(
        "two components in a row",
        &twice,
        "the component is not valid: ",
    )
    .await;
    // A megabyte that would take all memory there is.
    for depth in [33, 2_000, 100_000] {
        let what = format!("{depth} components in each other");
        refused(
            &what,
            &nested(depth),
            "in each other to a depth of more than 32",
        )
        .await;
    }
    refused(
        "31 components in each other",
        &nested(31),
        "exports no hook interface",
    )
    .await;
    let beside = format!("(component {})", "(component)".repeat(40)).repeat(40);
    refused(
        "1,600 components beside each other",
        &compile(&format!("(component {beside})")),
        "more than 1000 components and modules",
    )
    .await;
    let lists = (1..10_000).fold(String::from("(type string)"), |lists, n| {
        format!("{lists}(type (list {}))", n - 1)
    });
    refused(
        "ten thousand lists in each other",
        &compile(&format!("(component {lists} (export \"t\" (type 9999)))")),
        "the component is not valid: ",
    )
    .await;
    let wide = format!("(component {})", "(type string)".repeat(1_100_000));
    refused(
        "a million types",
        &compile(&wide),
        "the component is not valid: ",
    )
    .await;
}

/// Components in each other, so deep.
fn nested(depth: usize) -> Vec<u8> {
    /// Magic number, version and layer; the number of the section that holds a component.
    const HEADER: [u8; 8] = *b"\0asm\x0d\0\x01\0";
    const COMPONENT: u8 = 4;
    // From the innermost on: how long each is, and with it the head of the section around it.
    let (mut size, mut heads) = (HEADER.len(), Vec::new());
    for _ in 0..depth {
        let mut head = vec![COMPONENT];
        let mut left = size;
        while left > 0x7f {
            head.push(0x80 | u8::try_from(left & 0x7f).unwrap_or(0));
            left >>= 7;
        }
        head.push(u8::try_from(left).unwrap_or(0));
        size += head.len() + HEADER.len();
        heads.push(head);
    }
    let mut nested = HEADER.to_vec();
    for head in heads.iter().rev() {
        nested.extend_from_slice(head);
        nested.extend_from_slice(&HEADER);
    }
    nested
}

/// An export of the right name and another shape.
#[tokio::test(flavor = "multi_thread")]
async fn of_another_shape() {
    let other = r#"(component
        (core module $m (func (export "run")))
        (core instance $i (instantiate $m))
        (func $run (canon lift (core func $i "run")))
        (instance $tools (export "pre-invoke" (func $run)))
        (export "hookgate:plugin/tools@0.1.0" (instance $tools)))"#;
    refused(
        "a hook without parameters",
        &compile(other),
        "tool_pre_invoke: ",
    )
    .await;
    let value = r#"(component
        (instance $tools)
        (export "hookgate:plugin/tools@0.1.0" (instance $tools)))"#;
    refused(
        "an interface without functions",
        &compile(value),
        "does not export what answers tool_pre_invoke",
    )
    .await;
}
