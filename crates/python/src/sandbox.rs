//! [`Confinement`]: what a worker may do to the rest of the system, which is what the operator granted.
//!
//! Three parts hold a worker, each where the others do not reach. *Landlock* decides which files it opens
//! and lists and which TCP ports it connects to, and keeps signals and abstract sockets inside. *seccomp*
//! takes away whole system calls: sockets without a network grant, processes without that grant, and
//! everything a plugin has no business with. *Limits* bound files and descriptors, and the worker has no
//! capability and cannot get one (`no_new_privs`).
//!
//! All of it is made before the fork: a descriptor with the rule set, and the filter's programs. The child
//! only switches it on, before the interpreter runs its first instruction. What the kernel cannot give is
//! known when the plugin is loaded, and `sandbox:` says whether that is an error.

mod files;
mod interpreter;
mod kernel;

#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod child;
#[cfg(target_os = "linux")]
mod filter;
#[cfg(target_os = "linux")]
mod landlock;
#[cfg(target_os = "linux")]
mod syscalls;

use std::io;
use std::path::{Path, PathBuf};

use hookgate_core::LoadError;
use hookgate_core::config::{PluginSpec, Sandbox};
use tokio::process::Command;

use files::FileRule;
use interpreter::InterpreterPlaces;
use kernel::Kernel;

/// How the workers of one plugin are confined.
#[derive(Debug)]
pub(crate) struct Confinement {
    kernel: Kernel,
    level: Sandbox,
    files: Vec<FileRule>,
    ports: Vec<u16>,
    processes: bool,
    notes: Vec<String>,
    #[cfg(target_os = "linux")]
    filters: Vec<seccompiler::BpfProgram>,
    open_files: u64,
}

impl Confinement {
    /// For the workers of `spec`, which run this interpreter.
    ///
    /// # Errors
    ///
    /// If the kernel cannot give what is wanted, or the interpreter does not say where it lies.
    pub(crate) async fn plan(spec: &PluginSpec, executable: &Path) -> Result<Self, LoadError> {
        let kernel = Kernel::running();
        check(kernel, spec)?;
        let places = InterpreterPlaces::ask(executable).await.map_err(|error| {
            LoadError::new(format!(
                "the sandbox cannot be made: no answer from {}: {error}",
                executable.display()
            ))
        })?;
        Self::of(kernel, spec, &places)
    }

    fn of(
        kernel: Kernel,
        spec: &PluginSpec,
        places: &InterpreterPlaces,
    ) -> Result<Self, LoadError> {
        let permissions = &spec.permissions;
        let mut ports: Vec<_> = permissions.network.iter().map(|grant| grant.port).collect();
        ports.sort_unstable();
        ports.dedup();
        let open_files = open_files();
        let confinement = Self {
            kernel,
            level: spec.python.sandbox,
            files: files::rules(permissions, &absolute(&spec.base_dir), places),
            notes: notes(kernel, spec, &ports),
            ports,
            processes: permissions.processes,
            #[cfg(target_os = "linux")]
            filters: filters(kernel, spec, open_files)?,
            open_files,
        };
        confinement.try_out()?;
        Ok(confinement)
    }

    /// What is really enforced, as `hookgate check` prints it.
    pub(crate) fn describe(&self) -> String {
        let level = match self.level {
            Sandbox::BestEffort => "best_effort",
            _ => "strict",
        };
        match self.kernel.words() {
            words if words.is_empty() => "none".to_owned(),
            words => format!("{level} ({words})"),
        }
    }

    /// What is not, a sentence each.
    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Whether a refused access may be of this sandbox.
    pub(crate) fn is_on(&self) -> bool {
        self.kernel.landlock > 0 || self.kernel.seccomp
    }

    /// Whether a worker can have child processes.
    pub(crate) fn lets_start_processes(&self) -> bool {
        self.processes || !self.kernel.seccomp
    }

    /// Whether a folder that nobody named is shown to the plugin: the configuration's own is, unless it
    /// holds the home.
    pub(crate) fn shows_by_default(folder: &Path) -> bool {
        !files::holds_home(folder)
    }

    /// Lets the process of `command`, whose environment is cleared, be confined before it runs.
    #[cfg(target_os = "linux")]
    pub(crate) fn confine(
        &self,
        command: &mut Command,
        folders: &[PathBuf],
        scratch: &Path,
    ) -> io::Result<()> {
        let mut files = self.files.clone();
        files.extend(files::more(folders, scratch, self.processes));
        let rules = match self.kernel.landlock {
            0 => None,
            abi => landlock::rule_set(abi, &files, &self.ports)?,
        };
        let alone = self.kernel.seccomp && !self.processes;
        let child = child::Child {
            rules,
            filters: self.filters.clone(),
            open_files: self.open_files,
            program: alone.then(|| child::Program::of(command)).transpose()?,
            may_start: self.processes,
        };
        syscalls::before_exec(command, child);
        Ok(())
    }

