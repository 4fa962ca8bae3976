//! Background calls: started when the outcome is known, waited for by nobody but a shutdown.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::depth::Depth;
use crate::entry::micros;
use crate::generation::InFlight;
use crate::pipeline::BackgroundCall;
use crate::record::{PluginRecord, Record, RecordSink, RecordedVerdict, now};

/// Who keeps what background calls come to, and what they are told of.
#[derive(Clone)]
pub(super) struct Told {
    sink: Arc<dyn RecordSink>,
    outcome: Arc<Record>,
}

/// Starts one call. It holds its generation until it is over.
pub(super) fn start(caller: &InFlight, call: BackgroundCall, told: Option<Told>) {
    let held = caller.background(&call.entry);
    // A plugin that is told, asks, and is told of that again would go on for ever.
    let depth = Depth::current();
    tokio::spawn(async move {
        // Dropped last: whoever waits for it finds the call ended and its record written.
        let held = held;
        let entry = Arc::clone(&call.entry);
        let started = Instant::now();
        let part = tokio::select! {
            biased;
            part = depth.around(call.make()) => part,
            () = held.given_up() => {
                let part = entry.part(started.elapsed(), Duration::ZERO, Vec::new());
                part.with(RecordedVerdict::Cancelled)
            }
        };
        if let Some(told) = told {
            told.write(part, started.elapsed());
        }
    });
}

impl Told {
    pub(super) fn new(sink: &Arc<dyn RecordSink>, outcome: Record) -> Self {
        Self {
            sink: Arc::clone(sink),
            outcome: Arc::new(outcome),
        }
    }

    fn write(&self, part: PluginRecord, took: Duration) {
        self.sink.write(Record {
            id: ulid::Ulid::new().to_string(),
            of: Some(self.outcome.id.clone()),
            time: now(),
            duration_us: micros(took),
            plugins: vec![part],
            ..Record::clone(&self.outcome)
        });
    }
}
