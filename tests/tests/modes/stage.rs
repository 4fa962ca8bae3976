//! An engine of `script` plugins whose records the test hears of as they are written.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use futures::future::BoxFuture;
use hookgate::config::{Config, PluginSpec};
use hookgate::{
    Engine, EngineBuilder, Host, LoadError, Outcome, Plugin, PluginRecord, PythonHost,
    PythonHostOptions, Record, RecordSink, Request, WasmHost,
};
use hookgate_vectors::guests::environments;
use hookgate_vectors::{Kind, PluginEntry, in_process};
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

pub const HOOK: &str = "tool_pre_invoke";
/// Nothing here takes this long, and whatever is cancelled would take a minute.
pub const SOON: Duration = Duration::from_secs(30);

/// The engine, and what it records.
pub struct Stage {
    pub engine: Engine,
    records: UnboundedReceiver<Record>,
    /// The plugins a host has loaded, in config order; they outlive the engine's shutdown.
    pub loaded: Arc<Keeping>,
}

/// Passes records on.
struct Wire(UnboundedSender<Record>);

impl RecordSink for Wire {
    fn write(&self, record: Record) {
        self.0.send(record).expect("the test still listens");
    }
}

/// A host that keeps what it has loaded.
pub struct Keeping {
    real: Arc<dyn Host>,
    kept: Mutex<Vec<Arc<dyn Plugin>>>,
}

impl Keeping {
    /// Answers that came late, over all plugins.
    pub fn late_answers(&self) -> u64 {
        let kept = self.kept.lock().expect("no test panics in it");
        kept.iter().map(|one| one.describe().late_answers).sum()
    }
}

impl Host for Keeping {
    fn kind(&self) -> &'static str {
        self.real.kind()
    }

    fn load(&self, spec: PluginSpec) -> BoxFuture<'_, Result<Arc<dyn Plugin>, LoadError>> {
        Box::pin(async move {
            let plugin = self.real.load(spec).await?;
            let mut kept = self.kept.lock().expect("no test panics in it");
            kept.push(Arc::clone(&plugin));
            Ok(plugin)
        })
    }
}

fn host(kind: Kind, cancel_grace: Option<Duration>) -> Arc<dyn Host> {
    // One for all tests: a component is compiled once.
    static COMPONENTS: OnceLock<Arc<dyn Host>> = OnceLock::new();
    match kind {
        Kind::Rust | Kind::CompiledPython => {
            let host = COMPONENTS
                .get_or_init(|| Arc::new(WasmHost::new().expect("wasmtime starts")) as Arc<_>);
            Arc::clone(host)
        }
        Kind::Legacy | Kind::InProcess => {
            let mut options = PythonHostOptions::new(environments());
            if let Some(cancel_grace) = cancel_grace {
                options.supervision.cancel_grace = cancel_grace;
            }
            Arc::new(PythonHost::new(options))
        }
    }
}

/// A `script` plugin that does what stands in the payload under `/args/<name>`.
pub fn plugin(name: &str, mode: &str, more: Value) -> PluginEntry {
    let hooks = json!({ HOOK: [{ "op": "do", "from": format!("/args/{name}") }] });
    let mut entry = json!({
        "name": name, "policy": "script", "mode": mode, "hooks": [HOOK], "config": { "hooks": hooks },
    });
    let members = entry.as_object_mut().expect("an object");
    members.extend(more.as_object().cloned().unwrap_or_default());
    serde_json::from_value(entry).expect("an entry")
}

impl Stage {
    pub async fn new(kind: Kind, plugins: &[PluginEntry]) -> Self {
        Self::with_grace(kind, plugins, None).await
    }

    /// With so much time for a worker to let go of a cancelled call before it is ended.
    pub async fn with_grace(
        kind: Kind,
        plugins: &[PluginEntry],
        cancel_grace: Option<Duration>,
    ) -> Self {
        let (wire, records) = unbounded_channel();
        let loaded = Arc::new(Keeping {
            real: host(kind, cancel_grace),
            kept: Mutex::default(),
        });
        let mut builder = Engine::builder().records(Arc::new(Wire(wire)));
        if kind == Kind::InProcess {
            let plugins = plugins.iter();
            let plugins = plugins.map(|said| in_process::entry(said, in_process::policy(said)));
            builder = plugins.fold(builder, EngineBuilder::in_process);
        } else {
            let mut config = Config::default();
            config.plugins = plugins.iter().map(|entry| kind.spec(entry)).collect();
            builder = builder
                .config(config)
                .host(Arc::clone(&loaded) as Arc<dyn Host>);
        }
        let engine = builder.build().await;
        Self {
            engine: engine.unwrap_or_else(|report| panic!("{report}")),
            records,
            loaded,
        }
    }

    /// Asks about `{"q": "given"}`, each named plugin doing what is said of it.
    pub async fn ask(&self, does: Value) -> Outcome {
        self.ask_in("a", does).await
    }

    /// The same as a part of a request.
    pub async fn ask_in(&self, request: &str, does: Value) -> Outcome {
        let mut args = json!({ "q": "given" });
        let members = args.as_object_mut().expect("an object");
        members.extend(does.as_object().cloned().expect("ops by plugin"));
        let payload = json!({ "name": "note", "args": args });
        let request = Request::with_id(request);
        let outcome = self.engine.invoke(HOOK, &payload, &request).await;
        outcome.expect("a good payload")
    }

    /// The next record.
    pub async fn record(&mut self) -> Record {
        let next = tokio::time::timeout(SOON, self.records.recv()).await;
        next.expect("a record soon").expect("the engine is there")
    }

    /// The record of an outcome, and behind it the one of its only background call.
    pub async fn told(&mut self, outcome: &Outcome) -> (Record, PluginRecord) {
        let first = self.record().await;
        assert_eq!(
            (Some(&first.id), &first.of),
            (outcome.record.as_ref(), &None)
        );
        let mut second = self.record().await;
        assert_eq!(second.of.as_ref(), Some(&first.id));
        assert_eq!(second.plugins.len(), 1, "{second:?}");
        (first, second.plugins.remove(0))
    }

    /// Ends the engine, and answers the records nobody has taken.
    pub async fn shutdown(&mut self) -> Vec<Record> {
        let ended = tokio::time::timeout(SOON, self.engine.shutdown()).await;
        ended.expect("the shutdown ends soon");
        let mut left = Vec::new();
        while let Ok(record) = self.records.try_recv() {
            left.push(record);
        }
        left
    }
}

/// A plugin's part in a record.
pub fn part<'a>(record: &'a Record, plugin: &str) -> &'a PluginRecord {
    let part = record.plugins.iter().find(|part| *part.name == *plugin);
    part.unwrap_or_else(|| panic!("{plugin} is not in {record:?}"))
}
