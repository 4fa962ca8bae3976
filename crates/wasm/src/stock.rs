//! [`Stock`]: instances of one plugin that wait ready, so that a clean one costs a call nothing.
//!
//! Under `single_use` a call takes an instance and hands it back as spent; the [filler](crate::filler)
//! drops it and makes another. Under `reuse` one that answered goes back to wait for the next call. A
//! call that finds none makes its own. At no time does a plugin hold more than its calls in flight and
//! its stock: ready, spent and in the making count together.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use hookgate_core::config::{InstancePolicy, Instances};

use crate::instance::{Instance, Maker};
use crate::limits::{REUSE_GROWTH_BYTES, STOCK_IDLE_LOOKS};

/// The instances of one plugin.
pub(crate) struct Stock {
    maker: Maker,
    policy: Instances,
    shelf: Mutex<Shelf>,
    /// Whether the filler has it in its queue.
    queued: AtomicBool,
}

#[derive(Default)]
struct Shelf {
    ready: Vec<Instance>,
    /// Used, and to be dropped: clearing its memory takes longer than many a verdict.
    spent: Vec<Instance>,
    /// Whether the filler makes one just now.
    in_making: bool,
    /// Looks of the filler since a call last asked for one.
    idle_looks: u32,
    closed: bool,
}

impl Shelf {
    fn len(&self) -> usize {
        self.ready.len() + self.spent.len() + usize::from(self.in_making)
    }

    fn is_idle(&self) -> bool {
        self.idle_looks >= STOCK_IDLE_LOOKS
    }
}

impl Stock {
    pub(crate) fn new(maker: Maker, policy: Instances) -> Arc<Self> {
        Arc::new(Self {
            maker,
            policy,
            shelf: Mutex::default(),
            queued: AtomicBool::new(false),
        })
    }

    pub(crate) fn maker(&self) -> &Maker {
        &self.maker
    }

    pub(crate) fn policy(&self) -> Instances {
        self.policy
    }

    /// How many wait ready.
    pub(crate) fn ready(&self) -> u32 {
        u32::try_from(self.shelf().ready.len()).unwrap_or(u32::MAX)
    }

    /// One that is ready, if there is one.
    pub(crate) fn take(self: &Arc<Self>) -> Option<Instance> {
        if self.policy.stock == 0 {
            return None;
        }
        let (instance, left) = {
            let mut shelf = self.shelf();
            shelf.idle_looks = 0;
            (shelf.ready.pop(), shelf.ready.len())
        };
        // What serves again comes back by itself; else the filler is told when the call is over.
        let half_empty = left * 2 < self.policy.stock as usize;
        if half_empty && (instance.is_none() || self.policy.policy == InstancePolicy::SingleUse) {
            self.maker.runtime.filler().want(self, true);
        }
        instance
    }

    /// Takes back one that has served. `sound`: it answered, and did not end in a fault.
    pub(crate) fn give_back(self: &Arc<Self>, mut instance: Instance, sound: bool) {
        let again = sound
            && self.policy.policy == InstancePolicy::Reuse
            && instance.calls() < self.policy.max_calls
            && instance.grown_bytes() <= REUSE_GROWTH_BYTES
            && instance.tidy();
        if !again && instance.holds_outside() {
            // Its descriptors and its scratch folder end with the call, not when the filler comes by.
            drop(instance);
            self.maker.runtime.filler().want(self, false);
            return;
        }
        let mut shelf = self.shelf();
        if shelf.closed || shelf.len() >= self.policy.stock as usize {
            drop(shelf);
            drop(instance);
        } else if again {
            shelf.ready.push(instance);
        } else {
            shelf.spent.push(instance);
            drop(shelf);
            self.maker.runtime.filler().want(self, false);
        }
    }

    /// Has the stock filled.
    pub(crate) fn refill(self: &Arc<Self>) {
        if self.policy.stock > 0 {
            self.maker.runtime.filler().want(self, true);
        }
    }

    /// Drops what is there; nothing is kept from now on.
    pub(crate) fn close(&self) {
        let (ready, spent) = {
            let mut shelf = self.shelf();
            shelf.closed = true;
            (
                std::mem::take(&mut shelf.ready),
                std::mem::take(&mut shelf.spent),
            )
        };
        drop((ready, spent));
    }

    /// One look at whether anybody asks. Drops what nobody has asked for since [`STOCK_IDLE_LOOKS`] looks;
    /// false if there is nothing left to watch.
    pub(crate) fn let_go(&self) -> bool {
        let idle = {
            let mut shelf = self.shelf();
            shelf.idle_looks += 1;
            if !shelf.is_idle() {
                return !shelf.closed;
            }
            (
                std::mem::take(&mut shelf.ready),
                std::mem::take(&mut shelf.spent),
            )
        };
        drop(idle);
        false
    }

    /// Sets the mark that it is in the filler's queue; answers whether it was there already.
    pub(crate) fn mark_queued(&self, queued: bool) -> bool {
        self.queued.swap(queued, Ordering::AcqRel)
    }

    /// Drops what is spent and makes one instance, if there is room; true if there is room for more.
    pub(crate) async fn tend(&self) -> bool {
        drop(std::mem::take(&mut self.shelf().spent));
        let Some(_making) = Making::begin(self) else {
            return false;
        };
        let made = self.maker.make(Instant::now() + self.maker.timeout).await;
        match made {
            Ok(instance) => self.add(instance),
            // The next call makes its own, and has the fault as its answer.
            Err(fault) => {
                tracing::debug!(plugin = %self.maker.name, "no instance for the stock: {fault}");
                false
            }
        }
    }

    fn add(&self, instance: Instance) -> bool {
        let mut shelf = self.shelf();
        if shelf.closed || shelf.is_idle() {
            drop(shelf);
            drop(instance);
            return false;
        }
        shelf.ready.push(instance);
        // The one in the making is this one.
        shelf.len() <= self.policy.stock as usize
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The mark that one is in the making, also when making it is cut short.
struct Making<'a>(&'a Stock);

impl<'a> Making<'a> {
    /// None where there is no room, or nobody asks any more.
    fn begin(stock: &'a Stock) -> Option<Self> {
        let mut shelf = stock.shelf();
        let room = shelf.len() < stock.policy.stock as usize;
        if shelf.closed || shelf.in_making || shelf.is_idle() || !room {
            return None;
        }
        shelf.in_making = true;
        Some(Self(stock))
    }
}

impl Drop for Making<'_> {
    fn drop(&mut self) {
        self.0.shelf().in_making = false;
    }
}
