//! 64 callers, ten plugins, one of which loops, one traps and one sleeps: every call gets the outcome that is its
//! own, and none is lost.
//!
//! `make test` asserts that and nothing about time: each caller makes a number of calls, or as many as fit in ten
//! seconds. `HOOKGATE_SOAK_SECONDS` (`make soak`) makes it as long as that, measures what the good plugins' callers
//! wait, alone and beside the bad ones, and how late a loop ends.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hookgate_core::config::{Config, PluginKind, PluginSpec};
use hookgate_core::{Condition, Decision, Engine, FaultKind, Json, Outcome, Request};
use hookgate_vectors::guests;
use hookgate_wasm::WasmHost;
use serde_json::{Value, json};

const CALLERS: usize = 64;
/// Calls of one caller where nothing says how long: enough for every plugin to be asked side by side.
const CALLS: usize = 60;
/// The end of the form without a length, for a machine too slow for that many.
const SHORT: Duration = Duration::from_secs(10);
/// What the loop and the sleep may take.
const BAD_LIMIT: Duration = Duration::from_millis(50);
/// What everybody else may take, on any machine.
const GOOD_LIMIT: Duration = Duration::from_secs(60);

/// The good plugins' p99 may be this many times what it is without bad ones ...
const TIMES_ALONE: u32 = 5;
/// ... or this, whichever is larger.
const P99_MAX: Duration = Duration::from_millis(25);
/// A loop under this limit ...
const LOOP_LIMIT: Duration = Duration::from_millis(10);
/// ... ends at most so late, at the median.
const LATE_MAX: Duration = Duration::from_millis(2);
const LOOPS: usize = 200;

/// A plugin and what is right to hear from it.
#[derive(Clone, Copy)]
enum Plugin {
    Echo,
    DenyList,
    Redactor,
    Loops,
    Traps,
    Sleeps,
}

const PLUGINS: [(&str, Plugin); 10] = [
    ("echo-0", Plugin::Echo),
    ("deny-0", Plugin::DenyList),
    ("loops", Plugin::Loops),
    ("echo-1", Plugin::Echo),
    ("redactor", Plugin::Redactor),
    ("traps", Plugin::Traps),
    ("echo-2", Plugin::Echo),
    ("deny-1", Plugin::DenyList),
    ("sleeps", Plugin::Sleeps),
    ("echo-3", Plugin::Echo),
];

impl Plugin {
    fn guest(self) -> &'static str {
        match self {
            Self::DenyList => "deny-list-rust",
            Self::Redactor => "redactor-rust",
            Self::Echo | Self::Loops | Self::Traps | Self::Sleeps => "hostile",
        }
    }

    fn config(self) -> Value {
        match self {
            Self::DenyList => json!({ "words": ["sudo"] }),
            Self::Redactor => json!({ "words": ["token"] }),
            _ => json!({}),
        }
    }

    fn is_good(self) -> bool {
        matches!(self, Self::Echo | Self::DenyList | Self::Redactor)
    }

    fn limit(self) -> Duration {
        match self {
            Self::Loops | Self::Sleeps => BAD_LIMIT,
            _ => GOOD_LIMIT,
        }
    }

    fn args(self, nonce: &str) -> Value {
        let what = match self {
            Self::Echo => "echo",
            Self::Loops => "loop",
            Self::Traps => "trap",
            Self::Sleeps => "sleep",
            Self::DenyList => "ls",
            Self::Redactor => "a token",
        };
        json!({ "do": what, "nonce": nonce })
    }

    /// Panics unless it is the outcome of the call with this nonce.
    fn judge(self, name: &str, nonce: &str, outcome: &Outcome) {
        let faults: Vec<_> = outcome
            .faults
            .iter()
            .map(|fault| (&*fault.plugin, fault.kind))
            .collect();
        let fault = match self {
            Self::Loops | Self::Sleeps => Some(FaultKind::Timeout),
            Self::Traps => Some(FaultKind::Trap),
            Self::Echo | Self::DenyList | Self::Redactor => None,
        };
        if let Some(kind) = fault {
            assert_eq!(faults, [(name, kind)], "{nonce}: {:?}", outcome.faults);
            assert_eq!(outcome.decision, Decision::Deny, "{nonce}");
            return;
        }
        assert_eq!(faults, [], "{nonce}: {:?}", outcome.faults);
        assert_eq!(outcome.decision, Decision::Allow, "{nonce}");
        let payload = outcome.payload.as_ref().expect("allowed").as_str();
        let payload: Value = serde_json::from_str(payload).expect("JSON");
        assert_eq!(payload["name"], json!(name));
        assert_eq!(payload["args"]["nonce"], json!(nonce));
        match self {
            Self::Echo => assert_eq!(outcome.effects.metadata["nonce"].to_value(), json!(nonce)),
            Self::Redactor => assert_eq!(payload["args"]["do"], json!("a [redacted]")),
            _ => assert!(!outcome.modified),
        }
    }
}

