//! The worker's own sources, which travel with this library and reach a worker over its pipe.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::frames;

/// Runs first: moves the pipes away from the plugin, then imports what the first frame brings.
pub(super) const BOOT: &str = include_str!("../../worker/boot.py");

macro_rules! modules {
    ($($name:literal: $file:literal,)*) => {
        /// Dotted names and sources.
        const MODULES: &[(&str, &str)] = &[
            $(($name, include_str!(concat!("../../worker/hookgate_worker/", $file, ".py"))),)*
        ];
    };
}

modules! {
    "hookgate_worker": "__init__",
    "hookgate_worker.alignment": "alignment",
    "hookgate_worker.attributes": "attributes",
    "hookgate_worker.calls": "calls",
    "hookgate_worker.context": "context",
    "hookgate_worker.differences": "differences",
    "hookgate_worker.extensions": "extensions",
    "hookgate_worker.frames": "frames",
    "hookgate_worker.gateway": "gateway",
    "hookgate_worker.gateway_defaults": "gateway_defaults",
    "hookgate_worker.gateway_http": "gateway_http",
    "hookgate_worker.gateway_logging": "gateway_logging",
    "hookgate_worker.gateway_models": "gateway_models",
    "hookgate_worker.gateway_primary": "gateway_primary",
    "hookgate_worker.gateway_settings": "gateway_settings",
    "hookgate_worker.gateway_urls": "gateway_urls",
    "hookgate_worker.gateway_values": "gateway_values",
    "hookgate_worker.grants": "grants",
    "hookgate_worker.hooks": "hooks",
    "hookgate_worker.kept_state": "kept_state",
    "hookgate_worker.log_output": "log_output",
    "hookgate_worker.main": "main",
    "hookgate_worker.plain": "plain",
    "hookgate_worker.results": "results",
    "hookgate_worker.start": "start",
    "hookgate_worker.tokens": "tokens",
    "hookgate_worker.typed_content": "typed_content",
}

static FRAME: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let modules: BTreeMap<_, _> = MODULES.iter().copied().collect();
    let message = serde_json::json!({ "type": "sources", "modules": modules });
    frames::framed(message.to_string().as_bytes())
});

/// The first frame of every worker.
pub(super) fn frame() -> &'static [u8] {
    &FRAME
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_file_travels() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/worker/hookgate_worker");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .expect("the worker's sources")
            .map(|entry| {
                entry
                    .expect("an entry")
                    .file_name()
                    .into_string()
                    .expect("a name")
            })
            .filter_map(|name| name.strip_suffix(".py").map(str::to_owned))
            .map(|name| {
                if name == "__init__" {
                    "hookgate_worker".into()
                } else {
                    format!("hookgate_worker.{name}")
                }
            })
            .collect();
        files.sort();
        let listed: Vec<&str> = MODULES.iter().map(|(name, _)| *name).collect();
        assert_eq!(listed, files);
    }
}
