//! A plugin's spec as an entry in our own words. What is a default is not written.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::paths;
use crate::condition::Condition;
use crate::config::defaults;
use crate::config::limits::bytes_text;
use crate::config::spec::{
    Access, Instances, Limits, Mode, OnError, Permissions, PluginKind, PluginSpec, PythonOptions,
    SecretGrant, SecretSource,
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
        python,
    } = spec;
    let mut members = Map::new();
    write(&mut members, "name", json!(name));
    let is_python = matches!(kind, PluginKind::Python { .. });
    match kind {
        PluginKind::Wasm { component } => {
            write(&mut members, "kind", json!("wasm"));
            write(
                &mut members,
                "component",
                json!(paths::from(folder, component)?),
            );
            if let Some(digest) = digest {
                write(&mut members, "digest", json!(digest));
            }
        }
        PluginKind::Python {
            class,
            requirements,
            requirements_file,
            import_paths,
            workdir,
        } => {
            write(&mut members, "kind", json!(class));
            if !requirements.is_empty() {
                write(&mut members, "requirements", json!(requirements));
            }
            if let Some(file) = requirements_file {
                write(
                    &mut members,
                    "requirements_file",
                    json!(paths::from(folder, file)?),
                );
            }
            let import_paths: Vec<_> = import_paths
                .iter()
                .map(|path| paths::from(folder, path))
                .collect::<Result<_, _>>()?;
            if import_paths != ["."] {
                write(&mut members, "import_paths", json!(import_paths));
            }
            let workdir = workdir
                .as_ref()
                .map(|path| paths::from(folder, path))
                .transpose()?;
            if let Some(workdir) = workdir.filter(|workdir| workdir != ".") {
                write(&mut members, "workdir", json!(workdir));
            }
            members.append(&mut python_of(python, folder)?);
        }
        PluginKind::Other { kind } => return Err(format!("nothing here runs kind {kind}")),
    }
    if hooks.is_empty() {
        return Err("it has no hooks, so it is never asked".into());
    }
    write(&mut members, "hooks", json!(hooks));
    if *mode != defaults::MODE {
        write(&mut members, "mode", json!(mode));
    }
    if *priority != defaults::PRIORITY {
        write(&mut members, "priority", json!(priority));
    }
    // What a fault does in the background is not a choice to deny.
    if *on_error != defaults::ON_ERROR && (*mode, *on_error) != (Mode::FireAndForget, OnError::Fail)
    {
        write(&mut members, "on_error", json!(on_error));
    }
    if !conditions.is_empty() {
        let conditions: Vec<_> = conditions.iter().map(condition).collect::<Result<_, _>>()?;
        write(&mut members, "conditions", Value::Array(conditions));
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
        permissions_of(permissions, is_python, folder)?,
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

fn write(members: &mut Map<String, Value>, key: &str, value: Value) {
    members.insert(key.to_owned(), value);
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

/// How the worker is made and kept, where that is not the default.
fn python_of(python: &PythonOptions, folder: &Path) -> Result<Map<String, Value>, Why> {
    let PythonOptions {
        environment,
        allow_build,
        worker,
        workers,
        idempotent,
        sandbox,
        settings,
    } = python;
    let defaults = PythonOptions::default();
    let mut members = Map::new();
    let mut of_python = Map::new();
    if let Some(environment) = environment {
        let environment = paths::from(folder, environment)?;
        of_python.insert("environment".into(), json!(environment));
    }
    write_if_any(&mut of_python, "settings", settings.to_value());
    write_if_any(&mut members, "python", Value::Object(of_python));
    let mut write = |key: &str, value: Value, is_default: bool| {
        if !is_default {
            members.insert(key.to_owned(), value);
        }
    };
    write(
        "allow_build",
        json!(allow_build),
        *allow_build == defaults.allow_build,
    );
    write("worker", json!(worker), *worker == defaults.worker);
    write("workers", json!(workers), *workers == defaults.workers);
    write(
        "idempotent",
        json!(idempotent),
        *idempotent == defaults.idempotent,
    );
    write("sandbox", json!(sandbox), *sandbox == defaults.sandbox);
    Ok(members)
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

/// What grants say. Of a Python plugin's files, `guest` is not written: it is the host's own path.
fn permissions_of(permissions: &Permissions, is_python: bool, folder: &Path) -> Result<Value, Why> {
    let Permissions {
        files,
        network,
        processes,
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
            if !is_python {
                members.insert("guest".into(), json!(grant.guest));
            }
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
    if *processes {
        members.insert("processes".into(), json!(true));
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
