//! The `concurrent` phase: all at once on one snapshot, in the caller's task.
//!
//! Plugins are begun by priority and merged in config order, whoever is done first. The first denial
//! ends the phase: every sibling is polled once more, so that one that is done has answered, and what
//! is left is dropped, which cancels it. One that blocks its thread cannot be cancelled, and holds up
//! the others as long as it does.

use std::future::poll_fn;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::future::BoxFuture;

use super::Run;
use crate::config::OnError;
use crate::entry::{Called, Entry};
use crate::generation::Listeners;
use crate::record::RecordedVerdict;
use crate::verdict::Verdict;

/// One plugin of the phase.
struct Sibling<'a> {
    entry: &'a Entry,
    /// None once it is over.
    call: Option<BoxFuture<'a, Called>>,
    /// None while it is under way, and for good if it was cancelled.
    called: Option<Called>,
    took: Duration,
}

impl Run<'_> {
    /// Asks every plugin of the phase, and merges what they say.
    pub(super) async fn ask_at_once(&mut self, listeners: &Listeners) {
        let asked: Vec<Option<&Entry>> = listeners
            .concurrent
            .iter()
            .map(|entry| Some(&**entry).filter(|entry| self.concerns(entry)))
            .collect();
        let started = Instant::now();
        let names = asked.iter().flatten().map(|entry| &*entry.name);
        let mut views = self
            .question
            .store
            .views(&self.question.caller, names)
            .into_iter();
        // By config order, as they are merged; with a gap for who is not asked.
        let mut siblings: Vec<Option<Sibling<'_>>> = asked
            .into_iter()
            .map(|entry| {
                let entry = entry?;
                let call = self.call(entry, views.next()?, started);
                Some(Sibling {
                    entry,
                    call: Some(entry.call(call, started).boxed()),
                    called: None,
                    took: Duration::ZERO,
                })
            })
            .collect();

        let order = &*listeners.concurrent_by_priority;
        poll_fn(|task| until_a_denial(&mut siblings, order, started, task)).await;
        if siblings.iter().flatten().any(|one| one.call.is_some()) {
            // Whether one is done must not depend on how much this task has done before.
            let last_look = poll_fn(|task| {
                for place in order {
                    if let Some(sibling) = &mut siblings[*place] {
                        sibling.poll(started, task);
                    }
                }
                Poll::Ready(())
            });
            tokio::task::unconstrained(last_look).await;
        }

        // Cancels whoever is not done.
        for sibling in siblings.iter_mut().flatten() {
            sibling.call = None;
        }
        let denies = |sibling: &Option<Sibling<'_>>| sibling.as_ref().is_some_and(Sibling::denies);
        let violation = siblings.iter().position(denies);
        for (place, sibling) in siblings.into_iter().enumerate() {
            let Some(sibling) = sibling else { continue };
            match sibling.called {
                Some(called) => {
                    let counts = violation.is_none_or(|violation| violation == place);
                    self.take(sibling.entry, called, sibling.took, counts);
                }
                None if self.question.recorded => {
                    let part = sibling
                        .entry
                        .part(started.elapsed(), Duration::ZERO, Vec::new());
                    self.plugins.push(part.with(RecordedVerdict::Cancelled));
                }
                None => {}
            }
        }
    }
}

/// Polls whoever is not done; ready when all are, or one denies.
fn until_a_denial(
    siblings: &mut [Option<Sibling<'_>>],
    order: &[usize],
    started: Instant,
    task: &mut Context<'_>,
) -> Poll<()> {
    let mut done = Poll::Ready(());
    for place in order {
        let Some(sibling) = &mut siblings[*place] else {
            continue;
        };
        sibling.poll(started, task);
        if sibling.denies() {
            return Poll::Ready(());
        }
        if sibling.call.is_some() {
            done = Poll::Pending;
        }
    }
    done
}

impl Sibling<'_> {
    fn poll(&mut self, started: Instant, task: &mut Context<'_>) {
        let Some(call) = &mut self.call else { return };
        if let Poll::Ready(called) = call.as_mut().poll(task) {
            self.took = called.ended - started;
            self.called = Some(called);
            self.call = None;
        }
    }

    fn denies(&self) -> bool {
        match self.called.as_ref().map(|called| &called.result) {
            Some(Ok(answer)) => matches!(answer.verdict(), Verdict::Deny(_)),
            Some(Err(_)) => self.entry.on_error == OnError::Fail,
            None => false,
        }
    }
}
