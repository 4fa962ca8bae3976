//! The `fire_and_forget` phase: told of what came out, whatever it is, and waited for by nobody.
//!
//! The pipeline only takes the snapshots: the payload as it is in the end or where a denial stopped it,
//! the request and the slots as they are then. The engine starts the calls once the outcome is known.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Run;
use crate::config::OnError;
use crate::entry::Entry;
use crate::plugin::HookCall;
use crate::record::{PluginRecord, RecordedVerdict};

/// A call to be made once the outcome is known.
pub(crate) struct BackgroundCall {
    pub(crate) entry: Arc<Entry>,
    call: HookCall,
}

impl Run<'_> {
    /// Prepares the calls of the phase.
    pub(super) fn background(&mut self, listening: &[Arc<Entry>]) -> Vec<BackgroundCall> {
        let listening = listening.iter().filter(|entry| self.concerns(entry));
        let listening: Vec<_> = listening.cloned().collect();
        if listening.is_empty() {
            return Vec::new();
        }
        let names = listening.iter().map(|entry| &*entry.name);
        let views = self.question.store.views(&self.question.caller, names);
        let now = Instant::now();
        let calls = listening.into_iter().zip(views).map(|(entry, view)| {
            if self.question.recorded {
                let part = entry.part(Duration::ZERO, Duration::ZERO, Vec::new());
                self.plugins.push(part.with(RecordedVerdict::Background));
            }
            let call = self.call(&entry, view, now);
            BackgroundCall { entry, call }
        });
        calls.collect()
    }
}

impl BackgroundCall {
    /// Makes the call, whose deadline begins now. Only a fault has consequences: it is logged, and
    /// `on_error: disable` switches the plugin off.
    pub(crate) async fn make(self) -> PluginRecord {
        let Self { entry, mut call } = self;
        let started = Instant::now();
        call.deadline = started + entry.timeout;
        let hook = Arc::clone(&call.hook);
        let called = entry.call(call, started).await;
        let mut part = entry.part(called.ended - started, called.queue, called.refused);
        match called.result {
            Ok(answer) => part.note(&answer),
            Err(fault) => {
                part.fault = Some(fault.kind);
                entry.log_fault(&hook, &fault);
                if entry.on_error == OnError::Disable {
                    entry.set_disabled(true);
                }
            }
        }
        part
    }
}
