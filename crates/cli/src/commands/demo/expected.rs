//! [`Expectations`]: recorded outcomes, and the comparison with what came.
//!
//! A call that is not listed is an unchanged allow. `modify` stands for an allow with `modified: true`
//! and the payload shown. Numbers are compared by their text, the order of keys does not matter.

use std::collections::HashMap;
use std::path::Path;

use anyhow::Context as _;
use hookgate::{Decision, Json, Outcome, Payload, Violation};
use serde::Deserialize;

use crate::stream::Answered;
use crate::units::failed;

/// One line of a file of recorded outcomes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    id: String,
    decision: Recorded,
    by: Option<String>,
    violation: Option<RecordedViolation>,
    payload: Option<Json>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Recorded {
    Allow,
    Modify,
    Deny,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedViolation {
    code: String,
    reason: String,
    description: String,
    details: Json,
}

/// Recorded outcomes by the id of their call.
#[derive(Debug)]
pub struct Expectations {
    expected: HashMap<String, Expected>,
}

/// An outcome that is not the recorded one.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Mismatch {
    /// The call's id.
    pub id: String,
    /// What was expected and what came.
    pub difference: String,
}

impl Expectations {
    /// Reads a file of recorded outcomes.
    pub fn load(path: &Path) -> anyhow::Result<Self> {
        let name = path.display();
        let text = std::fs::read_to_string(path)
            .map_err(|error| failed(format_args!("cannot read {name}"), &error))?;
        Self::parse(&text).with_context(|| format!("{name} does not hold recorded outcomes"))
    }

    fn parse(text: &str) -> anyhow::Result<Self> {
        let mut expected = HashMap::new();
        for (index, line) in text.lines().enumerate() {
            let line: Expected =
                serde_json::from_str(line).with_context(|| format!("line {}", index + 1))?;
            let complete = match line.decision {
                Recorded::Allow => {
                    line.payload.is_none() && line.violation.is_none() && line.by.is_none()
                }
                Recorded::Modify => {
                    line.payload.is_some() && line.violation.is_none() && line.by.is_none()
                }
                Recorded::Deny => {
                    line.payload.is_none() && line.violation.is_some() && line.by.is_some()
                }
            };
            anyhow::ensure!(
                complete,
                "line {}: an allow has nothing, a modify a payload, a deny by and violation",
                index + 1
            );
            let twice = expected.insert(line.id.clone(), line);
            anyhow::ensure!(twice.is_none(), "line {}: an id given twice", index + 1);
        }
        Ok(Self { expected })
    }

    /// Compares one answer; each recorded outcome is good for one call.
    pub fn compare(&mut self, answered: &Answered) -> Option<Mismatch> {
        let id = answered
            .id
            .as_ref()
            .map(|id| serde_json::from_str::<String>(id.get()).unwrap_or_else(|_| id.to_string()));
        let id = id.unwrap_or_else(|| format!("line {}", answered.number));
        let expected = self.expected.remove(&id);
        let difference = match (&answered.result, &answered.payload) {
            (Ok(outcome), Some(payload)) => difference(expected.as_ref(), payload, outcome),
            (Ok(_), None) => Some("an outcome without a call".to_owned()),
            (Err(unanswered), _) => Some(format!(
                "expected an outcome, found {}: {}",
                unanswered.code, unanswered.message
            )),
        };
        difference.map(|difference| Mismatch { id, difference })
    }

    /// Recorded outcomes whose calls never came.
    pub fn unseen(self) -> Vec<Mismatch> {
        let mut ids: Vec<String> = self.expected.into_keys().collect();
        ids.sort();
        let difference = "recorded, but there was no such call".to_owned();
        ids.into_iter()
            .map(|id| Mismatch {
                id,
                difference: difference.clone(),
            })
            .collect()
    }
}

/// The first thing in which an outcome differs from the recorded one.
fn difference(expected: Option<&Expected>, given: &Payload, outcome: &Outcome) -> Option<String> {
    if let [fault, ..] = outcome.faults.as_slice() {
        return Some(format!(
            "expected an answer, found fault {} of {}: {}",
            fault.kind, fault.plugin, fault.message
        ));
    }
    let decision = expected.map_or(Recorded::Allow, |expected| expected.decision);
    let found = match (outcome.decision, outcome.modified) {
        (Decision::Allow, false) => "allow",
        (Decision::Allow, true) => "modify",
        (Decision::Ask, _) => "ask",
        (Decision::Deny, _) => "deny",
    };
    let wanted = match decision {
        Recorded::Allow => "allow",
        Recorded::Modify => "modify",
        Recorded::Deny => "deny",
    };
    if wanted != found {
        let why = outcome
            .violation
            .as_ref()
            .map(|violation| format!(": {}", describe(violation)));
        return Some(format!(
            "expected {wanted}, found {found}{}",
            why.unwrap_or_default()
        ));
    }
    match decision {
        Recorded::Allow => payload_difference(given.to_json().ok().as_ref(), outcome),
        Recorded::Modify => payload_difference(
            expected.and_then(|expected| expected.payload.as_ref()),
            outcome,
        ),
        Recorded::Deny => expected.and_then(|expected| violation_difference(expected, outcome)),
    }
}

fn payload_difference(expected: Option<&Json>, outcome: &Outcome) -> Option<String> {
    let found = outcome
        .payload
        .as_ref()
        .and_then(|payload| payload.to_json().ok());
    if let (Some(expected), Some(found)) = (expected, &found)
        && expected.same_value(found)
    {
        return None;
    }
    let text = |json: Option<&Json>| json.map_or_else(|| "none".to_owned(), Json::to_string);
    Some(format!(
        "expected payload {}, found {}",
        text(expected),
        text(found.as_ref())
    ))
}

fn violation_difference(expected: &Expected, outcome: &Outcome) -> Option<String> {
    let (Some(recorded), Some(found)) = (&expected.violation, &outcome.violation) else {
        return Some("a denial without a violation".to_owned());
    };
    let by = expected.by.as_deref().unwrap_or_default();
    let texts = [
        ("by", by, found.plugin.as_deref().unwrap_or("hookgate")),
        ("code", &recorded.code, &found.code),
        ("reason", &recorded.reason, &found.reason),
        ("description", &recorded.description, &found.description),
    ];
    if let Some((what, recorded, found)) = texts
        .into_iter()
        .find(|(_, recorded, found)| recorded != found)
    {
        return Some(format!("expected {what} {recorded:?}, found {found:?}"));
    }
    let same = recorded.details.same_value(&found.details);
    (!same).then(|| {
        format!(
            "expected details {}, found {}",
            recorded.details, found.details
        )
    })
}

fn describe(violation: &Violation) -> String {
    format!(
        "{} by {}",
        violation.code,
        violation.plugin.as_deref().unwrap_or("hookgate")
    )
}

#[cfg(test)]
mod tests;
