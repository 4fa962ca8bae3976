//! Tokens on their way to classes of the framework itself, and where they must not be seen.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, LazyLock, Mutex};
use std::time::Duration;

use hookgate_core::config::{Config, OnError, PluginKind, PluginSpec};
use hookgate_core::{
    Capability, Decision, Engine, FaultKind, Outcome, Record, RecordSink, Request,
};
use hookgate_python::{PythonHost, PythonHostOptions};
use serde_json::{Value, json};

const INBOUND: &str = "eyJhbGciOiJub25lIn0.inb+ound/secret?.sig~";
const CLIENT: &str = "client-token-0123456789";
const LENT: &str = "lent-for-the-target-0123456789";
const OTHERS: &str = "lent-for-another-0123456789";
const MASK: &str = "**********";
const IDENTITY: &str = "identity_resolve";
const DELEGATE: &str = "token_delegate";
const TOOL: &str = "tool_pre_invoke";
const BOTH: [Capability; 2] = [
    Capability::ReadInboundCredentials,
    Capability::ReadDelegatedTokens,
];
/// What an event that must come may take; only a failing test waits this long.
const LONG: Duration = Duration::from_secs(60);

/// Everything that is logged, each event with all its fields.
#[derive(Default)]
struct Log {
    lines: Mutex<Vec<String>>,
    grew: Condvar,
}

static LOG: LazyLock<&'static Log> = LazyLock::new(|| {
    let log: &'static Log = Box::leak(Box::default());
    tracing::subscriber::set_global_default(log).expect("the only one");
    log
});

impl tracing::Subscriber for &'static Log {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        struct Fields(String);
        impl tracing::field::Visit for Fields {
            fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
                self.0.push_str(&format!("{}={value:?} ", field.name()));
            }
        }
        let mut fields = Fields(String::new());
        event.record(&mut fields);
        self.lines.lock().expect("no panic").push(fields.0);
        self.grew.notify_all();
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

impl Log {
    /// Waits until `plugin` has logged `text`; gives what it logged.
    fn until(&self, plugin: &str, text: &str) -> Vec<String> {
        let name = format!("plugin={plugin} ");
        let of = |lines: &[String]| -> Vec<String> {
            let lines = lines.iter().filter(|line| line.contains(&name));
            lines.cloned().collect()
        };
        let there = |lines: &[String]| of(lines).iter().any(|line| line.contains(text));
        let lines = self.lines.lock().expect("no panic");
        let (lines, waited) = self
            .grew
            .wait_timeout_while(lines, LONG, |lines| !there(lines))
            .expect("no panic");
        assert!(!waited.timed_out(), "no {text:?} in {:?}", of(&lines));
        of(&lines)
    }

    fn everything(&self) -> String {
        self.lines.lock().expect("no panic").join("\n")
    }
}

#[derive(Default)]
struct Kept(Mutex<Vec<Record>>);

impl RecordSink for Kept {
    fn write(&self, record: Record) {
        self.0.lock().expect("no panic").push(record);
    }
}

struct Rig {
    engine: Engine,
    records: Arc<Kept>,
}

impl Rig {
    async fn new(name: &str, class: &str, grants: &[Capability]) -> Self {
        LazyLock::force(&LOG);
        let kind = PluginKind::Python {
            class: format!("credentials.{class}"),
            requirements: Vec::new(),
            requirements_file: None,
            import_paths: vec!["plugins".into()],
            workdir: None,
        };
        let mut spec = PluginSpec::new(name, kind);
        spec.hooks = [IDENTITY, DELEGATE, TOOL].map(str::to_owned).to_vec();
        spec.base_dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
        spec.permissions.data = grants.iter().copied().collect();
        spec.limits.timeout = LONG;
        // One of its prints is a child's.
        spec.permissions.processes = true;
        spec.on_error = OnError::Fail;
        let mut config = Config::default();
        config.plugins = vec![spec];
        let store: PathBuf =
            Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("test-environments");
        let records = Arc::new(Kept::default());
        let engine = Engine::builder()
            .config(config)
            .host(Arc::new(PythonHost::new(PythonHostOptions::new(store))))
            .records(Arc::clone(&records) as _)
            .build()
            .await
            .unwrap_or_else(|report| panic!("{report}"));
        Self { engine, records }
    }

