//! Frames: a 4-byte big-endian length, then that many bytes of JSON.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _};

use crate::limits::SKIP_BYTES;

/// Bytes of a frame that is too large which are kept, to find whose it is.
const HEAD_BYTES: usize = 256;

/// What was read.
#[derive(Debug)]
pub(super) enum Incoming {
    /// A whole frame.
    Frame(Vec<u8>),
    /// A frame past the limit was skipped; this is how it began.
    TooLarge { head: Vec<u8>, bytes: usize },
    /// The pipe ended between two frames.
    End,
}

/// Reads one frame. Memory grows with what has arrived, not with what a length promises.
pub(super) async fn read(
    pipe: &mut (impl AsyncBufRead + Unpin),
    limit: usize,
) -> io::Result<Incoming> {
    if pipe.fill_buf().await?.is_empty() {
        return Ok(Incoming::End);
    }
    let length = pipe.read_u32().await? as usize;
    if length > limit.max(SKIP_BYTES) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("a frame of {length} bytes"),
        ));
    }
    let too_large = length > limit;
    let mut kept = Vec::with_capacity(length.min(if too_large {
        HEAD_BYTES
    } else {
        crate::READ_BYTES
    }));
    let mut left = length;
    while left > 0 {
        let piece = pipe.fill_buf().await?;
        if piece.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let taken = piece.len().min(left);
        let wanted = if too_large {
            taken.min(HEAD_BYTES.saturating_sub(kept.len()))
        } else {
            taken
        };
        kept.extend_from_slice(&piece[..wanted]);
        pipe.consume(taken);
        left -= taken;
    }
    Ok(if too_large {
        Incoming::TooLarge {
            head: kept,
            bytes: length,
        }
    } else {
        Incoming::Frame(kept)
    })
}

/// A frame around a body.
pub(super) fn framed(body: &[u8]) -> Vec<u8> {
    let mut frame = begin(body.len());
    frame.extend_from_slice(body);
    finish(&mut frame);
    frame
}

/// An empty frame with room for its length and about `bytes` of body.
pub(crate) fn begin(bytes: usize) -> Vec<u8> {
    let mut frame = Vec::with_capacity(bytes + 4);
    frame.extend_from_slice(&[0; 4]);
    frame
}

/// Writes the length of a frame whose body is complete.
pub(crate) fn finish(frame: &mut [u8]) {
    // INVARIANT: payload and state, the only large parts, are bounded far below 4 GiB.
    let length = u32::try_from(frame.len() - 4).unwrap_or(u32::MAX);
    frame[..4].copy_from_slice(&length.to_be_bytes());
}

/// The `type` and the `id` a frame begins with. Also of a frame that was cut off.
pub(super) fn head(body: &[u8]) -> Option<(&str, Option<u64>)> {
    let rest = token(body, b"{")?;
    let rest = token(token(rest, b"\"type\"")?, b":")?;
    let rest = token(rest, b"\"")?;
    let end = rest.iter().position(|byte| *byte == b'"')?;
    let kind = std::str::from_utf8(&rest[..end]).ok()?;
    Some((kind, id(&rest[end + 1..])))
}

fn id(rest: &[u8]) -> Option<u64> {
    let rest = token(token(token(rest, b",")?, b"\"id\"")?, b":")?;
    let rest = rest.trim_ascii_start();
    let end = rest.iter().position(|byte| !byte.is_ascii_digit())?;
    std::str::from_utf8(&rest[..end]).ok()?.parse().ok()
}

fn token<'a>(bytes: &'a [u8], token: &[u8]) -> Option<&'a [u8]> {
    bytes.trim_ascii_start().strip_prefix(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_from_the_first_bytes() {
        for (body, expected) in [
            (
                r#"{"type":"answer","id":7,"verdict":"#,
                Some(("answer", Some(7))),
            ),
            (
                r#" { "type" : "fault" , "id" : 12 }"#,
                Some(("fault", Some(12))),
            ),
            (
                r#"{"type":"ready","python":"3.11.7"}"#,
                Some(("ready", None)),
            ),
            (r#"{"type":"answer","id":7"#, Some(("answer", None))),
            (r#"{"id":7,"type":"answer"}"#, None),
            ("", None),
        ] {
            assert_eq!(head(body.as_bytes()), expected, "{body}");
        }
    }

    #[tokio::test]
    async fn frames_are_cut_skipped_and_counted() {
        let mut bytes = framed(b"{}");
        bytes.extend(framed(&[b'x'; 1000]));
        bytes.extend(framed(b"[]"));
        bytes.extend([0, 0, 0, 9, b'{']);
        let mut pipe = &bytes[..];
        assert!(matches!(read(&mut pipe, 100).await, Ok(Incoming::Frame(body)) if body == b"{}"));
        let skipped = read(&mut pipe, 100).await;
        assert!(
            matches!(skipped, Ok(Incoming::TooLarge { head, bytes: 1000 }) if head.len() == HEAD_BYTES)
        );
        assert!(matches!(read(&mut pipe, 100).await, Ok(Incoming::Frame(body)) if body == b"[]"));
        assert_eq!(
            read(&mut pipe, 100).await.unwrap_err().kind(),
            io::ErrorKind::UnexpectedEof
        );
        assert!(matches!(read(&mut &b""[..], 100).await, Ok(Incoming::End)));
        assert_eq!(
            read(&mut &[255; 8][..], 100).await.unwrap_err().kind(),
            io::ErrorKind::InvalidData
        );
    }
}
