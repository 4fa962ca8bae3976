//! [`Record`]: one line of truth per outcome.

use std::sync::Arc;

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::Json;
use crate::config::Mode;
use crate::edit::EditNote;
use crate::fault::FaultKind;
use crate::refusal::Refused;
use crate::verdict::Decision;

/// Where decision records go.
pub trait RecordSink: Send + Sync {
    /// Takes one record. Called on the caller's task, so it must not block for long.
    fn write(&self, record: Record);
}

/// Who asked, each plugin's verdict or fault, timing, what changed. Never holds payload text.
#[derive(Debug, Clone, Serialize)]
pub struct Record {
    /// Sortable id, a ULID.
    pub id: String,
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
    /// From the check at the door to the outcome.
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
    pub verdict: Option<Decision>,
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

/// SHA-256 in hexadecimal.
pub(crate) fn sha256(text: &str) -> String {
    use std::fmt::Write as _;
    Sha256::digest(text.as_bytes())
        .iter()
        .fold(String::with_capacity(64), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
}

/// The time now as records show it.
pub(crate) fn now() -> String {
    let now = jiff::Timestamp::now();
    format!("{now:.6}")
}
