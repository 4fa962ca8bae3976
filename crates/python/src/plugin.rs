//! [`PythonPlugin`]: a loaded class, as the engine sees it.

use std::sync::Arc;

use futures::future::BoxFuture;
use hookgate_core::{Answer, EnvironmentInfo, Fault, HookCall, Plugin, PluginInfo};

use crate::answer;
use crate::supervisor::Supervisor;

/// A legacy class in a supervised worker.
pub(crate) struct PythonPlugin {
    pub(crate) supervisor: Arc<Supervisor>,
    pub(crate) hooks: Vec<String>,
    pub(crate) environment: Option<EnvironmentInfo>,
}

impl Plugin for PythonPlugin {
    fn describe(&self) -> PluginInfo {
        PluginInfo {
            kind: "python",
            hooks: self.hooks.clone(),
            digest: None,
            sandbox: "none".to_owned(),
            state: self.supervisor.word(),
            late_answers: self.supervisor.late_answers(),
            environment: self.environment.clone(),
            ..PluginInfo::default()
        }
    }

    fn call(&self, call: HookCall) -> BoxFuture<'_, Result<Answer, Fault>> {
        Box::pin(async move {
            let worker = self.supervisor.worker(call.deadline).await?;
            let body = worker.ask(&call).await?;
            let answer = answer::read(&body, &call)?;
            self.supervisor.succeeded();
            Ok(answer)
        })
    }

    fn shutdown(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.supervisor.shutdown())
    }

    fn keeps_deadline(&self) -> bool {
        true
    }
}
