//! `script`: does what its config lists, op by op.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::{BoxFuture, pending};
use hookgate_core::{
    Answer, Approval, Draft, Fault, FaultKind, HookCall, Json, Plugin, PluginInfo, Pointer,
    Refusal, Risk, Verdict, Violation,
};
use serde::Deserialize;
use serde_json::Value;

use super::slots;
use crate::suite::PluginEntry;

/// The plugin.
pub(super) struct Script {
    hooks: Vec<String>,
    ops: BTreeMap<String, Vec<Op>>,
}

#[derive(Deserialize)]
struct Config {
    #[serde(default)]
    hooks: BTreeMap<String, Vec<Op>>,
}

/// What an op says besides its name; which of it is there depends on the op.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Op {
    op: String,
    at: Option<String>,
    from: Option<String>,
    key: Option<String>,
    /// None where there is none; `null` is a value.
    #[serde(default, deserialize_with = "present")]
    value: Option<Value>,
    equals: Option<Value>,
    name: Option<String>,
    slot: Option<String>,
    field: Option<String>,
    ms: Option<u32>,
    message: Option<String>,
    violation: Option<Said>,
    approval: Option<Asked>,
}

/// A violation before anybody knows whose it is.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    code: String,
    reason: String,
    description: String,
    details: Option<Json>,
    mcp_error_code: Option<i32>,
    http_status_code: Option<u16>,
    http_headers: Option<BTreeMap<String, String>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    reason: String,
    risk: Risk,
    details: Option<Json>,
}

fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl Script {
    pub(super) fn new(entry: &PluginEntry) -> Self {
        let config: Config = serde_json::from_str(entry.config.as_str())
            .unwrap_or_else(|error| panic!("config of {}: {error}", entry.name));
        Self {
            hooks: entry.hooks.clone(),
            ops: config.hooks,
        }
    }
}

impl Plugin for Script {
    fn describe(&self) -> PluginInfo {
        PluginInfo::in_process(self.hooks.clone())
    }

    fn call(&self, call: HookCall) -> BoxFuture<'_, Result<Answer, Fault>> {
        async move {
            let mut run = Run {
                draft: call.draft(),
                call: &call,
            };
            let ops = self.ops.get(&*call.hook).map_or(&[][..], Vec::as_slice);
            let ended = run.steps(ops).await?;
            Ok(ended
                .unwrap_or(Ended::Verdict(Verdict::Allow))
                .of(run.draft))
        }
        .boxed()
    }
}

/// What ends a run before its ops do.
enum Ended {
    Verdict(Verdict),
    AllowWith(Violation),
}

impl Ended {
    fn of(self, draft: Draft) -> Answer {
        match self {
            Self::Verdict(verdict) => draft.answer(verdict),
            Self::AllowWith(violation) => draft.allow().with_suppressed(violation),
        }
    }
}

/// One call.
struct Run<'a> {
    draft: Draft,
    call: &'a HookCall,
}

type Step = Result<Option<Ended>, Fault>;

