//! What a guest writes: `log.write`, stdout and stderr, bounded per call.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use hookgate_core::config::defaults::LOG_BYTES_PER_CALL;
use hookgate_core::{Fault, FaultKind};
use tokio::io::AsyncWrite;
use wasmtime_wasi::async_trait;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamError, StreamResult};

use crate::bindings::log::Level;
use crate::faults::Ended;

/// The log of one call. Clones share its budget.
#[derive(Clone)]
pub(crate) struct CallLog {
    inner: Arc<Mutex<Inner>>,
}

struct Inner {
    plugin: Option<Arc<str>>,
    left: u64,
    /// An unfinished line of stdout or stderr.
    line: Vec<u8>,
}

impl CallLog {
    pub(crate) fn new(plugin: Arc<str>) -> Self {
        Self::of(Some(plugin))
    }

    /// For contexts that are only made to see whether they can be.
    pub(crate) fn discard() -> Self {
        Self::of(None)
    }

    fn of(plugin: Option<Arc<str>>) -> Self {
        Self {
            inner: Arc::new(Mutex::new(Inner {
                plugin,
                left: LOG_BYTES_PER_CALL,
                line: Vec::new(),
            })),
        }
    }

    /// The budget of another call.
    pub(crate) fn begin(&self) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.left = LOG_BYTES_PER_CALL;
    }

    /// One entry of `log.write`.
    pub(crate) fn write(&self, level: Level, message: &str, fields: &str) -> Result<(), Ended> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.spend(message.len() + fields.len())?;
        let Some(plugin) = &inner.plugin else {
            return Ok(());
        };
        macro_rules! event {
            ($level:ident) => {
                tracing::$level!(target: "hookgate::plugin", plugin = %plugin, fields, "{message}")
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
    fn print(&self, bytes: &[u8]) -> Result<(), Ended> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.spend(bytes.len())?;
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            inner.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                inner.flush();
            }
        }
        Ok(())
    }
}

impl Inner {
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

    fn flush(&mut self) {
        let line = std::mem::take(&mut self.line);
        if let Some(plugin) = self.plugin.as_ref().filter(|_| !line.is_empty()) {
            tracing::info!(target: "hookgate::plugin", plugin = %plugin, "{}", String::from_utf8_lossy(&line).trim_end());
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.flush();
    }
}

/// Stdout or stderr of a guest.
pub(crate) struct Stream(CallLog);

impl Stream {
    pub(crate) fn new(log: CallLog) -> Self {
        Self(log)
    }
}

impl IsTerminal for Stream {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Stream {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(Self(self.0.clone()))
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(Self(self.0.clone()))
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
        self.0
            .print(&bytes)
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
            self.0
                .print(bytes)
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
