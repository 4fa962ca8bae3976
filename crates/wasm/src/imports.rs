//! [`Imports`]: what a component asks for, held against what it was granted.

use hookgate_core::LoadError;
use hookgate_core::config::Permissions;
use wasmtime::Engine;
use wasmtime::component::Component;

/// Packages whose interfaces are always there. Toolchains import them unasked; what they reach is refused
/// at run time where it is not granted.
const ALWAYS: [&str; 7] = [
    "hookgate:plugin",
    "wasi:cli",
    "wasi:clocks",
    "wasi:filesystem",
    "wasi:io",
    "wasi:random",
    "wasi:sockets",
];
/// The package that is there with a network grant.
const HTTP: &str = "wasi:http";

/// The interfaces a component imports, by name and version.
#[derive(Debug)]
pub(crate) struct Imports(Vec<String>);

impl Imports {
    pub(crate) fn of(component: &Component, engine: &Engine) -> Self {
        let types = component.component_type();
        let names = types.imports(engine).map(|(name, _)| name.to_owned());
        let mut names: Vec<_> = names.collect();
        names.sort_unstable();
        Self(names)
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.0
    }

    /// Refuses what no grant, or no grant yet, would satisfy.
    pub(crate) fn check(&self, permissions: &Permissions) -> Result<(), LoadError> {
        for name in &self.0 {
            let package = package(name);
            if package == HTTP && permissions.network.is_empty() {
                return Err(LoadError::new(format!(
                    "the component imports {name}, which needs a grant: permissions.network"
                ))
                .hint(
                    "write `permissions: {network: [{host: api.example.com, port: 443}]}` in the entry, with the hosts it connects to",
                ));
            }
            if package != HTTP && !ALWAYS.contains(&package) {
                return Err(LoadError::new(format!(
                    "the component imports {name}, which no grant gives"
                ))
                .hint(may_import()));
            }
        }
        Ok(())
    }

    /// An interface that is not there in the version or with the types asked for.
    pub(crate) fn unmet(&self, error: &wasmtime::Error) -> LoadError {
        let message = format!(
            "the component imports what is not there: {}",
            crate::contract::unmet(error)
        );
        LoadError::new(message)
            .detail(format!("{error:#}"))
            .hint(may_import())
    }

    /// What was granted and has nothing among the imports that would use it. Grants of data are not
    /// here: every hook has a context.
    pub(crate) fn unused(&self, permissions: &Permissions) -> Vec<String> {
        let mut unused = Vec::new();
        if !self.any("wasi:filesystem/") {
            let files = permissions.files.iter();
            unused.extend(files.map(|grant| format!("files {}", grant.guest)));
            unused.extend(permissions.scratch_bytes.map(|_| "scratch".to_owned()));
        }
        if !self.any("wasi:sockets/tcp") && !self.any("wasi:http/outgoing-handler") {
            let network = permissions.network.iter();
            unused.extend(network.map(|grant| format!("network {grant}")));
        }
        if !self.any("wasi:cli/environment") {
            unused.extend(permissions.env.iter().map(|name| format!("env {name}")));
        }
        if !self.any("hookgate:plugin/secrets") {
            let secrets = permissions.secrets.iter();
            unused.extend(secrets.map(|secret| format!("secret {}", secret.name)));
        }
        unused
    }

    fn any(&self, prefix: &str) -> bool {
        self.0.iter().any(|name| name.starts_with(prefix))
    }
}

/// `wasi:http` of `wasi:http/types@0.2.0`.
fn package(name: &str) -> &str {
    name.split(['/', '@']).next().unwrap_or_default()
}

fn may_import() -> String {
    format!(
        "a plugin may import interfaces of {}, WASI in version 0.2, and {HTTP} with `permissions.network`",
        ALWAYS.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use hookgate_core::config::{
        Access, FileGrant, HostPattern, NetworkGrant, Permissions, SecretGrant, SecretSource,
    };

    use super::Imports;

    fn imports(names: &[&str]) -> Imports {
        Imports(names.iter().map(|name| (*name).to_owned()).collect())
    }

    /// One grant of each kind.
    fn all() -> Permissions {
        let mut all = Permissions::default();
        all.files = vec![FileGrant {
            host: "/srv".into(),
            guest: "/data".into(),
            access: Access::Read,
        }];
        all.network = vec![NetworkGrant {
            host: HostPattern::parse("api.example.com").unwrap(),
            port: 443,
        }];
        all.scratch_bytes = Some(4096);
        all.env = vec!["HOME".into()];
        all.secrets = vec![SecretGrant {
            name: "token".into(),
            source: SecretSource::Env("TOKEN".into()),
        }];
        all
    }

    #[test]
    fn an_import_needs_its_grant() {
        let http = imports(&["hookgate:plugin/call@0.1.0", "wasi:http/types@0.2.3"]);
        let error = http.check(&Permissions::default()).unwrap_err();
        assert_eq!(
            error.message,
            "the component imports wasi:http/types@0.2.3, which needs a grant: permissions.network"
        );
        assert!(
            error
                .hint
                .unwrap()
                .contains("permissions: {network: [{host: api.example.com, port: 443}]}")
        );
        assert!(http.check(&all()).is_ok());
        let foreign = imports(&["wasi:nn/graph@0.2.0"]);
        assert_eq!(
            foreign.check(&all()).unwrap_err().message,
            "the component imports wasi:nn/graph@0.2.0, which no grant gives"
        );
        // A name that only begins like a known package.
        assert!(imports(&["wasi:sockets-extra/x"]).check(&all()).is_err());
    }

    #[test]
    fn grants_nothing_would_use() {
        let unused = |names: &[&str]| imports(names).unused(&all());
        assert_eq!(
            unused(&["hookgate:plugin/call@0.1.0"]),
            [
                "files /data",
                "scratch",
                "network api.example.com port 443",
                "env HOME",
                "secret token"
            ]
        );
        assert!(
            unused(&[
                "wasi:filesystem/types@0.2.0",
                "wasi:sockets/tcp@0.2.0",
                "wasi:cli/environment@0.2.0",
                "hookgate:plugin/secrets@0.1.0"
            ])
            .is_empty()
        );
        let http = unused(&["wasi:http/outgoing-handler@0.2.0"]);
        assert!(!http.iter().any(|grant| grant.starts_with("network")));
    }
}
