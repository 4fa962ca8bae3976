//! A plugin's spec as an entry in our own words. What is a default is not written.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::paths;
use crate::condition::Condition;
use crate::config::defaults;
use crate::config::limits::bytes_text;
use crate::config::spec::{
    Access, Instances, Limits, Mode, OnError, Permissions, PluginKind, PluginSpec, SecretGrant,
    SecretSource,
};

/// Why a plugin has no entry, for people.
pub(super) type Why = String;

/// The members of an entry whose paths start at `folder`.
pub(super) fn entry(spec: &PluginSpec, folder: &Path) -> Result<Map<String, Value>, Why> {
    let PluginSpec {
        name,
        kind,
        digest,
        hooks,
        mode,
        priority,
        on_error,
        // Its settings are in the spec already.
        group: _,
        conditions,
        limits,
        instances,
        permissions,
        config,
        about,
        // The entry of another shape has no place for these; they are listed.
        framework: _,
        line: _,
        base_dir: _,
        python: _,
    } = spec;
    let mut members = Map::new();
    let mut write = |key: &str, value: Value| members.insert(key.to_owned(), value);
    write("name", json!(name));
    match kind {
        PluginKind::Wasm { component } => {
            write("kind", json!("wasm"));
            write("component", json!(paths::from(folder, component)?));
            if let Some(digest) = digest {
                write("digest", json!(digest));
            }
        }
        PluginKind::Python {
            class,
            requirements,
            requirements_file,
            import_paths,
            workdir,
        } => {
            write("kind", json!(class));
            if !requirements.is_empty() {
                write("requirements", json!(requirements));
            }
            if let Some(file) = requirements_file {
                write("requirements_file", json!(paths::from(folder, file)?));
            }
            let import_paths: Vec<_> = import_paths
                .iter()
                .map(|path| paths::from(folder, path))
                .collect::<Result<_, _>>()?;
            if import_paths != ["."] {
                write("import_paths", json!(import_paths));
            }
            let workdir = workdir
                .as_ref()
                .map(|path| paths::from(folder, path))
                .transpose()?;
            if let Some(workdir) = workdir.filter(|workdir| workdir != ".") {
                write("workdir", json!(workdir));
            }
        }
        PluginKind::Other { kind } => return Err(format!("nothing here runs kind {kind}")),
    }
    if hooks.is_empty() {
        return Err("it has no hooks, so it is never asked".into());
    }
    write("hooks", json!(hooks));
    if *mode != defaults::MODE {
        write("mode", json!(mode));
    }
    if *priority != defaults::PRIORITY {
        write("priority", json!(priority));
    }
    // What a fault does in the background is not a choice to deny.
    if *on_error != defaults::ON_ERROR && (*mode, *on_error) != (Mode::FireAndForget, OnError::Fail)
    {
        write("on_error", json!(on_error));
    }
    if !conditions.is_empty() {
        let conditions: Vec<_> = conditions.iter().map(condition).collect::<Result<_, _>>()?;
        write("conditions", Value::Array(conditions));
    }
    write_if_any(
        &mut members,
        "limits",
        limits_of(*limits, kind.default_limits()),
    );
    write_if_any(&mut members, "instances", instances_of(*instances));
    write_if_any(
        &mut members,
        "permissions",
        permissions_of(permissions, folder)?,
    );
    let texts = [
        ("description", &about.description),
        ("author", &about.author),
        ("version", &about.version),
    ];
    for (key, text) in texts {
        if let Some(text) = text {
            members.insert(key.to_owned(), json!(text));
        }
    }
    if !about.tags.is_empty() {
        members.insert("tags".to_owned(), json!(about.tags));
    }
    write_if_any(&mut members, "config", config.to_value());
    Ok(members)
}

fn write_if_any(members: &mut Map<String, Value>, key: &str, value: Value) {
    if value.as_object().is_some_and(|value| !value.is_empty()) {
        members.insert(key.to_owned(), value);
    }
}

fn condition(condition: &Condition) -> Result<Value, Why> {
    if !condition.also.is_empty() {
        return Err("its conditions and those of its group cannot be written as one list".into());
    }
    let listed = Condition::FIELDS
        .into_iter()
        .map(|field| (field.to_owned(), json!(condition.listed(field))))
        .filter(|(_, listed)| listed != &json!([]));
    Ok(Value::Object(listed.collect()))
}

/// How instances serve, where that is not the default.
fn instances_of(instances: Instances) -> Value {
    let defaults = Instances::default();
    let mut members = Map::new();
    if instances.policy != defaults.policy {
        members.insert("policy".into(), json!(instances.policy));
    }
    if instances.stock != defaults.stock {
        members.insert("stock".into(), json!(instances.stock));
    }
    if instances.max_calls != defaults.max_calls {
        members.insert("max_calls".into(), json!(instances.max_calls));
    }
    Value::Object(members)
}

fn limits_of(limits: Limits, defaults: Limits) -> Value {
    let mut members = Map::new();
    if limits.timeout != defaults.timeout {
        let timeout = humantime::format_duration(limits.timeout).to_string();
        members.insert("timeout".into(), json!(timeout));
    }
    if limits.memory_bytes != defaults.memory_bytes {
        members.insert("memory".into(), json!(bytes_text(limits.memory_bytes)));
    }
    if limits.concurrency != defaults.concurrency {
        members.insert("concurrency".into(), json!(limits.concurrency));
    }
    Value::Object(members)
}

fn permissions_of(permissions: &Permissions, folder: &Path) -> Result<Value, Why> {
    let Permissions {
        files,
        network,
        processes: _,
        scratch_bytes,
        env,
        secrets,
        data,
    } = permissions;
    let mut members = Map::new();
    if !files.is_empty() {
        let grant = |grant: &crate::config::FileGrant| {
            let host = paths::from(folder, &grant.host)?;
            let mut members = Map::new();
            members.insert("host".into(), json!(host));
            members.insert("guest".into(), json!(grant.guest));
            if grant.access != Access::Read {
                members.insert("access".into(), json!(grant.access));
            }
            Ok(Value::Object(members))
        };
        let files: Vec<_> = files.iter().map(grant).collect::<Result<_, Why>>()?;
        members.insert("files".into(), Value::Array(files));
    }
    if !network.is_empty() {
        let grants = network
            .iter()
            .map(|grant| json!({"host": grant.host.to_string(), "port": grant.port}));
        members.insert("network".into(), grants.collect());
    }
    if let Some(bytes) = scratch_bytes {
        members.insert("scratch".into(), json!(bytes_text(*bytes)));
    }
    if !env.is_empty() {
        members.insert("env".into(), json!(env));
    }
    if !secrets.is_empty() {
        let secrets: Vec<_> = secrets
            .iter()
            .map(|secret| secret_of(secret, folder))
            .collect::<Result<_, _>>()?;
        members.insert("secrets".into(), Value::Array(secrets));
    }
    if !data.is_empty() {
        members.insert("data".into(), json!(data));
    }
    Ok(Value::Object(members))
}

fn secret_of(secret: &SecretGrant, folder: &Path) -> Result<Value, Why> {
    let name = &secret.name;
    Ok(match &secret.source {
        SecretSource::Env(variable) => json!({"name": name, "env": variable}),
        SecretSource::File(file) => json!({"name": name, "file": paths::from(folder, file)?}),
        SecretSource::Command(words) => json!({"name": name, "command": words}),
    })
}
