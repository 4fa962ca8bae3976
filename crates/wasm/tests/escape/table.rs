//! How a case is put and judged.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hookgate_core::config::{Config, PluginKind, PluginSpec};
use hookgate_core::{
    Decision, Engine, FaultKind, FaultReport, Host, Json, Outcome, Phase, Record, RecordSink,
    RefusalCode, Refused, Request,
};
use hookgate_vectors::guests;
use hookgate_wasm::WasmHost;
use serde_json::{Value, json};

use crate::hand::{BEHAVE, Hand, MISBEHAVE};

/// Time enough for a busy machine, for guests that end by themselves.
pub const PATIENT: Duration = Duration::from_secs(60);
/// For guests that only a deadline ends. The good call after them must fit in it.
pub const SHORT: Duration = Duration::from_millis(1500);

/// One row of a table.
pub struct Case {
    /// What is tried.
    pub what: &'static str,
    /// Who tries.
    pub guest: Guest,
    /// How it must end.
    pub ends: Ends,
}

/// Who tries.
pub enum Guest {
    /// A component written as text; asked about the tool [`MISBEHAVE`].
    Hand(Hand),
    /// The Rust component that does what a word says, with more arguments.
    Word(&'static str, Value),
}

/// How a case must end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ends {
    /// In this fault.
    Fault(FaultKind, Option<Phase>),
    /// The guest is told no, may go on, and the record counts it.
    Refused(&'static str, RefusalCode, u32),
}

/// A fault that is no timeout.
pub const fn fault(kind: FaultKind) -> Ends {
    Ends::Fault(kind, None)
}

/// A timeout in a phase.
pub const fn timeout(phase: Phase) -> Ends {
    Ends::Fault(FaultKind::Timeout, Some(phase))
}

/// A row whose component is written as text.
pub fn hand(what: &'static str, hand: Hand, ends: Ends) -> Case {
    Case {
        what,
        guest: Guest::Hand(hand),
        ends,
    }
}

/// A row for the component that does what a word says.
pub fn word(word: &'static str, more: Value, ends: Ends) -> Case {
    Case {
        what: word,
        guest: Guest::Word(word, more),
        ends,
    }
}

/// Keeps what records say.
#[derive(Default)]
pub struct Kept(Mutex<Vec<Record>>);

impl RecordSink for Kept {
    fn write(&self, record: Record) {
        self.0.lock().expect("no test panics in it").push(record);
    }
}

impl Kept {
    /// What the suspect was refused in the last call.
    pub fn refused(&self) -> Vec<Refused> {
        let records = self.0.lock().expect("no test panics in it");
        let last = records.last().expect("a call was made");
        last.plugins[0].refused.clone()
    }
}

/// An engine with a suspect at one hook and a neighbour at another.
pub struct Bench {
    pub engine: Engine,
    pub kept: Arc<Kept>,
}

impl Bench {
    /// Loads both. A suspect that does not load is left out.
    pub async fn new(suspect: PluginSpec) -> Self {
        let host: Arc<dyn Host> = Arc::new(WasmHost::new().expect("wasmtime starts"));
        Self::on(host, suspect).await
    }

    /// The same with a host that has loaded others.
    pub async fn on(host: Arc<dyn Host>, suspect: PluginSpec) -> Self {
        let component = guests::component("deny-list-rust");
        let mut neighbour = PluginSpec::new("neighbour", PluginKind::Wasm { component });
        neighbour.hooks = vec!["tool_post_invoke".into()];
        neighbour.limits.timeout = PATIENT;
        neighbour.config = Json::from_value(&json!({ "words": ["sudo"] }));
        let mut config = Config::default();
        config.plugins = vec![suspect, neighbour];
        config.skip_unloadable = true;
        let kept = Arc::new(Kept::default());
        let engine = Engine::builder()
            .config(config)
            .host(host)
            .records(kept.clone())
            .build()
            .await
            .unwrap_or_else(|report| panic!("{report}"));
        Self { engine, kept }
    }

    /// Asks the suspect about a tool with arguments.
    pub async fn ask(&self, tool: &str, args: Value) -> Outcome {
        let payload = json!({ "name": tool, "args": args });
        self.invoke("tool_pre_invoke", payload).await
    }

    /// Asks the Rust component to do what a word says.
    pub async fn word(&self, word: &str, more: &Value) -> Outcome {
        let mut args = json!({ "do": word });
        for (name, value) in more.as_object().into_iter().flatten() {
            args[name] = value.clone();
        }
        self.ask(BEHAVE, args).await
    }

