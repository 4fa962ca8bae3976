//! What an operator granted a plugin, and how it is kept to it. Deny-all is what is left when nothing was.
//!
//! All of it lies below the bindings a guest calls: a guest asks through WASI or the contract's own
//! interfaces, and each answer passes through one of the files here. [`Grants`] is what a plugin has,
//! [`Session`] what one instance makes of it, [`reach::Reach`] what both its sockets and its
//! requests ask before they go out.

mod address;
mod files;
mod http;
mod network;
mod outside;
mod reach;
mod scratch;
mod secrets;
mod session;
mod sockets;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use futures::future::ready;
use hookgate_core::LoadError;
use hookgate_core::config::{Access, FileGrant, PluginSpec, SCRATCH_GUEST_PATH};
use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxBuilder};

use crate::logs::{CallLog, Stream};
use network::NetworkPolicy;
pub(crate) use outside::Outside;
use reach::Reach;
pub(crate) use secrets::Secrets;
pub(crate) use session::Session;
pub(crate) use sockets::add_lookup;

/// Operating-system grants of one plugin.
#[derive(Debug)]
pub(crate) struct Grants {
    /// Names with the values they had at load.
    env: Vec<(String, String)>,
    files: Vec<FileGrant>,
    network: Arc<NetworkPolicy>,
    scratch_bytes: Option<u64>,
    secrets: Arc<Secrets>,
    outside: Arc<Outside>,
    described: String,
}

impl Grants {
    /// Reads what the grants name, and tries once what each instance will be given.
    pub(crate) async fn new(spec: &PluginSpec, outside: Arc<Outside>) -> Result<Self, LoadError> {
        let permissions = &spec.permissions;
        let grants = Self {
            env: env(&permissions.env)?,
            files: permissions.files.clone(),
            network: Arc::new(NetworkPolicy::new(permissions.network.clone())),
            scratch_bytes: permissions.scratch_bytes,
            secrets: Arc::new(Secrets::load(&permissions.secrets, &spec.base_dir).await?),
            outside,
            described: describe(spec),
        };
        let folder = match grants.scratch_bytes {
            Some(bytes) => {
                let root = grants.outside.scratch();
                let made = root.and_then(|root| scratch::Scratch::new(&root, bytes));
                let made = made.map_err(|error| {
                    LoadError::new(format!("cannot make a scratch folder: {error}")).hint(
                        "they are made in the system's folder for temporary files; set TMPDIR to another",
                    )
                })?;
                Some(made)
            }
            None => None,
        };
        let reach = Arc::new(Reach::new(Arc::clone(&grants.network), Instant::now()));
        let folder = folder.as_ref().map(scratch::Scratch::path);
        grants
            .wasi(&CallLog::discard(), folder, &reach)
            .map_err(|error| {
                LoadError::new(format!("cannot open a granted folder: {error}"))
                    .hint("`permissions.files` names folders of this machine as `host:`")
            })?;
        Ok(grants)
    }

    /// The secrets, for whoever writes texts of the plugin down.
    pub(crate) fn secrets(&self) -> &Arc<Secrets> {
        &self.secrets
    }

    /// A context for one instance: no arguments, no names but those granted, and what was granted.
    fn wasi(
        &self,
        log: &CallLog,
        scratch: Option<&Path>,
        reach: &Arc<Reach>,
    ) -> wasmtime::Result<WasiCtx> {
        let mut builder = base(log);
        builder.envs(&self.env);
        for grant in &self.files {
            let access = match grant.access {
                Access::Read => FsPerms::ReadOnly,
                Access::ReadWrite => FsPerms::ReadWrite,
            };
            builder.preopened_dir(&grant.host, &grant.guest, access)?;
        }
        if let Some(folder) = scratch {
            builder.preopened_dir(folder, SCRATCH_GUEST_PATH, FsPerms::ReadWrite)?;
        }
        if !self.network.is_empty() {
            let reach = Arc::clone(reach);
            builder
                .allow_tcp(true)
                .socket_addr_check(move |address, purpose| {
                    Box::pin(ready(reach.may_use(address, purpose)))
                });
        }
        Ok(builder.build())
    }

    /// A context with no grants at all.
    fn none(log: &CallLog) -> WasiCtx {
        base(log).build()
    }

    /// One line for `hookgate check` and for records.
    pub(crate) fn describe(&self) -> String {
        self.described.clone()
    }
}

fn base(log: &CallLog) -> WasiCtxBuilder {
    let mut builder = WasiCtxBuilder::new();
    builder
        .stdout(Stream::stdout(log.clone()))
        .stderr(Stream::stderr(log.clone()))
        .allow_tcp(false)
        .allow_udp(false)
        .allow_ip_name_lookup(false);
    builder
}

/// The granted variables that are set.
fn env(names: &[String]) -> Result<Vec<(String, String)>, LoadError> {
    let mut env = Vec::new();
    for name in names {
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
    Ok(env)
}

fn describe(spec: &PluginSpec) -> String {
    let permissions = &spec.permissions;
    let mut parts = Vec::new();
    if !permissions.env.is_empty() {
        parts.push(format!("env {}", permissions.env.join(", ")));
    }
    for grant in &permissions.files {
        let access = match grant.access {
            Access::Read => "read",
            Access::ReadWrite => "read-write",
        };
        parts.push(format!("files {} ({access})", grant.guest));
    }
    if let Some(bytes) = permissions.scratch_bytes {
        parts.push(format!("scratch {bytes} B"));
    }
    if !permissions.network.is_empty() {
        let hosts: Vec<_> = permissions
            .network
            .iter()
            .map(ToString::to_string)
            .collect();
        parts.push(format!("network tcp {}", hosts.join(", ")));
    }
    if !permissions.secrets.is_empty() {
        let names = permissions
            .secrets
            .iter()
            .map(|secret| secret.name.as_str());
        parts.push(format!("secrets {}", names.collect::<Vec<_>>().join(", ")));
    }
    if parts.is_empty() {
        "wasm: nothing granted".into()
    } else {
        format!("wasm: {}", parts.join("; "))
    }
}