async fn engine() -> Engine {
    let mut config = Config::default();
    for (name, plugin) in PLUGINS {
        let component = guests::component(plugin.guest());
        let mut spec = PluginSpec::new(name, PluginKind::Wasm { component });
        spec.hooks = vec!["tool_pre_invoke".into()];
        spec.limits.timeout = plugin.limit();
        spec.config = Json::from_value(&plugin.config());
        let mut condition = Condition::default();
        condition.tools.insert(name.to_owned());
        spec.conditions = vec![condition];
        config.plugins.push(spec);
    }
    Engine::builder()
        .config(config)
        .host(Arc::new(WasmHost::new().expect("wasmtime starts")))
        .build()
        .await
        .unwrap_or_else(|report| panic!("{report}"))
}

/// How long callers go on.
#[derive(Clone, Copy)]
struct Span {
    until: Instant,
    calls: usize,
}

/// What one caller saw: how many calls, and how long each took.
async fn caller(engine: Engine, number: usize, span: Span) -> Vec<Duration> {
    let (name, plugin) = PLUGINS[number % PLUGINS.len()];
    let mut took = Vec::new();
    // At least one, whatever the clock says.
    while took.is_empty() || took.len() < span.calls && Instant::now() < span.until {
        let nonce = format!("{number}-{}", took.len());
        let payload = json!({ "name": name, "args": plugin.args(&nonce) });
        let begun = Instant::now();
        let outcome = engine
            .invoke("tool_pre_invoke", &payload, &Request::default())
            .await;
        took.push(begun.elapsed());
        plugin.judge(name, &nonce, &outcome.expect("a good payload"));
    }
    took
}

/// All callers at once, those of bad plugins left out if `good_only`; the times of the good ones, in order.
async fn soak(engine: &Engine, good_only: bool, span: Span) -> Vec<Duration> {
    let mut callers = Vec::new();
    for number in 0..CALLERS {
        let is_good = PLUGINS[number % PLUGINS.len()].1.is_good();
        if is_good || !good_only {
            callers.push((is_good, tokio::spawn(caller(engine.clone(), number, span))));
        }
    }
    let mut good = Vec::new();
    for (is_good, caller) in callers {
        let took = caller.await.unwrap_or_else(|error| panic!("{error}"));
        if is_good {
            good.extend(took);
        }
    }
    good.sort();
    good
}

fn p99(sorted: &[Duration]) -> Duration {
    sorted[(sorted.len() - 1) * 99 / 100]
}

/// How much later than its limit a looping guest's call ends, at the median.
async fn lateness() -> Duration {
    let mut config = Config::default();
    let component = guests::component("hostile");
    let mut spec = PluginSpec::new("loops", PluginKind::Wasm { component });
    spec.hooks = vec!["tool_pre_invoke".into()];
    spec.limits.timeout = LOOP_LIMIT;
    config.plugins.push(spec);
    let host = Arc::new(WasmHost::new().expect("wasmtime starts"));
    let engine = Engine::builder().config(config).host(host).build().await;
    let engine = engine.unwrap_or_else(|report| panic!("{report}"));
    let payload = json!({ "name": "t", "args": { "do": "loop" } });
    let mut late = Vec::new();
    for _ in 0..LOOPS {
        let begun = Instant::now();
        let outcome = engine
            .invoke("tool_pre_invoke", &payload, &Request::default())
            .await;
        late.push(begun.elapsed().saturating_sub(LOOP_LIMIT));
        let outcome = outcome.expect("a good payload");
        assert_eq!(
            outcome.faults[0].kind,
            FaultKind::Timeout,
            "{:?}",
            outcome.faults
        );
    }
    engine.shutdown().await;
    late.sort();
    late[late.len() / 2]
}

#[tokio::test(flavor = "multi_thread")]
async fn every_call_gets_its_own_outcome() {
    let engine = engine().await;
    let Some(seconds) = std::env::var("HOOKGATE_SOAK_SECONDS").ok() else {
        let span = Span {
            until: Instant::now() + SHORT,
            calls: CALLS,
        };
        let good = soak(&engine, false, span).await;
        assert!(
            good.len() >= CALLERS / 2,
            "{} calls of good plugins",
            good.len()
        );
        engine.shutdown().await;
        return;
    };
    let seconds = seconds.parse().unwrap_or_else(|_| {
        panic!("HOOKGATE_SOAK_SECONDS: not a number: {seconds}; hint: HOOKGATE_SOAK_SECONDS=60")
    });
    let length = Duration::from_secs(seconds);
    let span = |length| Span {
        until: Instant::now() + length,
        calls: usize::MAX,
    };
    let late = lateness().await;
    let alone = soak(&engine, true, span(length / 6)).await;
    let beside = soak(&engine, false, span(length)).await;
    engine.shutdown().await;
    let (p99_alone, p99_beside) = (p99(&alone), p99(&beside));
    let most = (TIMES_ALONE * p99_alone).max(P99_MAX);
    println!(
        "calls of good plugins: {} alone, {} beside bad ones",
        alone.len(),
        beside.len()
    );
    println!(
        "median: {:?} alone, {:?} beside bad ones",
        alone[alone.len() / 2],
        beside[beside.len() / 2]
    );
    println!("p99: {p99_alone:?} alone, {p99_beside:?} beside bad ones; at most {most:?}");
    println!("a loop under {LOOP_LIMIT:?} ends {late:?} late at the median; at most {LATE_MAX:?}");
    assert!(
        p99_beside <= most,
        "good plugins wait {p99_beside:?}, more than {most:?}"
    );
    assert!(late <= LATE_MAX, "a loop ends {late:?} late");
}
