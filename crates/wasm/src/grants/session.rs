//! [`Session`]: the grants of a plugin as one instance has them.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use hookgate_core::{Fault, FaultKind, Refusals};
use wasmtime_wasi::WasiCtx;
use wasmtime_wasi_http::{WasiHttpCtx, WasiHttpHooks};

use super::Grants;
use super::http::HttpHooks;
use super::reach::Reach;
use super::scratch::{Budget, Scratch};
use super::secrets::Secrets;
use crate::logs::CallLog;
use crate::resolver::Resolve;

/// What one instance was given, made when it first asks: most never do.
pub(crate) struct Session {
    grants: Arc<Grants>,
    reach: Arc<Reach>,
    wasi: Option<WasiCtx>,
    http: Option<HttpHooks>,
    http_limits: WasiHttpCtx,
    scratch: Option<Scratch>,
    /// Descriptors of the scratch folder itself, which a guest may hold from call to call.
    scratch_roots: HashSet<u32>,
    /// Descriptors of what was opened in it.
    scratch_open: HashSet<u32>,
    /// Why it has not all that was granted.
    lacks: Option<String>,
}

impl Session {
    pub(crate) fn new(grants: Arc<Grants>, deadline: Instant) -> Self {
        let reach = Arc::new(Reach::new(Arc::clone(&grants.network), deadline));
        Self {
            grants,
            reach,
            wasi: None,
            http: None,
            http_limits: WasiHttpCtx::new(),
            scratch: None,
            scratch_roots: HashSet::new(),
            scratch_open: HashSet::new(),
            lacks: None,
        }
    }

    /// A call begins: the scratch folder is empty and whole again, and things outside may be changed.
    pub(crate) fn begin(&mut self, deadline: Instant) -> Result<(), Fault> {
        let held = !self.scratch_open.is_empty();
        if let Some(scratch) = &mut self.scratch {
            scratch.empty(held).map_err(|error| {
                Fault::new(
                    FaultKind::Load,
                    format!("its scratch folder cannot be emptied: {error}"),
                )
            })?;
        }
        self.reach.begin(deadline);
        Ok(())
    }

    /// A call ends: what was refused since the last one, and whether the instance had what it was granted.
    pub(crate) fn finish(&mut self) -> Result<Refusals, Fault> {
        match self.lacks.take() {
            Some(why) => Err(Fault::new(FaultKind::Load, why)),
            None => Ok(self.reach.take_refusals()),
        }
    }

    /// Whether the instance has had anything of the system: a descriptor, a socket, the scratch folder.
    pub(crate) fn holds_outside(&self) -> bool {
        self.wasi.is_some() || self.http.is_some()
    }

    /// Empties the scratch folder between two calls of one instance; false if that cannot be done.
    pub(crate) fn tidy(&mut self) -> bool {
        let held = !self.scratch_open.is_empty();
        match &mut self.scratch {
            Some(scratch) => scratch.empty(held).is_ok(),
            None => true,
        }
    }

    pub(crate) fn reach(&self) -> &Arc<Reach> {
        &self.reach
    }

    pub(crate) fn resolver(&self) -> Arc<dyn Resolve> {
        Arc::clone(self.grants.outside.resolver())
    }

    pub(crate) fn secrets(&self) -> &Arc<Secrets> {
        &self.grants.secrets
    }

    /// The WASI context.
    pub(crate) fn wasi(&mut self, log: &CallLog) -> &mut WasiCtx {
        self.wasi.get_or_insert_with(|| {
            let mut lacking = |why: String| {
                // The guest sees no such folder. Whatever it decides without it does not count.
                self.lacks = Some(why);
                Grants::none(log)
            };
            if let Some(bytes) = self.grants.scratch_bytes {
                let made = self.grants.outside.scratch();
                match made.and_then(|root| Scratch::new(&root, bytes)) {
                    Ok(scratch) => self.scratch = Some(scratch),
                    Err(error) => {
                        return lacking(format!("its scratch folder cannot be made: {error}"));
                    }
                }
            }
            let folder = self.scratch.as_ref().map(Scratch::path);
            self.grants
                .wasi(log, folder, &self.reach)
                .unwrap_or_else(|error| {
                    lacking(format!(
                        "a folder it was granted cannot be opened: {error:#}"
                    ))
                })
        })
    }

