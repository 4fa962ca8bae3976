//! How the instances of a wasm plugin serve its calls.

use super::defaults::{
    INSTANCE_MAX_CALLS, INSTANCE_MAX_CALLS_MAX, INSTANCE_STOCK, INSTANCE_STOCK_MAX,
};
use super::keys::{Fields, Keys};
use super::read::{choice, integer};
use super::report::Findings;
use super::spec::{InstancePolicy, Instances};

pub(super) const POLICIES: [(&str, InstancePolicy); 2] = [
    ("single_use", InstancePolicy::SingleUse),
    ("reuse", InstancePolicy::Reuse),
];

/// Reads `instances:` of an entry. `is_wasm` is unknown while the entry's kind is.
pub(super) fn read(entry: &Fields, is_wasm: Option<bool>, findings: &mut Findings) -> Instances {
    let mut instances = Instances::default();
    let Some((key, node)) = entry.pair("instances") else {
        return instances;
    };
    if is_wasm == Some(false) {
        let message = "instances: only a wasm plugin has it, and this is a Python class".into();
        let hint = "remove it: a Python plugin has one worker, and `limits: {concurrency: N}`";
        findings.error(&key.at, message, Some(hint.into()));
        return instances;
    }
    let Some(fields) = Keys::INSTANCES.read(node, findings) else {
        return instances;
    };
    if let Some(node) = fields.get("policy") {
        instances.policy = choice(node, "instances.policy", &POLICIES, &[], findings)
            .unwrap_or(InstancePolicy::SingleUse);
    }
    let reuse = instances.policy == InstancePolicy::Reuse;
    let mut count = |name: &str, min: u32, max: u32| {
        let node = fields.get(name)?;
        let what = format!("instances.{name}");
        let value = integer(node, &what, min.into(), max.into(), findings)?;
        u32::try_from(value).ok()
    };
    // Nothing kept is nothing used again.
    if let Some(stock) = count("stock", u32::from(reuse), INSTANCE_STOCK_MAX) {
        instances.stock = stock;
    }
    if let Some(calls) = count("max_calls", 1, INSTANCE_MAX_CALLS_MAX) {
        instances.max_calls = calls;
    }
    if let Some((key, _)) = fields.pair("max_calls").filter(|_| !reuse) {
        let message = "instances.max_calls: only `policy: reuse` has it".into();
        let hint = "remove it, or write `policy: reuse`: an instance of single use serves one call";
        findings.error(&key.at, message, Some(hint.into()));
    }
    instances
}

impl Default for Instances {
    /// A clean instance for every call.
    fn default() -> Self {
        Self {
            policy: InstancePolicy::SingleUse,
            stock: INSTANCE_STOCK,
            max_calls: INSTANCE_MAX_CALLS,
        }
    }
}
