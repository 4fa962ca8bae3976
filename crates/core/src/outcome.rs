//! [`Outcome`]: what the pipeline made of all verdicts and faults for one hook.

use serde::Serialize;

use crate::Json;
use crate::config::{Mode, OnError};
use crate::effects::OutcomeEffects;
use crate::fault::{Fault, FaultKind, Phase};
use crate::payload::Payload;
use crate::verdict::{Approval, Decision, Risk, Violation};

/// The one thing a caller gets for one hook.
#[derive(Debug, Clone, Serialize)]
pub struct Outcome {
    /// What was decided.
    pub decision: Decision,
    /// The final payload on `allow` and `ask`, also when unchanged; none on `deny`.
    pub payload: Option<Payload>,
    /// Whether the final payload's value differs from what came in; false on a denial.
    pub modified: bool,
    /// Why it was denied; some exactly when the decision is `deny`.
    pub violation: Option<Violation>,
    /// What a person is asked; bound to the final payload.
    pub approvals: Vec<ApprovalRequest>,
    /// Verdicts that did not count.
    pub suppressed: Vec<Suppressed>,
    /// Plugins that did not answer.
    pub faults: Vec<FaultReport>,
    /// What plugins left for the caller.
    pub effects: OutcomeEffects,
    /// Id of the decision record; none where nobody listened to the hook.
    pub record: Option<String>,
}

impl Outcome {
    /// Nobody listens: allow, the payload as given. Allocates nothing.
    pub(crate) fn unheard(payload: Payload) -> Self {
        Self {
            decision: Decision::Allow,
            payload: Some(payload),
            modified: false,
            violation: None,
            approvals: Vec::new(),
            suppressed: Vec::new(),
            faults: Vec::new(),
            effects: OutcomeEffects::default(),
            record: None,
        }
    }
}

/// An approval a plugin asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ApprovalRequest {
    /// Who asks.
    pub plugin: String,
    /// Why.
    pub reason: String,
    /// How much is at stake.
    pub risk: Risk,
    /// JSON object shown to whoever decides.
    pub details: Json,
    /// SHA-256 of the final payload's text, in hexadecimal: what is approved is this and nothing else.
    pub payload_sha256: String,
}

impl ApprovalRequest {
    pub(crate) fn new(plugin: &str, approval: Approval) -> Self {
        Self {
            plugin: plugin.to_owned(),
            reason: approval.reason,
            risk: approval.risk,
            details: approval.details,
            payload_sha256: String::new(),
        }
    }
}

/// A verdict that did not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Suppressed {
    /// Whose it is.
    pub plugin: String,
    /// The mode the plugin ran in.
    pub mode: Mode,
    /// What it said.
    pub verdict: Decision,
    /// The violation that came with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub violation: Option<Violation>,
    /// The approval that came with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalRequest>,
}

/// A plugin that did not answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FaultReport {
    /// Which one.
    pub plugin: String,
    /// Why.
    pub kind: FaultKind,
    /// Where the time of a timeout went.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// One line for a person.
    pub message: String,
    /// JSON object with more.
    pub details: Json,
    /// What the operator wanted done about it.
    pub on_error: OnError,
}

impl FaultReport {
    pub(crate) fn new(plugin: &str, fault: &Fault, on_error: OnError) -> Self {
        Self {
            plugin: plugin.to_owned(),
            kind: fault.kind,
            phase: fault.phase,
            message: fault.message.clone(),
            details: fault.details.clone(),
            on_error,
        }
    }

    /// The violation that stands for this fault under `on_error: fail`.
    pub(crate) fn violation(&self) -> Violation {
        let mut violation = Violation::new("plugin_fault", "plugin fault");
        violation.plugin = Some(self.plugin.clone());
        violation.details = Json::from_value(&serde_json::json!({ "fault": self.kind.as_str() }));
        violation
    }
}
