//! What `hookgate check` says about each plugin: the operator's words beside what the host found.

use std::path::PathBuf;

use hookgate::config::{Config, Mode, OnError, PluginSpec};
use hookgate::{EnvironmentInfo, LoadProblem, PluginStatus};
use serde::Serialize;

use crate::table::Table;
use crate::units::{bytes, shown, timeout};

/// One plugin.
#[derive(Debug, Serialize)]
pub struct PluginReport {
    name: String,
    kind: String,
    hooks: Vec<String>,
    mode: Mode,
    priority: i32,
    on_error: OnError,
    group: Option<String>,
    /// The digest its component must have.
    digest: Option<String>,
    limits: LimitsReport,
    grants: GrantsReport,
    /// What its host says; none for a plugin that is not loaded.
    pub loaded: Option<Loaded>,
    /// Why it does not load, if the configuration says that it is left out then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOut>,
}

/// Why a plugin is left out.
#[derive(Debug, Serialize)]
pub struct LeftOut {
    message: String,
    detail: Option<String>,
    hint: Option<String>,
}

#[derive(Debug, Serialize)]
struct LimitsReport {
    timeout_ms: u64,
    memory_bytes: u64,
    concurrency: u32,
}

#[derive(Debug, Serialize)]
struct GrantsReport {
    files: Vec<FileReport>,
    network: Vec<HostReport>,
    scratch_bytes: Option<u64>,
    env: Vec<String>,
    /// Names; where the values come from is in the configuration.
    secrets: Vec<String>,
    data: Vec<&'static str>,
}

#[derive(Debug, Serialize)]
struct HostReport {
    host: String,
    port: u16,
}

#[derive(Debug, Serialize)]
struct FileReport {
    host: String,
    guest: String,
    access: String,
}

/// What a host found.
#[derive(Debug, Serialize)]
pub struct Loaded {
    /// What really confines it.
    sandbox: String,
    digest: Option<String>,
    environment: Option<EnvironmentInfo>,
    /// Interfaces a component imports.
    imports: Vec<String>,
    /// Grants that nothing it imports would use.
    unused: Vec<String>,
    /// What its host says of how it runs.
    notes: Vec<String>,
}

/// A report for every entry, in the order of the configuration.
pub fn reports(
    config: &Config,
    statuses: &[PluginStatus],
    skipped: &[LoadProblem],
) -> Vec<PluginReport> {
    let report = |spec: &PluginSpec| {
        let status = statuses.iter().find(|status| status.name == spec.name);
        let problem = skipped.iter().find(|problem| problem.plugin == spec.name);
        PluginReport::new(spec, status, problem)
    };
    config.plugins.iter().map(report).collect()
}

impl PluginReport {
    fn new(
        spec: &PluginSpec,
        status: Option<&PluginStatus>,
        problem: Option<&LoadProblem>,
    ) -> Self {
        let grants = &spec.permissions;
        let file = |grant: &hookgate::config::FileGrant| FileReport {
            // Without the `.` of `./data`.
            host: grant
                .host
                .components()
                .collect::<PathBuf>()
                .display()
                .to_string(),
            guest: grant.guest.clone(),
            access: grant.access.to_string(),
        };
        let loaded = |status: &PluginStatus| Loaded {
            sandbox: status.info.sandbox.clone(),
            digest: status.info.digest.clone(),
            environment: status.info.environment.clone(),
            imports: status.info.imports.clone(),
            unused: status.info.unused.clone(),
            notes: status.info.notes.clone(),
        };
        let host = |grant: &hookgate::config::NetworkGrant| HostReport {
            host: grant.host.to_string(),
            port: grant.port,
        };
        Self {
            name: spec.name.clone(),
            kind: spec.kind.name().to_owned(),
            hooks: spec.hooks.clone(),
            mode: spec.mode,
            priority: spec.priority,
            on_error: spec.on_error,
            group: spec.group.clone(),
            digest: spec.digest.clone(),
            limits: LimitsReport {
                timeout_ms: u64::try_from(spec.limits.timeout.as_millis()).unwrap_or(u64::MAX),
                memory_bytes: spec.limits.memory_bytes,
                concurrency: spec.limits.concurrency,
            },
            grants: GrantsReport {
                files: grants.files.iter().map(file).collect(),
                network: grants.network.iter().map(host).collect(),
                scratch_bytes: grants.scratch_bytes,
                env: grants.env.clone(),
                secrets: grants
                    .secrets
                    .iter()
                    .map(|secret| secret.name.clone())
                    .collect(),
                data: grants.data.iter().map(|data| data.as_str()).collect(),
            },
            loaded: status.map(loaded),
            left_out: problem.map(|problem| LeftOut {
                message: problem.error.message.clone(),
                detail: problem.error.detail.clone(),
                hint: problem.error.hint.clone(),
            }),
        }
    }

