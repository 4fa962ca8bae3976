//! What a guest writes: `log.write`, stdout and stderr, bounded per call.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use hookgate_core::config::defaults::LOG_BYTES_PER_CALL;
use hookgate_core::{Fault, FaultKind, HookCall, RequestView};
use tokio::io::AsyncWrite;
use wasmtime_wasi::async_trait;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamError, StreamResult};

use crate::bindings::log::Level;
use crate::faults::Ended;
use crate::grants::Secrets;

/// The log of one instance, which belongs to one call at a time. Clones share its budget.
#[derive(Clone)]
pub(crate) struct CallLog {
    inner: Arc<Mutex<Inner>>,
}

struct Inner {
    /// None for contexts that are only made to see whether they can be.
    plugin: Option<Arc<str>>,
    secrets: Arc<Secrets>,
    /// The hook and the request of the call; none before there is one.
    call: Option<(Arc<str>, RequestView)>,
    left: u64,
    /// Unfinished lines of stdout and stderr. Both are paid for, so no longer than the budget.
    lines: [Vec<u8>; 2],
}

/// Where a guest prints to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Output {
    Stdout,
    Stderr,
}

impl Output {
    const ALL: [Self; 2] = [Self::Stdout, Self::Stderr];

    fn name(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

impl CallLog {
    /// `secrets` are taken out of everything that is written.
    pub(crate) fn new(plugin: Arc<str>, secrets: Arc<Secrets>) -> Self {
        Self::of(Some(plugin), secrets)
    }

    /// For contexts that are only made to see whether they can be.
    pub(crate) fn discard() -> Self {
        Self::of(None, Arc::default())
    }

    fn of(plugin: Option<Arc<str>>, secrets: Arc<Secrets>) -> Self {
        Self {
            inner: Arc::new(Mutex::new(Inner {
                plugin,
                secrets,
                call: None,
                left: LOG_BYTES_PER_CALL,
                lines: [Vec::new(), Vec::new()],
            })),
        }
    }

    /// A call begins, with a budget of its own. What was printed before it stays what it was.
    pub(crate) fn begin(&self, call: &HookCall) {
        let mut inner = self.inner();
        inner.flush_all();
        inner.call = Some((Arc::clone(&call.hook), call.request.clone()));
        inner.left = LOG_BYTES_PER_CALL;
    }

    /// A call ended: a line it did not finish is its last.
    pub(crate) fn end(&self) {
        self.inner().flush_all();
    }

    /// One entry of `log.write`.
    pub(crate) fn write(&self, level: Level, message: &str, fields: &str) -> Result<(), Ended> {
        let mut inner = self.inner();
        inner.spend(message.len() + fields.len())?;
        let Some(plugin) = &inner.plugin else {
            return Ok(());
        };
        let (hook, request) = inner.call();
        let scrubber = inner.secrets.scrubber();
        let (message, fields) = (scrubber.scrub(message), scrubber.scrub(fields));
        macro_rules! event {
            ($level:ident) => {
                tracing::$level!(target: "hookgate::plugin", plugin = %plugin, hook = %hook, request = %request, fields = &*fields, "{message}")
            };
        }
        match level {
            Level::Trace => event!(trace),
            Level::Debug => event!(debug),
            Level::Info => event!(info),
            Level::Warn => event!(warn),
            Level::Error => event!(error),
        }
        Ok(())
    }

    /// Bytes of stdout or stderr; each finished line is an entry.
    fn print(&self, output: Output, bytes: &[u8]) -> Result<(), Ended> {
        let mut inner = self.inner();
        inner.spend(bytes.len())?;
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            inner.lines[output as usize].extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                inner.flush(output);
            }
        }
        Ok(())
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// The hook and the id of the request, for whoever reads the log.
    fn call(&self) -> (&str, &str) {
        let call = self.call.as_ref();
        call.map_or(("init", ""), |(hook, request)| (hook, request.id()))
    }

    fn spend(&mut self, bytes: usize) -> Result<(), Ended> {
        match self.left.checked_sub(bytes as u64) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(Ended(Fault::new(
                FaultKind::ResourceLimit,
                format!("it logged more than {LOG_BYTES_PER_CALL} bytes in one call"),
            ))),
        }
    }

    fn flush(&mut self, output: Output) {
        let line = std::mem::take(&mut self.lines[output as usize]);
        let Some(plugin) = self.plugin.as_ref().filter(|_| !line.is_empty()) else {
            return;
        };
        let (hook, request) = self.call();
        let line = String::from_utf8_lossy(&line);
        let line = self.secrets.scrubber().scrub(line.trim_end());
        tracing::info!(target: "hookgate::plugin", plugin = %plugin, hook = %hook, request = %request, stream = output.name(), "{line}");
    }

    fn flush_all(&mut self) {
        for output in Output::ALL {
            self.flush(output);
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.flush_all();
    }
}

/// Stdout or stderr of a guest.
pub(crate) struct Stream {
    log: CallLog,
    output: Output,
}

impl Stream {
    pub(crate) fn stdout(log: CallLog) -> Self {
        let output = Output::Stdout;
        Self { log, output }
    }

    pub(crate) fn stderr(log: CallLog) -> Self {
        let output = Output::Stderr;
        Self { log, output }
    }

    fn again(&self) -> Self {
        Self {
            log: self.log.clone(),
            output: self.output,
        }
    }

    fn print(&self, bytes: &[u8]) -> Result<(), Ended> {
        self.log.print(self.output, bytes)
    }
}

impl IsTerminal for Stream {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Stream {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.again())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.again())
    }
}

/// Bytes a guest may write at once; it writes again for more.
const WRITE_PERMIT: usize = 8 << 10;

#[async_trait]
impl Pollable for Stream {
    async fn ready(&mut self) {}
}

impl OutputStream for Stream {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.print(&bytes)
            .map_err(|ended| StreamError::Trap(ended.into()))
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(WRITE_PERMIT)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        Poll::Ready(
            self.print(bytes)
                .map(|()| bytes.len())
                .map_err(std::io::Error::other),
        )
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