    async fn ask_with(&self, hook: &str, payload: Value, slot: Value) -> Outcome {
        let mut extensions = json!({"custom": {"a": 1}});
        if !slot.is_null() {
            extensions["raw_credentials"] = slot;
        }
        let request = Request {
            extensions: Some(extensions.into()),
            ..Request::with_id("r")
        };
        let asked = self.engine.invoke(hook, &payload, &request).await;
        asked.expect("the payload passes the door")
    }

    async fn ask(&self, hook: &str, payload: Value) -> Outcome {
        self.ask_with(hook, payload, slot()).await
    }

    async fn resolve(&self, act: &str) -> Outcome {
        self.ask(IDENTITY, identity(act)).await
    }

    /// What is on record, as text.
    fn recorded(&self) -> String {
        let records = self.records.0.lock().expect("no panic");
        format!(
            "{} {records:?}",
            serde_json::to_string(&*records).expect("JSON")
        )
    }
}

fn slot() -> Value {
    json!({
        "inbound_tokens": {
            "client": {"token": CLIENT, "source_header": "X-Client", "kind": "opaque"},
            "user": {"token": INBOUND, "source_header": "Authorization", "kind": "jwt"}
        },
        "delegated_tokens": [
            {"token": OTHERS, "audience": "https://b.example", "outbound_header": "Authorization", "mode": "on_behalf_of_user"},
            {"token": CLIENT, "audience": "https://a.example", "outbound_header": "Authorization", "mode": "as_client"},
            {"token": LENT, "audience": "https://a.example", "outbound_header": "Authorization", "mode": "on_behalf_of_user"}
        ]
    })
}

/// What the class does is in a member it has no other use for.
fn identity(act: &str) -> Value {
    let headers = json!({"authorization": format!("Bearer {INBOUND}"), "X-Copy": format!("<{INBOUND}>"), "X-A": "1"});
    json!({"raw_token": MASK, "source": "bearer", "headers": headers, "client_host": act})
}

fn delegation(kind: &str) -> Value {
    json!({"target_name": "tool", "target_type": kind, "target_audience": "https://a.example"})
}

fn claims(outcome: &Outcome) -> Value {
    assert_eq!(outcome.faults, []);
    result(outcome)["raw_claims"].clone()
}

fn result(outcome: &Outcome) -> Value {
    assert_eq!(outcome.faults, []);
    outcome
        .effects
        .result
        .as_ref()
        .expect("a result")
        .to_value()
}

fn fault(outcome: &Outcome) -> (FaultKind, String) {
    assert_eq!(outcome.decision, Decision::Deny, "a fault is no allow");
    let fault = outcome.faults.first().expect("a fault");
    (
        fault.kind,
        format!("{} {}", fault.message, fault.details.as_str()),
    )
}

