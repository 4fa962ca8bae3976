//! Plugins, hosts and sinks made of closures, and the short forms the tests are written in.
#![allow(dead_code, reason = "every test binary uses a part of it")]

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use hookgate_core::config::{Config, PluginKind, PluginSpec};
use hookgate_core::{
    Answer, Approval, Document, EditRules, Edits, Engine, Fault, FaultKind, HookCall, Host,
    InProcess, Json, LoadError, Outcome, Plugin, PluginInfo, Pointer, Record, RecordSink, Request,
    Risk, Shape, Violation,
};
use tokio::sync::{Notify, Semaphore};

/// The hook most tests ask about.
pub const HOOK: &str = "tool_pre_invoke";
/// A payload of [`HOOK`].
pub const PAYLOAD: &str = r#"{"name":"sh","args":{"cmd":"ls"}}"#;

/// What a plugin's call gives.
pub type Answered = Result<Answer, Fault>;

type Act = Box<dyn Fn(HookCall) -> BoxFuture<'static, Answered> + Send + Sync>;

/// A plugin that does what a closure says, and counts.
pub struct Scripted {
    act: Act,
    keeps_deadline: bool,
    calls: AtomicUsize,
    ended: AtomicUsize,
}

impl Scripted {
    /// How often it was asked.
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    /// How often it was ended.
    pub fn ended(&self) -> usize {
        self.ended.load(Ordering::SeqCst)
    }
}

impl Plugin for Scripted {
    fn describe(&self) -> PluginInfo {
        PluginInfo {
            kind: "in-process",
            hooks: vec![HOOK.into()],
            ..PluginInfo::default()
        }
    }

    fn call(&self, call: HookCall) -> BoxFuture<'_, Answered> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        (self.act)(call)
    }

    fn shutdown(&self) -> BoxFuture<'_, ()> {
        self.ended.fetch_add(1, Ordering::SeqCst);
        Box::pin(async {})
    }

    fn keeps_deadline(&self) -> bool {
        self.keeps_deadline
    }
}

/// A plugin that answers at once, from inside `call`.
pub fn plugin(act: impl Fn(HookCall) -> Answered + Send + Sync + 'static) -> Arc<Scripted> {
    waiting(false, move |call| {
        let answered = act(call);
        async move { answered }.boxed()
    })
}

/// A plugin whose answer is awaited.
pub fn waiting(
    keeps_deadline: bool,
    act: impl Fn(HookCall) -> BoxFuture<'static, Answered> + Send + Sync + 'static,
) -> Arc<Scripted> {
    Arc::new(Scripted {
        act: Box::new(act),
        keeps_deadline,
        calls: AtomicUsize::new(0),
        ended: AtomicUsize::new(0),
    })
}

/// Allows everything.
pub fn allowing() -> Arc<Scripted> {
    plugin(|call| Ok(call.draft().allow()))
}

/// Denies everything with `code`.
pub fn denying(code: &'static str) -> Arc<Scripted> {
    plugin(move |call| Ok(call.draft().deny(Violation::new(code, "no"))))
}

/// Asks about everything for `reason`.
pub fn asking(reason: &'static str) -> Arc<Scripted> {
    plugin(move |call| Ok(call.draft().ask(approval(reason))))
}

/// Never answers but with a fault.
pub fn faulting(kind: FaultKind) -> Arc<Scripted> {
    plugin(move |_| Err(Fault::new(kind, "broken")))
}

/// Sets `/args/cmd` to the last text with `tag` behind it.
pub fn tagging(tag: &'static str) -> Arc<Scripted> {
    plugin(move |call| {
        let mut draft = call.draft();
        let cmd = call
            .payload
            .get_string(&at("/args/cmd"))
            .unwrap_or_default();
        let value = Json::string(&format!("{cmd}{tag}"));
        draft.set(&at("/args/cmd"), value).expect("a member");
        Ok(draft.allow())
    })
}

/// An approval of medium risk.
pub fn approval(reason: &str) -> Approval {
    Approval {
        reason: reason.into(),
        risk: Risk::Medium,
        details: Json::object(),
    }
}

/// A place where calls wait until a test lets them go on.
#[derive(Default)]
pub struct Gate {
    arrived: Notify,
    open: Notify,
}

impl Gate {
    /// Says that somebody is here, and waits.
    pub async fn pass(&self) {
        self.arrived.notify_one();
        self.open.notified().await;
    }

    /// Waits until somebody is here.
    pub async fn arrival(&self) {
        self.arrived.notified().await;
    }

    /// Lets one go on.
    pub fn open(&self) {
        self.open.notify_one();
    }
}

/// Waits at the gate, then allows.
pub fn gated(gate: &Arc<Gate>) -> Arc<Scripted> {
    let gate = Arc::clone(gate);
    waiting(true, move |call| {
        let gate = Arc::clone(&gate);
        Box::pin(async move {
            gate.pass().await;
            Ok(call.draft().allow())
        })
    })
}

/// A host of kind `wasm` that hands out prepared plugins by the name of their entry.
pub struct Shelf {
    plugins: Mutex<HashMap<String, Arc<Scripted>>>,
    /// A load takes a permit, if the test wants to hold it.
    pub permits: Semaphore,
    /// Says that a load has begun.
    pub loading: Notify,
}

