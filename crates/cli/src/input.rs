//! Lines of input, read on a thread of their own, in batches of bounded size.

use std::io::{self, BufRead, BufReader, Read};

use tokio::sync::mpsc;

/// Read at once from the input.
const BUFFER_BYTES: usize = 64 * 1024;
/// Lines handed over at once: few enough that the first answers come soon.
const BATCH_LINES: usize = 64;
/// Bytes handed over at once; a batch ends after the line that goes past it.
const BATCH_BYTES: usize = 256 * 1024;

/// One line that is not blank.
#[derive(Debug)]
pub struct InputLine {
    /// Its number, from 1, blank lines counted.
    pub number: u64,
    /// Its bytes in the input, newline included, and those of blank lines before it.
    pub consumed: u64,
    /// Its text; none if it is longer than allowed.
    pub text: Option<Vec<u8>>,
}

/// Starts reading; a line longer than `max_bytes` comes without text. The channel holds one batch, so
/// that a slow consumer stops the reader.
pub fn lines(
    input: impl Read + Send + 'static,
    max_bytes: u64,
) -> mpsc::Receiver<io::Result<Vec<InputLine>>> {
    let (sender, receiver) = mpsc::channel(1);
    // A thread, not a task of the runtime: reading stdin cannot be cancelled, and the process must end.
    std::thread::spawn(move || {
        let mut reader = LineReader {
            input: BufReader::with_capacity(BUFFER_BYTES, input),
            max_bytes,
            number: 0,
        };
        loop {
            let batch = match reader.batch() {
                Ok(batch) if batch.is_empty() => return,
                batch => batch,
            };
            let failed = batch.is_err();
            if sender.blocking_send(batch).is_err() || failed {
                return;
            }
        }
    });
    receiver
}

struct LineReader<R> {
    input: BufReader<R>,
    max_bytes: u64,
    number: u64,
}

impl<R: Read> LineReader<R> {
    /// The next lines: as many as are there without waiting, at least one. Empty at the end.
    fn batch(&mut self) -> io::Result<Vec<InputLine>> {
        let mut batch = Vec::new();
        let mut bytes = 0;
        while let Some(line) = self.line()? {
            bytes += line.text.as_ref().map_or(0, Vec::len);
            batch.push(line);
            let waits = !self.input.buffer().contains(&b'\n');
            if waits || batch.len() >= BATCH_LINES || bytes >= BATCH_BYTES {
                break;
            }
        }
        Ok(batch)
    }

    /// The next line that is not blank.
    fn line(&mut self) -> io::Result<Option<InputLine>> {
        let mut consumed = 0;
        loop {
            let mut text = Vec::new();
            let (length, read) = self.one(&mut text)?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            consumed += read;
            if length > self.max_bytes {
                return Ok(Some(InputLine {
                    number: self.number,
                    consumed,
                    text: None,
                }));
            }
            if !text.iter().all(|byte| byte.is_ascii_whitespace()) {
                return Ok(Some(InputLine {
                    number: self.number,
                    consumed,
                    text: Some(text),
                }));
            }
        }
    }

    /// Reads to the next newline or the end, keeping at most `max_bytes`. Gives the line's length and
    /// the bytes read.
    fn one(&mut self, text: &mut Vec<u8>) -> io::Result<(u64, u64)> {
        let (mut length, mut read) = (0, 0);
        loop {
            let buffer = match self.input.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if buffer.is_empty() {
                return Ok((length, read));
            }
            let newline = buffer.iter().position(|byte| *byte == b'\n');
            let part = &buffer[..newline.unwrap_or(buffer.len())];
            length += part.len() as u64;
            if length <= self.max_bytes {
                text.extend_from_slice(part);
            }
            let used = part.len() + usize::from(newline.is_some());
            self.input.consume(used);
            read += used as u64;
            if newline.is_some() {
                return Ok((length, read));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(input: &'static [u8], max_bytes: u64) -> Vec<(u64, u64, Option<String>)> {
        let mut batches = lines(input, max_bytes);
        let mut found = Vec::new();
        while let Some(batch) = batches.blocking_recv() {
            found.extend(batch.unwrap().into_iter().map(|line| {
                (
                    line.number,
                    line.consumed,
                    line.text.map(|text| String::from_utf8(text).unwrap()),
                )
            }));
        }
        found
    }

    #[test]
    fn blank_lines_are_counted_and_skipped() {
        let expected = [(1, 2, Some("a".to_owned())), (4, 5, Some("b".to_owned()))];
        assert_eq!(read(b"a\n\n \nb\n", 10), expected);
    }

    #[test]
    fn the_last_line_needs_no_newline() {
        assert_eq!(
            read(b"a\nb", 10),
            [(1, 2, Some("a".to_owned())), (2, 1, Some("b".to_owned()))]
        );
    }

    #[test]
    fn a_line_that_is_too_long_is_named_and_the_next_one_read() {
        assert_eq!(
            read(b"12345\n1234\n", 4),
            [(1, 6, None), (2, 5, Some("1234".to_owned()))]
        );
    }

    #[test]
    fn no_input_has_no_lines() {
        assert_eq!(read(b"", 4), []);
        assert_eq!(read(b"\n\n", 4), []);
    }

    #[test]
    fn many_lines_come_in_many_batches() {
        let input = "x\n".repeat(1_000).leak();
        assert_eq!(read(input.as_bytes(), 4).len(), 1_000);
    }
}
