//! An engine with the component that reaches outside, names that lead where a test says, servers on
//! loopback, and the records of what was refused.

#![allow(dead_code)]

pub mod servers;

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use hookgate_core::config::{Config, HostPattern, NetworkGrant, PluginKind, PluginSpec};
use hookgate_core::{Decision, Engine, LoadReport, Outcome, Record, RecordSink, Request};
use hookgate_vectors::guests;
use hookgate_wasm::{Resolve, WasmHost};
use serde_json::{Value, json};

/// Names and the answers each look-up of them gets in turn; the last one stays.
#[derive(Clone, Default)]
pub struct Names {
    answers: Arc<Mutex<HashMap<String, VecDeque<Vec<IpAddr>>>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Names {
    pub fn add(self, name: &str, answers: &[&[&str]]) -> Self {
        let parse = |addresses: &&[&str]| {
            let addresses = addresses.iter();
            addresses
                .map(|text| text.parse().expect("an address"))
                .collect()
        };
        let answers = answers.iter().map(parse).collect();
        self.answers
            .lock()
            .expect("unpoisoned")
            .insert(name.into(), answers);
        self
    }

    /// The names that were looked up, in order.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("unpoisoned").clone()
    }
}

impl Resolve for Names {
    fn resolve(&self, name: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        self.asked.lock().expect("unpoisoned").push(name.to_owned());
        let mut answers = self.answers.lock().expect("unpoisoned");
        let found = answers.get_mut(name).and_then(|answers| {
            if answers.len() > 1 {
                answers.pop_front()
            } else {
                answers.front().cloned()
            }
        });
        let found = found.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound));
        Box::pin(async move { found })
    }
}

/// Keeps records.
#[derive(Clone, Default)]
pub struct Records(Arc<Mutex<Vec<Value>>>);

impl RecordSink for Records {
    fn write(&self, record: Record) {
        let record = serde_json::to_value(record).expect("a record is JSON");
        self.0.lock().expect("unpoisoned").push(record);
    }
}

impl Records {
    /// Everything so far, as text.
    pub fn text(&self) -> String {
        json!(*self.0.lock().expect("unpoisoned")).to_string()
    }

    /// What the last call was refused.
    pub fn refused(&self) -> Value {
        let records = self.0.lock().expect("unpoisoned");
        records.last().expect("a call was made")["plugins"][0]["refused"].clone()
    }
}

/// A refusal as records list it.
pub fn refused(what: &str, code: &str, count: u32) -> Value {
    json!([{ "what": what, "code": code, "count": count }])
}

/// An engine, and what a test looks at besides its answers.
pub struct Plugin {
    pub engine: Engine,
    pub names: Names,
    pub records: Records,
}

/// What a plugin of a test is made from.
pub struct Setup {
    pub spec: PluginSpec,
    names: Names,
    authorities: Vec<Vec<u8>>,
}

/// The component with a grant it never uses, since it imports `wasi:http` and so needs one.
pub fn net_client() -> Setup {
    setup("net-client").grant("unused.example", 1)
}

pub fn setup(guest: &str) -> Setup {
    let component = guests::component(guest);
    let mut spec = PluginSpec::new("guest", PluginKind::Wasm { component });
    spec.hooks = vec!["tool_pre_invoke".into()];
    spec.limits.timeout = Duration::from_secs(30);
    Setup {
        spec,
        names: Names::default(),
        authorities: Vec::new(),
    }
}

impl Setup {
    pub fn grant(mut self, host: &str, port: u16) -> Self {
        let host = HostPattern::parse(host).expect("a host");
        let grant = NetworkGrant { host, port };
        self.spec.permissions.network.push(grant);
        self
    }

    pub fn name(mut self, name: &str, answers: &[&[&str]]) -> Self {
        self.names = self.names.add(name, answers);
        self
    }

    pub fn trust(mut self, authority: Vec<u8>) -> Self {
        self.authorities.push(authority);
        self
    }

    pub fn with(mut self, change: impl FnOnce(&mut PluginSpec)) -> Self {
        change(&mut self.spec);
        self
    }

    /// What `init` does.
    pub fn init(self, order: Value) -> Self {
        self.with(|spec| spec.config = hookgate_core::Json::from_value(&json!({ "init": order })))
    }

    pub async fn load(self) -> Result<Plugin, LoadReport> {
        let mut config = Config::default();
        config.plugins.push(self.spec);
        let (names, records) = (self.names, Records::default());
        let host = WasmHost::new()
            .expect("wasmtime starts")
            .with_network(Arc::new(names.clone()), self.authorities);
        let engine = Engine::builder()
            .config(config)
            .host(Arc::new(host))
            .records(Arc::new(records.clone()))
            .build()
            .await?;
        Ok(Plugin {
            engine,
            names,
            records,
        })
    }

    pub async fn plugin(self) -> Plugin {
        self.load()
            .await
            .unwrap_or_else(|report| panic!("{report}"))
    }
}

impl Plugin {
    /// One call; its arguments are the order.
    pub async fn invoke(&self, order: Value) -> Outcome {
        let payload = json!({ "name": "probe", "args": order });
        self.engine
            .invoke("tool_pre_invoke", &payload, &Request::with_id("r1"))
            .await
            .expect("the payload is good")
    }

    /// What came of the order.
    pub async fn ask(&self, order: Value) -> Value {
        mark(&self.invoke(order).await, "result")
    }

    /// What `init` was told.
    pub async fn init(&self) -> Value {
        mark(&self.invoke(json!({})).await, "init")
    }

    /// An order that is refused: an error to the guest, so many counted, and a good call afterwards.
    pub async fn refuses(&self, order: Value, count: u32) -> Value {
        let result = self.ask(order.clone()).await;
        assert!(result["error"].is_string(), "{order}: {result}");
        assert_eq!(
            self.records.refused(),
            refused("network", "not-granted", count),
            "{order}: {result}"
        );
        self.answers().await;
        result["error"].clone()
    }

    /// The plugin answers as if nothing had happened.
    pub async fn answers(&self) {
        let outcome = self.invoke(json!({})).await;
        assert_eq!(outcome.decision, Decision::Allow, "{outcome:?}");
        assert!(outcome.faults.is_empty(), "{outcome:?}");
    }
}

/// A mark the guest left.
pub fn mark(outcome: &Outcome, key: &str) -> Value {
    let mark = outcome.effects.metadata.get(key);
    mark.unwrap_or_else(|| panic!("no mark {key} in {outcome:?}"))
        .to_value()
}