impl Shelf {
    /// An empty one that does not make anybody wait.
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            plugins: Mutex::default(),
            permits: Semaphore::new(Semaphore::MAX_PERMITS),
            loading: Notify::new(),
        })
    }

    /// Puts a plugin there.
    pub fn put(&self, name: &str, plugin: &Arc<Scripted>) {
        let mut plugins = self.plugins.lock().expect("no test panics in it");
        plugins.insert(name.into(), Arc::clone(plugin));
    }
}

impl Host for Shelf {
    fn kind(&self) -> &'static str {
        "wasm"
    }

    fn load(&self, spec: PluginSpec) -> BoxFuture<'_, Result<Arc<dyn Plugin>, LoadError>> {
        Box::pin(async move {
            self.loading.notify_one();
            let _permit = self.permits.acquire().await;
            let plugins = self.plugins.lock().expect("no test panics in it");
            match plugins.get(&spec.name) {
                Some(plugin) => Ok(Arc::clone(plugin) as Arc<dyn Plugin>),
                None => Err(LoadError::new("no such component").hint("put one there")),
            }
        })
    }
}

/// A configuration with a `wasm` entry on [`HOOK`] for each name.
pub fn config(names: &[&str]) -> Config {
    let mut config = Config::default();
    config.plugins = names.iter().map(|name| entry(name)).collect();
    config
}

/// One `wasm` entry on [`HOOK`].
pub fn entry(name: &str) -> PluginSpec {
    let component = "gate.wasm".into();
    let mut spec = PluginSpec::new(name, PluginKind::Wasm { component });
    spec.hooks = vec![HOOK.into()];
    spec
}

/// Makes sure that a listener of one thread hears what that thread logs. While there is only one,
/// `tracing` lets whichever thread passes a line first decide for all whether it is told at all.
pub fn hear_logs() {
    static ANOTHER: LazyLock<tracing::Dispatch> =
        LazyLock::new(|| tracing::Dispatch::new(tracing::subscriber::NoSubscriber::new()));
    LazyLock::force(&ANOTHER);
}

/// What an event that must come may take; only a failing test waits this long.
pub const LONG: Duration = Duration::from_secs(100);

/// Waits for what must come.
pub async fn soon<F: Future>(event: F) -> F::Output {
    let event = tokio::time::timeout(LONG, event).await;
    event.expect("it comes")
}

/// Keeps decision records.
#[derive(Default)]
pub struct Kept {
    records: Mutex<Vec<Record>>,
    written: Notify,
}

impl Kept {
    /// The records so far.
    pub fn take(&self) -> Vec<Record> {
        std::mem::take(&mut *self.records.lock().expect("no test panics in it"))
    }

    /// Waits until there are so many records, and takes them.
    pub async fn wait(&self, count: usize) -> Vec<Record> {
        loop {
            let written = self.written.notified();
            if self.records.lock().expect("no test panics in it").len() >= count {
                return self.take();
            }
            soon(written).await;
        }
    }
}

impl RecordSink for Kept {
    fn write(&self, record: Record) {
        let mut records = self.records.lock().expect("no test panics in it");
        records.push(record);
        drop(records);
        self.written.notify_waiters();
    }
}

/// A plugin with a name and a timeout no machine is too slow for.
pub fn named(name: impl Into<String>, plugin: Arc<dyn Plugin>) -> InProcess {
    InProcess::new(name, plugin).timeout(Duration::from_secs(3_600))
}

/// An engine of in-process plugins.
pub async fn engine(plugins: impl IntoIterator<Item = InProcess>) -> Engine {
    let builder = plugins
        .into_iter()
        .fold(Engine::builder(), hookgate_core::EngineBuilder::in_process);
    builder.build().await.expect("the names differ")
}

/// Asks about [`PAYLOAD`].
pub async fn ask(engine: &Engine) -> Outcome {
    ask_about(engine, PAYLOAD).await
}

/// Asks about a payload.
pub async fn ask_about(engine: &Engine, payload: &str) -> Outcome {
    let request = Request::default();
    let outcome = engine.invoke(HOOK, payload, &request).await;
    outcome.expect("the payload passes the door")
}

/// The final payload's text.
pub fn text(outcome: &Outcome) -> &str {
    outcome.payload.as_ref().expect("not denied").as_str()
}

/// A pointer.
pub fn at(pointer: &str) -> Pointer {
    Pointer::parse(pointer).expect("a pointer")
}

/// A value.
pub fn json(text: &str) -> Json {
    Json::parse(text).expect("I-JSON")
}

/// A document.
pub fn document(text: &str) -> Document {
    Document::new(json(text))
}

/// Edits of a payload of `hook`, without bounds.
pub fn edits_of(hook: &str, text: &str) -> Edits {
    let rules = EditRules {
        shape: Shape::of(hook),
        headers: true,
        max_bytes: u64::MAX,
    };
    Edits::new(document(text), rules)
}

/// Edits of an object without a shape.
pub fn edits(text: &str) -> Edits {
    edits_of("any", text)
}