    async fn invoke(&self, hook: &str, payload: Value) -> Outcome {
        self.engine
            .invoke(hook, &payload, &Request::default())
            .await
            .expect("a good payload")
    }

    /// The neighbour still knows good from bad.
    pub async fn neighbour_answers(&self, after: &str) {
        for (result, expected) in [("ls", Decision::Allow), ("sudo ls", Decision::Deny)] {
            let payload = json!({ "name": "sh", "result": result });
            let outcome = self.invoke("tool_post_invoke", payload).await;
            assert!(
                outcome.faults.is_empty(),
                "after {after}: {:?}",
                outcome.faults
            );
            assert_eq!(outcome.decision, expected, "after {after}");
            let code = outcome.violation.map(|violation| violation.code);
            assert_eq!(code.is_some(), expected == Decision::Deny, "after {after}");
            assert!(code.is_none_or(|code| code == "DENY_WORD"), "after {after}");
        }
    }

    /// The suspect, asked for nothing bad, allows.
    pub async fn suspect_answers(&self, after: &str) {
        let outcome = self.word("nothing", &Value::Null).await;
        assert!(
            outcome.faults.is_empty(),
            "after {after}: {:?}",
            outcome.faults
        );
        assert_eq!(outcome.decision, Decision::Allow, "after {after}");
    }
}

/// The entry of a suspect.
pub fn suspect(component: PathBuf, limit: Duration) -> PluginSpec {
    let mut spec = PluginSpec::new("suspect", PluginKind::Wasm { component });
    spec.hooks = vec!["tool_pre_invoke".into()];
    spec.limits.timeout = limit;
    spec
}

/// A component in a file that goes when this is dropped.
pub struct Written(pub PathBuf);

impl Written {
    pub fn new(name: &str, bytes: &[u8]) -> Self {
        let name: String = name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("escape-{name}-{}.wasm", std::process::id()));
        std::fs::write(&path, bytes).expect("a file for the test");
        Self(path)
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.0));
    }
}

/// Puts every row, under `change`d settings.
pub async fn run(cases: Vec<Case>, limit: Duration, change: impl Fn(&mut PluginSpec)) {
    let host: Arc<dyn Host> = Arc::new(WasmHost::new().expect("wasmtime starts"));
    // Holds the guests that many rows use, so that each is compiled once.
    let mut holder = suspect(guests::component("hostile"), PATIENT);
    change(&mut holder);
    let holder = Bench::on(Arc::clone(&host), holder).await;
    for case in cases {
        let what = case.what;
        let (written, component) = match &case.guest {
            Guest::Hand(hand) => {
                let written = Written::new(what, &hand.bytes());
                let path = written.0.clone();
                (Some(written), path)
            }
            Guest::Word(..) => (None, guests::component("hostile")),
        };
        let mut spec = suspect(component, limit);
        change(&mut spec);
        let bench = Bench::on(Arc::clone(&host), spec).await;
        assert!(
            bench.engine.skipped().is_empty(),
            "{what}: {:?}",
            bench.engine.skipped()
        );
        let outcome = match &case.guest {
            Guest::Hand(_) => bench.ask(MISBEHAVE, json!({ "list": ["a", "b"] })).await,
            Guest::Word(word, more) => bench.word(word, more).await,
        };
        judge(what, case.ends, &outcome, &bench.kept);
        bench.neighbour_answers(what).await;
        bench.suspect_answers(what).await;
        bench.engine.shutdown().await;
        drop(written);
    }
    holder.engine.shutdown().await;
}

/// Whether a call ended as its row says.
pub fn judge(what: &str, ends: Ends, outcome: &Outcome, kept: &Kept) {
    let faults: Vec<_> = outcome.faults.iter().map(kind).collect();
    match ends {
        Ends::Fault(kind, phase) => {
            assert_eq!(faults, [(kind, phase)], "{what}: {:?}", outcome.faults);
            assert_eq!(
                outcome.decision,
                Decision::Deny,
                "{what}: a fault is never an allow"
            );
            let code = outcome.violation.as_ref().map(|violation| &*violation.code);
            assert_eq!(code, Some("plugin_fault"), "{what}");
        }
        Ends::Refused(thing, code, count) => {
            assert_eq!(faults, [], "{what}: {:?}", outcome.faults);
            let expected = Refused {
                what: thing,
                code,
                count,
            };
            assert_eq!(kept.refused(), [expected], "{what}");
        }
    }
}

fn kind(fault: &FaultReport) -> (FaultKind, Option<Phase>) {
    (fault.kind, fault.phase)
}
