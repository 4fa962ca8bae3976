//! Payloads of 183 bytes, 9.5 KB and 1 MB in which no denied word occurs.

/// 183 bytes, like a shell call.
pub fn small() -> String {
    let mut text = String::from(
        r#"{"name":"shell","args":{"cmd":"grep -rn 'pattern' src | head -20","cwd":"/home/ann/project","timeout":30,"env":{"LANG":"C.UTF-8"},"note":"look for the call sites""#,
    );
    let padding = 183 - text.len() - 2 - r#","p":"""#.len();
    text.push_str(&format!(r#","p":"{}""#, "x".repeat(padding)));
    text.push_str("}}");
    assert_eq!(text.len(), 183);
    text
}

/// About 9.5 KB in 95 objects.
pub fn medium() -> String {
    items(95)
}

/// About 1 MB in 10,000 objects.
pub fn large() -> String {
    items(10_000)
}

fn items(count: usize) -> String {
    let items: Vec<String> = (0..count)
        .map(|n| format!(r#"{{"id":{n},"title":"item number {n} of the list","tags":["red","green"],"price":{n}.50,"ok":true}}"#))
        .collect();
    format!(
        r#"{{"name":"store","args":{{"items":[{}]}}}}"#,
        items.join(",")
    )
}
