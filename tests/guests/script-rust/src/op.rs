//! The ops, read once from the config. JSON values stay text, so that numbers reach the payload as they were written.

use std::collections::BTreeMap;

use crate::bindings::hookgate::plugin::call::Document;
use crate::bindings::hookgate::plugin::types::{Approval, Risk, Violation};

/// Which of the two stores an op means.
#[derive(Clone, Copy)]
pub enum Store {
    Private,
    Shared,
}

pub enum Op {
    /// Runs the ops listed in the payload, so that one plugin can be told call by call what to do.
    Do {
        from: String,
    },
    Set {
        at: String,
        value: String,
    },
    /// Goes on if the edit is refused.
    SetAnyway {
        at: String,
        value: String,
    },
    Copy {
        from: String,
        at: String,
    },
    Remove {
        at: String,
    },
    Append {
        at: String,
        value: String,
    },
    Write {
        store: Store,
        key: String,
        value: String,
    },
    Forget {
        store: Store,
        key: String,
    },
    Count {
        key: String,
    },
    Annotate {
        key: String,
        value: String,
    },
    AnnotateGet {
        key: String,
        from: String,
    },
    AnnotateStore {
        store: Store,
        key: String,
        from: String,
    },
    AnnotateCaller {
        key: String,
        field: String,
    },
    AnnotateExtension {
        key: String,
        slot: String,
        from: String,
    },
    /// Sets a value in a side-channel slot; goes on if that is refused.
    Extend {
        slot: String,
        at: String,
        value: String,
    },
    /// Takes something out of a side-channel slot; goes on if that is refused.
    Shrink {
        slot: String,
        at: String,
    },
    Header {
        name: String,
        value: String,
    },
    Retry {
        ms: u32,
    },
    Result {
        value: String,
    },
    Ask {
        approval: Approval,
    },
    Deny {
        violation: Violation,
    },
    DenyIf {
        store: Store,
        key: String,
        equals: String,
        violation: Violation,
    },
    Fail {
        message: String,
    },
    /// Never ends. A component cannot wait otherwise, so `spin` and `hang` are one here.
    Spin,
    /// Fails when it is reached, not at load: an op that never runs hurts nobody.
    Unknown {
        op: String,
    },
}

/// Every hook's ops.
pub fn read(config: &Document) -> Result<BTreeMap<String, Vec<Op>>, String> {
    let mut script = BTreeMap::new();
    for hook in config.keys("/hooks") {
        let ops = list(config, &format!("/hooks/{}", escape(&hook)))
            .map_err(|problem| format!("config: {problem}"))?;
        script.insert(hook, ops);
    }
    Ok(script)
}

/// The ops of the array at a pointer; none where nothing is there.
pub fn list(document: &Document, at: &str) -> Result<Vec<Op>, String> {
    let mut ops = Vec::new();
    loop {
        let at = format!("{at}/{}", ops.len());
        if document.get(&at).is_none() {
            return Ok(ops);
        }
        ops.push(Source { document, at: &at }.op()?);
    }
}

/// A token of an RFC 6901 pointer.
fn escape(token: &str) -> String {
    token.replace('~', "~0").replace('/', "~1")
}

/// One op's object inside a document.
struct Source<'a> {
    document: &'a Document,
    at: &'a str,
}

