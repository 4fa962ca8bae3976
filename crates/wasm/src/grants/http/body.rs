//! [`LimitedBody`]: a response's body, bounded in size and in silence.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::time::{Instant, Sleep, sleep};
use wasmtime_wasi_http::Error;

use super::broken;
use crate::limits::MAX_HTTP_RESPONSE_BYTES;

/// The body of a response.
pub(super) struct LimitedBody {
    body: Incoming,
    left: u64,
    between_bytes: Duration,
    /// Ends when the peer has been silent for too long.
    silence: Pin<Box<Sleep>>,
}

impl LimitedBody {
    pub(super) fn new(body: Incoming, between_bytes: Duration) -> Self {
        Self {
            body,
            left: MAX_HTTP_RESPONSE_BYTES,
            between_bytes,
            silence: Box::pin(sleep(between_bytes)),
        }
    }
}

impl Body for LimitedBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Ready(Some(Ok(frame))) => {
                let bytes = frame.data_ref().map_or(0, |data| data.len() as u64);
                let Some(left) = self.left.checked_sub(bytes) else {
                    let most = Some(MAX_HTTP_RESPONSE_BYTES);
                    return Poll::Ready(Some(Err(Error::HttpResponseBodySize(most))));
                };
                self.left = left;
                let until = Instant::now() + self.between_bytes;
                self.silence.as_mut().reset(until);
                Poll::Ready(Some(Ok(frame)))
            }
            Poll::Ready(Some(Err(error))) => Poll::Ready(Some(Err(broken(&error)))),
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => match self.silence.as_mut().poll(context) {
                Poll::Ready(()) => Poll::Ready(Some(Err(Error::ConnectionReadTimeout))),
                Poll::Pending => Poll::Pending,
            },
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
