//! Running a hook's ops.

use serde_json::Value;

use crate::bindings::hookgate::plugin::call::{Context, Document};
use crate::bindings::hookgate::plugin::types::{Failure, Refusal, Verdict};
use crate::op::{self, Op, Store};
use crate::slots;

pub fn run(ops: &[Op], payload: &Document, ctx: &Context) -> Result<Verdict, Failure> {
    Ok(steps(ops, payload, ctx)?.unwrap_or(Verdict::Allow))
}

fn steps(ops: &[Op], payload: &Document, ctx: &Context) -> Result<Option<Verdict>, Failure> {
    for op in ops {
        if let Some(verdict) = step(op, payload, ctx)? {
            return Ok(Some(verdict));
        }
    }
    Ok(None)
}

/// `None`: go on with the next op.
fn step(op: &Op, payload: &Document, ctx: &Context) -> Result<Option<Verdict>, Failure> {
    match op {
        Op::Do { from } => {
            let ops = op::list(payload, from).map_err(Failure::Failed)?;
            return steps(&ops, payload, ctx);
        }
        Op::Set { at, value } => ctx.edit_set(at, value),
        Op::SetAnyway { at, value } => {
            // The refusal is the host's to remember.
            let _ = ctx.edit_set(at, value);
            Ok(())
        }
        Op::Copy { from, at } => {
            let value = payload
                .get(from)
                .ok_or_else(|| Failure::Failed(format!("nothing to copy at {from}")))?;
            ctx.edit_set(at, &value)
        }
        Op::Remove { at } => ctx.edit_remove(at),
        Op::Append { at, value } => ctx.edit_set(&format!("{at}/-"), value),
        Op::Write { store, key, value } => write(*store, ctx, key, value),
        Op::Forget {
            store: Store::Private,
            key,
        } => ctx.remove_state(key),
        Op::Forget {
            store: Store::Shared,
            key,
        } => ctx.remove_shared(key),
        Op::Count { key } => write(
            Store::Private,
            ctx,
            key,
            &count(ctx.state(key))?.to_string(),
        ),
        Op::Annotate { key, value } => ctx.annotate(key, value),
        Op::AnnotateGet { key, from } => ctx.annotate(key, &or_null(payload.get(from))),
        Op::AnnotateStore { store, key, from } => {
            ctx.annotate(key, &or_null(read(*store, ctx, from)))
        }
        Op::AnnotateCaller { key, field } => {
            let value = ctx.caller(field).map_err(refused)?;
            ctx.annotate(key, &or_null(value))
        }
        Op::AnnotateExtension { key, slot, from } => {
            ctx.annotate(key, &or_null(slots::get(ctx, slot, from)))
        }
        Op::Extend { slot, at, value } => {
            slots::set(ctx, slot, at, parse(value)?);
            Ok(())
        }
        Op::Shrink { slot, at } => {
            slots::remove(ctx, slot, at);
            Ok(())
        }
        Op::Header { name, value } => ctx.set_header(name, value),
        Op::Retry { ms } => ctx.set_retry_ms(*ms),
        Op::Result { value } => ctx.set_result(value),
        Op::Ask { approval } => return Ok(Some(Verdict::Ask(approval.clone()))),
        Op::Deny { violation } => return Ok(Some(Verdict::Deny(violation.clone()))),
        Op::DenyIf {
            store,
            key,
            equals,
            violation,
        } => {
            return Ok(match read(*store, ctx, key) {
                Some(value) if same(&parse(&value)?, &parse(equals)?) => {
                    Some(Verdict::Deny(violation.clone()))
                }
                _ => None,
            });
        }
        Op::Fail { message } => return Err(Failure::Failed(message.clone())),
        Op::Spin => loop {
            std::hint::spin_loop();
        },
        Op::Unknown { op } => return Err(Failure::Failed(format!("unknown op {op}"))),
    }
    .map_err(refused)?;
    Ok(None)
}

fn read(store: Store, ctx: &Context, key: &str) -> Option<String> {
    match store {
        Store::Private => ctx.state(key),
        Store::Shared => ctx.shared(key),
    }
}

fn write(store: Store, ctx: &Context, key: &str, value: &str) -> Result<(), Refusal> {
    match store {
        Store::Private => ctx.set_state(key, value),
        Store::Shared => ctx.set_shared(key, value),
    }
}

fn or_null(value: Option<String>) -> String {
    value.unwrap_or_else(|| "null".to_owned())
}

fn refused(Refusal { code, message }: Refusal) -> Failure {
    Failure::Failed(format!("refused ({code}): {message}"))
}

fn count(state: Option<String>) -> Result<i64, Failure> {
    match state {
        None => Ok(1),
        Some(text) => text
            .trim()
            .parse::<i64>()
            .map(|n| n + 1)
            .map_err(|_| Failure::Failed(format!("the state to count is no integer: {text}"))),
    }
}

fn parse(text: &str) -> Result<Value, Failure> {
    serde_json::from_str(text).map_err(|error| Failure::Failed(format!("not JSON: {error}")))
}

/// JSON equality: members in any order, numbers by value, so that 1 equals 1.0.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            a == b || a.as_f64() == b.as_f64() && (a.is_f64() || b.is_f64())
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}
