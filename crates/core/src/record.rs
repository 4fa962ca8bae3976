//! [`Record`]: one line of truth per outcome.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::Json;
use crate::config::Mode;
use crate::draft::Answer;
use crate::edit::EditNote;
use crate::fault::FaultKind;
use crate::refusal::{RefusalCode, Refused};
use crate::verdict::{Decision, Verdict};

/// Where decision records go.
pub trait RecordSink: Send + Sync {
    /// Takes one record. Called on the caller's task, or on that of a background call, so it must not
    /// block for long.
    fn write(&self, record: Record);
}

/// Who asked, each plugin's verdict or fault, timing, what changed. Never holds payload text.
///
/// What a `fire_and_forget` plugin answers is a record of its own, made when it has answered. It repeats
/// what the first one says of the hook, the request, the payloads and the decision, on which the answer
/// has no influence; its own are `id`, `time`, `duration_us` and the one entry in `plugins`.
#[derive(Debug, Clone, Serialize)]
pub struct Record {
    /// Sortable id, a ULID.
    pub id: String,
    /// The record of the outcome this answer came after; none in that record itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// RFC 3339, UTC, microseconds.
    pub time: String,
    /// The hook.
    pub hook: Arc<str>,
    /// What it was about.
    pub subject: Option<Arc<str>>,
    /// Who asked.
    pub request: RequestRecord,
    /// Generation of the engine's plugins.
    pub generation: u64,
    /// What was decided.
    pub decision: Decision,
    /// Whether the payload changed.
    pub modified: bool,
    /// SHA-256 of the payload as it came, in hexadecimal.
    pub payload_sha256: String,
    /// Its size.
    pub payload_bytes: u64,
    /// SHA-256 of the final payload; none on a denial.
    pub final_sha256: Option<String>,
    /// From the check at the door to the outcome; from the start to the answer of a background call.
    pub duration_us: u64,
    /// Every plugin that was asked, in order.
    pub plugins: Vec<PluginRecord>,
}

/// Who asked, as a record shows it.
#[derive(Debug, Clone, Serialize)]
pub struct RequestRecord {
    /// Request id.
    pub id: String,
    /// User.
    pub user: Option<Json>,
    /// Tenant.
    pub tenant_id: Option<String>,
    /// Server.
    pub server_id: Option<String>,
}

/// One plugin's part in an outcome.
#[derive(Debug, Clone, Serialize)]
pub struct PluginRecord {
    /// Its entry's name.
    pub name: Arc<str>,
    /// Its host.
    pub kind: &'static str,
    /// Digest of its component.
    pub digest: Option<Arc<str>>,
    /// What confined it.
    pub sandbox: Arc<str>,
    /// The mode it ran in.
    pub mode: Mode,
    /// What it said; none where it did not answer.
    pub verdict: Option<RecordedVerdict>,
    /// Code of its violation.
    pub code: Option<String>,
    /// Why it did not answer.
    pub fault: Option<FaultKind>,
    /// What it changed, without values.
    pub edits: Vec<EditNote>,
    /// What it was refused.
    pub refused: Vec<Refused>,
    /// From the question to the answer, waiting included.
    pub duration_us: u64,
    /// The part of it spent waiting for a slot.
    pub queue_us: u64,
}

/// What a record says of one plugin's verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum RecordedVerdict {
    /// It let the call go on.
    Allow,
    /// It wanted a person to agree.
    Ask,
    /// It refused the call.
    Deny,
    /// It is told in the background; what it answers is a record of its own.
    Background,
    /// Its call was ended before it had answered, since a sibling denied or the engine shut down.
    Cancelled,
}

impl RecordedVerdict {
    /// `allow`, `ask`, `deny`, `background` or `cancelled`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
            Self::Background => "background",
            Self::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for RecordedVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl From<Decision> for RecordedVerdict {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::Allow => Self::Allow,
            Decision::Ask => Self::Ask,
            Decision::Deny => Self::Deny,
        }
    }
}

impl PluginRecord {
    /// The same with a verdict.
    pub(crate) fn with(mut self, verdict: RecordedVerdict) -> Self {
        self.verdict = Some(verdict);
        self
    }

    /// Takes down what the plugin answered.
    pub(crate) fn note(&mut self, answer: &Answer) {
        self.verdict = Some(answer.verdict().decision().into());
        self.edits = answer.edits().list().to_vec();
        if let Verdict::Deny(violation) = answer.verdict() {
            self.code = Some(violation.code.clone());
        }
    }

    /// Takes down one more refusal.
    pub(crate) fn refuse(&mut self, what: &'static str, code: RefusalCode) {
        let same = |refused: &&mut Refused| refused.what == what && refused.code == code;
        match self.refused.iter_mut().find(same) {
            Some(refused) => refused.count += 1,
            None => self.refused.push(Refused {
                what,
                code,
                count: 1,
            }),
        }
    }
}

/// SHA-256 in hexadecimal.
pub(crate) fn sha256(text: &str) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(text.as_bytes()) {
        hex.push(DIGITS[usize::from(byte >> 4)].into());
        hex.push(DIGITS[usize::from(byte & 15)].into());
    }
    hex
}

/// The time now as records show it.
pub(crate) fn now() -> String {
    let now = jiff::Timestamp::now();
    format!("{now:.6}")
}