impl Source<'_> {
    fn op(&self) -> Result<Op, String> {
        let op = self.string("op")?;
        Ok(match op.as_str() {
            "do" => Op::Do {
                from: self.string("from")?,
            },
            "set" => Op::Set {
                at: self.string("at")?,
                value: self.json("value")?,
            },
            "set_anyway" => Op::SetAnyway {
                at: self.string("at")?,
                value: self.json("value")?,
            },
            "copy" => Op::Copy {
                from: self.string("from")?,
                at: self.string("at")?,
            },
            "remove" => Op::Remove {
                at: self.string("at")?,
            },
            "append" => Op::Append {
                at: self.string("at")?,
                value: self.json("value")?,
            },
            "state" => self.write(Store::Private)?,
            "shared" => self.write(Store::Shared)?,
            "forget" => Op::Forget {
                store: Store::Private,
                key: self.string("key")?,
            },
            "forget_shared" => Op::Forget {
                store: Store::Shared,
                key: self.string("key")?,
            },
            "count" => Op::Count {
                key: self.string("key")?,
            },
            "annotate" => Op::Annotate {
                key: self.string("key")?,
                value: self.json("value")?,
            },
            "annotate_get" => Op::AnnotateGet {
                key: self.string("key")?,
                from: self.string("from")?,
            },
            "annotate_state" => self.annotate_store(Store::Private)?,
            "annotate_shared" => self.annotate_store(Store::Shared)?,
            "annotate_caller" => Op::AnnotateCaller {
                key: self.string("key")?,
                field: self.string("field")?,
            },
            "annotate_extension" => Op::AnnotateExtension {
                key: self.string("key")?,
                slot: self.string("slot")?,
                from: self.string("from")?,
            },
            "extend" => Op::Extend {
                slot: self.string("slot")?,
                at: self.string("at")?,
                value: self.json("value")?,
            },
            "shrink" => Op::Shrink {
                slot: self.string("slot")?,
                at: self.string("at")?,
            },
            "header" => Op::Header {
                name: self.string("name")?,
                value: self.string("value")?,
            },
            "retry" => Op::Retry {
                ms: self.number("ms")?,
            },
            "result" => Op::Result {
                value: self.json("value")?,
            },
            "ask" => Op::Ask {
                approval: self.approval()?,
            },
            "deny" => Op::Deny {
                violation: self.violation()?,
            },
            "deny_if_state" => self.deny_if(Store::Private)?,
            "deny_if_shared" => self.deny_if(Store::Shared)?,
            "fail" => Op::Fail {
                message: self.string("message")?,
            },
            "spin" | "hang" => Op::Spin,
            _ => Op::Unknown { op },
        })
    }

    fn write(&self, store: Store) -> Result<Op, String> {
        Ok(Op::Write {
            store,
            key: self.string("key")?,
            value: self.json("value")?,
        })
    }

    fn annotate_store(&self, store: Store) -> Result<Op, String> {
        Ok(Op::AnnotateStore {
            store,
            key: self.string("key")?,
            from: self.string("from")?,
        })
    }

    fn deny_if(&self, store: Store) -> Result<Op, String> {
        Ok(Op::DenyIf {
            store,
            key: self.string("key")?,
            equals: self.json("equals")?,
            violation: self.violation()?,
        })
    }

    fn approval(&self) -> Result<Approval, String> {
        let risk = self.string("approval/risk")?;
        Ok(Approval {
            reason: self.string("approval/reason")?,
            risk: match risk.as_str() {
                "low" => Risk::Low,
                "medium" => Risk::Medium,
                "high" => Risk::High,
                "critical" => Risk::Critical,
                other => return Err(format!("no such risk: {other}")),
            },
            details: self
                .optional("approval/details")
                .unwrap_or_else(|| "{}".to_owned()),
        })
    }

    fn violation(&self) -> Result<Violation, String> {
        let headers = self.document.keys(&self.pointer("violation/http_headers"));
        Ok(Violation {
            code: self.string("violation/code")?,
            reason: self.string("violation/reason")?,
            description: self.string("violation/description")?,
            details: self
                .optional("violation/details")
                .unwrap_or_else(|| "{}".to_owned()),
            mcp_error_code: self.optional_number("violation/mcp_error_code")?,
            http_status_code: self.optional_number("violation/http_status_code")?,
            http_headers: headers
                .into_iter()
                .map(|name| {
                    let value =
                        self.string(&format!("violation/http_headers/{}", escape(&name)))?;
                    Ok((name, value))
                })
                .collect::<Result<_, String>>()?,
        })
    }

    fn pointer(&self, path: &str) -> String {
        format!("{}/{path}", self.at)
    }

    fn string(&self, path: &str) -> Result<String, String> {
        let at = self.pointer(path);
        self.document
            .get_string(&at)
            .ok_or_else(|| format!("no string at {at}"))
    }

    fn json(&self, path: &str) -> Result<String, String> {
        let at = self.pointer(path);
        self.document
            .get(&at)
            .ok_or_else(|| format!("no value at {at}"))
    }

    /// `None` for what is not there and for null.
    fn optional(&self, path: &str) -> Option<String> {
        self.document
            .get(&self.pointer(path))
            .filter(|value| value.trim() != "null")
    }

    fn optional_number<T: std::str::FromStr>(&self, path: &str) -> Result<Option<T>, String> {
        self.optional(path)
            .map(|value| {
                value
                    .trim()
                    .parse()
                    .map_err(|_| format!("no number of this range at {}", self.pointer(path)))
            })
            .transpose()
    }

    fn number<T: std::str::FromStr>(&self, path: &str) -> Result<T, String> {
        self.optional_number(path)?
            .ok_or_else(|| format!("no number at {}", self.pointer(path)))
    }
}
