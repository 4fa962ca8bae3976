//! Engines that break one rule of the mode table, each of which the vectors must catch at least three times.
//!
//! A rule is broken by running a mode, or a fault, as another one; the plugins are those of this process.

use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use hookgate::config::{Mode, OnError};
use hookgate::{
    Answer, Engine, EngineBuilder, Fault, HookCall, Plugin, PluginInfo, Verdict, Violation,
};
use hookgate_vectors::in_process::{entry, policy};
use hookgate_vectors::{Kind, Setup, Suite};

/// What an engine does wrong.
#[derive(Clone, Copy)]
enum Broken {
    /// What runs in one mode runs as in another.
    Mode(Mode, Mode),
    /// What a fault does under one `on_error` is what it does under another.
    OnError(OnError, OnError),
    /// What a plugin answers is taken for something else.
    Answer(fn(Result<Answer, Fault>, &HookCall) -> Result<Answer, Fault>),
}

impl Setup for Broken {
    fn kind(&self) -> Kind {
        Kind::InProcess
    }

    async fn engine(&self, suite: &Suite, setup: &str) -> Engine {
        let plugins = suite.setup(setup).plugins.iter().map(|said| {
            let mut bent = said.clone();
            let mut plugin = policy(said);
            match *self {
                Self::Mode(from, to) if said.mode.unwrap_or(Mode::Sequential) == from => {
                    bent.mode = Some(to);
                }
                Self::OnError(from, to) if said.on_error.unwrap_or(OnError::Fail) == from => {
                    bent.on_error = Some(to);
                }
                Self::Answer(break_it) => {
                    plugin = Arc::new(Misheard {
                        real: plugin,
                        break_it,
                    });
                }
                Self::Mode(..) | Self::OnError(..) => {}
            }
            entry(&bent, plugin)
        });
        let builder = plugins.fold(Engine::builder(), EngineBuilder::in_process);
        builder.build().await.expect("every plugin loads")
    }
}

struct Misheard {
    real: Arc<dyn Plugin>,
    break_it: fn(Result<Answer, Fault>, &HookCall) -> Result<Answer, Fault>,
}

impl Plugin for Misheard {
    fn describe(&self) -> PluginInfo {
        self.real.describe()
    }

    fn call(&self, call: HookCall) -> BoxFuture<'_, Result<Answer, Fault>> {
        async move { (self.break_it)(self.real.call(call.clone()).await, &call) }.boxed()
    }
}

/// Fails unless at least three vectors catch it.
async fn caught(broken: Broken) {
    let mut suite = Suite::load();
    // These cost time and are about time.
    suite
        .vectors
        .retain(|vector| !vector.name.contains("never-answers"));
    let report = suite.run(&broken).await;
    let caught = report.caught();
    assert!(caught.len() >= 3, "of {} steps: {caught:?}", report.steps);
}

#[tokio::test]
async fn nothing_broken_is_not_caught() {
    let mut suite = Suite::load();
    suite
        .vectors
        .retain(|vector| !vector.name.contains("never-answers"));
    let report = suite.run(&Broken::Answer(|answer, _| answer)).await;
    assert_eq!(report.caught(), std::collections::BTreeSet::new());
}

/// A test for each way an engine may be broken.
macro_rules! broken {
    ($($name:ident: $broken:expr;)+) => {$(
        #[tokio::test]
        async fn $name() {
            caught($broken).await;
        }
    )+};
}

broken! {
    transform_may_deny_and_ask: Broken::Mode(Mode::Transform, Mode::Sequential);
    transform_may_not_change: Broken::Mode(Mode::Transform, Mode::Audit);
    sequential_may_not_deny: Broken::Mode(Mode::Sequential, Mode::Transform);
    sequential_may_not_change: Broken::Mode(Mode::Sequential, Mode::Concurrent);
    audit_may_change_and_leave_effects: Broken::Mode(Mode::Audit, Mode::Transform);
    audit_leaves_nothing: Broken::Mode(Mode::Audit, Mode::FireAndForget);
    audit_may_deny: Broken::Mode(Mode::Audit, Mode::Concurrent);
    concurrent_may_change: Broken::Mode(Mode::Concurrent, Mode::Sequential);
    concurrent_may_not_deny: Broken::Mode(Mode::Concurrent, Mode::Audit);
    background_leaves_traces: Broken::Mode(Mode::FireAndForget, Mode::Audit);
    background_may_deny: Broken::Mode(Mode::FireAndForget, Mode::Concurrent);
    disabled_is_there: Broken::Mode(Mode::Disabled, Mode::Sequential);
    faults_are_ignored: Broken::OnError(OnError::Fail, OnError::Ignore);
    ignored_faults_deny: Broken::OnError(OnError::Ignore, OnError::Fail);
    disabled_plugins_go_on: Broken::OnError(OnError::Disable, OnError::Ignore);
    ignored_faults_disable: Broken::OnError(OnError::Ignore, OnError::Disable);
    a_fault_is_an_allow: Broken::Answer(|answer, call| {
        Ok(answer.unwrap_or_else(|_| call.draft().allow()))
    });
    a_fault_is_a_denial_of_the_plugin: Broken::Answer(|answer, call| {
        Ok(answer.unwrap_or_else(|_| call.draft().deny(Violation::denied())))
    });
    asking_is_allowing: Broken::Answer(|answer, _| {
        answer.map(|answer| match answer.verdict() {
            Verdict::Ask(_) => answer.with_verdict(Verdict::Allow),
            _ => answer,
        })
    });
    asking_is_denying: Broken::Answer(|answer, _| {
        answer.map(|answer| match answer.verdict() {
            Verdict::Ask(_) => answer.with_verdict(Verdict::Deny(Violation::denied())),
            _ => answer,
        })
    });
    a_denial_without_violation_is_an_allow: Broken::Answer(|answer, _| {
        answer.map(|answer| match answer.verdict() {
            Verdict::Deny(violation) if violation.code == "denied" => answer.with_verdict(Verdict::Allow),
            _ => answer,
        })
    });
}
