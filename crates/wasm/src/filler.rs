//! [`Filler`]: the one task that fills the stocks of all plugins, in turn.
//!
//! It runs on the runtime of whoever asked first, and goes when that goes; the next call starts another.
//! Each turn makes one instance for one plugin, so that none waits for another's many. While there are
//! calls it looks by itself every millisecond, since waking a task costs the call that does it; where
//! there are none it sleeps until it is woken.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::limits::{REFILL_PAUSE, REFILL_ROUNDS, STOCK_IDLE, STOCK_IDLE_LOOKS};
use crate::stock::Stock;

const LOOK_EVERY: Duration =
    Duration::from_millis(STOCK_IDLE.as_millis() as u64 / STOCK_IDLE_LOOKS as u64);

/// There is no task.
const GONE: u8 = 0;
/// It works, and looks into the queue when it is done.
const WORKING: u8 = 1;
/// It looks again within [`REFILL_PAUSE`].
const PAUSING: u8 = 2;
/// It waits to be woken.
const ASLEEP: u8 = 3;

/// Fills stocks in the background.
pub(crate) struct Filler {
    queue: Mutex<Queue>,
    task: AtomicU8,
    wake: Notify,
}

#[derive(Default)]
struct Queue {
    wanting: VecDeque<Weak<Stock>>,
    /// Stocks that may hold instances nobody asks for.
    watched: Vec<Weak<Stock>>,
    next_look: Option<Instant>,
}

impl Filler {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            queue: Mutex::default(),
            task: AtomicU8::new(GONE),
            wake: Notify::new(),
        })
    }

    /// Puts a stock into the queue. One that is `urgent` does not wait for the task's next look.
    pub(crate) fn want(self: &Arc<Self>, stock: &Arc<Stock>, urgent: bool) {
        if !stock.mark_queued(true) {
            self.queue().wanting.push_back(Arc::downgrade(stock));
        }
        match self.task.load(Ordering::Acquire) {
            GONE => self.start(),
            ASLEEP => self.wake.notify_one(),
            PAUSING if urgent => self.wake.notify_one(),
            _ => {}
        }
    }

    fn start(self: &Arc<Self>) {
        // Outside of a runtime each call makes its own instance.
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        let started =
            self.task
                .compare_exchange(GONE, WORKING, Ordering::AcqRel, Ordering::Acquire);
        if started.is_ok() {
            let alive = Alive(Arc::clone(self));
            runtime.spawn(async move { alive.0.work().await });
        }
    }

    async fn work(self: &Arc<Self>) {
        let mut idle_rounds = 0;
        // Without the runtime that holds it, there is nobody to work for.
        while Arc::strong_count(self) > 1 {
            self.task.store(WORKING, Ordering::Release);
            self.look();
            if self.round().await {
                idle_rounds = 0;
            } else {
                idle_rounds += 1;
            }
            // A stock that came after the round and before the mark is seen by the next look, or woke us.
            if idle_rounds < REFILL_ROUNDS {
                self.task.store(PAUSING, Ordering::Release);
                let _ = timeout(REFILL_PAUSE, self.wake.notified()).await;
            } else {
                self.task.store(ASLEEP, Ordering::Release);
                if self.queue().wanting.is_empty() {
                    let _ = timeout(LOOK_EVERY, self.wake.notified()).await;
                }
                idle_rounds = 0;
            }
        }
    }

    /// Tends every stock in the queue, one instance a turn; false if there was none.
    async fn round(&self) -> bool {
        let mut worked = false;
        loop {
            let next = self.queue().wanting.pop_front();
            let Some(stock) = next else { return worked };
            worked = true;
            let Some(stock) = stock.upgrade() else {
                continue;
            };
            // Before it is looked at: who wants it from now on puts it back into the queue.
            stock.mark_queued(false);
            let more = stock.tend().await;
            {
                let mut queue = self.queue();
                let place = Arc::downgrade(&stock);
                if more && !stock.mark_queued(true) {
                    queue.wanting.push_back(place.clone());
                }
                if !queue.watched.iter().any(|watched| watched.ptr_eq(&place)) {
                    queue.watched.push(place);
                }
            }
            drop(stock);
            self.look();
            // Calls come first.
            tokio::task::yield_now().await;
        }
    }

    /// Lets go of what nobody asks for, if it is time to look.
    fn look(&self) {
        let mut watched = {
            let mut queue = self.queue();
            let now = Instant::now();
            if queue.next_look.is_some_and(|next| now < next) {
                return;
            }
            queue.next_look = Some(now + LOOK_EVERY);
            std::mem::take(&mut queue.watched)
        };
        watched.retain(|stock| stock.upgrade().is_some_and(|stock| stock.let_go()));
        self.queue().watched.append(&mut watched);
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The task; whatever ends it, another can be started.
struct Alive(Arc<Filler>);

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.task.store(GONE, Ordering::Release);
    }
}