/// SHA-256 as `sha256sum` gives it.
fn digest(text: &str) -> String {
    use sha2::Digest as _;
    let bytes = sha2::Sha256::digest(text.as_bytes());
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn assert_no_token(text: &str) {
    for token in [INBOUND, CLIENT, LENT, OTHERS] {
        assert!(!text.contains(token), "{token} in {text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_capable_plugin_reads_the_raw_token_end_to_end() {
    let rig = Rig::new("capable", "Resolver", &BOTH[..1]).await;
    let seen = claims(&rig.resolve("tell").await);
    assert_eq!(seen["digest"], digest(INBOUND));
    assert_eq!(seen["source"], "bearer");
    assert_eq!(seen["shown"], MASK, "a secret of the framework");
    let headers = json!({"authorization": MASK, "X-Copy": "<**********>", "X-A": "1"});
    assert_eq!(seen["headers"], headers);
    assert_eq!(seen["dump"]["raw_token"], MASK);

    let custom = json!({"inbound_tokens": {"user": {"token": INBOUND, "source_header": "X-Key", "kind": "txn_token"}}});
    let outcome = rig
        .ask_with(IDENTITY, json!({"raw_token": MASK}), custom)
        .await;
    let seen = claims(&outcome);
    assert_eq!(
        (&seen["source"], &seen["headers"]),
        (&json!("custom"), &json!({"X-Key": MASK}))
    );

    let own = json!({"raw_token": CLIENT, "headers": {}});
    let seen = claims(&rig.ask_with(IDENTITY, own, Value::Null).await);
    assert_eq!(
        seen["digest"],
        digest(CLIENT),
        "the payload's own, where the slot has none"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_non_capable_plugin_on_the_same_hook_receives_no_token() {
    for grants in [&[][..], &BOTH[1..]] {
        let rig = Rig::new("incapable", "Both", grants).await;
        for payload in [identity("tell"), json!({})] {
            let outcome = rig.ask(IDENTITY, payload).await;
            let seen = claims(&outcome);
            assert_eq!(seen["digest"], digest(MASK));
            assert_eq!(
                seen["headers"].get("authorization").unwrap_or(&json!(MASK)),
                MASK
            );
        }
    }
    let rig = Rig::new("incapable-too", "Both", &BOTH[..1]).await;
    let outcome = rig.ask(DELEGATE, delegation("tool")).await;
    assert_eq!(result(&outcome)["cache_key"], digest(""));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_credential_never_reaches_a_log_sink_the_host_controls() {
    let rig = Rig::new("leaks", "Resolver", &BOTH).await;
    claims(&rig.resolve("print").await);
    let lines = LOG.until("leaks", "all shown");
    let all = lines.join("\n");
    for shown in [
        "raw [**********]",
        r#"json [{"t": "**********"}]"#,
        "percent [**********]",
        "every [**********]",
        "logged [**********]",
        "stderr [**********]",
        "torn [**********]",
        "child [**********]",
    ] {
        assert!(all.contains(shown), "no {shown} in {all}");
    }
    let between = |name: &str| {
        let (_, rest) = all.split_once(&format!("{name} [")).expect("it is printed");
        rest.split_once(']').expect("it is printed").0.to_owned()
    };
    // What is left of base64 is padding and what the token shares with its neighbours.
    assert_eq!(between("base64").trim_end_matches('='), MASK);
    let inside = between("inside");
    assert!(
        inside.starts_with("dXNlcj") && inside.contains(MASK),
        "{inside}"
    );
    assert!(inside.len() <= MASK.len() + 12, "{inside}");

    // After the call, and in one that has nothing to do with tokens.
    let tool = json!({"name": "t", "args": {"leak": "raise"}});
    let (kind, told) = fault(&rig.ask(TOOL, tool).await);
    assert_eq!(kind, FaultKind::PluginError);
    assert!(told.contains("no use for **********, **********"), "{told}");
    assert_no_token(&told);

    let (kind, told) = fault(&rig.resolve("raise").await);
    assert_eq!(kind, FaultKind::PluginError);
    assert!(told.contains("traceback") && told.contains(MASK), "{told}");
    assert_no_token(&told);

    let (_, told) = fault(&rig.resolve("long").await);
    assert!(
        told.contains("characters ...]"),
        "the worker cut it: {told}"
    );
    assert!(
        told.contains("x**********\\n[...") || told.contains("x**********\n[..."),
        "{told}"
    );
    assert!(
        !told.contains(&INBOUND[..12]) && !told.contains(&INBOUND[20..]),
        "{told}"
    );

    let (kind, told) = fault(&rig.resolve("exit").await);
    assert_eq!(kind, FaultKind::WorkerDied);
    assert!(told.contains("dying with **********"), "{told}");

    // The next worker knows what the last one was lent.
    claims(&rig.resolve("tell").await);
    rig.engine.shutdown().await;
    assert_no_token(&LOG.everything());
    assert_no_token(&rig.recorded());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_declared_capability_that_cannot_be_honored_fails_closed_end_to_end() {
    let rig = Rig::new("declares", "Both", &BOTH).await;
    let blank = json!({"inbound_tokens": {"user": {"token": " "}}, "delegated_tokens": [{"token": "", "audience": "https://a.example"}]});
    for slot in [Value::Null, json!({}), blank] {
        for (hook, payload) in [
            (IDENTITY, identity("tell")),
            (IDENTITY, json!({})),
            (DELEGATE, delegation("tool")),
            (DELEGATE, json!({"target_name": "t", "bearer_token": null})),
        ] {
            let outcome = rig.ask_with(hook, payload, slot.clone()).await;
            let (kind, told) = fault(&outcome);
            assert_eq!(kind, FaultKind::Unsupported, "{hook} {slot}");
            assert!(
                told.contains("is not asked without a token") && told.contains("hint: "),
                "{told}"
            );
        }
    }
    let mut other = delegation("tool");
    other["target_audience"] = "https://c.example".into();
    let (kind, _) = fault(&rig.ask(DELEGATE, other).await);
    assert_eq!(kind, FaultKind::Unsupported, "no token for that audience");
    let seen = claims(&rig.resolve("tell").await);
    assert_eq!(seen["calls"], 1, "it was never asked before");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_real_worker_answers_the_capabilities_handshake() {
    let both = Rig::new("both", "Both", &BOTH).await;
    assert_eq!(
        both.engine.plugins()[0].info.hooks,
        [IDENTITY, DELEGATE, TOOL]
    );
    assert_eq!(
        claims(&both.resolve("tell").await)["digest"],
        digest(INBOUND)
    );
    let outcome = both.ask(DELEGATE, delegation("tool")).await;
    assert_eq!(result(&outcome)["cache_key"], digest(LENT));
    let one = Rig::new("one", "Resolver", &BOTH).await;
    assert_eq!(one.engine.plugins()[0].info.hooks, [IDENTITY, TOOL]);
    let (kind, _) = fault(&one.ask(DELEGATE, delegation("tool")).await);
    assert_eq!(kind, FaultKind::Unsupported);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_other_hook_sees_a_token() {
    let rig = Rig::new("other-hook", "Both", &BOTH).await;
    let outcome = rig.ask(TOOL, json!({"name": "t", "args": {}})).await;
    assert_eq!(outcome.faults, []);
    let seen = serde_json::to_string(&outcome.effects.metadata).expect("JSON");
    assert!(seen.contains("custom"), "it got the other slots: {seen}");
    assert!(!seen.contains("raw_credentials"), "{seen}");
    assert_no_token(&seen);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_inbound_token_never_comes_back() {
    let rig = Rig::new("brings-back", "Both", &BOTH).await;
    for act in ["claim", "state", "metadata", "slot", "header"] {
        let outcome = rig.resolve(act).await;
        assert_eq!(fault(&outcome).0, FaultKind::Protocol, "{act}");
        assert_no_token(&serde_json::to_string(&outcome).expect("JSON"));
    }
    let outcome = rig.resolve("deny").await;
    assert_eq!(
        outcome.violation.as_ref().expect("a denial").reason,
        "bad **********"
    );
    assert_no_token(&serde_json::to_string(&outcome).expect("JSON"));
    // A payload that is returned is not changed by what the worker was sent.
    let outcome = rig.resolve("echo").await;
    assert_eq!(outcome.faults, []);
    assert!(!outcome.modified, "{:?}", outcome.payload);
    let outcome = rig.resolve("source").await;
    let payload = outcome
        .payload
        .expect("allowed")
        .to_json()
        .expect("JSON")
        .to_value();
    assert_eq!(payload["source"], "mtls");
    assert_eq!(payload["raw_token"], MASK, "as the caller sent it");
    let (kind, told) = fault(&rig.resolve("other").await);
    assert_eq!(kind, FaultKind::PluginError);
    assert!(
        told.contains("raw_token") && told.contains("is another secret"),
        "{told}"
    );
    assert_no_token(&rig.recorded());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delegated_token_travels_as_a_secret() {
    const MINTED: &str = "minted-for-tool-0123456789";
    let rig = Rig::new("mints", "Both", &BOTH).await;
    for kind in ["tool", "secret"] {
        let outcome = rig.ask(DELEGATE, delegation(kind)).await;
        let told = result(&outcome);
        assert_eq!(
            told["delegated_token"], MINTED,
            "{kind}: the caller needs it"
        );
        assert_eq!(
            told["cache_key"],
            digest(LENT),
            "it was made from what was lent"
        );
        assert!(!format!("{outcome:?}").contains(MINTED), "{outcome:?}");
    }
    let outcome = rig.ask(DELEGATE, delegation("echo")).await;
    assert_eq!(
        result(&outcome)["delegated_token"],
        LENT,
        "a token for the target may go on"
    );
    let recorded = rig.recorded();
    assert!(!recorded.contains(MINTED), "{recorded}");
    assert_no_token(&recorded);
    // What it made is known from its answer on.
    result(&rig.ask(DELEGATE, delegation("later")).await);
    let tool = json!({"name": "t", "args": {"leak": "print"}});
    assert_eq!(rig.ask(TOOL, tool).await.faults, []);
    let lines = LOG.until("mints", "all shown").join("\n");
    assert!(lines.contains("raw [**********]"), "{lines}");
    assert!(!lines.contains(MINTED), "{lines}");
}