    /// There is nothing to confine it with.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn confine(&self, _: &mut Command, _: &[PathBuf], _: &Path) -> io::Result<()> {
        Ok(())
    }

    /// Makes the rule set once while somebody can be told what is wrong with a grant.
    #[cfg(target_os = "linux")]
    fn try_out(&self) -> Result<(), LoadError> {
        if self.kernel.landlock == 0 {
            return Ok(());
        }
        landlock::rule_set(self.kernel.landlock, &self.files, &self.ports).map_err(|error| {
            LoadError::new(format!("permissions.files: {error}"))
                .hint("grant a file or folder that is there when the plugin is loaded")
        })?;
        Ok(())
    }

    #[cfg(not(target_os = "linux"))]
    fn try_out(&self) -> Result<(), LoadError> {
        Ok(())
    }
}

/// Refuses what `strict` promises and the kernel cannot give.
fn check(kernel: Kernel, spec: &PluginSpec) -> Result<(), LoadError> {
    if spec.python.sandbox == Sandbox::BestEffort {
        return Ok(());
    }
    let permissions = &spec.permissions;
    match kernel.shortfall(!permissions.network.is_empty(), permissions.processes) {
        Some(why) => Err(LoadError::new(format!(
            "the sandbox that `strict` asks for is not possible on this system: {why}"
        ))
        .hint("write `sandbox: best_effort`, and the plugin runs with what there is")),
        None => Ok(()),
    }
}

#[cfg(target_os = "linux")]
fn filters(
    kernel: Kernel,
    spec: &PluginSpec,
    open_files: u64,
) -> Result<Vec<seccompiler::BpfProgram>, LoadError> {
    if !kernel.seccomp {
        return Ok(Vec::new());
    }
    let wanted = filter::Wanted {
        network: !spec.permissions.network.is_empty(),
        processes: spec.permissions.processes,
        open_files,
    };
    filter::for_this_machine(wanted).map_err(|error| {
        LoadError::new(format!(
            "the filter of system calls cannot be made: {error}"
        ))
    })
}

/// What an operator may take for enforced and is not.
fn notes(kernel: Kernel, spec: &PluginSpec, ports: &[u16]) -> Vec<String> {
    let mut notes = Vec::new();
    let files = "not enforced: stat; that a path is there, its size and its times can be asked for, whatever was granted";
    notes.push(files.to_owned());
    notes.push(format!(
        "not enforced: how much it writes to its temporary folder in all; one file has at most {} MiB",
        crate::limits::FILE_BYTES >> 20
    ));
    if !ports.is_empty() {
        let ports: Vec<_> = ports.iter().map(u16::to_string).collect();
        notes.push(format!(
            "not enforced: the host names of `network`, and UDP; TCP connects to any host at port {}, UDP to any port",
            ports.join(", ")
        ));
    }
    if spec.permissions.processes && kernel.landlock < kernel::SCOPES_ABI {
        notes.push("not enforced: whom it signals, since it may start processes".to_owned());
    }
    if kernel.landlock < kernel::FILES_ABI {
        let what = match kernel.landlock {
            0 => "files",
            _ => "cutting files short",
        };
        notes.push(format!(
            "not enforced: {what}, the kernel's landlock is too old or missing"
        ));
    }
    if !ports.is_empty() && kernel.landlock < kernel::TCP_ABI {
        notes.push(
            "not enforced: the ports of `network`, the kernel's landlock is too old or missing"
                .to_owned(),
        );
    }
    if !kernel.seccomp {
        notes.push("not enforced: system calls, and so sockets, processes and signals; the kernel has no seccomp filters".to_owned());
    }
    notes
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// The limit on open files; there must be a place past it, which this process's own limit allows.
#[cfg(target_os = "linux")]
fn open_files() -> u64 {
    use rustix::process::{Resource, getrlimit};
    let allowed = getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX);
    crate::limits::OPEN_FILES.min(allowed.saturating_sub(1))
}

#[cfg(not(target_os = "linux"))]
fn open_files() -> u64 {
    crate::limits::OPEN_FILES
}

#[cfg(test)]
mod tests {
    use super::*;
    use hookgate_core::config::{HostPattern, NetworkGrant, PluginKind};

    const FULL: Kernel = Kernel {
        landlock: 7,
        seccomp: true,
    };