    /// The HTTP context.
    pub(crate) fn http(&mut self) -> (&mut dyn WasiHttpHooks, &mut WasiHttpCtx) {
        let hooks = self.http.get_or_insert_with(|| {
            HttpHooks::new(Arc::clone(&self.grants.outside), Arc::clone(&self.reach))
        });
        (hooks, &mut self.http_limits)
    }

    /// The budget of a descriptor; none outside of the scratch folder.
    pub(super) fn scratch_budget(&self, descriptor: u32) -> Option<Arc<Budget>> {
        let scratch = self.scratch.as_ref()?;
        let is_in =
            self.scratch_roots.contains(&descriptor) || self.scratch_open.contains(&descriptor);
        is_in.then(|| Arc::clone(scratch.budget()))
    }

    /// A descriptor is the scratch folder itself.
    pub(super) fn scratch_root(&mut self, descriptor: u32) {
        if self.scratch.is_some() {
            self.scratch_roots.insert(descriptor);
        }
    }

    /// A descriptor was opened in the scratch folder.
    pub(super) fn scratch_opened(&mut self, descriptor: u32) {
        self.scratch_open.insert(descriptor);
    }

    /// A descriptor is closed.
    pub(super) fn scratch_closed(&mut self, descriptor: u32) {
        self.scratch_roots.remove(&descriptor);
        self.scratch_open.remove(&descriptor);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use hookgate_core::config::{PluginKind, PluginSpec};

    use super::*;

    const SIZE: u64 = 8 << 10;

    async fn session() -> Session {
        let component = "unused.wasm".into();
        let mut spec = PluginSpec::new("p", PluginKind::Wasm { component });
        spec.permissions.scratch_bytes = Some(SIZE);
        let grants = Grants::new(&spec, Arc::default()).await.unwrap();
        let mut session = Session::new(Arc::new(grants), Instant::now());
        session.wasi(&CallLog::discard());
        session.scratch_root(0);
        session
    }

    /// Writes, as a guest would: the file, and what it costs.
    fn write(session: &Session) -> bool {
        let scratch = session.scratch.as_ref().unwrap();
        fs::write(scratch.path().join("file"), "x").unwrap();
        session.scratch_budget(0).unwrap().spend(SIZE)
    }

    fn begin(session: &mut Session) -> usize {
        session.begin(Instant::now()).unwrap();
        let path = session.scratch.as_ref().unwrap().path();
        fs::read_dir(path).unwrap().count()
    }

    /// An instance that serves several calls is given the same folder for each.
    #[tokio::test]
    async fn each_call_begins_with_an_empty_and_whole_folder() {
        let mut session = session().await;
        for _ in 0..2 {
            assert_eq!(begin(&mut session), 0);
            assert!(write(&session));
            assert!(!write(&session), "it is full");
        }
    }

    #[tokio::test]
    async fn what_is_held_open_stays_spent() {
        let mut session = session().await;
        assert_eq!(begin(&mut session), 0);
        session.scratch_opened(7);
        assert!(write(&session));
        assert_eq!(begin(&mut session), 0);
        assert!(!write(&session));
        session.scratch_closed(7);
        assert_eq!(begin(&mut session), 0);
        assert!(write(&session));
        assert!(session.scratch_budget(7).is_none());
    }

    #[tokio::test]
    async fn before_a_call_nothing_may_be_changed() {
        let mut session = session().await;
        assert!(!session.reach().in_call());
        assert_eq!(begin(&mut session), 0);
        assert!(session.reach().in_call());
    }
}
