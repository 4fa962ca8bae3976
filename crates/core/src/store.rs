//! [`RequestStore`]: what plugins leave behind for later hooks of the same request.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::config::defaults::{STATE_IDLE_SECONDS, STATE_REQUESTS};
use crate::effects::{self, Effects};
use crate::request::{Request, RequestView, StateMap};

/// State of requests between their hooks, bounded in number, age and (by the draft) size.
#[derive(Debug, Default)]
pub struct RequestStore {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    requests: HashMap<Arc<str>, Kept>,
    /// Oldest use first.
    by_use: BTreeMap<u64, Arc<str>>,
    next_use: u64,
}

#[derive(Debug)]
struct Kept {
    used: u64,
    used_at: Instant,
    private: HashMap<Arc<str>, Arc<StateMap>>,
    shared: Arc<StateMap>,
    metadata: Arc<StateMap>,
}

impl RequestStore {
    /// What `plugin` sees of a request now.
    pub(crate) fn view(&self, caller: &Arc<Request>, plugin: &str) -> RequestView {
        self.lock().view(caller, plugin)
    }

    /// What each of the plugins sees of a request at one and the same moment.
    pub(crate) fn views<'a>(
        &self,
        caller: &Arc<Request>,
        plugins: impl Iterator<Item = &'a str>,
    ) -> Vec<RequestView> {
        let mut inner = self.lock();
        plugins.map(|plugin| inner.view(caller, plugin)).collect()
    }

    /// Carries out the state changes of one answer; false if the state would be larger than
    /// `max_bytes` with them, and larger than it is. None of them is carried out then.
    pub(crate) fn commit(
        &self,
        request: &str,
        plugin: &Arc<str>,
        effects: &Effects,
        max_bytes: u64,
    ) -> bool {
        if effects.state.is_empty()
            && effects.shared.is_empty()
            && effects.request_metadata.is_empty()
        {
            return true;
        }
        let mut inner = self.lock();
        let kept = inner.touch_or_insert(request);
        let (before, after) = kept.bytes_with(plugin, effects);
        if after > max_bytes && after > before {
            return false;
        }
        if !effects.state.is_empty() {
            effects::apply(
                &effects.state,
                Arc::make_mut(kept.private.entry(Arc::clone(plugin)).or_default()),
            );
        }
        effects::apply(&effects.shared, Arc::make_mut(&mut kept.shared));
        effects::apply(&effects.request_metadata, Arc::make_mut(&mut kept.metadata));
        true
    }

    /// How many requests are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().requests.len()
    }

    /// Whether nothing is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets one request, for a front door that knows it is over.
    pub fn forget(&self, request: &str) {
        self.lock().remove(request);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn view(&mut self, caller: &Arc<Request>, plugin: &str) -> RequestView {
        let mut view = RequestView {
            caller: Arc::clone(caller),
            private: None,
            shared: None,
            metadata: None,
            state_bytes: 0,
        };
        if self.requests.is_empty() {
            return view;
        }
        self.forget_idle(Instant::now());
        if let Some(kept) = self.touch(view.id()) {
            view.private = kept.private.get(plugin).cloned();
            view.shared = Some(Arc::clone(&kept.shared));
            view.metadata = Some(Arc::clone(&kept.metadata));
            view.state_bytes = kept.bytes();
        }
        view
    }

    fn touch(&mut self, request: &str) -> Option<&mut Kept> {
        let kept = self.requests.get_mut(request)?;
        let name = self.by_use.remove(&kept.used)?;
        kept.used = self.next_use;
        kept.used_at = Instant::now();
        self.by_use.insert(kept.used, name);
        self.next_use += 1;
        Some(kept)
    }

    fn touch_or_insert(&mut self, request: &str) -> &mut Kept {
        if !self.requests.contains_key(request) {
            while self.requests.len() >= STATE_REQUESTS {
                let Some(oldest) = self.by_use.values().next().cloned() else {
                    break;
                };
                self.remove(&oldest);
            }
            let name: Arc<str> = request.into();
            let kept = Kept {
                used: self.next_use,
                used_at: Instant::now(),
                private: HashMap::new(),
                shared: Arc::default(),
                metadata: Arc::default(),
            };
            self.by_use.insert(self.next_use, Arc::clone(&name));
            self.next_use += 1;
            self.requests.insert(name, kept);
        }
        self.touch(request).expect("the request was inserted above")
    }

    fn remove(&mut self, request: &str) {
        if let Some(kept) = self.requests.remove(request) {
            self.by_use.remove(&kept.used);
        }
    }

    fn forget_idle(&mut self, now: Instant) {
        while let Some(oldest) = self.by_use.values().next().cloned() {
            let idle = self.requests.get(&oldest).is_none_or(|kept| {
                now.duration_since(kept.used_at) > Duration::from_secs(STATE_IDLE_SECONDS)
            });
            if !idle {
                return;
            }
            self.remove(&oldest);
        }
    }
}

impl Kept {
    fn bytes(&self) -> u64 {
        self.private
            .values()
            .map(|map| effects::bytes(map))
            .sum::<u64>()
            + effects::bytes(&self.shared)
            + effects::bytes(&self.metadata)
    }

    /// The bytes now, and with the changes of one answer of `plugin`.
    fn bytes_with(&self, plugin: &str, effects: &Effects) -> (u64, u64) {
        let none = StateMap::new();
        let private = self.private.get(plugin).map_or(&none, |map| &**map);
        let changed = [
            (&effects.state, private),
            (&effects.shared, &*self.shared),
            (&effects.request_metadata, &*self.metadata),
        ];
        let before = self.bytes();
        let (gone, new) = changed
            .into_iter()
            .map(|(changes, map)| effects::resized(changes, map))
            .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        (before, (before + new).saturating_sub(gone))
    }
}
