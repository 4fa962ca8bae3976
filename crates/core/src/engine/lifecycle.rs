//! Reloading and shutting down: what becomes of a generation that no longer serves.

use std::collections::BTreeSet;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::join_all;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::{Engine, LoadReport};
use crate::config::Config;
use crate::config::defaults::BACKGROUND_DRAIN_SECONDS;
use crate::generation::Generation;

/// A replaced generation, and the task that ends it after its last call.
pub(super) struct Retiring {
    generation: Arc<Generation>,
    task: JoinHandle<()>,
}

impl Engine {
    /// Loads the plugins of `config` beside the ones that serve, and swaps them in if all load.
    /// The old ones end when their last call has. Limits of the engine itself stay as built.
    ///
    /// # Errors
    ///
    /// [`LoadReport`] with every plugin that did not load; the old generation then serves on. An
    /// empty one after [`Engine::shutdown`]: an engine that was shut down stays so.
    pub async fn reload(&self, config: Config) -> Result<(), LoadReport> {
        let shut_down = || LoadReport {
            problems: Vec::new(),
        };
        let source = self.inner.source.lock().await;
        let old = self.inner.generation.load_full();
        if old.is_closed() {
            return Err(shut_down());
        }
        let new = Arc::new(source.load(config, old.number + 1).await?);
        let served = &self.inner.generation;
        let swapped = Arc::ptr_eq(&served.compare_and_swap(&old, Arc::clone(&new)), &old);
        if !swapped {
            // Only a shutdown swaps without the lock on the source. It does not know the new plugins.
            new.retire(false).await;
            return Err(shut_down());
        }
        let mut retiring = self.retiring();
        retiring.retain(|retiring| !retiring.task.is_finished());
        let generation = Arc::clone(&old);
        let task = tokio::spawn(async move { old.retire(false).await });
        retiring.push(Retiring { generation, task });
        Ok(())
    }

    fn retiring(&self) -> MutexGuard<'_, Vec<Retiring>> {
        let retiring = self.inner.retiring.lock();
        retiring.unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the calls under way and ends every plugin. Calls that come later are errors.
    ///
    /// Background calls are waited for [`BACKGROUND_DRAIN_SECONDS`] at most, once nobody waits for an
    /// outcome any more; those that are left then are dropped, and a warning names their plugins. A plugin
    /// that blocks its thread cannot be dropped, and is waited for until it returns.
    pub async fn shutdown(&self) {
        let number = self.inner.generation.load().number + 1;
        let closed = Arc::new(Generation::closed(number));
        let old = self.inner.generation.swap(closed);
        old.close();
        let retiring = std::mem::take(&mut *self.retiring());
        let (mut generations, tasks): (Vec<_>, Vec<_>) = retiring
            .into_iter()
            .map(|retiring| (retiring.generation, retiring.task))
            .unzip();
        generations.push(Arc::clone(&old));
        join_all(generations.iter().map(|one| one.calls_over())).await;
        let drained = join_all(generations.iter().map(|one| one.background_over()));
        let bound = Duration::from_secs(BACKGROUND_DRAIN_SECONDS);
        if timeout(bound, drained).await.is_err() {
            let left: BTreeSet<_> = generations.iter().flat_map(|one| one.give_up()).collect();
            let plugins = left.into_iter().collect::<Vec<_>>().join(", ");
            tracing::warn!(%plugins, "background calls did not end within {BACKGROUND_DRAIN_SECONDS}s of the shutdown and were dropped");
        }
        join_all(tasks).await;
        old.retire(true).await;
    }
}
