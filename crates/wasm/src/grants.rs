//! What an operator granted, as a WASI context. Deny-all is what is left when nothing was.

use hookgate_core::LoadError;
use hookgate_core::config::{Access, FileGrant, Permissions};
use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxBuilder};

use crate::logs::{CallLog, Stream};

/// Operating-system grants of one plugin.
#[derive(Debug)]
pub(crate) struct Grants {
    /// Names with the values they had at load.
    env: Vec<(String, String)>,
    files: Vec<FileGrant>,
}

impl Grants {
    pub(crate) fn new(permissions: &Permissions) -> Result<Self, LoadError> {
        let mut env = Vec::new();
        for name in &permissions.env {
            match std::env::var(name) {
                Ok(value) => env.push((name.clone(), value)),
                Err(std::env::VarError::NotPresent) => {}
                Err(std::env::VarError::NotUnicode(_)) => {
                    return Err(LoadError::new(format!(
                        "the value of environment variable {name} is not UTF-8"
                    )));
                }
            }
        }
        let grants = Self {
            env,
            files: permissions.files.clone(),
        };
        grants.wasi(&CallLog::discard()).map_err(|error| {
            LoadError::new(format!("cannot open a granted folder: {error}"))
                .hint("`permissions.files` names folders of this machine as `host:`")
        })?;
        Ok(grants)
    }

    /// A context for one instance: no arguments, no sockets, no names, and what was granted.
    pub(crate) fn wasi(&self, log: &CallLog) -> wasmtime::Result<WasiCtx> {
        let mut builder = self.base(log);
        for grant in &self.files {
            let access = match grant.access {
                Access::Read => FsPerms::ReadOnly,
                Access::ReadWrite => FsPerms::ReadWrite,
            };
            builder.preopened_dir(&grant.host, &grant.guest, access)?;
        }
        Ok(builder.build())
    }

    /// A context with no grants at all.
    pub(crate) fn none(log: &CallLog) -> WasiCtx {
        Self {
            env: Vec::new(),
            files: Vec::new(),
        }
        .base(log)
        .build()
    }

    fn base(&self, log: &CallLog) -> WasiCtxBuilder {
        let mut builder = WasiCtxBuilder::new();
        builder
            .stdout(Stream::new(log.clone()))
            .stderr(Stream::new(log.clone()));
        builder
            .allow_tcp(false)
            .allow_udp(false)
            .allow_ip_name_lookup(false);
        builder.envs(&self.env);
        builder
    }

    /// One line for `hookgate check`.
    pub(crate) fn describe(&self) -> String {
        let mut parts = Vec::new();
        if !self.env.is_empty() {
            let names: Vec<_> = self.env.iter().map(|(name, _)| name.as_str()).collect();
            parts.push(format!("env {}", names.join(", ")));
        }
        for grant in &self.files {
            let access = match grant.access {
                Access::Read => "read",
                Access::ReadWrite => "read-write",
            };
            parts.push(format!("files {} ({access})", grant.guest));
        }
        if parts.is_empty() {
            "wasm: nothing granted".into()
        } else {
            format!("wasm: {}", parts.join("; "))
        }
    }
}
