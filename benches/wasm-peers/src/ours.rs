//! Our side: components under the wasm host, alone and through the engine.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use hookgate_core::config::{Config, InstancePolicy, Instances, PluginKind, PluginSpec};
use hookgate_core::{
    Answer, Decision, Engine, Fault, HookCall, Host, Json, Payload, Plugin, PluginInfo, Request,
};
use hookgate_wasm::{WasmHost, WasmHostOptions};
use tokio::runtime::Runtime;

use crate::HOOK;
use crate::clock::Calls;

/// Instances that wait ready, and with them the calls of one turn, at most. Few, as in use: a thousand of them
/// would measure how slow memory is that nobody has touched for long.
pub const STOCK: u32 = 64;
/// Calls of one turn: the stock lasts for them, and for no wake-up of who fills it.
pub const TURN_CALLS: usize = 28;

/// A component's spec.
pub fn spec(
    components: &Path,
    component: &str,
    name: &str,
    config: &serde_json::Value,
) -> PluginSpec {
    let component = components.join(format!("{component}.wasm"));
    let mut spec = PluginSpec::new(name, PluginKind::Wasm { component });
    spec.hooks = vec![HOOK.into()];
    spec.config = Json::from_value(config);
    spec.instances = Instances {
        policy: InstancePolicy::SingleUse,
        stock: STOCK,
        ..Instances::default()
    };
    spec
}

/// Loads one plugin.
pub fn load(runtime: &Runtime, host: &WasmHost, spec: PluginSpec) -> Arc<dyn Plugin> {
    runtime
        .block_on(host.load(spec))
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Keeps what it is asked.
#[derive(Default)]
struct Asked(Mutex<Option<HookCall>>);

impl Plugin for Asked {
    fn describe(&self) -> PluginInfo {
        PluginInfo::in_process([HOOK])
    }

    fn call(&self, call: HookCall) -> BoxFuture<'_, Result<Answer, Fault>> {
        let answer = call.draft().allow();
        *self.0.lock().expect("nothing panics with it") = Some(call);
        Box::pin(async { Ok(answer) })
    }
}

/// A payload as a plugin is asked about it: checked, with everything around it.
pub fn question(runtime: &Runtime, text: &str) -> HookCall {
    let asked = Arc::new(Asked::default());
    let plugin: Arc<dyn Plugin> = asked.clone();
    runtime.block_on(async {
        let engine = Engine::builder().plugin("asked", plugin).build().await;
        let engine = engine.unwrap_or_else(|report| panic!("{report}"));
        let outcome = engine.invoke(HOOK, text, &Request::with_id("bench")).await;
        outcome.expect("the payload passes the door");
    });
    let call = asked.0.lock().expect("nothing panics with it").take();
    call.expect("it was asked")
}

fn in_time(call: &HookCall) -> HookCall {
    let mut call = call.clone();
    call.deadline = Instant::now() + Duration::from_secs(1);
    call
}

/// Waits until the stock is full. Nothing of ours runs while the turn is measured.
async fn until_full(plugin: &dyn Plugin) {
    while plugin.describe().ready_instances != Some(STOCK) {
        tokio::task::yield_now().await;
    }
}

/// Calls of a plugin that always finds an instance ready.
pub fn ready<'a>(runtime: &'a Runtime, plugin: Arc<dyn Plugin>, call: HookCall) -> Calls<'a> {
    Box::new(move |count| {
        runtime.block_on(async {
            until_full(&*plugin).await;
            let calls: Vec<HookCall> = (0..count).map(|_| in_time(&call)).collect();
            let started = Instant::now();
            for call in calls {
                plugin.call(call).await.expect("it answers");
            }
            started.elapsed()
        })
    })
}

/// Calls a second with a clean instance each, what fills the stock included.
pub fn sustained(
    runtime: &Runtime,
    plugin: &Arc<dyn Plugin>,
    call: &HookCall,
    callers: usize,
    time: Duration,
) -> f64 {
    let until = Instant::now() + time;
    let calls = Arc::new(AtomicUsize::new(0));
    runtime.block_on(async {
        let callers: Vec<_> = (0..callers)
            .map(|_| {
                let (plugin, call, calls) = (Arc::clone(plugin), call.clone(), Arc::clone(&calls));
                tokio::spawn(async move {
                    while Instant::now() < until {
                        plugin.call(in_time(&call)).await.expect("it answers");
                        calls.fetch_add(1, Ordering::Relaxed);
                        // As a caller that waits for the next request does.
                        tokio::task::yield_now().await;
                    }
                })
            })
            .collect();
        for caller in callers {
            caller.await.expect("it ends");
        }
    });
    calls.load(Ordering::Relaxed) as f64 / time.as_secs_f64()
}

/// Calls through an engine of these plugins, whose stocks never drain.
pub fn through_engine<'a>(
    runtime: &'a Runtime,
    host: Arc<dyn Host>,
    specs: Vec<PluginSpec>,
    text: &'a str,
) -> Calls<'a> {
    let mut config = Config::default();
    config.plugins = specs;
    let engine = runtime.block_on(Engine::builder().config(config).host(host).build());
    let engine = engine.unwrap_or_else(|report| panic!("{report}"));
    let request = Request::default();
    Box::new(move |count| {
        runtime.block_on(async {
            let all_full = || {
                let plugins = engine.plugins();
                plugins
                    .iter()
                    .all(|one| one.info.ready_instances == Some(STOCK))
            };
            while !all_full() {
                tokio::task::yield_now().await;
            }
            let payloads: Vec<Payload> = (0..count).map(|_| Payload::from(text)).collect();
            let started = Instant::now();
            for payload in payloads {
                let outcome = engine.invoke(HOOK, payload, &request).await;
                assert_eq!(
                    outcome.expect("it passes the door").decision,
                    Decision::Allow
                );
            }
            started.elapsed()
        })
    })
}

/// The check at the door.
pub fn door(text: &str) -> Calls<'_> {
    Box::new(move |count| {
        let texts: Vec<Arc<str>> = (0..count).map(|_| text.into()).collect();
        let started = Instant::now();
        for text in texts {
            std::hint::black_box(Json::parse(text).expect("I-JSON"));
        }
        started.elapsed()
    })
}

/// Loads of a component's code, by a host of its own each: from the cache in `folder`, or compiled.
pub fn loads<'a>(runtime: &'a Runtime, component: &'a Path, folder: Option<&'a Path>) -> Calls<'a> {
    Box::new(move |count| {
        let mut took = Duration::ZERO;
        for _ in 0..count {
            let mut options = WasmHostOptions::default();
            if let Some(folder) = folder {
                options = options.code_cache(folder.to_path_buf());
            }
            let host = WasmHost::with_options(options).expect("wasmtime starts");
            let compiled = runtime.block_on(host.compile(component, None));
            took += compiled.unwrap_or_else(|error| panic!("{error}")).took;
            let counts = host.code_counts();
            // The first fills the cache.
            assert_eq!(counts.cached + counts.compiled, 1);
        }
        took
    })
}