    fn spec(sandbox: Sandbox) -> PluginSpec {
        let kind = PluginKind::Python {
            class: "a.B".into(),
            requirements: Vec::new(),
            requirements_file: None,
            import_paths: Vec::new(),
            workdir: None,
        };
        let mut spec = PluginSpec::new("p", kind);
        spec.python.sandbox = sandbox;
        spec
    }

    fn with_port(mut spec: PluginSpec) -> PluginSpec {
        spec.permissions.network = vec![NetworkGrant {
            host: HostPattern::parse("api.example.com").expect("a name"),
            port: 443,
        }];
        spec
    }

    #[test]
    fn strict_needs_what_the_grants_need() {
        let mut starts = spec(Sandbox::Strict);
        starts.permissions.processes = true;
        for (spec, landlock, seccomp, why) in [
            (spec(Sandbox::Strict), 3, true, None),
            (
                spec(Sandbox::Strict),
                0,
                true,
                Some("it has no landlock, the rules for files needs abi 3"),
            ),
            (
                spec(Sandbox::Strict),
                2,
                true,
                Some("its landlock is of abi 2, the rules for files needs abi 3"),
            ),
            (
                spec(Sandbox::Strict),
                7,
                false,
                Some("it has no seccomp filters"),
            ),
            (
                with_port(spec(Sandbox::Strict)),
                3,
                true,
                Some("its landlock is of abi 3, a port of `network` needs abi 4"),
            ),
            (with_port(spec(Sandbox::Strict)), 4, true, None),
            (
                starts.clone(),
                5,
                true,
                Some(
                    "its landlock is of abi 5, keeping signals of `processes` from others needs abi 6",
                ),
            ),
            (starts, 6, true, None),
            (spec(Sandbox::BestEffort), 0, false, None),
        ] {
            let checked = check(Kernel { landlock, seccomp }, &spec);
            let message = checked.as_ref().err().map(|error| error.message.as_str());
            let wanted = why.map(|why| {
                format!("the sandbox that `strict` asks for is not possible on this system: {why}")
            });
            assert_eq!(message, wanted.as_deref());
            if let Err(error) = checked {
                let hint = "write `sandbox: best_effort`, and the plugin runs with what there is";
                assert_eq!(error.hint.as_deref(), Some(hint));
            }
        }
    }

    #[test]
    fn what_is_said_is_what_the_kernel_has() {
        let places = InterpreterPlaces::default();
        let said = |kernel, sandbox| {
            let plan = Confinement::of(kernel, &spec(sandbox), &places).expect("a plan");
            (plan.describe(), plan.notes().len())
        };
        let full = "(landlock abi 7: files, tcp, scopes; seccomp)";
        assert_eq!(said(FULL, Sandbox::Strict), (format!("strict {full}"), 2));
        assert_eq!(
            said(FULL, Sandbox::BestEffort),
            (format!("best_effort {full}"), 2)
        );
        let old = Kernel {
            landlock: 3,
            seccomp: true,
        };
        assert_eq!(
            said(old, Sandbox::Strict).0,
            "strict (landlock abi 3: files; seccomp)"
        );
        let only_calls = Kernel {
            landlock: 0,
            seccomp: true,
        };
        assert_eq!(
            said(only_calls, Sandbox::BestEffort),
            ("best_effort (seccomp)".into(), 3)
        );
        let nothing = Kernel {
            landlock: 0,
            seccomp: false,
        };
        assert_eq!(said(nothing, Sandbox::BestEffort), ("none".into(), 4));
    }

    #[test]
    fn a_network_grant_says_what_it_does_not_bound() {
        let plan = Confinement::of(
            FULL,
            &with_port(spec(Sandbox::Strict)),
            &InterpreterPlaces::default(),
        );
        let plan = plan.expect("a plan");
        assert_eq!(
            plan.notes()[2],
            "not enforced: the host names of `network`, and UDP; TCP connects to any host at port 443, UDP to any port"
        );
    }

    #[test]
    fn a_granted_file_that_is_not_there_is_an_error_that_names_it() {
        use hookgate_core::config::{Access, FileGrant};
        let mut spec = spec(Sandbox::Strict);
        spec.base_dir = "/nowhere".into();
        spec.permissions.files = vec![FileGrant {
            host: "data".into(),
            guest: "/data".into(),
            access: Access::Read,
        }];
        let error = Confinement::of(FULL, &spec, &InterpreterPlaces::default())
            .expect_err("it is not there");
        assert!(
            error
                .message
                .starts_with("permissions.files: cannot be opened: /nowhere/data: "),
            "{error}"
        );
    }
}
