//! [`PythonPlugin`]: a loaded class, as the engine sees it.

use std::sync::{Arc, Mutex, PoisonError};

use futures::future::BoxFuture;
use hookgate_core::{Answer, Capabilities, EnvironmentInfo, Fault, HookCall, Plugin, PluginInfo};

use crate::answer;
use crate::credentials;
use crate::environment::{Environment, UseLock};
use crate::supervisor::Supervisor;

/// A legacy class in a supervised worker.
pub(crate) struct PythonPlugin {
    pub(crate) supervisor: Arc<Supervisor>,
    pub(crate) hooks: Vec<String>,
    /// What confines its workers, and what nothing does.
    pub(crate) sandbox: String,
    pub(crate) notes: Vec<String>,
    pub(crate) info: Option<EnvironmentInfo>,
    /// None for a stub.
    pub(crate) environment: Option<InUse>,
    /// What it may see; the tokens among it are the host's part.
    pub(crate) granted: Capabilities,
}

/// The environment that the workers of a plugin run in, for as long as the plugin is loaded.
pub(crate) struct InUse {
    pub(crate) environment: Environment,
    /// What the operator may want to know of it.
    pub(crate) notes: Vec<String>,
    /// Nobody removes it while this is held.
    pub(crate) lock: Mutex<Option<UseLock>>,
}

impl PythonPlugin {
    /// A fault of a worker that is not there, with the reason that only a look at the disk shows.
    fn explained(&self, mut fault: Fault) -> Fault {
        if let Some(InUse { environment, .. }) = &self.environment
            && environment.is_gone()
        {
            let path = environment.path.display();
            fault.message = format!(
                "{}; its environment has been removed: {path}",
                fault.message
            );
        }
        fault
    }

    async fn ask(&self, call: &HookCall) -> Result<Answer, Fault> {
        let tokens = self.supervisor.tokens();
        let lent = credentials::lend(call, self.granted)?;
        let (sent, lent) = match lent {
            Some(lent) => (lent.call, lent.tokens),
            None => (call.clone(), Vec::new()),
        };
        // From before it is sent until the call is over, whichever way.
        let _held = (!lent.is_empty()).then(|| tokens.hold(lent));
        let worker = self.supervisor.worker(call.deadline).await;
        let worker = worker.map_err(|fault| self.explained(fault))?;
        let body = worker.ask(&sent).await?;
        let answer = answer::read(&body, call, tokens)?;
        self.supervisor.succeeded();
        Ok(answer)
    }
}

impl Plugin for PythonPlugin {
    fn describe(&self) -> PluginInfo {
        PluginInfo {
            kind: "python",
            hooks: self.hooks.clone(),
            digest: None,
            sandbox: self.sandbox.clone(),
            state: self.supervisor.word(),
            late_answers: self.supervisor.late_answers(),
            environment: self.info.clone(),
            notes: {
                let of_environment = self.environment.iter().flat_map(|used| &used.notes);
                of_environment.chain(&self.notes).cloned().collect()
            },
            ..PluginInfo::default()
        }
    }

    fn call(&self, call: HookCall) -> BoxFuture<'_, Result<Answer, Fault>> {
        Box::pin(async move {
            let answered = self.ask(&call).await;
            answered.map_err(|fault| self.supervisor.tokens().hide_in(fault))
        })
    }

    fn shutdown(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            self.supervisor.shutdown().await;
            if let Some(InUse { lock, .. }) = &self.environment {
                *lock.lock().unwrap_or_else(PoisonError::into_inner) = None;
            }
        })
    }

    fn keeps_deadline(&self) -> bool {
        true
    }
}