impl Run<'_> {
    fn steps<'a>(&'a mut self, ops: &'a [Op]) -> BoxFuture<'a, Step> {
        async move {
            for op in ops {
                if let Some(ended) = self.step(op).await? {
                    return Ok(Some(ended));
                }
            }
            Ok(None)
        }
        .boxed()
    }

    /// One op; none goes on with the next.
    async fn step(&mut self, op: &Op) -> Step {
        let done = match op.op.as_str() {
            "do" => {
                let listed = self.call.payload.get(&pointer(&op.from)?);
                let listed: Vec<Op> = match listed {
                    None => Vec::new(),
                    Some(text) => serde_json::from_str(text)
                        .map_err(|error| failed(format!("the ops to do: {error}")))?,
                };
                return self.steps(&listed).await;
            }
            "set" => self.draft.set(&pointer(&op.at)?, value(op)?),
            "set_anyway" => {
                // The refusal is the draft's to remember.
                let _ = self.draft.set(&pointer(&op.at)?, value(op)?);
                Ok(())
            }
            "copy" => {
                let from = pointer(&op.from)?;
                let found = self.found(&from);
                let found = found.ok_or_else(|| failed(format!("nothing to copy at {from}")))?;
                self.draft.set(&pointer(&op.at)?, found)
            }
            "remove" => self.draft.remove(&pointer(&op.at)?),
            "append" => {
                let end = format!("{}/-", said(&op.at)?);
                self.draft.set(&pointer(&Some(end))?, value(op)?)
            }
            "state" => self.draft.set_state(said(&op.key)?, Some(value(op)?)),
            "forget" => self.draft.set_state(said(&op.key)?, None),
            "count" => self.count(said(&op.key)?)?,
            "shared" => self.draft.set_shared(said(&op.key)?, Some(value(op)?)),
            "forget_shared" => self.draft.set_shared(said(&op.key)?, None),
            "annotate" => self.draft.annotate(said(&op.key)?, value(op)?),
            "annotate_get" => {
                let found = self.found(&pointer(&op.from)?);
                self.draft.annotate(said(&op.key)?, or_null(found))
            }
            "annotate_state" => {
                let found = self.draft.state(said(&op.from)?);
                self.draft.annotate(said(&op.key)?, or_null(found))
            }
            "annotate_shared" => {
                let found = self.draft.shared(said(&op.from)?);
                self.draft.annotate(said(&op.key)?, or_null(found))
            }
            "annotate_caller" => {
                let found = self.call.request.caller().field(said(&op.field)?);
                self.draft.annotate(said(&op.key)?, or_null(found))
            }
            "annotate_extension" => {
                let found = slots::get(&mut self.draft, said(&op.slot)?, said(&op.from)?);
                self.draft.annotate(said(&op.key)?, found)
            }
            "extend" => {
                let value = op.value.clone();
                let value = value.ok_or_else(|| failed("extend without a value"))?;
                slots::set(&mut self.draft, said(&op.slot)?, said(&op.at)?, value);
                Ok(())
            }
            "shrink" => {
                slots::remove(&mut self.draft, said(&op.slot)?, said(&op.at)?);
                Ok(())
            }
            "header" => {
                let value = op.value.as_ref().and_then(Value::as_str);
                let value = value.ok_or_else(|| failed("a header without a text"))?;
                self.draft.set_header(said(&op.name)?, value)
            }
            "retry" => {
                let delay = op.ms.ok_or_else(|| failed("a delay without `ms`"))?;
                self.draft.set_retry_ms(delay);
                Ok(())
            }
            "result" => self.draft.set_result(value(op)?),
            "deny_if_state" | "deny_if_shared" => {
                let key = said(&op.key)?;
                let held = match op.op.as_str() {
                    "deny_if_state" => self.draft.state(key),
                    _ => self.draft.shared(key),
                };
                let equals = op.equals.as_ref().map(Json::from_value);
                let same = held.zip(equals).is_some_and(|(a, b)| a.same_value(&b));
                return same.then(|| denied(op)).transpose();
            }
            "ask" => return Ok(Some(Ended::Verdict(Verdict::Ask(approval(op)?)))),
            "deny" => return denied(op).map(Some),
            "deny_without_violation" => {
                return Ok(Some(Ended::Verdict(Verdict::Deny(Violation::denied()))));
            }
            "allow_with_violation" => return Ok(Some(Ended::AllowWith(violation(op)?))),
            "fail" => return Err(failed(said(&op.message)?)),
            "block" => {
                let time = op.ms.ok_or_else(|| failed("a block without `ms`"))?;
                std::thread::sleep(Duration::from_millis(time.into()));
                Ok(())
            }
            "hang" => pending().await,
            // `spin` would never give the thread back.
            unknown => return Err(failed(format!("unknown op {unknown}"))),
        };
        done.map_err(|refusal: Refusal| failed(refusal.to_string()))?;
        Ok(None)
    }

    fn found(&self, at: &Pointer) -> Option<Json> {
        let text = self.call.payload.get(at)?;
        Some(Json::parse(text).expect("a part of a payload is I-JSON"))
    }

    fn count(&mut self, key: &str) -> Result<Result<(), Refusal>, Fault> {
        let before = match self.draft.state(key) {
            None => 0,
            Some(state) => state
                .as_str()
                .trim()
                .parse::<i64>()
                .map_err(|_| failed(format!("the state to count is no integer: {state}")))?,
        };
        let after = Json::from_value(&(before + 1).into());
        Ok(self.draft.set_state(key, Some(after)))
    }
}

fn failed(message: impl Into<String>) -> Fault {
    Fault::new(FaultKind::PluginError, message)
}

fn said(member: &Option<String>) -> Result<&str, Fault> {
    member
        .as_deref()
        .ok_or_else(|| failed("an op lacks a member"))
}

fn pointer(at: &Option<String>) -> Result<Pointer, Fault> {
    Pointer::parse(said(at)?).map_err(|error| failed(error.to_string()))
}

fn value(op: &Op) -> Result<Json, Fault> {
    let value = op.value.as_ref().map(Json::from_value);
    value.ok_or_else(|| failed(format!("{} without a value", op.op)))
}

fn or_null(value: Option<Json>) -> Json {
    value.unwrap_or_else(Json::null)
}

fn denied(op: &Op) -> Result<Ended, Fault> {
    Ok(Ended::Verdict(Verdict::Deny(violation(op)?)))
}

fn violation(op: &Op) -> Result<Violation, Fault> {
    let said = op.violation.clone();
    let said = said.ok_or_else(|| failed(format!("{} without a violation", op.op)))?;
    Ok(Violation {
        plugin: None,
        code: said.code,
        reason: said.reason,
        description: said.description,
        details: said.details.unwrap_or_else(Json::object),
        mcp_error_code: said.mcp_error_code,
        http_status_code: said.http_status_code,
        http_headers: said.http_headers.unwrap_or_default().into_iter().collect(),
    })
}

fn approval(op: &Op) -> Result<Approval, Fault> {
    let asked = op.approval.clone();
    let asked = asked.ok_or_else(|| failed("ask without an approval"))?;
    Ok(Approval {
        reason: asked.reason,
        risk: asked.risk,
        details: asked.details.unwrap_or_else(Json::object),
    })
}