    fn grants_text(&self) -> String {
        let GrantsReport {
            files,
            network,
            scratch_bytes,
            env,
            secrets,
            data,
        } = &self.grants;
        let files = files
            .iter()
            .map(|file| format!("{} of {} as {}", file.access, file.host, file.guest));
        let mut grants: Vec<String> = files.collect();
        grants.extend(
            network
                .iter()
                .map(|grant| format!("network {} port {} (TCP)", grant.host, grant.port)),
        );
        grants.extend(scratch_bytes.map(|size| format!("scratch of {}", bytes(size))));
        grants.extend(env.iter().map(|name| format!("env {name}")));
        grants.extend(secrets.iter().map(|name| format!("secret {name}")));
        grants.extend(data.iter().map(|name| format!("data {name}")));
        if grants.is_empty() {
            "none".to_owned()
        } else {
            grants.join(", ")
        }
    }

    /// The lines below the table.
    fn details(&self) -> Vec<String> {
        let mut lines = vec![
            shown(&self.name),
            format!(
                "  hooks: {}",
                if self.hooks.is_empty() {
                    "none".to_owned()
                } else {
                    self.hooks.join(", ")
                }
            ),
            format!("  grants: {}", shown(&self.grants_text())),
        ];
        if let Some(group) = &self.group {
            lines.insert(1, format!("  group: {}", shown(group)));
        }
        if let Some(left_out) = &self.left_out {
            lines.push(format!(
                "  left out, since it does not load: {}",
                left_out.message
            ));
            let detail = left_out.detail.iter().flat_map(|detail| detail.lines());
            lines.extend(detail.map(|line| format!("    | {line}")));
            lines.extend(left_out.hint.iter().map(|hint| format!("    hint: {hint}")));
            return lines;
        }
        let Some(Loaded {
            sandbox,
            digest,
            environment,
            imports,
            unused,
            notes,
        }) = &self.loaded
        else {
            if let Some(digest) = &self.digest {
                lines.push(format!("  digest: {digest} (pinned)"));
            }
            lines.push("  disabled: not loaded".to_owned());
            return lines;
        };
        lines.push(format!("  sandbox: {sandbox}"));
        if let Some(digest) = digest {
            // A plugin whose digest is another one than the pinned one does not load.
            let pinned = if self.digest.is_some() {
                " (pinned)"
            } else {
                ""
            };
            lines.push(format!("  digest: {digest}{pinned}"));
        }
        if !imports.is_empty() {
            lines.push(format!("  imports: {}", shown(&imports.join(", "))));
        }
        if !unused.is_empty() {
            // It imports nothing that would use them.
            let unused = shown(&unused.join(", "));
            lines.push(format!("  granted and unused: {unused}"));
        }
        lines.extend(environment.iter().flat_map(environment_lines));
        lines.extend(notes.iter().map(|note| format!("  note: {note}")));
        lines
    }
}

fn environment_lines(environment: &EnvironmentInfo) -> [String; 4] {
    let EnvironmentInfo {
        verdict,
        path,
        python,
        framework,
    } = environment;
    let built = match *verdict {
        "Valid" => "",
        "Missing" => " before this run, which built it",
        _ => " before this run; it is right now",
    };
    [
        format!("  environment: {verdict}{built}"),
        format!("    path: {path}"),
        format!("    python: {python}"),
        format!("    framework: {}", shown(framework)),
    ]
}

/// A table of what is one word, then the rest plugin by plugin.
pub fn text(plugins: &[PluginReport]) -> String {
    let mut table = Table::new(&[
        "plugin",
        "kind",
        "mode",
        "#priority",
        "on_error",
        "#timeout",
        "#memory",
        "#concurrency",
    ]);
    for plugin in plugins {
        table.row(vec![
            shown(&plugin.name),
            shown(&plugin.kind),
            plugin.mode.to_string(),
            plugin.priority.to_string(),
            plugin.on_error.to_string(),
            timeout(plugin.limits.timeout_ms),
            bytes(plugin.limits.memory_bytes),
            plugin.limits.concurrency.to_string(),
        ]);
    }
    let mut out = table.lines().join("\n") + "\n";
    for plugin in plugins {
        out += "\n";
        out += &plugin.details().join("\n");
        out += "\n";
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_is_judged_as_it_was_before_the_run() {
        let lines = |verdict| {
            environment_lines(&EnvironmentInfo {
                verdict,
                path: "/envs/a".into(),
                python: "3.11.7".into(),
                framework: "cpex 0.1.4".into(),
            })
        };
        let rest = [
            "    path: /envs/a",
            "    python: 3.11.7",
            "    framework: cpex 0.1.4",
        ];
        let cases = [
            ("Valid", "  environment: Valid"),
            (
                "Missing",
                "  environment: Missing before this run, which built it",
            ),
            (
                "RequirementsChanged",
                "  environment: RequirementsChanged before this run; it is right now",
            ),
        ];
        for (verdict, first) in cases {
            let found = lines(verdict);
            assert_eq!(
                (found[0].as_str(), &found[1..]),
                (first, rest.map(str::to_owned).as_slice())
            );
        }
    }
}
