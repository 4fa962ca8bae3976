//! [`Outside`]: what all plugins of a host share on their way out.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, Weak};

use super::http::Tls;
use super::scratch::ScratchRoot;
use crate::resolver::{Resolve, SystemResolver};

/// The way out: who resolves names, whom TLS trusts, where scratch folders lie.
pub(crate) struct Outside {
    resolver: Arc<dyn Resolve>,
    tls: Tls,
    scratch: Mutex<Weak<ScratchRoot>>,
}

impl Default for Outside {
    fn default() -> Self {
        Self::new(Arc::new(SystemResolver), Vec::new())
    }
}

impl Outside {
    /// `authorities`: certificates in DER that are trusted besides the system's.
    pub(crate) fn new(resolver: Arc<dyn Resolve>, authorities: Vec<Vec<u8>>) -> Self {
        Self {
            resolver,
            tls: Tls::with_authorities(authorities),
            scratch: Mutex::default(),
        }
    }

    pub(crate) fn resolver(&self) -> &Arc<dyn Resolve> {
        &self.resolver
    }

    pub(super) fn tls(&self) -> &Tls {
        &self.tls
    }

    pub(super) fn scratch(&self) -> io::Result<Arc<ScratchRoot>> {
        ScratchRoot::get(&self.scratch)
    }
}

impl fmt::Debug for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Outside")
    }
}
