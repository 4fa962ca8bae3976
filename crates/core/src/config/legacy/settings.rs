//! `plugin_settings:`, of which two members mean something here.

use std::time::Duration;

use super::coerce;
use super::keys::SETTINGS;
use crate::config::defaults::TIMEOUT_MAX_SECONDS;
use crate::config::keys::Keys;
use crate::config::read::expected;
use crate::config::report::Findings;
use crate::config::yaml::{Node, Value};

/// What was read.
#[derive(Debug, Default)]
pub(in crate::config) struct Settings {
    /// The deadline of a call of a Python plugin.
    pub timeout: Option<Duration>,
    /// Whether a plugin that does not load is left out.
    pub skip_unloadable: bool,
}

/// Reads `plugin_settings:`; nothing is written there if the node is empty.
pub(in crate::config) fn read(node: &Node, findings: &mut Findings) -> Settings {
    let mut settings = Settings::default();
    if matches!(node.value, Value::Null) {
        return settings;
    }
    let Some(fields) = Keys::PLUGIN_SETTINGS.read_with(&SETTINGS, node, findings) else {
        return settings;
    };
    if let Some(node) = fields.get("plugin_timeout") {
        settings.timeout = seconds(node, "plugin_settings.plugin_timeout", findings);
    }
    if let Some(node) = fields.get("fail_on_plugin_error")
        && let Some(fail) = coerce::boolean(node, "plugin_settings.fail_on_plugin_error", findings)
        && !fail
    {
        settings.skip_unloadable = true;
        let message =
            "plugin_settings.fail_on_plugin_error: false: a plugin that does not load is left out";
        let hint =
            "a call it would have judged goes on without it; write true, and loading fails instead";
        findings.note(&node.at, message.into(), Some(hint.into()));
    }
    if let Some(node) = fields.get("routing_enabled")
        && coerce::boolean(node, "plugin_settings.routing_enabled", findings) == Some(true)
    {
        let message =
            "plugin_settings.routing_enabled: routes choose the plugins, and are not read here";
        let hint = "write `conditions:` in the entries, and routing_enabled: false";
        findings.error(&node.at, message.into(), Some(hint.into()));
    }
    if let Some(node) = fields.get("short_circuit_on_deny")
        && coerce::boolean(node, "plugin_settings.short_circuit_on_deny", findings) == Some(false)
    {
        let message =
            "plugin_settings.short_circuit_on_deny: false: a denial ends a call here all the same";
        let hint = "the decision is the same; plugins after the one that denies are not asked";
        findings.note(&node.at, message.into(), Some(hint.into()));
    }
    settings
}

/// A timeout in seconds, as the framework writes it. One longer than allowed is cut short with a note.
pub(in crate::config) fn seconds(
    node: &Node,
    what: &str,
    findings: &mut Findings,
) -> Option<Duration> {
    let Some(seconds) = coerce::float(node) else {
        expected(findings, node, what, "a number of seconds");
        return None;
    };
    if !seconds.is_finite() || seconds <= 0.0 {
        let hint = format!("write a number of seconds above 0 and at most {TIMEOUT_MAX_SECONDS}");
        findings.error(&node.at, format!("{what}: out of range"), Some(hint));
        return None;
    }
    let max = Duration::from_secs(TIMEOUT_MAX_SECONDS);
    let timeout = Duration::try_from_secs_f64(seconds).unwrap_or(max);
    if timeout > max {
        let message =
            format!("{what}: longer than a call may take; {TIMEOUT_MAX_SECONDS} seconds are used");
        findings.note(&node.at, message, Some("the number is in seconds".into()));
        return Some(max);
    }
    Some(timeout.max(Duration::from_nanos(1)))
}
