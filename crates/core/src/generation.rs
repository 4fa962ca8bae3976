//! [`Generation`]: one set of loaded plugins, swapped as a whole.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::sync::Notify;

use crate::config::Mode;
use crate::entry::Entry;

/// A hook's name, and who listens to it.
type Listeners = (Arc<str>, Box<[Arc<Entry>]>);

/// Plugins that serve together from load to reload.
pub(crate) struct Generation {
    pub(crate) number: u64,
    pub(crate) entries: Vec<Arc<Entry>>,
    /// Per hook, by priority and then config order.
    hooks: HashMap<String, Listeners>,
    closed: bool,
    in_flight: AtomicU64,
    retired: AtomicBool,
    idle: Notify,
}

impl Generation {
    pub(crate) fn new(number: u64, entries: Vec<Arc<Entry>>) -> Self {
        let mut hooks: HashMap<String, Vec<Arc<Entry>>> = HashMap::new();
        for entry in entries.iter().filter(|entry| entry.mode != Mode::Disabled) {
            for hook in &entry.hooks {
                let listeners = hooks.entry(hook.clone()).or_default();
                // A hook named twice is heard once.
                if listeners
                    .last()
                    .is_none_or(|last| !Arc::ptr_eq(last, entry))
                {
                    listeners.push(Arc::clone(entry));
                }
            }
        }
        let hooks = hooks
            .into_iter()
            .map(|(hook, mut entries)| {
                // Stable: equal priorities keep the config's order.
                entries.sort_by_key(|entry| entry.priority);
                let name: Arc<str> = hook.as_str().into();
                (hook, (name, entries.into_boxed_slice()))
            })
            .collect();
        Self {
            number,
            entries,
            hooks,
            closed: false,
            in_flight: AtomicU64::new(0),
            retired: AtomicBool::new(false),
            idle: Notify::new(),
        }
    }

    /// What serves after a shutdown: nothing, not even hooks nobody listens to.
    pub(crate) fn closed(number: u64) -> Self {
        Self {
            closed: true,
            ..Self::new(number, Vec::new())
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Who listens to a hook; none is the answer for a hook nobody listens to.
    pub(crate) fn listeners(&self, hook: &str) -> Option<(&Arc<str>, &[Arc<Entry>])> {
        self.hooks
            .get(hook)
            .map(|(name, entries)| (name, &**entries))
    }

    /// Counts a call in; none once the generation is retired.
    pub(crate) fn enter(self: &Arc<Self>) -> Option<InFlight> {
        // Sequentially consistent on both sides: either this call sees `retired` or `retire` sees the count.
        self.in_flight.fetch_add(1, Ordering::SeqCst);
        let guard = InFlight(Arc::clone(self));
        (!self.retired.load(Ordering::SeqCst)).then_some(guard)
    }

    /// Waits for the calls under way, then ends the plugins; those of this process only with the
    /// `last` generation, since the next one serves them too.
    pub(crate) async fn retire(&self, last: bool) {
        self.retired.store(true, Ordering::SeqCst);
        loop {
            let idle = self.idle.notified();
            if self.in_flight.load(Ordering::SeqCst) == 0 {
                break;
            }
            idle.await;
        }
        let ending = self
            .entries
            .iter()
            .filter(|entry| last || !entry.in_process);
        futures::future::join_all(ending.map(|entry| entry.shutdown())).await;
    }
}

/// A call under way.
pub(crate) struct InFlight(pub(crate) Arc<Generation>);

impl Drop for InFlight {
    fn drop(&mut self) {
        if self.0.in_flight.fetch_sub(1, Ordering::SeqCst) == 1
            && self.0.retired.load(Ordering::SeqCst)
        {
            self.0.idle.notify_waiters();
        }
    }
}
