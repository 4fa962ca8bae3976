//! [`Interrupt`]: how work on a long text is ended before it is done.

use std::time::Instant;

/// Bytes of text that may be worked on between two questions whether to go on. At the speed of a plain
/// scan this is some 20 us, so that a call ends close to its deadline and asking costs next to nothing.
/// Work that is slow for each byte, such as a large regular expression's, counts for more bytes than it reads.
pub const INTERRUPT_BYTES: usize = 64 << 10;

/// The work was ended before it was done; what it had found is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("stopped before it was done")]
pub struct Stopped;

/// What comes of work that goes on to its end.
pub(crate) fn unstopped<T>(done: Result<T, Stopped>) -> T {
    done.unwrap_or_else(|Stopped| unreachable!("nobody was asked whether to stop"))
}

/// Asked once for every [`INTERRUPT_BYTES`] of work whether it is to end.
#[derive(Debug)]
pub struct Interrupt<'a> {
    ask: Ask<'a>,
    /// Bytes of work until the next question.
    left: usize,
}

enum Ask<'a> {
    Nobody,
    Clock(Instant),
    Caller(&'a mut dyn FnMut() -> bool),
}

impl<'a> Interrupt<'a> {
    /// The work goes on to its end.
    #[must_use]
    pub fn never() -> Self {
        Self::new(Ask::Nobody)
    }

    /// The work ends once the deadline has passed.
    #[must_use]
    pub fn at(deadline: Instant) -> Self {
        Self::new(Ask::Clock(deadline))
    }

    /// The work ends once `stop` answers true.
    #[must_use]
    pub fn when(stop: &'a mut dyn FnMut() -> bool) -> Self {
        Self::new(Ask::Caller(stop))
    }

    fn new(ask: Ask<'a>) -> Self {
        Self {
            ask,
            left: INTERRUPT_BYTES,
        }
    }

    /// Counts work that has been done or is about to be.
    #[inline]
    pub(crate) fn spend(&mut self, bytes: usize) -> Result<(), Stopped> {
        if bytes < self.left {
            self.left -= bytes;
            return Ok(());
        }
        self.question(bytes - self.left)
    }

    #[cold]
    fn question(&mut self, over: usize) -> Result<(), Stopped> {
        self.left = INTERRUPT_BYTES - over % INTERRUPT_BYTES;
        let stop = match &mut self.ask {
            Ask::Nobody => false,
            Ask::Clock(deadline) => Instant::now() >= *deadline,
            Ask::Caller(stop) => stop(),
        };
        if stop { Err(Stopped) } else { Ok(()) }
    }
}

impl std::fmt::Debug for Ask<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Nobody => f.write_str("Nobody"),
            Self::Clock(deadline) => f.debug_tuple("Clock").field(deadline).finish(),
            Self::Caller(_) => f.write_str("Caller"),
        }
    }
}
