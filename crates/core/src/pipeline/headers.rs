//! The payload as a plugin without the grant `read_headers` receives it.

use crate::document::Document;

/// The payload without its member `headers`.
pub(super) fn without(payload: &Document) -> Document {
    payload.without("headers")
}
