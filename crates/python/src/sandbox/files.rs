//! Which places a worker sees, and what it may do there. Whatever is not listed here it can neither open
//! nor list.

use std::path::{Path, PathBuf};

use hookgate_core::config::{Access, Permissions};

use super::interpreter::InterpreterPlaces;

/// One place and what is allowed at it and below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileRule {
    pub(super) path: PathBuf,
    pub(super) right: Right,
    /// Whether it is an error that it is not there.
    pub(super) must_exist: bool,
}

/// What may be done at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Right {
    Read,
    /// Read and start as a program.
    Run,
    Write,
    WriteAndRun,
    /// Read and write what is a device.
    Device,
}

impl FileRule {
    fn new(path: impl Into<PathBuf>, right: Right) -> Self {
        Self {
            path: path.into(),
            right,
            must_exist: false,
        }
    }
}

/// Libraries of the system: for the interpreter, for compiled packages, for what they load later.
const LIBRARIES: [&str; 6] = [
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/usr/local/lib64",
];

/// Data of the system that libraries read of themselves. Where such a file is there and cannot be opened,
/// they raise; `mimetypes`, `ssl` and `zoneinfo` are among them.
const DATA: [&str; 16] = [
    "/etc/ld.so.cache",
    "/etc/ld-musl-x86_64.path",
    "/etc/ld-musl-aarch64.path",
    "/etc/localtime",
    "/etc/timezone",
    "/etc/mime.types",
    "/etc/ssl/openssl.cnf",
    "/etc/pki/tls/openssl.cnf",
    "/etc/crypto-policies",
    "/usr/share/zoneinfo",
    "/usr/share/locale",
    "/usr/share/i18n",
    "/usr/share/mime",
    "/usr/share/misc",
    // Native libraries choose the number of their threads by it.
    "/sys/devices/system/cpu",
    "/usr/share/terminfo",
];

/// What a connection to a named host needs: its address, and who may vouch for it.
const NETWORK: [&str; 17] = [
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/host.conf",
    "/etc/nsswitch.conf",
    "/etc/gai.conf",
    "/etc/services",
    "/etc/protocols",
    "/etc/ssl/certs",
    "/etc/ssl/cert.pem",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/tls/certs",
    "/etc/pki/tls/cert.pem",
    "/etc/pki/ca-trust/extracted",
    "/etc/ca-certificates",
    "/usr/share/ca-certificates",
    "/usr/local/share/ca-certificates",
    "/var/lib/ca-certificates",
];

/// Programs of the system, for a plugin that may start processes.
const PROGRAMS: [&str; 8] = [
    "/bin",
    "/sbin",
    "/usr/bin",
    "/usr/sbin",
    "/usr/local/bin",
    "/usr/local/sbin",
    "/usr/libexec",
    "/etc/alternatives",
];

const DEVICES: [&str; 5] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];

/// What is known when the plugin is loaded.
pub(super) fn rules(
    permissions: &Permissions,
    base: &Path,
    interpreter: &InterpreterPlaces,
) -> Vec<FileRule> {
    let may_start = permissions.processes;
    let read = if may_start { Right::Run } else { Right::Read };
    let mut rules = Vec::new();
    let mut add = |paths: &[&str], right| {
        rules.extend(paths.iter().map(|path| FileRule::new(*path, right)));
    };
    add(&LIBRARIES, read);
    add(&DATA, Right::Read);
    add(&DEVICES, Right::Device);
    if !permissions.network.is_empty() {
        add(&NETWORK, Right::Read);
    }
    if may_start {
        add(&PROGRAMS, Right::Run);
    }
    let own = interpreter.folders.iter();
    rules.extend(own.map(|path| FileRule::new(path, read)));
    // Without them nothing starts.
    let programs = interpreter.programs.iter();
    rules.extend(programs.map(|path| FileRule::new(path, Right::Run)));
    rules.extend(permissions.files.iter().map(|grant| FileRule {
        path: base.join(&grant.host),
        right: match (grant.access, may_start) {
            (Access::Read, _) => read,
            (_, false) => Right::Write,
            (_, true) => Right::WriteAndRun,
        },
        must_exist: true,
    }));
    rules
}

/// What is known when a worker is started: its folders for reading, its own one for writing.
pub(super) fn more(folders: &[PathBuf], scratch: &Path, may_start: bool) -> Vec<FileRule> {
    let read = if may_start { Right::Run } else { Right::Read };
    let mut rules: Vec<_> = folders
        .iter()
        .map(|path| FileRule::new(path, read))
        .collect();
    let right = if may_start {
        Right::WriteAndRun
    } else {
        Right::Write
    };
    rules.push(FileRule {
        must_exist: true,
        ..FileRule::new(scratch, right)
    });
    rules
}

/// Whether a place is the root, or holds the user's home: too much to show because of one thing in it.
pub(super) fn holds_home(path: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let path = real(path);
    path.parent().is_none()
        || std::env::home_dir()
            .is_some_and(|home| !home.as_os_str().is_empty() && real(&home).starts_with(&path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_and_the_home_and_what_is_above_it_hold_the_home() {
        let home = std::env::home_dir().expect("tests run for somebody");
        assert!(holds_home(Path::new("/")));
        assert!(holds_home(&home));
        assert!(home.parent().is_none_or(holds_home));
        assert!(!holds_home(&home.join("plugins")));
        assert!(!holds_home(Path::new("/usr/lib")));
    }

    #[test]
    fn network_and_processes_bring_their_files_and_nothing_else_does() {
        let places = InterpreterPlaces::default();
        let paths = |permissions: &Permissions| -> Vec<PathBuf> {
            rules(permissions, Path::new("/nowhere"), &places)
                .into_iter()
                .map(|rule| rule.path)
                .collect()
        };
        let nothing = paths(&Permissions::default());
        let mut granted = Permissions::default();
        granted.processes = true;
        let with_processes = paths(&granted);
        for (path, by_default, with_grant) in [
            ("/usr/lib", true, true),
            ("/bin", false, true),
            ("/etc/resolv.conf", false, false),
            ("/etc", false, false),
            ("/proc", false, false),
        ] {
            let path = Path::new(path);
            assert_eq!(
                nothing.iter().any(|one| one == path),
                by_default,
                "{path:?}"
            );
            assert_eq!(
                with_processes.iter().any(|one| one == path),
                with_grant,
                "{path:?}"
            );
        }
    }
}
