//! Who plays in these tests: engines with records, plugins that wait, ways to see a future go.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::FutureExt as _;
use hookgate_core::config::Mode;
use hookgate_core::{Engine, HookCall, InProcess, Outcome, Record, Request};
use tokio::sync::{mpsc, oneshot};

use crate::support::{Answered, HOOK, Kept, PAYLOAD, Scripted, soon, waiting};

/// Every mode in which a plugin runs.
pub const MODES: [Mode; 5] = [
    Mode::Sequential,
    Mode::Transform,
    Mode::Audit,
    Mode::Concurrent,
    Mode::FireAndForget,
];

/// An engine of in-process plugins, and its records.
pub async fn recorded(plugins: impl IntoIterator<Item = InProcess>) -> (Engine, Arc<Kept>) {
    let records = Arc::new(Kept::default());
    let builder = plugins
        .into_iter()
        .fold(Engine::builder(), |builder, one| builder.in_process(one));
    let builder = builder.records(records.clone());
    (builder.build().await.expect("the names differ"), records)
}

/// Asks in the name of a request.
pub async fn ask_in(engine: &Engine, id: &str) -> Outcome {
    let outcome = engine.invoke(HOOK, PAYLOAD, &Request::with_id(id)).await;
    outcome.expect("the payload passes the door")
}

/// A plugin that answers what `answer` says once somebody has called [`Cue::give`], and says when it
/// has begun.
pub fn on_cue(
    answer: impl Fn(HookCall) -> Answered + Send + Sync + 'static,
) -> (Arc<Scripted>, Cue) {
    let (give, taken) = oneshot::channel();
    let (begin, begun) = oneshot::channel();
    let once = std::sync::Mutex::new(Some((begin, taken)));
    let answer = Arc::new(answer);
    let plugin = waiting(false, move |call| {
        let (begin, taken) = take(&once);
        let answer = Arc::clone(&answer);
        async move {
            let _ = begin.send(());
            taken.await.expect("the cue is kept until it is given");
            answer(call)
        }
        .boxed()
    });
    (plugin, Cue { give, begun })
}

/// Lets one plugin go on, once.
pub struct Cue {
    give: oneshot::Sender<()>,
    begun: oneshot::Receiver<()>,
}

impl Cue {
    /// Waits until the plugin waits.
    pub async fn begun(&mut self) {
        soon(&mut self.begun).await.expect("it is asked");
    }

    /// Lets it go on.
    pub fn give(self) {
        self.give.send(()).expect("it waits");
    }

    /// Lets it go on, from another plugin.
    pub fn into_sender(self) -> oneshot::Sender<()> {
        self.give
    }
}

/// The next thing a plugin tells the test.
pub async fn next<T>(told: &mut mpsc::UnboundedReceiver<T>) -> T {
    soon(told.recv()).await.expect("the plugin is there")
}

/// What is there once.
pub fn take<T>(once: &std::sync::Mutex<Option<T>>) -> T {
    let mut once = once.lock().expect("no panic");
    once.take().expect("asked once")
}

/// Whether a future was dropped.
#[derive(Clone, Default)]
pub struct Gone(Arc<AtomicBool>);

impl Gone {
    /// Whether it was.
    pub fn is(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// Sets a [`Gone`] when it is dropped.
struct SetsGone(Gone);

impl Drop for SetsGone {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::SeqCst);
    }
}

/// A plugin that never answers, and shows when its call is dropped.
pub fn silent() -> (Arc<Scripted>, Gone) {
    let gone = Gone::default();
    let sets = gone.clone();
    let plugin = waiting(false, move |call| {
        let sets = SetsGone(sets.clone());
        async move {
            let _held = (sets, call);
            futures::future::pending().await
        }
        .boxed()
    });
    (plugin, gone)
}

/// Each plugin's part in a record: `name: verdict code fault`.
pub fn parts(record: &Record) -> Vec<String> {
    let part = |plugin: &hookgate_core::PluginRecord| {
        let verdict = plugin.verdict.map(|verdict| verdict.to_string());
        let fault = plugin.fault.map(|fault| fault.to_string());
        let words = [verdict, plugin.code.clone(), fault];
        let words: Vec<_> = words.into_iter().flatten().collect();
        format!("{}: {}", plugin.name, words.join(" "))
    };
    record.plugins.iter().map(part).collect()
}

/// Who denied, and with which code.
pub fn denied_by(outcome: &Outcome) -> (&str, &str) {
    let violation = outcome.violation.as_ref().expect("a denial");
    let plugin = violation.plugin.as_deref().expect("a plugin's");
    (plugin, &violation.code)
}
