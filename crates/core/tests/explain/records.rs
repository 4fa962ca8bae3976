//! An explanation is what a call then does: on random plugins, against the record of it.

use std::sync::Arc;

use hookgate_core::config::{Mode, OnError};
use hookgate_core::{
    Condition, Engine, Explanation, FaultKind, InProcess, Json, Record, Request, Turn,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use crate::support::{HOOK, Kept, allowing, faulting, named};

const HOOKS: [&str; 3] = [HOOK, "tool_post_invoke", "deploy.started"];

#[derive(Debug, Clone)]
struct Listener {
    mode: Mode,
    priority: i32,
    hooks: Vec<&'static str>,
    conditions: Vec<Condition>,
    faults: bool,
    on_error: OnError,
}

fn condition() -> impl Strategy<Value = Condition> {
    let names = |names: &[&'static str]| subsequence(names.to_vec(), 0..=names.len());
    let fields = (
        names(&["sh", "search"]),
        names(&["t1", "t2"]),
        names(&["ali", "bob"]),
        names(&["text/html"]),
    );
    fn own(names: Vec<&'static str>) -> impl Iterator<Item = String> {
        names.into_iter().map(str::to_owned)
    }
    fields.prop_map(|(tools, tenants, users, kinds)| {
        let mut condition = Condition::default();
        condition.tools = own(tools).collect();
        condition.tenant_ids = own(tenants).collect();
        condition.user_patterns = own(users).collect();
        condition.content_types = own(kinds).collect();
        condition
    })
}

fn listener() -> impl Strategy<Value = Listener> {
    (
        select(Mode::ALL.to_vec()),
        -1..2,
        subsequence(HOOKS.to_vec(), 0..=HOOKS.len()),
        vec(condition(), 0..3),
        any::<bool>(),
        // A denial would end the phases, and an explanation is of a call that nobody denies.
        select(vec![OnError::Ignore, OnError::Disable]),
    )
        .prop_map(
            |(mode, priority, hooks, conditions, faults, on_error)| Listener {
                mode,
                priority,
                hooks,
                conditions,
                // When a background call switches its plugin off is not known.
                faults: faults && mode != Mode::FireAndForget,
                on_error,
            },
        )
}

fn request() -> impl Strategy<Value = Request> {
    let text = |texts: &[&'static str]| proptest::option::of(select(texts.to_vec()));
    (
        text(&["t1", "t3"]),
        text(&["alice", "eve"]),
        text(&["text/html; a=1", "a/b"]),
    )
        .prop_map(|(tenant, user, kind)| {
            let mut request = Request::with_id("r");
            request.tenant_id = tenant.map(str::to_owned);
            request.user = user.map(Json::string);
            request.content_type = kind.map(str::to_owned);
            request
        })
}

impl Listener {
    fn in_process(&self, index: usize) -> InProcess {
        let plugin = match self.faults {
            true => faulting(FaultKind::Trap),
            false => allowing(),
        };
        named(format!("p{index}"), plugin)
            .mode(self.mode)
            .priority(self.priority)
            .hooks(self.hooks.iter().copied())
            .conditions(self.conditions.clone())
            .on_error(self.on_error)
    }
}

/// Who was asked, phase by phase. Those of one phase that run at once are in the order of their names.
fn in_order(mut asked: Vec<(Mode, String)>) -> Vec<(Mode, String)> {
    asked.sort_by_key(|(mode, name)| {
        let at_once = *mode == Mode::Concurrent;
        (*mode, at_once.then(|| name.clone()))
    });
    asked
}

fn said(explained: &Explanation) -> Vec<(Mode, String)> {
    let mut runs: Vec<_> = explained
        .plugins
        .iter()
        .filter_map(|plugin| match &plugin.turn {
            Turn::Runs(part) => Some((part.position, plugin.mode, plugin.name.clone())),
            _ => None,
        })
        .collect();
    let positions: Vec<_> = runs.iter().map(|(position, ..)| *position).collect();
    assert_eq!(positions, (1..=runs.len()).collect::<Vec<_>>());
    in_order(runs.drain(..).map(|(_, mode, name)| (mode, name)).collect())
}

/// Who was asked, by the record of the outcome; what is told later has a record of its own.
fn recorded(records: &[Record]) -> Vec<(Mode, String)> {
    let outcomes: Vec<_> = records
        .iter()
        .filter(|record| record.of.is_none())
        .collect();
    assert!(outcomes.len() <= 1);
    let plugins = outcomes.iter().flat_map(|record| &record.plugins);
    let found: Vec<_> = plugins
        .map(|plugin| (plugin.mode, plugin.name.to_string()))
        .collect();
    let sorted = in_order(found.clone());
    let modes = |asked: &[(Mode, String)]| asked.iter().map(|(mode, _)| *mode).collect::<Vec<_>>();
    assert_eq!(modes(&found), modes(&sorted), "phase by phase");
    sorted
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn who_runs_is_who_the_record_lists(
        listeners in vec(listener(), 0..7),
        calls in vec((select(HOOKS.to_vec()), select(vec!["sh", "grep"]), request()), 1..4),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async {
            let records = Arc::new(Kept::default());
            let builder = listeners
                .iter()
                .enumerate()
                .fold(Engine::builder(), |builder, (index, listener)| builder.in_process(listener.in_process(index)));
            let engine = builder.records(records.clone()).build().await.expect("the names differ");
            for (hook, name, request) in &calls {
                let payload = format!(r#"{{"name":"{name}","result":1}}"#);
                let explained = engine.explain(hook, payload.as_str(), request).expect("passes the door");
                assert_eq!(explained.plugins.len(), listeners.len());
                let outcome = engine.invoke(hook, payload.as_str(), request).await.expect("passes the door");
                assert_eq!(outcome.record.is_some(), explained.heard);
                assert_eq!(said(&explained), recorded(&records.take()), "{explained:#?}");
            }
            engine.shutdown().await;
        });
    }
}
