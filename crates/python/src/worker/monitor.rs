//! The monitor: waits for a worker's end and cleans up behind it.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use tokio::process::Child;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::calls::Calls;

/// How long the pipes of an ended process are read on. What is in them comes at once; only a process
/// that left the group can hold them open longer.
const DRAIN: Duration = Duration::from_secs(1);
/// How long a process may live on that has closed its end of the pipes.
const EXIT: Duration = Duration::from_secs(1);

/// The tasks that serve a worker besides this one.
pub(super) struct Tasks {
    pub(super) reader: JoinHandle<()>,
    pub(super) writer: JoinHandle<()>,
    pub(super) log: JoinHandle<()>,
}

/// Waits for the end of the process, then tells the calls that are left and whoever waits for it.
pub(super) async fn watch(
    mut child: Child,
    calls: Arc<Calls>,
    mut tasks: Tasks,
    end: watch::Sender<bool>,
) {
    // If the runtime ends first, this task is dropped, and the group with it.
    let _group = KillOnDrop(Arc::clone(&calls));
    let mut read_to_end = false;
    let status = tokio::select! {
        status = child.wait() => status,
        _ = &mut tasks.reader => {
            read_to_end = true;
            calls.not_alive();
            match timeout(EXIT, child.wait()).await {
                Ok(status) => status,
                Err(_) => {
                    calls.kill("it closed its pipe");
                    child.wait().await
                }
            }
        }
    };
    calls.not_alive();
    calls.group().reaped();
    if !read_to_end && timeout(DRAIN, &mut tasks.reader).await.is_err() {
        tasks.reader.abort();
    }
    if timeout(DRAIN, &mut tasks.log).await.is_err() {
        tasks.log.abort();
    }
    tasks.writer.abort();
    calls.died(status.map_or_else(|error| format!("its end is not known: {error}"), describe));
    let _ = end.send(true);
}

struct KillOnDrop(Arc<Calls>);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        self.0.group().kill();
    }
}

fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => status.to_string(),
    }
}
