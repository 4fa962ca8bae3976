//! [`Generation`]: one set of loaded plugins, swapped as a whole.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::sync::{Notify, watch};

use crate::config::Mode;
use crate::engine::LoadProblem;
use crate::entry::Entry;
use crate::explain::Facts;

/// Who listens to a hook, sorted into the phases once and for all.
pub(crate) struct Listeners {
    /// The hook's name.
    pub(crate) name: Arc<str>,
    /// The phases that run one after another (`sequential`, `transform`, `audit`), in a row; inside a
    /// phase by priority and then config order.
    pub(crate) serial: Box<[Arc<Entry>]>,
    /// The phase that runs at once, in config order.
    pub(crate) concurrent: Box<[Arc<Entry>]>,
    /// The places in `concurrent` by priority: the order in which its calls begin.
    pub(crate) concurrent_by_priority: Box<[usize]>,
    /// The phase in the background, by priority and then config order.
    pub(crate) background: Box<[Arc<Entry>]>,
}

impl Listeners {
    /// From the entries in config order.
    fn new(hook: &str, entries: Vec<Arc<Entry>>) -> Self {
        let mut serial = Vec::new();
        let mut concurrent = Vec::new();
        let mut background = Vec::new();
        for entry in entries {
            match entry.mode {
                Mode::Sequential | Mode::Transform | Mode::Audit => serial.push(entry),
                Mode::Concurrent => concurrent.push(entry),
                Mode::FireAndForget => background.push(entry),
                Mode::Disabled => {}
            }
        }
        // Stable: equal priorities keep the config's order.
        serial.sort_by_key(|entry| (entry.mode, entry.priority));
        background.sort_by_key(|entry| entry.priority);
        let mut by_priority: Vec<usize> = (0..concurrent.len()).collect();
        by_priority.sort_by_key(|place| concurrent[*place].priority);
        Self {
            name: hook.into(),
            serial: serial.into(),
            concurrent: concurrent.into(),
            concurrent_by_priority: by_priority.into(),
            background: background.into(),
        }
    }

    /// All of them, phase by phase.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<Entry>> {
        let foreground = self.serial.iter().chain(&self.concurrent);
        foreground.chain(&self.background)
    }
}

/// Plugins that serve together from load to reload.
pub(crate) struct Generation {
    pub(crate) number: u64,
    pub(crate) entries: Vec<Arc<Entry>>,
    /// Disabled entries, which are not loaded and only told about.
    pub(crate) unloaded: Vec<Facts>,
    /// Entries that did not load and were left out, as the configuration says.
    pub(crate) skipped: Vec<LoadProblem>,
    hooks: HashMap<String, Listeners>,
    closed: bool,
    /// No call begins any more.
    retired: AtomicBool,
    /// Calls somebody waits for.
    calls: Count,
    /// Calls nobody waits for. Only a call of the other kind begins one.
    background: Count,
    /// Whether background calls are to end as they are.
    given_up: watch::Sender<bool>,
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
            .map(|(hook, entries)| {
                let listeners = Listeners::new(&hook, entries);
                (hook, listeners)
            })
            .collect();
        Self {
            number,
            entries,
            unloaded: Vec::new(),
            skipped: Vec::new(),
            hooks,
            closed: false,
            retired: AtomicBool::new(false),
            calls: Count::default(),
            background: Count::default(),
            given_up: watch::Sender::new(false),
        }
    }

    /// The same, knowing of entries that did not load and were left out.
    pub(crate) fn without(mut self, skipped: Vec<LoadProblem>) -> Self {
        self.skipped = skipped;
        self
    }

    /// The same, knowing of entries that are disabled.
    pub(crate) fn knowing_of(mut self, unloaded: Vec<Facts>) -> Self {
        self.unloaded = unloaded;
        self
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
    pub(crate) fn listeners(&self, hook: &str) -> Option<&Listeners> {
        self.hooks.get(hook)
    }

    /// Counts a call in; none once the generation is retired.
    pub(crate) fn enter(self: &Arc<Self>) -> Option<InFlight> {
        // Sequentially consistent on both sides: either this call sees `retired` or `retire` sees the count.
        self.calls.up();
        let guard = InFlight(Arc::clone(self));
        (!self.retired.load(Ordering::SeqCst)).then_some(guard)
    }

    /// Lets no call begin any more.
    pub(crate) fn close(&self) {
        self.retired.store(true, Ordering::SeqCst);
    }

    /// Waits for the calls somebody waits for. It must have been closed.
    pub(crate) async fn calls_over(&self) {
        self.calls.zero().await;
    }

    /// Waits for the background calls too.
    pub(crate) async fn background_over(&self) {
        // In this order: a call begins its background calls before it is over.
        self.calls.zero().await;
        self.background.zero().await;
    }

    /// Ends background calls as they are, and says whose.
    pub(crate) fn give_up(&self) -> BTreeSet<Arc<str>> {
        let left = self.entries.iter();
        let left = left.filter(|entry| entry.in_background.load(Ordering::SeqCst) > 0);
        let names = left.map(|entry| Arc::clone(&entry.name)).collect();
        self.given_up.send_replace(true);
        names
    }

    /// Waits for all calls under way, then ends the plugins; those of this process only with the
    /// `last` generation, since the next one serves them too.
    pub(crate) async fn retire(&self, last: bool) {
        self.close();
        self.background_over().await;
        let ending = self
            .entries
            .iter()
            .filter(|entry| last || !entry.in_process);
        futures::future::join_all(ending.map(|entry| entry.shutdown())).await;
    }

    fn down(&self, count: &Count) {
        if count.down() == 0 && self.retired.load(Ordering::SeqCst) {
            count.none.notify_waiters();
        }
    }
}

/// Calls under way.
#[derive(Default)]
struct Count {
    now: AtomicU64,
    none: Notify,
}

impl Count {
    fn up(&self) {
        self.now.fetch_add(1, Ordering::SeqCst);
    }

    /// How many are left.
    fn down(&self) -> u64 {
        self.now.fetch_sub(1, Ordering::SeqCst) - 1
    }

    async fn zero(&self) {
        loop {
            let none = self.none.notified();
            if self.now.load(Ordering::SeqCst) == 0 {
                return;
            }
            none.await;
        }
    }
}

/// A call under way.
pub(crate) struct InFlight(pub(crate) Arc<Generation>);

impl InFlight {
    /// Counts a background call in, which holds the generation like any other.
    pub(crate) fn background(&self, entry: &Arc<Entry>) -> InBackground {
        self.0.background.up();
        entry.in_background.fetch_add(1, Ordering::SeqCst);
        InBackground {
            generation: Arc::clone(&self.0),
            entry: Arc::clone(entry),
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.down(&self.0.calls);
    }
}

/// A background call under way.
pub(crate) struct InBackground {
    generation: Arc<Generation>,
    entry: Arc<Entry>,
}

impl InBackground {
    /// Waits until the call is to end as it is.
    pub(crate) async fn given_up(&self) {
        let mut given_up = self.generation.given_up.subscribe();
        // The sender lives as long as the generation.
        let _ = given_up.wait_for(|given_up| *given_up).await;
    }
}

impl Drop for InBackground {
    fn drop(&mut self) {
        self.entry.in_background.fetch_sub(1, Ordering::SeqCst);
        self.generation.down(&self.generation.background);
    }
}
